/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events analysed: what each PD did at each time, the parts of each call, and the latencies of all calls.
 *
 * The histogram of latencies comes first, then the analysis, which has one for each pair of PDs.
 */
#ifndef MKPERF_HOST_SCHED_ANALYSIS_H
#define MKPERF_HOST_SCHED_ANALYSIS_H

#include <mkperf/log_buckets.h>

#include "import/import.h"
#include "system/system.h"

/*
 * A histogram of latencies with logarithmic buckets.
 *
 * Owns: the counts. The buckets (mkperf/log_buckets.h) are those of LatencyPair in proto/mkperf.proto. The caller chooses
 * the unit of values. Memory grows with the logarithm of the greatest value, up to MKPERF_LOG_BUCKETS counters.
 */

struct mkperf_log_histogram {
    uint64_t count, total, max;
    uint32_t room;
    uint64_t *in; /* the number of values in each bucket */
};

/* Adds n equal values. */
void mkperf_log_add(struct mkperf_log_histogram *h, uint64_t value, uint64_t n);
/* Adds n values to a bucket. The caller sets count, total and max. False: there is no such bucket. */
int mkperf_log_add_bucket(struct mkperf_log_histogram *h, uint64_t bucket, uint64_t n);
/*
 * Returns a value that at least `per_mille` thousandths of the values do not exceed: the greatest
 * value of its bucket, and at most the maximum. 0 without values.
 */
uint64_t mkperf_log_quantile(const struct mkperf_log_histogram *h, unsigned per_mille);
void mkperf_log_free(struct mkperf_log_histogram *h);
extern const struct mkperf_shape_row mkperf_log_rows[];

/*
 * The analysis of scheduling events: where PDs, cores, and calls between PDs spent their time.
 *
 * Owns: the state of each PD and of each core, the call that each PD serves, and the results: sums, histograms and the
 * longest of each kind. It is a sink for decoders. `mkperf latency`, `mkperf top`, exports and reports use it. Memory
 * grows with the numbers of PDs, pairs of callers and callees, and interrupts; it does not grow with the stream.
 *
 * Concept: a PD is in one state at a time. An event ends an interval of one state and begins the next one.
 *
 *          ┌───────────────────── is preempted ──────────────────────┐
 *          ▼                                                         │
 *        READY ──────────────── its core runs it ─────────────► RUNNING
 *          ▲                                                         │
 *          ├──── reply ───────────────────── CALLING   ◄── calls ────┤
 *          ├──── message, notification ───── WAITING   ◄── waits ────┤
 *          ├──── its budget is refilled ──── THROTTLED ◄── budget ───┤
 *          └──── is resumed ──────────────── STOPPED   ◄── faults ───┘
 *
 *        any state ──── events are missing (a gap) ────► UNKNOWN ──── its next event ────► the state after it
 *
 * Invariants
 *  1. Events are in the order of time: model/arrival.h merges cores. An event that is earlier than the one before it gets
 *     the time of that one and is counted in late_events.
 *  2. Each nanosecond from first_ns to last_ns is in one sum of each PD (`in`), and in busy, idle or unknown of each core.
 *  3. The parts of a call add up to its `wall`.
 *  4. A PD has at most one call of its own, and serves at most one call: the one that it took last.
 *  5. Unknown time is in no statistic. A call with an unknown part is counted in calls_void and in no sum.
 *
 * Example: `client` calls `server` at 1.0 ms. The core of `server` runs another PD until 1.2 ms and `server` until 3.0 ms,
 * when it replies. The edge client -> server gets a call with wall 2.0 ms = wait 0.2 ms + own 1.8 ms.
 */

enum mkperf_pd_state {
    MKPERF_PD_UNKNOWN,
    MKPERF_PD_RUNNING,
    MKPERF_PD_READY,     /* the PD is ready, and its core runs another one */
    MKPERF_PD_CALLING,   /* it waits for the reply to its call */
    MKPERF_PD_WAITING,   /* it waits for a message or a notification */
    MKPERF_PD_THROTTLED, /* the PD's budget is used up */
    MKPERF_PD_STOPPED,   /* it faulted or is suspended */
    MKPERF_PD_STATES,
};
/* The names of the states: "unknown", "running" and so on. */
extern const char *const mkperf_pd_state_names[MKPERF_PD_STATES];

