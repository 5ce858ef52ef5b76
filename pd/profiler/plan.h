/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's request, and the plan of a session that is made from it: the event and the period of each counter.
 *
 * Owns: struct mkperf_plan. A plan is made only from a request that passed every check, and does
 * not change while its session runs.
 */
#ifndef MKPERF_PLAN_H
#define MKPERF_PLAN_H

#include <mkperf/session.h>

#include "../lib/text.h"
#include "../pmu/pmu.h"

/*
 * ---- request.c ----
 *
 * The client PD's requests, copied from the session page, and refusals of them.
 *
 * Owns: mkperf_refusal. Called by the profiler PD's operations before they use an argument. The client may
 * be hostile and may write to the page at any time, so each function copies first and checks the
 * copy. In an accepted copy, counts are within their arrays, strings end in a NUL and bools are 0
 * or 1; the caller checks the meaning of the numbers.
 */

/* Why the present call is refused; code 0: it is not. main.c clears it at the beginning of a call. */
extern mkperf_Error mkperf_refusal;

/* Fills in mkperf_refusal about the event with that index + 1 (0: about none). The text is formatted as by
 * mkperf_text_print. Returns false. */
__attribute__((format(printf, 3, 4))) bool mkperf_refuse(uint32_t code, uint32_t event,
                                                         const char *text, ...);

/* A reason to refuse a request, if `broken`. The others: as of mkperf_refuse. */
struct mkperf_rule {
    bool broken;
    uint32_t code;
    uint32_t event;
    const char *text; /* A %s in it is the name of the event. */
};

/* Refuses by the first of n rules that is broken. True: none is. */
bool mkperf_check_rules(const struct mkperf_rule *rule, unsigned n, const char *event);

/* Reads the argument of CONFIGURE. False: it is malformed, and mkperf_refusal has the reason. */
bool mkperf_request_take(struct mkperf_session_request *out,
                         const struct mkperf_session_page *page);

/* Reads the argument of OBSERVE. False: it is malformed, and mkperf_refusal has the reason. */
bool mkperf_request_take_observe(mkperf_Observe *out, const struct mkperf_session_page *page);

/* ---- plan.c ---- */

/* An event of the session: the part of it that no client sees. The other part, with its name, modes
 * and the numbers of its counters in records, is the SessionEvent with the same index. */
struct mkperf_plan_event {
    uint32_t user_counter; /* hardware counter in the event's slice + 1; 0 = none */
    uint32_t kernel_counter;
    uint32_t user_select; /* the counters' selectors (struct mkperf_request_counter) */
    uint32_t kernel_select;
    uint32_t period;  /* the first one; constant without a frequency */
    uint32_t minimum; /* shortest permitted period */
    uint32_t least;   /* the shortest interval of its user counter */
    uint32_t leader;  /* index of the group's first event, in whose samples it is read */
    uint32_t threads; /* what its user counter counts: MKPERF_PMU_USER, MKPERF_PMU_GUEST */
    /* Samples and counts that are left out. MKPERF_PMU_USER: of PDs, MKPERF_PMU_GUEST: of guests. */
    uint32_t left_out;
    uint32_t soft;   /* kind + 1 of a software event, which has no counters; 0: a PMU event */
    uint32_t beside; /* counter + 1 that counts it in user mode beside its samples; 0: none */
    uint32_t slice;
};

/* Events that count at the same time. A session has one slice if all its events fit. The counter
 * with number n is hardware counter n - first. */
struct mkperf_plan_slice {
    uint32_t first; /* number of the first counter */
    uint32_t end;   /* number after that of the last counter */
    uint32_t counter_mask;
    uint32_t read_mask; /* the counters of events with `read` */
};

