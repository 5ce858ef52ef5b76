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

#include "kernel/capture.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/counted.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/request.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/sched.c"       // NOLINT(bugprone-suspicious-include)
#include "kernel/unwind_walk.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/words.c"       // NOLINT(bugprone-suspicious-include)

#include "tests/hook_one_core.h"
#include "tests/hook_pmu.h"

#define MKPERF_TIMER sim_timer
#include "pd/profiler/counting.c"     // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/drain.c"        // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/hook_session.c" // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/kernel.c"       // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/latencies.c"    // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/main.c"         // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/multiplex.c"    // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/output.c"       // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/pace.c"         // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/probe.c"        // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/sched.c"        // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/soft.c"         // NOLINT(bugprone-suspicious-include)

#include "pd/timer/timer.h"
static const struct mkperf_timer sim_timer;
#include "pd/profiler/timer/observe.c"      // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/timer/ticks.c"        // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/timer/ticks_sample.c" // NOLINT(bugprone-suspicious-include)
#include "pd/profiler/timer/timer_reads.c"  // NOLINT(bugprone-suspicious-include)

enum { COUNTERS = 6 };
#define TICK_HZ UINT64_C(1000000)

struct sim_counter {
    uint32_t code;
    bool user, kernel, on;
    bool interrupts; /* its overflow is one */
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
    bool reported;   /* the client PD has one */
    bool asleep;     /* the profiler PD does not get to run */
    bool masked;     /* the interrupt was delivered, and not yet acknowledged */
    bool exported;   /* user mode may use the PMU */
    unsigned slow;   /* ticks that pass while the hook looks for the time */
    unsigned acks;
    uint32_t user_rate; /* events a tick */
    uint32_t kernel_rate;
    unsigned line; /* bytes a tick that the line takes */
    struct mkperf_hook hook_state;
} sim;

static seL4_IPCBuffer ipc_buffer;
seL4_IPCBuffer *__sel4_ipc_buffer = &ipc_buffer;
uint32_t mock_features; /* of the simulated kernel: counts by thread, software events */
static const char sim_profiler_thread[1]; /* what the kernel knows the profiler PD by */
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

/* Child PDs: which runs, -1: none; which is stopped in the middle of its code. The others stand at their
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
    sim.reported = true;
}

static void tick(void);
static void interrupt(void);
static void run_thread(uint64_t thread);
static uint64_t sim_thread(void);

/* The profiler PD acknowledges its interrupt: the kernel's part of a request. */
void microkit_irq_ack(microkit_channel ch)
{
    struct mkperf_descriptor *d = (struct mkperf_descriptor *)__sel4_ipc_buffer->userData;

    if (ch == MKPERF_CHANNEL_TIMER) {
        return;
    }
    assert_int_equal(ch, MKPERF_CHANNEL_PMU);
    sim.acks++;
    sim.masked = false;
    if (!sim.hook) {
        return;
    }
    run_thread(1);
    if ((d->op & MKPERF_REQUEST_OP) == MKPERF_REQUEST_APPLY) { /* another session, or its probe */
        memset(sim.counted, 0, sizeof sim.counted);
        for (unsigned i = 0; i < COUNTERS; i++) {
            sim.counter[i].total = 0;
        }
    }
    mkperf_hook_request(&sim.hook_state, d, sim_profiler_thread, true);
    run_thread(sim_thread());
    uint32_t op = d->op & MKPERF_REQUEST_OP;
    for (unsigned i = 0; i < 200 && profiler.ticks.reads.mask == 0 && sim.hook_state.enabled != 0 &&
                         (op == MKPERF_REQUEST_APPLY || op == MKPERF_REQUEST_CONTINUE);
         i++) {
        tick(); /* the probe waits in a loop in which nothing else can move the time */
    }
    interrupt();
}

static uint64_t sim_thread(void)
{
    return 1 + sim.ticks / 1000 % 3;
}

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = (struct mkperf_port_context){0x200000 + sim.ticks % 64 * 4, 0x200100, 0, NULL, 0};
    return true;
}

/* NULL: the thread that runs. */
struct mkperf_identity mkperf_port_identity(const void *thread)
{
    return (struct mkperf_identity){thread == NULL ? sim_thread() : 1, 0x100};
}

uint64_t mkperf_port_kernel_pc(void)
{
    return UINT64_C(0xffffff8000001000);
}

const void *mkperf_port_running(void)
{
    return sim_profiler_thread;
}

uint64_t mkperf_port_time(void)
{
    sim.ticks += sim.slow;
    return sim.ticks;
}

uint64_t mkperf_port_tick_hz(void)
{
    return TICK_HZ;
}

const void *mkperf_port_caller(const void *thread, uint64_t reply)
{
    (void)thread;
    (void)reply;
    return NULL;
}

void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread)
{
    (void)c;
    (void)thread;
    fail();
}

void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    assert_true(thread == sim_profiler_thread);
    assert_int_equal(va % 8, 0);
    assert_true(bytes <= MKPERF_RINGS_REGION_BYTES);
    return (void *)va;
}

void mkperf_port_wake(void)
{
    sim.woken = true;
}

/* What the kernel counts at a switch to a thread. */
static void run_thread(uint64_t thread)
{
    if (sim.hook_state.session.counts != 0) {
        mkperf_counts_take(&sim.hook_state);
    }
    sim.hook_state.running = (struct mkperf_identity){thread, 0x100};
}

static uint32_t sim_mask(bool interrupts)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < COUNTERS; i++) {
        mask |= (uint32_t)(interrupts ? sim.counter[i].interrupts : sim.counter[i].on) << i;
    }
    return mask;
}

