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

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>

#include "capture.h"

enum {
    PAGE_BYTES = 4096,
    FRAME_RECORD_BYTES = 16, /* AAPCS64 6.4.6: {caller's frame pointer, return address} */
};

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A new session: nothing of the last one may leak into its numbers. */
static void start_generation(const struct mkperf_descriptor *d, struct mkperf_capture_state *s,
                             struct mkperf_ring *ring, uint64_t now)
{
    s->generation = d->generation;
    s->ring_bytes = d->ring_bytes;
    s->head = 0;
    s->random ^= now;
    s->dropped_samples = 0;
    s->dropped_events = 0;
    s->spurious = 0;
    s->late_events = 0;
    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS; i++) {
        s->armed[i] = d->counter[i].first;
    }
    ring->tick_hz = mkperf_port_tick_hz();
    ring->hook = MKPERF_HOOK_MAGIC;
}

/* The next interval of a counter, with jitter as descriptor.h defines it; at least 1. */
static uint32_t next_period(const struct mkperf_descriptor_counter *c,
                            struct mkperf_capture_state *s)
{
    uint32_t mask = c->jitter_mask;
    uint32_t period = c->period;

    if (mask != 0) {
        /* Knuth's MMIX multiplier and increment (TAOCP vol. 2, 3.3.4, table 1). */
        s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        period = period - (mask / 2 + 1) + ((uint32_t)(s->random >> 32) & mask);
    }
    return period != 0 ? period : 1;
}

/*
 * Re-arms counter i, which has counted on since its overflow, without losing those events:
 * the next interval ends `next` events after this overflow. A counter that ran too far (its period
 * is shorter than the way through the kernel) starts afresh, and what it ran goes into the weight
 * of the present sample. Returns that weight.
 */
static uint64_t rearm(const struct mkperf_descriptor *d, struct mkperf_capture_state *s, unsigned i)
{
    uint64_t weight = s->armed[i];
    uint32_t next = next_period(&d->counter[i], s);
    uint32_t ran = mkperf_port_counter_read(i);

    if (ran > next / 2) {
        weight += ran;
        s->late_events += ran;
        ran = 0;
    }
    mkperf_port_counter_write(i, ran - next);
    s->armed[i] = next;
    return weight;
}

/*
 * Walks the interrupted thread's frame records into frames[0 .. max). Each record must be 8-byte
 * aligned, lie within one page that the thread itself could read, and stand above the last one:
 * so the walk ends, whatever memory holds, and never faults. Returns the number of frames and adds
 * to *flags why it ended early.
 */
static unsigned walk(uint64_t fp, uint64_t *frames, unsigned max, unsigned *flags)
{
    uint64_t page = UINT64_MAX;
    uintptr_t window = 0;
    unsigned n = 0;

    while (fp != 0) {
        if (n == max) {
            *flags |= MKPERF_SAMPLE_DEPTH_LIMIT;
            break;
        }
        if (fp % 8 != 0 || fp % PAGE_BYTES > PAGE_BYTES - FRAME_RECORD_BYTES) {
            *flags |= MKPERF_SAMPLE_BAD_FP;
            break;
        }
        if (fp / PAGE_BYTES != page) {
            page = fp / PAGE_BYTES;
            window = mkperf_port_user_page(fp & ~(uint64_t)(PAGE_BYTES - 1));
            if (window == 0) {
                *flags |= MKPERF_SAMPLE_BAD_FP;
                break;
            }
        }
        const uint64_t *record = (const uint64_t *)(window + fp % PAGE_BYTES);
        uint64_t caller = record[0];
        uint64_t ret = record[1];
        if (ret == 0) {
            break; /* start code: the outermost frame */
        }
        frames[n++] = ret;
        if (caller != 0 && caller <= fp) {
            *flags |= MKPERF_SAMPLE_BAD_FP;
            break;
        }
        fp = caller;
    }
    return n;
}

/* Writes one sample for counter i into the ring, or counts it as dropped. */
static void sample(const struct mkperf_descriptor *d, struct mkperf_capture_state *s,
                   struct mkperf_ring_producer *p, unsigned i, uint64_t now, uint64_t weight)
{
    unsigned max = min_u32(d->max_frames, MKPERF_MAX_FRAMES);
    uint64_t *w = mkperf_ring_reserve(p, 8 * (MKPERF_SAMPLE_FIXED_WORDS + 1 + max));

    if (w == NULL) {
        p->ring->dropped_samples = ++s->dropped_samples;
        s->dropped_events += weight;
        p->ring->dropped_events = s->dropped_events;
        return;
    }

    unsigned flags = 0;
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS;
    unsigned nframes = 0;
    struct mkperf_port_context c;
    bool user = mkperf_port_context(&c);

    if (!user) {
        flags |= MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
    } else if (d->kernel_mask >> i & 1) {
        flags |= MKPERF_SAMPLE_KERNEL;
    }
    w[MKPERF_WORD_TIME] = now;
    w[MKPERF_WORD_THREAD] = mkperf_port_thread();
    w[MKPERF_WORD_PERIOD] = weight;
    w[MKPERF_WORD_PC] = c.pc;
    w[MKPERF_WORD_LR] = c.lr;
    if (flags & MKPERF_SAMPLE_KERNEL) {
        w[words++] = mkperf_port_kernel_pc();
    }
    if (user) {
        nframes = walk(c.fp, w + words, max, &flags);
    }
    words += nframes;
    w[MKPERF_WORD_HEADER] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, nframes, i, flags,
                                                 mkperf_port_core());
    mkperf_ring_commit(p, 8 * (uint64_t)words);
}

void mkperf_capture(const struct mkperf_descriptor *d, struct mkperf_capture_state *s)
{
    uint64_t now = mkperf_port_time();
    uint32_t hit = mkperf_port_overflow_take() & d->counter_mask;
    uint32_t bytes = d->ring_bytes;

    if (!mkperf_ring_size_ok(bytes)) {
        return;
    }
    struct mkperf_ring *ring = mkperf_port_ring(d, bytes + MKPERF_RING_HEADER_BYTES);
    if (ring == NULL) {
        return;
    }
    if (s->generation != d->generation || s->ring_bytes != bytes) {
        start_generation(d, s, ring, now);
    }
    if (hit == 0) {
        ring->spurious = ++s->spurious;
        return;
    }

    struct mkperf_ring_producer p = {.ring = ring, .size = s->ring_bytes, .head = s->head};
    uint64_t before = mkperf_ring_used(&p);

    while (hit != 0) {
        unsigned i = (unsigned)__builtin_ctz(hit);
        hit &= hit - 1;
        if (i >= MKPERF_MAX_COUNTERS) {
            break;
        }
        sample(d, s, &p, i, now, rearm(d, s, i));
    }
    s->head = p.head;
    ring->late_events = s->late_events;

    /* Only the crossing wakes: a consumer that is already behind has been told. */
    if (before < d->watermark && mkperf_ring_used(&p) >= d->watermark) {
        mkperf_port_wake();
    }
}
