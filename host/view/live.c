/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the session of a live view, and the data of its page: samples, and the newest scheduling. See view.h. */
#include "view.h"

/* ---- the newest part of the scheduling of a running target ---- */

/* Takes the newest records of each kind. Stores in since_ns the time after which no record of any kind is missing. */
static void take_newest(struct view_live_schedule *s, struct mkperf_profile *p, size_t most)
{
    struct mkperf_schedule *from = &p->schedule;
    struct page_schedule *shown = &s->shown;

    s->interval = mkperf_xcalloc(most + 2 * (size_t)p->sched->npds + 1, sizeof *s->interval);
    s->gap = mkperf_xcalloc(most + (size_t)p->sched->ncores + 1, sizeof *s->gap);
    s->call = mkperf_xcalloc(most, sizeof *s->call);
    s->woken = mkperf_xcalloc(most, sizeof *s->woken);
    shown->intervals = mkperf_spool_last(&from->intervals, s->interval + p->sched->npds, most);
    shown->gaps = mkperf_spool_last(&from->gaps, s->gap + p->sched->ncores, most);
    shown->calls = mkperf_spool_last(&from->calls, s->call, most);
    shown->wokens = mkperf_spool_last(&from->wakings, s->woken, most);
    if (shown->intervals < from->intervals.count) {
        /* An interval becomes known at its end, except that of a ready PD, which becomes known when the PD runs. */
        const struct mkperf_interval *newest = s->interval + p->sched->npds;
        size_t first = 0;
        while (first < shown->intervals && newest[first].state == MKPERF_PD_READY) {
            first++;
        }
        shown->since_ns = first < shown->intervals ? newest[first].to : UINT64_MAX;
    }
    if (shown->gaps > 0 && shown->gaps < from->gaps.count) {
        shown->since_ns = page_later(shown->since_ns, s->gap[p->sched->ncores].to);
    }
    if (shown->calls > 0 && shown->calls < from->calls.count) {
        shown->since_ns = page_later(shown->since_ns, s->call[0].to_ns);
    }
    /* Another waking at the same time may be missing. */
    if (shown->wokens > 0 && shown->wokens < from->wakings.count) {
        shown->since_ns = page_later(shown->since_ns, s->woken[0].time + 1);
    }
}

/* Cuts the newest intervals at the begin of the complete part. Adds an interval of each PD before it, and one for its state now. */
static void complete_intervals(struct view_live_schedule *s, const struct mkperf_analysis *a,
                               uint64_t begin)
{
    struct page_schedule *shown = &s->shown;
    struct mkperf_interval *newest = s->interval + a->npds, *first = newest;
    uint64_t since = shown->since_ns;

    VIEW_KEEP(newest, shown->intervals, newest[i].to > since);
    for (size_t i = 0; i < shown->intervals; i++) {
        newest[i].from = page_later(newest[i].from, since);
    }
    /* The state that a PD has now, until the last event. */
    for (uint32_t pd = 0; pd < a->npds; pd++) {
        const struct mkperf_sched_pd *of = &a->pd[pd];
        uint64_t began = page_later(of->slices > 0 ? of->slice[0].from : of->since, since);
        bool calls = of->state == MKPERF_PD_CALLING && of->call.active;

        if (!of->idle && a->last_ns > began) {
            newest[shown->intervals++] =
                (struct mkperf_interval){.from = began,
                                         .to = a->last_ns,
                                         .pd = pd,
                                         .core = of->core,
                                         .by = calls ? of->call.to : MKPERF_SCHED_NOBODY,
                                         .serving = of->serving,
                                         .state = of->state};
        }
    }
    for (uint32_t pd = a->npds; since > begin && pd-- > 0;) {
        if (!a->pd[pd].idle) {
            *--first = (struct mkperf_interval){.from = begin,
                                                .to = since,
                                                .pd = pd,
                                                .by = MKPERF_SCHED_NOBODY,
                                                .serving = MKPERF_SCHED_NOBODY,
                                                .state = MKPERF_PD_UNKNOWN};
            shown->intervals++;
        }
    }
    shown->interval = first;
}

