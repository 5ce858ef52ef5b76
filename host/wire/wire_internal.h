/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that the files of the stream decoder share, lowest file first. */
#ifndef MKPERF_HOST_WIRE_WIRE_INTERNAL_H
#define MKPERF_HOST_WIRE_WIRE_INTERNAL_H

#include "wire_stream.h"

/* Makes all slots invalid. */
static inline void stream_void_chains(struct mkperf_stream *s)
{
    s->chains.generation++;
}

static inline void stream_note_time(struct mkperf_totals *t, uint64_t ns)
{
    t->first_ns = ns < t->first_ns ? ns : t->first_ns;
    t->last_ns = ns > t->last_ns ? ns : t->last_ns;
}

/* ---- wire_output.c ---- */

/* Returns whether a frequency from a message can be used in the two functions below. */
bool stream_tick_hz_ok(uint64_t hz);
/* Returns ticks as nanoseconds, rounded down. */
uint64_t stream_ns(uint64_t ticks, uint64_t hz);
/* Returns the stream's time at a time of the target. */
uint64_t stream_time(struct mkperf_stream *s, uint64_t ticks, uint64_t hz);

/* Begins the sink and announces all known PDs. Does nothing when the sink has begun. */
enum mkperf_status stream_begin(struct mkperf_stream *s, struct mkperf_error *e);
/* Announces the PDs that became known since the last call. */
enum mkperf_status stream_announce(struct mkperf_stream *s, struct mkperf_error *e);
/* Begins to merge samples if the target samples several cores, if `core` is not 0, or if the session has samples of blocked
 * threads. */
void stream_cores_begin(struct mkperf_stream *s, uint32_t core);
/* Counts a loss and reports it to the sink. */
enum mkperf_status stream_lost(struct mkperf_stream *s, const struct mkperf_lost *lost,
                               struct mkperf_error *e);
/* Returns the core of lost samples that were numbered over all cores. */
uint32_t stream_lost_core(const struct mkperf_stream *s);
/* Adds each core's part of the session to the totals, from the last Status, and reports the losses
 * that were only in lost frames. */
enum mkperf_status stream_cores_close(struct mkperf_stream *s, struct mkperf_error *e);

/* ---- wire_sched.c ---- */

enum mkperf_status stream_sched(struct mkperf_stream *s, const mkperf_Sched *m,
                                struct mkperf_error *e);
/* Begins a session, of which the events are numbered from 0. */
void stream_sched_begin(struct mkperf_stream *s);
/* Ends a session: adds its losses to the totals. */
void stream_sched_close(struct mkperf_stream *s);

/* ---- wire_session.c ---- */

enum mkperf_status stream_hello(struct mkperf_stream *s, const mkperf_TargetHello *hello,
                                struct mkperf_error *e);
enum mkperf_status stream_stamp(struct mkperf_stream *s, const mkperf_Stamp *m,
                                struct mkperf_error *e);
/* Takes a Session. answer: it answers a request of this host. */
enum mkperf_status stream_session(struct mkperf_stream *s, const mkperf_Session *m, bool answer,
                                  struct mkperf_error *e);
/* Has to be called before a message with identities is decoded. Settles names, unless the caller of
 * the stream does. *drop: the message must be dropped, because names are not settled. */
enum mkperf_status stream_need_names(struct mkperf_stream *s, bool *drop, struct mkperf_error *e);

/* ---- wire_samples.c ---- */

/* Decodes s->batch. */
enum mkperf_status stream_batch(struct mkperf_stream *s, struct mkperf_error *e);

#endif
