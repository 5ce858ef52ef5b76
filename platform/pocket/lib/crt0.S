/* SPDX-License-Identifier: BSD-2-Clause */
/* A PD's first instructions. The kernel has set sp; fp 0 and lr 0 end a walk of the stack here. */
    .section .text.start, "ax"
    .global _start
    .type _start, %function
_start:
    .cfi_startproc
#ifdef __riscv
    .cfi_undefined ra
    li s0, 0
    li ra, 0
    call pocket_main
    ebreak
#else
    .cfi_undefined x30
    mov x29, xzr
    mov x30, xzr
    bl pocket_main
    brk #1
#endif
    .cfi_endproc
    .size _start, . - _start