/* Time for which another PD was the reason. */
struct mkperf_by {
    uint32_t pd; /* MKPERF_SCHED_NOBODY: it is not known */
    uint64_t ns;
};
struct mkperf_bys {
    unsigned n, room;
    struct mkperf_by *by;
};

/* What the time of a call, or of a stage of a path, was spent for. */
enum mkperf_stage_part {
    MKPERF_STAGE_WAITED, /* the time before the PD ran with it: it was ready, or served another call */
    MKPERF_STAGE_OWN,    /* the PD ran */
    MKPERF_STAGE_CALLS,     /* it waited for calls of its own */
    MKPERF_STAGE_PREEMPTED, /* it was ready, and its core ran another PD */
    MKPERF_STAGE_BUDGET,    /* its budget was used up */
    /* It waited for something else, or was stopped. Of an exit also the time until the guest ran. */
    MKPERF_STAGE_OTHER,
    MKPERF_STAGE_PARTS,
};

/* The parts of a call, in ns, by names and as an array. They add up to `wall`. */
struct mkperf_call_parts {
    uint64_t wall;
    union {
        struct {
            uint64_t wait, own, nested, preempted, budget, other;
        };
        uint64_t part[MKPERF_STAGE_PARTS];
    };
};

/* All calls of one caller to one callee. */
struct mkperf_call_edge {
    uint32_t from, to;
    uint32_t exit; /* the reason of a guest's exits (mkperf_exit_name); 0: they are calls */
    struct mkperf_call_parts sum, worst;
    uint64_t worst_at; /* when the longest call ended */
    struct mkperf_bys nested_by, preempted_by;
    struct mkperf_log_histogram wall;
};

/* Delays from notifications, or interrupts, to a waiting PD until this PD runs. */
struct mkperf_wakeup {
    enum mkperf_sched_kind kind; /* MKPERF_SCHED_NOTIFY or _IRQ */
    uint32_t from;               /* the PD that notifies; NOBODY: an interrupt, or not known */
    uint32_t to, irq;
    uint64_t busy; /* events for a PD that was not waiting; they have no delay */
    uint64_t worst_at;
    struct mkperf_log_histogram delay;
};

/*
 * A priority inversion: `high` waited for `holder` while `runner` ran, which has a lower priority than `high`. The holder
 * served a call of `high`, or had been notified by `high` and answered with a notification.
 */
struct mkperf_inversion {
    uint32_t high, holder, runner;
    uint64_t count;
    uint64_t total, worst; /* ns */
    uint64_t worst_from;   /* when the longest one began */
};

/* The call of a PD that has not ended. */
struct mkperf_call {
    bool active;
    bool taken;    /* the callee runs, or ran, with it */
    uint32_t exit; /* the same as in the edge */
    uint32_t to;   /* NOBODY: the caller is in a queue, and the callee is not known yet */
    uint64_t start;
    struct mkperf_call_parts parts;
    struct mkperf_bys nested_by, preempted_by;
};

enum { MKPERF_READY_KEPT = 32, MKPERF_READY_SLICES = 65536 };

/*
 * An interval of a PD in one state. `by` is the PD that ran instead, or for which it waited; `serving` is the PD of which
 * it served a call. Both are NOBODY if there is none.
 */
struct mkperf_interval {
    uint32_t pd, by, core, serving;
    enum mkperf_pd_state state;
    uint64_t from, to; /* ns */
};

struct mkperf_sched_pd {
    char *name; /* NULL: not announced */
    bool idle;
    bool profiler;   /* mkperf's own */
    uint32_t domain; /* the domain in whose window the PD ran, counted from 1; 0: not known */
    struct mkperf_scheduling scheduling;
    enum mkperf_pd_state state;
    uint64_t since;
    uint32_t core; /* the core on which it ran last, or will run */
    bool has_core;
    uint64_t in[MKPERF_PD_STATES]; /* ns in each state */
    uint64_t consumed;             /* ns of its budget: it ran, or passive PDs ran for its calls */
    /* Slices since the PD became ready: its core ran one other PD in each. They are counted when it runs, because a refill of its budget would show that
     * it was throttled all the time. When there are MKPERF_READY_SLICES, they are counted as ready. */
    struct mkperf_interval *slice;
    uint32_t slices, slice_room;
    struct mkperf_bys ready_by, blocked_on;
    uint64_t runs, preemptions, exhausted; /* counts; exhausted: of its budget */
    struct mkperf_call call;               /* the call that it makes, if it is active */
    uint32_t serving;                      /* the PD that called it; NOBODY: it serves no call */
    uint32_t asked_by;                     /* the PD that notified it last; NOBODY: none did */
    uint64_t asked_at;                     /* when asked_by notified it */
    bool woken;    /* a notification or interrupt made it ready, and it has not run since */
    unsigned wake; /* index of that notification or interrupt in the analysis's `wake` */
    uint64_t woken_at;
    struct mkperf_interval ready[MKPERF_READY_KEPT]; /* a ring of the last counted slices */
    unsigned readies;                                /* slices that were ever put into the ring */
};

