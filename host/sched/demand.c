/* SPDX-License-Identifier: BSD-2-Clause */
/* The demand of each PD, see analysis.h. */
#include "analysis_internal.h"

static void add_demand_interval(void *self, const struct mkperf_interval *i)
{
    struct mkperf_demand *d = self;
    bool running = i->state == MKPERF_PD_RUNNING;
    uint64_t ns = i->to - i->from;

    if ((!running && i->state != MKPERF_PD_THROTTLED) || d->analysis->pd[i->pd].idle) {
        return;
    }
    uint32_t payer = mkperf_analysis_payer(d->analysis, i->pd);
    const struct mkperf_scheduling *s = &d->analysis->pd[payer].scheduling;

    MKPERF_GROW(d->pd, d->room, (size_t)payer + 1);
    d->npds = d->npds > payer + 1 ? d->npds : payer + 1;
    if (d->pd[payer].period_ns == 0) {
        d->pd[payer].period_ns = mkperf_is_limited(s) ? s->period_us * 1000 : d->default_ns;
    }
    struct mkperf_demand_pd *p = &d->pd[payer];
    if (!running) {
        p->throttled++;
        return;
    }
    uint32_t priority = d->analysis->pd[i->pd].scheduling.priority;
    p->priority = p->priority > priority ? p->priority : priority;
    p->used_ns += ns;
    p->for_ns += payer != i->pd ? ns : 0;
    /* Adds the run behind those of the window, which then ends with it. */
    uint64_t begin = i->to > p->period_ns ? i->to - p->period_ns : 0;
    p->sum_ns += ns;
    if (p->n > p->first && p->run[p->n - 1].to == i->from) {
        p->run[p->n - 1].to = i->to;
    } else {
        MKPERF_GROW(p->run, p->room, p->n + 1);
        p->run[p->n++] = (struct mkperf_demand_run){i->from, i->to};
    }
    while (p->run[p->first].to <= begin) { /* the last run ends behind it */
        p->sum_ns -= p->run[p->first].to - p->run[p->first].from;
        p->first++;
    }
    uint64_t first = p->run[p->first].from, outside = first < begin ? begin - first : 0;
    if (p->sum_ns - outside > p->worst_ns) {
        p->worst_ns = p->sum_ns - outside;
        p->worst_from = begin;
    }
}

enum { REFILLS = 2, LEAST_NS = 20000, STEP_NS = 1000, MOST_PERIODS = 64, MOST_STEPS = 10000 };

/* A budget as the kernel keeps it. refill[0] is used first; amounts add up to the budget. */
struct server {
    uint64_t period;
    unsigned n;
    struct {
        uint64_t at, amount;
    } refill[REFILLS];
};

static void drop_first(struct server *s)
{
    s->refill[0] = s->refill[1];
    s->n--;
}

/* Runs from `from` to `to`. False: the budget was used up before the end, or there was none at the begin. */
static bool serve(struct server *s, uint64_t from, uint64_t to)
{
    if (s->refill[0].at > from) {
        return false;
    }
    s->refill[0].at = from;
    while (s->n > 1 && s->refill[1].at <= s->refill[0].at + s->refill[0].amount) {
        s->refill[1].amount += s->refill[0].amount;
        s->refill[1].at = s->refill[0].at;
        drop_first(s);
    }
    if (s->refill[0].amount <= to - from) {
        return s->refill[0].amount == to - from && s->n == 1 && s->refill[0].amount == s->period;
    }
    s->refill[0].at = to;
    s->refill[0].amount -= to - from;
    /* Adds a refill with what was used, behind all others. Without room for one more, it is merged into the last one. */
    uint64_t at = from + s->period, used = to - from;
    unsigned last = s->n - 1;
    if (at <= s->refill[last].at + s->refill[last].amount) {
        s->refill[last].amount += used;
    } else if (s->n == REFILLS) {
        s->refill[last].at = at - s->refill[last].amount;
        s->refill[last].amount += used;
    } else {
        s->refill[s->n].at = at;
        s->refill[s->n++].amount = used;
    }
    while (s->n > 1 && s->refill[0].amount < LEAST_NS) {
        s->refill[1].at -= s->refill[0].amount;
        s->refill[1].amount += s->refill[0].amount;
        drop_first(s);
    }
    return true;
}

