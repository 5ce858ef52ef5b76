/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events and readings of queues in perf.data: perf's own tracepoints, and two of mkperf's.
 *
 * Owns: their numbers and the positions of their fields, once for writer and reader. A switch is
 * sched:sched_switch with two more fields (reason, prev_known); every other event is mkperf:sched. A reading is mkperf:queue.
 * sched:sched_wakeup, sched:sched_stat_runtime, lock:contention_begin and lock:contention_end (of the
 * kernel's lock, if there are several cores) are derived from these for perf; the reader skips them.
 * perf adds run times up, so each PD has one record of it per round. A gap is a LOST record with the tid
 * MKPERF_TRACE_GAP in its trailer and the time of its end; perf reports it as lost events.
 *
 * A PD has its pid; the idle thread is pid 0, as on Linux. prev_state is the state that perf shows of a
 * thread that stopped: R it was preempted, S it waits for a message or notification, D it waits for a
 * reply, T its budget is used up, or it faulted or was suspended.
 */
#ifndef MKPERF_HOST_PERFDATA_TRACEPOINTS_H
#define MKPERF_HOST_PERFDATA_TRACEPOINTS_H

#include "base/base.h"
#include <mkperf/sched.h>

enum { MKPERF_TRACE_GAP = 1000 };

enum mkperf_trace_point {
    MKPERF_TRACE_SWITCH,
    MKPERF_TRACE_WAKEUP,
    MKPERF_TRACE_RUNTIME,
    MKPERF_TRACE_SCHED,
    MKPERF_TRACE_ONE_CORE, /* a target with one core has the tracepoints before this */
    MKPERF_TRACE_LOCK_BEGIN = MKPERF_TRACE_ONE_CORE,
    MKPERF_TRACE_LOCK_END,
    MKPERF_TRACE_NO_QUEUES, /* a target without known queues has the tracepoints before this */
    MKPERF_TRACE_QUEUE = MKPERF_TRACE_NO_QUEUES,
    MKPERF_TRACE_POINTS,
};

enum { MKPERF_TRACE_ID = 1001 }; /* the id of the first one's samples; the others follow */

enum mkperf_trace_layout { /* positions in the raw data, and its size */
                           TRACE_COMMON_PID = 4,
                           TRACE_COMM_BYTES = 16,
                           TRACE_SWITCH_NEXT = 56,
                           TRACE_SWITCH_REASON = 64,
                           TRACE_SWITCH_KNOWN = 68,
                           TRACE_SWITCH_BYTES = 72,
                           TRACE_WAKEUP_BYTES = 36,
                           TRACE_RUNTIME_BYTES = 48,
                           TRACE_SCHED_PID = 24,
                           TRACE_SCHED_KIND = 28,
                           TRACE_SCHED_IRQ = 32,
                           TRACE_SCHED_KNOWN = 36,
                           TRACE_SCHED_BYTES = 40,
                           TRACE_LOCK_BYTES = 20,
                           TRACE_QUEUE_NUMBER = 8,
                           TRACE_QUEUE_HEAD = 16,
                           TRACE_QUEUE_TAIL = 24,
                           TRACE_QUEUE_BYTES = 32,
};

enum mkperf_prev_state {
    MKPERF_PREV_RUNS = 0,    /* R */
    MKPERF_PREV_WAITS = 1,   /* S */
    MKPERF_PREV_CALLS = 2,   /* D */
    MKPERF_PREV_STOPPED = 4, /* T */
};
enum mkperf_prev_state mkperf_trace_prev_state(enum mkperf_sched_reason reason);

/* Returns the number of the tracepoint in its attribute and in its raw data. */
unsigned mkperf_trace_number(enum mkperf_trace_point point);

/* Returns the n bytes of the feature HEADER_TRACING_DATA, to be freed: the formats of the first `npoints`. */
char *mkperf_trace_formats(unsigned npoints, size_t *n);

#endif
