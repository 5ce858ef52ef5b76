/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see tap.h. */
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/figures.h"

static enum mkperf_status begin(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    return t->to.ops->begin != NULL ? t->to.ops->begin(t->to.self, session, e) : MKPERF_OK;
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    if (t->print != NULL && pd->id >= t->npds) {
        char **name = reallocarray(t->name, (size_t)pd->id + 1, sizeof *name);
        if (name == NULL) {
            return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
        }
        t->name = name;
        while (t->npds <= pd->id) {
            t->name[t->npds++] = NULL;
        }
        t->name[pd->id] = strdup(pd->name);
    }
    return t->to.ops->pd != NULL ? t->to.ops->pd(t->to.self, pd, e) : MKPERF_OK;
}

static enum mkperf_status print(const struct mkperf_tap *t, const struct mkperf_sample *s,
                                struct mkperf_error *e)
{
    const char *name = s->pd < t->npds && t->name[s->pd] != NULL ? t->name[s->pd] : "?";
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

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    if (t->to.ops->events == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "a session with other events begins, which the output cannot hold");
    }
    return t->to.ops->events(t->to.self, session, e);
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    return t->to.ops->mark != NULL ? t->to.ops->mark(t->to.self, m, e) : MKPERF_OK;
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    if (l->where < MKPERF_LOST_PLACES) {
        t->lost[l->where] += l->samples;
    }
    return t->to.ops->lost != NULL ? t->to.ops->lost(t->to.self, l, e) : MKPERF_OK;
}

static enum mkperf_status flush(void *self, struct mkperf_error *e)
{
    struct mkperf_tap *t = self;

    return t->to.ops->flush != NULL ? t->to.ops->flush(t->to.self, e) : MKPERF_OK;
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
    t->cut_bytes = totals->cut_bytes;
    return t->to.ops->end != NULL ? t->to.ops->end(t->to.self, totals, e) : MKPERF_OK;
}

static void abandon(void *self)
{
    struct mkperf_tap *t = self;

    if (t->to.ops->abandon != NULL) {
        t->to.ops->abandon(t->to.self);
    }
}

struct mkperf_sink mkperf_tap_sink(struct mkperf_tap *t)
{
    static const struct mkperf_sink_ops ops = {
        .name = "tap",
        .reads = true,
        .begin = begin,
        .pd = add_pd,
        .events = add_events,
        .sample = add_sample,
        .mark = add_mark,
        .lost = add_lost,
        .flush = flush,
        .end = end,
        .abandon = abandon,
    };

    return (struct mkperf_sink){.ops = &ops, .self = t};
}

uint64_t mkperf_tap_lost(const struct mkperf_tap *t)
{
    return mkperf_lost_sum(t->lost);
}

void mkperf_tap_free(struct mkperf_tap *t)
{
    for (uint32_t i = 0; i < t->npds; i++) {
        free(t->name[i]);
    }
    free(t->name);
    t->name = NULL;
    t->npds = 0;
}
