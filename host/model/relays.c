/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the selection of cores, and the samples of blocked threads that wait. See relays.h. */
#include "relays.h"

#include "figures.h"

/* ---- only_cores ---- */

static enum mkperf_status end_cores(const struct mkperf_only_cores *o,
                                    const struct mkperf_totals *totals, struct mkperf_error *e)
{
    struct mkperf_totals t = *totals;

    t.samples = o->samples;
    t.sched_events -= o->dropped_events;
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        t.lost[i] -= o->dropped_lost[i] < t.lost[i] ? o->dropped_lost[i] : t.lost[i];
    }
    for (unsigned i = 0; i < t.ncores; i++) {
        if (!mkperf_cpu_list_has(&o->cores, i)) {
            t.core[i] = (struct mkperf_core){.samples = 0};
        }
    }
    return mkperf_sink_end(&o->to, &t, e);
}

static enum mkperf_status pass_cores(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    struct mkperf_only_cores *o = self;
    struct mkperf_session s;
    bool passes = true;

    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        s = *item->session;
        s.core_mask = mkperf_session_cores(&s) & (uint32_t)o->cores.bits[0];
        return mkperf_sink_begin(&o->to, &s, e);
    case MKPERF_ITEM_SAMPLE:
        passes = mkperf_cpu_list_has(&o->cores, item->sample->core);
        o->samples += passes ? mkperf_sample_count(item->sample) : 0;
        break;
    case MKPERF_ITEM_SCHED:
        passes = mkperf_cpu_list_has(&o->cores, item->sched->core);
        o->dropped_events += !passes && item->sched->kind != MKPERF_SCHED_GAP;
        break;
    case MKPERF_ITEM_READING:
        passes = mkperf_cpu_list_has(&o->cores, item->reading->core);
        break;
    case MKPERF_ITEM_LOST:
        passes = item->lost->core == MKPERF_CORE_UNKNOWN ||
                 mkperf_cpu_list_has(&o->cores, item->lost->core);
        o->dropped_lost[item->lost->where] += passes ? 0 : item->lost->samples;
        break;
    case MKPERF_ITEM_END:
        return end_cores(o, item->totals, e);
    default:
        break;
    }
    return passes ? mkperf_sink_put(&o->to, item, e) : MKPERF_OK;
}

struct mkperf_sink mkperf_only_cores_sink(struct mkperf_only_cores *o)
{
    return o->cores.given
               ? (struct mkperf_sink){.take = pass_cores, .self = o, .every_pd = o->to.every_pd}
               : o->to;
}

/* ---- off_cpu ---- */

uint32_t mkperf_off_cpu_event(const struct mkperf_session *session)
{
    uint32_t i = 0;

    while (i < session->nevents && strcmp(session->event[i].name, MKPERF_OFF_CPU_EVENT) != 0) {
        i++;
    }
    return i < session->nevents ? i : MKPERF_MODEL_EVENTS;
}

static struct mkperf_blocked *blocked_pd(struct mkperf_off_cpu *o, uint32_t pd)
{
    MKPERF_GROW(o->pd, o->room, (size_t)pd + 1);
    o->npds = pd >= o->npds ? pd + 1 : o->npds;
    return &o->pd[pd];
}

/* Drops a held sample and counts it. */
static void omit_sample(struct mkperf_off_cpu *o, struct mkperf_blocked *b)
{
    if (b->waits) {
        b->waits = false;
        o->totals->off_cpu_unpaired++;
        o->totals->samples--;
        if (b->sample.core < MKPERF_MAX_CORES) {
            o->totals->core[b->sample.core].samples--;
        }
    }
}

static void hold_sample(struct mkperf_off_cpu *o, const struct mkperf_sample *s)
{
    struct mkperf_blocked *b = blocked_pd(o, s->pd);

    omit_sample(o, b);
    b->waits = true;
    b->sampled_ns = s->time_ns;
    b->sample = *s;
    b->callers.n = s->callers->n;
    memcpy(b->callers.caller, s->callers->caller, s->callers->n * sizeof *b->callers.caller);
}

/* Passes on the sample of a PD that runs again. */
static enum mkperf_status pair_switch(struct mkperf_off_cpu *o, const struct mkperf_sched *s,
                                      struct mkperf_error *e)
{
    if (s->from != MKPERF_SCHED_NOBODY) {
        blocked_pd(o, s->from)->stopped_ns = s->time_ns;
    }
    struct mkperf_blocked *b = s->to < o->npds ? &o->pd[s->to] : NULL;
    if (b == NULL || !b->waits) {
        return MKPERF_OK;
    }
    if (b->stopped_ns != b->sampled_ns || s->time_ns <= b->stopped_ns) {
        omit_sample(o, b);
        return MKPERF_OK;
    }
    struct mkperf_sample held = b->sample;
    b->waits = false;
    held.time_ns = s->time_ns;
    held.period = s->time_ns - b->stopped_ns;
    held.callers = &b->callers;
    held.nreads = 0;
    return mkperf_sink_sample(&o->to, &held, e);
}

static enum mkperf_status pair_off_cpu(void *self, const struct mkperf_item *item,
                                       struct mkperf_error *e)
{
    struct mkperf_off_cpu *o = self;

    if (item->kind == MKPERF_ITEM_SAMPLE && item->sample->event == o->event) {
        hold_sample(o, item->sample);
        return MKPERF_OK;
    }
    if (item->kind == MKPERF_ITEM_SCHED && item->sched->kind == MKPERF_SCHED_GAP) {
        mkperf_off_cpu_close(o);
    } else if (item->kind == MKPERF_ITEM_SCHED && item->sched->kind == MKPERF_SCHED_SWITCH) {
        MKPERF_TRY(pair_switch(o, item->sched, e));
    }
    return mkperf_sink_put(&o->to, item, e);
}

struct mkperf_sink mkperf_off_cpu_sink(struct mkperf_off_cpu *o)
{
    return (struct mkperf_sink){.take = pair_off_cpu, .self = o};
}

void mkperf_off_cpu_close(struct mkperf_off_cpu *o)
{
    for (uint32_t i = 0; i < o->npds; i++) {
        omit_sample(o, &o->pd[i]);
    }
}

void mkperf_off_cpu_free(struct mkperf_off_cpu *o)
{
    free(o->pd);
    o->pd = NULL;
    o->npds = o->room = 0;
}
