/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firmware of QEMU's virt machine that has one core more than the kernel, for fair turns with -icount
 * (docs/qemu.md). It starts that core, number CORES, by PSCI, and jumps to Microkit's loader.
 *
 * QEMU gives a core no time in its turn if a timer of the machine has just come due, and so a core
 * whose turn comes after one that lets no timer be set may never run. A request to the TLBs of all
 * cores ends that: each core's next turn then begins anew. The core more makes one in each round,
 * for an address that nothing is mapped at. It never takes an interrupt.
 */
#define LOADER 0x70000000
#define PSCI_CPU_ON 0xc4000003

    .global _start
_start:
    ldr x0, =PSCI_CPU_ON
    mov x1, #CORES
    adr x2, 1f
    mov x3, #0
    smc #0
    ldr x0, =LOADER
    br x0

1:  mov x0, #0x700000000 /* a page's number */
2:  tlbi vae2is, x0
    b 2b
