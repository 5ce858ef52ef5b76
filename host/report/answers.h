/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of `mkperf explain`: one function for each question about a recording.
 *
 * Owns: the rule that leads to each answer. Every figure comes from the profile, from the analysis of scheduling events, or from
 * the list of warnings; nothing is measured here. answers.c asks the samples and figures, answers_sched.c the events.
 *
 *      recording ─► profile (samples)    ┐    question ─► verdict and text
 *                └► analysis (events)    ├──► PROBLEM     something is wrong, or the figures cannot be trusted
 *      worst call ─► its critical path   ┘    ANSWER      what the recording shows
 *      A, B ─► comparison                     RULED_OUT   what is not the reason, with the figure that shows it
 *                                             UNDECIDED   the recording that would decide it
 *
 * An answer that depends on chance has its interval at 95 %. Times by scheduling events are exact, apart from gaps.
 */
#ifndef MKPERF_HOST_REPORT_ANSWERS_H
#define MKPERF_HOST_REPORT_ANSWERS_H

#include "comparison.h"

enum report_verdict {
    REPORT_PROBLEM,
    REPORT_ANSWER,
    REPORT_RULED_OUT,
    REPORT_UNDECIDED,
    REPORT_VERDICTS
};

/* What questions are about. */
struct report_question {
    const char *input;
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    const struct mkperf_analysis *events; /* of scheduling events; NULL: none were recorded */
    uint64_t span;                        /* ns of them */
    struct report_comparison *comparison; /* of `regression`; else NULL */
    struct mkperf_error *e;
};

/* Writes the answer without its full stop. A line's end separates parts. Errors of a second reading of the input are in x->e. */
typedef enum report_verdict report_explain(struct report_question *x, FILE *to);
report_explain report_explain_trust, report_explain_lost, report_explain_names, report_explain_cost,
    report_explain_faults, report_explain_ran, report_explain_time, report_explain_regression,
    report_explain_throughput, report_explain_idle, report_explain_cores, report_explain_call,
    report_explain_wakeups, report_explain_latency, report_explain_budget, report_explain_inversion;

/* Whether the scheduling events cannot answer a question. If so, prints which recording would. */
bool report_lacks_events(const struct report_question *x, FILE *to);

/* answers_sched.c: without samples, the PDs that ran longest. */
report_explain report_explain_run_times;

#endif