void view_live_schedule_take(struct view_live_schedule *s, struct mkperf_profile *p, size_t most,
                             uint64_t from_ns)
{
    *s = (struct view_live_schedule){.shown = {.analysis = p->sched, .lost = p->schedule.lost}};
    if (!p->schedule.open) {
        return;
    }
    take_newest(s, p, most);
    uint64_t begin = page_later(p->sched->first_ns, from_ns), since = s->shown.since_ns;
    complete_intervals(s, p->sched, begin);
    /* Cuts the newest gaps at the begin of the complete part, and adds a gap of each core before it. */
    struct mkperf_core_interval *newest = s->gap + p->sched->ncores;
    s->shown.gap = newest;
    VIEW_KEEP(newest, s->shown.gaps, newest[i].to > since);
    for (size_t i = 0; i < s->shown.gaps; i++) {
        newest[i].from = page_later(newest[i].from, since);
    }
    for (uint32_t core = p->sched->ncores; since > begin && core-- > 0; s->shown.gaps++) {
        s->gap[core] = (struct mkperf_core_interval){
            .pd = MKPERF_SCHED_NOBODY, .core = core, .from = begin, .to = since};
        s->shown.gap = s->gap;
    }
    /* The lists of calls and wakings are complete only from then on. */
    VIEW_KEEP(s->call, s->shown.calls, s->call[i].from_ns >= since);
    VIEW_KEEP(s->woken, s->shown.wokens, s->woken[i].time >= since);
    s->shown.call = s->call;
    s->shown.woken = s->woken;
}

void view_live_schedule_free(struct view_live_schedule *s)
{
    free(s->interval);
    free(s->call);
    free(s->gap);
    free(s->woken);
    *s = (struct view_live_schedule){.shown = {.intervals = 0}};
}

static void show_notice(void *self, const char *text)
{
    (void)self;
    mkperf_print_line(stderr, "mkperf view: %s", text);
}

static void on_progress(void *self)
{
    struct view_live *l = self;

    l->poll(l->server);
}

struct page_bytes view_live_data(struct view_live *l)
{
    struct mkperf_profile *p = &l->profile;
    struct mkperf_profile_sample *sample = mkperf_xcalloc(VIEW_LIVE_SAMPLES, sizeof *sample);
    struct mkperf_profile_mark *mark = mkperf_xcalloc(VIEW_LIVE_LOSSES, sizeof *mark);
    struct mkperf_lost *loss = mkperf_xcalloc(VIEW_LIVE_LOSSES, sizeof *loss);
    struct view_live_schedule schedule;
    uint64_t from_ns;
    struct page_input in = {.frames = &l->frames,
                            .sample = sample,
                            .mark = mark,
                            .loss = loss,
                            .file = l->recorder.options.link.target,
                            .live = true};

    in.samples = mkperf_spool_last(&p->samples, sample, VIEW_LIVE_SAMPLES);
    in.marks = mkperf_spool_last(&p->marks, mark, VIEW_LIVE_LOSSES);
    in.losses = mkperf_spool_last(&p->losses, loss, VIEW_LIVE_LOSSES);
    in.older_samples = p->samples.count - in.samples;
    in.older_marks = p->marks.count - in.marks;
    in.older_losses = p->losses.count - in.losses;
    MKPERF_SORT(sample, in.samples, MKPERF_UP(sample, time_ns), MKPERF_UP(sample, order));
    from_ns = in.samples > 0 ? sample[0].time_ns : 0; /* the time line begins with it */
    view_live_schedule_take(&schedule, p, VIEW_LIVE_SAMPLES, from_ns);
    in.schedule = schedule.shown;
    VIEW_KEEP(mark, in.marks, mark[i].time_ns >= from_ns);
    MKPERF_SORT(mark, in.marks, MKPERF_UP(mark, time_ns));
    struct page_bytes b = page_data_make(&in);
    free(sample);
    free(mark);
    free(loss);
    view_live_schedule_free(&schedule);
    return b;
}

static void warn(void *self, const char *text)
{
    (void)self;
    mkperf_print_line(stderr, "mkperf view: warning: %s", text);
}

enum mkperf_status view_live_run(struct view_live *l, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &l->recorder;

    l->profile.cores = l->profile.times = l->profile.keep_schedule = true;
    l->profile.places.no_lines = true;
    l->frames.profile = &l->profile;
    r->notice = show_notice;
    r->warn = warn;
    r->progress = on_progress;
    r->stop = l->interrupts;
    r->self = l;
    MKPERF_TRY(mkperf_recorder_init(r, false, e));
    mkperf_recorder_decode(r, mkperf_profile_sink(&l->profile), NULL);
    if (!r->link.source.ops->interactive) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                "-t: a capture is not a running target; mkperf convert makes a "
                                "recording of it");
    }
    MKPERF_TRY(mkperf_recorder_start(r, e));
    MKPERF_TRY(mkperf_recorder_run(r, e));
    MKPERF_TRY(mkperf_recorder_stop(r, e));
    return mkperf_stream_finish(r->stream, e);
}

void view_live_free(struct view_live *l)
{
    if (l->recorder.symbols != NULL) {
        mkperf_frames_close(&l->frames);
        mkperf_profile_free(&l->profile);
    }
    mkperf_recorder_free(&l->recorder);
    annotate_sources_free(&l->sources);
}
