/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of the kernel's hook: planned once, started, drained, stopped.
 *
 * Owns: struct mkperf_hook_session, and the order of steps between the stages and the kernel. Only
 * main.c calls it. The hook has a session only while all memory to which the session refers is
 * valid.
 *
 *   start   probe, try events -> stages begin -> configuration -> APPLY on all cores -> stages
 *   started drain   rings -> stages, then the next slice, periods, watermarks -> UPDATE
 *   stop    STOP -> rings -> last counts -> WITHDRAW -> records since then
 */
#ifndef MKPERF_PROFILER_HOOK_SESSION_H
#define MKPERF_PROFILER_HOOK_SESSION_H

#include "counting.h"
#include "drain.h"
#include "multiplex.h"

struct mkperf_hook_session {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_drain *drain;
    struct mkperf_counting *counting;
    struct mkperf_multiplex *multiplex;
    bool running;
    uint64_t silent_from; /* ticks: time of the last STATUS; 0: there were samples since */
    uint64_t asked;       /* ticks: time of the last request to all cores */
};

/* Makes a plan of the request, for the cores that it names. False: *error has the reason, and *plan
 * is unchanged. */
bool mkperf_session_plan(struct mkperf_hook_session *s, struct mkperf_plan *plan,
                         const struct mkperf_session_request *request, mkperf_Error *error);
/* Starts the session. False: *error has the reason, and no session runs. */
bool mkperf_session_start(struct mkperf_hook_session *s, mkperf_Error *error);
/* Drains until the rings are below their watermarks, and adapts periods and watermarks to the
 * samples. Ends the session if the hook has ended it. Returns whether the client has to be
 * notified. */
bool mkperf_session_drain(struct mkperf_hook_session *s);
/* Called for each STATUS: shortens the periods of events that do not occur. */
void mkperf_session_quiet(struct mkperf_hook_session *s);
void mkperf_session_stop(struct mkperf_hook_session *s);

#endif
