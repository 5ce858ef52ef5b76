/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: conversations that are not recordings, see recorder.h. */
#include "recorder.h"

static enum mkperf_status no_sched(void *self, const struct mkperf_sched *event,
                                   struct mkperf_error *e)
{
    (void)self, (void)event, (void)e;
    return MKPERF_OK;
}

/* Sessions with other events, or with scheduling events, may begin one after another. */
static const struct mkperf_sink_ops no_sink = {
    .name = "none", .events = mkperf_ignore_events, .sched = no_sched};

void mkperf_recorder_talk_init(void *recorder, int argc, char **argv)
{
    struct mkperf_recorder *r = recorder;

    (void)argc, (void)argv;
    r->options.link.timeout_s = MKPERF_DEFAULT_TIMEOUT_S;
}

void mkperf_recorder_talk_end(void *recorder)
{
    mkperf_recorder_free(recorder);
}

enum mkperf_status mkperf_recorder_talk(struct mkperf_recorder *r, const struct mkperf_sink *sink,
                                        const char *recording, struct mkperf_error *e)
{
    struct mkperf_sink to = {.ops = &no_sink};
    bool elfs = recording != NULL || mkperf_observe_wanted(&r->options.configure);

    if (mkperf_recorder_init(r, !elfs, e) != MKPERF_OK) {
        return e->status;
    }
    if (!r->link.source.ops->interactive) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: a capture cannot be asked",
                                r->options.link.target);
    }
    if (recording != NULL) {
        if (mkperf_perfdata_new(recording, r->symbols, &r->perfdata, e) != MKPERF_OK) {
            return e->status;
        }
        mkperf_perfdata_compress(r->perfdata, MKPERF_COMPRESS_FILES);
        to = mkperf_perfdata_sink(r->perfdata);
    } else if (sink != NULL) {
        to = *sink;
    }
    mkperf_recorder_decode(r, to, NULL);
    return mkperf_recorder_connect(r, e);
}

enum mkperf_status mkperf_recorder_talk_keep(struct mkperf_recorder *r, struct mkperf_error *e)
{
    const struct mkperf_sink *sink = &r->stream->config.sink;

    if (!r->stream->began) {
        mkperf_sink_abandon(sink);
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: nothing to record arrived",
                                r->options.link.target);
    }
    return mkperf_sink_finish(sink, mkperf_stream_finish(r->stream, e), &r->stream->totals, e);
}
