/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A guest without an operating system, for tests/sel4/bare.sh and tests/sel4/guests.sh. Each round has 80,000 instructions. Its
 * program at EL0 loops x4 times, and its kernel at EL1 x5 times: the monitor sets both before it starts. In each round the kernel
 * writes the registers of the PMU and exits to its monitor twice: by a hypercall, and by an access to the page of a device that is
 * not there. bare_vmm.c copies it to the guest's memory, where it runs with the MMU off.
 */
    .macro function name
    .global \name
    .type \name, %function
\name:
    .endm

    .section .rodata
    .balign 4096
    .global guest_start, guest_stop
guest_start:
function guest_boot
    adr x0, guest_vectors
    msr vbar_el1, x0
    mov x0, #0
    msr spsr_el1, x0
    adr x0, guest_user
    msr elr_el1, x0
    isb
    eret
function guest_user
    mov x1, x4
1:  subs x1, x1, #1
    b.ne 1b
    svc #0
    b guest_user
function guest_kernel
    mov x2, x5
1:  subs x2, x2, #1
    b.ne 1b
    mov x3, #-1
    msr pmcntenclr_el0, x3
    msr pmovsset_el0, x3
    msr pmcr_el0, x3
    mrs x3, pmcntenset_el0
    cbnz x3, .
    hvc #0
    mov x3, #0x9000000
    ldr w3, [x3, #0x18]
    eret
    .balign 2048
guest_vectors:
    .rept 8
    b .
    .balign 128
    .endr
    b guest_kernel
    .balign 128
    .rept 7
    b .
    .balign 128
    .endr
guest_stop:
