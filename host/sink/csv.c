/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CSV: one row for each sample, mark and report of losses, written as they come, then totals.
 *
 * Owns: the columns. Called through the table of formats. Memory grows with distinct places only.
 *
 *   kind      sample | read | mark | lost | total; read: behind a sample, what another event of
 *             its group counted since the sample before (period)
 *   time_ns   target's clock; of a report of losses, 0 = unknown
 *   core, pd, event, mode (user | kernel; of a mark point | begin | end)
 *   samples   1, of a read 0; of losses how many; of a total the sum for its event or its place of
 * loss period    events it stands for; of losses 0 = unknown where     place of the loss function,
 * file, line   of the innermost frame; of a mark: its name, nothing, its number stack     functions
 * from the outermost in, separated by ';'
 */
#include <stdlib.h>

#include "formats.h"

struct csv {
    struct mkperf_textout text;
    struct mkperf_stack stack;
    struct mkperf_export export;
    struct mkperf_weight total[MKPERF_MODEL_EVENTS];
    uint32_t nevents;
};

static enum mkperf_status begin(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e)
{
    struct csv *c = self;

    c->nevents = session->nevents;
    mkperf_textout_puts(&c->text,
                        "kind,time_ns,core,pd,event,mode,samples,period,where,function,file,"
                        "line,stack\n");
    return mkperf_stack_begin(&c->stack, session, e);
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct csv *c = self;

    return mkperf_stack_pd(&c->stack, pd, e);
}

static void put_stack(struct csv *c, const uint32_t *place, int n)
{
    bool first = true;

    mkperf_textout_put(&c->text, "\"", 1);
    while (n-- > 0) {
        uint32_t frames;
        const struct mkperf_frame *f = mkperf_stack_frames(&c->stack, place[n], &frames);
        while (frames-- > 0) {
            if (!first) {
                mkperf_textout_put(&c->text, ";", 1);
            }
            first = false;
            mkperf_textout_plain(&c->text, mkperf_stack_name(&c->stack, f[frames].function), '"',
                                 '\'');
        }
    }
    mkperf_textout_puts(&c->text, "\"\n");
}

static void put_code(struct csv *c, const uint32_t *place, int n)
{
    struct mkperf_textout *t = &c->text;
    uint32_t frames;

    const struct mkperf_frame *f = mkperf_stack_frames(&c->stack, place[0], &frames);
    mkperf_textout_csv(t, mkperf_stack_name(&c->stack, f->function));
    mkperf_textout_put(t, ",", 1);
    mkperf_textout_csv(t, mkperf_stack_text(&c->stack, f->file));
    mkperf_textout_put(t, ",", 1);
    if (f->line != 0) {
        mkperf_textout_u64(t, f->line);
    }
    mkperf_textout_put(t, ",", 1);
    put_stack(c, place, n);
}

