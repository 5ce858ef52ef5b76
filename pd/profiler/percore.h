/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cores: what the profiler PD knows of each, and requests to all of them.
 *
 * Owns: struct mkperf_core. The PD runs on one core, `here`, whose requests have been executed when
 * they return. Another core executes a request when the kernel has called it; this PD waits for that,
 * but no longer than MKPERF_CORES_PATIENCE_MS, and a core that has not answered by then is late. So
 * each step of a session has happened on all cores within that time, or the session's status names
 * the cores where it has not.
 */
#ifndef MKPERF_PROFILER_PERCORE_H
#define MKPERF_PROFILER_PERCORE_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/ring.h>
#include <mkperf/session.h>

struct mkperf_profiler;

enum { MKPERF_CORES_PATIENCE_MS = 10 };

/* What is known of an event on a core while a session runs. Times are ticks. */
struct mkperf_pace {
    uint32_t period;  /* present */
    uint32_t samples; /* since `from` */
    uint64_t events;  /* that these stand for */
    uint64_t from;    /* time of a sample; 0: none yet */
    uint64_t last;    /* time of the last sample, or of the last reaction to its absence */
    bool settling;    /* the last change was large (pace.c), or there was none yet */
};

struct mkperf_lost { /* not yet reported in the stream */
    uint64_t samples;
    uint64_t events;
};

struct mkperf_core {
    struct mkperf_ring_consumer ring; /* of its samples */
    uint64_t dropped_samples;         /* of the ring's counts: the part included in ours */
    uint64_t dropped_events;
    uint64_t dropped_sched;
    struct mkperf_lost lost[MKPERF_LOSS_LINK];
    bool unreported;          /* some of those are not 0 */
    bool stale;               /* periods or watermark were changed since the last request */
    bool heard;               /* has ever answered */
    bool pending;             /* has not answered the last request yet, */
    uint32_t op;              /* which was this */
    uint32_t drained;         /* samples of the last drain */
    uint64_t now;             /* time of its last record */
    uint64_t spurious_before; /* of its answers, before the session, */
    uint64_t spurious;        /* and in it */
    uint64_t disturbed;
    mkperf_CoreStatus statistics;
    struct mkperf_pace pace[MKPERF_MAX_EVENTS];
};

/* Which cores answer: waits for those that have not been heard of. Only while stopped. */
void mkperf_cores_probe(struct mkperf_profiler *p);
/* The cores that have answered, bit = number. */
uint32_t mkperf_cores_heard(const struct mkperf_profiler *p);

/* The requested configuration of the own core becomes that of the others of the mask, each with its
 * own ring. */
void mkperf_cores_share(struct mkperf_profiler *p, uint32_t mask);

/* The same request (enum mkperf_request, maybe with MKPERF_REQUEST_SNAPSHOT) of each core of the
 * mask, the own one last. Cores that are late already are not asked. Returns the cores that executed
 * it. */
uint32_t mkperf_cores_request(struct mkperf_profiler *p, uint32_t mask, uint32_t op);

/* Ends the session on late cores, too, if they ever come to it. */
void mkperf_cores_give_up(struct mkperf_profiler *p, uint32_t mask);

/* Answers that have come late. */
void mkperf_cores_collect(struct mkperf_profiler *p);

/* Fills the cores' part of a status; of one core there is none. */
void mkperf_cores_fill(const struct mkperf_profiler *p, mkperf_Status *out);

#endif
