/* SPDX-License-Identifier: BSD-2-Clause */
/* The profiler PD's whole state: one instance of each stage. For main.c, which owns it, and for tests. */
#ifndef MKPERF_PROFILER_PROFILER_H
#define MKPERF_PROFILER_PROFILER_H

#include "hook_session.h"
#include "timer/ticks.h"

struct mkperf_profiler {
    struct mkperf_session_page *page;
    struct mkperf_plan plan;
    bool timer;  /* The plan is the timer's. */
    uint32_t id; /* sessions started since boot */
    mkperf_Status status;

    /* The stages, from the last to the first. */
    struct mkperf_kernel kernel;
    struct mkperf_output output;
    struct mkperf_soft_stage soft;
    struct mkperf_sched sched;
    struct mkperf_latencies latencies;
    struct mkperf_pacer pacer;
    struct mkperf_drain drain;

    /* The two ways to a session. */
    struct mkperf_counting counting;
    struct mkperf_multiplex multiplex;
    struct mkperf_hook_session session;
    struct mkperf_ticks ticks;
};

#endif
