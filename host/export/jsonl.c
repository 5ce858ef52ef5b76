/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON Lines: one object per line, written while samples arrive.
 *
 * Owns: the objects, which docs/mkperf.schema.json describes. Called through the table of formats, and by `mkperf report --json` for
 * what was recorded. Memory grows only with the number of distinct places.
 *
 * Unknown values are omitted. Numbers are exact integers. Some readers of JSON round them above 2^53.
 */
#include "formats.h"

struct jsonl {
    struct mkperf_textout text;
    struct mkperf_places places;
    struct mkperf_cost cost;
    FILE *warnings; /* the member of this name of struct mkperf_export */
};

/* Writes a member with a number. A number of 0 is omitted. */
static void put_number(struct mkperf_textout *t, const char *key, uint64_t number)
{
    if (number != 0) {
        mkperf_json(t, ",%s:%" PRIu64, key, number);
    }
}

static void put_events(struct mkperf_textout *t, const struct mkperf_session *session)
{
    mkperf_json(t, ",'events':[");
    for (unsigned i = 0; i < session->nevents; i++) {
        const struct mkperf_event *event = &session->event[i];

        mkperf_json(t, ",{'name':%s,'code':%" PRIu32 ",'user':%hhd,'kernel':%hhd", event->name,
                    event->code, event->user, event->kernel);
        put_number(t, "period", event->period);
        put_number(t, "frequency", event->period == 0 ? event->frequency : 0);
        put_number(t, "group", event->group);
        mkperf_textout_puts(t, event->guest  ? ",\"guests\":\"only\""
                               : event->host ? ",\"guests\":\"none\""
                                             : "");
        mkperf_textout_puts(t, event->read ? ",\"read\":true" : "");
        mkperf_textout_puts(t, event->all_cores ? ",\"all_cores\":true}" : "}");
    }
    mkperf_textout_puts(t, "]}\n");
}

void mkperf_jsonl_session(struct mkperf_textout *t, const struct mkperf_session *session)
{
    mkperf_json(t, "{'type':'session','version':2");
    mkperf_json_known(t, "platform", session->platform);
    mkperf_json_known(t, "cpu", session->cpu);
    mkperf_json(t, ",'cores':%u", session->cores);
    put_number(t, "target_cores",
               session->target_cores > session->cores ? session->target_cores : 0);
    mkperf_json_known(t, "kernel_elf", session->kernel_elf);
    mkperf_json_known(t, "command", session->command);
    mkperf_json(t, ",'max_frames':%u,'jitter':%hhd", session->max_frames, session->jitter);
    mkperf_textout_puts(t, session->turns ? ",\"turns\":true" : "");
    mkperf_textout_puts(t, session->inferred ? ",\"modes_inferred\":true" : "");
    put_number(t, "aggregate_ms", session->aggregate_ms);
    put_events(t, session);
}

void mkperf_jsonl_pd(struct mkperf_textout *t, const struct mkperf_pd *pd)
{
    mkperf_json(t, "{'type':'pd','id':%" PRIu32, pd->id);
    mkperf_json_known(t, "name", pd->name);
    mkperf_json_known(t, "elf", pd->elf);
    mkperf_json_known(t, "parent", pd->parent);
    mkperf_json(t, ",'thread':'0x%" PRIx64 "'}\n", pd->thread);
}

static void put_sample(struct jsonl *j, const struct mkperf_sample *s)
{
    struct mkperf_textout *t = &j->text;
    struct mkperf_place address[MKPERF_PLACES_MAX];
    uint32_t place[MKPERF_PLACES_MAX];
    char room[32];
    uint32_t n =
        mkperf_places_of(&j->places, s->pd, address, mkperf_sample_addresses(s, address), place);

    mkperf_cost_add(&j->cost, &j->places, s->event, s->pd, place[0], s->period);
    mkperf_json(t,
                "{'type':'sample','time_ns':%" PRIu64 ",'core':%" PRIu32
                ",'pd':%s,'event':%s,'period':%" PRIu64,
                s->time_ns, s->core, mkperf_places_pd_name(&j->places, s->pd),
                mkperf_places_event_name(&j->places, s->event, room), s->period);
    put_number(t, "samples", s->more != 0 ? mkperf_sample_count(s) : 0);
    for (unsigned i = 0; i < s->nreads; i++) {
        mkperf_cost_add(&j->cost, &j->places, s->reads[i].event, s->pd, place[0],
                        s->reads[i].count);
        mkperf_textout_puts(t, i == 0 ? ",\"reads\":[" : "");
        mkperf_json(t, ",{'event':%s,'count':%" PRIu64 "}",
                    mkperf_places_event_name(&j->places, s->reads[i].event, room),
                    s->reads[i].count);
    }
    mkperf_textout_put(t, "]", s->nreads != 0);
    mkperf_json(t, ",'mode':%s,'stack':[",
                s->flags & MKPERF_SAMPLE_KERNEL                         ? "kernel"
                : (s->flags & MKPERF_GUEST_MASK) == MKPERF_GUEST_KERNEL ? "guest kernel"
                : s->flags & MKPERF_GUEST_MASK                          ? "guest user"
                                                                        : "user");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t frames;
        const struct mkperf_frame *frame = mkperf_places_frames(&j->places, place[i], &frames);
        for (; frames-- > 0; frame++) {
            const struct mkperf_function *f = &j->places.function[frame->function];
            mkperf_json(t, ",{'function':%s", mkperf_places_text(&j->places, f->name));
            if (f->pd != s->pd) {
                bool inferred = mkperf_places_inferred(&j->places, s->event) &&
                                !mkperf_places_ambiguous(&j->places, s->pd);
                mkperf_json_known(t, "pd", mkperf_places_pd_name(&j->places, f->pd));
                mkperf_textout_puts(t, inferred ? ",\"inferred\":true" : "");
            }
            mkperf_json(t, ",'addr':'0x%" PRIx64 "'", j->places.place[place[i]].addr);
            mkperf_json_known(t, "file", mkperf_places_text(&j->places, frame->file));
            put_number(t, "line", frame->line);
            mkperf_textout_puts(t, f->kernel ? ",\"kernel\":true" : "");
            mkperf_textout_puts(t, f->inlined ? ",\"inlined\":true}" : "}");
        }
    }
    mkperf_textout_puts(t, "]}\n");
}

