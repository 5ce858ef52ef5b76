/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The known-answer work: functions that execute an exactly known number of instructions.
 *
 * Owns: the four loops whose shares of the instructions of one round are 10, 20, 30 and 40 per
 * cent (known.c calls each once a round). Each iteration of a loop is two instructions. The counts
 * include entry and return; the callers' few instructions (below 0.01 per cent) are not counted.
 */

#include "leaf.inc"

/* name: a function with a frame, 2 * n + 6 instructions; 4 more on RISC-V, one less on x86-64 */
.macro FRAMED name, n
    .globl \name
    .type \name, %function
    .balign 16
\name:
    .cfi_startproc
#ifdef __riscv
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sd ra, 8(sp)
    sd s0, 0(sp)
    .cfi_offset ra, -8
    .cfi_offset s0, -16
    addi s0, sp, 16
    .cfi_def_cfa s0, 0
    COUNT_DOWN \n
    ld ra, 8(sp)
    ld s0, 0(sp)
    .cfi_restore ra
    .cfi_restore s0
    .cfi_def_cfa sp, 16
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
#elif defined __x86_64__
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    mov %rsp, %rbp
    COUNT_DOWN \n
    pop %rbp
    .cfi_restore rbp
    .cfi_def_cfa_offset 8
#else
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 29, -16
    .cfi_offset 30, -8
    mov x29, sp
    COUNT_DOWN \n
    ldp x29, x30, [sp], #16
    .cfi_restore 29
    .cfi_restore 30
    .cfi_def_cfa_offset 0
#endif
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    .text
    LEAF known_leaf_10, 50000
    FRAMED known_framed_20, 100000
    LEAF known_deep_30, 150000
    LEAF known_leaf_40, 200000
