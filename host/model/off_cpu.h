/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of threads that stop to wait (record --off-cpu): how long each was blocked.
 *
 * Owns: those whose thread has not run again yet, one for each PD. A relay between the stream decoder
 * and its sink, behind the order of cores. The target sends such a sample at the time of the switch
 * from its thread; when the thread runs again, the sample is passed on with the time in between in
 * nanoseconds as its period, and with the end of that time as its time, as in perf.
 *
 * What may be lost: a sample whose switches are not known (gap, end of the session) is not passed on,
 * and counted.
 */
#ifndef MKPERF_HOST_MODEL_OFF_CPU_H
#define MKPERF_HOST_MODEL_OFF_CPU_H

#include "model.h"

#define MKPERF_OFF_CPU_EVENT "offcpu-time" /* perf's name */

struct mkperf_blocked { /* a PD */
    bool waits;         /* a sample of it, since stopped_ns */
    uint64_t stopped_ns, sampled_ns;
    struct mkperf_sample sample;
    struct mkperf_chain callers;
};

struct mkperf_off_cpu {
    struct mkperf_sink to;        /* first: it relays */
    uint32_t event;               /* number of MKPERF_OFF_CPU_EVENT in the session */
    struct mkperf_totals *totals; /* what is left out is in off_cpu_unpaired, not in samples */
    uint32_t npds, room;
    struct mkperf_blocked *pd;
};

/* The number of the event in a session; MKPERF_MODEL_EVENTS: it has none. */
uint32_t mkperf_off_cpu_event(const struct mkperf_session *session);

/* o->to, o->event and o->totals are set. */
struct mkperf_sink mkperf_off_cpu_sink(struct mkperf_off_cpu *o);
/* The session is over: what still waits is not known. */
void mkperf_off_cpu_close(struct mkperf_off_cpu *o);
void mkperf_off_cpu_free(struct mkperf_off_cpu *o);

#endif
