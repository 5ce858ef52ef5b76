/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selftest: work of a known size, sampled by `sampler`; prints what a sample costs and whether
 * samples are what they should be. All figures are guest instructions: one takes a nanosecond of
 * QEMU's time.
 */
#include <microkit.h>

#include <stdbool.h>

#include "sampling.h"
#include "shared.h"

enum {
    SAMPLER = 1,
    DEPTH = 4, /* together with the functions around it, chains have eight frames */
    ROUNDS = 4000000,
    CALLS = 10000,
    PERIOD = 20011,
    FULL = 1 << 20,                /* no wake at all */
    RECORDS_64 = 64 * 8 * (7 + 8), /* a wake every 64 samples */
    NANOSECONDS = 1000000000,
};

static uint64_t answers[ANSWERS];

static void result(const char *name, bool ok)
{
    microkit_dbg_puts(ok ? "ok " : "not ok ");
    microkit_dbg_puts(name);
    microkit_dbg_puts("\n");
}

static void figure(const char *name, uint64_t value) /* the lower 32 bits */
{
    microkit_dbg_puts("figure ");
    microkit_dbg_puts(name);
    microkit_dbg_puts(" ");
    microkit_dbg_put32((uint32_t)value);
    microkit_dbg_puts("\n");
}

/* Returns the number of instructions, exact to a tick, which is 16 of them. */
static uint64_t instructions(void)
{
    return now() * (NANOSECONDS / hz());
}

static void call(enum call what, uint64_t counters, uint64_t period, uint64_t watermark,
                 bool discard)
{
    microkit_mr_set(0, counters);
    microkit_mr_set(1, period);
    microkit_mr_set(2, watermark);
    microkit_mr_set(3, discard);
    microkit_ppcall(SAMPLER, microkit_msginfo_new(what, 4));
    for (unsigned i = 0; what == CALL_STOP && i < ANSWERS; i++) {
        answers[i] = microkit_mr_get((uint8_t)i);
    }
}

static __attribute__((noinline)) uint64_t loop(void)
{
    uint64_t n = ROUNDS;

    __asm__ volatile("1: subs %0, %0, #1\n\tnop\n\tnop\n\tnop\n\tb.ne 1b" : "+r"(n) : : "cc");
    return n;
}

static __attribute__((noinline)) uint64_t work(unsigned depth)
{
    uint64_t n = depth != 0 ? work(depth - 1) : loop();

    __asm__ volatile("" : "+r"(n)); /* no tail call */
    return n;
}

static uint64_t measured_work(void)
{
    uint64_t before = instructions();

    work(DEPTH);
    return instructions() - before;
}

/* Returns what sampling adds to the work, over the samples that the work must give. */
static uint64_t cost(uint64_t watermark, bool discard)
{
    uint64_t alone = measured_work();
    uint64_t sampled;

    call(CALL_START, 1, PERIOD, watermark, discard);
    sampled = measured_work();
    call(CALL_STOP, 0, 0, 0, false);
    return (sampled - alone) / (alone / PERIOD);
}

static void test_user(void)
{
    uint64_t n = measured_work() / PERIOD;

    figure("instructions-per-sample-without-wake", cost(FULL, false));
    figure("frames", answers[ANSWER_FRAMES]);
    result("samples", answers[ANSWER_SAMPLES] >= n && answers[ANSWER_SAMPLES] <= n + 1 &&
                          answers[ANSWER_EVENTS] == answers[ANSWER_SAMPLES] * PERIOD);
    result("samples-sane", answers[ANSWER_BAD] == 0 && answers[ANSWER_LOST] == 0 &&
                               answers[ANSWER_KERNEL] == 0 && answers[ANSWER_WAKES] == 0);
    figure("instructions-per-sample", cost(RECORDS_64, true));
    result("wakes", answers[ANSWER_WAKES] + 1 >= n / 64 && answers[ANSWER_WAKES] <= n / 64 + 1);
    figure("instructions-per-sample-and-drained", cost(RECORDS_64, false));
    result("drained", answers[ANSWER_SAMPLES] >= n && answers[ANSWER_LOST] == 0);
}

/* Makes calls that do nothing, so that most of the kernel's time is in their entries. */
static void test_kernel(void)
{
    call(CALL_START, 2, 1009, FULL, false);
    for (unsigned i = 0; i < CALLS; i++) {
        call(CALL_NOTHING, 0, 0, 0, false);
    }
    call(CALL_STOP, 0, 0, 0, false);
    result("kernel-samples", answers[ANSWER_KERNEL] > CALLS / 10 && answers[ANSWER_SAMPLES] == 0 &&
                                 answers[ANSWER_BAD] == 0);
    for (uint64_t i = 0; i < answers[ANSWER_KERNEL_PCS]; i++) {
        figure("kernel-pc", answers[ANSWER_KERNEL_PCS + 1 + i]);
    }
}

/* Pure user work must not be charged to the kernel, except for what the hook itself takes. */
static void test_split(void)
{
    call(CALL_START, 3, PERIOD, FULL, false);
    work(DEPTH);
    call(CALL_STOP, 0, 0, 0, false);
    result("kernel-split",
           answers[ANSWER_KERNEL] * 20 < answers[ANSWER_SAMPLES] && answers[ANSWER_BAD] == 0);
    figure("split-user", answers[ANSWER_SAMPLES]);
    figure("split-kernel", answers[ANSWER_KERNEL]);
}

/* Starts 50 ms in which no task runs: cycles at EL1 are counted, as the idle task's. */
static void start_idle_test(void)
{
    call(CALL_START, 2, 1000003, FULL, false);
    __asm__ volatile("msr cntv_tval_el0, %0\n\tmsr cntv_ctl_el0, %1\n\tisb"
                     :
                     : "r"(hz() / 20), "r"((uint64_t)1));
}

void init(void)
{
    test_user();
    test_kernel();
    test_split();
    start_idle_test();
}

void notified(microkit_channel ch)
{
    __asm__ volatile("msr cntv_ctl_el0, xzr\n\tisb");
    microkit_irq_ack(ch);
    call(CALL_STOP, 0, 0, 0, false);
    figure("idle-samples", answers[ANSWER_IDLE]);
    result("idle", answers[ANSWER_IDLE] >= 48 && answers[ANSWER_IDLE] <= 50 &&
                       answers[ANSWER_BAD] == 0 && answers[ANSWER_LOST] == 0);
    microkit_dbg_puts("done\n");
}
