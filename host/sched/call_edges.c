/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: calls from their begin to the reply, their parts, and the sums of each pair of caller and
 * callee; see analysis.h. A caller has one call at a time, a callee may have taken several: the
 * time after that is the newest one's, and `other` of those before it.
 */
#include "analysis_internal.h"
#include "base/xalloc.h"

void sched_call_begin(struct mkperf_analysis *a, uint32_t from, uint32_t to, uint64_t now)
{
    struct mkperf_call *call = &a->pd[from].call;

    if (call->active) {
        sched_call_void(a, from);
    }
    call->active = true;
    call->taken = false;
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

void sched_call_charge(struct mkperf_analysis *a, uint32_t pd, enum mkperf_pd_state state,
                       uint32_t by, uint64_t ns)
{
    uint32_t from = a->pd[pd].serving;
    struct mkperf_call *call = from < a->npds ? &a->pd[from].call : NULL;

    if (call == NULL || !call->active || !call->taken || call->to != pd) {
        return;
    }
    switch (state) {
    case MKPERF_PD_RUNNING:
        call->parts.own += ns;
        break;
    case MKPERF_PD_READY:
        call->parts.preempted += ns;
        mkperf_bys_add(&call->preempted_by, by, ns);
        break;
    case MKPERF_PD_CALLING:
        call->parts.nested += ns;
        mkperf_bys_add(&call->nested_by, by, ns);
        break;
    case MKPERF_PD_THROTTLED:
        call->parts.budget += ns;
        break;
    default:
        break; /* `other` is what is left */
    }
}

static struct mkperf_call_edge *edge_of(struct mkperf_analysis *a, uint32_t from, uint32_t to)
{
    unsigned i = 0;

    while (i < a->nedges && (a->edge[i].from != from || a->edge[i].to != to)) {
        i++;
    }
    if (i == a->nedges) {
        MKPERF_GROW(a->edge, a->edge_room, a->nedges + 1);
        a->edge[a->nedges++] = (struct mkperf_call_edge){.from = from, .to = to};
    }
    return &a->edge[i];
}

static void add(struct mkperf_call_edge *edge, const struct mkperf_call *call, uint64_t now)
{
    const struct mkperf_call_parts *p = &call->parts;

    if (edge->wall.count == 0 || p->wall > edge->worst.wall) {
        edge->worst = *p;
        edge->worst_at = now;
    }
    edge->sum.wall += p->wall;
    edge->sum.wait += p->wait;
    edge->sum.own += p->own;
    edge->sum.nested += p->nested;
    edge->sum.preempted += p->preempted;
    edge->sum.budget += p->budget;
    edge->sum.other += p->other;
    for (unsigned i = 0; i < call->nested_by.n; i++) {
        mkperf_bys_add(&edge->nested_by, call->nested_by.by[i].pd, call->nested_by.by[i].ns);
    }
    for (unsigned i = 0; i < call->preempted_by.n; i++) {
        mkperf_bys_add(&edge->preempted_by, call->preempted_by.by[i].pd,
                       call->preempted_by.by[i].ns);
    }
    mkperf_log_add(&edge->wall, p->wall);
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
    add(edge_of(a, from, call->to), call, now);
    call->active = false;
    SCHED_REPORT(a, call, from, call, now);
    if (a->pd[call->to].serving == from) {
        a->pd[call->to].serving = MKPERF_SCHED_NOBODY;
    }
}
