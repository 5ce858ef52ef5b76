/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What limits throughput: the rules, and for systems without queues the load of cores after a change. See flow.h.
 *
 * A stage is busy while it runs, calls, is ready or is throttled, and while it sleeps although it has work. It is not busy while it
 * waits for packets, or for space behind it. What limits is busy all the time: the stages before it are blocked, the stages
 * behind it are starved. The greatest part of its busy time is the cause.
 */

#include "flow.h"

#include <math.h>

/* docs/flow.md states these limits. */
static const double SATURATED = 0.97; /* a stage that is busy for longer limits */
static const double PRESSED = 0.75; /* it limits from this share on, if a queue before it is full */
static const double FULL = 0.05;    /* share of time for which a queue is full under pressure */
static const double EMPTY = 0.1;    /* or share of time for which it is empty at most */
static const double CORE_BUSY = 0.95; /* a core that is busy for longer limits the PDs on it */
/* Share of time for which a stage is ready under competition. */
static const double COMPETES = 0.05;
static const double UNFED = 0.03; /* a source that waits for less than this always has packets */
static const double EQUAL = 0.01; /* stages whose busy shares differ by less are equally busy */

const char *const mkperf_flow_cause_names[MKPERF_FLOW_CAUSES] = {
    [MKPERF_FLOW_UNDECIDED] = "undecided", [MKPERF_FLOW_LOAD] = "load",
    [MKPERF_FLOW_OWN] = "own work",        [MKPERF_FLOW_CALLS] = "calls",
    [MKPERF_FLOW_CORE] = "core",           [MKPERF_FLOW_PRIORITY] = "priority",
    [MKPERF_FLOW_BUDGET] = "budget",       [MKPERF_FLOW_SLEEP] = "sleep",
};

uint64_t mkperf_flow_known(const struct mkperf_flow_stage *s)
{
    uint64_t known = 0;

    for (unsigned i = 0; i < MKPERF_PD_STATES; i++) {
        known += i != MKPERF_PD_UNKNOWN ? s->in_state[i] : 0;
    }
    return known;
}

uint64_t mkperf_flow_busy(const struct mkperf_flow_stage *s)
{
    /* A PD that never waits polls: it had nothing to do while its queues were empty. */
    bool polls = s->in_state[MKPERF_PD_WAITING] == 0 && s->consumes;

    return mkperf_flow_known(s) - s->in_state[MKPERF_PD_WAITING] + s->waited[MKPERF_FLOW_ASLEEP] -
           s->running_full - (polls ? s->running_empty : 0);
}

static double share(uint64_t part, uint64_t of)
{
    return of != 0 ? (double)part / (double)of : 0;
}

/* Returns the fullest queue of packets that a stage consumes, or the emptiest one that it produces
 * for. */
static int queue_at(const struct mkperf_flow *f, const struct mkperf_flow_stage *s, bool before)
{
    int found = MKPERF_FLOW_NONE;
    double most = 0;

    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];

        if (q->about.returns || q->known_ns == 0 || strcmp(q->about.kind, s->kind) != 0 ||
            s->pd != (before ? q->consumer : q->producer)) {
            continue;
        }
        double empty = share(q->empty_ns, q->known_ns);
        double much = before ? share(q->full_ns, q->known_ns) - empty : empty;
        if (found < 0 || much > most) {
            found = (int)i;
            most = much;
        }
    }
    return found;
}

static double core_busy(const struct mkperf_analysis *a, uint32_t core)
{
    const struct mkperf_sched_core *c = core < a->ncores ? &a->core[core] : NULL;

    return c != NULL ? share(c->busy, c->busy + c->idle) : 0;
}

/* Returns the stage with packets that calls a PD for the longest time, or MKPERF_FLOW_NONE if no
 * stage does. */
