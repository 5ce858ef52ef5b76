/* SPDX-License-Identifier: BSD-2-Clause */
/* The windows of a domain schedule, see analysis.h. */
#include "analysis_internal.h"

static const struct mkperf_shape_row window_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_domain_window, pd, npds, room, NULL), MKPERF_SHAPE_END};

static const struct mkperf_shape_row domains_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_domains, window, n, room, window_rows),
    MKPERF_SHAPE_BYTES(struct mkperf_domains, frame_ns, ended), MKPERF_SHAPE_END};

static struct mkperf_domain_window *add_window(struct mkperf_domains *d, uint32_t number)
{
    MKPERF_GROW(d->window, d->room, d->n + 1);
    d->window[d->n] = (struct mkperf_domain_window){.number = number,
                                                    .domain = "?",
                                                    .least_ns = UINT64_MAX,
                                                    .least_slack_ns = UINT64_MAX,
                                                    .least_interval_ns = UINT64_MAX};
    return &d->window[d->n++];
}

/* Returns the index of a window; the first call lists those of the schedule. */
static unsigned window_of(struct mkperf_domains *d, uint32_t number)
{
    const struct mkperf_analysis *a = d->analysis;
    bool first = d->n == 0, known = a->nwindows != 0;

    for (unsigned i = 0; first && i < a->nwindows; i++) {
        struct mkperf_domain_window *w = add_window(d, a->window[i].number);
        memcpy(w->domain, a->window[i].domain, sizeof w->domain);
        w->duration_ns = a->window[i].us * 1000;
        d->frame_ns += w->duration_ns;
        known = known && w->duration_ns != 0;
    }
    if (!known) {
        d->frame_ns = 0;
    }
    for (unsigned i = 0; i < d->n; i++) {
        if (d->window[i].number == number) {
            return i;
        }
    }
    add_window(d, number);
    return d->n - 1;
}

static struct mkperf_domain_pd *pd_of(struct mkperf_domain_window *w, uint32_t pd)
{
    return SCHED_ITEM(w->pd, w->npds, w->room, pd);
}

static void on_core(void *self, const struct mkperf_core_interval *i)
{
    struct mkperf_domains *d = self;

    if (d->open == 0 || i->pd >= d->analysis->npds) {
        return;
    }
    struct mkperf_domain_window *w = &d->window[d->open - 1];
    if (d->analysis->pd[i->pd].idle) {
        w->now_ns += i->to - i->from;
    } else {
        pd_of(w, i->pd)->now_ns += i->to - i->from;
    }
}

static void on_event(void *self, const struct mkperf_sched *s)
{
    struct mkperf_domains *d = self;

    if (s->kind == MKPERF_SCHED_GAP) { /* the open window is not whole: events are missing */
        for (unsigned i = 0; i < d->n; i++) {
            struct mkperf_domain_window *w = &d->window[i];
            w->began = w->now_ns = 0;
            for (unsigned k = 0; k < w->npds; k++) {
                w->pd[k].now_ns = 0;
            }
        }
        d->open = d->ended = 0;
    } else if (s->kind == MKPERF_SCHED_WINDOW) {
        uint32_t running = d->analysis->core[s->core].running;
        unsigned at = window_of(d, s->irq);
        if (d->open != 0) { /* adds the window that ends now */
            struct mkperf_domain_window *w = &d->window[d->open - 1];
            uint64_t length = s->time_ns - w->began;

            w->count++;
            w->length_ns += length;
            w->least_ns = length < w->least_ns ? length : w->least_ns;
            w->most_ns = length > w->most_ns ? length : w->most_ns;
            w->slack_ns += w->now_ns;
            w->least_slack_ns = w->now_ns < w->least_slack_ns ? w->now_ns : w->least_slack_ns;
            w->now_ns = 0;
            if (w->duration_ns != 0 && length > w->duration_ns + w->over_ns) {
                w->over_ns = length - w->duration_ns;
                w->over_at = s->time_ns;
                w->over_pd = running;
            }
            for (unsigned i = 0; i < w->npds; i++) {
                struct mkperf_domain_pd *p = &w->pd[i];
                p->used_ns += p->now_ns;
                p->most_ns = p->now_ns > p->most_ns ? p->now_ns : p->most_ns;
                p->now_ns = 0;
                p->cut += d->analysis->pd[p->pd].state == MKPERF_PD_READY;
            }
        }
        d->ended = d->open;
        d->ended_ns = s->time_ns;
        d->ended_pd = running;
        struct mkperf_domain_window *w = &d->window[at];
        if (w->began != 0) {
            uint64_t ns = s->time_ns - w->began;
            w->intervals++;
            w->interval_ns += ns;
            w->least_interval_ns = ns < w->least_interval_ns ? ns : w->least_interval_ns;
            w->most_interval_ns = ns > w->most_interval_ns ? ns : w->most_interval_ns;
        }
        w->began = s->time_ns;
        d->open = at + 1;
    } else if (s->kind == MKPERF_SCHED_SWITCH && s->time_ns == d->ended_ns && d->ended != 0 &&
               s->reason == MKPERF_STOPPED_PREEMPTED && s->from == d->ended_pd) {
        pd_of(&d->window[d->ended - 1], s->from)->cut++; /* it ran until its window ended */
    }
}

void mkperf_domains_attach(struct mkperf_domains *d, struct mkperf_analysis *a)
{
    d->analysis = a;
    mkperf_analysis_listen(
        a, (struct mkperf_analysis_listener){.core = on_core, .event = on_event, .self = d});
}

void mkperf_domains_free(struct mkperf_domains *d)
{
    mkperf_shape_free(domains_rows, d);
    *d = (struct mkperf_domains){.n = 0};
}

enum mkperf_status mkperf_demand_read(struct mkperf_demand *d, struct mkperf_domains *domains,
                                      struct mkperf_analysis *a, const char *path,
                                      struct mkperf_error *e)
{
    const struct mkperf_question question = {
        .text = mkperf_xprintf("budget %" PRIu64, d->default_ns),
        .kept = {{d, sched_demand_rows}, {domains, domains_rows}},
        .conclude = sched_demand_conclude,
        .self = d,
    };

    MKPERF_TRY(mkperf_analysis_read(a, mkperf_analysis_sink(a), path, &question, e));
    sched_demand_conclude(d); /* also without a snapshot */
    return MKPERF_OK;
}