static void put_lost(struct mkperf_textout *t, const uint64_t lost[MKPERF_LOST_PLACES])
{
    mkperf_json(t, ",'lost':{");
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        mkperf_json(t, ",%s:%" PRIu64, mkperf_loss_places[i].key, lost[i]);
    }
    mkperf_textout_puts(t, "}");
}

static void put_soft(struct mkperf_textout *t, const char *pd, const uint64_t *count)
{
    mkperf_json(t, "{'type':'soft'");
    mkperf_json_known(t, "pd", pd);
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        mkperf_json(t, ",%s:%" PRIu64, mkperf_soft_names[kind], count[kind]);
    }
    mkperf_textout_puts(t, "}\n");
}

void mkperf_jsonl_interactions(struct mkperf_textout *t, const struct mkperf_interactions *a)
{
    put_soft(t, NULL, a->total);
    for (unsigned i = 0; i < a->npds; i++) {
        put_soft(t, a->pd[i].pd, a->pd[i].count);
    }
    for (unsigned i = 0; i < a->nedges; i++) {
        mkperf_json(t,
                    "{'type':'calls','from':%s,'to':%s,'calls':%" PRIu64 ",'notifications':%" PRIu64
                    "}\n",
                    a->edge[i].from, a->edge[i].to, a->edge[i].calls, a->edge[i].notifications);
    }
    mkperf_jsonl_stacks(t, a);
}

void mkperf_jsonl_stacks(struct mkperf_textout *t, const struct mkperf_interactions *a)
{
    for (unsigned i = 0; i < a->npds; i++) {
        const struct mkperf_soft_stack *s = &a->pd[i].stack;

        if (s->least != 0) {
            mkperf_json(t, "{'type':'stack','pd':%s", a->pd[i].pd);
            put_number(t, "size", s->top - s->bottom);
            put_number(t, "seen", mkperf_stack_above(s, s->least));
            put_number(t, "used", mkperf_stack_used(s));
            mkperf_textout_puts(t, "}\n");
        }
    }
}

void mkperf_jsonl_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    mkperf_json(self, "{'type':'warning','level':%s,'text':%s}\n", mkperf_warning_names[level],
                text);
}

static void put_figure(void *self, const char *key, uint64_t value)
{
    mkperf_json(self, ",%s:%" PRIu64, key, value);
}

