/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is taken away while another core takes a sample, for tests/system/race.sh. Two parts by name:
 *
 *   victim  on core 1: walks up and down a stack in a page that `racer` maps, too
 *   racer   on core 0: has the profiling interrupt, samples core 1, and each round deletes the victim,
 *           unmaps its stack, unmaps the ring, or stops and starts the session there
 *
 * What was unmapped is filled with POISON at once: no sample may have it as a frame. Records are whole,
 * and what is missing was counted. Prints a line each hundred rounds, for ever; `bad` stays 0.
 */
#include <microkit.h>

#include <stdbool.h>

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>
#include <mkperf/soft.h>

enum {
    VICTIM = 1,
    CORE = 1,
    RING_BYTES = 1 << 16,
    PERIOD = 6000,
    DEPTH = 12,
    EACH = 100, /* rounds between lines */
    CODE_START = 0x200000,
    CODE_END = 0x300000,
    STACK_WORDS = 512,
    PATIENCE = 50000000, /* looks at an answer */
};

#define NOT_AT_EL1 (UINT32_C(1) << 31)
#define NOT_AT_EL0 (UINT32_C(1) << 30)
#define CPU_CYCLES UINT32_C(0x11)
#define POISON UINT64_C(0xdeaddeaddeaddeac)

uintptr_t rings; /* racer's */
uintptr_t stack; /* the victim's, as either maps it */
static struct mkperf_descriptor descriptor __attribute__((aligned(4096)));
static struct mkperf_ring_consumer ring;
static uint64_t seed = 1;
static uint64_t rounds, samples, cut, events, lost, sessions, refused, bad;
static bool on;

/* ---- the victim ------------------------------------------------------------------------------ */

void race_deep(uint64_t n);
__attribute__((noreturn)) void race_victim(void);
__attribute__((noreturn)) void race_begin(void);

__attribute__((noinline)) void race_deep(uint64_t n)
{
    uint64_t iterations = 50;

    if (n > 0) {
        race_deep(n - 1);
    }
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
}

__attribute__((noreturn)) void race_victim(void)
{
    for (;;) {
        race_deep(DEPTH);
    }
}

/* Where it begins, and begins again: on the stack that is mapped in both. */
__attribute__((noreturn)) void race_begin(void)
{
    __asm__ volatile("mov sp, %0\n\tmov x29, xzr\n\tmov x30, xzr\n\tb race_victim"
                     :
                     : "r"(stack + 8 * (uint64_t)STACK_WORDS)
                     : "memory");
    __builtin_unreachable();
}

/* ---- system calls of pocket's ------------------------------------------------------------------ */

static bool revoke_page(uint64_t who, uint64_t va)
{
    register uint64_t x0 __asm__("x0") = who;
    register uint64_t x1 __asm__("x1") = va;

    __asm__ volatile("svc %2" : "+r"(x0), "+r"(x1) : "i"(POCKET_SYS_PAGE) : "memory");
    return x0 != 0;
}

static bool delete_child(uint64_t who)
{
    register uint64_t x0 __asm__("x0") = who;

    __asm__ volatile("svc %1" : "+r"(x0) : "i"(POCKET_SYS_PD_DELETE) : "memory", "x1");
    return x0 != 0;
}

/* ---- the racer --------------------------------------------------------------------------------- */

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return seed >> 33;
}

static void pause_some(void)
{
    uint64_t iterations = 1 + next_random() % 2000;

    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
}

static void check_sample(const uint64_t *w)
{
    unsigned flags = mkperf_record_flags(w[MKPERF_WORD_HEADER]);
    unsigned n = mkperf_record_nframes(w[MKPERF_WORD_HEADER]);
    const uint64_t *frames = w + MKPERF_SAMPLE_FIXED_WORDS + (flags & MKPERF_SAMPLE_KERNEL ? 1 : 0);

    samples++;
    cut += (flags & MKPERF_SAMPLE_BAD_FP) != 0;
    bad += mkperf_record_core(w[MKPERF_WORD_HEADER]) != CORE || n > DEPTH + 8;
    for (unsigned i = 0; i < n; i++) {
        bad += frames[i] < CODE_START || frames[i] >= CODE_END;
    }
}

static void drain(void)
{
    bool corrupt = false;
    unsigned size;
    const uint64_t *w;

    while (on && (w = mkperf_ring_peek(&ring, &size, &corrupt)) != NULL) {
        if (mkperf_record_type(w[MKPERF_WORD_HEADER]) == MKPERF_RECORD_SAMPLE) {
            check_sample(w);
        } else {
            events++;
        }
        mkperf_ring_release(&ring, size);
    }
    bad += corrupt;
}

