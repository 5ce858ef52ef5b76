/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * End-to-end paths: how long it took from an interrupt, or from a PD, through a chain of PDs, and where that time was spent.
 *
 * Owns: the hops (deliveries from PD to PD) and the timeline of a whole recording, the search for the chains that repeat, and
 * the times of the instances of one chain. `mkperf latency --path` and `--paths` use it. Memory grows with the events.
 *
 *      interrupt 33    |                                  an instance of irq 33 -> driver -> client
 *      driver           ..RRRRRR                          stage 1: waited 2, own 4; then it notifies client
 *      other            RR      RRR                       . : it is ready    R: it runs
 *      client               ....   RRRRR|                 stage 2: waited 5, own 5; done, because it waits again
 *
 * Rules
 *  1. A stage begins when its PD is notified, called or interrupted. It ends with the first delivery from that PD to the next PD of
 *     the path. The last stage ends with the reply to its call, or when its PD waits again.
 *  2. The PD may be at work when a delivery arrives (`busy`). Events do not show which request it works on, so the stage then ends
 *     with the first delivery after that time, and may be too short.
 *  3. A PD that waits again before it delivers ends the instance early. It is counted in `ended` of that stage, and in no time.
 *  4. The parts of a stage add up to its time, and the stages to the time of the instance. An instance with a gap is void.
 */
#ifndef MKPERF_HOST_SCHED_END_TO_END_H
#define MKPERF_HOST_SCHED_END_TO_END_H

#include "critical_path.h"

enum { MKPERF_ROUTE_PDS = 16 };

/* pd[0] is the PD from which the path begins; MKPERF_SCHED_NOBODY: it begins with the interrupt `irq`. */
struct mkperf_route {
    uint32_t irq, n;
    uint32_t pd[MKPERF_ROUTE_PDS];
    uint64_t times; /* how often mkperf_routes_find found it */
};

/* A delivery. A call has an end, its reply; else `end` is 0. from: MKPERF_SCHED_NOBODY of an interrupt. */
struct mkperf_hop {
    uint64_t time, end;
    uint32_t from, to, irq;
    bool busy, used;
};

struct mkperf_routes {
    struct mkperf_analysis *analysis;
    struct mkperf_timeline timeline;
    struct mkperf_hop *hop; /* hops, in the order of time after mkperf_routes_sort */
    size_t n, room;
    uint64_t not_counted; /* instances of paths for which mkperf_routes_find had no room */
};

extern const char *const mkperf_stage_part_names[MKPERF_STAGE_PARTS];

struct mkperf_stage {
    struct mkperf_log_histogram part[MKPERF_STAGE_PARTS]; /* one value of each instance */
    struct mkperf_bys ready_by, calls_of; /* who ran while it was ready; whom it called */
    uint64_t busy;                        /* instances that found the PD at work */
    uint64_t ended;                       /* instances that went no further */
};

struct mkperf_route_instance {
    uint64_t from, ns;
};

struct mkperf_route_times {
    struct mkperf_route route;
    struct mkperf_log_histogram wall;
    struct mkperf_stage stage[MKPERF_ROUTE_PDS]; /* stage[k] of route.pd[k], from 1 on */
    struct mkperf_route_instance *instance;      /* the longest one first */
    size_t room;
    uint64_t open, gaps; /* instances that lasted at the end of the recording; with gaps */
};

/* Attaches the routes to an analysis, before its first event. */
void mkperf_routes_attach(struct mkperf_routes *r, struct mkperf_analysis *a);
/* Sorts the hops. Called when the analysis has ended, before the functions below. */
void mkperf_routes_sort(struct mkperf_routes *r);
/* Finds the paths that the recording has at least twice, most frequent first, at most `most`. Returns their number. */
size_t mkperf_routes_find(struct mkperf_routes *r, struct mkperf_route *out, size_t most);
/* Reads "irq 33 -> driver -> client" or "user -> server". Errors: USAGE, with what is wrong. */
enum mkperf_status mkperf_route_parse(const struct mkperf_analysis *a, const char *text,
                                      struct mkperf_route *out, struct mkperf_error *e);
void mkperf_route_text(const struct mkperf_analysis *a, const struct mkperf_route *route,
                       char *text, size_t n);
/* Times all instances of route. The caller frees the result. */
void mkperf_route_measure(const struct mkperf_routes *r, const struct mkperf_route *route,
                          struct mkperf_route_times *out);
void mkperf_route_times_free(struct mkperf_route_times *t);
void mkperf_routes_free(struct mkperf_routes *r);

#endif
