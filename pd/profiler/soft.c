/* SPDX-License-Identifier: BSD-2-Clause */
/* Software events in the profiler PD: see pipeline.h. */
#include "pipeline.h"

#include <mkperf/bits.h>
#include <mkperf/sched.h>

enum { STACK_PAGES = 4096 }; /* the largest stack that Microkit has */

bool mkperf_soft_prepare(struct mkperf_soft_stage *s, mkperf_Error *error)
{
    struct mkperf_configuration *want = mkperf_wanted();

    s->on = false;
    if (mkperf_plan.soft_mask != 0 && !mkperf_kernel_events()) {
        return mkperf_refuse(error, MKPERF_RESULT_NO_HOOK, 0,
                             "the kernel's mkperf extension has no software events (context "
                             "switches, faults, calls, notifications)");
    }
    *s->table = (struct mkperf_soft){0};
    want->soft_mask = mkperf_plan.soft_mask;
    want->soft = (uintptr_t)s->table;
    s->on = mkperf_plan.soft_mask != 0;
    s->ended = 0;
    return true;
}

/* Asks a core's hook about a page of the thread in a slot. False: no thread has the slot. */
static bool ask_page(unsigned core, unsigned slot, uint64_t page)
{
    struct mkperf_descriptor *d = mkperf_kernel.core[core].d;

    d->slot = slot;
    d->page = page;
    return mkperf_cores_request(UINT32_C(1) << core, MKPERF_REQUEST_PAGE) != 0;
}

/* Returns the row of the thread that a core's hook has named in its answer; NULL: it has none. */
static struct mkperf_soft_thread *stack_row(struct mkperf_soft_stage *s,
                                            const struct mkperf_answer *a)
{
    uint64_t thread = mkperf_thread_of(a->badge, a->sc);

    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        struct mkperf_soft_thread *row = &s->table->thread[i];
        if (row->key != 0 && mkperf_soft_identity(row->key, row->sc) == thread) {
            return row;
        }
    }
    return NULL;
}

/* Finds the pages around the least stack pointer that has been seen, down and up to the first page
 * that the thread cannot read. Below and above a stack, Microkit maps nothing. */
static void look_at_stack(unsigned core, unsigned slot, struct mkperf_soft_stack *stack)
{
    const struct mkperf_answer *a = &mkperf_kernel.core[core].d->answer;
    uint64_t first = stack->least & ~UINT64_C(4095);
    uint64_t page = first;

    for (unsigned i = 0; i < STACK_PAGES && ask_page(core, slot, page) && a->readable; i++) {
        stack->lowest = mkperf_plan.request.stacks > 1 && a->word != 0 ? a->word : stack->lowest;
        stack->bottom = page;
        stack->top = first + 4096;
        page -= 4096;
    }
    for (unsigned i = 0;
         i < STACK_PAGES && stack->top != 0 && ask_page(core, slot, stack->top) && a->readable;
         i++) {
        stack->lowest = mkperf_plan.request.stacks > 1 && stack->lowest == 0 ? a->word
                                                                             : stack->lowest;
        stack->top += 4096;
    }
}

void mkperf_soft_ended(struct mkperf_soft_stage *s)
{
    uint32_t cores = mkperf_plan.soft_mask & MKPERF_SOFT_STACKS ? mkperf_kernel.on : 0;

    s->ended = s->on ? mkperf_kernel_time() : 0;
    MKPERF_EACH_BIT (core, cores) {
        for (unsigned slot = 0; slot < MKPERF_SCHED_SLOTS; slot++) {
            struct mkperf_soft_thread *row =
                ask_page(core, slot, 0) ? stack_row(s, &mkperf_kernel.core[core].d->answer) : NULL;
            if (row != NULL && row->stack.least != 0 && row->stack.top == 0) {
                look_at_stack(core, slot, &row->stack);
            }
        }
    }
}

/* Notes a fault. A fault of some threads ends a flight recording. thread: as in the request. */
static void note_fault(uint64_t thread)
{
    const mkperf_Configure *request = &mkperf_plan.request;

    for (unsigned i = 0; i < request->dump_on_fault_count; i++) {
        if (request->dump_on_fault[i] == thread &&
            mkperf_status.trigger == mkperf_FlightTrigger_FLIGHT_STOP) {
            mkperf_status.trigger = mkperf_FlightTrigger_FLIGHT_FAULT;
            mkperf_status.trigger_thread = thread;
        }
    }
}

