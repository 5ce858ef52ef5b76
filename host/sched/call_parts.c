/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls between PDs: from their begin to the reply, and the priority inversions within them.
 *
 * Owns: the parts of a call, the sums for each pair of caller and callee, and time by PD. machine.c calls
 * these functions in the order of time. A caller has one call at a time. A callee may have taken several:
 * from then on time is that of the newest call, and `other` of those before it.
 *
 * An inversion is an interval in which a PD that serves a call is ready, while its core runs a PD of a lower
 * priority than a caller that waits. Inversions are known only among PDs of known priorities.
 */
#include "analysis_internal.h"

void mkperf_bys_add(struct mkperf_bys *b, uint32_t pd, uint64_t ns)
{
    if (ns != 0) {
        struct mkperf_by *by = SCHED_ITEM(b->by, b->n, b->room, pd);
        by->ns += ns;
    }
}

const struct mkperf_by *mkperf_bys_most(const struct mkperf_bys *b)
{
    const struct mkperf_by *most = NULL;

    for (unsigned i = 0; i < b->n; i++) {
        most = most == NULL || b->by[i].ns > most->ns ? &b->by[i] : most;
    }
    return most;
}

void sched_call_begin(struct mkperf_analysis *a, uint32_t from, uint32_t to, uint32_t exit,
                      uint64_t now)
{
    struct mkperf_call *call = &a->pd[from].call;

    if (call->active) {
        sched_call_void(a, from);
    }
    call->active = true;
    call->taken = false;
    call->exit = exit;
    call->to = to;
    call->start = now;
    call->parts = (struct mkperf_call_parts){0};
    call->nested_by.n = call->preempted_by.n = 0;
}

void sched_call_void(struct mkperf_analysis *a, uint32_t from)
{
    struct mkperf_call *call = &a->pd[from].call;

    a->calls_void++;
    call->active = false;
    if (call->to < a->npds && a->pd[call->to].serving == from) {
        a->pd[call->to].serving = MKPERF_SCHED_NOBODY;
    }
}

void sched_call_taken(struct mkperf_analysis *a, uint32_t from, uint64_t now)
{
    struct mkperf_call *call = &a->pd[from].call;

    if (call->active && !call->taken) {
        call->taken = true;
        call->parts.wait = now - call->start;
    }
}

enum mkperf_stage_part mkperf_stage_part_of(enum mkperf_pd_state state, uint32_t by, uint64_t ns,
                                            struct mkperf_bys *ready_by,
                                            struct mkperf_bys *calls_of)
{
    switch (state) {
    case MKPERF_PD_RUNNING:
        return MKPERF_STAGE_OWN;
    case MKPERF_PD_READY:
        mkperf_bys_add(ready_by, by, ns);
        return MKPERF_STAGE_PREEMPTED;
    case MKPERF_PD_CALLING:
        mkperf_bys_add(calls_of, by, ns);
        return MKPERF_STAGE_CALLS;
    case MKPERF_PD_THROTTLED:
        return MKPERF_STAGE_BUDGET;
    default:
        return MKPERF_STAGE_OTHER;
    }
}

void sched_call_charge(struct mkperf_analysis *a, const struct mkperf_interval *i)
{
    struct mkperf_call *call = i->serving < a->npds ? &a->pd[i->serving].call : NULL;
    uint64_t ns = i->to - i->from;

    if (call != NULL && call->active && call->taken && call->to == i->pd) {
        call->parts.part[mkperf_stage_part_of(i->state, i->by, ns, &call->preempted_by,
                                              &call->nested_by)] += ns;
    }
}

static void add_bys(struct mkperf_bys *to, const struct mkperf_bys *from)
{
    for (unsigned i = 0; i < from->n; i++) {
        mkperf_bys_add(to, from->by[i].pd, from->by[i].ns);
    }
}

