/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of lockstep.c: 10 calls, 10 phases of 98 instructions, 9 nops, one branch: 1000. */
    .text

.macro PHASE n
    .globl phase_\n
    .type phase_\n, %function
phase_\n:
    .cfi_startproc
    .rept 97
    nop
    .endr
    ret
    .cfi_endproc
    .size phase_\n, . - phase_\n
.endm

    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
    PHASE \n
    .endr

    .globl lockstep_loop
    .type lockstep_loop, %function
lockstep_loop:
    .cfi_startproc
    .cfi_undefined 30
    mov x29, xzr
1:
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
    bl phase_\n
    .endr
    .rept 9
    nop
    .endr
    b 1b
    .cfi_endproc
    .size lockstep_loop, . - lockstep_loop
