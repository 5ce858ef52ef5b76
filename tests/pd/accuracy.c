/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work with known shares, for tests/system/accuracy.sh and bench/accuracy.sh: about a hundred
 * thousand instructions a round, the same in each. It is shallow and deep, branchy, memory-bound,
 * and makes protected calls to a PD `callee` (the same program).
 *
 * The PMU counts the instructions of the first rounds, before sampling starts. The count of each
 * function is printed (`truth NAME INSTRUCTIONS`) and checked against a second count. Then rounds
 * are repeated without end.
 */
#include <microkit.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    CH_CALLEE = 1,
    CALLS = 6,
    DEPTH = 12,
    CELLS = 8192, /* of the chase: 64 KiB */
    BRANCHES = 600,
    HOPS = 2000,
    INST_RETIRED = 0x08,
    NOT_AT_EL1 = UINT32_C(1) << 31,
    NOT_AT_EL0 = UINT32_C(1) << 30,
    COUNTERS = 3 << 4, /* 4 and 5: a session takes the lowest ones */
    WORKS = 10,
    MAX_PASSES = 20, /* it never ends while a host samples */
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

static void start_counting(void)
{
    __asm__ volatile("msr pmevtyper4_el0, %0\n\tmsr pmevtyper5_el0, %1\n\tisb\n\t"
                     "msr pmcntenset_el0, %2\n\tisb"
                     :
                     : "r"((uint64_t)(INST_RETIRED | NOT_AT_EL1)),
                       "r"((uint64_t)(INST_RETIRED | NOT_AT_EL0)), "r"((uint64_t)COUNTERS));
}

static uint32_t user_instructions(void)
{
    uint64_t n;

    __asm__ volatile("isb\n\tmrs %0, pmevcntr4_el0" : "=r"(n) : : "memory");
    return (uint32_t)n;
}

static uint32_t kernel_instructions(void)
{
    uint64_t n;

    __asm__ volatile("isb\n\tmrs %0, pmevcntr5_el0" : "=r"(n) : : "memory");
    return (uint32_t)n;
}

struct counted {
    uint32_t user;
    uint32_t kernel;
};

LAYER static struct counted count(void (*run)(void))
{
    uint32_t kernel = kernel_instructions();
    uint32_t user = user_instructions();

    run();
    user = user_instructions() - user;
    return (struct counted){user, kernel_instructions() - kernel};
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

/* Counts each work, and a whole round. Returns whether the counts equal those of the last pass. */
static bool count_all(struct counted *each, struct counted *all)
{
    bool same = true;
    uint32_t kernel = 0;

    for (int i = 0; i < WORKS; i++) {
        struct counted c = count(work[i].run);
        same &= c.user == each[i].user && c.kernel == each[i].kernel;
        kernel += c.kernel;
        each[i] = c;
    }
    *all = count(round);
    return same && all->kernel == kernel;
}

/*
 * The cost of counting is the count of work_none, less its one instruction. The counters count all
 * PDs, so passes are repeated until no other PD has run in two of them.
 */
static void tell_truth(void)
{
    static struct counted each[WORKS];
    struct counted all;
    uint32_t cost = count(work_none).user - 1;
    int passes = 0;

    while (!count_all(each, &all)) {
        if (++passes == MAX_PASSES) {
            microkit_dbg_puts("accuracy: somebody else runs, nothing is counted\n");
            return;
        }
    }
    uint32_t rest = all.user - cost;
    for (int i = 0; i < WORKS; i++) {
        say(work[i].name, each[i].user - cost);
        rest -= each[i].user - cost;
    }
    say("rest", rest);
    say("kernel", all.kernel);
}

void init(void)
{
    if (accuracy_caller == 0) {
        return;
    }
    for (uint64_t i = 0; i < CELLS; i++) {
        cell[i] = (i * 5 + 4093) % CELLS; /* one cycle through all */
    }
    start_counting();
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
