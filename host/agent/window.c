/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the windows of a target, and the counts for metrics. See agent.h. */
#include "agent.h"

/* ---- the file of the present window ---- */

static void close_chain(struct agent_window *w)
{
    mkperf_checks_free(w->checks);
    mkperf_perfdata_free(w->perfdata);
    free(w->path);
    w->checks = NULL;
    w->perfdata = NULL;
    w->path = NULL;
    w->to.take = NULL;
}

/* Notes that the window's file could not be written. The rest of this window is counted, and not
 * kept. */
static void spoil(struct agent_window *w, const struct mkperf_error *e)
{
    agent_print(w->of, e->text);
    w->failed = true;
    if (w->to.take != NULL) {
        mkperf_sink_abandon(&w->to);
    }
    if (w->path != NULL) {
        char *partial = mkperf_xprintf("%s.partial", w->path);
        unlink(partial);
        unlink(w->path);
        free(partial);
    }
    close_chain(w);
}

/* Opens the window's file, if it is not open. Called before each record. */
static void open_window(struct agent_window *w)
{
    const struct agent *a = w->of->agent;
    struct mkperf_recorder *r = &w->of->recorder;
    struct mkperf_sink end = {.take = mkperf_take_nothing, .every_pd = true};
    struct mkperf_error e = {.status = MKPERF_OK};

    if (w->open) {
        return;
    }
    w->open = true;
    w->failed = false;
    w->opened_s = mkperf_now_s();
    w->name = (struct agent_name){.sequence = w->of->agent->sequence++, .unix_ms = agent_unix_ms()};
    snprintf(w->name.target, sizeof w->name.target, "%s", w->of->name);
    w->counts = (struct mkperf_totals){.first_ns = UINT64_MAX};
    if (a->nto != 0) {
        w->path = agent_name_path(&a->outbox[0], &w->name);
        if (mkperf_perfdata_new(w->path, r->symbols, &w->perfdata, &e) != MKPERF_OK) {
            spoil(w, &e);
            return;
        }
        mkperf_perfdata_compress(w->perfdata, (int)r->options.compression);
        end = mkperf_perfdata_sink(w->perfdata);
    }
    w->checks = mkperf_checks_new(end, r->symbols, true);
    w->to = mkperf_checks_sink(w->checks);
    e.status = mkperf_sink_begin(&w->to, &w->session, &e);
    for (uint32_t i = 0; i < w->npds && e.status == MKPERF_OK; i++) {
        e.status = mkperf_sink_pd(&w->to, &r->pds->pd[i], &e);
    }
    if (e.status != MKPERF_OK) {
        spoil(w, &e);
    }
}

/* Gives the finished file its name and puts it into all outboxes. */
static void hand_over(struct agent_window *w, const struct mkperf_totals *t)
{
    struct agent *a = w->of->agent;
    const struct mkperf_elf_search elfs = agent_elfs(a, w->name.unix_ms);

    w->name.samples = t->samples;
    char *path = agent_name_path(&a->outbox[0], &w->name);
    if (rename(w->path, path) == 0) {
        for (unsigned i = 0; i < a->nto; i++) {
            struct mkperf_error e;
            if (agent_outbox_add(&a->outbox[i], path, t, &elfs, &e) != MKPERF_OK) {
                agent_print(w->of, e.text);
            }
        }
        if (a->outbox[0].kind == AGENT_PPROF) {
            unlink(path);
        }
    } else {
        char *why = mkperf_xprintf("%s: cannot be renamed: %s", w->path, strerror(errno));
        agent_print(w->of, why);
        free(why);
        w->failed = true;
    }
    free(path);
}

void agent_window_end(struct agent_window *w)
{
    struct mkperf_error e = {.status = MKPERF_OK};

    if (!w->open) {
        return;
    }
    /* The totals of this window are its own counts, and what only the stream counts since the last one. */
    struct mkperf_totals now, t;
    mkperf_stream_totals(w->of->recorder.stream, &now);
    t = now;
    mkperf_figures_add(&t, &w->before, true);
    w->before = now;
    t.complete = t.restarts == 0;
    t.fill.size = 0; /* the points of `fill` are those of the whole session */
    t.interactions = NULL;
    t.counts = NULL;
    t.samples = w->counts.samples;
    t.marks = w->counts.marks;
    t.sched_events = w->counts.sched_events;
    t.queue_readings = w->counts.queue_readings;
    memcpy(t.lost, w->counts.lost, sizeof t.lost);
    t.first_ns = w->counts.first_ns != UINT64_MAX ? w->counts.first_ns : 0;
    t.last_ns = w->counts.last_ns;
    if (!w->failed && mkperf_sink_end(&w->to, &t, &e) != MKPERF_OK) {
        spoil(w, &e);
    }
    if (!w->failed) {
        /* They include the comparison, and the cost of profiling. */
        t = *mkperf_checks_totals(w->checks);
        if (w->perfdata != NULL) {
            hand_over(w, &t);
        }
    }
    w->spoiled += w->failed;
    w->spoiled_samples += w->failed ? t.samples : 0;
    mkperf_figures_add(&w->sum, &t, false);
    w->windows++;
    w->open = false;
    close_chain(w);
    agent_metrics_make(w);
}

