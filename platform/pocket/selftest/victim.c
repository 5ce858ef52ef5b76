/* SPDX-License-Identifier: BSD-2-Clause */
/* Selftest: does on each notification what it was sent, and most of that is forbidden. */
#include <microkit.h>

#include "shared.h"

volatile struct shared *shared;
static volatile uintptr_t null; /* not a constant, so that the compiler does not reason about it */
static uint32_t code[] = {0xd65f03c0}; /* ret */

void init(void)
{
}

static unsigned overflow(unsigned depth)
{
    volatile char frame[512];

    frame[0] = (char)depth;
    return depth < 1000000 ? overflow(depth + 1) + (unsigned)frame[0] : 0;
}

static void write_to(uintptr_t address)
{
    *(volatile uint32_t *)address = 1;
}

static void act(uint64_t what)
{
    uint64_t value;

    switch (what) {
    case ACT_NULL_READ:
        value = *(volatile uint32_t *)null;
        break;
    case ACT_WRITE_TEXT:
        write_to((uintptr_t)init);
        break;
    case ACT_JUMP_DATA:
        ((void (*)(void))(uintptr_t)code)();
        break;
    case ACT_UNDEFINED:
        __asm__ volatile("udf #0");
        break;
    case ACT_STACK_OVERFLOW:
        overflow(0);
        break;
    case ACT_WRITE_SHARED:
        write_to((uintptr_t)shared);
        break;
    case ACT_READ_KERNEL:
        value = *(volatile uint32_t *)UINT64_C(0xffffff8040200000);
        break;
    case ACT_SYSREG:
        __asm__ volatile("mrs %0, ttbr0_el1" : "=r"(value));
        break;
    case ACT_SYSCALL:
        __asm__ volatile("svc #999");
        break;
    default:
        break;
    }
    (void)value;
}

void notified(microkit_channel ch)
{
    act(shared->act);
    microkit_notify(ch);
}
