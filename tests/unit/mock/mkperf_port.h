/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel hook's port to a test program: the machine that the program simulates. */
#ifndef MOCK_MKPERF_PORT_H
#define MOCK_MKPERF_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>
#include <mkperf/soft.h>

struct mkperf_port_context {
    uint64_t pc, lr, fp;
};

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel);
uint64_t mkperf_port_thread(void);
uint64_t mkperf_port_kernel_pc(void);
unsigned mkperf_port_core(void);
uint64_t mkperf_port_time(void);
uint64_t mkperf_port_tick_hz(void);
uint32_t mkperf_port_overflow_take(void);
uint32_t mkperf_port_counters(void);
uint32_t mkperf_port_counter_read(unsigned i);
void mkperf_port_counter_write(unsigned i, uint32_t value);
uintptr_t mkperf_port_user_page(uint64_t va);
struct mkperf_ring *mkperf_port_ring(const struct mkperf_descriptor *d, uint64_t bytes);
struct mkperf_soft *mkperf_port_soft(const struct mkperf_descriptor *d);
void mkperf_port_wake(void);

#endif
