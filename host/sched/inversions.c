/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: priority inversions, see analysis.h: intervals in which a PD that serves a call is ready, and
 * one runs on its core whose priority is below that of a caller that waits. They are known only for
 * PDs with known priorities.
 */
#include "analysis_internal.h"
#include "base/xalloc.h"

enum { CALLERS = 64 }; /* that a chain of calls is followed up */

/* The PD of the highest priority that waits for what pd serves; NOBODY. */
static uint32_t highest_caller(const struct mkperf_analysis *a, uint32_t pd)
{
    uint32_t high = MKPERF_SCHED_NOBODY, at = a->pd[pd].serving;

    for (unsigned i = 0; i < CALLERS && at < a->npds; i++, at = a->pd[at].serving) {
        const struct mkperf_scheduling *s = &a->pd[at].scheduling;

        if (s->known &&
            (high == MKPERF_SCHED_NOBODY || s->priority > a->pd[high].scheduling.priority)) {
            high = at;
        }
    }
    return high;
}

static void add(struct mkperf_analysis *a, uint32_t high, uint32_t holder, uint32_t runner,
                uint64_t from, uint64_t to)
{
    struct mkperf_inversion *v = a->inversion;
    unsigned i = 0;

    if (to <= from) {
        return;
    }
    while (i < a->ninversions &&
           (v[i].high != high || v[i].holder != holder || v[i].runner != runner)) {
        i++;
    }
    if (i == a->ninversions) {
        MKPERF_GROW(a->inversion, a->inversion_room, a->ninversions + 1);
        a->inversion[a->ninversions++] =
            (struct mkperf_inversion){.high = high, .holder = holder, .runner = runner};
    }
    v = &a->inversion[i];
    v->count++;
    v->total += to - from;
    if (to - from > v->worst) {
        v->worst = to - from;
        v->worst_from = from;
    }
}

static bool below(const struct mkperf_analysis *a, uint32_t runner, uint32_t high)
{
    return sched_is_pd(a, runner) && a->pd[runner].scheduling.known && runner != high &&
           a->pd[runner].scheduling.priority < a->pd[high].scheduling.priority;
}

void sched_inversions_end(struct mkperf_analysis *a, uint32_t core, uint64_t now)
{
    for (uint32_t i = 0; i < a->npds; i++) {
        struct mkperf_sched_pd *p = &a->pd[i];

        if (p->inverted && p->core == core) {
            p->inverted = false;
            add(a, p->inverted_high, i, a->core[core].running, p->inverted_at, now);
        }
    }
}

void sched_inversions_begin(struct mkperf_analysis *a, uint32_t core, uint64_t now)
{
    uint32_t runner = core < a->ncores ? a->core[core].running : MKPERF_SCHED_NOBODY;

    for (uint32_t i = 0; i < a->npds && sched_is_pd(a, runner); i++) {
        struct mkperf_sched_pd *p = &a->pd[i];

        if (p->state != MKPERF_PD_READY || p->core != core || p->inverted || i == runner) {
            continue;
        }
        uint32_t high = highest_caller(a, i);
        if (high != MKPERF_SCHED_NOBODY && below(a, runner, high)) {
            p->inverted = true;
            p->inverted_high = high;
            p->inverted_at = now;
        }
    }
}

void sched_inversions_past(struct mkperf_analysis *a, uint32_t from, uint32_t callee,
                           uint64_t since, uint64_t now)
{
    const struct mkperf_sched_pd *p = &a->pd[callee];
    unsigned n = p->readies < MKPERF_READY_KEPT ? p->readies : MKPERF_READY_KEPT;

    if (!a->pd[from].scheduling.known) {
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t begin = p->ready[i].from > since ? p->ready[i].from : since;
        uint64_t end = p->ready[i].to < now ? p->ready[i].to : now;

        if (below(a, p->ready[i].by, from)) {
            add(a, from, callee, p->ready[i].by, begin, end);
        }
    }
}
