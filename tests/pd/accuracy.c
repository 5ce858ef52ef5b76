/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work with known shares, for tests/system/accuracy.sh and bench/accuracy.sh: about a hundred
 * thousand instructions a round, the same in each. It is shallow and deep, branchy, memory-bound,
 * and makes protected calls to a PD `callee` (the same program).
 *
 * Before anybody samples each work is timed, many times over, on a machine on which an instruction
 * takes a nanosecond; what each took is printed (`truth NAME INSTRUCTIONS`), and checked against a
 * second time. Protected calls are so timed together with the kernel's part of them. Then rounds go
 * on for ever.
 */
#include <microkit.h>

#include <stdbool.h>
#include <stdint.h>

#include "time.h"

enum {
    CH_CALLEE = 1,
    CALLS = 6,
    DEPTH = 12,
    CELLS = 8192, /* cells of the chase: 64 KiB */
    BRANCHES = 600,
    HOPS = 2000,
    TIMES = 200,
    NANOSECONDS = 1000000000,
    WORKS = 10,
    MAX_PASSES = 10, /* it never ends while a host samples */
};

uintptr_t accuracy_caller; /* set in the caller only */

void work_60(void);
void work_10(void);
void work_5(void);
void work_3(void);
void work_1_5(void);
void work_0_4(void);
void work_0_1(void);
void work_none(void);

static uint64_t cell[CELLS];
static volatile uint64_t result;

#define LAYER __attribute__((noinline, noclone))
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

LAYER static void descend(int depth) // NOLINT(misc-no-recursion): the chain is the point
{
    if (depth > 1) {
        descend(depth - 1);
    } else {
        work_10();
    }
    NO_TAIL_CALL;
}

LAYER static void deep(void)
{
    descend(DEPTH);
    NO_TAIL_CALL;
}

/* Branches on unpredictable bits. */
LAYER static void branchy(void)
{
    uint64_t x = 88172645463325252; /* the same each time */
    uint64_t odd = 0;

    for (int i = 0; i < BRANCHES; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if (x & 1) {
            odd += x >> 60;
            __asm__ volatile("" : "+r"(odd)); /* a branch, not a select */
        } else if (x & 2) {
            odd ^= i;
            __asm__ volatile("nop" : "+r"(odd));
        }
    }
    result = odd;
}

/* Each address is the result of the last load. */
LAYER static void chase(void)
{
    uint64_t at = 0;

    for (int i = 0; i < HOPS; i++) {
        at = cell[at];
    }
    result = at;
}

LAYER static void syscalls(void)
{
    for (int i = 0; i < CALLS; i++) {
        microkit_ppcall(CH_CALLEE, microkit_msginfo_new((seL4_Uint64)i, 0));
    }
    NO_TAIL_CALL;
}

static const struct work {
    const char *name;
    void (*run)(void);
} work[WORKS] = {
    {"work_60", work_60},   {"work_10", deep},      {"work_5", work_5},     {"work_3", work_3},
    {"work_1_5", work_1_5}, {"work_0_4", work_0_4}, {"work_0_1", work_0_1}, {"branchy", branchy},
    {"chase", chase},       {"syscalls", syscalls},
};

static uint64_t nanoseconds(void)
{
    return time_ticks() * (NANOSECONDS / time_hz());
}

/* Instructions of a run, on average, and of calling it: exact, for a tick's are few among so many.
 */
LAYER static uint32_t count(void (*run)(void))
{
    uint64_t began = nanoseconds();

    for (int i = 0; i < TIMES; i++) {
        run();
    }
    return (uint32_t)((nanoseconds() - began + TIMES / 2) / TIMES);
}

LAYER static void round(void)
{
    for (int i = 0; i < WORKS; i++) {
        work[i].run();
    }
    NO_TAIL_CALL;
}

static void say(const char *name, uint32_t instructions)
{
    microkit_dbg_puts("truth ");
    microkit_dbg_puts(name);
    microkit_dbg_puts(" ");
    microkit_dbg_put32(instructions);
    microkit_dbg_puts("\n");
}

/* Counts each work, and a whole round. Whether that is what it was in the last pass. */
static bool count_all(uint32_t *each, uint32_t *all)
{
    uint32_t before = *all;
    bool same = true;

    for (int i = 0; i < WORKS; i++) {
        uint32_t n = count(work[i].run);
        same &= n == each[i];
        each[i] = n;
    }
    *all = count(round);
    return same && *all == before;
}

/*
 * What counting itself takes is that of counting work_none, less its one instruction. Passes are
 * repeated until no other PD has run in two of them.
 */
static void tell_truth(void)
{
    static uint32_t each[WORKS];
    uint32_t all = 0;
    uint32_t cost = count(work_none) - 1;
    int passes = 0;

    while (!count_all(each, &all)) {
        if (++passes == MAX_PASSES) {
            microkit_dbg_puts("accuracy: another PD runs, nothing is counted\n");
            return;
        }
    }
    uint32_t rest = all - cost;
    for (int i = 0; i < WORKS; i++) {
        say(work[i].name, each[i] - cost);
        rest -= each[i] - cost;
    }
    say("rest", rest);
}

void init(void)
{
    if (accuracy_caller == 0) {
        return;
    }
    for (uint64_t i = 0; i < CELLS; i++) {
        cell[i] = (i * 5 + 4093) % CELLS; /* one cycle through all */
    }
    tell_truth();
    for (;;) {
        round();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    uint64_t sum = microkit_msginfo_get_label(msginfo);

    (void)ch;
    for (int i = 0; i < 40; i++) {
        sum = sum * 3 + 1;
        __asm__ volatile("" : "+r"(sum));
    }
    return microkit_msginfo_new(sum & 1, 0);
}
