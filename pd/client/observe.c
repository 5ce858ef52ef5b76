/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Observe: what the timer's samples are attributed by, from the host to the profiler PD.
 *
 * Owns: the translation. Called by control.c for the controller. Nothing is checked here but what
 * nanopb bounds: the profiler PD does that.
 */
#include "../lib/text.h"
#include "control.h"

static void fill(struct mkperf_observe_part *part, const mkperf_Observe *m)
{
    uint64_t site = 0;

    part->part = m->part;
    part->child = m->child;
    part->slot = m->slot;
    part->thread = m->thread - 2;
    part->priority = m->priority;
    part->limited = m->limited;
    part->sites = m->site_count;
    for (unsigned i = 0; i < m->site_count; i++) {
        site += m->site[i];
        part->site[i] = site * 4;
    }
    part->windows = m->stack_count;
    for (unsigned i = 0; i < m->stack_count; i++) {
        part->window[i] = (struct mkperf_observe_window){
            .theirs = m->stack[i].theirs, .ours = m->stack[i].ours, .bytes = m->stack[i].bytes};
    }
}

void mkperf_client_observe(struct mkperf_client *c, unsigned who, uint32_t request,
                           const mkperf_Observe *m)
{
    fill(&c->page->observe, m);
    uint32_t result = c->call(MKPERF_OP_OBSERVE);
    if (result != MKPERF_RESULT_OK) {
        mkperf_report_refusal(c, who, request, result);
    } else if (m->part == 0) {
        mkperf_report_observer(c, who, request);
    } else {
        mkperf_report_ack(c, who, request);
    }
}
