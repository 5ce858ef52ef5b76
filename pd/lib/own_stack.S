/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry point of a PD whose stack is in a separate memory region, so that the profiler PD can walk
 * it (docs/stock.md, "Deeper call chains"). Linked into that PD with `-e mkperf_own_stack`; the
 * system description sets the two variables to the region's address and size.
 */
    .section .text.mkperf_own_stack, "ax"
    .global mkperf_own_stack
    .type mkperf_own_stack, %function
mkperf_own_stack:
    adrp x9, mkperf_stack
    ldr x9, [x9, :lo12:mkperf_stack]
    adrp x10, mkperf_stack_bytes
    ldr x10, [x10, :lo12:mkperf_stack_bytes]
    add sp, x9, x10
    b _start
    .size mkperf_own_stack, . - mkperf_own_stack

    .data
    .balign 8
    .global mkperf_stack, mkperf_stack_bytes
    .type mkperf_stack, %object
    .type mkperf_stack_bytes, %object
mkperf_stack:
    .xword 0
    .size mkperf_stack, 8
mkperf_stack_bytes:
    .xword 0
    .size mkperf_stack_bytes, 8
