/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see query.h. */
#include "query.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void view_query_select(const struct view_query *q, struct mkperf_profile *p,
                       struct view_whole *whole)
{
    const struct mkperf_profile_sample *sample = p->samples.map;

    whole->weight = p->weight;
    memcpy(whole->total, p->total, sizeof whole->total);
    p->weight = mkperf_xcalloc(p->chains.count, sizeof *p->weight);
    memset(p->total, 0, sizeof p->total);
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct mkperf_profile_sample *s = &sample[i];
        uint32_t event = mkperf_profile_head(p, s->chain).event;

        if (event != q->event || !report_filter_passes(&q->filter, s->time_ns, s->core)) {
            continue;
        }
        p->weight[s->chain].samples++;
        p->weight[s->chain].period += s->period;
        p->total[event].samples++;
        p->total[event].period += s->period;
    }
}

void view_query_restore(struct mkperf_profile *p, const struct view_whole *whole)
{
    free(p->weight);
    p->weight = whole->weight;
    memcpy(p->total, whole->total, sizeof p->total);
}
