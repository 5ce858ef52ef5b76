/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook on several cores, under ThreadSanitizer: each core is a thread with a hook state,
 * counters and a ring of its own, and takes samples and scheduling events with the kernel's lock held,
 * while another thread deletes threads, unmaps stacks and rings, stops sessions and ends their owner.
 * What was unmapped or deleted is written to at once, without the lock, as its next user would: so an
 * access by the hook after that is a data race, and what it reads is told by its value. The profiler
 * reads the rings at the same time; every record is whole, and none is missing.
 *
 * Argument: rounds, of one such change each.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/capture.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/counts.c"  // NOLINT(bugprone-suspicious-include)
#include "kernel/request.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/sched.c"   // NOLINT(bugprone-suspicious-include)
#include "kernel/soft.c"    // NOLINT(bugprone-suspicious-include)

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
static struct mkperf_soft soft;
static bool ring_mapped[CORES], soft_mapped;
static const char owner[1];
static atomic_bool over;
static atomic_uint_fast64_t now;
static _Thread_local struct core *self;
uint32_t mock_features = MKPERF_FEATURE_COUNTS | MKPERF_FEATURE_SOFT | MKPERF_FEATURE_SCHED;

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
    *c = (struct mkperf_port_context){RETURN, RETURN, (uintptr_t)&threads->stack, t};
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

    *c = (struct mkperf_port_context){RETURN, RETURN, (uintptr_t)&t->stack, t};
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
    return va == (uintptr_t)&soft && bytes <= sizeof soft && soft_mapped ? &soft : NULL;
}

void mkperf_port_wake(void)
{
}

int mkperf_pmu_counts_kernel(uint32_t select)
{
    return !(select & MKPERF_SELECT_P);
}

