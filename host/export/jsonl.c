/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON Lines: one object per line, written while samples arrive.
 *
 * Owns: the objects. Called through the table of formats. Memory grows only with the number of distinct places.
 * The member `type` names the kind of an object. The kinds and their other members are
 *
 *   session  platform, cpu, cores, kernel_elf, command, jitter, max_frames,
 *            turns: true if the cores are QEMU's, which take turns,
 *            events: [{name, code, user, kernel, period | frequency, group,
 *              read: true if its counts are in the samples of its group,
 *              all_cores: true if the counters of each core count the events of all cores}]
 *   pd       id, name, elf, parent, thread (hex)
 *   events   events: the complete new list, if a later session has more
 *   sample   time_ns, core, pd, event, period, mode: "user" | "kernel",
 *            stack: [{function, addr (hex), file, line, kernel, inlined,
 *              pd: another PD, which made a call, or is a candidate,
 *              inferred: true if only registers show the call}], innermost first,
 *            reads: [{event, count}] of its group, since the previous sample
 *   mark     time_ns, pd, kind: "point" | "begin" | "end", id, name
 *   lost     time_ns, core (omitted if it is one of several), where, samples, events
 *   soft     pd (omitted for the whole system), context-switches, faults, ppcalls, notifications: the kernel's counts
 *   calls    from, to, calls, notifications: the kernel's counts for two PDs
 *   core     core, state: "runs" | "late" | "absent", samples, lost: {where: n}, late_events, late_answers;
 *            only if there are several cores
 *   warning  level: "note" | "warning" | "ERROR", text: what a reader must know to trust the numbers
 *   totals   samples, lost: {where: n}, late_events, spurious, disturbed, storms, unrepaired, marks, marks_lost,
 *            restarts, counted: [{event, running_ns, enabled_ns}] of multiplexed events,
 *            first_ns, last_ns, overwritten, stopped_at_ns, stopped_ns, unread, complete,
 *            cost: {event: {kernel, pds}}: the events of the profiler itself, each only if known
 *
 * Unknown values are omitted. Numbers are exact integers. Some readers of JSON round them above 2^53.
 */
#include "model/figures.h"
#include "model/interactions.h"
#include "parts.h"

static void put_string(struct mkperf_textout *t, const char *key, const char *value)
{
    if (value != NULL && *value != '\0') {
        mkperf_textout_printf(t, ",\"%s\":", key);
        mkperf_textout_json(t, value);
    }
}

static void put_number(struct mkperf_textout *t, const char *key, uint64_t value)
{
    mkperf_textout_put(t, ",\"", 2);
    mkperf_textout_puts(t, key);
    mkperf_textout_put(t, "\":", 2);
    mkperf_textout_u64(t, value);
}

static void put_events(struct mkperf_textout *t, const struct mkperf_session *session)
{
    mkperf_textout_puts(t, ",\"events\":[");
    for (unsigned i = 0; i < session->nevents; i++) {
        mkperf_textout_put(t, ",", i > 0);
        const struct mkperf_event *event = &session->event[i];
        mkperf_textout_puts(t, "{\"name\":");
        mkperf_textout_json(t, event->name);
        mkperf_textout_printf(t, ",\"code\":%" PRIu32 ",\"user\":%s,\"kernel\":%s", event->code,
                              event->user ? "true" : "false", event->kernel ? "true" : "false");
        if (event->period != 0) {
            put_number(t, "period", event->period);
        } else if (event->frequency != 0) {
            put_number(t, "frequency", event->frequency);
        }
        if (event->group != 0) {
            put_number(t, "group", event->group);
        }
        mkperf_textout_puts(t, event->read ? ",\"read\":true" : "");
        mkperf_textout_puts(t, event->all_cores ? ",\"all_cores\":true" : "");
        mkperf_textout_put(t, "}", 1);
    }
    mkperf_textout_puts(t, "]}\n");
}

static enum mkperf_status jsonl_begin(void *self, const struct mkperf_session *session,
                                      struct mkperf_error *e)
{
    struct mkperf_streamed *j = self;
    struct mkperf_textout *t = &j->text;