/* A sample, or what another event of its group counted: the columns up to the code. */
static void put_row(struct csv *c, const struct mkperf_sample *s, const char *kind, uint32_t event,
                    uint64_t period)
{
    bool read = kind[0] == 'r';
    char room[32];

    if (event < MKPERF_MODEL_EVENTS) {
        c->total[event].samples += !read;
        c->total[event].period += period;
        c->nevents = event >= c->nevents ? event + 1 : c->nevents;
    }
    mkperf_textout_puts(&c->text, kind);
    mkperf_textout_put(&c->text, ",", 1);
    mkperf_textout_u64(&c->text, s->time_ns);
    mkperf_textout_put(&c->text, ",", 1);
    mkperf_textout_u64(&c->text, s->core);
    mkperf_textout_put(&c->text, ",", 1);
    mkperf_textout_csv(&c->text, mkperf_stack_pd_name(&c->stack, s->pd));
    mkperf_textout_put(&c->text, ",", 1);
    mkperf_textout_csv(&c->text, mkperf_stack_event_name(&c->stack, event, room));
    mkperf_textout_puts(&c->text, s->flags & MKPERF_SAMPLE_KERNEL ? ",kernel," : ",user,");
    mkperf_textout_puts(&c->text, read ? "0," : "1,");
    mkperf_textout_u64(&c->text, period);
    mkperf_textout_puts(&c->text, ",,");
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct csv *c = self;
    uint32_t place[MKPERF_STACK_MAX];
    int n = mkperf_stack_of(&c->stack, s, place);

    if (n < 0) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    put_row(c, s, "sample", s->event, s->period);
    put_code(c, place, n);
    for (unsigned i = 0; i < s->nreads; i++) {
        put_row(c, s, "read", s->reads[i].event, s->reads[i].count);
        put_code(c, place, n);
    }
    return c->text.error.status == MKPERF_OK ? MKPERF_OK : (*e = c->text.error).status;
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct csv *c = self;

    (void)e;
    c->nevents = session->nevents;
    mkperf_stack_events(&c->stack, session);
    return MKPERF_OK;
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct csv *c = self;

    (void)e;
    mkperf_textout_puts(&c->text, "mark,");
    mkperf_textout_u64(&c->text, m->time_ns);
    mkperf_textout_put(&c->text, ",,", 2);
    mkperf_textout_csv(&c->text, mkperf_stack_pd_name(&c->stack, m->pd));
    mkperf_textout_printf(&c->text, ",,%s,,,,", mkperf_mark_names[m->kind]);
    mkperf_textout_csv(&c->text, m->name);
    mkperf_textout_printf(&c->text, ",,%u,\n", m->id);
    return MKPERF_OK;
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    struct csv *c = self;

    (void)e;
    mkperf_textout_puts(&c->text, "lost,");
    mkperf_textout_u64(&c->text, l->time_ns);
    mkperf_textout_put(&c->text, ",", 1);
    mkperf_textout_u64(&c->text, l->core);
    mkperf_textout_puts(&c->text, ",,,,");
    mkperf_textout_u64(&c->text, l->samples);
    mkperf_textout_put(&c->text, ",", 1);
    mkperf_textout_u64(&c->text, l->events);
    mkperf_textout_printf(&c->text, ",%s,,,,\n", mkperf_lost_names[l->where]);
    return MKPERF_OK;
}

static enum mkperf_status end(void *self, const struct mkperf_totals *totals,
                              struct mkperf_error *e)
{
    struct csv *c = self;
    char room[32];

    for (uint32_t i = 0; i < c->nevents; i++) {
        mkperf_textout_puts(&c->text, "total,,,,");
        mkperf_textout_csv(&c->text, mkperf_stack_event_name(&c->stack, i, room));
        mkperf_textout_put(&c->text, ",,", 2);
        mkperf_textout_u64(&c->text, c->total[i].samples);
        mkperf_textout_put(&c->text, ",", 1);
        mkperf_textout_u64(&c->text, c->total[i].period);
        mkperf_textout_puts(&c->text, ",,,,,\n");
    }
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        mkperf_textout_puts(&c->text, "total,,,,,,");
        mkperf_textout_u64(&c->text, totals->lost[i]);
        mkperf_textout_printf(&c->text, ",,%s,,,,\n", mkperf_lost_names[i]);
    }
    if (c->export.warnings != NULL) {
        mkperf_stack_warn(&c->stack, c->export.warnings, "mkperf");
    }
    return mkperf_textout_finish(&c->text, e);
}

static void abandon(void *self)
{
    struct csv *c = self;

    mkperf_textout_discard(&c->text);
}

static void csv_free(void *self)
{
    struct csv *c = self;

    mkperf_textout_discard(&c->text);
    mkperf_stack_free(&c->stack);
    free(c);
}

enum mkperf_status mkperf_csv_open(const struct mkperf_export *x, struct mkperf_output *out,
                                   struct mkperf_error *e)
{
    static const struct mkperf_sink_ops ops = {
        .name = "csv",
        .reads = true,
        .begin = begin,
        .pd = add_pd,
        .events = add_events,
        .sample = add_sample,
        .mark = add_mark,
        .lost = add_lost,
        .end = end,
        .abandon = abandon,
    };
    struct csv *c = calloc(1, sizeof *c);

    if (c == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    c->export = *x;
    c->stack.inlined = !x->no_inlined;
    if (mkperf_textout_open(&c->text, x->path, e) != MKPERF_OK) {
        free(c);
        return e->status;
    }
    *out = (struct mkperf_output){.sink = {.ops = &ops, .self = c}, .free = csv_free};
    return MKPERF_OK;
}
