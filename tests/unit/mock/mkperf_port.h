/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook's port to a test program: the machine that the program simulates. Its PMU is
 * functions of the program, or, with MKPERF_READ_REGISTER and its like defined before, a model of
 * Armv8's registers under the real file of the architecture.
 */
#ifndef MOCK_MKPERF_PORT_H
#define MOCK_MKPERF_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/counts.h>
#include <mkperf/descriptor.h>
#include <mkperf/ring.h>

#include "kernel/hook.h"

#ifdef MKPERF_READ_REGISTER
#include "kernel/arch/armv8_pmuv3.h"
#else
#define MKPERF_SELECT_P (UINT32_C(1) << 31)
#define MKPERF_SELECT_M (UINT32_C(1) << 26)
#define MKPERF_SELECT_U (UINT32_C(1) << 30)
#define MKPERF_SELECT_EVENT UINT32_C(0xffff)
#define MKPERF_SELECT_BITS \
    (MKPERF_SELECT_P | MKPERF_SELECT_U | MKPERF_SELECT_M | MKPERF_SELECT_EVENT)
#define mkperf_pmu_wants(select, kernel) true
uint32_t mkperf_pmu_counters(void);
uint32_t mkperf_pmu_overflow(void);
void mkperf_pmu_clear(uint32_t mask);
uint32_t mkperf_pmu_read(unsigned i);
void mkperf_pmu_write(unsigned i, uint32_t value);
uint32_t mkperf_pmu_selected(unsigned i);
void mkperf_pmu_select(unsigned i, uint32_t select);
uint32_t mkperf_pmu_running(void);
void mkperf_pmu_enable(uint32_t mask);
void mkperf_pmu_disable(uint32_t mask);
void mkperf_pmu_boot(void);
void mkperf_pmu_describe(uint64_t *out);
#endif

/* What the simulated kernel was built with. */
extern uint32_t mock_features;
#define MKPERF_PORT_CORES 1
#define MKPERF_PORT_FEATURES mock_features

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel);
const void *mkperf_port_caller(const void *thread, uint64_t reply);
void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread);
struct mkperf_identity mkperf_port_identity(const void *thread);
static inline uint32_t mkperf_port_guest(const struct mkperf_port_context *c)
{
    return c->guest;
}
static inline unsigned mkperf_port_slot(const void *thread)
{
    return (unsigned)(uintptr_t)thread;
}
uint64_t mkperf_port_kernel_pc(void);
const void *mkperf_port_running(void);
unsigned mkperf_port_core(void);
uint64_t mkperf_port_time(void);
uint64_t mkperf_port_tick_hz(void);
/* The sampled thread's stack pointer. */
static uint64_t mock_sp;
static inline uint64_t mkperf_port_sp(const void *thread)
{
    (void)thread;
    return mock_sp;
}
uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va);
void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes);
void mkperf_port_wake(void);

#include "kernel/arch/aapcs64.h"

#endif
