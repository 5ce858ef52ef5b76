/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see page_schedule.h. */
#include "page_schedule.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "model/sched_event.h"

struct lists {              /* intervals in the order of their lists */
    struct mkperf_hash key; /* of a list: PD, state, core */
    size_t *first;          /* of each list, and after the last one: its first interval */
    struct mkperf_interval *interval;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool continues(const struct mkperf_interval *last, const struct mkperf_interval *i)
{
    return last->to == i->from && last->by == i->by && last->serving == i->serving;
}

/* Equal intervals become one. begin: of each list, and after the last one. */
static void merge(struct lists *l, const size_t *begin)
{
    size_t n = 0;

    for (uint32_t list = 0; list < l->key.count; list++) {
        l->first[list] = n;
        for (size_t i = begin[list]; i < begin[list + 1]; i++) {
            if (n > l->first[list] && continues(&l->interval[n - 1], &l->interval[i])) {
                l->interval[n - 1].to = l->interval[i].to;
            } else {
                l->interval[n++] = l->interval[i];
            }
        }
    }
    l->first[l->key.count] = n;
}

/* Intervals that end after `from`. Those of one list keep their order, which is that of time. */
static void make_lists(struct lists *l, const struct page_schedule *s, uint64_t from)
{
    uint32_t *list = mkperf_xcalloc(s->intervals + 1, sizeof *list); /* of each interval, + 1 */
    size_t *begin;

    for (size_t i = 0; i < s->intervals; i++) {
        const struct mkperf_interval *in = &s->interval[i];
        uint64_t key[3] = {in->pd, (uint64_t)in->state, in->core};
        list[i] = in->to > from ? mkperf_hash_number(&l->key, key, 3) + 1 : 0;
    }
    begin = mkperf_xcalloc((size_t)l->key.count + 2, sizeof *begin);
    for (size_t i = 0; i < s->intervals; i++) {
        begin[list[i] + 1] += list[i] != 0; /* moved up by one list until all are placed */
    }
    for (uint32_t k = 1; k <= l->key.count; k++) {
        begin[k + 1] += begin[k];
    }
    l->interval = mkperf_xcalloc(begin[l->key.count + 1] + 1, sizeof *l->interval);
    for (size_t i = 0; i < s->intervals; i++) {
        if (list[i] != 0) {
            struct mkperf_interval *to = &l->interval[begin[list[i]]++];
            *to = s->interval[i];
            to->from = later(to->from, from);
        }
    }
    l->first = mkperf_xcalloc((size_t)l->key.count + 1, sizeof *l->first);
    merge(l, begin);
    free(begin);
    free(list);
}

static void free_lists(struct lists *l)
{
    mkperf_hash_free(&l->key);
    free(l->first);
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
                l->first[list + 1] - l->first[list]);
    }
    fputs("]", out);
}

/* 1 + a PD; 0: nobody. */
static uint64_t pd_or_none(uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? 0 : (uint64_t)pd + 1;
}

/* Since the end of the interval before it in its list, or since `from`. */
static uint64_t gap_before(const struct mkperf_interval *i, bool first, uint64_t from)
{
    uint64_t end = first ? from : i[-1].to;

    return i->from > end ? i->from - end : 0;
}

static bool same_list(const struct mkperf_interval *a, const struct mkperf_interval *b)
{
    return a->pd == b->pd && a->state == b->state && a->core == b->core;
}

static void put_intervals(struct page_columns *c, const struct lists *l, uint64_t from)
{
    const struct mkperf_interval *in = l->interval;
    size_t n = l->first[l->key.count];

    PAGE_COLUMN(c, "i_gap", n, gap_before(&in[i], i == 0 || !same_list(&in[i - 1], &in[i]), from));
    PAGE_COLUMN(c, "i_length", n, in[i].to - in[i].from);
    PAGE_COLUMN(c, "i_by", n, pd_or_none(in[i].by));
    PAGE_COLUMN(c, "i_for", n, pd_or_none(in[i].serving));
}

static int by_start(const void *a, const void *b)
{
    const struct mkperf_schedule_call *x = a, *y = b;

    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void put_calls(struct page_columns *c, const struct page_schedule *s, uint64_t from)
{
    struct mkperf_schedule_call *call = mkperf_xcalloc(s->calls + 1, sizeof *call);
    size_t n = 0;

    for (size_t i = 0; i < s->calls; i++) {
        if (s->call[i].from_ns >= from && s->call[i].to != MKPERF_SCHED_NOBODY) {
            call[n++] = s->call[i];
        }
    }
    qsort(call, n, sizeof *call, by_start);
    PAGE_COLUMN(c, "a_delta", n, call[i].from_ns - (i > 0 ? call[i - 1].from_ns : from));
    PAGE_COLUMN(c, "a_wait", n, call[i].taken_ns - call[i].from_ns);
    PAGE_COLUMN(c, "a_length", n, call[i].to_ns - call[i].from_ns);
    PAGE_COLUMN(c, "a_from", n, call[i].from);
    PAGE_COLUMN(c, "a_to", n, call[i].to);
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
    PAGE_COLUMN(c, "w_delta", n, w[i].time - (i > 0 ? w[i - 1].time : from));
    PAGE_COLUMN(c, "w_kind", n, w[i].kind);
    PAGE_COLUMN(c, "w_from", n, pd_or_none(w[i].from));
    PAGE_COLUMN(c, "w_to", n, w[i].to);
    PAGE_COLUMN(c, "w_irq", n, w[i].irq);
}

static void put_gaps(struct page_columns *c, const struct page_schedule *s, uint64_t from)
{
    struct mkperf_core_interval *gap = mkperf_xcalloc(s->gaps + 1, sizeof *gap);
    size_t n = 0;

    for (size_t i = 0; i < s->gaps; i++) {
        if (s->gap[i].to >= from) {
            gap[n] = s->gap[i];
            gap[n++].from = later(s->gap[i].from, from);
        }
    }
    PAGE_COLUMN(c, "g_from", n, gap[i].from - from);
    PAGE_COLUMN(c, "g_length", n, gap[i].to - gap[i].from);
    PAGE_COLUMN(c, "g_core", n, gap[i].core);
    free(gap);
}

void page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost)
{
    const struct mkperf_analysis *a = s->analysis;
    struct lists l = {.first = NULL};
    bool first = true;

    make_lists(&l, s, from);
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
        *from = s->interval[i].from < *from ? s->interval[i].from : *from;
        *to = later(s->interval[i].to, *to);
    }
    return s->intervals > 0;
}
