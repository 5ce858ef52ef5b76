/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see cost.h. */
#include "cost.h"

bool mkperf_cost_kernel_known(const struct mkperf_stack *s)
{
    return s->capture != 0;
}

bool mkperf_cost_pds_known(const struct mkperf_stack *s)
{
    for (uint32_t i = 0; i < s->npds; i++) {
        if (s->pd[i].profiler) {
            return true;
        }
    }
    return false;
}

void mkperf_cost_add(struct mkperf_cost *c, const struct mkperf_stack *s, uint32_t event,
                     uint32_t pd, uint32_t leaf, uint64_t period)
{
    const struct mkperf_place *p = &s->place[leaf];
    const struct mkperf_function *f = &s->function[s->frame[p->first + p->nframes - 1].function];

    if (event >= MKPERF_MODEL_EVENTS) {
        return;
    }
    if (p->kernel && s->capture != 0 && f->known && f->start == s->capture) {
        c->kernel[event] += period;
    } else if (pd < s->npds && s->pd[pd].profiler) {
        c->pds[event] += period;
    }
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

void mkperf_cost_text(const struct mkperf_cost *c, const struct mkperf_stack *s, uint32_t event,
                      uint64_t all, char *text, size_t n)
{
    bool kernel = mkperf_cost_kernel_known(s), pds = mkperf_cost_pds_known(s);
    char room[32], of_kernel[32] = "unknown", of_pds[48] = "no samples, or unknown";

    if (!kernel && !pds) {
        snprintf(text, n, "unknown, no ELF of the profiler");
        return;
    }
    if (kernel) {
        snprintf(of_kernel, sizeof of_kernel, "%.2f %%", percent(c->kernel[event], all));
    }
    if (pds) {
        /* Too little: they run right after samples, and have few themselves (docs/accuracy.md). */
        snprintf(of_pds, sizeof of_pds, "at least %.2f %%", percent(c->pds[event], all));
    }
    snprintf(text, n, "%.2f %% of %s (kernel: %s, PDs: %s)",
             percent(c->kernel[event] + c->pds[event], all),
             mkperf_stack_event_name(s, event, room), of_kernel, of_pds);
}
