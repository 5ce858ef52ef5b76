/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the windows of a target, and the counts for metrics. See agent.h. */
#include "agent.h"

/* ---- the file of the present window ---- */

/* The end of the chain if no outbox wants a file. */
static const struct mkperf_sink_ops no_file = {
    .reads = true, .events = mkperf_ignore_events, .sched = mkperf_ignore_sched};

static void close_chain(struct agent_window *w)
{
    mkperf_checks_free(w->checks);
    mkperf_perfdata_free(w->perfdata);
    free(w->path);
    w->checks = NULL;
    w->perfdata = NULL;
    w->path = NULL;
    w->to.ops = NULL;
}

/* Notes that the window's file could not be written. The rest of this window is counted, and not
 * kept. */
static void spoil(struct agent_window *w, const struct mkperf_error *e)
{
    agent_print(w->of, e->text);
    w->failed = true;
    if (w->to.ops != NULL) {
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
    struct mkperf_sink end = {.ops = &no_file, .every_pd = true};
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
        agent_print(w->of, strerror(errno));
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

/* Passes a call on to the file and to the counts. An error of the file ends the file, not the stream. */
#define TEE(w, function, ...)                                                    \
    do {                                                                         \
        struct mkperf_error why_;                                                \
        if ((w)->open && !(w)->failed &&                                         \
            mkperf_sink_##function(&(w)->to, __VA_ARGS__, &why_) != MKPERF_OK) { \
            spoil((w), &why_);                                                   \
        }                                                                        \
        (void)mkperf_sink_##function(&(w)->live, __VA_ARGS__, e);                \
    } while (0)

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

static enum mkperf_status begin(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e)
{
    struct agent_window *w = self;

    (void)session; /* a copy whose texts live only during the call */
    w->session = w->of->recorder.stream->session;
    w->sched = mkperf_analysis_new();
    mkperf_flow_init(&w->flow, w->sched);
    w->flow.to = mkperf_analysis_sink(w->sched);
    w->live = mkperf_flow_sink(&w->flow);
    enum mkperf_status status = mkperf_sink_begin(&w->live, session, e);
    mkperf_analysis_listen(w->sched, (struct mkperf_analysis_listener){.core = on_core, .self = w});
    return status;
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct agent_window *w = self;

    w->npds = pd->id + 1;
    TEE(w, pd, pd);
    return MKPERF_OK;
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct agent_window *w = self;

    w->session = w->of->recorder.stream->session;
    TEE(w, events, session);
    return MKPERF_OK;
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct agent_window *w = self;
    bool kernel = s->flags & (MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER);
    const uint64_t key[] = {s->event, s->pd, s->core, kernel};
    const struct mkperf_weight one = {mkperf_sample_count(s), s->period};

    open_window(w);
    note_time(w, s->time_ns);
    if (w->session.aggregate_ms != 0) {
        note_time(w, w->of->recorder.stream->window_ns);
    }
    w->counts.samples += one.samples;
    uint32_t number = mkperf_hash_number(&w->weight_keys, key, 4);
    MKPERF_GROW(w->weight, w->weight_room, (size_t)number + 1);
    mkperf_weight_add(&w->weight[number], &one);
    TEE(w, sample, s);
    return MKPERF_OK;
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *mark,
                                   struct mkperf_error *e)
{
    struct agent_window *w = self;

    open_window(w);
    w->counts.marks++;
    TEE(w, mark, mark);
    return MKPERF_OK;
}

static enum mkperf_status add_sched(void *self, const struct mkperf_sched *event,
                                    struct mkperf_error *e)
{
    struct agent_window *w = self;

    open_window(w);
    note_time(w, event->time_ns);
    w->counts.sched_events += event->kind != MKPERF_SCHED_GAP;
    TEE(w, sched, event);
    return MKPERF_OK;
}

static enum mkperf_status add_reading(void *self, const struct mkperf_queue_reading *reading,
                                      struct mkperf_error *e)
{
    struct agent_window *w = self;

    open_window(w);
    w->counts.queue_readings++;
    TEE(w, queue_reading, reading);
    return MKPERF_OK;
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *lost,
                                   struct mkperf_error *e)
{
    struct agent_window *w = self;

    open_window(w);
    w->counts.lost[lost->where] += lost->samples;
    TEE(w, lost, lost);
    return MKPERF_OK;
}

static enum mkperf_status flush(void *self, struct mkperf_error *e)
{
    struct agent_window *w = self;
    struct mkperf_error why;

    (void)e;
    if (w->open && !w->failed && mkperf_sink_flush(&w->to, &why) != MKPERF_OK) {
        spoil(w, &why);
    }
    return MKPERF_OK;
}

/* The stream has ended, with or without an error: what arrived is kept. */
static enum mkperf_status end(void *self, const struct mkperf_totals *totals,
                              struct mkperf_error *e)
{
    (void)totals, (void)e;
    agent_window_end(self);
    return MKPERF_OK;
}

static void abandon(void *self)
{
    agent_window_end(self);
}

struct mkperf_sink agent_window_sink(struct agent_window *w)
{
    static const struct mkperf_sink_ops ops = {
        .reads = true,
        .begin = begin,
        .pd = add_pd,
        .events = add_events,
        .sample = add_sample,
        .mark = add_mark,
        .sched = add_sched,
        .queue_reading = add_reading,
        .lost = add_lost,
        .flush = flush,
        .end = end,
        .abandon = abandon,
    };

    return (struct mkperf_sink){.ops = &ops, .self = w, .every_pd = true};
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
