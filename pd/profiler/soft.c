/* SPDX-License-Identifier: BSD-2-Clause */
/* Software events in the profiler PD: see soft.h, which says what is owned and who calls. */
#include "soft.h"

#include "profiler.h"

uint64_t mkperf_soft_key(uint64_t key, uint64_t sc)
{
    uint64_t none = mkperf_counts_key(0);

    return mkperf_counts_key(mkperf_thread_of(key - none, sc));
}

bool mkperf_soft_there(const struct mkperf_profiler *p)
{
    return (mkperf_answered(&p->kernel)->features & MKPERF_FEATURE_SOFT) != 0;
}

bool mkperf_soft_prepare(struct mkperf_profiler *p, mkperf_Error *error)
{
    struct mkperf_soft_view *v = &p->soft_view;
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);

    v->on = false;
    if (p->plan.soft_mask != 0 && !mkperf_soft_there(p)) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_HOOK, 0,
                                  "the kernel's mkperf extension has no software events (context "
                                  "switches, faults, calls, notifications)");
    }
    *p->soft = (struct mkperf_soft){0};
    want->soft_mask = p->plan.soft_mask;
    want->soft = (uintptr_t)p->soft;
    v->on = p->plan.soft_mask != 0;
    v->began = 0;
    v->ended = 0;
    return true;
}

void mkperf_soft_started(struct mkperf_profiler *p)
{
    p->soft_view.began = mkperf_answered(&p->kernel)->time;
}

void mkperf_soft_ended(struct mkperf_profiler *p)
{
    if (p->soft_view.on) {
        p->soft_view.ended = mkperf_counting_stamp(p);
    }
}

/* A copy of the table without free entries. */
static void take_view(struct mkperf_profiler *p)
{
    struct mkperf_soft_view *v = &p->soft_view;
    const struct mkperf_soft *t = p->soft;
    uint64_t now = v->ended != 0 ? v->ended : mkperf_counting_stamp(p);

    v->enabled = v->began != 0 && now > v->began ? now - v->began : 0;
    v->records_dropped = t->records_dropped;
    v->edges = 0;
    v->threads = 0;
    for (unsigned i = 0; i < MKPERF_SOFT_KINDS; i++) {
        v->total[i] = t->total[i];
    }
    for (unsigned i = 0; i < MKPERF_SOFT_EDGES; i++) {
        if (t->edge[i].from != 0) {
            struct mkperf_soft_edge *edge = &v->edge[v->edges++];
            *edge = t->edge[i];
            edge->from = mkperf_soft_key(edge->from, edge->from_sc);
            edge->to = mkperf_soft_key(edge->to, edge->to_sc);
        }
    }
    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        if (t->thread[i].key != 0) {
            struct mkperf_soft_thread *thread = &v->thread[v->threads++];
            *thread = t->thread[i];
            thread->key = mkperf_soft_key(thread->key, thread->sc);
        }
    }
}

/* The thread's row, maybe a new one; NULL: the table is full. */
static struct mkperf_counts_thread *row_of(struct mkperf_counting *c, uint64_t key)
{
    for (uint32_t i = 0; i < c->threads; i++) {
        if (c->thread[i].key == key) {
            return &c->thread[i];
        }
    }
    if (c->threads == MKPERF_COUNT_THREADS) {
        return NULL;
    }
    c->thread[c->threads] = (struct mkperf_counts_thread){.key = key};
    return &c->thread[c->threads++];
}

/* Software events have no user and kernel part; they happen in the kernel. */
void mkperf_soft_count(struct mkperf_profiler *p)
{
    struct mkperf_counting *c = &p->counting;

    for (unsigned e = 0; e < p->plan.events; e++) {
        uint32_t kind = p->plan.event[e].soft;
        if (kind == 0) {
            continue;
        }
        c->count[2 * e + 1] = p->soft->total[kind - 1];
        for (unsigned i = 0; i < MKPERF_COUNT_THREADS && p->plan.per_thread; i++) {
            const struct mkperf_soft_thread *t = &p->soft->thread[i];
            struct mkperf_counts_thread *row =
                t->key != 0 ? row_of(c, mkperf_soft_key(t->key, t->sc)) : NULL;
            if (row != NULL) {
                row->count[2 * e + 1] = t->count[kind - 1];
            }
        }
    }
}

static void put_edges(const struct mkperf_soft_view *v, uint32_t first, mkperf_Interactions *out)
{
    for (uint32_t i = first; i < v->edges && out->edges_count < MKPERF_EDGE_PART; i++) {
        out->edges[out->edges_count++] = (mkperf_Edge){
            .from = mkperf_thread_to_wire(v->edge[i].from - mkperf_counts_key(0)),
            .to = mkperf_thread_to_wire(v->edge[i].to - mkperf_counts_key(0)),
            .calls = v->edge[i].count[0],
            .notifications = v->edge[i].count[1],
        };
    }
}

static void put_threads(const struct mkperf_soft_view *v, uint32_t first, mkperf_Interactions *out)
{
    for (uint32_t i = first; i < v->threads && out->threads_count < MKPERF_EDGE_PART; i++) {
        mkperf_ThreadEvents *to = &out->threads[out->threads_count++];
        to->thread = mkperf_thread_to_wire(v->thread[i].key - mkperf_counts_key(0));
        to->count_count = MKPERF_SOFT_KINDS;
        for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
            to->count[kind] = v->thread[i].count[kind];
        }
    }
}

bool mkperf_soft_answer(struct mkperf_profiler *p, uint32_t part, mkperf_Error *error)
{
    static mkperf_Interactions out; /* too large for a PD's stack */
    struct mkperf_soft_view *v = &p->soft_view;

    if (!v->on) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0,
                                  "no session with software events was started");
    }
    if (part == 0) {
        take_view(p);
    }
    uint32_t rows = v->edges > v->threads ? v->edges : v->threads;
    out = (mkperf_Interactions){
        .session = p->id,
        .tick_hz = p->tick_hz,
        .enabled_ticks = v->enabled,
        .part = part,
        .parts = rows <= MKPERF_EDGE_PART ? 1 : (rows + MKPERF_EDGE_PART - 1) / MKPERF_EDGE_PART,
        .total_count = MKPERF_SOFT_KINDS,
        .records_dropped = v->records_dropped,
    };
    if (part >= out.parts) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0, "no such part");
    }
    for (unsigned i = 0; i < MKPERF_SOFT_KINDS; i++) {
        out.total[i] = v->total[i];
    }
    put_edges(v, part * MKPERF_EDGE_PART, &out);
    put_threads(v, part * MKPERF_EDGE_PART, &out);
    p->page->interactions = out;
    return true;
}