/* Of core 1, which is called for it. */
static uint32_t request(uint32_t op)
{
    descriptor.op = op;
    descriptor.core = CORE;
    __atomic_store_n(&descriptor.sequence, descriptor.sequence + 1, __ATOMIC_RELEASE);
    microkit_irq_ack(0);
    for (unsigned i = 0; i < PATIENCE; i++) {
        if (__atomic_load_n(&descriptor.answered, __ATOMIC_ACQUIRE) == descriptor.sequence) {
            return descriptor.answer.status;
        }
        __asm__ volatile("yield" : : : "memory");
    }
    bad++;
    return MKPERF_REQUEST_BAD_CORE;
}

static void start(void)
{
    struct mkperf_ring *shared = (struct mkperf_ring *)rings;

    *shared = (struct mkperf_ring){0};
    ring = (struct mkperf_ring_consumer){shared, RING_BYTES, 0};
    descriptor.want = (struct mkperf_configuration){
        .counter_mask = 3,
        .enable_mask = 3,
        .kernel_mask = 2,
        .max_frames = 16,
        .callers = 1,
        .watermark = INT32_MAX,
        .ring_bytes = RING_BYTES,
        .ring = rings,
        .sched = MKPERF_SCHED_EVENTS,
        .tables = rings + UINT64_C(2) * RING_BYTES,
        .soft_mask = MKPERF_SOFT_ALL,
    };
    for (unsigned i = 0; i < 2; i++) {
        descriptor.want.counter[i] = (struct mkperf_request_counter){
            .select = CPU_CYCLES | (i == 0 ? NOT_AT_EL1 : NOT_AT_EL0),
            .left = PERIOD,
            .interval = PERIOD,
            .period = PERIOD,
            .jitter_mask = 8191};
    }
    uint32_t status = request(MKPERF_REQUEST_APPLY);
    on = status == MKPERF_REQUEST_OK;
    refused += !on;
    sessions += on;
    bad += !on && status != MKPERF_REQUEST_BAD_TIME;
}

static void stop(void)
{
    bad += request(MKPERF_REQUEST_WITHDRAW) != MKPERF_REQUEST_OK;
    drain();
    lost += ring.ring->lost.samples;
    on = false;
}

static void fill_stack(uint64_t with)
{
    volatile uint64_t *w = (uint64_t *)stack;

    for (unsigned i = 0; i < STACK_WORDS; i++) {
        w[i] = with;
    }
}

static void unmap_stack(void)
{
    bad += !revoke_page(VICTIM, stack);
    fill_stack(POISON);
    pause_some();
    fill_stack(0);
    bad += !revoke_page(VICTIM | POCKET_PAGE_MAP, stack);
    microkit_pd_restart(VICTIM, (uintptr_t)race_begin);
}

static void delete_victim(void)
{
    bad += !delete_child(VICTIM);
    pause_some();
    microkit_pd_restart(VICTIM, (uintptr_t)race_begin);
}

static void unmap_ring(void)
{
    bad += !revoke_page(POCKET_PAGE_OWN, rings);
    pause_some();
    bad += !revoke_page(POCKET_PAGE_OWN | POCKET_PAGE_MAP, rings);
}

static void one_round(void)
{
    uint64_t what = next_random() % 16;

    pause_some();
    if (what < 5) {
        unmap_stack();
    } else if (what < 9) {
        delete_victim();
    } else if (what < 12) {
        unmap_ring();
    } else if (on) {
        stop();
    } else {
        start();
    }
    drain();
}

static void put_number(const char *name, uint64_t n)
{
    microkit_dbg_puts(name);
    microkit_dbg_put32((seL4_Uint32)n);
}

static void print_line(void)
{
    put_number("rounds ", rounds);
    put_number(" sessions ", sessions);
    put_number(" refused ", refused);
    put_number(" samples ", samples);
    put_number(" cut ", cut);
    put_number(" events ", events);
    put_number(" lost ", lost);
    put_number(" bad ", bad);
    microkit_dbg_puts("\n");
}

void init(void)
{
    if (microkit_name[0] == 'v') {
        race_begin();
    }
    descriptor.magic = MKPERF_DESCRIPTOR_MAGIC;
    __sel4_ipc_buffer->userData = (uintptr_t)&descriptor;
    start();
    for (;;) {
        one_round();
        rounds++;
        if (rounds % EACH == 0) {
            print_line();
        }
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
