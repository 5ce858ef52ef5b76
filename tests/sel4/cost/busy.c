/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PD that is always busy, busy_frames return addresses deep, and shows how long its work took.
 *
 * The work is blocks of exactly BLOCK instructions. After each block the time is printed over QEMU's
 * semihosting, which needs neither the kernel nor a device: `block BEGIN END`, in nanoseconds of
 * CNTPCT, the clock of the samples. The PD has the lowest priority, so what a block takes longer than
 * one without a disturbance is what others used: kernel, profiler PD and client PD.
 */
#include <microkit.h>

#include <stdint.h>

enum { BLOCK = 20000000, SYS_WRITE0 = 4 };

extern const char busy_frames[]; /* its address is the number: the linker's --defsym */

static uint64_t now(void)
{
    uint64_t ticks, hz;

    __asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(ticks));
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return ticks / hz * 1000000000 + ticks % hz * 1000000000 / hz;
}

static void say(const char *text)
{
    register uint64_t operation __asm__("x0") = SYS_WRITE0;
    register const char *argument __asm__("x1") = text;

    __asm__ volatile("hlt #0xf000" : "+r"(operation) : "r"(argument) : "memory");
}

static char *put(char *at, uint64_t value)
{
    char digits[20];
    unsigned n = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    *at++ = ' ';
    while (n > 0) {
        *at++ = digits[--n];
    }
    return at;
}

static volatile int forever = 1; /* or gcc would find out that nothing here returns */

static void work(void)
{
    char line[64] = "block";

    while (forever) {
        uint64_t begin = now();
        uint64_t iterations = BLOCK / 2;

        __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
        char *at = put(put(line + 5, begin), now());

        at[0] = '\n';
        at[1] = '\0';
        say(line);
    }
}

/* Calls itself. The asm keeps the call from becoming a jump, and the recursion from becoming a
 * loop. */
static __attribute__((noinline)) void descend(unsigned levels)
{
    if (levels == 0) {
        work();
    } else {
        descend(levels - 1);
    }
    __asm__ volatile("");
}

/* In `busy` from the start, in `worker` when it is called. The return addresses into init(), and into
 * libmicrokit's main(), or into protected() and two more, and those into descend(). */
void init(void)
{
    if (microkit_name[0] == 'b') {
        descend((unsigned)(uintptr_t)busy_frames - 2);
    }
    __asm__ volatile("");
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    descend((unsigned)(uintptr_t)busy_frames - 3);
    return microkit_msginfo_new(0, 0);
}

void notified(microkit_channel ch)
{
    (void)ch;
}
