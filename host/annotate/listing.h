/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function's instructions with their shares, between the source lines that they are of.
 *
 * Owns: the form of the listing. Called by mkperf annotate and the report browser.
 */
#ifndef MKPERF_HOST_ANNOTATE_LISTING_H
#define MKPERF_HOST_ANNOTATE_LISTING_H

#include "hits.h"
#include "source_text.h"

struct annotate_style {
    bool colour; /* hot instructions, as perf colours them */
    bool source; /* source lines */
};

/* Per cents are of the function's own weight. */
enum mkperf_status annotate_print(const struct annotate_hits *h,
                                  const struct annotate_function *function,
                                  const struct mkperf_frames *f, const struct annotate_choice *c,
                                  const struct annotate_style *style,
                                  struct annotate_sources *sources, FILE *out,
                                  struct mkperf_error *e);

#endif
