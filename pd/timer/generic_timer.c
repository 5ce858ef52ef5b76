/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The architected timer from EL0 (Arm ARM, D11): the physical one (CNTP, interrupt 30), or with
 * MKPERF_TIMER_VIRTUAL the virtual one (CNTV, interrupt 27), depending on which one the kernel
 * leaves to user mode.
 *
 * Owns: the timer's three registers. Called by the profiler PD through struct mkperf_timer. Whether
 * EL0 may use them cannot be asked at run time (CNTKCTL_EL1 is out of reach, and trying is a
 * fault), so seL4's build configuration decides.
 */
#include <microkit.h>
#include <stddef.h>

#include "timer.h"

#ifdef MKPERF_TIMER_VIRTUAL
#define COUNT "cntvct_el0"
#define COMPARE "cntv_cval_el0"
#define CONTROL "cntv_ctl_el0"
#define NAME "generic timer (virtual)"
#define EXPORTED 1
#else
#define COUNT "cntpct_el0"
#define COMPARE "cntp_cval_el0"
#define CONTROL "cntp_ctl_el0"
#define NAME "generic timer (physical)"
#if defined CONFIG_EXPORT_PCNT_USER && defined CONFIG_EXPORT_PTMR_USER
#define EXPORTED 1
#else
#define EXPORTED 0
#endif
#endif

enum { CONTROL_ENABLE = 1 };

static void set_control(uint64_t value)
{
    __asm__ volatile("msr " CONTROL ", %0\n\tisb" : : "r"(value) : "memory");
}

static const char *find(void)
{
    if (!EXPORTED) {
        return "the kernel keeps the generic timer to itself (KernelArmExportPTMRUser is off)";
    }
    set_control(0);
    return NULL;
}

static uint64_t now(void)
{
    uint64_t value;

    __asm__ volatile("isb\n\tmrs %0, " COUNT : "=r"(value) : : "memory");
    return value;
}

static uint64_t hz(void)
{
    uint64_t value;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(value));
    return value;
}

static void arm(uint64_t at)
{
    __asm__ volatile("msr " COMPARE ", %0" : : "r"(at));
    set_control(CONTROL_ENABLE);
}

static void stop(void)
{
    set_control(0);
}

const struct mkperf_timer mkperf_generic_timer = {
    .name = NAME,
    .init = find,
    .now = now,
    .hz = hz,
    .arm = arm,
    .stop = stop,
};
