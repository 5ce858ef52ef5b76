/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of the kernel's hook: their slices, their counts, their start and their end.
 *
 * The three files are above the pipeline and use its stages. The state of each is static in its file.
 */
#ifndef MKPERF_PROFILER_HOOK_SESSION_H
#define MKPERF_PROFILER_HOOK_SESSION_H

#include "pipeline.h"

/*
 * ---- multiplex.c ----
 *
 * Multiplexing: the counters of a session, slice after slice.
 *
 * Owns: the state of counters that are stopped. A session whose events all fit has one slice. Otherwise an
 * overflow of the plan's clock ends a slice. A counter stops within an interval and continues it in
 * its next slice. Every sample's period is therefore the number of events really counted, and no
 * counted event is lost. Events outside their slices are not counted. The time of an event's slices
 * yields the factor by which its count is scaled. In a session that counts, the values of a slice's
 * counters are added to the tally.
 *
 *   slice 0 |--- A B ---|           |--- A B ---|      a sample of A every period of A's own count
 *   slice 1             |--- C D ---|                  left[] keeps the intervals of A and B
 *                       ^ STOP, snapshot, CONTINUE
 *
 * Called by hook_session.c. May be lost: nothing.
 */

/* Begins a session: writes the configuration and numbers of its first slice. Called
 * after mkperf_pace_begin, and before the session is applied. */
void mkperf_multiplex_begin(void);
/* Called after a drain: begins the next slice if it is due. */
void mkperf_multiplex_rotate(void);
/* Ends the last slice of a session that samples and adds its time, while the hook still has the session. */
void mkperf_multiplex_end(void);
/* Stores the ticks during which each event was counted until `now` (ticks). */
void mkperf_multiplex_times(uint64_t now, uint64_t *out);
/* Completes the status with the times of multiplexed events. */
void mkperf_multiplex_status(void);

/*
 * ---- counting.c ----
 *
 * Counting: sessions whose events are counted and not sampled, and counts beside samples.
 *
 * Owns: the last snapshot of all counts. Called by hook_session.c at a
 * session's start and end, and by main.c for COUNTS. Events that do not fit into the counters are
 * multiplexed (multiplex.c).
 *
 *   count of an event = tally (whole overflows) + value of its counter, of each core
 *
 * After an overflow the hook arms the counter again and writes a record. A counter's value and the
 * tally are therefore consistent if no record follows the reading of the value.
 *
 * Counts beside samples: a second counter of each event counts user mode, and is in no record. The
 * kernel's table has all of it by thread, because each request to the hook completes the table.
 */

/* Begins a session that counts, or counts beside samples: adds the table and the counters beside samples to the
 * configuration, which has the first slice. */
void mkperf_counting_begin(void);
/* Takes a snapshot. op: 0, or STOP for the last one, while the hook still has the session. */
void mkperf_counting_snapshot(uint32_t op);
/* Fills a part of the answer to COUNTS; part 0 takes a snapshot of a running session. Counts beside
 * samples are complete when the session has ended. False: mkperf_refusal has the reason. */
bool mkperf_counting_answer(uint32_t part, mkperf_Counts *out);

/*
 * ---- hook_session.c ----
 *
 * A session of the kernel's hook: planned once, started, drained, stopped.
 *
 * Owns: the order of steps between the stages and the kernel. Only
 * main.c calls it. The hook has a session only while all memory to which the session refers is
 * valid.
 *
 *   start   probe, try events -> stages begin -> configuration -> APPLY on all cores -> stages
 *   started drain   rings -> stages, then the next slice, periods, watermarks -> UPDATE
 *   stop    STOP -> rings -> last counts -> WITHDRAW -> records since then
 */

/* Makes a plan of the request, for the cores that it names. False: mkperf_refusal has the reason, and
 * main.c restores the earlier plan. */
bool mkperf_session_plan(const struct mkperf_session_request *request);
/* Starts the session. False: mkperf_refusal has the reason, and no session runs. */
bool mkperf_session_start(void);
/* Drains until the rings are below their watermarks, and adapts periods and watermarks to the
 * samples. Ends the session if the hook has ended it. Returns whether the client has to be
 * notified. */
bool mkperf_session_drain(void);
/* Called for each STATUS: shortens the periods of events that do not occur. */
void mkperf_session_quiet(void);
void mkperf_session_stop(void);

#endif
