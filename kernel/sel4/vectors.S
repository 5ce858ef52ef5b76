/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exception vectors of a core during a session: the kernel's own source, compiled a second time, with
 * branches to the entry functions of entries.c.
 */
#include <copies.h>

#define arm_vector_table mkperf_vectors
#define invalid_vector_entry mkperf_invalid_vector_entry
#define cur_el_sync mkperf_cur_el_sync
#define cur_el_irq mkperf_cur_el_irq
#define cur_el_serr mkperf_cur_el_serr
#define lower_el_sync mkperf_lower_el_sync
#define lower_el_irq mkperf_lower_el_irq
#define lower_el_serr mkperf_lower_el_serr

/* A table begins at a multiple of 2 KiB, also the kernel's own if it follows this one. */
.section .vectors, "ax"
.balign 2048

#include <../src/arch/arm/64/traps.S>

.section .vectors, "ax"
.balign 2048
