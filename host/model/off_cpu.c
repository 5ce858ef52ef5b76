/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see off_cpu.h. */
#include "off_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

uint32_t mkperf_off_cpu_event(const struct mkperf_session *session)
{
    uint32_t i = 0;

    while (i < session->nevents && strcmp(session->event[i].name, MKPERF_OFF_CPU_EVENT) != 0) {
        i++;
    }
    return i < session->nevents ? i : MKPERF_MODEL_EVENTS;
}

static struct mkperf_blocked *blocked(struct mkperf_off_cpu *o, uint32_t pd)
{
    MKPERF_GROW(o->pd, o->room, (size_t)pd + 1);
    o->npds = pd >= o->npds ? pd + 1 : o->npds;
    return &o->pd[pd];
}

static void leave_out(struct mkperf_off_cpu *o, struct mkperf_blocked *b)
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

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct mkperf_off_cpu *o = self;

    if (s->event != o->event) {
        return mkperf_sink_sample(&o->to, s, e);
    }
    struct mkperf_blocked *b = blocked(o, s->pd);
    leave_out(o, b);
    b->waits = true;
    b->sampled_ns = s->time_ns;
    b->sample = *s;
    b->callers.n = s->callers->n;
    memcpy(b->callers.caller, s->callers->caller, s->callers->n * sizeof *b->callers.caller);
    return MKPERF_OK;
}

/* The PD runs again. */
static enum mkperf_status release(struct mkperf_off_cpu *o, struct mkperf_blocked *b, uint64_t now,
                                  struct mkperf_error *e)
{
    if (b->stopped_ns != b->sampled_ns || now <= b->stopped_ns) {
        leave_out(o, b);
        return MKPERF_OK;
    }
    b->waits = false;
    struct mkperf_sample s = b->sample;
    s.time_ns = now;
    s.period = now - b->stopped_ns;
    s.callers = &b->callers;
    s.nreads = 0;
    return mkperf_sink_sample(&o->to, &s, e);
}

static enum mkperf_status add_sched(void *self, const struct mkperf_sched *s,
                                    struct mkperf_error *e)
{
    struct mkperf_off_cpu *o = self;

    if (s->kind == MKPERF_SCHED_GAP) {
        mkperf_off_cpu_close(o);
    } else if (s->kind == MKPERF_SCHED_SWITCH) {
        if (s->from != MKPERF_SCHED_NOBODY) {
            blocked(o, s->from)->stopped_ns = s->time_ns;
        }
        if (s->to < o->npds && o->pd[s->to].waits &&
            release(o, &o->pd[s->to], s->time_ns, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return mkperf_sink_sched(&o->to, s, e);
}

struct mkperf_sink mkperf_off_cpu_sink(struct mkperf_off_cpu *o)
{
    static const struct mkperf_sink_ops ops = {
        .name = "off-CPU",
        .reads = true,
        .relays = true,
        .sample = add_sample,
        .sched = add_sched,
    };

    return (struct mkperf_sink){.ops = &ops, .self = o};
}

void mkperf_off_cpu_close(struct mkperf_off_cpu *o)
{
    for (uint32_t i = 0; i < o->npds; i++) {
        leave_out(o, &o->pd[i]);
    }
}

void mkperf_off_cpu_free(struct mkperf_off_cpu *o)
{
    free(o->pd);
    o->pd = NULL;
    o->npds = o->room = 0;
}
