/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook: from a counter's overflow to a record in the core's sample ring.
 *
 * Owns: taking one sample. Called by the kernel's interrupt path (see capture.h). Everything that
 * depends on the kernel is behind mkperf_port.h, which each port fills in; the contract stands in
 * docs/porting.md. No policy, no allocation, bounded work, no function pointers.
 *
 * What may be lost: a sample for which the ring has no room; it is counted in the ring's header.
 */
#include <mkperf_port.h>

#include <mkperf/counts.h>
#include <mkperf/descriptor.h>
#include <mkperf/ring.h>

#include "capture.h"
#include "soft.h"

enum {
    PAGE_BYTES = 4096,
};

/* AAPCS64 6.4.6. */
struct frame_record {
    uint64_t caller; /* the caller's frame record */
    uint64_t ret;    /* where it returns to */
};

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A new session: nothing of the last one may leak into its numbers. Or the next turn of one. */
__attribute__((noinline)) static void start_generation(const struct mkperf_descriptor *d,
                                                       struct mkperf_capture_state *s,
                                                       struct mkperf_ring *ring, uint32_t bytes,
                                                       uint64_t now)
{
    struct mkperf_soft *soft = mkperf_port_soft(d);

    if (soft != NULL) {
        mkperf_soft_begin(soft);
    }
    s->generation = d->generation;
    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS; i++) {
        s->armed[i] = d->counter[i].first;
        s->read[i] = d->read[i];
    }
    if (d->continues != 0 && s->ring_bytes == bytes) {
        return;
    }
    s->ring_bytes = bytes;
    s->max_frames = min_u32(d->max_frames, MKPERF_MAX_FRAMES);
    s->head = 0;
    s->random = (s->random ^ now) | 1; /* never 0 */
    s->dropped_samples = 0;
    s->dropped_events = 0;
    s->spurious = 0;
    s->late_events = 0;
    ring->late_events = 0;
    ring->tick_hz = mkperf_port_tick_hz();
    ring->hook = MKPERF_HOOK_MAGIC;
}

/* The next interval of a counter, with jitter as descriptor.h defines it. 0 is as good as 2^32. */
static uint32_t next_period(const struct mkperf_descriptor_counter *c,
                            struct mkperf_capture_state *s)
{
    uint32_t mask = c->jitter_mask;
    uint32_t period = c->period;

    if (mask != 0) {
        s->random ^= s->random << 13; /* Marsaglia's xorshift64, JSS 8(14), 2003 */
        s->random ^= s->random >> 7;
        s->random ^= s->random << 17;
        period = period - (mask / 2 + 1) + ((uint32_t)(s->random >> 32) & mask);
    }
    return period;
}

/*
 * Counter i, which has counted on since its overflow, is to be armed with the value that is left in
 * *value, so that no event is lost: the next interval ends `next` events after this overflow. A
 * counter that ran too far (its period is shorter than the way through the kernel) starts afresh,
 * and what it ran goes into the weight of the present sample. Returns that weight.
 */
static uint64_t rearm(const struct mkperf_descriptor *d, struct mkperf_capture_state *s,
                      struct mkperf_ring *ring, unsigned i, bool kernel, uint32_t *value)
{
    uint64_t weight = s->armed[i];
    uint32_t next = next_period(&d->counter[i], s);
    uint32_t ran = mkperf_port_counter_read(i);

    if (kernel && next < MKPERF_MIN_KERNEL_PERIOD) {
        next = MKPERF_MIN_KERNEL_PERIOD;
    }
    if (ran > next / 2) {
        weight += ran;
        s->late_events += ran;
        ring->late_events = s->late_events;
        ran = 0;
    }
    *value = ran - next;
    s->armed[i] = next;
    return weight;
}

/* Whether a frame record at this offset from a page's start is aligned and wholly in the page. */
static bool record_in_page(uint64_t offset)
{
    /* Rotated right by 3: a misaligned offset becomes huge. */
    return (offset >> 3 | offset << 61) <= (PAGE_BYTES - sizeof(struct frame_record)) / 8;
}

/* What a walk found: frames, and flags that say why it ended early. */
struct walked {
    uint32_t frames;
    uint32_t flags;
};

/*
 * Walks a thread's frame records from fp into frames[0 .. max). Each record must be 8-byte
 * aligned, lie within one page that the thread itself could read, and stand above the last one:
 * so the walk ends, whatever memory holds, and never faults. A function of its own, since inlined
 * it takes the caller's registers away from the loop.
 */
