/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The conversation of a measurement with the target, see stat.h.
 *
 * Another host may take over control, end the session and begin its own. The target reports the end first, so later messages
 * belong to the other session. Then the last complete reading before the end is the result.
 */
#include "stat.h"

#include "pmu/events.h"

/* Seconds between readings with counts by PD, which are the result if another host ends the session. */
static const double WHOLE_S = 1.0;
enum { POLL_MS = 50, ESTIMATE_HZ = 1000 };

/* ---- messages of the target ------------------------------------------------------------------- */

static void on_end(struct stat_measure *s)
{
    s->counting = false;
    s->ended = s->recorder.ended = true;
}

static void on_control(void *self, const mkperf_ToHost *m)
{
    struct stat_measure *s = self;

    if (m->which_msg == mkperf_ToHost_session_tag && m->request != 0) {
        s->session = m->msg.session; /* the answer to our request */
    } else if (s->counting &&
               ((m->which_msg == mkperf_ToHost_session_tag && m->msg.session.id != s->session.id) ||
                (m->which_msg == mkperf_ToHost_status_tag &&
                 (m->msg.status.session != s->session.id || !m->msg.status.running)))) {
        on_end(s);
    }
}

static void add_sample(struct stat_measure *s, const struct mkperf_sample *sample)
{
    if (s->recorder.stream->session_id != s->session.id) {
        return; /* the sample belongs to the session of another host */
    }
    s->first_ns = s->first_ns != 0 ? s->first_ns : sample->time_ns;
    s->last_ns = sample->time_ns;
    stat_sample(&s->work, sample, s->style.per_core);
    mkperf_progress(MKPERF_SECONDS_OVER, (double)(s->last_ns - s->first_ns) / 1e9,
                    s->recorder.options.duration_s);
}

static enum mkperf_status take(void *self, const struct mkperf_item *item, struct mkperf_error *e)
{
    struct stat_measure *s = self;

    if (item->kind == MKPERF_ITEM_BEGIN && item->session->nevents == 0) {
        return mkperf_no_samples(e);
    }
    if (item->kind == MKPERF_ITEM_SAMPLE) {
        add_sample(s, item->sample);
    } else if (item->kind == MKPERF_ITEM_EVENTS && s->counting) {
        on_end(s); /* another session with other events begins */
    }
    return MKPERF_OK;
}

static enum mkperf_status connect_target(struct stat_measure *s, struct mkperf_error *e)
{
    mkperf_checks_free(s->checks);
    s->checks = mkperf_checks_new((struct mkperf_sink){.take = take, .self = s, .splits = true},
                                  NULL, false);
    const struct mkperf_sink checked = mkperf_checks_sink(s->checks);
    MKPERF_TRY(mkperf_recorder_talk(&s->recorder, &checked, NULL, e));
    s->style.session = &s->session;
    s->style.pds = s->recorder.pds;
    s->style.cpu = s->recorder.stream->hello.cpu;
    return MKPERF_OK;
}

/* Returns whether the target sends counts by PD or core, in separate parts. */
static bool has_parts(const struct stat_measure *s)
{
    return s->per_pd || s->style.per_core;
}

/*
 * Receives a reading into s->work, with the counts by PD and core if `all`. If the counts belong to another session, s->work
 * becomes the last complete reading.
 */
