/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the sums of interactions and of counts by PD, see figures.h. */
#include "figures.h"

const char *const mkperf_soft_names[MKPERF_SOFT_KINDS] = {
    [MKPERF_SOFT_SWITCH] = "context-switches",
    [MKPERF_SOFT_FAULT] = "faults",
    [MKPERF_SOFT_PPCALL] = "ppcalls",
    [MKPERF_SOFT_NOTIFICATION] = "notifications",
};

void mkperf_interactions_add(struct mkperf_interactions *i, const struct mkperf_interaction *edge)
{
    for (unsigned n = 0; n < i->nedges; n++) {
        struct mkperf_interaction *known = &i->edge[n];
        if (strcmp(known->from, edge->from) == 0 && strcmp(known->to, edge->to) == 0) {
            known->calls += edge->calls;
            known->notifications += edge->notifications;
            return;
        }
    }
    if (i->nedges < MKPERF_SOFT_EDGES) {
        i->edge[i->nedges] = *edge;
        mkperf_printable(i->edge[i->nedges].from);
        mkperf_printable(i->edge[i->nedges++].to);
    }
}

void mkperf_interactions_add_pd(struct mkperf_interactions *i, const struct mkperf_soft_counts *pd)
{
    unsigned n = 0;

    while (n < i->npds && strcmp(i->pd[n].pd, pd->pd) != 0) {
        n++;
    }
    if (n == MKPERF_COUNT_THREADS) {
        return;
    }
    if (n == i->npds) {
        i->pd[i->npds] = *pd;
        mkperf_printable(i->pd[i->npds++].pd);
        return;
    }
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        i->pd[n].count[kind] += pd->count[kind];
    }
    if (i->pd[n].stack.least == 0 && pd->stack.least != 0) {
        i->pd[n].stack = pd->stack;
    }
}

uint64_t mkperf_interactions_unplaced(const struct mkperf_interactions *i,
                                      enum mkperf_soft_kind kind)
{
    uint64_t placed = 0;

    for (unsigned n = 0; n < i->nedges; n++) {
        placed += kind == MKPERF_SOFT_PPCALL ? i->edge[n].calls : i->edge[n].notifications;
    }
    return i->total[kind] > placed ? i->total[kind] - placed : 0;
}

/* ---- counts by PD in addition to samples ---- */

void mkperf_pd_counts_add(struct mkperf_pd_counts *c, const struct mkperf_pd_count *count)
{
    unsigned i = 0;

    while (i < c->n && (c->at[i].event != count->event || strcmp(c->at[i].pd, count->pd) != 0)) {
        i++;
    }
    if (i < c->n) {
        c->at[i].user += count->user;
    } else if (c->n < MKPERF_PD_COUNTS) {
        c->at[c->n] = *count;
        mkperf_printable(c->at[c->n++].pd);
    }
}