__attribute__((noinline)) static struct walked walk(uint64_t fp, uint64_t *frames, uint32_t max)
{
    uint64_t *frame = frames;
    uint64_t *end = frames + max;
    struct walked end_of_walk = {0, 0};

    while (frame != end) {
        uint64_t page = fp & ~(uint64_t)(PAGE_BYTES - 1);
        uintptr_t window = record_in_page(fp - page) ? mkperf_port_user_page(page) : 0;

        if (window == 0) {
            end_of_walk.flags = MKPERF_SAMPLE_BAD_FP;
            goto out;
        }
        uintptr_t to_window = window - page;
        do {
            const struct frame_record *record = (const struct frame_record *)(fp + to_window);
            uint64_t caller = record->caller;
            uint64_t ret = record->ret;

            if (ret == 0) {
                goto out; /* start code: the outermost frame */
            }
            *frame++ = ret;
            if (caller <= fp) {
                end_of_walk.flags = caller != 0 ? MKPERF_SAMPLE_BAD_FP : 0;
                goto out;
            }
            fp = caller;
        } while (record_in_page(fp - page) && frame != end);
    }
    end_of_walk.flags = MKPERF_SAMPLE_DEPTH_LIMIT;
out:
    end_of_walk.frames = (uint32_t)(frame - frames);
    return end_of_walk;
}

/* Whether the session wants samples of the thread that a sample is about. Only with filters. */
__attribute__((noinline)) static bool wanted(const struct mkperf_descriptor *d, bool kernel)
{
    struct mkperf_port_context c;
    uint32_t n = min_u32(d->filters, MKPERF_MAX_FILTERS);

    mkperf_port_context(&c, kernel); /* says whom mkperf_port_thread is about */
    uint64_t thread = mkperf_port_thread();
    for (uint32_t i = 0; i < n; i++) {
        if (d->filter[i] == thread) {
            return true;
        }
    }
    return false;
}

/* What a counter of read_mask has counted: 0 when armed, and on over its overflow. */
static uint32_t count_of(unsigned i)
{
    return mkperf_port_counter_read(i) - MKPERF_COUNT_PERIOD;
}

/* Puts what the counters of `mask` counted since the last time behind *words, at most
 * MKPERF_MAX_READS. w NULL: nowhere. */
static void read_counters(struct mkperf_capture_state *s, uint32_t mask, uint64_t *w,
                          unsigned *words)
{
    uint64_t n = 0;

    for (; mask != 0; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctz(mask);
        uint32_t count = count_of(i);
        if (w != NULL && n < MKPERF_MAX_READS) {
            w[*words + ++n] = (uint64_t)i << MKPERF_READ_COUNTER_SHIFT |
                              ((count - s->read[i]) & MKPERF_READ_COUNT);
        }
        s->read[i] = count;
    }
    if (w != NULL) {
        w[*words] = n;
        *words += 1 + (unsigned)n;
    }
}

/*
 * Writes one sample for counter i into the ring, or counts it as dropped. reads: counters whose
 * values ride in it. Inlined for the plain case (none), in which nothing of them is left.
 */
static inline __attribute__((always_inline)) void take(struct mkperf_capture_state *s,
                                                       struct mkperf_ring_producer *p, unsigned i,
                                                       bool kernel, uint64_t now, uint64_t weight,
                                                       uint32_t reads)
{
    unsigned max = s->max_frames;
    unsigned room = MKPERF_SAMPLE_FIXED_WORDS + 1 + max;
    uint64_t *w =
        mkperf_ring_reserve(p, UINT64_C(8) * (reads != 0 ? room + 1 + MKPERF_MAX_READS : room));

    if (reads != 0 && w == NULL) {
        read_counters(s, reads, NULL, NULL);
    }
    if (w == NULL) {
        p->ring->dropped_samples = ++s->dropped_samples;
        s->dropped_events += weight;
        p->ring->dropped_events = s->dropped_events;
        return;
    }

    unsigned flags = 0;
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS;
    struct walked walked = {0, 0};
    struct mkperf_port_context c;

    if (kernel) {
        flags |= MKPERF_SAMPLE_KERNEL;
    }
    if (!mkperf_port_context(&c, kernel)) {
        flags |= MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
    }
    uint64_t thread = mkperf_port_thread();

    w[MKPERF_WORD_TIME] = now;
    w[MKPERF_WORD_THREAD] = thread;
    w[MKPERF_WORD_PERIOD] = weight;
    w[MKPERF_WORD_PC] = c.pc;
    w[MKPERF_WORD_LR] = c.lr;
    if (flags & MKPERF_SAMPLE_KERNEL) {
        w[words++] = mkperf_port_kernel_pc();
    }
    if (c.fp != 0) {
        walked = walk(c.fp, w + words, max);
    }
    words += walked.frames;
    flags |= walked.flags;
    if (reads != 0) {
        flags |= MKPERF_SAMPLE_READ;
        read_counters(s, reads, w, &words);
    }
    w[MKPERF_WORD_HEADER] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, walked.frames, i,
                                                 flags, mkperf_port_core());
    mkperf_ring_commit(p, 8 * (uint64_t)words);
}

