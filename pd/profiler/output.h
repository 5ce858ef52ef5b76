/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of the pipeline: the ring to the client PD, as a stream or as a flight recorder.
 *
 * Owns: struct mkperf_output. Called by every stage that has a record for the client. In a stream a
 * record that does not fit is the caller's loss. In a flight recording the newest records stay on
 * the target: a new one takes the place of the oldest ones, and the client sees an empty ring until
 * a dump.
 *
 *   recording -> (a condition, or Stop) held -> next CONFIGURE or START
 *       \--------------- dump ---------------/ , as often as wanted
 *
 * 1. During a dump the client owns the ring. A running recording then waits in the cores' rings;
 *    records that do not fit there are dropped and counted as usual.
 * 2. The client can write to the ring at any time. A recording that it has spoiled is discarded as
 *    a whole, and counted as corrupt.
 *
 * docs/design.md has the reasons.
 */
#ifndef MKPERF_PROFILER_OUTPUT_H
#define MKPERF_PROFILER_OUTPUT_H

#include "plan.h"

struct mkperf_output {
    mkperf_Status *status;
    struct mkperf_ring_producer ring;
    bool flight;    /* There is a flight recording. It runs, or is held. */
    bool dumping;   /* The client owns the ring. */
    uint64_t shown; /* the ring's head as the client knows it */
    uint64_t tail;  /* the oldest record */
    /* The samples and scheduling events of the last dump. */
    uint64_t dumped;
    uint64_t sched_dumped;
};

/* A session begins. The ring gets the size of the plan if it is empty: only then do positions fit
 * any size. A flight recording takes the ring from the client. False: the client has not read the
 * last session's records yet, as *error says. */
bool mkperf_output_begin(struct mkperf_output *o, const struct mkperf_plan *plan,
                         mkperf_Error *error);
/* Ends a flight recording and discards it. The ring continues at the position that the client
 * has. */
void mkperf_output_forget(struct mkperf_output *o);
/* Returns whether stages may write: not while the client reads a dump. Detects that it has read
 * all. */
bool mkperf_output_open(struct mkperf_output *o);
/* Shows all of a flight recording to the client. False: there is none; *error says so. */
bool mkperf_output_dump(struct mkperf_output *o, mkperf_Error *error);
/* Completes a copy of the status with the recording's state. */
void mkperf_output_status(const struct mkperf_output *o, bool running, mkperf_Status *out);

/* For the next one: space in a flight recording, by overwriting the oldest records. Never NULL for
 * up to half of the ring. */
uint64_t *mkperf_output_overwrite(struct mkperf_output *o, uint64_t bytes);

/* Contiguous space for a record; NULL: there is none. For several records: of
 * mkperf_output_stretch. */
static inline uint64_t *mkperf_output_room(struct mkperf_output *o, uint64_t bytes)
{
    return o->flight ? mkperf_output_overwrite(o, bytes) : mkperf_ring_reserve(&o->ring, bytes);
}

/* Returns the bytes that mkperf_output_room has for several records at once, maybe 0. It may have
 * more for one record. A flight recording takes them one by one, so that none is overwritten too
 * early. */
static inline uint64_t mkperf_output_stretch(struct mkperf_output *o)
{
    uint64_t bytes = 0;

    if (!o->flight) {
        mkperf_ring_room(&o->ring, &bytes);
    }
    return bytes;
}

/* Hands over what was written at the last room: `samples` samples, or `events` scheduling events,
 * or other records. */
static inline void mkperf_output_commit(struct mkperf_output *o, uint64_t bytes, unsigned samples,
                                        unsigned events)
{
    if (o->flight) {
        mkperf_ring_keep(&o->ring, bytes);
        o->status->held += samples;
        o->status->sched_held += events;
    } else {
        mkperf_ring_commit(&o->ring, bytes);
    }
}

/* Hands over a record of that many bytes, which is `events` scheduling events, 0 or 1. False: there is no room
 * for it. */
static inline bool mkperf_output_put(struct mkperf_output *o, const uint64_t *record,
                                     unsigned bytes, unsigned events)
{
    uint64_t *to = mkperf_output_room(o, bytes);

    if (to != NULL) {
        for (unsigned i = 0; i < bytes / 8; i++) { /* a few stores, where memcpy would be a call */
            to[i] = record[i];
        }
        mkperf_output_commit(o, bytes, 0, events);
    }
    return to != NULL;
}

#endif