struct mkperf_sched_core {
    bool seen;
    uint32_t running;
    uint64_t since;
    uint64_t busy, idle, unknown; /* ns */
    uint32_t domain;              /* domain of its window, counted from 1; 0: not known */
};

/* An interval in which a core ran one PD, or the idle thread. NOBODY: it is not known what ran. */
struct mkperf_core_interval {
    uint32_t pd, core;
    uint64_t from, to; /* ns */
};

/* A PD that was blocked becomes ready. */
struct mkperf_woken {
    uint64_t time;
    enum mkperf_sched_kind kind; /* CALL, REPLY, NOTIFY, IRQ, FAULT or WAKE */
    /* The PD that sent it; NOBODY: an interrupt or the kernel did, or it is not known */
    uint32_t from;
    uint32_t to, irq;
};

/*
 * A listener gets each finding as soon as it is known. Functions may be NULL. Intervals and whole calls are reported in the
 * order of their ends. The intervals of a core follow each other without a hole.
 */
struct mkperf_analysis_listener {
    void (*interval)(void *self, const struct mkperf_interval *i);
    void (*call)(void *self, uint32_t from, const struct mkperf_call *call, uint64_t end);
    void (*woken)(void *self, const struct mkperf_woken *w);
    /* A notification or an interrupt reaches a PD that does not wait. */
    void (*busy)(void *self, const struct mkperf_woken *w);
    void (*core)(void *self, const struct mkperf_core_interval *i);
    /* Each event, after its effects, and after the intervals that it ends. A window ends those of its core. */
    void (*event)(void *self, const struct mkperf_sched *event);
    void *self;
};
enum { MKPERF_ANALYSIS_LISTENERS = 3 };

struct mkperf_analysis {
    bool began;
    uint64_t first_ns, last_ns;
    uint32_t npds, pd_room;
    struct mkperf_sched_pd *pd;
    uint32_t ncores, core_room;
    struct mkperf_sched_core *core;
    unsigned nedges, edge_room;
    struct mkperf_call_edge *edge;
    unsigned nwakes, wake_room;
    struct mkperf_wakeup *wake;
    unsigned ninversions, inversion_room;
    struct mkperf_inversion *inversion;
    uint64_t events, gaps, gap_ns, switches;
    uint64_t late_events; /* events that were earlier than the one before them */
    uint64_t calls_void;  /* calls that a gap cut, or that began before the first event */
    uint64_t calls_open;  /* calls without a reply at the end */
    struct mkperf_analysis_listener listener[MKPERF_ANALYSIS_LISTENERS];
    unsigned nlisteners;
    unsigned nwindows; /* windows of the domain schedule */
    struct mkperf_schedule_entry window[MKPERF_WINDOWS];
    struct mkperf_session session; /* a copy */
    struct mkperf_totals totals;   /* the input's totals once it has ended; interactions is NULL */
};

struct mkperf_analysis *mkperf_analysis_new(void);
void mkperf_analysis_free(struct mkperf_analysis *a);
struct mkperf_sink mkperf_analysis_sink(struct mkperf_analysis *a);
/* Adds a listener. Called before the first event, at most MKPERF_ANALYSIS_LISTENERS times. */
void mkperf_analysis_listen(struct mkperf_analysis *a, struct mkperf_analysis_listener l);
/* The members that a snapshot has. The items BEGIN and PD set the others. */
extern const struct mkperf_shape_row mkperf_analysis_rows[];
/*
 * Reads the recording at `path` into a sink that passes all events on to `a`, or answers the question from a snapshot (import/import.h).
 * The question lists what listeners and the sink collect; `a` is added, and its text is freed. NULL: it is not kept. INPUT: also if it has no scheduling events.
 */
