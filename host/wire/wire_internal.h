/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the stream decoder share. */
#ifndef MKPERF_HOST_WIRE_WIRE_INTERNAL_H
#define MKPERF_HOST_WIRE_WIRE_INTERNAL_H

#include "wire_stream.h"

/* wire_stream.c */
void stream_void_chains(struct mkperf_stream *s);
enum mkperf_status stream_begin(struct mkperf_stream *s, struct mkperf_error *e);
enum mkperf_status stream_announce(struct mkperf_stream *s, struct mkperf_error *e);
enum mkperf_status stream_lost(struct mkperf_stream *s, const struct mkperf_lost *lost,
                               struct mkperf_error *e);

/* wire_session.c */
enum mkperf_status stream_hello(struct mkperf_stream *s, const mkperf_TargetHello *hello,
                                struct mkperf_error *e);
enum mkperf_status stream_session(struct mkperf_stream *s, const mkperf_Session *m, bool answer,
                                  struct mkperf_error *e);

/* wire_marks.c */
enum mkperf_status stream_mark(struct mkperf_stream *s, const mkperf_Mark *m,
                               struct mkperf_error *e);
enum mkperf_status stream_gap(struct mkperf_stream *s, const mkperf_Gap *m, struct mkperf_error *e);

/* wire_cores.c: several cores */
/* Begins to merge samples if the target samples several cores, or core is not 0. */
void stream_cores_begin(struct mkperf_stream *s, uint32_t core);
/* A sample to the sink, in the order of all cores; then, behind a batch, what needs not wait. */
enum mkperf_status stream_emit(struct mkperf_stream *s, const struct mkperf_sample *sample,
                               struct mkperf_error *e);
enum mkperf_status stream_emit_sched(struct mkperf_stream *s, const struct mkperf_sched *event,
                                     struct mkperf_error *e);
enum mkperf_status stream_release(struct mkperf_stream *s, bool all, struct mkperf_error *e);
/* The core of a loss that happened to samples of an unknown one. */
uint32_t stream_lost_core(const struct mkperf_stream *s);
/* What a Status says of cores: which of them are late. */
void stream_cores_status(struct mkperf_stream *s, const mkperf_Status *m);
/* The session's part of each core, from its last Status; reports losses that were in lost frames. */
enum mkperf_status stream_cores_close(struct mkperf_stream *s, struct mkperf_error *e);

/* wire_interactions.c */
void stream_interactions(struct mkperf_stream *s, const mkperf_Interactions *m);

/* wire_sched.c */
enum mkperf_status stream_sched(struct mkperf_stream *s, const mkperf_Sched *m,
                                struct mkperf_error *e);
/* A message is missing: codes may be. */
void stream_sched_damaged(struct mkperf_stream *s);
/* A session begins: its events are numbered from 0. */
void stream_sched_begin(struct mkperf_stream *s);
/* The session's totals, with a Status of it if has_status. */
void stream_sched_close(struct mkperf_stream *s);

/* wire_stamp.c */
enum mkperf_status stream_stamp(struct mkperf_stream *s, const mkperf_Stamp *m,
                                struct mkperf_error *e);
/* Whether the Session has to wait for names: it is kept then. */
bool stream_hold_session(struct mkperf_stream *s, const mkperf_Session *m, bool answer);
/* Before anything that carries an identity. *drop: names are not settled yet, and will be. */
enum mkperf_status stream_need_names(struct mkperf_stream *s, bool *drop, struct mkperf_error *e);
/* FAILED: the target runs another image than the one that names were settled for. */
enum mkperf_status stream_same_image(const struct mkperf_stream *s, const mkperf_TargetHello *hello,
                                     struct mkperf_error *e);

/* wire_samples.c: takes in s->batch */
enum mkperf_status stream_batch(struct mkperf_stream *s, struct mkperf_error *e);
bool stream_tick_hz_ok(uint64_t hz);
uint64_t stream_ns(uint64_t ticks, uint64_t hz);
/* In the stream's time, which continues when the target is restarted. */
uint64_t stream_time(struct mkperf_stream *s, uint64_t ticks, uint64_t hz);

#endif