bool mkperf_soft_take(struct mkperf_soft_stage *s, const uint64_t *record, unsigned size)
{
    if (mkperf_plan.counting || size != 8 * MKPERF_FAULT_WORDS) {
        return false;
    }
    uint64_t out[MKPERF_FAULT_WORDS];
    memcpy(out, record, sizeof out);
    out[MKPERF_WORD_THREAD] = mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
    note_fault(mkperf_thread_to_wire(out[MKPERF_WORD_THREAD]));
    s->table->records_dropped += !mkperf_output_put(out, sizeof out, 0);
    return true;
}

/* Copies the table, and moves its used entries to the front. */
static void take_view(struct mkperf_soft_stage *s)
{
    struct mkperf_soft *v = &s->view;
    uint64_t now = s->ended != 0 ? s->ended : mkperf_kernel_time();

    s->enabled = mkperf_kernel_enabled(now);
    s->edges = 0;
    s->threads = 0;
    *v = *s->table;
    for (unsigned i = 0; i < MKPERF_SOFT_EDGES; i++) {
        struct mkperf_soft_edge edge = v->edge[i];
        if (edge.from != 0) {
            edge.from = mkperf_soft_identity(edge.from, edge.from_sc);
            edge.to = mkperf_soft_identity(edge.to, edge.to_sc);
            v->edge[s->edges++] = edge;
        }
    }
    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        struct mkperf_soft_thread thread = v->thread[i];
        if (thread.key != 0) {
            thread.key = mkperf_soft_identity(thread.key, thread.sc);
            v->thread[s->threads++] = thread;
        }
    }
}

static void put_edges(const struct mkperf_soft_stage *s, uint32_t first, mkperf_Interactions *out)
{
    for (uint32_t i = first; i < s->edges && out->edges_count < MKPERF_EDGE_PART; i++) {
        out->edges[out->edges_count++] = (mkperf_Edge){
            .from = mkperf_thread_to_wire(s->view.edge[i].from),
            .to = mkperf_thread_to_wire(s->view.edge[i].to),
            .calls = s->view.edge[i].count[0],
            .notifications = s->view.edge[i].count[1],
        };
    }
}

static void put_threads(const struct mkperf_soft_stage *s, uint32_t first, mkperf_Interactions *out)
{
    for (uint32_t i = first; i < s->threads && out->threads_count < MKPERF_EDGE_PART; i++) {
        mkperf_ThreadEvents *to = &out->threads[out->threads_count++];
        to->thread = mkperf_thread_to_wire(s->view.thread[i].key);
        to->count_count = MKPERF_SOFT_KINDS;
        for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
            to->count[kind] = s->view.thread[i].count[kind];
        }
        to->stack_least = s->view.thread[i].stack.least;
        to->stack_bottom = s->view.thread[i].stack.bottom;
        to->stack_top = s->view.thread[i].stack.top;
        to->stack_lowest = s->view.thread[i].stack.lowest;
    }
}

bool mkperf_soft_answer(struct mkperf_soft_stage *s, uint32_t part, mkperf_Interactions *out,
                        mkperf_Error *error)
{
    if (!s->on) {
        return mkperf_refuse(error, MKPERF_RESULT_STATE, 0,
                             "no session with software events was started");
    }
    if (part == 0) {
        take_view(s);
    }
    uint32_t rows = s->edges > s->threads ? s->edges : s->threads;
    uint32_t parts = rows <= MKPERF_EDGE_PART ? 1
                                              : (rows + MKPERF_EDGE_PART - 1) / MKPERF_EDGE_PART;
    if (part >= parts) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0, "no such part");
    }
    *out = (mkperf_Interactions){
        .enabled_ticks = s->enabled,
        .part = part,
        .parts = parts,
        .total_count = MKPERF_SOFT_KINDS,
        .records_dropped = s->view.records_dropped,
    };
    for (unsigned i = 0; i < MKPERF_SOFT_KINDS; i++) {
        out->total[i] = s->view.total[i];
    }
    put_edges(s, part * MKPERF_EDGE_PART, out);
    put_threads(s, part * MKPERF_EDGE_PART, out);
    return true;
}
