/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the stream decoder share. */
#ifndef MKPERF_HOST_WIRE_INTERNAL_H
#define MKPERF_HOST_WIRE_INTERNAL_H

#include "wire_stream.h"

/* wire_stream.c */
void stream_void_chains(struct mkperf_stream *s);
enum mkperf_status stream_begin(struct mkperf_stream *s, struct mkperf_error *e);
enum mkperf_status stream_announce(struct mkperf_stream *s, struct mkperf_error *e);
enum mkperf_status stream_lost(struct mkperf_stream *s, const struct mkperf_lost *lost,
                               struct mkperf_error *e);

/* wire_samples.c: takes in s->batch */
enum mkperf_status stream_batch(struct mkperf_stream *s, struct mkperf_error *e);

#endif