static enum mkperf_status read_counts(struct stat_measure *s, bool all, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &s->recorder;
    const mkperf_Counts *c = &r->link.answer.msg.counts;
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_counts_tag};

    for (uint32_t part = 0, parts = 1; part < parts; part++) {
        m.msg.get_counts.part = part;
        MKPERF_TRY(mkperf_recorder_ask(r, &m, "GetCounts", e));
        bool counts = r->link.answer.which_msg == mkperf_ToHost_counts_tag;
        /* A session that does not run is ours, unless another host may have configured a session since. Its session would have the
         * number of ours until it begins. */
        bool ours = counts && c->session == s->session.id && (c->running || !r->watching);
        if (!ours && (s->ended || r->watching || counts)) {
            on_end(s);
            s->work = s->good;
            return MKPERF_OK;
        }
        MKPERF_TRY(mkperf_recorder_refused(r, e));
        MKPERF_FAIL_IF(!counts || c->part != part || c->parts > MKPERF_MAX_PARTS ||
                           c->events_count > STAT_EVENTS,
                       e, MKPERF_ERR_INPUT, "%s: an answer that is not to GetCounts",
                       r->options.link.target);
        if (part == 0) {
            parts = all ? c->parts : 1;
            stat_begin(&s->work, c);
        } else {
            stat_add(&s->work, c, r->pds);
        }
    }
    if (all && s->style.per_core && !s->ended) {
        /* Marks the rows of cores that do not answer. Their counters cannot be read. The target only has the overflows that it saw
         * before, which are no count of the whole time. */
        struct mkperf_core core;
        unsigned number;

        m.which_msg = mkperf_ToTarget_get_status_tag;
        MKPERF_TRY(mkperf_recorder_ask(r, &m, "GetStatus", e));
        for (unsigned i = 0; mkperf_stream_core(r->stream, i, &number, &core); i++) {
            for (unsigned k = 1; k < s->work.rows; k++) {
                s->work.row[k].late |= s->work.row[k].pd == STAT_CORE + number &&
                                       core.state != MKPERF_CORE_RUNS;
            }
        }
    }
    if (all && s->util && !s->ended && s->session.events_count < STAT_EVENTS &&
        s->work.events < STAT_EVENTS) {
        /* Adds how long each PD ran since the session began. The sum of all PDs and idle is the value of row 0. */
        struct mkperf_latency_rows rows = {0};
        mkperf_SessionEvent *event = &s->session.events[s->session.events_count];

        MKPERF_TRY(mkperf_latency_query(r, &rows, e));
        *event = (mkperf_SessionEvent){.code = UINT32_MAX};
        snprintf(event->name, sizeof event->name, "%s", MKPERF_RUN_TIME_EVENT);
        unsigned at = s->work.events++;
        s->work.share[at] = 1;
        for (unsigned i = 0; i < rows.nruns; i++) {
            uint32_t pd = mkperf_pds_find(r->pds, rows.run[i].thread);
            stat_row(&s->work, pd)->value[at].user += (double)rows.run[i].ns;
            s->work.row[0].value[at].user += (double)rows.run[i].ns;
        }
        mkperf_latency_rows_free(&rows);
    }
    if (all || !has_parts(s)) {
        s->good = s->work;
    }
    return MKPERF_OK;
}

/* ---- a run ---------------------------------------------------------------------------------- */

static void show_interval(struct stat_measure *s)
{
    static struct stat_reading step;

    s->style.titles = s->before.rows == 0;
    stat_difference(&step, &s->work, &s->before);
    s->style.time_s = s->work.seconds;
    stat_print(&step, &s->style);
    s->before = s->work;
}

/* Requests readings until the duration has passed, in the target's time if that is known. */
static enum mkperf_status count(struct stat_measure *s, struct mkperf_error *e)
{
    double began = mkperf_now_s(), wanted = s->recorder.options.duration_s;
    double next = (double)s->interval_ms / 1000, time = 0, whole = 0;

    memset(&s->before, 0, sizeof s->before);
    while (!mkperf_peer_stopped(&s->recorder.link) && !s->ended && (wanted <= 0 || time < wanted)) {
        double until = mkperf_now_s() + POLL_MS / 1000.0;
        while (mkperf_now_s() < until && !mkperf_peer_stopped(&s->recorder.link)) {
            MKPERF_TRY(mkperf_peer_pump(&s->recorder.link, 10, e));
        }
        bool all = has_parts(s) && (s->interval_ms != 0 || mkperf_now_s() - whole >= WHOLE_S);
        MKPERF_TRY(read_counts(s, all, e));
        whole = all ? mkperf_now_s() : whole;
        time = s->work.seconds > 0 ? s->work.seconds : mkperf_now_s() - began;
        if (s->interval_ms == 0) {
            mkperf_progress(MKPERF_SECONDS_OVER, time, wanted > 0 ? wanted : 0);
        }
        /* The last interval of a duration ends with the session, which run_once reads once more. */
        bool last = wanted > 0 && time >= wanted;
        if (s->interval_ms != 0 && time >= next && !last) {
            show_interval(s);
            while (next <= time) { /* a long answer skips intervals; later ones keep their times */
                next += (double)s->interval_ms / 1000;
            }
        }
    }
    return MKPERF_OK;
}

