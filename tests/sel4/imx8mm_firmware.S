/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces the board's firmware in QEMU's imx8mm-evk: starts at EL3 on the first core and jumps to
 * Microkit's loader in non-secure EL2, as the board's own does. Before that it assigns all
 * interrupts to the non-secure world and wakes the core's redistributor (GICv3 specification, 12.9
 * and 12.11; addresses: i.MX 8M Mini reference manual, rev. 3, table 2-1).
 */
#define GICD 0x38800000
#define GICR 0x38880000
#define LOADER 0x41000000
#define COUNTER_HZ 8000000 /* what the model counts with, and seL4 expects */

    .global _start
_start:
    ldr x0, =GICD
    mov w1, #0x50 /* one security state (DS), affinity routing */
    str w1, [x0]
    mov w1, #-1
    add x2, x0, #0x84 /* GICD_IGROUPR1 .. 7: shared interrupts to group 1 */
    add x3, x0, #0xa0
1:  str w1, [x2], #4
    cmp x2, x3
    b.lo 1b

    ldr x0, =GICR
    str wzr, [x0, #0x14] /* GICR_WAKER: awake */
2:  ldr w2, [x0, #0x14]
    tbnz w2, #2, 2b
    add x0, x0, #0x10000
    str w1, [x0, #0x80] /* GICR_IGROUPR0 */

    mov x1, #0xf
    msr S3_6_C12_C12_5, x1 /* ICC_SRE_EL3: system registers, here and below */
    isb
    msr S3_4_C12_C9_5, x1 /* ICC_SRE_EL2 */
    ldr x1, =COUNTER_HZ
    msr cntfrq_el0, x1
    msr cptr_el3, xzr
    msr mdcr_el3, xzr
    mov x1, #0x531 /* SCR_EL3: non-secure, AArch64 below, hvc; its ones */
    msr scr_el3, x1
    ldr x1, =0x30c50830 /* SCTLR_EL2: its ones, everything off */
    msr sctlr_el2, x1
    mov x1, #0x3c9 /* EL2h, interrupts masked */
    msr spsr_el3, x1
    ldr x1, =LOADER
    msr elr_el3, x1
    isb
    eret
