/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CSV: one row for each sample, mark and report of losses, written as they arrive, and then rows of totals.
 *
 * Owns: the columns. Called through the table of formats. Memory grows only with the number of distinct places.
 *
 * The first column, kind, is one of
 *   sample        a sample
 *   read          follows a sample; period is the count of another event of its group since the previous sample
 *   mark          a mark of a program
 *   lost          a report of losses
 *   total         the sum of an event, or the losses at a place
 *   core          a core's samples, or its losses at a place; only if there are several cores
 *   cost          events of the profiler itself, in the kernel (mode kernel) and in PDs (mode user); only if known
 *   soft          the number of software events, in all and by PD; only if interactions were recorded
 *   call          the number of calls from a PD to another (where); only if interactions were recorded
 *   notification  the number of notifications from a PD to another (where); only if interactions were recorded
 *   warning       a text that a reader must know to trust the numbers
 *
 * The other columns are
 *   time_ns   the target's clock; of a lost, 0 is unknown
 *   core      empty in a lost if it is one of several cores
 *   pd, event
 *   mode      user or kernel; of a mark point, begin or end; of a warning note, warning or ERROR
 *   samples   1; of a read 0; of other kinds a number or a sum
 *   period    the number of events that the row represents; of a lost, 0 is unknown
 *   where     the place of a loss, or the PD that was called or notified
 *   function, file, line   of the innermost frame; of a mark its name, nothing, its number; of a warning its text
 *   stack     functions separated by ';', outermost first; [PD] precedes the functions of another PD, which the
 *             functions before it called
 */
#include "model/figures.h"
#include "model/interactions.h"
#include "parts.h"

struct csv {
    struct mkperf_streamed out;                      /* first, as parts.h requires */
    struct mkperf_weight total[MKPERF_MODEL_EVENTS]; /* by event */
    uint32_t nevents;
};

static enum mkperf_status csv_begin(void *self, const struct mkperf_session *session,
                                    struct mkperf_error *e)
{
    struct csv *c = self;

    c->nevents = session->nevents;
    mkperf_textout_puts(&c->out.text,
                        "kind,time_ns,core,pd,event,mode,samples,period,where,function,file,"
                        "line,stack\n");
    (void)e;
    mkperf_places_begin(&c->out.places, session);
    return MKPERF_OK;
}

static void put_stack(struct csv *c, const uint32_t *place, uint32_t n)
{
    const struct mkperf_places *s = &c->out.places;
    uint32_t pd = n != 0 ? s->place[place[n - 1]].pd : 0;
    bool first = true;

    mkperf_textout_put(&c->out.text, "\"", 1);
    while (n-- > 0) {
        uint32_t frames;
        const struct mkperf_frame *f = mkperf_places_frames(s, place[n], &frames);
        if (s->place[place[n]].pd != pd) {
            pd = s->place[place[n]].pd;
            mkperf_textout_puts(&c->out.text, ";[");
            mkperf_textout_plain(&c->out.text, mkperf_places_pd_name(s, pd), '"', '\'');
            mkperf_textout_puts(&c->out.text, "]");
        }
        while (frames-- > 0) {
            if (!first) {
                mkperf_textout_put(&c->out.text, ";", 1);
            }
            first = false;
            mkperf_textout_plain(&c->out.text, mkperf_places_name(s, f[frames].function), '"',
                                 '\'');
        }
    }
    mkperf_textout_puts(&c->out.text, "\"\n");
}

static void put_code(struct csv *c, const uint32_t *place, uint32_t n)
{
    struct mkperf_textout *t = &c->out.text;
    uint32_t frames;

    const struct mkperf_frame *f = mkperf_places_frames(&c->out.places, place[0], &frames);
    mkperf_textout_csv(t, mkperf_places_name(&c->out.places, f->function));
    mkperf_textout_put(t, ",", 1);
    mkperf_textout_csv(t, mkperf_places_text(&c->out.places, f->file));
    mkperf_textout_put(t, ",", 1);
    if (f->line != 0) {
        mkperf_textout_u64(t, f->line);
    }
    mkperf_textout_put(t, ",", 1);
    put_stack(c, place, n);
}

