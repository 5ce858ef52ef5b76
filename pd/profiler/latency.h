/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies between PDs, aggregated from scheduling events instead of streaming them.
 *
 * Owns: struct mkperf_latency: what each thread waits for, and the histograms. Called by the profiler
 * PD's sched.c for each event of each core, in the order of time on a core. No platform, no
 * dependence on the profiler: host-testable.
 *
 * What is measured (LatencyKind in proto/mkperf.proto):
 *   call    from the caller's call (delivered, or queued) to the delivery of its reply
 *   notify  from a notification to a thread that waits until that runs
 *   irq     the same for an interrupt
 * and how long each thread ran.
 * A second wake-up before the thread runs is not measured: it was ready already. It is counted as one that found the
 * thread busy, as are those of a thread that runs or waits for a reply. After a gap nothing
 * is known of any thread, and nothing is measured that began before.
 *
 * What may be lost: a latency whose pair, thread or bucket has no room. `dropped` counts it.
 */
#ifndef MKPERF_PROFILER_LATENCY_H
#define MKPERF_PROFILER_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/record.h>
#include <mkperf/sched.h>

enum mkperf_latency_limits {
    MKPERF_LATENCY_THREADS = 128, /* a power of two, as the next two */
    MKPERF_LATENCY_PAIRS = 256,
    MKPERF_LATENCY_CELLS = 8192, /* (pair, bucket) that occurred */
    MKPERF_LATENCY_BUCKETS = 16 * (63 - 3) + 16,
};

enum mkperf_latency_kind {
    MKPERF_LATENCY_CALL = 0,
    MKPERF_LATENCY_NOTIFY = 1,
    MKPERF_LATENCY_IRQ = 2,
};

struct mkperf_latency_thread {
    uint64_t identity;
    bool used;
    bool known;    /* what it does, since some event */
    bool waits;    /* stopped to receive, and nothing came since */
    bool woken;    /* by the next three */
    bool calls;    /* since called_at */
    bool answered; /* `callee` is known */
    uint8_t wake_kind;
    uint16_t wake_irq;
    uint16_t callee; /* index */
    uint16_t waker;  /* index */
    uint64_t woken_at;
    uint64_t called_at;
    uint64_t run_ticks; /* without the present run */
    uint64_t runs;
};

/* How long a thread had run at a time. */
struct mkperf_latency_run {
    uint64_t identity;
    uint64_t ticks;
    uint64_t runs;
};

struct mkperf_latency_pair {
    uint64_t key; /* kind, from or irq, to: 0 = free */
    uint64_t count;
    uint64_t total;
    uint64_t max;
    uint64_t max_at;
    uint64_t busy; /* notifications, or interrupts, that its thread was not waiting for */
};

struct mkperf_latency {
    uint64_t dropped;
    uint64_t end;                       /* threads run until then at most */
    uint16_t running[MKPERF_MAX_CORES]; /* index + 1; 0: not known */
    uint64_t since[MKPERF_MAX_CORES];   /* when it began to run */
    struct mkperf_latency_thread thread[MKPERF_LATENCY_THREADS]; /* open hashing by identity */
    struct mkperf_latency_pair pair[MKPERF_LATENCY_PAIRS];       /* open hashing by key */
    /* A bucket of a pair: bits 48-63 index of the pair + 1, 32-47 bucket, 0-31 count; 0: free. Open
     * hashing by the first two. */
    uint64_t cell[MKPERF_LATENCY_CELLS];
};

static inline unsigned mkperf_latency_cell_pair(uint64_t cell)
{
    return (unsigned)(cell >> 48) - 1;
}

static inline unsigned mkperf_latency_cell_bucket(uint64_t cell)
{
    return cell >> 32 & 0xffff;
}

static inline uint32_t mkperf_latency_cell_count(uint64_t cell)
{
    return (uint32_t)cell;
}

/* What a pair's key says. from: identity, of IRQ 0. */
struct mkperf_latency_ends {
    unsigned kind;
    unsigned irq;
    uint64_t from;
    uint64_t to;
};

void mkperf_latency_begin(struct mkperf_latency *l);
/* An event: header as in the core's ring, the thread that it names, ticks. core: below
 * MKPERF_MAX_CORES. */
void mkperf_latency_event(struct mkperf_latency *l, unsigned core, uint64_t header,
                          uint64_t identity, uint64_t time);
/* Events of some core are missing here. */
void mkperf_latency_gap(struct mkperf_latency *l);

/* How long each thread had run at `time`, which is not before that of the last event, or is l->end. Returns
 * how many have an entry in `out`, which has room for MKPERF_LATENCY_THREADS. */
unsigned mkperf_latency_runs(const struct mkperf_latency *l, uint64_t time,
                             struct mkperf_latency_run *out);

/* Sorts the cells of a copy, which counts nothing any more, by pair and bucket. Returns how many
 * there are. */
unsigned mkperf_latency_sort(struct mkperf_latency *l);

unsigned mkperf_latency_bucket(uint64_t ticks);
/* l->thread is looked at, so of the same struct as the pair, or a later copy. */
struct mkperf_latency_ends mkperf_latency_ends(const struct mkperf_latency *l,
                                               const struct mkperf_latency_pair *pair);

#endif
