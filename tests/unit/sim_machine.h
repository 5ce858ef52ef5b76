/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated machine: the real kernel hook and the profiler PD in one program, on counters whose
 * rates the test sets and with time that moves when it says so. For tests/unit/test_session*.c,
 * which build each one program of it; nothing here is shared between programs.
 */
#ifndef MKPERF_TEST_SIM_MACHINE_H
#define MKPERF_TEST_SIM_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/capture.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/counts.c"  // NOLINT(bugprone-suspicious-include)
#include "kernel/soft.c"    // NOLINT(bugprone-suspicious-include)

#define MKPERF_TIMER sim_timer
#include "pd/profiler/fault.c"   // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/observe.c" // NOLINT(bugprone-suspicious-include)

#include "pd/profiler/counting.c" // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/drain.c"    // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/flight.c"   // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/main.c"     // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/pace.c"     // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/riders.c"   // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/sampling.c" // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/soft.c"     // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/turns.c"    // NOLINT(bugprone-suspicious-include)

#include "pd/timer/timer.h"
static const struct mkperf_timer sim_timer;
#include "pd/profiler/ticks.c"        // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/ticks_plan.c"   // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/ticks_sample.c" // NOLINT(bugprone-suspicious-include)

enum { COUNTERS = 6 };
#define TICK_HZ UINT64_C(1000000)

struct sim_counter {
    uint32_t code;
    bool user, kernel, on;
    uint32_t value;
    uint64_t total; /* events counted since it was armed first */
};

static struct {
    struct sim_counter counter[COUNTERS];
    uint64_t counted[256][2]; /* events by code, user and kernel, while a counter counted them */
    uint32_t overflow;
    uint64_t ticks;
    bool hook;       /* the kernel has the extension */
    bool interrupts; /* the PMU interrupt reaches the kernel */
    bool counts;     /* counters move at all */
    bool woken;      /* the profiler PD has a notification */
    bool told;       /* the client PD has one */
    bool asleep;     /* the profiler PD does not get to run */
    unsigned acks;
    uint32_t user_rate; /* events a tick */
    uint32_t kernel_rate;
    unsigned line; /* bytes a tick that the line takes */
    struct mkperf_capture_state state;
    bool by_thread; /* the kernel counts by thread */
    struct mkperf_counts_state counting;
    bool soft; /* the kernel has software events */
} sim;

static uint8_t ipc_page[4096] __attribute__((aligned(4096)));
void *__sel4_ipc_buffer = ipc_page;
static uint8_t *rings, *output;

/* ---- child PDs and the timer ------------------------------------------------------------------
 */

enum { SIM_CHILDREN = 4 };
char microkit_name[64] = "profiler";
seL4_Word microkit_irqs = 1; /* the PMU's; 5: the timer's, too */
static seL4_UserContext sim_child[SIM_CHILDREN];
static seL4_Word sim_message[8];
static uint64_t sim_alarm; /* 0: none */

int seL4_TCB_ReadRegisters(seL4_Word tcb, seL4_Bool suspend, uint8_t arch_flags, seL4_Word count,
                           seL4_UserContext *regs)
{
    (void)arch_flags;
    assert_int_equal(suspend, seL4_False);
    assert_int_equal(count, sizeof *regs / 8);
    /* cspace: the TCB of child i is in slot i + 1, too */
    seL4_Word child = tcb >> 58 != 0 ? (tcb >> 58) - 1 : tcb - BASE_TCB_CAP;
    if (child >= SIM_CHILDREN) {
        return 1;
    }
    *regs = sim_child[child];
    return 0;
}

seL4_Word seL4_GetMR(int i)
{
    return sim_message[i];
}

/* Child PDs: who runs, -1: nobody; who stands still in midst of its code. The others stand at their
 * system call. */
static int sim_running = -1;
static int sim_stuck = -1;
enum { SIM_SITE = 0x210000 };

static void sim_children_tick(void)
{
    for (int i = 0; i < SIM_CHILDREN; i++) {
        sim_child[i].x7 = (seL4_Word)-7; /* Recv */
        sim_child[i].pc = i == sim_running ? 0x200000 + sim.ticks % 64 * 4
                          : i == sim_stuck ? 0x200000
                                           : SIM_SITE;
    }
}

static const char *sim_timer_find(void)
{
    return NULL;
}

static uint64_t sim_timer_now(void)
{
    return sim.ticks;
}

static uint64_t sim_timer_hz(void)
{
    return TICK_HZ;
}

static void sim_timer_arm(uint64_t at)
{
    sim_alarm = at;
}

static void sim_timer_stop(void)
{
    sim_alarm = 0;
}

static const struct mkperf_timer sim_timer = {
    .name = "simulated",
    .init = sim_timer_find,
    .now = sim_timer_now,
    .hz = sim_timer_hz,
    .arm = sim_timer_arm,
    .stop = sim_timer_stop,
};

/* ---- Microkit -------------------------------------------------------------------------------- */

void microkit_dbg_puts(const char *s)
{
    (void)s;
}

void microkit_notify(microkit_channel ch)
{
    assert_int_equal(ch, MKPERF_CHANNEL_CLIENT);
    sim.told = true;
}

void microkit_irq_ack(microkit_channel ch)
{
    if (ch == MKPERF_CHANNEL_TIMER) {
        return;
    }
    assert_int_equal(ch, MKPERF_CHANNEL_PMU);
    sim.acks++;
}

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = (struct mkperf_port_context){0x200000 + sim.ticks % 64 * 4, 0x200100, 0};
    return true;
}

