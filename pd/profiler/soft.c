/* SPDX-License-Identifier: BSD-2-Clause */
/* Software events in the profiler PD: see pipeline.h. */
#include "pipeline.h"

#include <mkperf/bits.h>
#include <mkperf/sched.h>

enum { STACK_PAGES = 4096 }; /* the largest stack that Microkit has */

static struct {
    bool on;        /* The last session had software events. */
    uint64_t ended; /* ticks; 0: the session runs */

    /* the snapshot, in the form of the answer: what all its parts have, and the rows to divide */
    mkperf_Interactions answer;
    uint32_t edges;
    uint32_t threads;
    mkperf_Edge edge[MKPERF_SOFT_EDGES];
    mkperf_ThreadEvents thread[MKPERF_COUNT_THREADS];
} soft;

bool mkperf_soft_prepare(void)
{
    soft.on = false;
    if (mkperf_plan.soft_mask != 0 && !mkperf_kernel_events()) {
        return mkperf_refuse(MKPERF_RESULT_NO_HOOK, 0,
                             "the kernel's mkperf extension has no software events (context "
                             "switches, faults, calls, notifications)");
    }
    mkperf_wanted()->soft_mask = mkperf_plan.soft_mask;
    soft.on = mkperf_plan.soft_mask != 0;
    soft.ended = 0;
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
static struct mkperf_counts_thread *stack_row(const struct mkperf_answer *a)
{
    uint64_t thread = mkperf_thread_of(a->badge, a->sc);

    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        struct mkperf_counts_thread *row = &mkperf_counts_table()->thread[i];
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

void mkperf_soft_ended(void)
{
    uint32_t cores = mkperf_plan.soft_mask & MKPERF_SOFT_STACKS ? mkperf_kernel.on : 0;

    soft.ended = soft.on ? mkperf_kernel_time() : 0;
    MKPERF_EACH_BIT (core, cores) {
        for (unsigned slot = 0; slot < MKPERF_SCHED_SLOTS; slot++) {
            struct mkperf_counts_thread *row =
                ask_page(core, slot, 0) ? stack_row(&mkperf_kernel.core[core].d->answer) : NULL;
            if (row != NULL && row->stack.least != 0 && row->stack.top == 0) {
                look_at_stack(core, slot, &row->stack);
            }
        }
    }
}

bool mkperf_soft_take(const uint64_t *record, unsigned size)
{
    if (mkperf_plan.counting || size != 8 * MKPERF_FAULT_WORDS) {
        return false;
    }
    uint64_t out[MKPERF_FAULT_WORDS];
    memcpy(out, record, sizeof out);
    out[MKPERF_WORD_THREAD] = mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
    uint64_t thread = mkperf_thread_to_wire(out[MKPERF_WORD_THREAD]);
    /* A fault of some threads ends a flight recording. */
    for (unsigned i = 0; i < mkperf_plan.request.dump_on_fault_count; i++) {
        if (mkperf_plan.request.dump_on_fault[i] == thread &&
            mkperf_status.trigger == mkperf_FlightTrigger_FLIGHT_STOP) {
            mkperf_status.trigger = mkperf_FlightTrigger_FLIGHT_FAULT;
            mkperf_status.trigger_thread = thread;
        }
    }
    mkperf_counts_table()->records_dropped += !mkperf_output_put(out, sizeof out, 0);
    return true;
}

/* Converts the used entries of the table into rows of the answer. */
static void take_snapshot(void)
{
    const struct mkperf_counts *table = mkperf_counts_table();
    uint64_t now = soft.ended != 0 ? soft.ended : mkperf_kernel_time();

    soft.edges = 0;
    soft.threads = 0;
    for (unsigned i = 0; i < MKPERF_SOFT_EDGES; i++) {
        const struct mkperf_soft_edge *e = &table->edge[i];
        if (e->from != 0) {
            soft.edge[soft.edges++] = (mkperf_Edge){
                .from = mkperf_thread_to_wire(mkperf_soft_identity(e->from, e->from_sc)),
                .to = mkperf_thread_to_wire(mkperf_soft_identity(e->to, e->to_sc)),
                .calls = e->count[0],
                .notifications = e->count[1],
            };
        }
    }
    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        const struct mkperf_counts_thread *t = &table->thread[i];
        if (t->key != 0) {
            mkperf_ThreadEvents *to = &soft.thread[soft.threads++];
            *to = (mkperf_ThreadEvents){
                .thread = mkperf_thread_to_wire(mkperf_soft_identity(t->key, t->sc)),
                .count_count = MKPERF_SOFT_KINDS,
                .stack_least = t->stack.least,
                .stack_bottom = t->stack.bottom,
                .stack_top = t->stack.top,
                .stack_lowest = t->stack.lowest,
            };
            memcpy(to->count, t->soft, sizeof t->soft);
        }
    }
    uint32_t rows = soft.edges > soft.threads ? soft.edges : soft.threads;
    soft.answer = (mkperf_Interactions){
        .enabled_ticks = mkperf_kernel_enabled(now),
        .parts = rows == 0 ? 1 : (rows + MKPERF_EDGE_PART - 1) / MKPERF_EDGE_PART,
        .total_count = MKPERF_SOFT_KINDS,
        .records_dropped = table->records_dropped,
    };
    memcpy(soft.answer.total, table->total, sizeof table->total);
}

bool mkperf_soft_answer(uint32_t part, mkperf_Interactions *out)
{
    if (!soft.on) {
        return mkperf_refuse(MKPERF_RESULT_STATE, 0, "no session with software events was started");
    }
    if (part == 0) {
        take_snapshot();
    }
    if (part >= soft.answer.parts) {
        return mkperf_refuse(MKPERF_RESULT_RANGE, 0, "no such part");
    }
    *out = soft.answer;
    out->part = part;
    uint32_t end = (part + 1) * MKPERF_EDGE_PART;
    for (uint32_t i = end - MKPERF_EDGE_PART; i < end; i++) {
        if (i < soft.edges) {
            out->edges[out->edges_count++] = soft.edge[i];
        }
        if (i < soft.threads) {
            out->threads[out->threads_count++] = soft.thread[i];
        }
    }
    return true;
}
