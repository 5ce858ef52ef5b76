/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the target's software events into the model, see wire_stream.h. */
#include <stdlib.h>

#include "base/xalloc.h"
#include "wire_internal.h"

static void name_of(struct mkperf_stream *s, uint64_t thread, char name[MKPERF_INTERACTION_NAME])
{
    const struct mkperf_pd *pd =
        mkperf_pds_at(s->config.pds, mkperf_pds_find(s->config.pds, thread - 2));

    snprintf(name, MKPERF_INTERACTION_NAME, "%s", pd->name);
}

static void add_edges(struct mkperf_stream *s, const mkperf_Interactions *m)
{
    for (unsigned i = 0; i < m->edges_count; i++) {
        struct mkperf_interaction edge = {.calls = m->edges[i].calls,
                                          .notifications = m->edges[i].notifications};
        name_of(s, m->edges[i].from, edge.from);
        name_of(s, m->edges[i].to, edge.to);
        mkperf_interactions_add(s->interactions, &edge);
    }
    for (unsigned i = 0; i < m->threads_count; i++) {
        struct mkperf_soft_counts pd = {{0}, {0}};
        for (unsigned k = 0; k < m->threads[i].count_count && k < MKPERF_SOFT_KINDS; k++) {
            pd.count[k] = m->threads[i].count[k];
        }
        name_of(s, m->threads[i].thread, pd.pd);
        mkperf_interactions_add_pd(s->interactions, &pd);
    }
}

void stream_interactions(struct mkperf_stream *s, const mkperf_Interactions *m)
{
    if (m->part == 0) { /* a new snapshot */
        free(s->interactions);
        s->interactions = mkperf_xcalloc(1, sizeof *s->interactions);
        s->totals.interactions = s->interactions;
        s->interaction_parts = 0;
        for (unsigned k = 0; k < m->total_count && k < MKPERF_SOFT_KINDS; k++) {
            s->interactions->total[k] = m->total[k];
        }
        s->interactions->records_dropped = m->records_dropped;
        if (stream_tick_hz_ok(m->tick_hz)) {
            s->interactions->ns = stream_ns(m->enabled_ticks, m->tick_hz);
        }
    }
    /* A part that was asked for twice is there once. */
    if (s->interactions != NULL && m->part == s->interaction_parts) {
        add_edges(s, m);
        s->interaction_parts++;
    }
}
