/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see page_schedule.h. */
#include "page_schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "model/sched_event.h"

struct lists {
    struct mkperf_hash key;                    /* PD, state, core */
    size_t *first, *n;                         /* of each list: its first interval, how many */
    size_t *end;                               /* where its next one goes */
    uint32_t *of;                              /* the list of each interval that was given */
    struct mkperf_schedule_interval *interval; /* by list */
    size_t intervals;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void find_lists(struct lists *l, const struct page_schedule *s, uint64_t from)
{
    l->of = mkperf_xcalloc(s->intervals + 1, sizeof *l->of);
    for (size_t i = 0; i < s->intervals; i++) {
        const struct mkperf_schedule_interval *in = &s->interval[i];
        uint64_t key[3] = {in->pd, (uint64_t)in->state, in->core};
        l->of[i] = in->to_ns > from ? mkperf_hash_number(&l->key, key, 3) : UINT32_MAX;
    }
    l->first = mkperf_xcalloc((size_t)l->key.count + 1, sizeof *l->first);
    l->n = mkperf_xcalloc((size_t)l->key.count + 1, sizeof *l->n);
    l->end = mkperf_xcalloc((size_t)l->key.count + 1, sizeof *l->end);
    for (size_t i = 0; i < s->intervals; i++) {
        if (l->of[i] != UINT32_MAX) {
            l->n[l->of[i]]++;
            l->intervals++;
        }
    }
    for (uint32_t list = 1; list < l->key.count; list++) {
        l->first[list] = l->end[list] = l->first[list - 1] + l->n[list - 1];
    }
}

static bool continues(const struct mkperf_schedule_interval *last,
                      const struct mkperf_schedule_interval *i)
{
    return last->to_ns == i->from_ns && last->by == i->by && last->serving == i->serving;
}

/* Intervals of one list keep their order, which is that of time; what differs in nothing is one. */
static void sort_by_list(struct lists *l, const struct page_schedule *s, uint64_t from)
{
    l->interval = mkperf_xcalloc(l->intervals + 1, sizeof *l->interval);
    for (size_t i = 0; i < s->intervals; i++) {
        if (l->of[i] != UINT32_MAX) {
            size_t first = l->first[l->of[i]], *end = &l->end[l->of[i]];
            struct mkperf_schedule_interval *to = &l->interval[*end];
            if (*end > first && continues(to - 1, &s->interval[i])) {
                to[-1].to_ns = s->interval[i].to_ns;
                continue;
            }
            *to = s->interval[i];
            to->from_ns = later(to->from_ns, from);
            ++*end;
        }
    }
}

/* Lists without room between them. */
static void close_ranks(struct lists *l)
{
    size_t at = 0;

    for (uint32_t list = 0; list < l->key.count; list++) {
        l->n[list] = l->end[list] - l->first[list];
        memmove(l->interval + at, l->interval + l->first[list], l->n[list] * sizeof *l->interval);
        l->first[list] = at;
        l->end[list] = at += l->n[list];
    }
    l->intervals = at;
}

static void free_lists(struct lists *l)
{
    mkperf_hash_free(&l->key);
    free(l->first);
    free(l->n);
    free(l->end);
    free(l->of);
    free(l->interval);
}

static void put_lists(const struct lists *l, FILE *out)
{
    fputs("\"lists\":[", out);
    for (uint32_t list = 0; list < l->key.count; list++) {
        uint32_t words;
        const uint64_t *key = mkperf_hash_key(&l->key, list, &words);
        fprintf(out,
                "%s{\"pd\":%" PRIu64 ",\"state\":\"%s\",\"core\":%" PRIu64
                ",\"first\":%zu,\"n\":%zu}",
                list > 0 ? "," : "", key[0], mkperf_pd_state_names[key[1]], key[2], l->first[list],
                l->n[list]);
    }
    fputs("]", out);
}

static void put_intervals(struct page_columns *c, const struct lists *l, uint64_t from)
{
    uint64_t *value = mkperf_xcalloc(l->intervals + 1, sizeof *value);
    const struct mkperf_schedule_interval *in = l->interval;

    for (uint32_t list = 0; list < l->key.count; list++) {
        uint64_t end = from;
        for (size_t i = l->first[list]; i < l->end[list]; i++) {
            value[i] = in[i].from_ns > end ? in[i].from_ns - end : 0;
            end = in[i].to_ns;
        }
    }
    page_column(c, "i_gap", value, l->intervals);
    for (size_t i = 0; i < l->intervals; i++) {
        value[i] = in[i].to_ns - in[i].from_ns;
    }
    page_column(c, "i_length", value, l->intervals);
    for (size_t i = 0; i < l->intervals; i++) {
        value[i] = in[i].by == MKPERF_SCHED_NOBODY ? 0 : (uint64_t)in[i].by + 1;
    }
    page_column(c, "i_by", value, l->intervals);
    for (size_t i = 0; i < l->intervals; i++) {
        value[i] = in[i].serving == MKPERF_SCHED_NOBODY ? 0 : (uint64_t)in[i].serving + 1;
    }
    page_column(c, "i_for", value, l->intervals);
    free(value);
}

static int by_start(const void *a, const void *b)
{
    const struct mkperf_schedule_call *x = a, *y = b;

    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void put_calls(struct page_columns *c, const struct page_schedule *s, uint64_t from)
{
    struct mkperf_schedule_call *call = mkperf_xcalloc(s->calls + 1, sizeof *call);
    uint64_t *value = mkperf_xcalloc(s->calls + 1, sizeof *value);
    size_t n = 0;

    for (size_t i = 0; i < s->calls; i++) {
        if (s->call[i].from_ns >= from && s->call[i].to != MKPERF_SCHED_NOBODY) {
            call[n++] = s->call[i];
        }
    }
    qsort(call, n, sizeof *call, by_start);
    for (size_t i = 0; i < n; i++) {
        value[i] = call[i].from_ns - (i > 0 ? call[i - 1].from_ns : from);
    }
    page_column(c, "a_delta", value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = call[i].taken_ns - call[i].from_ns;
    }
    page_column(c, "a_wait", value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = call[i].to_ns - call[i].from_ns;
    }
    page_column(c, "a_length", value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = call[i].from;
    }
    page_column(c, "a_from", value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = call[i].to;
    }
    page_column(c, "a_to", value, n);
    free(value);
    free(call);
}

static void put_wakings(struct page_columns *c, const struct page_schedule *s, uint64_t from)
{
    const struct mkperf_woken *w = s->woken;
    size_t n = s->wokens;

    while (n > 0 && w->time < from) {
        w++;
        n--;
    }
    uint64_t *value = mkperf_xcalloc(n + 1, sizeof *value);
    for (size_t i = 0; i < n; i++) {
        value[i] = w[i].time - (i > 0 ? w[i - 1].time : from);
    }
    page_column(c, "w_delta", value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = w[i].kind;
    }
    page_column(c, "w_kind", value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = w[i].from == MKPERF_SCHED_NOBODY ? 0 : (uint64_t)w[i].from + 1;
    }
    page_column(c, "w_from", value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = w[i].to;
    }
    page_column(c, "w_to", value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = w[i].irq;
    }
    page_column(c, "w_irq", value, n);
    free(value);
}

static void put_gaps(struct page_columns *c, const struct page_schedule *s, uint64_t from)
{
    uint64_t *value = mkperf_xcalloc(3 * s->gaps + 1, sizeof *value);
    uint64_t *length = value + s->gaps, *core = length + s->gaps;
    size_t n = 0;

    for (size_t i = 0; i < s->gaps; i++) {
        const struct mkperf_schedule_gap *g = &s->gap[i];
        if (g->to_ns >= from) {
            value[n] = later(g->from_ns, from) - from;
            length[n] = g->to_ns - later(g->from_ns, from);
            core[n++] = g->core;
        }
    }
    page_column(c, "g_from", value, n);
    page_column(c, "g_length", length, n);
    page_column(c, "g_core", core, n);
    free(value);
}

void page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost)
{
    const struct mkperf_analysis *a = s->analysis;
    struct lists l = {.intervals = 0};
    bool first = true;

    find_lists(&l, s, from);
    sort_by_list(&l, s, from);
    close_ranks(&l);
    fprintf(c->json,
            ",\"sched\":{\"events\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"from\":%" PRIu64
            ",\"to\":%" PRIu64 ",\"cut\":%s,",
            a->events, later(lost, s->lost), later(later(a->first_ns, s->since_ns), from) - from,
            later(a->last_ns, from) - from, s->since_ns > a->first_ns ? "true" : "false");
    put_lists(&l, c->json);
    fputs(",\"kinds\":[", c->json);
    for (unsigned i = 0; i < MKPERF_SCHED_KINDS; i++) {
        fprintf(c->json, "%s\"%s\"", i > 0 ? "," : "", mkperf_sched_kind_names[i]);
    }
    fputs("],\"cores\":[", c->json);
    for (uint32_t i = 0; i < a->ncores; i++) {
        if (a->core[i].seen) {
            fprintf(c->json, "%s%" PRIu32, first ? "" : ",", i);
            first = false;
        }
    }
    fputs("]}", c->json);
    put_intervals(c, &l, from);
    put_calls(c, s, from);
    put_wakings(c, s, from);
    put_gaps(c, s, from);
    free_lists(&l);
}

bool page_schedule_span(const struct page_schedule *s, uint64_t *from, uint64_t *to)
{
    *from = UINT64_MAX;
    *to = 0;
    for (size_t i = 0; i < s->intervals; i++) {
        *from = s->interval[i].from_ns < *from ? s->interval[i].from_ns : *from;
        *to = later(s->interval[i].to_ns, *to);
    }
    return s->intervals > 0;
}