/* Writes the columns of a sample or a read up to `where`. */
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
    mkperf_textout_puts(&c->out.text, kind);
    mkperf_textout_put(&c->out.text, ",", 1);
    mkperf_textout_u64(&c->out.text, s->time_ns);
    mkperf_textout_put(&c->out.text, ",", 1);
    mkperf_textout_u64(&c->out.text, s->core);
    mkperf_textout_put(&c->out.text, ",", 1);
    mkperf_textout_csv(&c->out.text, mkperf_places_pd_name(&c->out.places, s->pd));
    mkperf_textout_put(&c->out.text, ",", 1);
    mkperf_textout_csv(&c->out.text, mkperf_places_event_name(&c->out.places, event, room));
    mkperf_textout_puts(&c->out.text, s->flags & MKPERF_SAMPLE_KERNEL ? ",kernel," : ",user,");
    mkperf_textout_puts(&c->out.text, read ? "0," : "1,");
    mkperf_textout_u64(&c->out.text, period);
    mkperf_textout_puts(&c->out.text, ",,");
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct csv *c = self;
    uint32_t place[MKPERF_PLACES_MAX];
    uint32_t n = mkperf_streamed_sample(&c->out, s, place);

    put_row(c, s, "sample", s->event, s->period);
    put_code(c, place, n);
    for (unsigned i = 0; i < s->nreads; i++) {
        put_row(c, s, "read", s->reads[i].event, s->reads[i].count);
        put_code(c, place, n);
    }
    return mkperf_streamed_status(&c->out, e);
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct csv *c = self;

    (void)e;
    c->nevents = session->nevents;
    mkperf_places_events(&c->out.places, session);
    return MKPERF_OK;
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct csv *c = self;

    (void)e;
    mkperf_textout_puts(&c->out.text, "mark,");
    mkperf_textout_u64(&c->out.text, m->time_ns);
    mkperf_textout_put(&c->out.text, ",,", 2);
    mkperf_textout_csv(&c->out.text, mkperf_places_pd_name(&c->out.places, m->pd));
    mkperf_textout_printf(&c->out.text, ",,%s,,,,", mkperf_mark_names[m->kind]);
    mkperf_textout_csv(&c->out.text, m->name);
    mkperf_textout_printf(&c->out.text, ",,%u,\n", m->id);
    return MKPERF_OK;
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    struct csv *c = self;

    (void)e;
    mkperf_textout_puts(&c->out.text, "lost,");
    mkperf_textout_u64(&c->out.text, l->time_ns);
    mkperf_textout_put(&c->out.text, ",", 1);
    if (l->core != MKPERF_CORE_UNKNOWN) {
        mkperf_textout_u64(&c->out.text, l->core);
    }
    mkperf_textout_puts(&c->out.text, ",,,,");
    mkperf_textout_u64(&c->out.text, l->samples);
    mkperf_textout_put(&c->out.text, ",", 1);
    mkperf_textout_u64(&c->out.text, l->events);
    mkperf_textout_printf(&c->out.text, ",%s,,,,\n", mkperf_loss_places[l->where].key);
    return MKPERF_OK;
}

static void put_cost(struct csv *c)
{
    const uint64_t *const sums[] = {c->out.cost.kernel, c->out.cost.pds};
    char room[32];

    for (uint32_t i = 0; i < c->nevents; i++) {
        bool known[] = {mkperf_cost_kernel_known(&c->out.places),
                        mkperf_cost_pds_known(&c->out.cost, &c->out.places, i)};
        for (unsigned k = 0; k < 2; k++) {
            if (known[k]) {
                mkperf_textout_puts(&c->out.text, "cost,,,,");
                mkperf_textout_csv(&c->out.text, mkperf_places_event_name(&c->out.places, i, room));
                mkperf_textout_puts(&c->out.text, k == 0 ? ",kernel,," : ",user,,");
                mkperf_textout_u64(&c->out.text, sums[k][i]);
                mkperf_textout_puts(&c->out.text, ",,,,,\n");
            }
        }
    }
}

