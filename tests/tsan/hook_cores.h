/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cores as threads under the real kernel hook, for test_hook_race.c: each has counters, a ring and a
 * hook state, switches among threads with stacks, and samples with the kernel's lock held.
 *
 * Owns: the cores, the lock, the threads, the hook's port.
 */
#ifndef TESTS_TSAN_HOOK_CORES_H
#define TESTS_TSAN_HOOK_CORES_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/capture.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/counted.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/request.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/sched.c"       // NOLINT(bugprone-suspicious-include)
#include "kernel/unwind_walk.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/words.c"       // NOLINT(bugprone-suspicious-include)

#include "tests/hook_pmu.h"

enum {
    CORES = 3,
    THREADS = 6,
    COUNTERS = 2,
    FRAMES = 6,
    ROUNDS = 5000,
    RING_BYTES = 8 * MKPERF_RING_MIN_BYTES,
    PERIOD = 100000,
    NOBODY = -1,
};

#define RETURN UINT64_C(0x400000)
#define REUSED UINT64_C(0xdeaddeaddeaddead)

struct page {
    _Alignas(4096) uint64_t word[512];
};

struct ring_memory {
    struct mkperf_ring ring;
    uint64_t data[RING_BYTES / 8];
};

struct thread {
    uint64_t badge; /* its number + 1, and how often it was created from bit 8 on */
    bool alive, mapped;
    struct page stack;
};

/* A core. What other threads touch, they do with the lock. */
struct core {
    unsigned number;
    struct mkperf_hook hook;
    int current;
    bool asked;
    uint32_t value[COUNTERS], select[COUNTERS], overflow, running;
    uint64_t seed;
    uint64_t captured; /* overflows that the session has taken */
};

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static struct thread threads[THREADS];
static struct core cores[CORES];
static struct ring_memory rings[CORES];
static struct mkperf_descriptor descriptor[CORES];
static struct mkperf_tables tables;
static bool ring_mapped[CORES], tables_mapped;
static const char owner[1];
static atomic_bool over;
static atomic_uint_fast64_t now;
static _Thread_local struct core *self;
uint32_t mock_features = MKPERF_FEATURE_EVENTS;

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005 + 1442695040888963407;
    return *seed >> 33;
}

static void fail(const char *what, uint64_t n)
{
    fprintf(stderr, "%s: %llx\n", what, (unsigned long long)n);
    exit(1);
}

/* ---- the hook's port: of the core whose thread calls ------------------------------------------ */

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    const struct thread *t = self->current != NOBODY ? &threads[self->current] : NULL;

    (void)kernel;
    *c = (struct mkperf_port_context){RETURN, RETURN, (uintptr_t)&threads->stack, t, 0};
    c->fp = t != NULL ? (uintptr_t)&t->stack : 0;
    return t != NULL;
}

const void *mkperf_port_caller(const void *thread, uint64_t reply)
{
    const struct thread *t = thread;

    (void)reply; /* each thread serves the next, if that is there */
    return t != NULL && t + 1 < threads + THREADS && t[1].alive ? t + 1 : NULL;
}

void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread)
{
    const struct thread *t = thread;

    *c = (struct mkperf_port_context){RETURN, RETURN, (uintptr_t)&t->stack, t, 0};
}

struct mkperf_identity mkperf_port_identity(const void *thread)
{
    const struct thread *t = thread;

    return (struct mkperf_identity){t == NULL                 ? MKPERF_THREAD_IDLE
                                    : thread == (void *)owner ? 100
                                                              : t->badge,
                                    0};
}

const void *mkperf_port_running(void)
{
    return self->current != NOBODY ? &threads[self->current] : NULL;
}

uint64_t mkperf_port_kernel_pc(void)
{
    return RETURN;
}

unsigned mkperf_port_core(void)
{
    return self->number;
}

uint64_t mkperf_port_time(void)
{
    return atomic_fetch_add_explicit(&now, 1, memory_order_relaxed);
}