static void interrupt(void)
{
    uint32_t hit = sim.overflow & sim.hook_state.mask;

    if ((sim.overflow & sim_mask(true)) == 0 || !sim.interrupts || sim.masked) {
        return;
    }
    if (sim.hook && hit != 0) {
        uint64_t now = mkperf_port_time();
        mkperf_capture(&sim.hook_state, hit, now);
        mkperf_captured(&sim.hook_state, now);
    } else { /* the ordinary way */
        sim.hook_state.spurious++;
        sim.masked = true;
        sim.woken = true;
    }
}

/* One tick: the counters move, and the kernel takes the interrupt. */
static void tick(void)
{
    uint64_t before = sim_thread();

    sim.ticks++;
    if (sim_thread() != before) {
        run_thread(sim_thread());
    }
    for (unsigned i = 0; i < COUNTERS && sim.counts; i++) {
        struct sim_counter *c = &sim.counter[i];
        uint32_t events = (c->user ? sim.user_rate : 0) + (c->kernel ? sim.kernel_rate : 0);
        if (!c->on || events == 0) {
            continue;
        }
        events = c->code == 0x03 ? (sim.ticks % 100 == 0) * events : events; /* misses are rare */
        c->total += events;
        if (c->user != c->kernel) { /* no clock of slices */
            sim.counted[c->code & 0xff][!c->user] += events;
        }
        c->value += events;
        if (c->value < events) {
            sim.overflow |= UINT32_C(1) << i;
        }
    }
    interrupt();
}

/* ---- its PMU, as the kernel uses it ---------------------------------------------------------- */

uint32_t mkperf_pmu_counters(void)
{
    return (UINT32_C(1) << COUNTERS) - 1;
}

uint32_t mkperf_pmu_overflow(void)
{
    return sim.overflow;
}

void mkperf_pmu_clear(uint32_t mask)
{
    sim.overflow &= ~mask;
}

uint32_t mkperf_pmu_read(unsigned i)
{
    assert_true(i < COUNTERS);
    return sim.counter[i].value;
}

void mkperf_pmu_write(unsigned i, uint32_t value)
{
    assert_true(i < COUNTERS);
    sim.counter[i].value = value;
}

uint32_t mkperf_pmu_selected(unsigned i)
{
    const struct sim_counter *c = &sim.counter[i];

    assert_true(i < COUNTERS);
    return c->code | (c->user ? 0 : MKPERF_SELECT_U) | (c->kernel ? 0 : MKPERF_SELECT_P);
}

/* It does not take event 0xbad. */
void mkperf_pmu_select(unsigned i, uint32_t select)
{
    assert_true(i < COUNTERS);
    assert_false(sim.counter[i].on);
    uint32_t code = select & MKPERF_SELECT_EVENT;
    sim.counter[i].code = code == 0xbad ? 0 : code;
    sim.counter[i].user = !(select & MKPERF_SELECT_U);
    sim.counter[i].kernel = !(select & MKPERF_SELECT_P);
}

uint32_t mkperf_pmu_running(void)
{
    return sim_mask(false) & sim_mask(true);
}

void mkperf_pmu_enable(uint32_t mask)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        sim.counter[i].on |= mask >> i & 1;
        sim.counter[i].interrupts |= mask >> i & 1;
    }
}

void mkperf_pmu_disable(uint32_t mask)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        sim.counter[i].on &= !(mask >> i & 1);
        sim.counter[i].interrupts &= !(mask >> i & 1);
    }
}

void mkperf_pmu_boot(void)
{
    mkperf_pmu_disable(UINT32_MAX);
}

/* ---- its back-end, and its PMU in user mode -------------------------------------------------- */

static void sim_cpu(const uint64_t *id, char *name, size_t n)
{
    (void)id;
    snprintf(name, n, "simulated");
}

static bool sim_supported(const uint64_t *id, uint32_t code)
{
    (void)id;
    return code != 0x23;
}

static uint32_t sim_select(const uint64_t *id, uint32_t code, bool user, bool kernel)
{
    (void)id;
    return code | (user ? 0 : MKPERF_SELECT_U) | (kernel ? 0 : MKPERF_SELECT_P);
}

static const char *sim_user_find(struct mkperf_cpu *cpu)
{
    cpu->counters = COUNTERS;
    return sim.exported ? NULL : "user mode may not";
}

static bool sim_user_program(unsigned counter, uint32_t select)
{
    assert_true(sim.exported);
    mkperf_pmu_select(counter, select);
    sim.counter[counter].value = 0;
    sim.counter[counter].total = 0;
    return mkperf_pmu_selected(counter) == select;
}

static void sim_user_start(uint32_t mask)
{
    assert_true(sim.exported);
    for (unsigned i = 0; i < COUNTERS; i++) {
        sim.counter[i].on |= mask >> i & 1;
    }
}

static void sim_user_stop(uint32_t mask)
{
    assert_true(sim.exported);
    mkperf_pmu_disable(mask);
}

static uint32_t sim_user_read(unsigned counter)
{
    assert_true(sim.exported);
    return sim.counter[counter].value;
}

static const struct mkperf_pmu_user sim_user = {
    .find = sim_user_find,
    .program = sim_user_program,
    .start = sim_user_start,
    .stop = sim_user_stop,
    .read = sim_user_read,
};

const struct mkperf_pmu mkperf_armv8_pmuv3 = {
    .name = "simulated",
    .cpu = sim_cpu,
    .supported = sim_supported,
    .select = sim_select,
    .user = &sim_user,
    .events = mkperf_armv8_events,
};

#endif
