/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see collect.h. */
#include "collect.h"

#include <stdlib.h>
#include <string.h>

static enum mkperf_status no_memory(struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
}

static enum mkperf_status begin(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e)
{
    struct mkperf_collect *c = self;

    c->nevents = session->nevents;
    c->first_ns = UINT64_MAX;
    if (c->times &&
        (mkperf_spool_open(&c->samples, sizeof(struct mkperf_collected), e) != MKPERF_OK ||
         mkperf_spool_open(&c->losses, sizeof(struct mkperf_lost), e) != MKPERF_OK ||
         mkperf_spool_open(&c->marks, sizeof(struct mkperf_collected_mark), e) != MKPERF_OK)) {
        return e->status;
    }
    return mkperf_stack_begin(&c->stack, session, e);
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_collect *c = self;

    return mkperf_stack_pd(&c->stack, pd, e);
}

static uint32_t chain_key(const struct mkperf_collect *c, const struct mkperf_sample *s,
                          uint64_t key[MKPERF_COLLECT_WORDS_MAX])
{
    uint32_t flags = s->flags & (MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER);
    uint32_t n = MKPERF_COLLECT_CALLERS;

    key[MKPERF_COLLECT_PD] = s->pd | (uint64_t)s->event << 32;
    key[MKPERF_COLLECT_FLAGS] = flags | (uint64_t)(c->cores ? s->core : 0) << 32;
    key[MKPERF_COLLECT_KERNEL_PC] = flags & MKPERF_SAMPLE_KERNEL ? s->kernel_pc : 0;
    key[MKPERF_COLLECT_PC] = flags & MKPERF_SAMPLE_NO_USER ? 0 : s->pc;
    for (unsigned i = 0; i < s->callers->n; i++) {
        key[n++] = s->callers->caller[i].addr;
        key[n++] = s->callers->caller[i].pd;
    }
    return n;
}

static enum mkperf_status count(struct mkperf_collect *c, const struct mkperf_sample *s,
                                uint32_t number, bool fresh, struct mkperf_error *e)
{
    if (number >= c->weight_room) {
        uint32_t room = c->weight_room != 0 ? 2 * c->weight_room : 256;
        struct mkperf_weight *w = reallocarray(c->weight, room, sizeof *w);
        if (w == NULL) {
            return no_memory(e);
        }
        c->weight = w;
        c->weight_room = room;
    }
    if (fresh) {
        c->weight[number] = (struct mkperf_weight){0, 0};
    }
    c->weight[number].samples++;
    c->weight[number].period += s->period;
    c->total[s->event].samples++;
    c->total[s->event].period += s->period;
    c->nevents = s->event >= c->nevents ? s->event + 1 : c->nevents;
    c->first_ns = s->time_ns < c->first_ns ? s->time_ns : c->first_ns;
    c->last_ns = s->time_ns > c->last_ns ? s->time_ns : c->last_ns;
    return MKPERF_OK;
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct mkperf_collect *c = self;
    uint64_t key[MKPERF_COLLECT_WORDS_MAX];
    uint32_t known = c->chains.count;

    if (s->event >= MKPERF_MODEL_EVENTS) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "more than %d events", MKPERF_MODEL_EVENTS);
    }
    int64_t number = mkperf_hash_number(&c->chains, key, chain_key(c, s, key));
    if (number < 0) {
        return no_memory(e);
    }
    if (count(c, s, (uint32_t)number, c->chains.count != known, e) != MKPERF_OK) {
        return e->status;
    }
    if (!c->times) {
        return MKPERF_OK;
    }
    struct mkperf_collected kept = {
        .time_ns = s->time_ns, .period = s->period, .chain = (uint32_t)number, .core = s->core};
    return mkperf_spool_add(&c->samples, &kept, e);
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct mkperf_collect *c = self;

    (void)e;
    c->nevents = session->nevents;
    mkperf_stack_events(&c->stack, session);
    return MKPERF_OK;
}

static bool sum_mark(struct mkperf_collect *c, const struct mkperf_mark *m, uint32_t name)
{
    uint64_t key[2] = {m->pd, name};
    uint32_t known = c->mark_keys.count;
    int64_t at = mkperf_hash_number(&c->mark_keys, key, 2);

    if (at < 0) {
        return false;
    }
    if (c->mark_keys.count != known) {
        struct mkperf_mark_sum *grown = reallocarray(c->mark_sum, known + 1, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        c->mark_sum = grown;
        grown[at] = (struct mkperf_mark_sum){.points = 0};
    }
    struct mkperf_mark_sum *sum = &c->mark_sum[at];
    sum->points += m->kind == MKPERF_MARK_POINT;
    if (m->kind == MKPERF_MARK_BEGIN && sum->open++ == 0) {
        sum->begin_ns = m->time_ns;
    } else if (m->kind == MKPERF_MARK_END && sum->open > 0 && --sum->open == 0) {
        uint64_t ns = m->time_ns > sum->begin_ns ? m->time_ns - sum->begin_ns : 0;
        sum->phases++;
        sum->sum_ns += ns;
        sum->longest_ns = ns > sum->longest_ns ? ns : sum->longest_ns;
    }
    return true;
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct mkperf_collect *c = self;

    int64_t name = mkperf_stack_text_number(&c->stack, m->name);
    if (name < 0 || !sum_mark(c, m, (uint32_t)name)) {
        return no_memory(e);
    }
    if (!c->times) {
        return MKPERF_OK;
    }
    c->first_ns = m->time_ns < c->first_ns ? m->time_ns : c->first_ns;
    c->last_ns = m->time_ns > c->last_ns ? m->time_ns : c->last_ns;
    struct mkperf_collected_mark kept = {.time_ns = m->time_ns,
                                         .pd = m->pd,
                                         .kind = m->kind,
                                         .id = m->id,
                                         .name = (uint32_t)name,
                                         .order = c->marks.count};
    return mkperf_spool_add(&c->marks, &kept, e);
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    struct mkperf_collect *c = self;

    if (l->where < MKPERF_LOST_PLACES) {
        c->lost[l->where] += l->samples;
        c->lost_events[l->where] += l->events;
    }
    return c->times ? mkperf_spool_add(&c->losses, l, e) : MKPERF_OK;
}

static enum mkperf_status end(void *self, const struct mkperf_totals *totals,
                              struct mkperf_error *e)
{
    struct mkperf_collect *c = self;

    (void)e;
    c->totals = *totals;
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        c->lost[i] = c->lost[i] > totals->lost[i] ? c->lost[i] : totals->lost[i];
    }
    if (c->first_ns > c->last_ns) {
        c->first_ns = c->last_ns = 0;
    }
    return MKPERF_OK;
}

