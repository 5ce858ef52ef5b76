/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From scheduling events to Sched messages (proto/mkperf.proto, docs/protocol.md).
 *
 * Owns: struct mkperf_sched_encoder, the codes of one stream and the unfinished message. Called by
 * the client PD for each such record of the output ring; host-testable, no platform in it.
 *
 * A code is the repeated part of events: kind, reason, interrupt and thread. All cores share the
 * table, so a code means the same on each; it is defined for each core at its first use there. If
 * the table is full, a new epoch begins. Nothing is lost here: a record that does not fit leaves
 * the message as it was, to be finished first.
 */
#ifndef MKPERF_CLIENT_SCHED_H
#define MKPERF_CLIENT_SCHED_H

#include <mkperf/sched.h>
#include <mkperf/words.h>

#include "encode.h"

enum mkperf_sched_encoder_limits {
    MKPERF_SCHED_PLACES = 1024, /* places of the hash table; a power of two */
    MKPERF_SCHED_CODES = 512,   /* the wire would allow 1024 */
};

struct mkperf_sched_code {
    uint64_t thread; /* identity */
    uint32_t what;   /* kind, reason and interrupt, + 1; 0: free */
    uint16_t code;
    uint8_t reported; /* cores, bit = number */
};

struct mkperf_sched_encoder {
    uint32_t session;
    uint32_t epoch;
    uint32_t messages; /* messages since the epoch began */
    uint32_t codes;    /* codes of this epoch on all cores */
    uint64_t tick_hz;
    uint64_t sent;                    /* events in finished messages of this session */
    uint64_t seen[MKPERF_MAX_CORES];  /* events of each core, lost ones included */
    uint64_t known[MKPERF_MAX_CORES]; /* sets of words whose values the receiver has */
    /* The values in the receiver's sets of words. */
    uint64_t word[MKPERF_MAX_CORES][MKPERF_MAX_WORDS];

    /* the unfinished message */
    uint32_t events;
    uint32_t definitions;
    uint32_t core;
    uint32_t bits;
    uint64_t first; /* `seen` before it */
    uint64_t first_time;
    uint64_t last_time;
    struct mkperf_column code, event, reading;
    uint32_t numbers; /* how many numbers are in `reading` */

    struct mkperf_sched_code place[MKPERF_SCHED_PLACES]; /* open hashing by thread and what */
};

_Static_assert(MKPERF_MAX_CORES <= 8, "a bit for each core");

/* Begins a session with an empty message and a new epoch. The encoder is all zeros before the
 * first.
 */
void mkperf_sched_encoder_begin(struct mkperf_sched_encoder *e, uint32_t session, uint64_t tick_hz);
/* Forgets all codes. Only between messages. */
void mkperf_sched_encoder_new_epoch(struct mkperf_sched_encoder *e);
/* Adds a record of the output ring: SCHED, SCHED_LOSS or WORDS. */
enum mkperf_encode_result mkperf_sched_encoder_add(struct mkperf_sched_encoder *e,
                                                   const uint64_t *record, unsigned size);
/* Writes the message as a ToHost into out (MKPERF_CONTENT_BYTES) and begins an empty one. Returns
 * its length, 0 if there were no events. */
size_t mkperf_sched_encoder_finish(struct mkperf_sched_encoder *e, uint8_t *out);

#endif
