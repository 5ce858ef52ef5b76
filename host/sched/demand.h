/* SPDX-License-Identifier: BSD-2-Clause */
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
 * Concept: what a PD uses of its budget comes back one period later. seL4, as Microkit configures it, counts that from when the PD
 * began to run. So a PD that never uses more than its budget within any window of one period is never throttled. The greatest
 * use is reached by a window that ends where a run ends; only these are looked at.
 *
 * That needs as many refills as the PD has runs in a period. A kernel keeps few (Microkit: 2) and joins the others, which
 * delays what comes back. So mkperf_demand_budget replays the runs with seL4's rules, to find the least budget with which none of
 * them would have waited for a refill. pocket counts from when a PD became ready, so a PD with short runs between long ones can
 * need more there.
 *
 * What may be wrong: a PD that was throttled would have used more; its demand is a lower bound. Time in gaps of the events is in
 * no run.
 *
 * Memory grows with the runs: 16 bytes each.
 */
#ifndef MKPERF_HOST_SCHED_DEMAND_H
#define MKPERF_HOST_SCHED_DEMAND_H

#include "analysis.h"

struct mkperf_demand_run {
    uint64_t from, to; /* ns */
};

struct mkperf_demand_pd {
    uint64_t period_ns;
    uint64_t used_ns;    /* in the whole recording */
    uint64_t for_ns;     /* of these, passive PDs ran for it */
    uint64_t worst_ns;   /* the demand */
    uint64_t worst_from; /* the begin of that window */
    uint32_t priority;   /* the highest of those that ran: its own, and of passive PDs for it */
    uint64_t throttled;  /* times that it, or a passive PD that it pays for, was throttled */
    uint64_t throttled_ns;
    struct mkperf_demand_run *run; /* in the order of time */
    size_t n, room;
    size_t first;    /* of the window that ends with the last run */
    uint64_t sum_ns; /* of the runs from that one on */
};

struct mkperf_demand {
    uint64_t default_ns; /* the period of PDs that may always run; set before attaching */
    const struct mkperf_analysis *analysis;
    uint32_t npds, room;
    struct mkperf_demand_pd *pd; /* by the numbers of PDs in the analysis */
};

/* Attached before the first event of the analysis, and freed after the analysis has ended. */
void mkperf_demand_attach(struct mkperf_demand *d, struct mkperf_analysis *a);
/* The least budget in ns, at most the period, with which no run would have waited for a refill, to the microsecond above it. The
 * kernel keeps two refills, as seL4's contexts of constant bandwidth do: MCS, refill_budget_check and refill_unblock_check. */
uint64_t mkperf_demand_budget(const struct mkperf_demand_pd *p);
/* The same if the PD had this period. */
uint64_t mkperf_demand_budget_of(const struct mkperf_demand_pd *p, uint64_t period_ns);
/*
 * What others of the core do to a PD if they use all of their budgets. Those are the PDs that run at its priority or above, also
 * those for which a passive PD does, without mkperf's own. Within any window, a PD uses at most its budget for each period that
 * begins in it. budget_ns[]: by the numbers of PDs; the period: it may always run.
 *
 * left: what they leave it of its period. wait: for how long its demand has to wait for them in all, if it needs that at once and they
 * begin together with it; UINT64_MAX: it is not done within 64 of its periods.
 */
uint64_t mkperf_demand_left(const struct mkperf_demand *d, uint32_t pd, const uint64_t *budget_ns);
uint64_t mkperf_demand_wait(const struct mkperf_demand *d, uint32_t pd, const uint64_t *budget_ns);
void mkperf_demand_free(struct mkperf_demand *d);

#endif