static int caller_of(const struct mkperf_flow *f, uint32_t pd)
{
    int found = MKPERF_FLOW_NONE;
    uint64_t most = 0;

    for (unsigned k = 0; k < f->analysis->nedges; k++) {
        const struct mkperf_call_edge *edge = &f->analysis->edge[k];
        for (unsigned i = 0; i < f->nstages && edge->to == pd; i++) {
            if (f->stage[i].pd == edge->from && edge->sum.own > most &&
                mkperf_flow_packets(&f->stage[i]) != 0) {
                most = edge->sum.own;
                found = (int)i;
            }
        }
    }
    return found;
}

/*
 * Sets cause and `by` from the parts of the busy time. On a core that is always busy, being ready is no cause: all PDs of the core
 * compete, and the one that runs longest is the reason. It is a stage, or it serves calls of one, or it has nothing to do
 * with the queues.
 */
static void find_cause(const struct mkperf_flow *f, struct mkperf_flow_limit *l)
{
    const struct mkperf_sched_pd *p = &f->analysis->pd[f->stage[l->stage].pd];
    const struct mkperf_by *behind = mkperf_bys_most(&p->ready_by);
    const struct mkperf_by *callee = mkperf_bys_most(&p->blocked_on);
    double most = fmax(fmax(fmax(l->own, l->calls), fmax(l->ready, l->throttled)), l->asleep);
    const struct mkperf_analysis *a = f->analysis;
    uint32_t largest = MKPERF_SCHED_NOBODY; /* the PD that ran longest on the core */
    bool is_stage = false;

    for (uint32_t i = 0; i < a->npds && p->has_core; i++) {
        if (a->pd[i].name != NULL && !a->pd[i].idle && a->pd[i].core == p->core &&
            (largest == MKPERF_SCHED_NOBODY ||
             a->pd[i].in[MKPERF_PD_RUNNING] > a->pd[largest].in[MKPERF_PD_RUNNING])) {
            largest = i;
        }
    }
    for (unsigned i = 0; i < f->nstages; i++) {
        is_stage |= f->stage[i].pd == largest;
    }
    /* On a core that has idle time, a PD with a budget would have run more often with a larger one. */
    bool budget = l->throttled > COMPETES && l->core_busy < CORE_BUSY &&
                  l->throttled >= fmax(l->own, fmax(l->calls, l->asleep));
    bool competes = l->ready > COMPETES && (l->core_busy >= CORE_BUSY || most == l->ready) &&
                    !budget;

    l->by = f->stage[l->stage].pd;
    if (most == l->throttled || budget) {
        l->cause = MKPERF_FLOW_BUDGET;
    } else if (most == l->asleep) {
        l->cause = MKPERF_FLOW_SLEEP;
    } else if (competes && is_stage) {
        l->cause = MKPERF_FLOW_CORE;
        l->by = largest;
    } else if (competes && caller_of(f, largest) >= 0) {
        l->cause = MKPERF_FLOW_CALLS;
        l->stage = caller_of(f, largest);
        l->by = largest;
    } else if (most == l->ready) {
        l->cause = MKPERF_FLOW_PRIORITY;
        l->by = behind != NULL ? behind->pd : l->by;
    } else if (most == l->calls) {
        l->cause = MKPERF_FLOW_CALLS;
        l->by = callee != NULL ? callee->pd : l->by;
    } else {
        l->cause = MKPERF_FLOW_OWN;
    }
}

/* Finds the stage that would limit next, if the limiting PD took no time: by its own work and calls, or by what else
 * runs on its core. */