    mkperf_textout_puts(t, "{\"type\":\"session\",\"version\":1");
    put_string(t, "platform", session->platform);
    put_string(t, "cpu", session->cpu);
    put_number(t, "cores", session->cores);
    if (session->target_cores > session->cores) {
        put_number(t, "target_cores", session->target_cores);
    }
    put_string(t, "kernel_elf", session->kernel_elf);
    put_string(t, "command", session->command);
    put_number(t, "max_frames", session->max_frames);
    mkperf_textout_puts(t, session->jitter ? ",\"jitter\":true" : ",\"jitter\":false");
    mkperf_textout_puts(t, session->turns ? ",\"turns\":true" : "");
    put_events(t, session);
    (void)e;
    mkperf_places_begin(&j->places, session);
    return MKPERF_OK;
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_streamed *j = self;

    mkperf_textout_printf(&j->text, "{\"type\":\"pd\",\"id\":%" PRIu32, pd->id);
    put_string(&j->text, "name", pd->name);
    put_string(&j->text, "elf", pd->elf);
    put_string(&j->text, "parent", pd->parent);
    mkperf_textout_printf(&j->text, ",\"thread\":\"0x%" PRIx64 "\"}\n", pd->thread);
    return mkperf_places_pd(&j->places, pd, e);
}

static void put_frame(struct mkperf_streamed *j, const struct mkperf_sample *s,
                      const struct mkperf_place *place, const struct mkperf_frame *frame)
{
    const struct mkperf_function *f = &j->places.function[frame->function];
    struct mkperf_textout *t = &j->text;

    mkperf_textout_puts(t, "{\"function\":");
    mkperf_textout_json(t, mkperf_places_text(&j->places, f->name));
    if (f->pd != s->pd) {
        bool inferred = mkperf_places_inferred(&j->places, s->event) &&
                        !mkperf_places_ambiguous(&j->places, s->pd);
        put_string(t, "pd", mkperf_places_pd_name(&j->places, f->pd));
        mkperf_textout_puts(t, inferred ? ",\"inferred\":true" : "");
    }
    mkperf_textout_printf(t, ",\"addr\":\"0x%" PRIx64 "\"", place->addr);
    put_string(t, "file", mkperf_places_text(&j->places, frame->file));
    if (frame->line != 0) {
        put_number(t, "line", frame->line);
    }
    mkperf_textout_puts(t, f->kernel ? ",\"kernel\":true" : "");
    mkperf_textout_puts(t, f->inlined ? ",\"inlined\":true}" : "}");
}