struct mkperf_plan {
    mkperf_Configure request; /* the checked request */
    /* The Session message to clients. `id`, `running` and `overwrite` are filled in when it is sent. */
    mkperf_Session session;
    uint32_t events; /* 0: no session is configured, or one without events */
    bool adaptive;   /* some event has a frequency */
    bool counting;   /* all events count, or all sample */
    bool leaves_out; /* some event has `left_out` */
    bool latency;    /* scheduling events are aggregated */
    uint32_t wake_samples;
    uint32_t core_bytes; /* data bytes of each core's ring */
    uint32_t cores;      /* the sampled or counted cores, bit = number */
    uint32_t output_bytes;
    uint32_t counter_mask; /* the counters of all slices */
    uint32_t clock;        /* counter + 1 whose overflow ends a slice; 0 = none */
    uint32_t beat; /* counter + 1 that wakes this PD for scheduling events and words; 0 = none */
    uint32_t clock_select;                             /* the selector of both */
    struct mkperf_plan_slice slice[MKPERF_MAX_EVENTS]; /* The session has `slices` of them. */
    uint32_t soft_mask;                                /* the descriptor's soft_mask */
    uint8_t event_of[MKPERF_MAX_COUNTERS];             /* index of the event by number */
    struct mkperf_plan_event event[MKPERF_MAX_EVENTS];
};

/* The plan of the session. */
extern struct mkperf_plan mkperf_plan;

/* Returns whether the timer samples, and not the hook. */
static inline bool mkperf_plan_timed(void)
{
    return mkperf_plan.session.source == mkperf_SampleSource_SOURCE_TIMER;
}

/* Returns whether the kernel reports scheduling events. */
static inline bool mkperf_plan_schedules(void)
{
    return mkperf_plan.session.sched || mkperf_plan.latency;
}

/* Returns whether the stage of scheduling events has work: events, or readings of words. */
static inline bool mkperf_plan_follows(void)
{
    return mkperf_plan_schedules() || mkperf_plan.session.words != 0;
}

/* Returns whether the session samples and also counts its events, each with `beside`. */
static inline bool mkperf_plan_beside(void)
{
    return mkperf_plan.request.per_pd && !mkperf_plan.counting && mkperf_plan.events != 0;
}

/* Returns the bit of a counter (+ 1; 0: none), or of a kind of software events. */
static inline uint32_t mkperf_counter_bit(uint32_t counter)
{
    return counter != 0 ? UINT32_C(1) << (counter - 1) : 0;
}

/* The CPU and its PMU, as kernel.c finds them at boot. */
extern struct mkperf_cpu mkperf_cpu;

/*
 * Makes mkperf_plan from a request of mkperf_request_take. True: it is complete. False: mkperf_refusal has
 * the reason, and main.c restores the earlier plan.
 */
bool mkperf_plan_make(const struct mkperf_session_request *request);

/* The next three are parts of that, which the timer's sessions use, too. False: mkperf_refusal has the
 * reason. */

/* Fills in chains, jitter and filters, which every session with samples has. */
bool mkperf_plan_samples(void);
/* Resolves event i of the request: fills in its name and code, and `soft` of a counted software
 * event. */
bool mkperf_plan_named(unsigned i);
/* Fills in the selectors of event i, for counters that count in these modes (enum mkperf_pmu_modes). */
void mkperf_plan_select(unsigned i, unsigned user, unsigned kernel);

/* Returns the counters that are read in the samples of the event's hardware counter (from 0). The
 * event is the first of a group. */
uint32_t mkperf_plan_reads(uint32_t event, uint32_t counter);

/* ---- event_names.c: the names of the PMU's events, of software events, and of the timer ---- */

/* The kind + 1 of the software event with that name (at most MKPERF_NAME_BYTES); 0: no such event.
 * `cs` means context-switches, as in perf. */
uint32_t mkperf_soft_named(const char *name);
/* Returns the PMU's entry for a name: the first that the CPU supports, else the first, else
 * NULL. */
const struct mkperf_pmu_event *mkperf_event_named(const char *name);
/* Returns the same, if the CPU supports it, else NULL. */
const struct mkperf_pmu_event *mkperf_event_there(const char *name);
/* Returns the highest rate of an event of the PMU: enum mkperf_pmu_rate. */
unsigned mkperf_event_rate(uint32_t code);
/* Lists events, beginning with number `first`: software events, then the PMU's, then the timer.
 * soft, timer: whether the target has these. */
void mkperf_events_list(bool soft, bool timer, uint32_t first, mkperf_Events *out);

#endif
