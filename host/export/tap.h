/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink in front of another, for a command's report on the stream.
 *
 * Owns: counts of samples and losses, and the printing of samples. Passes everything on unchanged.
 */
#ifndef MKPERF_HOST_EXPORT_TAP_H
#define MKPERF_HOST_EXPORT_TAP_H

#include <stdio.h>

#include "model/model.h"

struct mkperf_tap {
    struct mkperf_sink to; /* first: model/relay.h */
    FILE *print;           /* one line a sample; NULL: none */
    char **name;           /* of the PDs, with print */
    uint32_t npds, name_room;
    bool ended;
    bool cut; /* as in struct mkperf_totals */
    uint64_t cut_bytes;
    uint64_t events; /* of scheduling */
    uint64_t samples, lost[MKPERF_LOST_PLACES];
};

struct mkperf_sink mkperf_tap_sink(struct mkperf_tap *t);
uint64_t mkperf_tap_lost(const struct mkperf_tap *t);
void mkperf_tap_free(struct mkperf_tap *t);

#endif
