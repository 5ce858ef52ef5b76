/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every register of the PMU that has a name at EL0 or EL1 is read, and written with ones. x19 counts the
 * accesses that went through; guard.c steps over those that fault. x20: how many there are. x21: how many
 * of those that read did not read 0.
 * x0: 1 in a guest (EL1), 0 in a PD. Runs wherever it is copied.
 */
    .macro try instruction:vararg
    .set tried, tried + 1
    \instruction
    add x19, x19, #1
    .endm

    .macro get register
    mov x1, #-1
    try mrs x1, \register
    cmp x1, #0
    cinc x21, x21, ne
    .endm

    .macro both register
    get \register
    mov x1, #-1
    try msr \register, x1
    .endm

    .set tried, 0

    .text
    .globl intrude, intrude_end
    .type intrude, %function
intrude:
    mov x19, #0
    mov x21, #0
    .irp r, pmcr_el0, pmcntenset_el0, pmcntenclr_el0, pmovsclr_el0, pmovsset_el0, pmselr_el0, \
        pmccntr_el0, pmccfiltr_el0, pmxevtyper_el0, pmxevcntr_el0, pmintenset_el1, pmintenclr_el1
    both \r
    .endr
    get pmceid0_el0
    get pmceid1_el0
    try msr pmswinc_el0, x1
    try msr pmuserenr_el0, x1 /* reading it is allowed, and traps only if a kernel at EL2 wants that */
    .irp n, 0, 1, 2, 3, 4, 5
    both pmevcntr\n\()_el0
    both pmevtyper\n\()_el0
    .endr
    ldr x20, =tried
    cbz x0, 1f
    add x20, x20, #1
    get pmuserenr_el0
    hvc #0 /* a guest's end: x7 is 0, no system call's number */
    /* The end: a fault that is none of these. */
1:  mov x2, #0xdea8
    ldr x2, [x2]
2:  b 2b
    .ltorg
intrude_end:
    .size intrude, . - intrude
