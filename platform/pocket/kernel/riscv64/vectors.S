/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry of all exceptions, and the way back.
 *
 * sscratch points to the running task's context on entry, the idle task's as well, which runs in S-mode. The kernel itself may
 * not fault: then its place is not known, and a second exception would overwrite the task's registers. sscratch is 0 while it
 * runs, so that the entry can tell.
 */
#include "regs.h"

    .macro each_register instruction
    \instruction x1, 8(x31)
    .irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    \instruction x\n, 8 * \n(x31)
    .endr
    .endm

    .section .text.vectors, "ax"
    .global vectors
    .balign 4
vectors:
    csrrw x31, sscratch, x31
    beqz x31, in_kernel
    each_register sd
    csrrw t0, sscratch, zero
    csrr t1, sepc
    csrr t2, sstatus
    sd t0, 8 * 31(x31)
    sd t1, CONTEXT_PC(x31)
    sd t2, CONTEXT_PSTATE(x31)
    lla sp, boot_memory
    li t0, KERNEL_STACK_BYTES
    add sp, sp, t0
    mv tp, sp
    csrr t0, scause
    bltz t0, 1f
    call trap_entered
    j restore
1:  call irq_entered

    /* Runs the task in a0. */
    .global restore
restore:
    mv x31, a0
    ld t1, CONTEXT_PC(x31)
    ld t2, CONTEXT_PSTATE(x31)
    csrw sepc, t1
    csrw sstatus, t2
    csrw sscratch, x31
    each_register ld
    ld x31, 8 * 31(x31)
    sret

in_kernel:
    lla sp, boot_memory
    li t0, KERNEL_STACK_BYTES
    add sp, sp, t0
    csrr a0, scause
    tail trap_in_kernel

    .text
    .global idle_loop
    .type idle_loop, %function
idle_loop:
    wfi
    j idle_loop
    .size idle_loop, . - idle_loop

    .option arch, +d
    .macro each_fp instruction
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \instruction f\n, 8 * \n(a0)
    .endr
    .endm

    .global fp_save
    .type fp_save, %function
fp_save:
    each_fp fsd
    frcsr t0
    sd t0, FP_CONTROL(a0)
    ret
    .size fp_save, . - fp_save

    .global fp_load
    .type fp_load, %function
fp_load:
    each_fp fld
    ld t0, FP_CONTROL(a0)
    fscsr t0
    ret
    .size fp_load, . - fp_load