uint64_t mkperf_port_thread(void)
{
    return 1 + sim.ticks / 1000 % 3;
}

uint64_t mkperf_port_kernel_pc(void)
{
    return UINT64_C(0xffffff8000001000);
}

unsigned mkperf_port_core(void)
{
    return 0;
}

uint64_t mkperf_port_time(void)
{
    return sim.ticks;
}

uint64_t mkperf_port_tick_hz(void)
{
    return TICK_HZ;
}

uint32_t mkperf_port_overflow_take(void)
{
    uint32_t taken = sim.overflow;

    sim.overflow = 0;
    return taken;
}

uint32_t mkperf_port_counters(void)
{
    return (UINT32_C(1) << COUNTERS) - 1;
}

uint32_t mkperf_port_counter_read(unsigned i)
{
    assert_true(i < COUNTERS);
    return sim.counter[i].value;
}

void mkperf_port_counter_write(unsigned i, uint32_t value)
{
    assert_true(i < COUNTERS);
    sim.counter[i].value = value;
}

uintptr_t mkperf_port_user_page(uint64_t va)
{
    (void)va;
    return 0;
}

struct mkperf_ring *mkperf_port_ring(const struct mkperf_descriptor *d, uint64_t bytes)
{
    assert_int_equal(bytes, MKPERF_CORE_RING_BYTES + MKPERF_RING_HEADER_BYTES);
    return (struct mkperf_ring *)d->ring[0];
}

struct mkperf_soft *mkperf_port_soft(const struct mkperf_descriptor *d)
{
    return sim.soft && d->soft_mask != 0 ? (struct mkperf_soft *)d->soft : NULL;
}

void mkperf_port_wake(void)
{
    sim.woken = true;
}

/* What the kernel does at a switch away from a thread, and after a capture. */
static void count_by_thread(uint64_t thread)
{
    const struct mkperf_descriptor *d = profiler.descriptor;

    if (sim.by_thread && d->magic == MKPERF_DESCRIPTOR_MAGIC && d->counts != 0) {
        mkperf_counts_switch(d, &sim.counting, (struct mkperf_counts *)d->counts, thread, 1);
    }
}

static void interrupt(void)
{
    const struct mkperf_descriptor *d = profiler.descriptor;

    if (sim.overflow != 0 && sim.interrupts) {
        if (sim.hook && d->magic == MKPERF_DESCRIPTOR_MAGIC) {
            mkperf_capture(d, &sim.state);
            count_by_thread(mkperf_port_thread());
        } else {
            sim.woken = true;
        }
    }
}

/* One tick: the counters move, and the kernel takes the interrupt. */
static void tick(void)
{
    uint64_t before = mkperf_port_thread();

    sim.ticks++;
    if (mkperf_port_thread() != before) {
        count_by_thread(before);
    }
    for (unsigned i = 0; i < COUNTERS && sim.counts; i++) {
        struct sim_counter *c = &sim.counter[i];
        uint32_t events = (c->user ? sim.user_rate : 0) + (c->kernel ? sim.kernel_rate : 0);
        if (!c->on || events == 0) {
            continue;
        }
        events = c->code == 0x03 ? (sim.ticks % 100 == 0) * events : events; /* misses are rare */
        c->total += events;
        if (profiler.running && c->user != c->kernel) { /* no probe, no clock of turns */
            sim.counted[c->code & 0xff][!c->user] += events;
        }
        c->value += events;
        if (c->value < events) {
            sim.overflow |= UINT32_C(1) << i;
        }
    }
    interrupt();
}

/* ---- its PMU -------------------------------------------------------------------------------- */

static const char *pmu_reason;

static const char *sim_init(void)
{
    return pmu_reason;
}

static unsigned sim_counters(void)
{
    return COUNTERS;
}

static void sim_cpu(char *name, size_t n)
{
    snprintf(name, n, "simulated");
}

static bool sim_supported(uint32_t code)
{
    return code != 0x23;
}

static bool sim_program(unsigned counter, uint32_t code, bool user, bool kernel)
{
    assert_false(sim.counter[counter].on);
    sim.counter[counter] = (struct sim_counter){.code = code, .user = user, .kernel = kernel};
    return code != 0xbad;
}

static void sim_arm(unsigned counter, uint32_t events)
{
    assert_true(events >= 1 && events <= MKPERF_COUNT_PERIOD);
    sim.counter[counter].value = 0 - events;
}

static void sim_start(uint32_t mask)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        sim.counter[i].on |= mask >> i & 1;
    }
    for (unsigned i = 0; i < 200 && profiler.riders.mask == 0; i++) {
        tick(); /* the probe waits in a loop in which nothing else can move the time */
    }
}

static void sim_stop(uint32_t mask)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        sim.counter[i].on &= !(mask >> i & 1);
    }
}

static uint32_t sim_read(unsigned counter)
{
    return sim.counter[counter].value;
}

static uint32_t sim_overflow(void)
{
    return sim.overflow;
}

static void sim_clear(uint32_t mask)
{
    sim.overflow &= ~mask;
}

static void sim_raise(uint32_t mask)
{
    sim.overflow |= mask;
    interrupt();
}

static uint64_t sim_entropy(void)
{
    return 42;
}

const struct mkperf_pmu mkperf_armv8_pmuv3 = {
    MKPERF_PMU_VERSION,
    "simulated",
    sim_init,
    sim_counters,
    sim_cpu,
    sim_supported,
    sim_program,
    sim_arm,
    sim_start,
    sim_stop,
    sim_read,
    sim_overflow,
    sim_clear,
    sim_raise,
    sim_entropy,
    mkperf_armv8_events,
};

#endif