static void find_next(const struct mkperf_flow *f, struct mkperf_flow_limit *l)
{
    const struct mkperf_analysis *a = f->analysis;
    uint32_t off = l->by < a->npds ? l->by : f->stage[l->stage].pd;
    double next_own = 0;

    l->next = MKPERF_FLOW_NONE;
    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];
        uint64_t total = mkperf_flow_known(s);
        bool same = s->pd == f->stage[l->stage].pd, calls = l->cause == MKPERF_FLOW_CALLS;
        if ((same && !calls) || s->pd == off || s->pd >= a->npds || total == 0 ||
            mkperf_flow_packets(s) == 0) {
            continue;
        }
        const struct mkperf_sched_pd *p = &a->pd[s->pd];
        double own = share(s->in_state[MKPERF_PD_RUNNING] - s->running_full +
                               (same ? 0 : s->in_state[MKPERF_PD_CALLING]),
                           total);
        double core = core_busy(a, p->core);
        core -= a->pd[off].core == p->core ? share(a->pd[off].in[MKPERF_PD_RUNNING], total) : 0;
        double needs = fmax(own, p->has_core ? core : 0);
        /* On a core that is busier than each of its PDs, the PD with the most work is named. */
        if (l->next == MKPERF_FLOW_NONE || needs > l->next_share + EQUAL ||
            (needs > l->next_share - EQUAL && own > next_own)) {
            l->next = (int)i;
            l->next_share = fmax(needs, l->next_share);
            next_own = own;
        }
    }
}

/* Sets the share of the stage and its parts. */
static void find_parts(const struct mkperf_flow *f, struct mkperf_flow_limit *l)
{
    const struct mkperf_flow_stage *s = &f->stage[l->stage];
    const struct mkperf_sched_pd *p = &f->analysis->pd[s->pd];
    uint64_t total = mkperf_flow_known(s);
    /* That a ready PD was throttled is known only when its budget is refilled, so the analysis counts it. */
    uint64_t throttled = p->in[MKPERF_PD_THROTTLED];
    uint64_t ready = s->in_state[MKPERF_PD_READY] + s->in_state[MKPERF_PD_THROTTLED];

    l->share = share(mkperf_flow_busy(s), total);
    l->own = share(s->in_state[MKPERF_PD_RUNNING] - s->running_full, total);
    l->calls = share(s->in_state[MKPERF_PD_CALLING], total);
    l->throttled = share(throttled < ready ? throttled : ready, total);
    l->ready = share(ready, total) - l->throttled;
    l->asleep = share(s->waited[MKPERF_FLOW_ASLEEP], total);
    l->core_busy = p->has_core ? core_busy(f->analysis, p->core) : 0;
}

/*
 * Returns the stage that is busy for the longest time. Of stages that are equally busy, it is the one that most often
 * has packets before it: a source that is always busy may be held up by a stage behind it.
 */
static int busiest(const struct mkperf_flow *f)
{
    double most = 0, fed = 0;
    int found = MKPERF_FLOW_NONE;

    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < f->nstages; i++) {
            const struct mkperf_flow_stage *s = &f->stage[i];
            double busy = share(mkperf_flow_busy(s), mkperf_flow_known(s));
            int before = queue_at(f, s, true);

            if (mkperf_flow_packets(s) == 0 || s->pd >= f->analysis->npds) {
                continue;
            }
            double has =
                before >= 0 ? 1 - share(f->queue[before].empty_ns, f->queue[before].known_ns) : 0;
            if (pass == 0) {
                most = fmax(most, busy);
            } else if (busy >= most - EQUAL && (found < 0 || has > fed)) {
                found = (int)i;
                fed = has;
            }
        }
    }
    return found;
}

/*
 * Returns the stage that limits if no stage is always busy although packets wait: stages hold each other up in turn. If
 * one of them is throttled while its core has idle time, that is the reason for the idle time. `stage` is the busiest
 * one.
 */
static int held_up(const struct mkperf_flow *f, int stage)
{
    double most = COMPETES;

    for (unsigned i = 0; i < f->nstages; i++) {
        struct mkperf_flow_limit l = {.stage = (int)i};

        if (f->stage[i].pd >= f->analysis->npds || mkperf_flow_packets(&f->stage[i]) == 0) {
            continue;
        }
        find_parts(f, &l);
        if (l.throttled > most && l.core_busy < CORE_BUSY) {
            most = l.throttled;
            stage = (int)i;
        }
    }
    return stage;
}

