/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sinks that hand everything on: functions for the ops of a sink in front of another.
 *
 * Owns: nothing. self is a struct whose first member is the struct mkperf_sink behind it; such a sink
 * uses these for what it does not look at, and calls them at the end of its own functions. Texts are
 * printable already: the decoder made them so.
 */
#ifndef MKPERF_HOST_MODEL_RELAY_H
#define MKPERF_HOST_MODEL_RELAY_H

#include "model.h"

enum mkperf_status mkperf_relay_begin(void *self, const struct mkperf_session *session,
                                      struct mkperf_error *e);
enum mkperf_status mkperf_relay_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e);
/* MKPERF_ERR_INPUT: the sink behind it cannot hold other events. */
enum mkperf_status mkperf_relay_events(void *self, const struct mkperf_session *session,
                                       struct mkperf_error *e);
enum mkperf_status mkperf_relay_mark(void *self, const struct mkperf_mark *m,
                                     struct mkperf_error *e);
enum mkperf_status mkperf_relay_sched(void *self, const struct mkperf_sched *event,
                                      struct mkperf_error *e);
enum mkperf_status mkperf_relay_lost(void *self, const struct mkperf_lost *l,
                                     struct mkperf_error *e);
enum mkperf_status mkperf_relay_flush(void *self, struct mkperf_error *e);
enum mkperf_status mkperf_relay_end(void *self, const struct mkperf_totals *totals,
                                    struct mkperf_error *e);
void mkperf_relay_abandon(void *self);

#endif
