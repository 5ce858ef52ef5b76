/* SPDX-License-Identifier: BSD-2-Clause */
/* The cost of profiling, see places.h. */
#include "places.h"

/* Returns the number of the event `timer`; nevents: there is none. */
static uint32_t timer_of(const struct mkperf_places *s)
{
    const struct mkperf_event *all = s->session.event;
    uint32_t i = 0;

    while (i < s->session.nevents &&
           (all[i].code != MKPERF_TIMER_CODE || strcmp(all[i].name, "timer") != 0)) {
        i++;
    }
    return i;
}

static bool with_timer(const struct mkperf_places *s)
{
    return timer_of(s) < s->session.nevents;
}

void mkperf_cost_snapshots(struct mkperf_cost *c, const struct mkperf_places *s, uint64_t us)
{
    if (with_timer(s)) {
        c->snapshots_us = us;
        c->pds[timer_of(s)] += us;
    }
}

bool mkperf_cost_kernel_known(const struct mkperf_places *s)
{
    return s->capture != 0 && !with_timer(s);
}

bool mkperf_cost_pds_known(const struct mkperf_cost *c, const struct mkperf_places *s,
                           uint32_t event)
{
    if (with_timer(s)) {
        return event == timer_of(s) && c->snapshots_us != 0;
    }
    for (uint32_t i = 0; i < s->npds; i++) {
        if (s->pd[i].profiler) {
            return true;
        }
    }
    return false;
}

void mkperf_cost_add(struct mkperf_cost *c, const struct mkperf_places *s, uint32_t event,
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

void mkperf_cost_text(const struct mkperf_cost *c, const struct mkperf_places *s, uint32_t event,
                      uint64_t all, char *text, size_t n)
{
    bool kernel = mkperf_cost_kernel_known(s), pds = mkperf_cost_pds_known(c, s, event);
    char room[32], of_kernel[32] = "unknown", of_pds[48] = "no samples, or unknown";

    if (with_timer(s) && !pds) {
        snprintf(text, n,
                 event == timer_of(s) ? "unknown, the recording does not have it"
                                      : "unknown, not counted while the profiler PD works");
        return;
    }
    if (with_timer(s)) {
        snprintf(text, n, "at least %.2f %% of %s (profiler PD at its interrupts %.2f %%)",
                 mkperf_percent(c->pds[event], all), mkperf_places_event_name(s, event, room),
                 mkperf_percent(c->snapshots_us, all));
        return;
    }
    if (!kernel && !pds) {
        snprintf(text, n, "unknown, no ELF of the profiler");
        return;
    }
    if (kernel) {
        snprintf(of_kernel, sizeof of_kernel, "%.2f %%", mkperf_percent(c->kernel[event], all));
    }
    if (pds) {
        /* It is too small: they run right after samples, so few samples hit them (docs/accuracy.md). */
        snprintf(of_pds, sizeof of_pds, "at least %.2f %%", mkperf_percent(c->pds[event], all));
    }
    snprintf(text, n, "%.2f %% of %s (kernel: %s, PDs: %s)",
             mkperf_percent(c->kernel[event] + c->pds[event], all),
             mkperf_places_event_name(s, event, room), of_kernel, of_pds);
}
