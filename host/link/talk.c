/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see talk.h. */
#include "talk.h"

/* Sessions with other events may begin one after another: it keeps none of them. */
static enum mkperf_status no_events(void *self, const struct mkperf_session *session,
                                    struct mkperf_error *e)
{
    (void)self;
    (void)session;
    (void)e;
    return MKPERF_OK;
}

static enum mkperf_status no_sched(void *self, const struct mkperf_sched *event,
                                   struct mkperf_error *e)
{
    (void)self;
    (void)event;
    (void)e;
    return MKPERF_OK;
}

static const struct mkperf_sink_ops no_sink = {
    .name = "none", .events = no_events, .sched = no_sched};

static void no_text(void *self, const char *p, size_t n)
{
    (void)self;
    (void)p;
    (void)n;
}

static void no_notice(void *self, const char *text)
{
    (void)self;
    (void)text;
}

static void no_progress(void *self)
{
    (void)self;
}

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
    struct mkperf_pds_config pds = {.system = t->options.system,
                                    .elf_path = t->options.elf_path,
                                    .later = true,
                                    .names_only = !t->elfs && t->recording == NULL &&
                                                  !mkperf_observe_wanted(&t->options.configure),
                                    .warn = t->warn,
                                    .self = t->self};

    r->options = &t->options;
    r->text = t->text != NULL ? t->text : no_text;
    r->progress = no_progress;
    r->stop = t->stop;
    r->self = t->self;
    r->notice = t->notice != NULL ? t->notice : no_notice;
    r->symbols = mkperf_symbols_new();
    if (mkperf_pds_new(&pds, r->symbols, &r->pds, e) != MKPERF_OK) {
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

    if (set_up(t, e) != MKPERF_OK || mkperf_recorder_init(r, e) != MKPERF_OK) {
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
        t->sink.ops->abandon(t->sink.self);
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: nothing to record arrived",
                                t->options.link.target);
    }
    if (mkperf_stream_finish(r->stream, e) != MKPERF_OK ||
        t->sink.ops->end(t->sink.self, &r->stream->totals, e) != MKPERF_OK) {
        t->sink.ops->abandon(t->sink.self);
    }
    return e->status;
}

void mkperf_talk_close(struct mkperf_talk *t)
{
    struct mkperf_recorder *r = &t->recorder;

    mkperf_peer_end(&r->link);
    mkperf_stream_free(r->stream);
    mkperf_perfdata_free(r->perfdata);
    mkperf_pds_free(r->pds);
    mkperf_symbols_free(r->symbols);
}

const mkperf_TargetHello *mkperf_talk_hello(const struct mkperf_talk *t)
{
    return &t->recorder.stream->hello;
}
