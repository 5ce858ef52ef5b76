/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see tap.h. */
#include "tap.h"

#include <inttypes.h>
#include <string.h>

#include "model/figures.h"

static enum mkperf_status begin(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    export_kept_session(&t->kept, session);
    return mkperf_sink_begin(&t->to, session, e);
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    export_kept_events(&t->kept, session);
    return mkperf_sink_events(&t->to, session, e);
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    export_kept_pd(&t->kept, pd);
    return mkperf_sink_pd(&t->to, pd, e);
}

static enum mkperf_status print(const struct mkperf_tap *t, const struct mkperf_sample *s,
                                struct mkperf_error *e)
{
    const char *name = export_kept_name(&t->kept, s->pd);
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL;

    fprintf(t->print, "%s: time %" PRIu64 " cpu %" PRIu32 " period %" PRIu64 " %s 0x%" PRIx64, name,
            s->time_ns, s->core, s->period, kernel ? "kernel" : "ip",
            kernel ? s->kernel_pc : s->pc);
    for (unsigned i = 0; i < s->callers->n; i++) {
        fprintf(t->print, " < 0x%" PRIx64, s->callers->caller[i].addr);
    }
    if (fputc('\n', t->print) == EOF || ferror(t->print)) {
        return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "the summary cannot be printed");
    }
    return MKPERF_OK;
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    t->samples++;
    if (t->print != NULL && print(t, s, e) != MKPERF_OK) {
        return e->status;
    }
    return mkperf_sink_sample(&t->to, s, e);
}

static enum mkperf_status add_sched(void *self, const struct mkperf_sched *s,
                                    struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    t->events += s->kind != MKPERF_SCHED_GAP;
    return mkperf_sink_sched(&t->to, s, e);
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    if (l->where < MKPERF_LOST_PLACES) {
        t->lost[l->where] += l->samples;
    }
    return mkperf_sink_lost(&t->to, l, e);
}

static enum mkperf_status end(void *self, const struct mkperf_totals *totals,
                              struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        t->lost[i] = t->lost[i] > totals->lost[i] ? t->lost[i] : totals->lost[i];
    }
    t->ended = true;
    t->cut = totals->cut;
    if (t->warn != NULL) {
        struct mkperf_totals all = *totals;
        memcpy(all.lost, t->lost, sizeof all.lost); /* with what reports of losses said */
        export_kept_warnings(&t->kept, &all, t->warn, t->self);
    }
    return mkperf_sink_end(&t->to, totals, e);
}

struct mkperf_sink mkperf_tap_sink(struct mkperf_tap *t)
{
    static const struct mkperf_sink_ops ops = {
        .name = "tap",
        .reads = true,
        .relays = true,
        .begin = begin,
        .pd = add_pd,
        .events = add_events,
        .sample = add_sample,
        .sched = add_sched,
        .lost = add_lost,
        .end = end,
    };

    return (struct mkperf_sink){.ops = &ops, .self = t, .every_pd = t->to.every_pd};
}

uint64_t mkperf_tap_lost(const struct mkperf_tap *t)
{
    return mkperf_lost_sum(t->lost);
}

void mkperf_tap_free(struct mkperf_tap *t)
{
    export_kept_free(&t->kept);
}
