/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the text formats that are written as samples arrive (CSV, JSON Lines).
 *
 * Owns: the file, the names, the cost of profiling, opening and ending. Such a format's own state
 * begins with a struct mkperf_streamed.
 */
#ifndef MKPERF_HOST_EXPORT_STREAMED_H
#define MKPERF_HOST_EXPORT_STREAMED_H

#include "formats.h"
#include "profile/cost.h"

struct mkperf_streamed {
    struct mkperf_textout text;
    struct mkperf_places places;
    struct mkperf_export export;
    struct mkperf_cost cost;
};

/* Opens the file of an output whose state has `size` bytes; ops gets that as self. */
enum mkperf_status mkperf_streamed_open(const struct mkperf_export *x, size_t size,
                                        const struct mkperf_sink_ops *ops,
                                        struct mkperf_output *out, struct mkperf_error *e);

/* A PD; the sink function of formats that say nothing of it. */
enum mkperf_status mkperf_streamed_pd(void *self, const struct mkperf_pd *pd,
                                      struct mkperf_error *e);

/* The places of a sample, counted into the cost. Returns how many. */
uint32_t mkperf_streamed_sample(struct mkperf_streamed *s, const struct mkperf_sample *sample,
                                uint32_t place[MKPERF_PLACES_MAX]);

/* The first error of writing, if there was one. */
enum mkperf_status mkperf_streamed_status(const struct mkperf_streamed *s, struct mkperf_error *e);

/* Warns of missing ELFs and gives the file its name. */
enum mkperf_status mkperf_streamed_finish(struct mkperf_streamed *s, struct mkperf_error *e);

/* The sink function: discards the output. */
void mkperf_streamed_abandon(void *self);

#endif