enum mkperf_status mkperf_analysis_read(struct mkperf_analysis *a, struct mkperf_sink sink,
                                        const char *path, const struct mkperf_question *question,
                                        struct mkperf_error *e);
/* The analysis as a sink, for callers that are sinks themselves. Events of unknown PDs are ignored. It always succeeds. The end of the
 * stream counts intervals that last until then, and sorts the results, most time first. */
mkperf_take_item mkperf_analysis_take;
/* Takes one event, as mkperf_analysis_take does with an item SCHED. */
void mkperf_analysis_event(struct mkperf_analysis *a, const struct mkperf_sched *event);
/* Counts the time of all cores and PDs until the last event, so that the sums are up to date before the end. A PD that is ready
 * then counts as ready, also if it turns out later that it was throttled. */
void mkperf_analysis_charge(struct mkperf_analysis *a);
/*
 * Makes sums, counts and statistics begin again at the last event. The states of PDs, cores and calls are kept. A call
 * that lasts then is counted when it ends, as a whole.
 */
void mkperf_analysis_restart(struct mkperf_analysis *a);
/* Returns the PD on whose budget a PD runs: the caller, if it is passive and serves a call. Valid within a listener. */
uint32_t mkperf_analysis_payer(const struct mkperf_analysis *a, uint32_t pd);
/* Returns the name of a PD; "?" if it is not known. */
const char *mkperf_analysis_name(const struct mkperf_analysis *a, uint32_t pd);
/* Returns the PD with a name of n bytes, or MKPERF_SCHED_NOBODY if none has it. */
uint32_t mkperf_analysis_find(const struct mkperf_analysis *a, const char *name, size_t n);
/* Adds ns to the time of a PD. */
void mkperf_bys_add(struct mkperf_bys *b, uint32_t pd, uint64_t ns);
/* Returns the part that time in a state belongs to, and adds the time of another PD that is the reason to one of the sums. */
enum mkperf_stage_part mkperf_stage_part_of(enum mkperf_pd_state state, uint32_t by, uint64_t ns,
                                            struct mkperf_bys *ready_by,
                                            struct mkperf_bys *calls_of);
/* Returns the PD of most time, or NULL if there is none. */
const struct mkperf_by *mkperf_bys_most(const struct mkperf_bys *b);

/*
 * Latencies as rows: of the analysis of a recording, or as a target aggregated them.
 *
 * Owns: the rows. `report/` prints them, and `link/` fills the rows of a target. A target may send a pair in pieces, which
 * are added up. All times are nanoseconds.
 */

enum mkperf_latency_kind { /* the numbers of LatencyKind in proto/mkperf.proto */
                           MKPERF_LATENCY_CALL,
                           MKPERF_LATENCY_NOTIFY,
                           MKPERF_LATENCY_IRQ,
                           MKPERF_LATENCY_EXIT, /* an exit of a guest */
                           MKPERF_LATENCY_KINDS,
};
extern const char *const mkperf_latency_kind_names[MKPERF_LATENCY_KINDS];

enum { MKPERF_LATENCY_NAME = 64 };

struct mkperf_latency_row {
    enum mkperf_latency_kind kind;
    /* Names of the PDs; from: "" for an interrupt. */
    char from[MKPERF_LATENCY_NAME], to[MKPERF_LATENCY_NAME];
    uint32_t irq;    /* interrupt, or for an exit the argument of mkperf_exit_name */
    uint64_t max_at; /* when the maximum ended */
    uint64_t busy;   /* events that found their PD not waiting */
    const struct mkperf_call_edge *edge; /* the parts of its calls or exits; NULL of a target */
    /* The times: the recording's histogram, or `ns` of this row if a target counted. It is NULL until `finish`. */
    const struct mkperf_log_histogram *of;
    /* The target's histogram. Its total and maximum are ticks until `finish`. */
    struct mkperf_log_histogram ns;
};

/* How long a thread ran, as a target counted it; idle of all cores is one. */
struct mkperf_latency_run {
    char pd[MKPERF_LATENCY_NAME];
    uint64_t thread; /* the identity of the thread */
    uint64_t ticks, ns, runs;
};

struct mkperf_latency_rows {
    unsigned n, room;
    struct mkperf_latency_row *row;
    unsigned nruns, run_room;
    struct mkperf_latency_run *run; /* run times that a target counted, most time first */
    uint64_t dropped;               /* latencies for which the target had no row */
    double seconds;                 /* the time for which latencies were counted */
    uint64_t tick_hz;               /* the target's ticks per second; 0: a recording */
};

