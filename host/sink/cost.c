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
