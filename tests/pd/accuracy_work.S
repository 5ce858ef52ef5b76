/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaves that execute 2 * n + 3 instructions each. accuracy.c counts them anyway.
 */
#include "../../demo/leaf.inc"

    .text
    LEAF work_60, 30000
    LEAF work_10, 5000
    LEAF work_5, 2500
    LEAF work_3, 1500
    LEAF work_1_5, 750
    LEAF work_0_4, 200
    LEAF work_0_1, 50

    .globl work_none
    .type work_none, %function
work_none:
    .cfi_startproc
    ret
    .cfi_endproc
    .size work_none, . - work_none