struct mkperf_flow_limit mkperf_flow_limit(const struct mkperf_flow *f)
{
    struct mkperf_flow_limit l = {.by = MKPERF_SCHED_NOBODY};

    l.next = l.full = l.empty = MKPERF_FLOW_NONE;
    l.stage = busiest(f);
    if (l.stage == MKPERF_FLOW_NONE || f->analysis->events == 0) {
        l.stage = MKPERF_FLOW_NONE;
        return l;
    }
    const struct mkperf_flow_stage *s = &f->stage[l.stage];
    int full = queue_at(f, s, true);
    bool pressed = full >= 0 && (share(f->queue[full].full_ns, f->queue[full].known_ns) >= FULL ||
                                 share(f->queue[full].empty_ns, f->queue[full].known_ns) <= EMPTY);
    l.by = s->pd;
    find_parts(f, &l);
    bool full_load = l.share >= SATURATED || (pressed && l.share >= PRESSED);
    bool fed = false; /* a source of its class always has packets: then the load does not limit */
    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *of = &f->stage[i];
        uint64_t total = mkperf_flow_known(of);

        fed |= !of->consumes && total != 0 && strcmp(of->kind, s->kind) == 0 && of->out != 0 &&
               share(of->waited[MKPERF_FLOW_STARVED], total) < UNFED;
    }
    if (full_load || fed) {
        l.stage = full_load ? l.stage : held_up(f, l.stage);
        find_parts(f, &l);
        find_cause(f, &l);
        find_parts(f, &l); /* the rules may have named another stage */
    } else {
        l.cause = MKPERF_FLOW_LOAD;
    }
    l.full = queue_at(f, &f->stage[l.stage], true);
    l.empty = queue_at(f, &f->stage[l.stage], false);
    s = &f->stage[l.stage];
    l.rate = mkperf_per((double)mkperf_flow_packets(s) * 1e9, (double)(f->last_ns - f->first_ns));
    l.error = 1e9 * flow_interval(f, s->slice_packets);
    /* The longest run of slices in which the stage is as busy as in all slices. */
    uint64_t n = (f->last_ns - f->first_ns) / f->slice_ns, first = 0, best = 0;
    l.from = f->first_ns;
    l.to = f->last_ns;
    for (uint64_t i = 0; i < n; i++) {
        if (s->slice_busy[i] < 0.9 * l.share * (double)f->slice_ns) {
            first = i + 1;
        } else if (i + 1 - first > best) {
            best = i + 1 - first;
            l.from = f->first_ns + first * f->slice_ns;
            l.to = i + 1 == n ? f->last_ns : f->first_ns + (i + 1) * f->slice_ns;
        }
    }
    find_next(f, &l);
    return l;
}

void mkperf_flow_sentence(const struct mkperf_flow *f, const struct mkperf_flow_limit *l, FILE *to)
{
    const struct mkperf_analysis *a = f->analysis;
    const char *by = mkperf_analysis_name(a, l->by),
               *name = l->stage >= 0 ? f->stage[l->stage].name : "?";
    uint32_t core = l->by < a->npds ? a->pd[l->by].core : 0;

    switch (l->cause) {
    case MKPERF_FLOW_UNDECIDED:
        fprintf(
            to, "what limits is undecided: %s",
            a->events == 0
                ? "the recording has no scheduling events; record them with mkperf record --queues"
                : "no PD of the scheduling events moved an entry of a queue");
        break;
    case MKPERF_FLOW_OWN:
        fprintf(to, "%s limits: it is busy for %.1f %% of the time, with its own work for %.1f %%",
                by, 100 * l->share, 100 * l->own);
        break;
    case MKPERF_FLOW_CALLS:
        fprintf(to, "%s limits: %s waits for its calls to %s for %.1f %% of the time", by, name, by,
                100 * l->calls);
        break;
    case MKPERF_FLOW_CORE:
        fprintf(to,
                "core %" PRIu32 " limits: it is busy for %.1f %% of the time, with %s for %.1f %%",
                core, 100 * l->core_busy, by,
                100 * share(a->pd[l->by].in[MKPERF_PD_RUNNING], f->last_ns - f->first_ns));
        break;
    case MKPERF_FLOW_PRIORITY:
        fprintf(to, "%s limits: it runs instead of %s, which is ready for %.1f %% of the time", by,
                name, 100 * l->ready);
        break;
    case MKPERF_FLOW_BUDGET:
        fprintf(to, "the budget of %s limits: the PD is throttled for %.1f %% of the time", by,
                100 * l->throttled);
        break;
    case MKPERF_FLOW_SLEEP:
        fprintf(
            to,
            "%s limits: it waits for %.1f %% of the time although a queue before it has entries",
            by, 100 * l->asleep);
        break;
    default:
        fprintf(to, "the load limits: no PD is always busy; the busiest one is %s with %.1f %%",
                name, 100 * l->share);
        break;
    }
}

