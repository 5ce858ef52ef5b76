/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions that are asked again: what a sink has collected from a recording is kept in a snapshot (base/snapshot.h), and the next
 * reading of the same recording for the same question fills the sink from it.
 *
 * Owns: what is in a snapshot, and the replay. input.c decides whether there is one.
 *
 *      first time    reader ─► outer ─► checks ─► inner ─► sink          inner, at the end: session, PDs, totals, and the
 *                                                                        members that the question lists ─► snapshot
 *      next time     snapshot ─► begin, pd, pd, ..., the listed members, end ─► sink
 *
 * Concept: the members are kept as they are just before `end`, unless the question concludes. So `begin` and `pd` open ELFs as always, and `end` draws conclusions as
 * always. No name comes from a snapshot.
 *
 * What may be wrong: mkperf's own PDs are recognised by their ELFs while the recording is read (model/checks.c). If an ELF would be
 * recognised otherwise now, the recording is read.
 */
#ifndef MKPERF_HOST_IMPORT_ASKED_H
#define MKPERF_HOST_IMPORT_ASKED_H

#include "base/shape.h"
#include "base/snapshot.h"
#include "model/figures.h"

/* What passed a sink. */
struct mkperf_passed {
    uint64_t samples, sched_events; /* without gaps */
    uint64_t lost[MKPERF_LOST_PLACES];
};

enum { MKPERF_QUESTION_KEPT = 4 };

struct mkperf_question {
    /* The kind of the result, and each option on which the members depend. NULL: nothing is kept. */
    const char *text;
    struct mkperf_shaped kept[MKPERF_QUESTION_KEPT]; /* the sink's members; those with rows */
    /* Gets what would have passed, before `end`. NULL: it is not needed. */
    struct mkperf_passed *passed;
    /* Called after `end`, before the members are kept: the snapshot then has conclusions, and a replay takes them after `end`. NULL:
     * they are kept as they are before `end`. */
    void (*conclude)(void *self);
    void *self;
};

struct mkperf_asked_pd {
    struct mkperf_pd pd; /* its texts are owned */
    bool recorded;       /* the recording says that it is mkperf's own */
};

struct mkperf_asked_relay {
    struct mkperf_sink to; /* first: it relays */
    struct mkperf_asked *asked;
};

struct mkperf_asked {
    struct mkperf_asked_relay outer, inner;
    const struct mkperf_question *question;
    struct mkperf_shape_bytes bytes; /* the snapshot, after `end` */
    /* Its first part: */
    struct mkperf_session *session; /* of begin; of the last `events` */
    unsigned sessions, session_room;
    struct mkperf_asked_pd *pd;
    unsigned pds, pd_room;
    struct mkperf_totals *totals; /* one; its interactions are apart */
    unsigned ntotals, totals_room;
    struct mkperf_interactions *interactions; /* one, or none */
    unsigned ninteractions, interactions_room;
    struct mkperf_passed passed;
    bool recorded; /* of the PD that passes the outer relay */
};
extern const struct mkperf_shape_row mkperf_asked_rows[];

/* The relays of a reading, in front of the sink of the question, and in front of the relay that marks mkperf's own PDs. */
struct mkperf_sink mkperf_asked_inner(struct mkperf_asked *a, struct mkperf_sink to);
struct mkperf_sink mkperf_asked_outer(struct mkperf_asked *a, struct mkperf_sink to);

/* Fills the sink from a snapshot. False: it has to be read from the recording, and nothing has reached the sink. */
bool mkperf_asked_replay(struct mkperf_asked *a, const struct mkperf_sink *sink, const uint8_t *p,
                         size_t n, struct mkperf_error *e);
void mkperf_asked_free(struct mkperf_asked *a);

#endif
