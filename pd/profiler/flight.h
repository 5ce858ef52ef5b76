/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder: a session whose samples stay on the target, the newest of them.
 *
 * Owns: struct mkperf_flight, and the output ring while none of it is shown to the client. The hook
 * is unaffected: records are drained as in any session and stored in the output ring instead of
 * being given to the client. docs/design.md has the reasons.
 *
 *   recording -> (fault, mark, stop) held -> next CONFIGURE or START
 *       \--------- dump ---------/ , as often as wanted
 *
 * During a dump the client owns the output ring. A running recording then waits in the core's ring;
 * records that do not fit there are dropped and counted as usual.
 */
#ifndef MKPERF_FLIGHT_H
#define MKPERF_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/ring.h>
#include <mkperf/session.h>

struct mkperf_profiler;

struct mkperf_flight {
    bool on;        /* a recording exists: it runs, or is held */
    bool dumping;   /* the client owns the output ring */
    bool triggered; /* by a fault that was drained; to be held */
    uint32_t why;   /* enum mkperf_flight_trigger */
    uint64_t thread;
    uint64_t shown;   /* the ring's head as the client knows it */
    uint64_t tail;    /* the oldest record */
    uint64_t samples; /* from there on */
    uint64_t overwritten;
    uint64_t dumped; /* samples in the last dump, */
    uint64_t events; /* and the same three of scheduling events */
    uint64_t events_overwritten;
    uint64_t events_dumped;
};

/* A recording begins and takes the output ring from the client. False: the client has not yet read
 * the last session's records there. */
bool mkperf_flight_begin(struct mkperf_profiler *p, mkperf_Error *error);
/* Ends the recording and discards it. */
void mkperf_flight_forget(struct mkperf_profiler *p);
/* Space for a record, overwriting the oldest ones. Never NULL for up to MKPERF_MAX_RECORD_BYTES. */
uint64_t *mkperf_flight_room(struct mkperf_profiler *p, struct mkperf_ring_producer *output,
                             unsigned size);
/* A FAULT record of that thread was drained. */
void mkperf_flight_fault(struct mkperf_profiler *p, uint64_t thread);
/* Whether the drain may continue: not while the client reads. Detects that it has read all. */
bool mkperf_flight_may_drain(struct mkperf_profiler *p);
/* After a drain: holds the recording if a fault triggered it; true if the client must be
 * notified. */
bool mkperf_flight_settle(struct mkperf_profiler *p);
/* Ends the recording and holds it. False: no recording; *error has the reason. */
bool mkperf_flight_hold(struct mkperf_profiler *p, uint32_t why, uint64_t thread,
                        mkperf_Error *error);
/* Shows all to the client, also repeatedly. False: nothing stored; *error has the reason. */
bool mkperf_flight_dump(struct mkperf_profiler *p, mkperf_Error *error);
/* The recording's part of a status. */
void mkperf_flight_fill(const struct mkperf_profiler *p, mkperf_Status *out);

#endif
