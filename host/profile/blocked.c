/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see blocked.h. */
#include "blocked.h"

#include <inttypes.h>
#include <stdio.h>

/* What a PD waited for, in a sample's kernel_pc: state, kind of what woke it, interrupt, other PD. */
enum { STATE_SHIFT = 56, KIND_SHIFT = 48, IRQ_SHIFT = 32, IRQS = 0xffff };

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
    if (b->failed->status == MKPERF_OK) {
        (void)b->add(b->self, &s, b->failed);
    }
}

static void on_woken(void *self, const struct mkperf_woken *w)
{
    ((struct mkperf_blocked_source *)self)->woken = *w;
}

void mkperf_blocked_attach(struct mkperf_blocked_source *b, struct mkperf_analysis *a)
{
    b->woken.to = MKPERF_SCHED_NOBODY;
    mkperf_analysis_listen(a, (struct mkperf_analysis_listener){
                                  .interval = on_interval, .woken = on_woken, .self = b});
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