/* Makes the rows of an analysis that has ended. The analysis must live as long as the rows. */
void mkperf_latency_rows_of(const struct mkperf_analysis *a, struct mkperf_latency_rows *rows);
/* Returns the row of a pair that a target sent; a new one if there is none. The caller fills its histogram. */
struct mkperf_latency_row *mkperf_latency_row(struct mkperf_latency_rows *rows,
                                              enum mkperf_latency_kind kind, const char *from,
                                              const char *to, uint32_t irq);
/* Adds n latencies of a bucket of ticks to the bucket of nanoseconds that a recording would count them in. False: there is
 * no such bucket. */
bool mkperf_latency_row_add(struct mkperf_latency_row *row, uint64_t tick_hz, uint64_t bucket,
                            uint64_t n);
/* Adds the run time of a thread. */
void mkperf_latency_run(struct mkperf_latency_rows *rows, const char *pd, uint64_t thread,
                        uint64_t ticks, uint64_t runs);
/* Ends the adding of a target's rows. It converts times to ns, sets `of` of each row, and sorts by kind, then most time first. */
void mkperf_latency_rows_finish(struct mkperf_latency_rows *rows);
void mkperf_latency_rows_free(struct mkperf_latency_rows *rows);

/*
 * The demand of each PD: the most time that it used within one period, by scheduling events.
 *
 * Owns: for each PD a window of one period, which slides over the time that the PD pays for. A PD pays for its own running
 * and for that of passive PDs that serve its calls. `mkperf budget` shows the result.
 *
 *      runs       ██      ███       ██ ███                    ██
 *      window        |------ period ------|                         used: 3 + 2 + 1
 *                              |------ period ------|               used: 2 + 3, and so on; the greatest is the demand
 *
 * Concept: what a PD uses of its budget is refilled one period later. seL4, as Microkit configures it, counts that from when the PD
 * began to run. So a PD that never uses more than its budget within any window of one period is never throttled. The greatest
 * use is reached by a window that ends where a run ends; only these are looked at.
 *
 * That needs as many refills as the PD has runs in a period. A kernel keeps few (Microkit: 2) and joins the others, which
 * delays the refill. So mkperf_demand_budget replays the runs with seL4's rules, to find the least budget with which none of
 * them would have waited for a refill. pocket counts from when a PD became ready, so a PD with short runs between long ones can
 * need more there.
 *
 * What may be wrong: a PD that was throttled would have used more; its demand is a lower bound. Time in gaps of the events is in
 * no run.
 *
 * Memory grows with the runs: 16 bytes each.
 */

struct mkperf_demand_run {
    uint64_t from, to; /* ns */
};

/* A PD's budget may suffice with other periods: this many, from a quarter of its period on, each twice the one before. */
enum { MKPERF_DEMAND_PERIODS = 5 };

struct mkperf_demand_pd {
    uint64_t period_ns;
    uint64_t used_ns;    /* time used in the whole recording */
    uint64_t for_ns;     /* the part of used_ns in which passive PDs ran for it */
    uint64_t worst_ns;   /* the demand */
    uint64_t worst_from; /* the begin of that window */
    uint32_t priority;   /* the highest of those that ran: its own, and of passive PDs for it */
    uint64_t throttled;  /* times that it, or a passive PD that it pays for, was throttled */
    struct mkperf_demand_run *run; /* its runs in the order of time */
    size_t n, room;
    size_t first;    /* first run in the window that ends with the last run */
    uint64_t sum_ns; /* sum of the runs from that one on */
    /* What suffices for its period, and if it has a limit, for the others; 0 if it was throttled. */
    uint64_t budget_ns[1 + MKPERF_DEMAND_PERIODS];
};

static inline uint64_t mkperf_demand_period(const struct mkperf_demand_pd *p, unsigned i)
{
    return p->period_ns / 4 << i;
}

struct mkperf_demand {
    uint64_t default_ns; /* the period of PDs that may always run; set before attaching */
    const struct mkperf_analysis *analysis;
    uint32_t npds, room;
    struct mkperf_demand_pd *pd; /* indexed by the numbers of PDs in the analysis */
};

