/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A benchmark program that is the profiler PD's client: its requests, the target's time, its figures.
 *
 * Owns: the address of the session page, and a loop of two instructions an iteration. Included by
 * cost.c and sched_cost.c.
 */
#ifndef BENCH_PD_CLIENT_H
#define BENCH_PD_CLIENT_H

#include <microkit.h>
#include <stdint.h>

#include <mkperf/session.h>

enum { CH_PROFILER = 1 };

uintptr_t mkperf_output; /* set by the system description */

static inline struct mkperf_session_page *page(void)
{
    return (struct mkperf_session_page *)mkperf_output;
}

/* Prints `figure NAME VALUE`, VALUE in thousandths. */
static inline void figure(const char *name, uint64_t thousandths)
{
    char digits[24];
    unsigned n = sizeof digits;

    digits[--n] = '\0';
    do {
        digits[--n] = (char)('0' + thousandths % 10);
        thousandths /= 10;
    } while (thousandths != 0);
    microkit_dbg_puts("figure ");
    microkit_dbg_puts(name);
    microkit_dbg_puts(" ");
    microkit_dbg_puts(digits + n);
    microkit_dbg_puts("\n");
}

static inline uint64_t call(enum mkperf_session_op op)
{
    return microkit_msginfo_get_label(microkit_ppcall(CH_PROFILER, microkit_msginfo_new(op, 0)));
}

static inline void spin(uint64_t iterations)
{
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
}

static inline uint64_t ticks(void)
{
    uint64_t n;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(n) : : "memory");
    return n;
}

#endif
