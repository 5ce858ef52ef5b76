/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaves that execute a chosen number of instructions: 2 * n + 3 each. accuracy.c counts them all the
 * same.
 */
.macro WORK name, n
    .globl \name
    .type \name, %function
    .balign 16
\name:
    .cfi_startproc
    movz x9, #((\n) & 0xffff)
    movk x9, #((\n) >> 16), lsl #16
1:  subs x9, x9, #1
    b.ne 1b
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    .text
    WORK work_60, 30000
    WORK work_10, 5000
    WORK work_5, 2500
    WORK work_3, 1500
    WORK work_1_5, 750
    WORK work_0_4, 200
    WORK work_0_1, 50

    .globl work_none
    .type work_none, %function
work_none:
    .cfi_startproc
    ret
    .cfi_endproc
    .size work_none, . - work_none
