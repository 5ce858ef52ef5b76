/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples and scheduling events of several cores into one order of time.
 *
 * Owns: those that wait for what other cores send. Called by the stream decoder with each sample,
 * each event and each reading of a queue, in the order of its core; hands them to a sink. One is released when every core
 * has sent a later one, of samples and of events if the session has both. A core that is MKPERF_MERGE_WAIT_NS behind the newest sample is not waited for:
 * it may be idle. Memory is bounded by MKPERF_MERGE_BYTES: beyond that the oldest sample is
 * released. Nothing is lost: what comes after a later sample was released is passed on, and
 * counted.
 */
#ifndef MKPERF_HOST_MODEL_MERGE_H
#define MKPERF_HOST_MODEL_MERGE_H

#include "model.h"

#define MKPERF_MERGE_WAIT_NS UINT64_C(1000000000) /* of the target's time */
enum { MKPERF_MERGE_BYTES = 8 << 20 };

struct mkperf_merge;

struct mkperf_merge *mkperf_merge_new(void);
void mkperf_merge_free(struct mkperf_merge *m); /* NULL: nothing. Samples in it are dropped */

/* Masks of the cores whose samples, and whose events, are waited for from now on, beside those that
 * sent some. */
void mkperf_merge_await(struct mkperf_merge *m, uint32_t samples, uint32_t events);

/* Takes a copy of a sample; its core is below MKPERF_MAX_CORES. May release older ones. Errors: the sink's. */
enum mkperf_status mkperf_merge_add(struct mkperf_merge *m, const struct mkperf_sample *sample,
                                    const struct mkperf_sink *to, struct mkperf_error *e);

/* The same for a scheduling event. */
enum mkperf_status mkperf_merge_add_sched(struct mkperf_merge *m, const struct mkperf_sched *event,
                                          const struct mkperf_sink *to, struct mkperf_error *e);

/* The same for a reading of a queue, in one order with the events of its core. */
enum mkperf_status mkperf_merge_add_reading(struct mkperf_merge *m,
                                            const struct mkperf_queue_reading *reading,
                                            const struct mkperf_sink *to, struct mkperf_error *e);

/* Releases what no core can precede any more; all of it: whatever is left. */
enum mkperf_status mkperf_merge_release(struct mkperf_merge *m, bool all,
                                        const struct mkperf_sink *to, struct mkperf_error *e);

/* Samples and events that were released after a later one. */
uint64_t mkperf_merge_unordered(const struct mkperf_merge *m);

#endif