uint64_t mkperf_demand_budget(const struct mkperf_demand_pd *p, uint64_t period_ns,
                              uint64_t worst_ns)
{
    uint64_t low = worst_ns / STEP_NS, high = period_ns / STEP_NS; /* high suffices */

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        struct server s = {
            .period = period_ns, .n = 1, .refill = {{.at = 0, .amount = middle * STEP_NS}}};
        size_t i = 0;

        while (i < p->n && serve(&s, p->run[i].from, p->run[i].to)) {
            i++;
        }
        if (i == p->n) { /* it suffices for all runs */
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return high * STEP_NS;
}

void sched_demand_conclude(void *self)
{
    struct mkperf_demand *d = self;

    for (uint32_t i = 0; i < d->npds; i++) {
        struct mkperf_demand_pd *p = &d->pd[i];
        bool limited = mkperf_is_limited(&d->analysis->pd[i].scheduling);

        /* For its period and demand, then for other periods. */
        for (unsigned k = 0;
             p->n != 0 && p->throttled == 0 && k <= (limited ? MKPERF_DEMAND_PERIODS : 0); k++) {
            p->budget_ns[k] = k == 0 ? mkperf_demand_budget(p, p->period_ns, p->worst_ns)
                                     : mkperf_demand_budget(p, mkperf_demand_period(p, k - 1), 0);
        }
        free(p->run);
        p->run = NULL;
        p->n = p->room = p->first = 0;
    }
}

static const struct mkperf_shape_row demand_pd_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_demand_pd, run, n, room, NULL), MKPERF_SHAPE_END};

const struct mkperf_shape_row sched_demand_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_demand, pd, npds, room, demand_pd_rows), MKPERF_SHAPE_END};

/* Returns the most time that others of the core can take from a PD within a window. */
static uint64_t taken(const struct mkperf_demand *d, uint32_t pd, const uint64_t *budget_ns,
                      uint64_t window)
{
    const struct mkperf_sched_pd *all = d->analysis->pd;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < d->npds; i++) {
        const struct mkperf_demand_pd *p = &d->pd[i];
        bool above = all[i].scheduling.known && !all[i].scheduling.passive &&
                     p->priority >= all[pd].scheduling.priority &&
                     all[i].scheduling.cpu == all[pd].scheduling.cpu;

        if (i != pd && above && p->used_ns != 0 && p->period_ns != 0 && !all[i].profiler &&
            sum < window) {
            uint64_t times = (window + p->period_ns - 1) / p->period_ns;
            uint64_t most = budget_ns[i] < window ? times * budget_ns[i] : window;
            sum += most < window ? most : window;
        }
    }
    return sum;
}

uint64_t mkperf_demand_left(const struct mkperf_demand *d, uint32_t pd, const uint64_t *budget_ns)
{
    uint64_t period = d->pd[pd].period_ns, ns = taken(d, pd, budget_ns, period);

    return ns < period ? period - ns : 0;
}

uint64_t mkperf_demand_wait(const struct mkperf_demand *d, uint32_t pd, const uint64_t *budget_ns)
{
    const struct mkperf_demand_pd *p = &d->pd[pd];
    uint64_t whole = p->worst_ns;

    for (unsigned i = 0; i < MOST_STEPS && whole <= MOST_PERIODS * p->period_ns; i++) {
        uint64_t next = p->worst_ns + taken(d, pd, budget_ns, whole);

        if (next == whole) {
            return whole - p->worst_ns;
        }
        whole = next;
    }
    return UINT64_MAX;
}

void mkperf_demand_attach(struct mkperf_demand *d, struct mkperf_analysis *a)
{
    d->analysis = a;
    mkperf_analysis_listen(
        a, (struct mkperf_analysis_listener){.interval = add_demand_interval, .self = d});
}

void mkperf_demand_free(struct mkperf_demand *d)
{
    mkperf_shape_free(sched_demand_rows, d);
}