/* Writes ,"reads":[{"event":"instructions","count":4711},...] */
static void put_reads(struct mkperf_streamed *j, const struct mkperf_sample *s)
{
    char room[32];

    for (unsigned i = 0; i < s->nreads; i++) {
        mkperf_textout_puts(&j->text, i == 0 ? ",\"reads\":[{\"event\":" : ",{\"event\":");
        mkperf_textout_json(&j->text,
                            mkperf_places_event_name(&j->places, s->reads[i].event, room));
        put_number(&j->text, "count", s->reads[i].count);
        mkperf_textout_put(&j->text, "}", 1);
    }
    mkperf_textout_put(&j->text, "]", s->nreads != 0);
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct mkperf_streamed *j = self;
    struct mkperf_textout *t = &j->text;
    uint32_t place[MKPERF_PLACES_MAX];
    char room[32];
    uint32_t n = mkperf_streamed_sample(j, s, place);

    mkperf_textout_puts(t, "{\"type\":\"sample\"");
    put_number(t, "time_ns", s->time_ns);
    put_number(t, "core", s->core);
    put_string(t, "pd", mkperf_places_pd_name(&j->places, s->pd));
    put_string(t, "event", mkperf_places_event_name(&j->places, s->event, room));
    put_number(t, "period", s->period);
    put_reads(j, s);
    mkperf_textout_puts(t, s->flags & MKPERF_SAMPLE_KERNEL ? ",\"mode\":\"kernel\",\"stack\":["
                                                           : ",\"mode\":\"user\",\"stack\":[");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t frames;
        const struct mkperf_frame *f = mkperf_places_frames(&j->places, place[i], &frames);
        for (uint32_t k = 0; k < frames; k++) {
            mkperf_textout_put(&j->text, ",", i > 0 || k > 0);
            put_frame(j, s, &j->places.place[place[i]], &f[k]);
        }
    }
    mkperf_textout_puts(t, "]}\n");
    return mkperf_streamed_status(j, e);
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct mkperf_streamed *j = self;

    (void)e;
    mkperf_places_events(&j->places, session);
    mkperf_textout_puts(&j->text, "{\"type\":\"events\"");
    put_events(&j->text, session);
    return MKPERF_OK;
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct mkperf_streamed *j = self;

    (void)e;
    mkperf_textout_puts(&j->text, "{\"type\":\"mark\"");
    put_number(&j->text, "time_ns", m->time_ns);
    put_string(&j->text, "pd", mkperf_places_pd_name(&j->places, m->pd));
    put_string(&j->text, "kind", mkperf_mark_names[m->kind]);
    put_number(&j->text, "id", m->id);
    put_string(&j->text, "name", m->name);
    mkperf_textout_puts(&j->text, "}\n");
    return MKPERF_OK;
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    struct mkperf_streamed *j = self;

    (void)e;
    mkperf_textout_puts(&j->text, "{\"type\":\"lost\"");
    put_number(&j->text, "time_ns", l->time_ns);
    if (l->core != MKPERF_CORE_UNKNOWN) {
        put_number(&j->text, "core", l->core);
    }
    put_string(&j->text, "where", mkperf_loss_places[l->where].key);
    put_number(&j->text, "samples", l->samples);
    put_number(&j->text, "events", l->events);
    mkperf_textout_puts(&j->text, "}\n");
    return MKPERF_OK;
}

static void put_lost(struct mkperf_textout *t, const uint64_t lost[MKPERF_LOST_PLACES])
{
    mkperf_textout_puts(t, ",\"lost\":{");
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        mkperf_textout_printf(t, "%s\"%s\":%" PRIu64, i > 0 ? "," : "", mkperf_loss_places[i].key,
                              lost[i]);
    }
    mkperf_textout_put(t, "}", 1);
}

static void put_cost(struct mkperf_streamed *j)
{
    bool kernel = mkperf_cost_kernel_known(&j->places), any = false;
    char room[32];

    mkperf_textout_puts(&j->text, ",\"cost\":{");
    for (uint32_t i = 0; i < j->places.session.nevents; i++) {
        bool pds = mkperf_cost_pds_known(&j->cost, &j->places, i);
        if (!kernel && !pds) {
            continue;
        }
        mkperf_textout_put(&j->text, ",", any);
        any = true;
        mkperf_textout_json(&j->text, mkperf_places_event_name(&j->places, i, room));
        mkperf_textout_puts(&j->text, ":{");
        if (kernel) {
            mkperf_textout_printf(&j->text, "\"kernel\":%" PRIu64, j->cost.kernel[i]);
        }
        if (pds) {
            mkperf_textout_printf(&j->text, "%s\"pds\":%" PRIu64, kernel ? "," : "",
                                  j->cost.pds[i]);
        }
        mkperf_textout_put(&j->text, "}", 1);
    }
    mkperf_textout_put(&j->text, "}", 1);
}

static void put_soft(struct mkperf_textout *t, const char *pd, const uint64_t *count)
{
    mkperf_textout_puts(t, "{\"type\":\"soft\"");
    put_string(t, "pd", pd);
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        put_number(t, mkperf_soft_names[kind], count[kind]);
    }
    mkperf_textout_puts(t, "}\n");
}

