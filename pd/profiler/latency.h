/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies between PDs, aggregated from scheduling events instead of streaming them.
 *
 * Concept: the events of each core are replayed. For each thread the replay knows whether it runs,
 * waits, was woken or awaits a reply. A latency that ends is counted in a bucket of its pair.
 *
 *     events of a core -> thread[] (state) -> a latency ends -> pair[] (count, total, max)
 *                                                            -> cell[] (pair, bucket -> count)
 *
 *     call    from a caller's call (delivered or queued) to the delivery of its reply
 *     notify  from a notification to the start of the thread that waited for it
 *     irq     from an interrupt to the start of the thread that waited for it
 *     exit    from an exit of a guest to the start of its virtual CPU, by the exit's reason
 *
 * Owns: struct mkperf_latency. The profiler PD calls it for each event, in the order of time. It
 * depends on no platform and no other stage, so that it is tested on the host.
 *
 * Invariants
 * 1. A wake-up is measured only if its thread was waiting. Any other wake-up counts as `busy` of
 *    its pair: the thread ran, was ready, or awaited a reply.
 * 2. After a gap the state of all threads is unknown. No latency that began before it is measured.
 * 3. A latency without room for its thread, pair or bucket is lost, and `dropped` counts it.
 *
 * Example: thread 3 waits, and thread 5 notifies it at 1000 ticks. Thread 3 runs at 1040. The pair
 * (notify, 5, 3) counts a latency of 40 ticks in the bucket mkperf_log_bucket(40).
 */
#ifndef MKPERF_PROFILER_LATENCY_H
#define MKPERF_PROFILER_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/log_buckets.h>
#include <mkperf/record.h>
#include <mkperf/sched.h>

#include "mkperf.pb.h"

enum mkperf_latency_limits {
    MKPERF_LATENCY_THREADS = 128, /* a power of two, like the next two */
    MKPERF_LATENCY_PAIRS = 256,
    MKPERF_LATENCY_CELLS = 8192, /* most different (pair, bucket) */
};

enum mkperf_latency_kind {
    MKPERF_LATENCY_CALL = mkperf_StopKind_STOP_CALL,
    MKPERF_LATENCY_NOTIFY = mkperf_StopKind_STOP_NOTIFY,
    MKPERF_LATENCY_IRQ = mkperf_StopKind_STOP_IRQ,
    /* These two are only compared with limits: */
    MKPERF_LATENCY_READY =
        mkperf_StopKind_STOP_READY, /* from when a thread could run until it ran */
    /* A thread used up its budget. This takes no time. */
    MKPERF_LATENCY_THROTTLED = mkperf_StopKind_STOP_THROTTLED,
    MKPERF_LATENCY_EXIT, /* no limit is compared with these */
};

struct mkperf_latency_thread {
    uint64_t identity;
    bool used;
    bool known;    /* the thread's state is known */
    bool waits;    /* it stopped to receive, and was not woken since */
    bool woken;    /* it was woken at woken_at by `waker`, in the way of wake_kind */
    bool calls;    /* it awaits a reply since called_at, or its guest has exited */
    bool answered; /* `callee` is known */
    bool ready;    /* it could run since ready_at */
    uint8_t wake_kind;
    uint16_t callee; /* index */
    uint32_t exit;   /* why its guest exited, as in LatencyPair.irq; 0: `calls` is a call */
    uint16_t waker;  /* index, or the interrupt */
    uint64_t woken_at;
    uint64_t called_at;
    uint64_t ready_at;
    uint64_t run_ticks; /* ticks that it ran, without the current run */
    uint64_t runs;
};

struct mkperf_latency_pair {
    uint64_t key; /* kind, from or irq, to, exit: 0 = free */
    uint64_t count;
    uint64_t total;
    uint64_t max;
    uint64_t max_at;
    uint64_t busy; /* wake-ups of a thread that was not waiting */
};

struct mkperf_latency {
    const mkperf_StopIf *limit; /* the conditions of a flight recording, each a kind of latency */
    unsigned limits;
    uint64_t tick_hz;
    mkperf_Status *status; /* The first latency that reaches a limit is stored in its trigger. */
    uint64_t ready_least;  /* ticks of the least limit of READY; UINT64_MAX: none */
    uint64_t dropped;
    uint64_t end;                       /* ticks: run times end here */
    uint16_t running[MKPERF_MAX_CORES]; /* index + 1; 0: not known */
    uint64_t since[MKPERF_MAX_CORES];   /* ticks: time at which that thread began to run */
    uint32_t page[MKPERF_MAX_CORES];    /* the page of the next exit */
    struct mkperf_latency_thread thread[MKPERF_LATENCY_THREADS]; /* open hashing by identity */
    struct mkperf_latency_pair pair[MKPERF_LATENCY_PAIRS];       /* open hashing by key */
    /* A bucket of a pair: bits 48-63 index of the pair + 1, 32-47 bucket, 0-31 count; 0: free. Open
     * hashing by pair and bucket. */
    uint64_t cell[MKPERF_LATENCY_CELLS];
};

/* Forgets all, limits included. */
void mkperf_latency_begin(struct mkperf_latency *l);
/* Called afterwards: latencies are compared with the n limits, which stay where they are. tick_hz:
 * ticks per second. */
void mkperf_latency_limit(struct mkperf_latency *l, const mkperf_StopIf *limit, unsigned n,
                          uint64_t tick_hz, mkperf_Status *status);
/* Replays an event. header: as in the core's ring; identity: the event's thread; time: ticks; core:
 * below MKPERF_MAX_CORES. */
void mkperf_latency_event(struct mkperf_latency *l, unsigned core, uint64_t header,
                          uint64_t identity, uint64_t time);
/* Called where events of a core are missing. */
void mkperf_latency_gap(struct mkperf_latency *l);

/* Stores the run time of each thread until `time`, which is at least that of the last event or
 * l->end. `out` has room for MKPERF_LATENCY_THREADS. Returns the number of entries. */
unsigned mkperf_latency_runs(const struct mkperf_latency *l, uint64_t time,
                             mkperf_LatencyThread *out);

/* Returns how many latencies of the pair with that index were counted in the bucket. */
uint32_t mkperf_latency_count(const struct mkperf_latency *l, unsigned pair, unsigned bucket);

/* Stores the kind, the threads and the interrupt or exit of a pair of *l, or of an earlier copy of it; zeros in the
 * rest. */
void mkperf_latency_ends(const struct mkperf_latency *l, const struct mkperf_latency_pair *pair,
                         mkperf_LatencyPair *out);

#endif
