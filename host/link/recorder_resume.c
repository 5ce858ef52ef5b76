/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: continuing after a broken link, see recorder.h. The same boot and session: it continued in
 * the meantime, and sample numbers show what did not arrive. Another boot: a new session in the
 * same file, at a later time. A session that does not run any more has ended.
 */
#include <inttypes.h>

#include "recorder.h"

static const double REPEAT_S = 0.5;

/* The session that we left: whether it still runs. */
static enum mkperf_status rejoin(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};
    const struct mkperf_stream *s = r->stream;

    if (!r->watching && r->link.has_role && !r->link.role.control &&
        mkperf_recorder_take_control(r, e) != MKPERF_OK) {
        if (e->status != MKPERF_ERR_REFUSED) {
            return e->status;
        }
        r->watching = true;
        mkperf_peer_say(&r->link, "%s; going on as a watcher", e->text);
    }
    mkperf_stream_damaged(r->stream); /* ask for a new epoch */
    if (mkperf_peer_ask(&r->link, &m, REPEAT_S, r->options.link.timeout_s, e) != MKPERF_OK) {
        return e->status == MKPERF_ERR_SILENT
                   ? mkperf_error_set(e, MKPERF_ERR_LINK, "%s: no answer to GetStatus",
                                      r->link.source.spec)
                   : e->status;
    }
    if (!r->watching && !r->begun && !s->running) {
        return mkperf_recorder_begin(r, e); /* it broke before anything of ours ran */
    }
    r->begun = true;
    r->gap_open = s->has_status && s->status.running;
    return MKPERF_OK;
}

static enum mkperf_status begin_again(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_peer_say(&r->link, "the target was restarted: the time in between is not recorded%s",
                    r->watching ? "" : "; a new session continues in the same file");
    return mkperf_recorder_begin(r, e);
}

enum mkperf_status mkperf_recorder_resume(struct mkperf_recorder *r, struct mkperf_error *e)
{
    const struct mkperf_totals *t = &r->stream->totals;
    double began = mkperf_now_s();
    uint64_t restarts = t->restarts;
    enum mkperf_status status;

    r->forgotten = false;
    r->gap_samples = mkperf_totals_received(t);
    r->gap_lost = t->lost[MKPERF_LOST_TRANSIT];
    do {
        r->breaks++;
        if (mkperf_peer_reconnect(&r->link, e) != MKPERF_OK) {
            return e->status;
        }
        if (t->restarts != restarts) {
            r->stream->clock.pause_ns = (uint64_t)((mkperf_now_s() - began) * 1e9);
            restarts = t->restarts;
            status = begin_again(r, e);
        } else {
            status = rejoin(r, e);
        }
    } while (status == MKPERF_ERR_LINK && mkperf_now_s() - began < r->options.link.reconnect_s);
    return status;
}