static void put_interactions(struct mkperf_textout *t, const struct mkperf_interactions *a)
{
    if (a == NULL) {
        return;
    }
    put_soft(t, NULL, a->total);
    for (unsigned i = 0; i < a->npds; i++) {
        put_soft(t, a->pd[i].pd, a->pd[i].count);
    }
    for (unsigned i = 0; i < a->nedges; i++) {
        mkperf_textout_puts(t, "{\"type\":\"calls\"");
        put_string(t, "from", a->edge[i].from);
        put_string(t, "to", a->edge[i].to);
        put_number(t, "calls", a->edge[i].calls);
        put_number(t, "notifications", a->edge[i].notifications);
        mkperf_textout_puts(t, "}\n");
    }
}

static void put_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    mkperf_textout_puts(self, "{\"type\":\"warning\"");
    put_string(self, "level", mkperf_warning_names[level]);
    put_string(self, "text", text);
    mkperf_textout_puts(self, "}\n");
}

static void put_figure(void *self, const char *key, uint64_t value)
{
    put_number(self, key, value);
}

static enum mkperf_status jsonl_end(void *self, const struct mkperf_totals *totals,
                                    struct mkperf_error *e)
{
    struct mkperf_streamed *j = self;
    struct mkperf_textout *t = &j->text;

    put_interactions(t, totals->interactions);
    for (unsigned i = 0; i < totals->ncores; i++) {
        const struct mkperf_core *c = &totals->core[i];
        mkperf_textout_puts(t, "{\"type\":\"core\"");
        put_number(t, "core", i);
        put_string(t, "state", mkperf_core_states[c->state]);
        put_number(t, "samples", c->samples);
        put_lost(t, c->lost);
        put_number(t, "late_events", c->late_events);
        put_number(t, "late_answers", c->late_answers);
        mkperf_textout_puts(t, "}\n");
    }
    mkperf_places_warnings(&j->places, totals, put_warning, t);
    mkperf_textout_puts(t, "{\"type\":\"totals\"");
    mkperf_figures_each(MKPERF_SECTION_FIRST, MKPERF_SECTION_SECOND, totals, put_figure, t);
    put_lost(t, totals->lost);
    mkperf_figures_each(MKPERF_SECTION_SECOND, MKPERF_SECTION_THIRD, totals, put_figure, t);
    /* Writes ,"counted":[{"event":"cycles","running_ns":5,"enabled_ns":9},...] of multiplexed events. */
    bool any = false;
    char room[32];
    for (uint32_t i = 0; i < MKPERF_MODEL_EVENTS; i++) {
        if (totals->enabled_ns[i] != 0) {
            mkperf_textout_puts(&j->text, any ? ",{\"event\":" : ",\"counted\":[{\"event\":");
            mkperf_textout_json(&j->text, mkperf_places_event_name(&j->places, i, room));
            put_number(&j->text, "running_ns", totals->running_ns[i]);
            put_number(&j->text, "enabled_ns", totals->enabled_ns[i]);
            mkperf_textout_put(&j->text, "}", 1);
            any = true;
        }
    }
    mkperf_textout_put(&j->text, "]", any);
    mkperf_figures_each(MKPERF_SECTION_THIRD, MKPERF_SECTION_END, totals, put_figure, t);
    mkperf_cost_snapshots(&j->cost, &j->places, totals->snapshots_us);
    put_cost(j);
    mkperf_textout_puts(t, totals->complete ? ",\"complete\":true}\n" : ",\"complete\":false}\n");
    return mkperf_streamed_finish(j, e);
}

enum mkperf_status mkperf_jsonl_open(const struct mkperf_export *x, struct mkperf_output *out,
                                     struct mkperf_error *e)
{
    static const struct mkperf_sink_ops ops = {
        .name = "jsonl",
        .reads = true,
        .begin = jsonl_begin,
        .pd = add_pd,
        .events = add_events,
        .sample = add_sample,
        .mark = add_mark,
        .lost = add_lost,
        .end = jsonl_end,
        .abandon = mkperf_streamed_abandon,
    };

    return mkperf_streamed_open(x, sizeof(struct mkperf_streamed), &ops, out, e);
}
