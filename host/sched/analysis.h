/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scheduling events say: where the time of PDs and of calls between them went.
 *
 * Owns: a state machine for each PD, the call that it serves, sums, histograms and the worst of each.
 * A sink for decoders; used by `mkperf latency`, by exports and by reports. Memory does not grow with
 * the stream, but with PDs, edges and interrupts.
 *
 * Each nanosecond of a PD is in one of its sums, and each of a call in one of its parts. What is not
 * known (before a PD's first event, and in gaps) is in `unknown`, and in no statistic; a call that a
 * gap cut is void.
 */
#ifndef MKPERF_HOST_SCHED_ANALYSIS_H
#define MKPERF_HOST_SCHED_ANALYSIS_H

#include "event_order.h"
#include "log_histogram.h"
#include "model/model.h"

enum mkperf_pd_state {
    MKPERF_PD_UNKNOWN,
    MKPERF_PD_RUNNING,
    MKPERF_PD_READY,     /* but another one runs on its core */
    MKPERF_PD_CALLING,   /* waits for the reply to its call */
    MKPERF_PD_WAITING,   /* for a message or a notification */
    MKPERF_PD_THROTTLED, /* its budget is used up */
    MKPERF_PD_STOPPED,   /* faulted or suspended */
    MKPERF_PD_STATES,
};
/* "unknown", "running", ... */
extern const char *const mkperf_pd_state_names[MKPERF_PD_STATES];

/* Time because of another PD. */
struct mkperf_by {
    uint32_t pd; /* MKPERF_SCHED_NOBODY: not known */
    uint64_t ns;
};
struct mkperf_bys {
    unsigned n, room;
    struct mkperf_by *by;
};

/* What a call was made of. The sum is `wall`. */
struct mkperf_call_parts {
    uint64_t wall;
    uint64_t wait;      /* until the callee ran with it */
    uint64_t own;       /* the callee ran */
    uint64_t nested;    /* the callee's own calls */
    uint64_t preempted; /* the callee was ready, others ran */
    uint64_t budget;    /* the callee's budget was used up */
    uint64_t other;     /* it waited for something else before it replied, or was stopped */
};

struct mkperf_call_edge {
    uint32_t from, to;
    struct mkperf_call_parts sum, worst;
    uint64_t worst_at; /* the call's end */
    struct mkperf_bys nested_by, preempted_by;
    struct mkperf_log_histogram wall;
};

/* From a notification or interrupt, at which a PD was waiting, until it runs. */
struct mkperf_wakeup {
    enum mkperf_sched_kind kind; /* MKPERF_SCHED_NOTIFY or _IRQ */
    uint32_t from;               /* of a notification; NOBODY: not known */
    uint32_t to, irq;
    uint64_t busy; /* that came while it was not waiting */
    uint64_t worst_at;
    struct mkperf_log_histogram delay;
};

/* high waited for `holder` (to serve its call, or to answer its notification by another one) while
 * runner, of a lower priority than high, ran. */
struct mkperf_inversion {
    uint32_t high, holder, runner;
    uint64_t count, total, worst, worst_from; /* ns; when the longest began */
};

struct mkperf_call {
    bool active, taken;
    uint32_t to; /* NOBODY: it waits, and which callee it waits for is not known yet */
    uint64_t start;
    struct mkperf_call_parts parts;
    struct mkperf_bys nested_by, preempted_by;
};

enum { MKPERF_READY_KEPT = 32, MKPERF_READY_SLICES = 65536 };

/* A part of the time for which a PD is ready: another one ran. */
struct mkperf_ready_slice {
    uint32_t by, core;
    uint64_t from, to;
};

struct mkperf_sched_pd {
    char *name; /* NULL: not announced */
    bool idle;
    struct mkperf_scheduling scheduling;
    enum mkperf_pd_state state;
    uint64_t since;
    uint32_t core; /* that it runs or waits on */
    bool has_core;
    uint64_t in[MKPERF_PD_STATES]; /* ns */
    uint64_t consumed; /* ns of its budget: by itself, and by passive PDs for its calls */
    /* Since it became ready; not counted before it runs, because a refill of its budget says that it
     * was throttled all the time. Beyond MKPERF_READY_SLICES they are counted as ready. */
    struct mkperf_ready_slice *slice;
    uint32_t slices, slice_room;
    struct mkperf_bys ready_by, blocked_on;
    uint64_t runs, preemptions, exhausted; /* times */
    struct mkperf_call call;               /* its own, if active */
    uint32_t serving;                      /* whose call; NOBODY: none */
    uint32_t asked_by;                     /* that notified it last; NOBODY: none */
    uint64_t asked_at;
    bool woken; /* by wake, and has not run since */
    unsigned wake;
    uint64_t woken_at;
    struct { /* the last times that it was ready and another ran */
        uint32_t by;
        uint64_t from, to;
    } ready[MKPERF_READY_KEPT];
    unsigned readies;
    bool inverted; /* since inverted_at, for the sake of inverted_high */
    uint32_t inverted_high;
    uint64_t inverted_at;
};

struct mkperf_sched_core {
    bool seen;
    uint32_t running;
    uint64_t since;
    uint64_t busy, idle, unknown; /* ns */
};

/* An interval of a PD in one state. by: the PD that ran, or that it waited for; NOBODY.
 * serving: the PD that it served a call of; NOBODY. */
struct mkperf_interval {
    uint32_t pd, by, core, serving;
    enum mkperf_pd_state state;
    uint64_t from, to; /* ns */
};

/* What a core did: pd, which may be the idle thread, ran; NOBODY: not known. */
struct mkperf_core_interval {
    uint32_t pd, core;
    uint64_t from, to; /* ns */
};

/* A PD that was blocked becomes ready. */
struct mkperf_woken {
    uint64_t time;
    enum mkperf_sched_kind kind; /* CALL, REPLY, NOTIFY, IRQ, FAULT or WAKE */
    uint32_t from; /* the PD that sent it; NOBODY: an interrupt, the kernel, not known */
    uint32_t to, irq;
};

/* Gets what the analysis finds, as soon as it is known; functions may be NULL. Intervals and whole calls come
 * in the order of their ends. */
struct mkperf_analysis_listener {
    void (*interval)(void *self, const struct mkperf_interval *i);
    void (*call)(void *self, uint32_t from, const struct mkperf_call *call, uint64_t end);
    void (*woken)(void *self, const struct mkperf_woken *w);
    void (*core)(void *self, const struct mkperf_core_interval *i); /* without a hole */
    void *self;
};
enum { MKPERF_ANALYSIS_LISTENERS = 3 };

struct mkperf_analysis {
    struct mkperf_order order;
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
    uint64_t calls_void; /* cut by a gap, or of which the beginning is not known */
    uint64_t calls_open; /* without a reply at the end */
    struct mkperf_analysis_listener listener[MKPERF_ANALYSIS_LISTENERS];
    unsigned nlisteners;
    struct mkperf_session session; /* numbers and flags; its strings are not kept */
    struct mkperf_totals totals;   /* of the input, after the end; interactions NULL */
};

struct mkperf_analysis *mkperf_analysis_new(void);
void mkperf_analysis_free(struct mkperf_analysis *a);
struct mkperf_sink mkperf_analysis_sink(struct mkperf_analysis *a);
/* Before the first event, MKPERF_ANALYSIS_LISTENERS times at most. */
void mkperf_analysis_listen(struct mkperf_analysis *a, struct mkperf_analysis_listener l);
/* The same without a sink, for a caller that has events in any order of cores. */
void mkperf_analysis_pd(struct mkperf_analysis *a, const struct mkperf_pd *pd);
void mkperf_analysis_event(struct mkperf_analysis *a, const struct mkperf_sched *event);
/* The stream has ended: what lasts until now is counted, and edges are sorted: most time first. */
void mkperf_analysis_end(struct mkperf_analysis *a);

/* A PD's name; "?" if it is not known. */
const char *mkperf_analysis_name(const struct mkperf_analysis *a, uint32_t pd);
void mkperf_bys_add(struct mkperf_bys *b, uint32_t pd, uint64_t ns);
/* Of most time. NULL: there is none. */
const struct mkperf_by *mkperf_bys_most(const struct mkperf_bys *b);

#endif
