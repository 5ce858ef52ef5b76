/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of known depth: how far below its stack's end each PD goes, by the first letter of its name.
 *
 *   deep     DEEP bytes, once, before anything is recorded; then only a little
 *   often    OFTEN bytes, again and again
 *   hollow   HOLLOW bytes again and again, of which it writes none
 *
 * Owns: these depths, which tests/system/stack.sh knows. A depth is exceeded by less than the frame of descend.
 */
#include <microkit.h>
#include <stdint.h>

enum { DEEP = 0x5064, OFTEN = 0x2400, HOLLOW = 0x3000, PAGE = 0x1000, SPINS = 20000 };

static volatile unsigned turns;

static void spin(void)
{
    for (unsigned i = 0; i < SPINS; i++) {
        __asm__ volatile("");
    }
}

/* The frame record is the lowest word of a frame. */
__attribute__((noinline)) static void descend(uintptr_t limit) // NOLINT(misc-no-recursion)
{
    if ((uintptr_t)__builtin_frame_address(0) > limit) {
        descend(limit);
    } else {
        spin();
    }
    turns++; /* no tail call */
}

#ifdef __riscv
#define MOVE "mv"
#else
#define MOVE "mov"
#endif

/* Lowers the stack pointer to `limit` without a write. */
static void lower(uintptr_t limit)
{
    uintptr_t before = 0;

    __asm__ volatile(MOVE " %0, sp\n\t" MOVE " sp, %1" : "=&r"(before) : "r"(limit) : "memory");
    for (unsigned i = 0; i < SPINS; i++) {
        __asm__ volatile("");
    }
    __asm__ volatile(MOVE " sp, %0" : : "r"(before) : "memory");
}

void init(void)
{
    /* The platform's start code has used less than a page. */
    uintptr_t top = ((uintptr_t)__builtin_frame_address(0) + PAGE - 1) & ~(uintptr_t)(PAGE - 1);

    if (microkit_name[0] == 'd') {
        descend(top - DEEP);
    }
    for (;;) {
        if (microkit_name[0] == 'o') {
            descend(top - OFTEN);
        } else if (microkit_name[0] == 'h') {
            lower(top - HOLLOW);
        }
        spin();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