static enum mkperf_status begin_session(struct stat_measure *s, struct mkperf_error *e)
{
    enum mkperf_status status = mkperf_recorder_begin(&s->recorder, e);

    s->counting = status == MKPERF_OK;
    if (s->counting && !s->warned) {
        s->warned = true;
        /* Warns of cores that are not counted, and of events that count all cores. */
        char text[MKPERF_CORES_TEXT];
        for (unsigned i = 0; mkperf_cores_warning(&s->recorder.stream->session, i, text); i++) {
            fprintf(stderr, "mkperf: warning: %s\n", text);
        }
    }
    return status;
}

static enum mkperf_status stop_session(struct stat_measure *s, struct mkperf_error *e)
{
    s->counting = false;
    return mkperf_recorder_stop(&s->recorder, e);
}

/* Prints how the estimate and the counts compare. */
static void print_checked(void *out, bool warns, const char *title, const char *text)
{
    (void)warns;
    if (title != NULL && strcmp(title, "checked") == 0) {
        fprintf(out, "mkperf: %s\n", text);
    }
}

/* Receives the samples of an estimate until the duration has passed. If the target can also count the events, the two are
 * compared. */
static enum mkperf_status receive_samples(struct stat_measure *s, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &s->recorder;
    bool *counts = &r->options.configure.per_pd;

    MKPERF_FAIL_IF(s->interval_ms != 0 || s->runs > 1, e, MKPERF_ERR_USAGE,
                   "stat: -I and -r need counts, not estimates");

    memset(&s->work, 0, sizeof s->work);
    s->first_ns = s->last_ns = 0;
    if (begin_session(s, e) != MKPERF_OK && e->status == MKPERF_ERR_REFUSED && *counts) {
        fprintf(stderr, "mkperf: samples and counts are not compared: %s\n", e->text);
        e->status = MKPERF_OK;
        *counts = false;
        begin_session(s, e);
    }
    MKPERF_TRY(e->status);
    MKPERF_TRY(mkperf_recorder_run(r, e));
    MKPERF_TRY(stop_session(s, e));
    if (*counts && !r->watching) {
        MKPERF_TRY(mkperf_recorder_snapshot(r, MKPERF_TARGET_COUNTS, NULL, e));
    }
    MKPERF_TRY(mkperf_sink_finish(&r->stream->config.sink, mkperf_stream_finish(r->stream, e),
                                  &r->stream->totals, e));
    mkperf_figures_texts(MKPERF_FIGURE_SUMMARY, MKPERF_SECTION_SECOND, MKPERF_SECTION_END,
                         mkperf_checks_totals(s->checks), print_checked, stderr);
    stat_estimate(&s->work, s->session.events_count, (double)(s->last_ns - s->first_ns) / 1e9);
    return MKPERF_OK;
}

/* Configures the events: to be counted, or to be sampled for an estimate. */
static void set_events(struct stat_measure *s, bool estimate)
{
    mkperf_Configure *c = &s->recorder.options.configure;

    s->estimate = estimate;
    c->per_pd = s->per_pd;
    c->latency = s->util;
    for (unsigned i = 0; i < c->events_count; i++) {
        c->events[i].count = !estimate;
        c->events[i].read = false; /* each event is counted by itself */
        if (estimate) {
            c->events[i].group = 0;
            if (c->events[i].period == 0 && c->events[i].frequency == 0) {
                c->events[i].frequency = ESTIMATE_HZ;
            }
        }
    }
}

