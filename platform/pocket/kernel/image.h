/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the packer leaves in memory for the kernel: the system, wholly laid out.
 *
 * Owns: struct pocket_image and the memory map both sides rely on. A system is static, so the
 * packer places everything and builds the page tables too; the kernel allocates nothing.
 *
 * Physical memory, from POCKET_RAM on: 2 MiB left to QEMU (its device tree, OpenSBI), 2 MiB the kernel's
 * code and constants, 2 MiB its data, the image header at POCKET_IMAGE, and what the packer places.
 * The kernel sees RAM at its physical address + POCKET_KERNEL_BASE.
 */
#ifndef POCKET_IMAGE_H
#define POCKET_IMAGE_H

#define POCKET_AARCH64_RAM 0x40000000
/* end of user mode's addresses, which three levels of tables reach */
#define POCKET_AARCH64_TOP 0x8000000000
#define POCKET_RISCV64_RAM 0x80000000
#define POCKET_RISCV64_TOP 0x4000000000
#define POCKET_RISCV64_TICK_IRQ 287  /* a number that the interrupt controller does not have */
#define POCKET_RAM_BYTES 0x10000000  /* 256 MiB; QEMU gets -m 256M */
#define POCKET_IMAGE_OFFSET 0x600000 /* distance from the start of RAM */

#if defined __riscv
#define POCKET_RAM POCKET_RISCV64_RAM
#define POCKET_USER_TOP POCKET_RISCV64_TOP
#define POCKET_KERNEL_BASE 0xffffffc000000000
#elif defined __aarch64__
#define POCKET_RAM POCKET_AARCH64_RAM
#define POCKET_USER_TOP POCKET_AARCH64_TOP
#define POCKET_KERNEL_BASE 0xffffff8000000000
#endif
#define POCKET_IMAGE (POCKET_RAM + POCKET_IMAGE_OFFSET)

/* Indices of MAIR_EL1's attributes in page table entries. */
#define POCKET_ATTR_DEVICE 0
#define POCKET_ATTR_NORMAL 1
#define POCKET_ATTR_UNCACHED 2

#ifndef __ASSEMBLER__

#include <stdint.h>

#define POCKET_IMAGE_MAGIC UINT64_C(0x316567616d696b70) /* "pkimage1" */

enum pocket_limits {
    POCKET_MAX_PDS = 63,
    POCKET_MAX_IRQS = 288, /* the interrupt controller of QEMU's virt machine */
    POCKET_CHANNELS = 62,
    POCKET_SLOTS = 64, /* slots of a cspace; slot 0 is never used */
    POCKET_NAME_BYTES = 64,
    POCKET_DOMAINS = 4,
    POCKET_WINDOWS = 16,
#ifdef __riscv
    POCKET_MAX_CORES = 1,
#else
    POCKET_MAX_CORES = 4,
#endif
    POCKET_LEAST_BUDGET = 10, /* microseconds: a shorter first refill waits for the next one */
};

enum pocket_channel_flags {
    POCKET_CHANNEL_NOTIFY = 1, /* this end may notify the other */
    POCKET_CHANNEL_CALL = 2,   /* this end may call the other */
    POCKET_CHANNEL_IRQ = 4,    /* not a channel: `irq` is delivered and acknowledged here */
};

struct pocket_channel {
    uint8_t flags;
    uint8_t pd; /* the other end's */
    uint8_t id; /* the other end's */
    uint8_t edge;
    uint32_t irq;
};

struct pocket_pd {
    char name[POCKET_NAME_BYTES];
    uint64_t tables; /* physical address of the level-1 page table */
    uint64_t entry;
    uint64_t stack_top;
    uint64_t ipc_buffer; /* physical address of its page */
    uint64_t thread;     /* identity in samples */
    uint32_t priority;
    int32_t parent; /* index, -1 */
    uint32_t child_id;
    uint32_t cpu;    /* the core that it runs on, below `cores` */
    uint64_t budget; /* microseconds of each `period`; 0: all of the time */
    uint64_t period;
    uint32_t passive; /* runs on the budgets of those that it serves */
    uint32_t domain;  /* below POCKET_DOMAINS */
    struct pocket_channel channel[POCKET_CHANNELS];
    uint8_t tcb[POCKET_SLOTS]; /* index + 1 of the PD whose TCB's capability is there, 0: none */
};

/* An entry of the domain schedule. */
struct pocket_window {
    uint32_t domain;
    uint32_t in_ticks; /* whether the duration is in ticks of the timer, else in microseconds */
    uint64_t duration; /* 0: not used */
};

struct pocket_image {
    uint64_t magic;
    uint64_t npds;
    uint64_t cores; /* how many cores are started, 1 .. POCKET_MAX_CORES */
    /* first window and number of windows of a frame; 0: no domain schedule */
    uint64_t first_window, windows;
    struct pocket_window window[POCKET_WINDOWS];
    struct pocket_pd pd[POCKET_MAX_PDS];
};

#endif
#endif
