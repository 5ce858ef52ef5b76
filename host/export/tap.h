/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink in front of another, for a command's report on the stream.
 *
 * Owns: counts of samples and losses, the printing of samples, and the warnings at the end. Passes everything on
 * unchanged.
 */
#ifndef MKPERF_HOST_EXPORT_TAP_H
#define MKPERF_HOST_EXPORT_TAP_H

#include <stdio.h>

#include "kept.h"

struct mkperf_tap {
    struct mkperf_sink to;    /* first: it relays */
    FILE *print;              /* one line a sample; NULL: none */
    mkperf_put_warning *warn; /* gets the list of warnings at the end; NULL: it is not wanted */
    void *self;               /* of warn */
    struct export_kept kept;
    bool ended;
    bool cut;        /* as in struct mkperf_totals */
    uint64_t events; /* of scheduling */
    uint64_t samples, lost[MKPERF_LOST_PLACES];
};

struct mkperf_sink mkperf_tap_sink(struct mkperf_tap *t);
uint64_t mkperf_tap_lost(const struct mkperf_tap *t);
void mkperf_tap_free(struct mkperf_tap *t);

#endif
