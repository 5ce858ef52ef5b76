/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see talk.h. */
#include "talk.h"

static enum mkperf_status no_sched(void *self, const struct mkperf_sched *event,
                                   struct mkperf_error *e)
{
    (void)self, (void)event, (void)e;
    return MKPERF_OK;
}

/* Sessions with other events, or with scheduling events, may begin one after another. */
static const struct mkperf_sink_ops no_sink = {
    .name = "none", .events = mkperf_ignore_events, .sched = no_sched};

static enum mkperf_status on_control(void *self, const mkperf_ToHost *m, struct mkperf_error *e)
{
    struct mkperf_talk *t = self;

    if (t->control != NULL) {
        t->control(t->self, m);
    }
    return mkperf_recorder_control(&t->recorder, m, e);
}

static enum mkperf_status set_up(struct mkperf_talk *t, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &t->recorder;
    bool elfs = t->recording != NULL || mkperf_observe_wanted(&t->options.configure);

    r->options = &t->options;
    r->text = t->text;
    r->notice = t->notice;
    r->warn = t->warn;
    r->stop = t->stop;
    r->self = t->self;
    if (mkperf_recorder_init(r, !elfs, e) != MKPERF_OK) {
        return e->status;
    }
    if (t->recording != NULL) {
        if (mkperf_perfdata_new(t->recording, r->symbols, &r->perfdata, e) != MKPERF_OK) {
            return e->status;
        }
        t->sink = mkperf_perfdata_sink(r->perfdata);
    }
    if (t->sink.ops == NULL) {
        t->sink.ops = &no_sink;
    }
    struct mkperf_stream_config config = {
        .sink = t->sink, .pds = r->pds, .control = on_control, .self = t, .asks = true};
    r->stream = mkperf_stream_new(&config);
    return MKPERF_OK;
}

enum mkperf_status mkperf_talk_open(struct mkperf_talk *t, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &t->recorder;

    if (set_up(t, e) != MKPERF_OK) {
        return e->status;
    }
    if (!r->link.source.ops->interactive) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: a capture cannot be asked",
                                t->options.link.target);
    }
    return mkperf_recorder_connect(r, e);
}

enum mkperf_status mkperf_talk_keep(struct mkperf_talk *t, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &t->recorder;

    if (!r->stream->began) {
        mkperf_sink_abandon(&t->sink);
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: nothing to record arrived",
                                t->options.link.target);
    }
    return mkperf_sink_finish(&t->sink, mkperf_stream_finish(r->stream, e), &r->stream->totals, e);
}

void mkperf_talk_init(void *talk, int argc, char **argv)
{
    struct mkperf_talk *t = talk;

    (void)argc, (void)argv;
    t->options.link.timeout_s = MKPERF_DEFAULT_TIMEOUT_S;
}

void mkperf_talk_end(void *talk)
{
    mkperf_talk_close(talk);
}

void mkperf_talk_close(struct mkperf_talk *t)
{
    mkperf_recorder_free(&t->recorder);
}

const mkperf_TargetHello *mkperf_talk_hello(const struct mkperf_talk *t)
{
    return &t->recorder.stream->hello;
}