static void put_soft(struct mkperf_textout *t, const char *pd, const uint64_t *count, bool zeros)
{
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        if (zeros || count[kind] != 0) {
            mkperf_textout_puts(t, "soft,,,");
            mkperf_textout_csv(t, pd);
            mkperf_textout_printf(t, ",%s,,", mkperf_soft_names[kind]);
            mkperf_textout_u64(t, count[kind]);
            mkperf_textout_puts(t, ",,,,,,\n");
        }
    }
}

static void put_edge(struct mkperf_textout *t, const char *kind,
                     const struct mkperf_interaction *edge, uint64_t count)
{
    if (count != 0) {
        mkperf_textout_printf(t, "%s,,,", kind);
        mkperf_textout_csv(t, edge->from);
        mkperf_textout_puts(t, ",,,");
        mkperf_textout_u64(t, count);
        mkperf_textout_puts(t, ",,");
        mkperf_textout_csv(t, edge->to);
        mkperf_textout_puts(t, ",,,,\n");
    }
}

static void put_interactions(struct mkperf_textout *t, const struct mkperf_interactions *a)
{
    if (a == NULL) {
        return;
    }
    put_soft(t, "", a->total, true);
    for (unsigned i = 0; i < a->npds; i++) {
        put_soft(t, a->pd[i].pd, a->pd[i].count, false);
    }
    for (unsigned i = 0; i < a->nedges; i++) {
        put_edge(t, "call", &a->edge[i], a->edge[i].calls);
        put_edge(t, "notification", &a->edge[i], a->edge[i].notifications);
    }
}

static void put_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    mkperf_textout_printf(self, "warning,,,,,%s,,,,", mkperf_warning_names[level]);
    mkperf_textout_csv(self, text);
    mkperf_textout_puts(self, ",,,\n");
}

static enum mkperf_status csv_end(void *self, const struct mkperf_totals *totals,
                                  struct mkperf_error *e)
{
    struct csv *c = self;
    char room[32];

    for (uint32_t i = 0; i < c->nevents; i++) {
        mkperf_textout_puts(&c->out.text, "total,,,,");
        mkperf_textout_csv(&c->out.text, mkperf_places_event_name(&c->out.places, i, room));
        mkperf_textout_put(&c->out.text, ",,", 2);
        mkperf_textout_u64(&c->out.text, c->total[i].samples);
        mkperf_textout_put(&c->out.text, ",", 1);
        mkperf_textout_u64(&c->out.text, c->total[i].period);
        mkperf_textout_puts(&c->out.text, ",,,,,\n");
    }
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        mkperf_textout_puts(&c->out.text, "total,,,,,,");
        mkperf_textout_u64(&c->out.text, totals->lost[i]);
        mkperf_textout_printf(&c->out.text, ",,%s,,,,\n", mkperf_loss_places[i].key);
    }
    for (unsigned i = 0; i < totals->ncores; i++) {
        const struct mkperf_core *core = &totals->core[i];
        mkperf_textout_printf(&c->out.text, "core,,%u,,,,%" PRIu64 ",,,,,,\n", i, core->samples);
        for (unsigned k = 0; k < MKPERF_LOST_PLACES; k++) {
            mkperf_textout_printf(&c->out.text, "core,,%u,,,,%" PRIu64 ",,%s,,,,\n", i,
                                  core->lost[k], mkperf_loss_places[k].key);
        }
    }
    mkperf_cost_snapshots(&c->out.cost, &c->out.places, totals->snapshots_us);
    put_cost(c);
    put_interactions(&c->out.text, totals->interactions);
    mkperf_places_warnings(&c->out.places, totals, put_warning, &c->out.text);
    return mkperf_streamed_finish(&c->out, e);
}

enum mkperf_status mkperf_csv_open(const struct mkperf_export *x, struct mkperf_output *out,
                                   struct mkperf_error *e)
{
    static const struct mkperf_sink_ops ops = {
        .name = "csv",
        .reads = true,
        .begin = csv_begin,
        .pd = mkperf_streamed_pd,
        .events = add_events,
        .sample = add_sample,
        .mark = add_mark,
        .lost = add_lost,
        .end = csv_end,
        .abandon = mkperf_streamed_abandon,
    };

    return mkperf_streamed_open(x, sizeof(struct csv), &ops, out, e);
}