/* ---- the sink ---- */

static void note_time(struct agent_window *w, uint64_t ns)
{
    w->counts.first_ns = ns < w->counts.first_ns ? ns : w->counts.first_ns;
    w->counts.last_ns = ns > w->counts.last_ns ? ns : w->counts.last_ns;
}

static void on_core(void *self, const struct mkperf_core_interval *i)
{
    struct agent_window *w = self;
    uint32_t number = mkperf_hash_number(&w->ran_keys, (uint64_t[2]){i->pd, i->core}, 2);

    MKPERF_GROW(w->ran_ns, w->ran_room, (size_t)number + 1);
    w->ran_ns[number] += i->to - i->from;
}

static void begin(struct agent_window *w)
{
    w->session = w->of->recorder.stream->session; /* its texts live longer than those of the item */
    w->sched = mkperf_analysis_new();
    mkperf_flow_init(&w->flow, w->sched);
    w->live = mkperf_flow_sink(&w->flow);
    mkperf_analysis_listen(w->sched, (struct mkperf_analysis_listener){.core = on_core, .self = w});
}

static void add_sample(struct agent_window *w, const struct mkperf_sample *s)
{
    bool kernel = s->flags & (MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER);
    const uint64_t key[] = {s->event, s->pd, s->core, kernel};
    const struct mkperf_weight one = {mkperf_sample_count(s), s->period};

    note_time(w, s->time_ns);
    if (w->session.aggregate_ms != 0) {
        note_time(w, w->of->recorder.stream->window_ns);
    }
    w->counts.samples += one.samples;
    uint32_t number = mkperf_hash_number(&w->weight_keys, key, 4);
    MKPERF_GROW(w->weight, w->weight_room, (size_t)number + 1);
    mkperf_weight_add(&w->weight[number], &one);
}

static enum mkperf_status add_item(void *self, const struct mkperf_item *item,
                                   struct mkperf_error *e)
{
    struct agent_window *w = self;
    struct mkperf_error why;

    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        begin(w);
        return mkperf_sink_put(&w->live, item, e);
    case MKPERF_ITEM_PD:
        w->npds = item->pd->id + 1;
        break;
    case MKPERF_ITEM_EVENTS:
        w->session = w->of->recorder.stream->session;
        break;
    case MKPERF_ITEM_SAMPLE:
        open_window(w);
        add_sample(w, item->sample);
        break;
    case MKPERF_ITEM_MARK:
        open_window(w);
        w->counts.marks++;
        break;
    case MKPERF_ITEM_SCHED:
        open_window(w);
        note_time(w, item->sched->time_ns);
        w->counts.sched_events += item->sched->kind != MKPERF_SCHED_GAP;
        break;
    case MKPERF_ITEM_READING:
        open_window(w);
        w->counts.queue_readings++;
        break;
    case MKPERF_ITEM_LOST:
        open_window(w);
        w->counts.lost[item->lost->where] += item->lost->samples;
        break;
    case MKPERF_ITEM_END: /* what arrived is kept, also after an error */
    case MKPERF_ITEM_ABANDON:
        agent_window_end(w);
        return MKPERF_OK;
    default:
        break;
    }
    /* An error of the file ends the file, not the stream. */
    if (w->open && !w->failed && mkperf_sink_put(&w->to, item, &why) != MKPERF_OK) {
        spoil(w, &why);
    }
    (void)mkperf_sink_put(&w->live, item, e);
    return MKPERF_OK;
}

struct mkperf_sink agent_window_sink(struct agent_window *w)
{
    return (struct mkperf_sink){.take = add_item, .self = w, .every_pd = true};
}

void agent_window_free(struct agent_window *w)
{
    agent_window_end(w);
    mkperf_flow_free(&w->flow);
    mkperf_analysis_free(w->sched);
    mkperf_hash_free(&w->weight_keys);
    mkperf_hash_free(&w->ran_keys);
    free(w->weight);
    free(w->ran_ns);
    for (unsigned i = 0; i < AGENT_FAMILIES; i++) {
        free(w->text[i]);
    }
    *w = (struct agent_window){.of = w->of};
}