static enum mkperf_status run_once(struct stat_measure *s, struct mkperf_error *e)
{
    if (s->interval_ms == 0) {
        mkperf_progress_begin("counting");
    }
    if (s->estimate) {
        return receive_samples(s, e);
    }
    MKPERF_TRY(begin_session(s, e));
    /* The kernel has one table of software events for all cores, and one of counts by thread. */
    bool cores = s->style.per_core && s->recorder.stream->hello.cores > 1;
    for (unsigned i = 0; cores && i < s->session.events_count; i++) {
        const mkperf_SessionEvent *v = &s->session.events[i];
        bool soft = v->code >= MKPERF_SOFT_CODE;
        if (soft || v->only != 0) {
            struct mkperf_error ignored;
            stop_session(s, &ignored);
            return mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                    "--per-core: '%s' %s, which the target does not count by core",
                                    v->name, soft ? "is a software event" : "has :G or :H");
        }
    }
    MKPERF_TRY(s->per_pd ? read_counts(s, false, e) : MKPERF_OK);
    if (s->per_pd && !s->work.by_pd && !s->ended) {
        /* The kernel does not count by PD: begins again, with an estimate from samples. */
        fprintf(stderr, "mkperf: this kernel does not count by PD: estimating from samples\n");
        MKPERF_TRY(stop_session(s, e));
        mkperf_recorder_free(&s->recorder); /* other events need a new conversation */
        set_events(s, true);
        s->recorder.options.configure.per_pd = false;
        MKPERF_TRY(connect_target(s, e));
        return receive_samples(s, e);
    }
    MKPERF_TRY(count(s, e));
    MKPERF_TRY(stop_session(s, e));
    MKPERF_TRY(read_counts(s, has_parts(s), e));
    if (s->interval_ms != 0 && s->work.seconds > s->before.seconds) { /* the last interval */
        show_interval(s);
    }
    return MKPERF_OK;
}

enum mkperf_status stat_measure(struct stat_measure *s, struct mkperf_error *e)
{
    uint32_t chosen = s->recorder.options.configure.cores;
    char room[MKPERF_CORE_PROBLEM_TEXT];
    struct mkperf_core core;
    unsigned number;

    s->recorder.control = on_control;
    s->recorder.self = s;
    MKPERF_TRY(connect_target(s, e));
    if (s->style.metrics != NULL) { /* groups whose events the target's CPU has */
        char missing[256];
        MKPERF_TRY(mkperf_pmu_metric_groups(s->style.metrics, s->style.cpu,
                                            &s->recorder.options.configure, missing, sizeof missing,
                                            e));
        if (missing[0] != '\0') {
            fprintf(stderr, "mkperf: %s\n", missing);
        }
    }
    set_events(s, s->estimate);
    s->style.cores = chosen != 0 ? (unsigned)__builtin_popcount(chosen)
                                 : s->recorder.stream->hello.cores;
    for (uint64_t i = 0; i < s->runs && !mkperf_peer_stopped(&s->recorder.link); i++) {
        enum mkperf_status status = run_once(s, e);
        mkperf_progress_end();
        MKPERF_TRY(status);
        for (unsigned k = 0; mkperf_stream_core(s->recorder.stream, k, &number, &core); k++) {
            const char *problem = mkperf_core_problem(&core, room);
            if (problem != NULL) {
                fprintf(stderr, "mkperf: warning: core %u %s\n", number, problem);
            }
        }
        if (s->ended) {
            MKPERF_FAIL_IF(s->estimate ? s->first_ns == 0 : s->work.rows == 0, e,
                           MKPERF_ERR_REFUSED, "the session was ended before anything was counted");
            fprintf(stderr, "mkperf: the session was ended %s after %.3f s: ",
                    s->recorder.watching ? "by another host" : "on the target", s->work.seconds);
            fprintf(stderr,
                    s->sum.runs == 0 ? "the counts are of this time\n"
                                     : "run %u and later runs are omitted\n",
                    s->sum.runs + 1);
        } else if (s->recorder.watching && i + 1 < s->runs) {
            fprintf(stderr,
                    "mkperf: another host controls the target now: run %" PRIu64 " was the last\n",
                    i + 1);
        }
        if (!s->ended || s->sum.runs == 0) {
            stat_repeat_add(&s->sum, &s->work);
        }
        if (s->ended || s->recorder.watching) {
            break;
        }
    }
    if (s->runs > 1) { /* which excludes intervals */
        stat_repeat_mean(&s->sum, &s->work);
    }
    if (s->interval_ms == 0) {
        s->style.time_s = s->work.seconds;
        stat_print(&s->work, &s->style);
    }
    return MKPERF_OK;
}
