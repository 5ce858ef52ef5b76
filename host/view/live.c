/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the session of a live view, and the data of its page: samples, and the newest scheduling. See view.h. */
#include "view.h"

/* ---- the newest part of the scheduling of a running target ---- */

/* Removes the records of an array of n for which `keep` is false. `keep` is an expression in i. */
#define VIEW_KEEP(array, n, keep)              \
    do {                                       \
        size_t kept_ = 0;                      \
        for (size_t i = 0; i < (n); i++) {     \
            if (keep) {                        \
                (array)[kept_++] = (array)[i]; \
            }                                  \
        }                                      \
        (n) = kept_;                           \
    } while (0)

/* Stores that records of a spool before `first` may be missing, if not all of them, but the last `n`, were taken. */
static void begin_at(uint64_t *since, const struct mkperf_spool *spool, size_t n, uint64_t first)
{
    if (n < spool->count) {
        *since = page_later(*since, n > 0 ? first : UINT64_MAX);
    }
}

/* Takes the newest records of each kind, and stores in since_ns the time after which no record of any kind is missing. */
static void take_newest(struct page_schedule *s, struct mkperf_schedule *from, size_t most)
{
    size_t known = 0;

    s->intervals = mkperf_spool_last(&from->intervals, s->interval, most);
    s->gaps = mkperf_spool_last(&from->gaps, s->gap, most);
    s->calls = mkperf_spool_last(&from->calls, s->call, most);
    s->wokens = mkperf_spool_last(&from->wakings, s->woken, most);
    /* An interval becomes known at its end, except that of a ready PD, which becomes known when the PD runs. */
    while (known < s->intervals && s->interval[known].state == MKPERF_PD_READY) {
        known++;
    }
    begin_at(&s->since_ns, &from->intervals, s->intervals,
             known < s->intervals ? s->interval[known].to : UINT64_MAX);
    begin_at(&s->since_ns, &from->gaps, s->gaps, s->gap[0].to);
    begin_at(&s->since_ns, &from->calls, s->calls, s->call[0].to_ns);
    /* Another waking at the same time may be missing. */
    begin_at(&s->since_ns, &from->wakings, s->wokens, s->woken[0].time + 1);
}

/* Adds the interval of the state that each PD has now, until the last event, and one of unknown state for the time before the
 * newest part. */
static void complete_intervals(struct page_schedule *s, uint64_t begin)
{
    const struct mkperf_analysis *a = s->analysis;

    for (uint32_t pd = 0; pd < a->npds; pd++) {
        const struct mkperf_sched_pd *of = &a->pd[pd];
        uint64_t began = page_later(of->slices > 0 ? of->slice[0].from : of->since, s->since_ns);
        bool calls = of->state == MKPERF_PD_CALLING && of->call.active;

        if (!of->idle && a->last_ns > began) {
            s->interval[s->intervals++] =
                (struct mkperf_interval){.from = began,
                                         .to = a->last_ns,
                                         .pd = pd,
                                         .core = of->core,
                                         .by = calls ? of->call.to : MKPERF_SCHED_NOBODY,
                                         .serving = of->serving,
                                         .state = of->state};
        }
        if (!of->idle && s->since_ns > begin) {
            s->interval[s->intervals++] = (struct mkperf_interval){.from = begin,
                                                                   .to = s->since_ns,
                                                                   .pd = pd,
                                                                   .by = MKPERF_SCHED_NOBODY,
                                                                   .serving = MKPERF_SCHED_NOBODY,
                                                                   .state = MKPERF_PD_UNKNOWN};
        }
    }
}

struct page_schedule view_live_schedule(struct mkperf_profile *p, size_t most, uint64_t from_ns)
{
    const struct mkperf_analysis *a = p->sched;
    struct page_schedule s = {.analysis = a, .lost = p->schedule.lost};

    if (!p->schedule.open) {
        return s;
    }
    s.interval = mkperf_xcalloc(most + 2 * (size_t)a->npds + 1, sizeof *s.interval);
    s.gap = mkperf_xcalloc(most + (size_t)a->ncores + 1, sizeof *s.gap);
    s.call = mkperf_xcalloc(most + 1, sizeof *s.call);
    s.woken = mkperf_xcalloc(most + 1, sizeof *s.woken);
    take_newest(&s, &p->schedule, most);
    uint64_t begin = page_later(a->first_ns, from_ns), since = s.since_ns;
    /* Intervals and gaps are cut at the begin of the complete part; calls and wakings are complete only from then on. */
    VIEW_KEEP(s.interval, s.intervals, s.interval[i].to > since);
    VIEW_KEEP(s.gap, s.gaps, s.gap[i].to > since);
    VIEW_KEEP(s.call, s.calls, s.call[i].from_ns >= since);
    VIEW_KEEP(s.woken, s.wokens, s.woken[i].time >= since);
    for (size_t i = 0; i < s.intervals; i++) {
        s.interval[i].from = page_later(s.interval[i].from, since);
    }
    for (size_t i = 0; i < s.gaps; i++) {
        s.gap[i].from = page_later(s.gap[i].from, since);
    }
    complete_intervals(&s, begin);
    for (uint32_t core = 0; since > begin && core < a->ncores; core++) {
        s.gap[s.gaps++] = (struct mkperf_core_interval){
            .pd = MKPERF_SCHED_NOBODY, .core = core, .from = begin, .to = since};
    }
    return s;
}

void view_live_schedule_free(struct page_schedule *s)
{
    free(s->interval);
    free(s->call);
    free(s->gap);
    free(s->woken);
}

struct page_bytes view_live_data(struct view_live *l)
{
    struct mkperf_profile *p = &l->profile;
    struct mkperf_profile_sample *sample = mkperf_xcalloc(VIEW_LIVE_SAMPLES, sizeof *sample);
    struct mkperf_profile_mark *mark = mkperf_xcalloc(VIEW_LIVE_LOSSES, sizeof *mark);
    struct mkperf_lost *loss = mkperf_xcalloc(VIEW_LIVE_LOSSES, sizeof *loss);
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
    in.schedule = view_live_schedule(p, VIEW_LIVE_SAMPLES, from_ns);
    VIEW_KEEP(mark, in.marks, mark[i].time_ns >= from_ns);
    MKPERF_SORT(mark, in.marks, MKPERF_UP(mark, time_ns));
    struct page_bytes b = page_data_make(&in);
    free(sample);
    free(mark);
    free(loss);
    view_live_schedule_free(&in.schedule);
    return b;
}

enum mkperf_status view_live_run(struct view_live *l, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &l->recorder;

    l->profile.cores = l->profile.times = l->profile.keep_schedule = true;
    l->profile.places.no_lines = true;
    l->frames.profile = &l->profile;
    r->notice = mkperf_print_notice;
    r->warn = mkperf_print_warning;
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