int mkperf_pmu_kernel_alone(uint32_t select)
{
    return (select & MKPERF_SELECT_U) != 0;
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

void mkperf_pmu_describe(uint64_t *out)
{
    memset(out, 0, 4 * sizeof *out);
}

/* ---- a core ----------------------------------------------------------------------------------- */

/* An overflow now and then, of one counter or both. */
static void count(struct core *c)
{
    uint32_t which = next_random(&c->seed) % 4 & c->running;

    for (unsigned i = 0; i < COUNTERS; i++) {
        c->value[i] = which >> i & 1 ? (uint32_t)(next_random(&c->seed) % 16) : c->value[i];
    }
    c->overflow |= which;
}

static struct mkperf_identity name_of(int t)
{
    return mkperf_port_identity(t != NOBODY ? &threads[t] : NULL);
}

/* The core's scheduler: another thread, or none. */
static void run_another(struct core *c)
{
    int t = (int)(next_random(&c->seed) % (THREADS + 1)) - 1;

    t = t != NOBODY && !threads[t].alive ? NOBODY : t;
    if (mkperf_hook_watches(&c->hook)) {
        mkperf_soft_event(&c->hook, MKPERF_SOFT_SWITCH, name_of(c->current), name_of(t));
    }
    if (mkperf_hook_schedules(&c->hook) && t != NOBODY) {
        mkperf_sched_delivered(&c->hook, MKPERF_SCHED_CALL, &threads[t]);
        mkperf_sched_switch(&c->hook, MKPERF_STOPPED_CALLED,
                            c->current != NOBODY ? &threads[c->current] : NULL, &threads[t]);
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
            mkperf_capture(&c->hook, hit);
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

/* ---- who deletes and unmaps ------------------------------------------------------------------- */

static void unmapped(void)
{
    for (unsigned i = 0; i < CORES; i++) {
        mkperf_hook_unmapped(&cores[i].hook);
    }
}

/* Without the lock: what the hook may not touch any more. */
static void reuse(void *memory, size_t bytes)
{
    uint64_t *w = memory;

    for (size_t i = 0; i < bytes / 8; i++) {
        w[i] = REUSED;
    }
}

static void make_stack(struct thread *t)
{
    for (unsigned i = 0; i <= FRAMES; i++) {
        t->stack.word[4 * (size_t)i] = (uintptr_t)&t->stack.word[4 * (size_t)(i + 1)];
        t->stack.word[4 * (size_t)i + 1] = i < FRAMES ? RETURN + UINT64_C(4) * i : 0;
    }
}

static void delete_thread(unsigned n, unsigned round)
{
    struct thread *t = &threads[n];

    pthread_mutex_lock(&big);
    for (unsigned i = 0; i < CORES; i++) {
        cores[i].current = cores[i].current == (int)n ? NOBODY : cores[i].current;
        mkperf_sched_forget(&cores[i].hook, t);
    }
    t->alive = false;
    pthread_mutex_unlock(&big);
    t->badge = REUSED;
    reuse(&t->stack, sizeof t->stack);
    make_stack(t);
    t->badge = n + 1 + ((uint64_t)round << 8);
    pthread_mutex_lock(&big);
    t->alive = true;
    pthread_mutex_unlock(&big);
}

static void unmap_stack(unsigned n)
{
    struct thread *t = &threads[n];

    pthread_mutex_lock(&big);
    t->mapped = false;
    unmapped();
    pthread_mutex_unlock(&big);
    reuse(&t->stack, sizeof t->stack);
    make_stack(t);
    pthread_mutex_lock(&big);
    t->mapped = true;
    pthread_mutex_unlock(&big);
}

/* The profiler's own memory: what was in it is there again when it is mapped again. */
static void unmap_memory(void *memory, size_t bytes, bool *mapped)
{
    static _Alignas(8) uint8_t saved[sizeof(struct ring_memory) + sizeof(struct mkperf_soft)];

    pthread_mutex_lock(&big);
    *mapped = false;
    unmapped();
    pthread_mutex_unlock(&big);
    memcpy(saved, memory, bytes);
    reuse(memory, bytes);
    memcpy(memory, saved, bytes);
    pthread_mutex_lock(&big);
    *mapped = true;
    pthread_mutex_unlock(&big);
}

/* ---- the profiler ----------------------------------------------------------------------------- */

struct session {
    struct mkperf_ring_consumer ring;
    bool on;
    uint64_t got;
};

static struct session session[CORES];
static uint64_t all_samples, all_events, all_lost;
static unsigned changes[5];

static void check_sample(const uint64_t *w)
{
    uint64_t header = w[MKPERF_WORD_HEADER];
    unsigned flags = mkperf_record_flags(header);
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS + (flags & MKPERF_SAMPLE_KERNEL ? 1 : 0);
    uint64_t who = w[MKPERF_WORD_THREAD];

    if (who != MKPERF_THREAD_IDLE && ((who & 0xff) == 0 || (who & 0xff) > THREADS)) {
        fail("a sample of a thread that is none", who);
    }
    for (unsigned i = 0; i < mkperf_record_nframes(header); i++) {
        if (w[words + i] == REUSED) {
            fail("a frame of memory that was not mapped", who);
        }
    }
}

static void drain(unsigned core)
{
    struct session *s = &session[core];
    bool corrupt = false;
    const uint64_t *w;
    unsigned size;

    while ((w = mkperf_ring_peek(&s->ring, &size, &corrupt)) != NULL) {
        if (mkperf_record_type(w[MKPERF_WORD_HEADER]) == MKPERF_RECORD_SAMPLE) {
            check_sample(w);
            s->got++;
            all_samples++;
        } else {
            all_events++;
        }
        mkperf_ring_release(&s->ring, size);
    }
    if (corrupt) {
        fail("a corrupt ring", core);
    }
}

/* Another core carries it out. */
static void ask(unsigned core, uint32_t op)
{
    struct mkperf_descriptor *d = &descriptor[core];

    d->op = op;
    d->core = core;
    __atomic_store_n(&d->sequence, d->sequence + 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&big);
    cores[core].asked = true;
    pthread_mutex_unlock(&big);
    while (__atomic_load_n(&d->answered, __ATOMIC_ACQUIRE) != d->sequence) {
        drain(core);
    }
}

static void start(unsigned core, uint64_t *seed)
{
    struct mkperf_configuration *want = &descriptor[core].want;
    struct session *s = &session[core];

    rings[core].ring = (struct mkperf_ring){.head = 0};
    *s = (struct session){.ring = {.ring = &rings[core].ring, .size = RING_BYTES}, .on = true};
    *want = (struct mkperf_configuration){
        .counter_mask = 3,
        .enable_mask = 3,
        .max_frames = FRAMES,
        .callers = (uint32_t)next_random(seed) % 3,
        .watermark = 4096,
        .ring_bytes = RING_BYTES,
        .ring = (uintptr_t)&rings[core],
        .soft = (uintptr_t)&soft,
        .soft_mask = MKPERF_SOFT_ALL,
        .sched = (uint32_t)next_random(seed) % 2,
    };
    for (unsigned i = 0; i < COUNTERS; i++) {
        want->counter[i] = (struct mkperf_request_counter){
            .select = 0x11 | (i == 0 ? MKPERF_SELECT_P : MKPERF_SELECT_U),
            .left = PERIOD,
            .first = PERIOD,
            .period = PERIOD};
    }
    ask(core, MKPERF_REQUEST_APPLY);
    uint32_t status = descriptor[core].answer.status;
    s->on = status == MKPERF_REQUEST_OK;
    if (!s->on && status != MKPERF_REQUEST_BAD_TIME) {
        fail("a session is refused", status);
    }
}

/* What the core has taken in the session. */
static uint64_t captured(unsigned core)
{
    pthread_mutex_lock(&big);
    uint64_t n = cores[core].captured;
    pthread_mutex_unlock(&big);
    return n;
}

/* The session on that core is over, by itself or with its owner: captured = delivered + lost. */
static void finish(unsigned core, uint64_t taken, uint64_t lost)
{
    struct session *s = &session[core];

    drain(core);
    if (s->got + lost != taken) {
        fail("samples are missing", taken - s->got - lost);
    }
    all_lost += lost;
    s->on = false;
}

static void stop(unsigned core)
{
    ask(core, MKPERF_REQUEST_WITHDRAW);
    finish(core, captured(core), rings[core].ring.dropped_samples);
}

/* The owner is deleted: no core has a session any more. */
static void end_owner(void)
{
    uint64_t taken[CORES], lost[CORES];

    pthread_mutex_lock(&big);
    for (unsigned i = 0; i < CORES; i++) {
        mkperf_hook_end(&cores[i].hook, false);
        taken[i] = cores[i].captured;
        lost[i] = cores[i].hook.dropped_samples; /* the ring may not have heard of all */
    }
    pthread_mutex_unlock(&big);
    for (unsigned i = 0; i < CORES; i++) {
        if (session[i].on) {
            finish(i, taken[i], lost[i]);
        }
    }
}

static void change(unsigned round, uint64_t *seed)
{
    unsigned what = (unsigned)next_random(seed) % 64;
    unsigned core = (unsigned)next_random(seed) % CORES;

    if (what < 20) {
        delete_thread((unsigned)next_random(seed) % THREADS, round);
    } else if (what < 40) {
        unmap_stack((unsigned)next_random(seed) % THREADS);
    } else if (what < 46) {
        unmap_memory(&rings[core], sizeof rings[core], &ring_mapped[core]);
    } else if (what < 50) {
        unmap_memory(&soft, sizeof soft, &soft_mapped);
    } else if (what < 51) {
        end_owner();
    } else if (session[core].on) {
        stop(core);
    } else {
        start(core, seed);
    }
    changes[what < 20 ? 0 : what < 40 ? 1 : what < 50 ? 2 : what < 51 ? 3 : 4]++;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : ROUNDS;
    pthread_t runs[CORES];
    uint64_t seed = 1;

    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.badge = i + 1, .alive = true, .mapped = true};
        make_stack(&threads[i]);
    }
    for (unsigned i = 0; i < CORES; i++) {
        cores[i] = (struct core){.number = i, .current = NOBODY, .seed = i + 1};
        descriptor[i].magic = MKPERF_DESCRIPTOR_MAGIC;
        ring_mapped[i] = true;
    }
    soft_mapped = true;
    for (unsigned i = 0; i < CORES; i++) {
        if (pthread_create(&runs[i], NULL, run_core, &cores[i]) != 0) {
            return 1;
        }
    }
    for (unsigned i = 0; i < CORES; i++) {
        start(i, &seed);
    }
    for (unsigned round = 0; round < rounds; round++) {
        change(round, &seed);
        for (unsigned i = 0; i < CORES; i++) {
            drain(i);
        }
    }
    for (unsigned i = 0; i < CORES; i++) {
        if (session[i].on) {
            stop(i);
        }
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < CORES; i++) {
        pthread_join(runs[i], NULL);
    }
    printf("%u threads deleted, %u stacks unmapped, %u rings and tables, %u owners, %u starts and "
           "stops; %llu samples, %llu lost, %llu events\n",
           changes[0], changes[1], changes[2], changes[3], changes[4],
           (unsigned long long)all_samples, (unsigned long long)all_lost,
           (unsigned long long)all_events);
    return all_samples == 0 || all_events == 0;
}
