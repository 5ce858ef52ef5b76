/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The load of cores after a change, by scheduling events alone: for systems without queues. See flow.h.
 *
 * PDs are assumed to do the work of the recording as often as in the recording, wherever they run. What that leaves out is counted:
 * calls between PDs that are on different cores only after the change.
 */

#include "flow.h"

/* The core of a PD after the changes. */
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

/* What a change makes of the share of time for which a PD runs. */
static double changed(const struct mkperf_flow *f, uint32_t pd, double share,
                      const struct mkperf_flow_change *c)
{
    const struct mkperf_analysis *a = f->analysis;
    double span = (double)(f->last_ns - f->first_ns);

    if (c->what == MKPERF_FLOW_CHANGE_OWN && c->pd == pd) {
        return share * c->factor;
    }
    if (c->what == MKPERF_FLOW_CHANGE_BUDGET && c->pd == pd && c->period != 0) {
        return fmin(share, mkperf_per((double)c->value, (double)c->period));
    }
    for (unsigned i = 0; i < a->nedges && c->what == MKPERF_FLOW_CHANGE_CALLS; i++) {
        if (a->edge[i].from == c->pd && a->edge[i].to == pd) {
            share -= (1 - c->factor) * (double)a->edge[i].sum.own / span;
        }
    }
    return share;
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
            share = changed(f, pd, share, &change[i]);
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