/* Attaches it to an analysis before the first event. It is freed after the analysis has ended. */
void mkperf_demand_attach(struct mkperf_demand *d, struct mkperf_analysis *a);
/* Returns the least budget in ns, at most the period, with which no run would have waited for a refill, to the
 * microsecond above it. The kernel keeps two refills, as seL4's contexts of constant bandwidth do: MCS,
 * refill_budget_check and refill_unblock_check. worst_ns: the demand if it is known for this period, else 0. */
uint64_t mkperf_demand_budget(const struct mkperf_demand_pd *p, uint64_t period_ns,
                              uint64_t worst_ns);
/*
 * Both functions assume that the other PDs of the core use all of their budgets. Only PDs of the same or a higher priority
 * count, and PDs for which a passive PD of such a priority works. mkperf's own PDs do not count. Within any window of time,
 * a PD uses at most its budget for each of its periods that begins there.
 *
 * budget_ns[] is indexed by the numbers of PDs. A PD that may always run has its period as its budget.
 *
 * The first function returns the time that the others leave to the PD in its period. The second one returns how long the PD
 * waits for them in all, if it needs its whole demand at once and all begin together. UINT64_MAX: the PD is not done within
 * 64 of its periods.
 */
uint64_t mkperf_demand_left(const struct mkperf_demand *d, uint32_t pd, const uint64_t *budget_ns);
uint64_t mkperf_demand_wait(const struct mkperf_demand *d, uint32_t pd, const uint64_t *budget_ns);
void mkperf_demand_free(struct mkperf_demand *d);

/*
 * The windows of a domain schedule: when each began, what used it, and what was left.
 *
 * Owns: sums, extremes and counts of each window, and the use of each PD in it. A listener of the analysis. `mkperf budget` shows
 * the result.
 *
 *      window       0 (a)      1 (b)            2 (c)                 0 (a)
 *                |----------|---------------|--------------------|----------|
 *      runs       ██ idle     █████████████▌ ██████ idle           ██ idle
 *                                          ^ was cut: it was ready when its window ended
 *
 * Concept: a window lasts from its event to the next one. Each nanosecond of it is used by a PD, or slack (the idle thread). Only
 * whole windows count: neither the one in which the recording began nor one with missing events.
 */

struct mkperf_domain_pd {
    uint32_t pd;
    uint64_t now_ns; /* time in the window that is open */
    uint64_t used_ns, most_ns;
    uint64_t cut; /* windows at whose end it was ready or running */
};

struct mkperf_domain_window {
    uint32_t number;
    char domain[MKPERF_DOMAIN_NAME]; /* "?": the schedule is not known */
    uint64_t duration_ns;            /* 0: not known */
    uint64_t count;
    /* length of all together, of the shortest, of the longest */
    uint64_t length_ns, least_ns, most_ns;
    uint64_t slack_ns, least_slack_ns, now_ns; /* now_ns: in the window that is open */
    uint64_t over_ns, over_at;       /* the most that it was too long, and when it ended */
    uint32_t over_pd;                /* what ran then */
    uint64_t began;                  /* begin of the last window; 0: not known */
    uint64_t intervals, interval_ns; /* between the begins of two in succession */
    uint64_t least_interval_ns, most_interval_ns;
    unsigned npds, room;
    struct mkperf_domain_pd *pd;
};

struct mkperf_domains {
    const struct mkperf_analysis *analysis;
    unsigned n, room;
    /* The windows in the order of the schedule; last are those that it does not have. */
    struct mkperf_domain_window *window;
    uint64_t frame_ns; /* length of the schedule's frame; 0: not known */
    unsigned open;     /* index + 1 of the window that lasts; 0: not known */
    uint64_t ended_ns; /* when the window before it ended */
    uint32_t ended_pd; /* the PD that ran when that window ended */
    unsigned ended;    /* index + 1 of that window */
};

/* Attaches it to an analysis before the first event. It is freed after the analysis has ended. */
void mkperf_domains_attach(struct mkperf_domains *d, struct mkperf_analysis *a);
void mkperf_domains_free(struct mkperf_domains *d);

/* Reads a recording into both and their analysis, or answers from a snapshot, and finds budget_ns of each PD. Errors: those of mkperf_analysis_read. */
enum mkperf_status mkperf_demand_read(struct mkperf_demand *d, struct mkperf_domains *domains,
                                      struct mkperf_analysis *a, const char *path,
                                      struct mkperf_error *e);

#endif
