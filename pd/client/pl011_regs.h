/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the PL011 driver reaches its registers. Included by pl011.c only; the unit test defines
 * MKPERF_PL011_REGS_H and puts a model in its place.
 */
#ifndef MKPERF_PL011_REGS_H
#define MKPERF_PL011_REGS_H

#include <stdint.h>

extern uintptr_t mkperf_uart;

static inline uint32_t pl011_get(unsigned reg)
{
    return *(volatile uint32_t *)(mkperf_uart + reg);
}

static inline void pl011_set(unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(mkperf_uart + reg) = value;
}

#endif
