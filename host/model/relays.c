/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the selection of cores, and the samples of blocked threads that wait. See relays.h. */
#include "relays.h"

#include "figures.h"

/* ---- only_cores ---- */

static enum mkperf_status begin_cores(void *self, const struct mkperf_session *session,
                                      struct mkperf_error *e)
{
    const struct mkperf_only_cores *o = self;
    struct mkperf_session s = *session;

    s.core_mask = mkperf_session_cores(session) & (uint32_t)o->cores.bits[0];
    return mkperf_sink_begin(&o->to, &s, e);
}

static enum mkperf_status pass_sample_of_core(void *self, const struct mkperf_sample *s,
                                              struct mkperf_error *e)
{
    struct mkperf_only_cores *o = self;

    if (!mkperf_cpu_list_has(&o->cores, s->core)) {
        return MKPERF_OK;
    }
    o->samples += mkperf_sample_count(s);
    return mkperf_sink_sample(&o->to, s, e);
}

static enum mkperf_status pass_lost_of_core(void *self, const struct mkperf_lost *l,
                                            struct mkperf_error *e)
{
    struct mkperf_only_cores *o = self;

    if (l->core != MKPERF_CORE_UNKNOWN && !mkperf_cpu_list_has(&o->cores, l->core)) {
        o->dropped_lost[l->where] += l->samples;
        return MKPERF_OK;
    }
    return mkperf_sink_lost(&o->to, l, e);
}

static enum mkperf_status pass_event_of_core(void *self, const struct mkperf_sched *s,
                                             struct mkperf_error *e)
{
    struct mkperf_only_cores *o = self;

    if (!mkperf_cpu_list_has(&o->cores, s->core)) {
        o->dropped_events += s->kind != MKPERF_SCHED_GAP;
        return MKPERF_OK;
    }
    return mkperf_sink_sched(&o->to, s, e);
}

static enum mkperf_status pass_reading_of_core(void *self, const struct mkperf_queue_reading *r,
                                               struct mkperf_error *e)
{
    const struct mkperf_only_cores *o = self;

    return mkperf_cpu_list_has(&o->cores, r->core) ? mkperf_sink_queue_reading(&o->to, r, e)
                                                   : MKPERF_OK;
}

static enum mkperf_status end_cores(void *self, const struct mkperf_totals *totals,
                                    struct mkperf_error *e)
{
    const struct mkperf_only_cores *o = self;
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

struct mkperf_sink mkperf_only_cores_sink(struct mkperf_only_cores *o)
{
    static const struct mkperf_sink_ops ops = {
        .reads = true,
        .relays = true,
        .begin = begin_cores,
        .sample = pass_sample_of_core,
        .sched = pass_event_of_core,
        .queue_reading = pass_reading_of_core,
        .lost = pass_lost_of_core,
        .end = end_cores,
    };

    return o->cores.given ? (struct mkperf_sink){.ops = &ops, .self = o, .every_pd = o->to.every_pd}
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

static enum mkperf_status hold_sample(void *self, const struct mkperf_sample *s,
                                      struct mkperf_error *e)
{
    struct mkperf_off_cpu *o = self;

    if (s->event != o->event) {
        return mkperf_sink_sample(&o->to, s, e);
    }
    struct mkperf_blocked *b = blocked_pd(o, s->pd);
    omit_sample(o, b);
    b->waits = true;
    b->sampled_ns = s->time_ns;
    b->sample = *s;
    b->callers.n = s->callers->n;
    memcpy(b->callers.caller, s->callers->caller, s->callers->n * sizeof *b->callers.caller);
    return MKPERF_OK;
}

static enum mkperf_status pair_event(void *self, const struct mkperf_sched *s,
                                     struct mkperf_error *e)
{
    struct mkperf_off_cpu *o = self;

    if (s->kind == MKPERF_SCHED_GAP) {
        mkperf_off_cpu_close(o);
    } else if (s->kind == MKPERF_SCHED_SWITCH) {
        if (s->from != MKPERF_SCHED_NOBODY) {
            blocked_pd(o, s->from)->stopped_ns = s->time_ns;
        }
        struct mkperf_blocked *b = s->to < o->npds ? &o->pd[s->to] : NULL;
        if (b != NULL && b->waits &&
            (b->stopped_ns != b->sampled_ns || s->time_ns <= b->stopped_ns)) {
            omit_sample(o, b);
        } else if (b != NULL && b->waits) { /* the PD runs again: its sample is passed on */
            struct mkperf_sample held = b->sample;
            b->waits = false;
            held.time_ns = s->time_ns;
            held.period = s->time_ns - b->stopped_ns;
            held.callers = &b->callers;
            held.nreads = 0;
            MKPERF_TRY(mkperf_sink_sample(&o->to, &held, e));
        }
    }
    return mkperf_sink_sched(&o->to, s, e);
}

struct mkperf_sink mkperf_off_cpu_sink(struct mkperf_off_cpu *o)
{
    static const struct mkperf_sink_ops ops = {
        .reads = true,
        .relays = true,
        .sample = hold_sample,
        .sched = pair_event,
    };

    return (struct mkperf_sink){.ops = &ops, .self = o};
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
