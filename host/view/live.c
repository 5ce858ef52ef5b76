/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the session of a live view, and the data of its page. See view.h. */

#include "page/page.h"
#include "view.h"

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
    enum mkperf_status status;

    l->profile.cores = l->profile.times = l->profile.keep_schedule = true;
    l->profile.places.no_lines = true;
    l->frames.profile = &l->profile;
    r->notice = show_notice;
    r->warn = warn;
    r->progress = on_progress;
    r->stop = l->interrupts;
    r->self = l;
    if (mkperf_recorder_init(r, false, e) != MKPERF_OK) {
        return e->status;
    }
    mkperf_recorder_decode(r, mkperf_profile_sink(&l->profile), NULL);
    if (!r->link.source.ops->interactive) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                "-t: a capture is no running target; mkperf convert makes a "
                                "recording of it");
    }
    status = mkperf_recorder_start(r, e);
    if (status == MKPERF_OK) {
        status = mkperf_recorder_run(r, e);
    }
    if (status == MKPERF_OK) {
        status = mkperf_recorder_stop(r, e);
    }
    return status == MKPERF_OK ? mkperf_stream_finish(r->stream, e) : status;
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
