/* SPDX-License-Identifier: BSD-2-Clause */
/* void wildfp_spin(uint64_t fp, uint64_t iterations): spins with x29 = fp (wildfp.c). */
    .text
    .globl wildfp_spin
    .type wildfp_spin, %function
wildfp_spin:
    .cfi_startproc
    mov x9, x29
    mov x29, x0
1:  subs x1, x1, #1
    b.ne 1b
    mov x29, x9
    ret
    .cfi_endproc
    .size wildfp_spin, . - wildfp_spin
