/* SPDX-License-Identifier: BSD-2-Clause */
/* void wildfp_spin(uint64_t fp, uint64_t iterations): spins with fp in the frame pointer (wildfp.c), 20 instructions an iteration. */
    .text
    .globl wildfp_spin
    .type wildfp_spin, %function
wildfp_spin:
    .cfi_startproc
#ifdef __riscv
    mv t0, s0
    mv s0, a0
1:  addi a1, a1, -1
    .rept 18
    nop
    .endr
    bnez a1, 1b
    mv s0, t0
#else
    mov x9, x29
    mov x29, x0
1:  subs x1, x1, #1
    .rept 18
    nop
    .endr
    b.ne 1b
    mov x29, x9
#endif
    ret
    .cfi_endproc
    .size wildfp_spin, . - wildfp_spin
