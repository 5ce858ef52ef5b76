/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a client's request to a plan: which counter counts what, at which period.
 *
 * Owns: struct mkperf_plan, what a session is. Made only from a request that passed every check.
 */
#ifndef MKPERF_PLAN_H
#define MKPERF_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/session.h>

#include "../pmu/pmu.h"

struct mkperf_plan_event {
    char name[MKPERF_NAME_BYTES];
    uint32_t code;
    uint32_t user_counter; /* of the hardware, in the event's slice; + 1, 0 = none */
    uint32_t kernel_counter;
    uint32_t user_number; /* the numbers in records and on the wire; + 1, 0 = none */
    uint32_t kernel_number;
    uint32_t period;    /* to begin with; stays without a frequency */
    uint32_t minimum;   /* of the period */
    uint32_t frequency; /* 0: fixed period */
    bool count;         /* does not sample */
    bool read;          /* does not sample: read in the samples of `leader` */
    uint32_t leader;    /* index of the group's first event */
    uint32_t group;     /* 0: none */
    uint32_t soft;      /* a software event's kind + 1; has no counters; 0: an event of the PMU's */
    uint32_t slice;
};

/* Events that count at the same time. A session whose events all fit has one. */
struct mkperf_plan_slice {
    uint32_t counter_mask;
    uint32_t kernel_mask;
    uint32_t read_mask; /* those of events that are read */
};

struct mkperf_plan {
    uint32_t events; /* 0: nothing configured */
    uint32_t max_frames;
    uint32_t callers; /* in other PDs, in which a chain continues */
    bool no_jitter;
    bool adaptive; /* some event has a frequency */
    bool counting; /* all events count, or all sample */
    bool per_thread;
    bool soft_only; /* no event is the PMU's */
    uint32_t wake_samples;
    uint32_t core_bytes; /* of the rings */
    uint32_t cores;      /* that are sampled or counted, bit = number */
    uint32_t output_bytes;
    uint32_t counter_mask; /* of all slices */
    uint32_t kernel_mask;  /* of the first */
    uint32_t clock;        /* counter + 1 whose overflow ends a slice; 0 = none */
    uint32_t clock_code;
    uint32_t beat; /* counter + 1 that wakes this PD for scheduling events; 0 = none */
    uint32_t slices;
    struct mkperf_plan_slice slice[MKPERF_MAX_EVENTS];
    uint32_t filters;
    uint64_t filter[MKPERF_MAX_FILTERS];
    bool overwrite;     /* a flight recording */
    uint32_t soft_mask; /* of the descriptor */
    bool sched;         /* scheduling events are streamed, */
    bool latency;       /* and aggregated */
    bool off_cpu;       /* threads that stop to wait are sampled */
    uint32_t faults;    /* threads whose fault ends the flight recording */
    uint64_t fault[MKPERF_MAX_FAULTS];
    uint8_t event_of[MKPERF_MAX_COUNTERS]; /* by number */
    struct mkperf_plan_event event[MKPERF_MAX_EVENTS];
};

/* Whether the session has scheduling events; it may have no others. */
static inline bool mkperf_plan_schedules(const struct mkperf_plan *plan)
{
    return plan->sched || plan->latency;
}

/*
 * Makes a plan of a request from mkperf_request_take. True: *plan is complete. False: *error
 * has the reason, and *plan is unchanged.
 */
bool mkperf_plan_make(struct mkperf_plan *plan, const struct mkperf_session_request *request,
                      const struct mkperf_cpu *cpu, mkperf_Error *error);

/* The part of a plan that any session has that samples: chains, jitter, filters. False: *error has the
 * reason. */
bool mkperf_plan_samples(struct mkperf_plan *plan, const mkperf_Configure *request,
                         mkperf_Error *error);

/* What event i of a request counts: fills e->name and e->code, and e->soft of a software event that
 * is counted. False: *error has the reason. */
bool mkperf_plan_named(struct mkperf_plan_event *e, unsigned i, const mkperf_EventSpec *want,
                       const struct mkperf_cpu *cpu, mkperf_Error *error);

/* The counters of the event's slice that are read in the samples of its counter (hardware, from 0),
 * which is a leader's. */
uint32_t mkperf_plan_reads(const struct mkperf_plan *plan, uint32_t event, uint32_t counter);

#endif
