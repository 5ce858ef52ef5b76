/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From OpenSBI to boot_main: the kernel's own page tables, the MMU, the system registers.
 *
 * OpenSBI enters _start at its load address, in S-mode, with the MMU and interrupts off. The kernel's link address follows by
 * an exception: the first instruction after the MMU is on cannot be fetched, and stvec is high already.
 */
#include "image.h"
#include "regs.h"

#define PTE_TABLE 0x01
#define PTE_RX 0xeb /* valid, readable, executable, global, accessed, dirty */
#define PTE_RW 0xe7
#define RAM_ENTRY 258

    .section .text.boot, "ax"
    .global _start
    .type _start, %function
_start:
    csrw sie, zero
    csrw sscratch, zero
    lla t0, kernel_l2 /* relative to the pc: physical */
    srli t0, t0, 2
    ori t0, t0, PTE_TABLE
    lla t1, kernel_root
    li t2, RAM_ENTRY * 8
    add t2, t1, t2
    sd t0, 0(t2)
    lla t0, kernel_root
    srli t0, t0, 12
    li t1, 8
    slli t1, t1, 60
    or t0, t0, t1
    lla t1, high
    li t2, POCKET_KERNEL_BASE
    add t1, t1, t2
    csrw stvec, t1
    sfence.vma
    csrw satp, t0
    unimp /* no mapping here */
    .balign 4
high:
    lla t0, vectors
    csrw stvec, t0
    li t0, PSTATE_FP
    csrw sstatus, t0
    lla sp, boot_memory
    li t0, KERNEL_STACK_BYTES
    add sp, sp, t0
    mv tp, sp
    mv a0, sp
    li s0, 0
    li ra, 0
    call boot_main
1:  j 1b /* boot_main does not return */
    .size _start, . - _start

    .section .data.tables, "aw"
    .balign 4096
    .global kernel_root
kernel_root: /* 1 GiB each, from the middle on: devices, nothing, RAM */
    .zero 256 * 8
    .quad PTE_RW
    .quad 0
    .quad 0 /* kernel_l2's */
    .zero 4096 - 259 * 8
kernel_l2: /* 2 MiB each: OpenSBI's, the kernel's code, then data up to the end of RAM */
    .quad 0
    .quad (POCKET_RAM + 0x200000) / 4 + PTE_RX
    .set block, 2
    .rept POCKET_RAM_BYTES / 0x200000 - 2
    .quad (POCKET_RAM + block * 0x200000) / 4 + PTE_RW
    .set block, block + 1
    .endr
    .zero 4096 - POCKET_RAM_BYTES / 0x200000 * 8
