/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The known-answer work: functions that execute an exactly known number of instructions.
 *
 * Owns: the four loops whose shares of the instructions of one round are 10, 20, 30 and 40 per
 * cent (known.c calls each once a round). Each iteration of a loop is two instructions. The counts
 * include entry and return; the callers' few instructions (below 0.01 per cent) are not counted.
 */

#include "leaf.inc"

/* name: a function with a frame, 2 * n + 6 instructions */
.macro FRAMED name, n
    .globl \name
    .type \name, %function
    .balign 16
\name:
    .cfi_startproc
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 29, -16
    .cfi_offset 30, -8
    mov x29, sp
    movz x9, #((\n) & 0xffff)
    movk x9, #((\n) >> 16), lsl #16
1:  subs x9, x9, #1
    b.ne 1b
    ldp x29, x30, [sp], #16
    .cfi_restore 29
    .cfi_restore 30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    .text
    LEAF known_leaf_10, 50000
    FRAMED known_framed_20, 100000
    LEAF known_deep_30, 150000
    LEAF known_leaf_40, 200000
