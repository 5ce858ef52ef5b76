/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies that a target aggregates: `mkperf latency -t TARGET`.
 *
 * Owns: the session that aggregates, and its snapshots. The connection is the caller's.
 */
#ifndef MKPERF_HOST_LINK_LATENCY_QUERY_H
#define MKPERF_HOST_LINK_LATENCY_QUERY_H

#include "recorder.h"
#include "sched/latency_rows.h"

/* Begins a session that only aggregates; REFUSED: the target's build cannot. */
enum mkperf_status mkperf_latency_query_begin(struct mkperf_recorder *r, struct mkperf_error *e);

/* A snapshot since the session's start: replaces *rows, which are finished. */
enum mkperf_status mkperf_latency_query(struct mkperf_recorder *r, struct mkperf_latency_rows *rows,
                                        struct mkperf_error *e);

#endif
