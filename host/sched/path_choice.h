/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which time a critical path is wanted of: of a call, between two marks, or of a phase.
 *
 * Owns: the reading of the request, and a sink that passes everything to an analysis and finds the
 * time. A recording is read with it once, and then once more for the timeline of that time.
 */
#ifndef MKPERF_HOST_SCHED_PATH_CHOICE_H
#define MKPERF_HOST_SCHED_PATH_CHOICE_H

#include "analysis.h"
#include "model/marks.h"

enum mkperf_path_kind { MKPERF_PATH_CALL, MKPERF_PATH_MARKS, MKPERF_PATH_PHASE };

struct mkperf_path_choice {
    struct mkperf_sink to;            /* the analysis; first: it relays */
    struct mkperf_analysis *analysis; /* set before reading */
    enum mkperf_path_kind kind;
    char first[MKPERF_MODEL_NAME], second[MKPERF_MODEL_NAME]; /* PDs or marks; "": any call */
    bool has_at;
    uint64_t at_ns;
    bool marked; /* marks: the first was seen, */
    uint64_t mark_ns;
    struct mkperf_marks phases; /* those of the wanted name */
    /* The result: */
    uint64_t candidates;
    bool found;
    uint32_t pd;     /* that was done at `to_ns` */
    uint32_t caller; /* of a call */
    uint64_t from_ns, to_ns;
};

/* text: "FROM:TO" the longest call of a pair of PDs; "MARK..MARK" the longest time from one mark to
 * the other; "PHASE" the longest phase; NULL the longest call of all. USAGE. */
enum mkperf_status mkperf_path_choice_parse(struct mkperf_path_choice *c, const char *text,
                                            struct mkperf_error *e);
struct mkperf_sink mkperf_path_choice_sink(struct mkperf_path_choice *c);
/* After reading: INPUT if nothing was found. */
enum mkperf_status mkperf_path_choice_check(const struct mkperf_path_choice *c,
                                            struct mkperf_error *e);
/* "the longest of 40 calls client -> server" */
void mkperf_path_choice_title(const struct mkperf_path_choice *c, char *text, size_t n);
void mkperf_path_choice_free(struct mkperf_path_choice *c);

#endif
