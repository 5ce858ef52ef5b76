/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook on several cores, under ThreadSanitizer: each core is a thread with a hook state,
 * counters and a ring of its own, and takes samples and scheduling events with the kernel's lock held,
 * while another thread deletes threads, unmaps stacks and rings, stops sessions and ends their owner.
 * What was unmapped or deleted is written to at once, without the lock, as its next user would: so an
 * access by the hook after that is a data race, and what it reads shows by its value. The profiler
 * reads the rings at the same time; every record is whole, and none is missing.
 *
 * Argument: rounds, of one such change each.
 */
#include "hook_cores.h"

/* ---- who deletes and unmaps ------------------------------------------------------------------- */

static void unmapped(void)
{
    for (unsigned i = 0; i < CORES; i++) {
        mkperf_hook_unmapped(&cores[i].hook);
    }
}

/* Writes, without the lock, to memory that the hook may not touch any more. */
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

/* Unmaps memory of the profiler. What was in it is there again when it is mapped again. */
static void unmap_memory(void *memory, size_t bytes, bool *mapped)
{
    static _Alignas(8) uint8_t saved[sizeof(struct ring_memory) + sizeof(struct mkperf_tables)];

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

/* Asks another core to carry out a request. */
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
        .kernel_mask = 2,
        .max_frames = FRAMES,
        .callers = (uint32_t)next_random(seed) % 3,
        .watermark = 4096,
        .ring_bytes = RING_BYTES,
        .ring = (uintptr_t)&rings[core],
        .tables = (uintptr_t)&tables,
        .soft_mask = MKPERF_SOFT_ALL,
        .sched = (uint32_t)next_random(seed) % 2,
    };
    for (unsigned i = 0; i < COUNTERS; i++) {
        want->counter[i] = (struct mkperf_request_counter){
            .select = 0x11 | (i == 0 ? MKPERF_SELECT_P : MKPERF_SELECT_U),
            .left = PERIOD,
            .interval = PERIOD,
            .period = PERIOD};
    }
    ask(core, MKPERF_REQUEST_APPLY);
    uint32_t status = descriptor[core].answer.status;
    s->on = status == MKPERF_REQUEST_OK;
    if (!s->on && status != MKPERF_REQUEST_BAD_TIME) {
        fail("a session is refused", status);
    }
}

/* Returns what the core has taken in the session. */
static uint64_t captured(unsigned core)
{
    pthread_mutex_lock(&big);
    uint64_t n = cores[core].captured;
    pthread_mutex_unlock(&big);
    return n;
}

/* Checks, when the session on that core is over, that captured = delivered + lost. */
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
    finish(core, captured(core), rings[core].ring.lost.samples);
}

/* Deletes the owner, after which no core has a session. */
static void end_owner(void)
{
    uint64_t taken[CORES], lost[CORES];

    pthread_mutex_lock(&big);
    for (unsigned i = 0; i < CORES; i++) {
        mkperf_hook_end(&cores[i].hook, false);
        taken[i] = cores[i].captured;
        lost[i] = cores[i].hook.lost.samples; /* the ring may not have heard of all */
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
        unmap_memory(&tables, sizeof tables, &tables_mapped);
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
    tables_mapped = true;
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