/* ---- loads of cores after a change ------------------------------------------------------------ */

/*
 * PDs are assumed to do the work of the recording as often as in the recording, wherever they run. What that leaves out is counted:
 * calls between PDs that are on different cores only after the change.
 */

/* Returns the core of a PD after the changes. */
static uint32_t core_of(const struct mkperf_flow *f, uint32_t pd,
                        const struct mkperf_flow_change *change, unsigned n)
{
    uint32_t core = f->analysis->pd[pd].core;

    for (unsigned i = 0; i < n; i++) {
        bool moves = change[i].pd == pd && change[i].what == MKPERF_FLOW_CHANGE_CORE;
        core = moves ? (uint32_t)change[i].value : core;
    }
    return core;
}

struct mkperf_flow_loads mkperf_flow_loads(const struct mkperf_flow *f,
                                           const struct mkperf_flow_change *change, unsigned n)
{
    const struct mkperf_analysis *a = f->analysis;
    double span = (double)(f->last_ns - f->first_ns);
    struct mkperf_flow_loads l = {.cores = a->ncores};

    for (uint32_t pd = 0; pd < a->npds; pd++) {
        double share = mkperf_per((double)a->pd[pd].in[MKPERF_PD_RUNNING], span);
        uint32_t core = core_of(f, pd, change, n);
        if (a->pd[pd].name == NULL || a->pd[pd].idle || share == 0 || core >= MKPERF_MAX_CORES) {
            continue;
        }
        for (unsigned i = 0; i < n; i++) {
            const struct mkperf_flow_change *c = &change[i];
            if (c->what == MKPERF_FLOW_CHANGE_OWN && c->pd == pd) {
                share *= c->factor;
            } else if (c->what == MKPERF_FLOW_CHANGE_BUDGET && c->pd == pd && c->period != 0) {
                share = fmin(share, mkperf_per((double)c->value, (double)c->period));
            }
            for (unsigned k = 0; k < a->nedges && c->what == MKPERF_FLOW_CHANGE_CALLS; k++) {
                bool calls = a->edge[k].from == c->pd && a->edge[k].to == pd;
                share -= calls ? (1 - c->factor) * (double)a->edge[k].sum.own / span : 0;
            }
        }
        l.busy[core] += share;
        l.cores = core >= l.cores ? core + 1 : l.cores;
    }
    for (unsigned core = 0; core < l.cores; core++) {
        l.busiest = l.busy[core] > l.busy[l.busiest] ? core : l.busiest;
    }
    for (unsigned i = 0; i < a->nedges; i++) {
        const struct mkperf_call_edge *edge = &a->edge[i];
        if (a->pd[edge->from].core == a->pd[edge->to].core &&
            core_of(f, edge->from, change, n) != core_of(f, edge->to, change, n)) {
            l.calls_per_s += (double)edge->wall.count * 1e9 / span;
        }
    }
    return l;
}