void mkperf_jsonl_totals(struct mkperf_textout *t, const struct mkperf_places *places,
                         const struct mkperf_cost *cost, const struct mkperf_totals *totals)
{
    bool kernel = mkperf_cost_kernel_known(places), any = false;
    char room[32];

    if (totals->interactions != NULL) {
        mkperf_jsonl_interactions(t, totals->interactions);
    }
    for (unsigned i = 0; i < totals->ncores; i++) {
        const struct mkperf_core *c = &totals->core[i];

        mkperf_json(t, "{'type':'core','core':%u,'state':%s,'samples':%" PRIu64, i,
                    mkperf_core_states[c->state], c->samples);
        put_lost(t, c->lost);
        mkperf_json(t, ",'late_events':%" PRIu64 ",'late_answers':%" PRIu64 "}\n", c->late_events,
                    c->late_answers);
    }
    mkperf_places_warnings(places, totals, mkperf_jsonl_warning, t);
    mkperf_json(t, "{'type':'totals'");
    mkperf_figures_each(MKPERF_SECTION_FIRST, MKPERF_SECTION_SECOND, totals, put_figure, t);
    put_lost(t, totals->lost);
    mkperf_figures_each(MKPERF_SECTION_SECOND, MKPERF_SECTION_THIRD, totals, put_figure, t);
    for (uint32_t i = 0; i < MKPERF_MODEL_EVENTS; i++) {
        if (totals->enabled_ns[i] != 0) { /* a multiplexed event */
            mkperf_textout_puts(t, any ? "" : ",\"counted\":[");
            any = true;
            mkperf_json(t, ",{'event':%s,'running_ns':%" PRIu64 ",'enabled_ns':%" PRIu64 "}",
                        mkperf_places_event_name(places, i, room), totals->running_ns[i],
                        totals->enabled_ns[i]);
        }
    }
    mkperf_textout_put(t, "]", any);
    mkperf_figures_each(MKPERF_SECTION_THIRD, MKPERF_SECTION_END, totals, put_figure, t);
    mkperf_json(t, ",'cost':[");
    for (uint32_t i = 0; i < places->session.nevents; i++) {
        bool pds = mkperf_cost_pds_known(cost, places, i);

        if (!kernel && !pds) {
            continue;
        }
        mkperf_json(t, ",{'event':%s", mkperf_places_event_name(places, i, room));
        if (kernel) {
            mkperf_json(t, ",'kernel':%" PRIu64, cost->kernel[i]);
        }
        if (pds) {
            mkperf_json(t, ",'pds':%" PRIu64, cost->pds[i]);
        }
        mkperf_textout_puts(t, "}");
    }
    mkperf_json(t, "],'complete':%hhd}\n", totals->complete);
}

static enum mkperf_status put_line(void *self, const struct mkperf_item *item,
                                   struct mkperf_error *e)
{
    struct jsonl *j = self;
    struct mkperf_textout *t = &j->text;

    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        if (item->session->nevents == 0) {
            return mkperf_no_samples(e);
        }
        mkperf_jsonl_session(t, item->session);
        break;
    case MKPERF_ITEM_PD:
        mkperf_jsonl_pd(t, item->pd);
        break;
    case MKPERF_ITEM_EVENTS:
        mkperf_json(t, "{'type':'events'");
        put_events(t, item->session);
        break;
    case MKPERF_ITEM_SAMPLE:
        put_sample(j, item->sample);
        return mkperf_outfile_status(&t->out, e);
    case MKPERF_ITEM_MARK:
        mkperf_json(t, "{'type':'mark','time_ns':%" PRIu64, item->mark->time_ns);
        mkperf_json_known(t, "pd", mkperf_places_pd_name(&j->places, item->mark->pd));
        mkperf_json(t, ",'kind':%s,'id':%" PRIu32, mkperf_mark_names[item->mark->kind],
                    item->mark->id);
        mkperf_json_known(t, "name", item->mark->name);
        mkperf_textout_puts(t, "}\n");
        break;
    case MKPERF_ITEM_LOST:
        mkperf_json(t, "{'type':'lost','time_ns':%" PRIu64, item->lost->time_ns);
        if (item->lost->core != MKPERF_CORE_UNKNOWN) {
            mkperf_json(t, ",'core':%" PRIu32, item->lost->core);
        }
        mkperf_json(t, ",'where':%s,'samples':%" PRIu64 ",'events':%" PRIu64 "}\n",
                    mkperf_loss_places[item->lost->where].key, item->lost->samples,
                    item->lost->events);
        break;
    case MKPERF_ITEM_END:
        mkperf_cost_snapshots(&j->cost, &j->places, item->totals->snapshots_us);
        mkperf_jsonl_totals(t, &j->places, &j->cost, item->totals);
        if (j->warnings != NULL) {
            mkperf_places_warn(&j->places, j->warnings);
        }
        return mkperf_outfile_finish(&t->out, e);
    default:
        break;
    }
    return mkperf_places_take(&j->places, item, e);
}

static void jsonl_free(void *self)
{
    struct jsonl *j = self;

    mkperf_outfile_close(&j->text.out);
    mkperf_places_free(&j->places);
    free(j);
}

enum mkperf_status mkperf_jsonl_open(const struct mkperf_export *x, struct mkperf_output *out,
                                     struct mkperf_error *e)
{
    struct jsonl *j = mkperf_xcalloc(1, sizeof *j);

    j->places.search = x->elfs;
    j->places.inlined = !x->no_inlined;
    j->warnings = x->warnings;
    if (mkperf_outfile_open(&j->text.out, x->path, false, e) != MKPERF_OK) {
        free(j);
        return e->status;
    }
    *out = (struct mkperf_output){
        .sink = {.take = put_line, .self = j}, .free = jsonl_free, .self = j};
    return MKPERF_OK;
}
