/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder: a session whose samples stay on the target, the newest of them.
 *
 * Owns: struct mkperf_flight, and the output ring while nothing of it is shown to the client. The
 * hook knows nothing of it: records are drained as ever and kept in the output ring instead of
 * being given to the client. docs/design.md says why it is so.
 *
 *   recording -> (fault, mark, stop) held -> next CONFIGURE or START
 *       \--------- dump ---------/ , as often as wanted
 *
 * While a dump goes on the output ring is the client's. A recording that runs waits meanwhile in
 * the core's ring; what that has no room for is dropped and counted as ever.
 */
#ifndef MKPERF_FLIGHT_H
#define MKPERF_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/ring.h>
#include <mkperf/session.h>

struct mkperf_profiler;

struct mkperf_flight {
    bool on;        /* there is a recording: it runs, or is held */
    bool dumping;   /* the output ring is the client's */
    bool triggered; /* by a fault that was drained; to be held */
    uint32_t why;   /* enum mkperf_flight_trigger */
    uint64_t thread;
    uint64_t shown;   /* the ring's head as the client knows it */
    uint64_t tail;    /* the oldest record */
    uint64_t samples; /* from there on */
    uint64_t overwritten;
    uint64_t dumped; /* samples in the last dump */
};

/* A recording begins: the output ring is taken from the client. False: the client has not yet
 * fetched what the last session left there. */
bool mkperf_flight_begin(struct mkperf_profiler *p, mkperf_Error *error);
/* There is no recording any more. */
void mkperf_flight_forget(struct mkperf_profiler *p);
/* Room for a record, in place of the oldest ones. Never NULL for up to MKPERF_MAX_RECORD_BYTES. */
uint64_t *mkperf_flight_room(struct mkperf_profiler *p, struct mkperf_ring_producer *output,
                             unsigned size);
/* A FAULT record of that thread was drained. */
void mkperf_flight_fault(struct mkperf_profiler *p, uint64_t thread);
/* Whether the drain may go on: not while the client reads. Notices that it has read all. */
bool mkperf_flight_may_drain(struct mkperf_profiler *p);
/* After a drain: holds the recording if a fault said so; true if the client should hear of it. */
bool mkperf_flight_settle(struct mkperf_profiler *p);
/* Ends the recording and holds it. False: there is none; *error says so. */
bool mkperf_flight_hold(struct mkperf_profiler *p, uint32_t why, uint64_t thread,
                        mkperf_Error *error);
/* Shows all to the client, again if need be. False: there is nothing; *error says so. */
bool mkperf_flight_dump(struct mkperf_profiler *p, mkperf_Error *error);
/* The recording's part of a status. */
void mkperf_flight_fill(const struct mkperf_profiler *p, mkperf_Status *out);

#endif
