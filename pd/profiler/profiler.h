/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the profiler PD that main.c connects. For main.c, which owns them, and for tests. */
#ifndef MKPERF_PROFILER_PROFILER_H
#define MKPERF_PROFILER_PROFILER_H

#include "hook_session.h"
#include "timer/ticks.h"

struct mkperf_profiler {
    struct mkperf_session_page *page;
    bool timer;  /* The plan is the timer's. */
    uint32_t id; /* sessions started since boot */
    struct mkperf_drain drain;

    /* The two ways to a session. */
    struct mkperf_counting counting;
    struct mkperf_multiplex multiplex;
    struct mkperf_hook_session session;
    struct mkperf_ticks ticks;
};

#endif