/* Tells what is known of the counters, if there is room: nobody misses it for long. */
static void tell_turn(const struct mkperf_descriptor *d, struct mkperf_capture_state *s,
                      struct mkperf_ring_producer *p, uint64_t now)
{
    uint32_t mask = d->counter_mask & MKPERF_COUNT_BITS;
    unsigned words = MKPERF_TURN_WORDS;
    uint64_t *w = mkperf_ring_reserve(p, UINT64_C(8) * (MKPERF_TURN_WORDS + MKPERF_MAX_COUNTERS));

    if (w != NULL) {
        w[MKPERF_WORD_TIME] = now;
        w[MKPERF_WORD_THREAD] = mask;
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            w[words++] = d->read_mask >> i & 1 ? s->read[i] : s->armed[i];
        }
        w[MKPERF_WORD_HEADER] =
            mkperf_record_header(MKPERF_RECORD_TURN, 8 * words, 0, 0, 0, mkperf_port_core());
        mkperf_ring_commit(p, 8 * (uint64_t)words);
    }
    mkperf_port_wake();
}

/* An overflow in a session that has filters, groups that are read, or turns. */
static inline void take_special(const struct mkperf_descriptor *d, struct mkperf_capture_state *s,
                                struct mkperf_ring_producer *p, unsigned i, bool kernel,
                                uint64_t now, uint64_t weight)
{
    uint32_t reads = d->reads[i] & d->read_mask & mkperf_port_counters();

    if (d->turn_mask >> i & 1) {
        tell_turn(d, s, p, now);
    } else if (d->read_mask >> i & 1) {
        s->read[i] -= weight; /* it begins anew */
    } else if (d->filters == 0 || wanted(d, kernel)) {
        take(s, p, i, kernel, now, weight, reads);
    } else {
        read_counters(s, reads, NULL, NULL);
    }
    /* What kernel counters counted of this is nobody's, as for the one that overflowed. */
    for (reads &= d->kernel_mask; reads != 0; reads &= reads - 1) {
        unsigned k = (unsigned)__builtin_ctz(reads);
        s->read[k] = count_of(k);
    }
}

/* All overflows of an interrupt. Inlined twice: for sessions with anything special, and without. */
static inline __attribute__((always_inline)) void
take_all(const struct mkperf_descriptor *d, struct mkperf_capture_state *s,
         struct mkperf_ring *ring, uint64_t now, uint32_t bytes, uint32_t hit, bool special)
{
    struct mkperf_ring_producer p = {.ring = ring, .size = bytes, .head = s->head, .tail = s->head};

    while (hit != 0) {
        unsigned i = (unsigned)__builtin_ctz(hit);
        hit &= hit - 1;
        uint32_t value;
        bool kernel = d->kernel_mask >> i & 1;
        uint64_t weight = rearm(d, s, ring, i, kernel, &value);
        if (special) {
            take_special(d, s, &p, i, kernel, now, weight);
        } else {
            take(s, &p, i, kernel, now, weight, 0);
        }
        /* Last, so that a kernel counter does not count the hook, and the interrupted thread gets
         * on before the next overflow, whatever the period. */
        mkperf_port_counter_write(i, value);
    }
    uint64_t before = s->head - p.tail;
    uint64_t after = p.head - p.tail;
    s->head = p.head;

    /* Only the crossing wakes: a consumer that is already behind has been told. */
    if (before < d->watermark && after >= d->watermark) {
        mkperf_port_wake();
    }
}

__attribute__((noinline)) static void take_all_special(const struct mkperf_descriptor *d,
                                                       struct mkperf_capture_state *s,
                                                       struct mkperf_ring *ring, uint64_t now,
                                                       uint32_t bytes, uint32_t hit)
{
    take_all(d, s, ring, now, bytes, hit, true);
}

void mkperf_capture(const struct mkperf_descriptor *d, struct mkperf_capture_state *s)
{
    uint64_t now = mkperf_port_time();
    uint32_t hit = mkperf_port_overflow_take() & d->counter_mask;
    bool fresh = s->generation != d->generation;
    uint32_t bytes = fresh ? d->ring_bytes : s->ring_bytes; /* 0 before the first: nothing fits */

    if (fresh && !mkperf_ring_size_ok(bytes)) {
        return;
    }
    struct mkperf_ring *ring = mkperf_port_ring(d, (uint64_t)bytes + MKPERF_RING_HEADER_BYTES);
    if (ring == NULL) {
        return;
    }
    if (fresh) {
        start_generation(d, s, ring, bytes, now);
    }
    if (hit == 0) {
        ring->stamp = now; /* also how the profiler PD asks for the time */
        ring->spurious = ++s->spurious;
        return;
    }
    if (__builtin_expect(d->special != 0, 0)) {
        take_all_special(d, s, ring, now, bytes, hit);
        return;
    }
    take_all(d, s, ring, now, bytes, hit, false);
}