void sched_call_end(struct mkperf_analysis *a, uint32_t from, uint32_t callee, uint64_t now)
{
    struct mkperf_call *call = &a->pd[from].call;
    struct mkperf_call_parts *p = &call->parts;

    if (!call->active) {
        a->calls_void += a->pd[from].state == MKPERF_PD_UNKNOWN;
        return;
    }
    if (!call->taken || (callee != MKPERF_SCHED_NOBODY && call->to != callee)) {
        sched_call_void(a, from);
        return;
    }
    p->wall = now - call->start;
    p->other = p->wall - p->wait - p->own - p->nested - p->preempted - p->budget;
    struct mkperf_call_edge *edge =
        SCHED_ITEM(a->edge, a->nedges, a->edge_room, from, call->to, call->exit);
    if (edge->wall.count == 0 || p->wall > edge->worst.wall) {
        edge->worst = *p;
        edge->worst_at = now;
    }
    edge->sum.wall += p->wall;
    for (unsigned k = 0; k < MKPERF_STAGE_PARTS; k++) {
        edge->sum.part[k] += p->part[k];
    }
    add_bys(&edge->nested_by, &call->nested_by);
    add_bys(&edge->preempted_by, &call->preempted_by);
    mkperf_log_add(&edge->wall, p->wall, 1);
    call->active = false;
    SCHED_REPORT(a, call, from, call, now);
    if (a->pd[call->to].serving == from) {
        a->pd[call->to].serving = MKPERF_SCHED_NOBODY;
    }
}

enum { CALLERS = 64 }; /* longest chain of calls that is followed */

/* Counts an interval in which `holder` was ready and `runner` ran, if `high` has a higher priority than the runner and waits for the holder. */
static void count_inversion(struct mkperf_analysis *a, uint32_t high, uint32_t holder,
                            uint32_t runner, uint64_t from, uint64_t to)
{
    if (to <= from || !sched_is_pd(a, runner) || runner == high) {
        return;
    }
    const struct mkperf_sched_pd *waits = &a->pd[high], *runs = &a->pd[runner];
    if (!waits->scheduling.known || !runs->scheduling.known ||
        runs->scheduling.priority >= waits->scheduling.priority ||
        (runs->domain != waits->domain && waits->domain != 0)) {
        return;
    }
    struct mkperf_inversion *v =
        SCHED_ITEM(a->inversion, a->ninversions, a->inversion_room, high, holder, runner);
    v->count++;
    v->total += to - from;
    if (to - from > v->worst) {
        v->worst = to - from;
        v->worst_from = from;
    }
}

void sched_inversion(struct mkperf_analysis *a, const struct mkperf_interval *i)
{
    uint32_t high = MKPERF_SCHED_NOBODY, at = i->serving;

    /* The PD of the highest priority that waits for what this one serves. */
    for (unsigned k = 0; k < CALLERS && at < a->npds; k++, at = a->pd[at].serving) {
        const struct mkperf_scheduling *its = &a->pd[at].scheduling;
        if (its->known &&
            (high == MKPERF_SCHED_NOBODY || its->priority > a->pd[high].scheduling.priority)) {
            high = at;
        }
    }
    if (high != MKPERF_SCHED_NOBODY) {
        count_inversion(a, high, i->pd, i->by, i->from, i->to);
    }
}

void sched_inversions_past(struct mkperf_analysis *a, uint32_t from, uint32_t callee,
                           uint64_t since, uint64_t now)
{
    const struct mkperf_sched_pd *p = &a->pd[callee];
    unsigned n = p->readies < MKPERF_READY_KEPT ? p->readies : MKPERF_READY_KEPT;

    for (unsigned i = 0; i < n; i++) {
        uint64_t begin = p->ready[i].from > since ? p->ready[i].from : since;
        uint64_t end = p->ready[i].to < now ? p->ready[i].to : now;

        count_inversion(a, from, callee, p->ready[i].by, begin, end);
    }
}
