/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exception vectors and the way back.
 *
 * SP_EL1 points to the running task's context on entry. The idle task runs at EL1 with SP_EL0, so
 * its interrupts come through the first row of vectors with the same invariant. Interrupts save
 * only what C may overwrite until irq_fast has declined: a sample that needs no task switch pays
 * for half the registers.
 */
#include "regs.h"

    .macro irq_vector fast, declined
    .balign 128
    stp x0, x1, [sp, #0]
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    stp x8, x9, [sp, #64]
    stp x10, x11, [sp, #80]
    stp x12, x13, [sp, #96]
    stp x14, x15, [sp, #112]
    stp x16, x17, [sp, #128]
    stp x18, x19, [sp, #144]
    stp x29, x30, [sp, #232]
    mrs x0, tpidr_el1
    mov sp, x0
    bl \fast
    ldr x1, [sp] /* the core's current task */
    cbz w0, \declined
    mov sp, x1
    b restore_half
    .endm

    .macro sync_vector rest
    .balign 128
    stp x0, x1, [sp, #0]
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    stp x8, x9, [sp, #64]
    stp x10, x11, [sp, #80]
    stp x12, x13, [sp, #96]
    stp x14, x15, [sp, #112]
    stp x16, x17, [sp, #128]
    stp x18, x19, [sp, #144]
    stp x29, x30, [sp, #232]
    mov x1, sp
    mrs x0, tpidr_el1
    mov sp, x0
    b \rest
    .endm

    /* Nothing of the kernel's own may fault: report and stop the machine. */
    .macro fatal_vector number
    .balign 128
    mrs x0, tpidr_el1
    mov sp, x0
    mov x0, #\number
    b trap_in_kernel
    .endm

    .macro table irq, declined, sync
    .balign 2048
    fatal_vector 0
    irq_vector \irq, \declined
    fatal_vector 2
    fatal_vector 3
    fatal_vector 4
    fatal_vector 5
    fatal_vector 6
    fatal_vector 7
    sync_vector \sync
    irq_vector \irq, \declined
    fatal_vector 10
    fatal_vector 11
    fatal_vector 12
    fatal_vector 13
    fatal_vector 14
    fatal_vector 15
    .balign 128
    .endm

    /* With one core nothing is left of the lock: vectors_smp is for several. vectors_session is for one core
     * while a session runs. */
    .section .text.vectors, "ax"
    .global vectors
    .balign 2048
vectors:
    table irq_fast, irq_declined, sync_rest
    .global vectors_session
    .balign 2048
vectors_session:
    table irq_fast, irq_declined, session_sync_rest
    .global vectors_smp
    .balign 2048
vectors_smp:
    table smp_irq_fast, smp_irq_declined, smp_sync_rest

    /* The other half of the registers; x1: context. x20 to x28 are still the task's. */
    .macro save_rest
    stp x20, x21, [x1, #160]
    stp x22, x23, [x1, #176]
    stp x24, x25, [x1, #192]
    stp x26, x27, [x1, #208]
    str x28, [x1, #224]
    mrs x2, sp_el0
    mrs x3, elr_el1
    mrs x4, spsr_el1
    str x2, [x1, #CONTEXT_SP]
    stp x3, x4, [x1, #CONTEXT_PC]
    .endm

irq_declined:
    save_rest
    bl irq_slow
    b restore

sync_rest:
    save_rest
    bl trap_from_user
    b restore

session_sync_rest:
    save_rest
    bl trap_in_session
    b restore

smp_irq_declined:
    save_rest
    bl smp_irq_slow
    b restore

smp_sync_rest:
    save_rest
    bl smp_trap_from_user
    b restore

    /* Runs the task in x0. */
    .global restore
restore:
    mov sp, x0
    ldr x2, [sp, #CONTEXT_SP]
    ldp x3, x4, [sp, #CONTEXT_PC]
    msr sp_el0, x2
    msr elr_el1, x3
    msr spsr_el1, x4
    ldp x20, x21, [sp, #160]
    ldp x22, x23, [sp, #176]
    ldp x24, x25, [sp, #192]
    ldp x26, x27, [sp, #208]
    ldr x28, [sp, #224]
restore_half:
    ldp x0, x1, [sp, #0]
    ldp x2, x3, [sp, #16]
    ldp x4, x5, [sp, #32]
    ldp x6, x7, [sp, #48]
    ldp x8, x9, [sp, #64]
    ldp x10, x11, [sp, #80]
    ldp x12, x13, [sp, #96]
    ldp x14, x15, [sp, #112]
    ldp x16, x17, [sp, #128]
    ldp x18, x19, [sp, #144]
    ldp x29, x30, [sp, #232]
    eret

    .text
    .global idle_loop
    .type idle_loop, %function
idle_loop:
    wfi
    b idle_loop
    .size idle_loop, . - idle_loop

    .arch_extension fp
    .arch_extension simd
    .global fp_save
    .type fp_save, %function
fp_save:
    stp q0, q1, [x0, #0]
    stp q2, q3, [x0, #32]
    stp q4, q5, [x0, #64]
    stp q6, q7, [x0, #96]
    stp q8, q9, [x0, #128]
    stp q10, q11, [x0, #160]
    stp q12, q13, [x0, #192]
    stp q14, q15, [x0, #224]
    stp q16, q17, [x0, #256]
    stp q18, q19, [x0, #288]
    stp q20, q21, [x0, #320]
    stp q22, q23, [x0, #352]
    stp q24, q25, [x0, #384]
    stp q26, q27, [x0, #416]
    stp q28, q29, [x0, #448]
    stp q30, q31, [x0, #480]
    mrs x1, fpcr
    mrs x2, fpsr
    str x1, [x0, #512]
    str x2, [x0, #520]
    ret
    .size fp_save, . - fp_save

    .global fp_load
    .type fp_load, %function
fp_load:
    ldp q0, q1, [x0, #0]
    ldp q2, q3, [x0, #32]
    ldp q4, q5, [x0, #64]
    ldp q6, q7, [x0, #96]
    ldp q8, q9, [x0, #128]
    ldp q10, q11, [x0, #160]
    ldp q12, q13, [x0, #192]
    ldp q14, q15, [x0, #224]
    ldp q16, q17, [x0, #256]
    ldp q18, q19, [x0, #288]
    ldp q20, q21, [x0, #320]
    ldp q22, q23, [x0, #352]
    ldp q24, q25, [x0, #384]
    ldp q26, q27, [x0, #416]
    ldp q28, q29, [x0, #448]
    ldp q30, q31, [x0, #480]
    ldr x1, [x0, #512]
    ldr x2, [x0, #520]
    msr fpcr, x1
    msr fpsr, x2
    ret
    .size fp_load, . - fp_load
