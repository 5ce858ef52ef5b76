/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events of a recording, in the model.
 *
 * Owns: the form in which decoders pass them to sinks, beside samples and marks. Events of one core
 * are in the order of time; cores as samples are, see model.h.
 */
#ifndef MKPERF_HOST_MODEL_SCHED_EVENT_H
#define MKPERF_HOST_MODEL_SCHED_EVENT_H

#include <stdint.h>

#include <mkperf/sched.h>

#define MKPERF_SCHED_NOBODY UINT32_MAX

/* perf's name of the time that something ran, in ns: by scheduling events, not by the PMU. */
#define MKPERF_RUN_TIME_EVENT "task-clock"

struct mkperf_sched {
    uint64_t time_ns; /* target's monotonic clock */
    uint32_t core;
    enum mkperf_sched_kind kind;
    enum mkperf_sched_reason reason; /* of a switch: why `from` stopped */
    uint32_t from;                   /* PD that ran; MKPERF_SCHED_NOBODY: not known */
    uint32_t to;                     /* PD of the event; of a gap MKPERF_SCHED_NOBODY */
    uint32_t irq;                    /* of an interrupt */
    uint64_t lost;                   /* of a gap: events; 0: not known how many */
    uint64_t since_ns;               /* of a gap: the last event before it; 0: there was none */
};

/* "switch", "call", ...; "called", "preempted", ... */
extern const char *const mkperf_sched_kind_names[MKPERF_SCHED_KINDS];
extern const char *const mkperf_sched_reason_names[MKPERF_STOPPED_REASONS];

#endif
