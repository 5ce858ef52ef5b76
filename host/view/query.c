/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see query.h. */
#include "query.h"

#include <stdlib.h>
#include <string.h>

bool view_query_select(const struct view_query *q, const struct report_profile *whole,
                       struct report_profile *out)
{
    uint32_t words;

    *out = *whole;
    out->filter = q->filter;
    memset(out->total, 0, sizeof out->total);
    out->weight = calloc((size_t)whole->chains.count + 1, sizeof *out->weight);
    for (uint32_t i = 0; out->weight && i < whole->nsamples; i++) {
        const struct report_sample *s = &whole->sample[i];
        const uint64_t *key = mkperf_hash_key(&whole->chains, s->chain, &words);
        uint64_t event = key[REPORT_CHAIN_EVENT];

        if (event != q->event ||
            !report_filter_passes(&q->filter, s->time_ns, (uint32_t)key[REPORT_CHAIN_CORE])) {
            continue;
        }
        out->weight[s->chain].samples++;
        out->weight[s->chain].period += s->period;
        out->total[event].samples++;
        out->total[event].period += s->period;
    }
    return out->weight != NULL;
}

void view_query_free(struct report_profile *selected)
{
    free(selected->weight);
    selected->weight = NULL;
}