uint64_t mkperf_port_tick_hz(void)
{
    return 1000000;
}

uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va)
{
    const struct thread *t = thread;

    (void)level;
    return t->alive && t->mapped && va == (uintptr_t)&t->stack ? va : 0;
}

void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    for (unsigned i = 0; i < CORES && thread == (void *)owner; i++) {
        if (va == (uintptr_t)&rings[i] && bytes <= sizeof rings[i] && ring_mapped[i]) {
            return &rings[i];
        }
    }
    return va == (uintptr_t)&tables && bytes <= sizeof tables && tables_mapped ? &tables : NULL;
}

void mkperf_port_wake(void)
{
}

uint32_t mkperf_pmu_counters(void)
{
    return (UINT32_C(1) << COUNTERS) - 1;
}

uint32_t mkperf_pmu_overflow(void)
{
    return self->overflow;
}

void mkperf_pmu_clear(uint32_t mask)
{
    self->captured += (unsigned)__builtin_popcount(self->overflow & mask);
    self->overflow &= ~mask;
}

uint32_t mkperf_pmu_read(unsigned i)
{
    return self->value[i];
}

void mkperf_pmu_write(unsigned i, uint32_t value)
{
    self->value[i] = value;
}

uint32_t mkperf_pmu_selected(unsigned i)
{
    return self->select[i];
}

void mkperf_pmu_select(unsigned i, uint32_t select)
{
    self->select[i] = select & MKPERF_SELECT_BITS;
}

uint32_t mkperf_pmu_running(void)
{
    return self->running;
}

void mkperf_pmu_enable(uint32_t mask) /* a session begins */
{
    self->captured = 0;
    self->running |= mask;
}

void mkperf_pmu_disable(uint32_t mask)
{
    self->running &= ~mask;
}

void mkperf_pmu_boot(void)
{
}

/* ---- a core ----------------------------------------------------------------------------------- */

/* Lets one counter or both overflow now and then. */
static void count(struct core *c)
{
    uint32_t which = next_random(&c->seed) % 4 & c->running;

    for (unsigned i = 0; i < COUNTERS; i++) {
        c->value[i] = which >> i & 1 ? (uint32_t)(next_random(&c->seed) % 16) : c->value[i];
    }
    c->overflow |= which;
}

/* Runs another thread on the core, or none, as its scheduler does. */
static void run_another(struct core *c)
{
    int t = (int)(next_random(&c->seed) % (THREADS + 1)) - 1;

    t = t != NOBODY && !threads[t].alive ? NOBODY : t;
    if (c->hook.reports && t != NOBODY) {
        mkperf_sched_message(&c->hook, mkperf_port_running(), &threads[t], MKPERF_FAULT_NONE, true);
        mkperf_sched_switch(&c->hook, MKPERF_STOPPED_CALLED,
                            c->current != NOBODY ? &threads[c->current] : NULL, &threads[t],
                            mkperf_port_time());
    }
    c->current = t;
}

static void *run_core(void *arg)
{
    struct core *c = arg;

    self = c;
    while (!atomic_load(&over)) {
        count(c);
        pthread_mutex_lock(&big);
        if (c->asked) {
            c->asked = false;
            mkperf_hook_request(&c->hook, &descriptor[c->number], owner, true);
        }
        uint32_t hit = c->overflow & c->hook.mask;
        if (hit != 0) {
            uint64_t entered = mkperf_port_time();
            mkperf_capture(&c->hook, hit, entered);
            mkperf_captured(&c->hook, entered);
        }
        c->overflow &= c->hook.mask; /* the ordinary way: masked */
        if (next_random(&c->seed) % 4 == 0) {
            run_another(c);
        }
        pthread_mutex_unlock(&big);
        sched_yield(); /* a mutex is not fair, as the lock of a kernel is */
    }
    return NULL;
}

#endif