const struct mkperf_sink_ops mkperf_collect_ops = {
    .name = "collect",
    .begin = begin,
    .pd = add_pd,
    .events = add_events,
    .sample = add_sample,
    .mark = add_mark,
    .lost = add_lost,
    .end = end,
};

enum mkperf_status mkperf_collect_chain(struct mkperf_collect *c, uint32_t number,
                                        struct mkperf_collected_chain *out, struct mkperf_error *e)
{
    uint32_t words;
    const uint64_t *key = mkperf_hash_key(&c->chains, number, &words);
    struct mkperf_chain callers = {.n = 0};
    struct mkperf_sample s = {.pd = (uint32_t)key[MKPERF_COLLECT_PD],
                              .flags = (uint32_t)key[MKPERF_COLLECT_FLAGS],
                              .kernel_pc = key[MKPERF_COLLECT_KERNEL_PC],
                              .pc = key[MKPERF_COLLECT_PC],
                              .callers = &callers};

    for (uint32_t i = MKPERF_COLLECT_CALLERS; i + 1 < words; i += 2) {
        callers.caller[callers.n++] =
            (struct mkperf_caller){.addr = key[i], .pd = (uint32_t)key[i + 1]};
    }
    out->pd = s.pd;
    out->event = (uint32_t)(key[MKPERF_COLLECT_PD] >> 32);
    out->core = (uint32_t)(key[MKPERF_COLLECT_FLAGS] >> 32);
    out->weight = c->weight[number];
    out->n = mkperf_stack_of(&c->stack, &s, out->place);
    return out->n < 0 ? no_memory(e) : MKPERF_OK;
}

enum mkperf_status mkperf_collect_cost(struct mkperf_collect *c, struct mkperf_error *e)
{
    struct mkperf_collected_chain chain;

    memset(&c->cost, 0, sizeof c->cost);
    for (uint32_t i = 0; i < c->chains.count; i++) {
        if (mkperf_collect_chain(c, i, &chain, e) != MKPERF_OK) {
            return e->status;
        }
        mkperf_cost_add(&c->cost, &c->stack, chain.event, chain.pd, chain.place[0],
                        chain.weight.period);
    }
    mkperf_cost_looks(&c->cost, &c->stack, c->totals.looks_us);
    return MKPERF_OK;
}

uint64_t mkperf_collect_lost(const struct mkperf_collect *c)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        n += c->lost[i];
    }
    return n;
}

static int by_time(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_samples(const void *a, const void *b)
{
    const struct mkperf_collected *x = a, *y = b;
    int order = by_time(x->time_ns, y->time_ns);

    order = order != 0 ? order : by_time(x->core, y->core);
    return order != 0 ? order : by_time(x->chain, y->chain);
}

static int compare_losses(const void *a, const void *b)
{
    return by_time(((const struct mkperf_lost *)a)->time_ns,
                   ((const struct mkperf_lost *)b)->time_ns);
}

static int compare_marks(const void *a, const void *b)
{
    const struct mkperf_collected_mark *x = a, *y = b;
    int order = by_time(x->time_ns, y->time_ns);

    return order != 0 ? order : by_time(x->order, y->order);
}

enum mkperf_status mkperf_collect_order(struct mkperf_collect *c, struct mkperf_error *e)
{
    if (mkperf_spool_map(&c->samples, e) != MKPERF_OK ||
        mkperf_spool_map(&c->losses, e) != MKPERF_OK ||
        mkperf_spool_map(&c->marks, e) != MKPERF_OK) {
        return e->status;
    }
    mkperf_spool_sort(&c->samples, compare_samples);
    mkperf_spool_sort(&c->losses, compare_losses);
    mkperf_spool_sort(&c->marks, compare_marks);
    return MKPERF_OK;
}

void mkperf_collect_free(struct mkperf_collect *c)
{
    mkperf_stack_free(&c->stack);
    mkperf_hash_free(&c->chains);
    free(c->weight);
    c->weight = NULL;
    mkperf_hash_free(&c->mark_keys);
    free(c->mark_sum);
    c->mark_sum = NULL;
    mkperf_spool_close(&c->samples);
    mkperf_spool_close(&c->losses);
    mkperf_spool_close(&c->marks);
}
