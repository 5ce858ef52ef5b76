/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From reset to boot_main: the kernel's own page tables, the MMU, the system registers.
 *
 * QEMU enters _start at its load address with the MMU off, at EL1 with interrupts masked. Until
 * the jump to `high` nothing may use an absolute address.
 */
#include "image.h"
#include "regs.h"

#define BLOCK_RX 0x785     /* normal, shareable, global, accessed, EL1 read-only, EL1 may execute */
#define BLOCK_RX_BITS (BLOCK_RX | 1 << 54)
#define BLOCK_RW_BITS (0x705 | 3 << 53)
#define BLOCK_DEVICE_BITS (0x701 | 3 << 53)

/* nGnRnE, write-back, non-cacheable: POCKET_ATTR_* in this order */
#define MAIR 0x44ff00
/* 39-bit addresses below and above, 4 KiB granules, write-back walks, 40-bit physical, 16-bit ASID */
#define TCR (25 | 25 << 16 | 0x3500 | 0x3500 << 16 | 2 << 30 | 2 << 32 | 1 << 36)
/* RES1 bits; UCI, UCT: EL0 cache maintenance for drivers with DMA; I, SA0, SA, C, M */
#define SCTLR (0x30d00800 | 1 << 26 | 1 << 15 | 1 << 12 | 1 << 4 | 1 << 3 | 1 << 2 | 1)

    .section .text.boot, "ax"
    .global _start
    .type _start, %function
_start:
    mov x19, xzr
    b 1f
/* The other cores' start, by PSCI: x0 is the core's struct core, as the kernel sees it. */
    .global start_other
start_other:
    mov x19, x0
1:
    adrp x0, kernel_l1
    add x0, x0, :lo12:kernel_l1
    msr ttbr0_el1, x0 /* identity for the next few instructions; each PD has its own later */
    msr ttbr1_el1, x0
    ldr x1, =MAIR
    msr mair_el1, x1
    ldr x1, =TCR
    msr tcr_el1, x1
    tlbi vmalle1
    dsb sy
    isb
    ldr x1, =SCTLR
    msr sctlr_el1, x1
    isb
    ldr x1, =high
    br x1
high:
    ldr x0, =vectors
    msr vbar_el1, x0
    mov x0, #3 << 20
    msr cpacr_el1, x0 /* FP and SIMD for EL0; the kernel uses them to switch only */
    mov x0, #1 << 1 | 1 << 8
    msr cntkctl_el1, x0 /* EL0: virtual counter and virtual timer */
    msr mdscr_el1, xzr
    cbnz x19, 1f
    ldr x19, =boot_memory + KERNEL_STACK_BYTES
1:
    mov x0, x19
    msr tpidr_el1, x0
    mov sp, x0
    isb
    mov x29, xzr
    mov x30, xzr
    bl boot_main
    b . /* boot_main does not return */
    .size _start, . - _start
    .ltorg

    .section .data.tables, "aw"
    .balign 4096
kernel_l1: /* 1 GiB each: devices, RAM */
    .quad BLOCK_DEVICE_BITS
    .quad kernel_l2 - POCKET_KERNEL_BASE + 3
    .zero 4096 - 16
kernel_l2: /* 2 MiB each: QEMU's, the kernel's code, then data up to the end of RAM */
    .quad POCKET_RAM | BLOCK_RW_BITS
    .quad POCKET_RAM + 0x200000 | BLOCK_RX_BITS
    .set block, 2
    .rept POCKET_RAM_BYTES / 0x200000 - 2
    .quad POCKET_RAM + block * 0x200000 | BLOCK_RW_BITS
    .set block, block + 1
    .endr
    .zero 4096 - POCKET_RAM_BYTES / 0x200000 * 8
