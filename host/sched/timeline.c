/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see timeline.h. */
#include "timeline.h"

#include <stdlib.h>

#include "base/xalloc.h"

static bool continues(const struct mkperf_interval *last, const struct mkperf_interval *i)
{
    return last->to == i->from && last->state == i->state && last->by == i->by &&
           last->serving == i->serving && last->core == i->core;
}

static void add_interval(void *self, const struct mkperf_interval *i)
{
    struct mkperf_timeline *t = self;

    if (i->to <= t->from_ns || i->from >= t->to_ns) {
        return;
    }
    MKPERF_GROW(t->lane, t->pd_room, (size_t)i->pd + 1);
    t->npds = i->pd >= t->npds ? i->pd + 1 : t->npds;
    struct mkperf_lane *lane = &t->lane[i->pd];
    if (lane->n > 0 && continues(&lane->interval[lane->n - 1], i)) {
        lane->interval[lane->n - 1].to = i->to;
        return;
    }
    MKPERF_GROW(lane->interval, lane->room, lane->n + 1);
    lane->interval[lane->n++] = *i;
}

static void add_arrow(void *self, const struct mkperf_woken *w)
{
    struct mkperf_timeline *t = self;

    if (w->time >= t->from_ns && w->time <= t->to_ns) {
        MKPERF_GROW(t->arrow, t->arrow_room, t->narrows + 1);
        t->arrow[t->narrows++] = *w;
    }
}

void mkperf_timeline_attach(struct mkperf_timeline *t, struct mkperf_analysis *a, uint64_t from_ns,
                            uint64_t to_ns)
{
    *t = (struct mkperf_timeline){.from_ns = from_ns, .to_ns = to_ns};
    mkperf_analysis_listen(a, (struct mkperf_analysis_listener){
                                  .interval = add_interval, .woken = add_arrow, .self = t});
}

void mkperf_timeline_free(struct mkperf_timeline *t)
{
    for (uint32_t i = 0; i < t->npds; i++) {
        free(t->lane[i].interval);
    }
    free(t->lane);
    free(t->arrow);
    *t = (struct mkperf_timeline){.npds = 0};
}

/* The first interval that ends after ns. */
static size_t first_after(const struct mkperf_lane *lane, uint64_t ns)
{
    size_t low = 0, high = lane->n;

    while (low < high) {
        size_t at = low + (high - low) / 2;

        if (lane->interval[at].to > ns) {
            high = at;
        } else {
            low = at + 1;
        }
    }
    return low;
}

size_t mkperf_timeline_intervals(const struct mkperf_timeline *t, uint32_t pd, uint64_t from,
                                 uint64_t to, const struct mkperf_interval **first)
{
    size_t begin, end;

    *first = NULL;
    if (pd >= t->npds || to <= from) {
        return 0;
    }
    begin = first_after(&t->lane[pd], from);
    end = first_after(&t->lane[pd], to - 1); /* contains the last ns, or is behind it */
    end += end < t->lane[pd].n && t->lane[pd].interval[end].from < to;
    *first = t->lane[pd].interval + begin;
    return end > begin ? end - begin : 0;
}

/* The first arrow at or after ns. */
static size_t arrow_at(const struct mkperf_timeline *t, uint64_t ns)
{
    size_t low = 0, high = t->narrows;

    while (low < high) {
        size_t at = low + (high - low) / 2;

        if (t->arrow[at].time >= ns) {
            high = at;
        } else {
            low = at + 1;
        }
    }
    return low;
}

size_t mkperf_timeline_arrows(const struct mkperf_timeline *t, uint64_t from, uint64_t to,
                              const struct mkperf_woken **first)
{
    size_t begin = arrow_at(t, from), end = arrow_at(t, to);

    *first = t->arrow + begin;
    return end > begin ? end - begin : 0;
}
