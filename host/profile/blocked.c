/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see blocked.h. */
#include "blocked.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "model/off_cpu.h"
#include "sched/analysis.h"

/* What a PD waited for, in a sample's kernel_pc: state, kind of what woke it, interrupt, other PD. */
enum { STATE_SHIFT = 56, KIND_SHIFT = 48, IRQ_SHIFT = 32, IRQS = 0xffff };

struct mkperf_blocked_source {
    struct mkperf_sink to;            /* first: it relays */
    struct mkperf_analysis *analysis; /* NULL: the recording has samples */
    uint32_t event;                   /* of these */
    struct mkperf_woken woken;        /* the last one */
    struct mkperf_error failed;
};

static uint64_t what_of(const struct mkperf_blocked_source *b, const struct mkperf_interval *i)
{
    const struct mkperf_woken *w = &b->woken;
    bool known = i->state == MKPERF_PD_WAITING && w->to == i->pd && w->time == i->to;
    uint64_t kind = known ? w->kind : MKPERF_SCHED_SWITCH, irq = known ? w->irq & IRQS : 0;

    return (uint64_t)i->state << STATE_SHIFT | kind << KIND_SHIFT | irq << IRQ_SHIFT |
           (known ? w->from : i->by);
}

static void on_interval(void *self, const struct mkperf_interval *i)
{
    static const struct mkperf_chain none = {.n = 0};
    struct mkperf_blocked_source *b = self;
    struct mkperf_sample s = {.time_ns = i->to,
                              .period = i->to - i->from,
                              .pd = i->pd,
                              .core = i->core,
                              .flags = MKPERF_SAMPLE_NO_USER | MKPERF_SAMPLE_BLOCKED,
                              .callers = &none};

    if (i->state != MKPERF_PD_CALLING && i->state != MKPERF_PD_WAITING &&
        i->state != MKPERF_PD_THROTTLED && i->state != MKPERF_PD_STOPPED) {
        return;
    }
    s.kernel_pc = what_of(b, i);
    if (b->failed.status == MKPERF_OK) {
        (void)mkperf_sink_sample(&b->to, &s, &b->failed);
    }
}

static void on_woken(void *self, const struct mkperf_woken *w)
{
    ((struct mkperf_blocked_source *)self)->woken = *w;
}

static enum mkperf_status begin(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e)
{
    struct mkperf_blocked_source *b = self;
    struct mkperf_session made = *session;

    b->event = mkperf_off_cpu_event(session);
    if (b->event < MKPERF_MODEL_EVENTS) {
        return mkperf_sink_begin(&b->to, session, e);
    }
    if (!session->sched) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "neither samples of blocked threads nor scheduling events were "
                                "recorded (mkperf record --off-cpu)");
    }
    b->analysis = mkperf_analysis_new();
    b->analysis->order.cores = session->cores;
    b->analysis->on_interval = on_interval;
    b->analysis->on_woken = on_woken;
    b->analysis->self = b;
    made.nevents = 1;
    made.event[0] = (struct mkperf_event){.user = true, .kernel = true, .period = 1};
    snprintf(made.event[0].name, sizeof made.event[0].name, "%s", MKPERF_OFF_CPU_EVENT);
    return mkperf_sink_begin(&b->to, &made, e);
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_blocked_source *b = self;

    if (b->analysis != NULL) {
        mkperf_analysis_pd(b->analysis, pd);
    }
    return mkperf_sink_pd(&b->to, pd, e);
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct mkperf_blocked_source *b = self;

    return b->analysis != NULL ? MKPERF_OK : mkperf_sink_events(&b->to, session, e);
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct mkperf_blocked_source *b = self;

    return b->analysis == NULL && s->event == b->event ? mkperf_sink_sample(&b->to, s, e)
                                                       : MKPERF_OK;
}

static enum mkperf_status add_sched(void *self, const struct mkperf_sched *s,
                                    struct mkperf_error *e)
{
    struct mkperf_blocked_source *b = self;

    if (b->analysis == NULL) {
        return mkperf_sink_sched(&b->to, s, e);
    }
    mkperf_analysis_event(b->analysis, s);
    if (b->failed.status != MKPERF_OK) {
        *e = b->failed;
        return e->status;
    }
    return mkperf_sink_sched(&b->to, s, e);
}

static enum mkperf_status end(void *self, const struct mkperf_totals *t, struct mkperf_error *e)
{
    struct mkperf_blocked_source *b = self;

    if (b->analysis != NULL) {
        mkperf_analysis_end(b->analysis);
    }
    if (b->failed.status != MKPERF_OK) {
        *e = b->failed;
        return e->status;
    }
    return mkperf_sink_end(&b->to, t, e);
}

struct mkperf_blocked_source *mkperf_blocked_new(struct mkperf_sink to)
{
    struct mkperf_blocked_source *b = mkperf_xcalloc(1, sizeof *b);

    b->to = to;
    b->failed.status = MKPERF_OK;
    b->woken.to = MKPERF_SCHED_NOBODY;
    return b;
}

void mkperf_blocked_free(struct mkperf_blocked_source *b)
{
    if (b != NULL) {
        mkperf_analysis_free(b->analysis);
    }
    free(b);
}

struct mkperf_sink mkperf_blocked_sink(struct mkperf_blocked_source *b)
{
    static const struct mkperf_sink_ops ops = {
        .name = "off-CPU",
        .reads = true,
        .relays = true,
        .begin = begin,
        .pd = add_pd,
        .events = add_events,
        .sample = add_sample,
        .sched = add_sched,
        .end = end,
    };

    return (struct mkperf_sink){.ops = &ops, .self = b, .leaves_only = b->to.leaves_only};
}

bool mkperf_blocked_made(const struct mkperf_blocked_source *b)
{
    return b->analysis != NULL;
}

uint64_t mkperf_blocked_runs(void)
{
    return (uint64_t)MKPERF_PD_RUNNING << STATE_SHIFT;
}

void mkperf_blocked_text(uint64_t what, const char *(*name_of)(const void *self, uint32_t pd),
                         const void *self, char text[MKPERF_BLOCKED_TEXT])
{
    enum mkperf_pd_state state = (enum mkperf_pd_state)(what >> STATE_SHIFT);
    enum mkperf_sched_kind kind = (enum mkperf_sched_kind)(what >> KIND_SHIFT & 0xff);
    uint32_t pd = (uint32_t)what;
    const char *by = pd != MKPERF_SCHED_NOBODY ? name_of(self, pd) : "?";

    if (state == MKPERF_PD_RUNNING) {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[runs]");
    } else if (state == MKPERF_PD_CALLING) {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[calls %s]", by);
    } else if (state == MKPERF_PD_THROTTLED) {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[budget used up]");
    } else if (state == MKPERF_PD_STOPPED) {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[stopped]");
    } else if (kind == MKPERF_SCHED_IRQ) {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[waits for interrupt %" PRIu64 "]",
                 what >> IRQ_SHIFT & IRQS);
    } else if (kind == MKPERF_SCHED_NOTIFY) {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[waits for a notification of %s]", by);
    } else if (kind == MKPERF_SCHED_CALL) {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[waits for a call of %s]", by);
    } else {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[waits]");
    }
}
