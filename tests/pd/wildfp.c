/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PD that runs with every kind of broken frame pointer: the kernel hook must survive each, and
 * its samples must have the valid part of the chain. Each case spins in wildfp_spin (a leaf
 * without a frame) with x29 set to the case's value, for several samples at 1 kHz.
 */
#include <microkit.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PAGE = 4096,
    SPIN = 80000, /* iterations of 20 instructions */
};

uintptr_t device_page; /* set by the system description */

void wildfp_spin(uint64_t fp, uint64_t iterations);

/* Two pages of frame records to break. */
static uint64_t records[2 * PAGE / 8] __attribute__((aligned(PAGE)));

static uint64_t at(size_t offset)
{
    return (uint64_t)(uintptr_t)records + offset;
}

static uint64_t record(size_t offset, uint64_t caller, uint64_t ret)
{
    records[offset / 8] = caller;
    records[offset / 8 + 1] = ret;
    return at(offset);
}

static void run_all(void)
{
    const uint64_t ret = (uint64_t)(uintptr_t)&run_all;
    const uint64_t cases[] = {
        0,
        8,
        0x1000,                                 /* unmapped */
        0x7f00000000,                           /* unmapped, high */
        0x0000fffffffffff0,                     /* last user addresses */
        0xffff000040080000,                     /* a kernel address */
        0xffffffff80000000,                     /* another kernel's address */
        UINT64_MAX,                             /* all ones */
        ~UINT64_C(7),                           /* all ones, aligned */
        0x8000000000000000,                     /* not canonical */
        at(4),                                  /* misaligned */
        at(1),                                  /* misaligned */
        device_page,                            /* a device's registers */
        device_page + 0x18,                     /* another of its registers */
        at(PAGE - 8),                           /* crosses into the next page */
        record(0x100, at(0x100), ret),          /* points at itself */
        record(0x200, at(0x180), ret),          /* goes backwards */
        record(0x300, 0x7f00000000, ret),       /* next one unmapped */
        record(0x340, device_page, ret),        /* next one a device */
        record(0x380, at(0x3c4), ret),          /* next one misaligned */
        record(0x400, 0xffff000040080000, ret), /* next one in the kernel */
        at(0x300) | UINT64_C(0xff) << 56,       /* tagged */
        record(0x500, UINT64_MAX, 0),           /* null return address */
        record(PAGE - 16, at(PAGE + 8), ret),   /* good, over the page's end */
        (uint64_t)(uintptr_t)&wildfp_spin,      /* code */
        0x40000000,                             /* physical RAM */
        0x09000000,                             /* physical device */
    };

    record(PAGE + 8, 0, ret);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wildfp_spin(cases[i], SPIN);
    }
}

void init(void)
{
    for (;;) {
        run_all();
        microkit_dbg_puts("wildfp: all cases run\n");
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
