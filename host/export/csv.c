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

/* Writes a sample, or the count of another event that was read with it. */
static void put_row(struct csv *c, const struct mkperf_sample *s, const char *kind, uint32_t event,
                    uint64_t period, const uint32_t *place, uint32_t n)
{
    const struct mkperf_places *places = &c->out.places;
    bool read = kind[0] == 'r';
    uint32_t frames;
    char room[32];

    if (event < MKPERF_MODEL_EVENTS) {
        c->total[event].samples += !read;
        c->total[event].period += period;
        c->nevents = event >= c->nevents ? event + 1 : c->nevents;
    }
    const struct mkperf_frame *f = mkperf_places_frames(places, place[0], &frames);
    mkperf_csv(&c->out.text, "%s,%" PRIu64 ",%" PRIu32 ",%s,%s,%s,%d,%" PRIu64 ",,%s,%s,", kind,
               s->time_ns, s->core, mkperf_places_pd_name(places, s->pd),
               mkperf_places_event_name(places, event, room),
               s->flags & MKPERF_SAMPLE_KERNEL ? "kernel" : "user", !read, period,
               mkperf_places_name(places, f->function), mkperf_places_text(places, f->file));
    if (f->line != 0) {
        mkperf_textout_u64(&c->out.text, f->line);
    }
    mkperf_textout_put(&c->out.text, ",", 1);
    put_stack(c, place, n);
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct csv *c = self;
    uint32_t place[MKPERF_PLACES_MAX];
    uint32_t n = mkperf_streamed_sample(&c->out, s, place);

    put_row(c, s, "sample", s->event, s->period, place, n);
    for (unsigned i = 0; i < s->nreads; i++) {
        put_row(c, s, "read", s->reads[i].event, s->reads[i].count, place, n);
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
    mkperf_csv(&c->out.text, "mark,%" PRIu64 ",,%s,,%s,,,,%s,,%" PRIu32 ",\n", m->time_ns,
               mkperf_places_pd_name(&c->out.places, m->pd), mkperf_mark_names[m->kind], m->name,
               m->id);
    return MKPERF_OK;
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    struct csv *c = self;

    (void)e;
    mkperf_csv(&c->out.text, "lost,%" PRIu64 ",", l->time_ns);
    if (l->core != MKPERF_CORE_UNKNOWN) {
        mkperf_textout_u64(&c->out.text, l->core);
    }
    mkperf_csv(&c->out.text, ",,,,%" PRIu64 ",%" PRIu64 ",%s,,,,\n", l->samples, l->events,
               mkperf_loss_places[l->where].key);
    return MKPERF_OK;
}

static void put_soft(struct mkperf_textout *t, const char *pd, const uint64_t *count, bool zeros)
{
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        if (zeros || count[kind] != 0) {
            mkperf_csv(t, "soft,,,%s,%s,,%" PRIu64 ",,,,,,\n", pd, mkperf_soft_names[kind],
                       count[kind]);
        }
    }
}

static void put_edge(struct mkperf_textout *t, const char *kind,
                     const struct mkperf_interaction *edge, uint64_t count)
{
    if (count != 0) {
        mkperf_csv(t, "%s,,,%s,,,%" PRIu64 ",,%s,,,,\n", kind, edge->from, count, edge->to);
    }
}

static void put_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    mkperf_csv(self, "warning,,,,,%s,,,,%s,,,\n", mkperf_warning_names[level], text);
}

static enum mkperf_status csv_end(void *self, const struct mkperf_totals *totals,
                                  struct mkperf_error *e)
{
    struct csv *c = self;
    struct mkperf_textout *t = &c->out.text;
    const struct mkperf_places *places = &c->out.places;
    const struct mkperf_interactions *a = totals->interactions;
    char room[32];

    for (uint32_t i = 0; i < c->nevents; i++) {
        mkperf_csv(t, "total,,,,%s,,%" PRIu64 ",%" PRIu64 ",,,,,\n",
                   mkperf_places_event_name(places, i, room), c->total[i].samples,
                   c->total[i].period);
    }
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        mkperf_csv(t, "total,,,,,,%" PRIu64 ",,%s,,,,\n", totals->lost[i],
                   mkperf_loss_places[i].key);
    }
    for (unsigned i = 0; i < totals->ncores; i++) {
        const struct mkperf_core *core = &totals->core[i];

        mkperf_csv(t, "core,,%u,,,,%" PRIu64 ",,,,,,\n", i, core->samples);
        for (unsigned k = 0; k < MKPERF_LOST_PLACES; k++) {
            mkperf_csv(t, "core,,%u,,,,%" PRIu64 ",,%s,,,,\n", i, core->lost[k],
                       mkperf_loss_places[k].key);
        }
    }
    mkperf_cost_snapshots(&c->out.cost, places, totals->snapshots_us);
    for (uint32_t i = 0; i < c->nevents; i++) {
        if (mkperf_cost_kernel_known(places)) {
            mkperf_csv(t, "cost,,,,%s,kernel,,%" PRIu64 ",,,,,\n",
                       mkperf_places_event_name(places, i, room), c->out.cost.kernel[i]);
        }
        if (mkperf_cost_pds_known(&c->out.cost, places, i)) {
            mkperf_csv(t, "cost,,,,%s,user,,%" PRIu64 ",,,,,\n",
                       mkperf_places_event_name(places, i, room), c->out.cost.pds[i]);
        }
    }
    if (a != NULL) {
        put_soft(t, "", a->total, true);
    }
    for (unsigned i = 0; a != NULL && i < a->npds; i++) {
        put_soft(t, a->pd[i].pd, a->pd[i].count, false);
    }
    for (unsigned i = 0; a != NULL && i < a->nedges; i++) {
        put_edge(t, "call", &a->edge[i], a->edge[i].calls);
        put_edge(t, "notification", &a->edge[i], a->edge[i].notifications);
    }
    mkperf_places_warnings(places, totals, put_warning, t);
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
