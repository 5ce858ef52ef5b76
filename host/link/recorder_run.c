/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a recording from its start to its end, see recorder.h: the requests that a running session needs,
 * the duration, Stop, and the replay of a capture.
 */
#include "recorder.h"

#include <math.h>

#include "connection.h"

static const double REPEAT_S = 0.5;     /* between two ResetChains, and repetitions of GetStatus */
static const double STATUS_S = 1.0;     /* between requests for the target's counters */
static const double APART_KEEPS = 0.8;  /* factor of apart_s at each batch */
static const double STATUS_DUE_S = 1.5; /* the target sends a Status per second of its own time */
enum { STATUSES_WITHOUT_SAMPLES = 2 };  /* in a row: the target samples nothing */
static const double STOP_PATIENCE_S = 3.0; /* without a byte, for the last Status */
static const double DRAIN_PATIENCE_S = 60; /* for all messages before it */

/*
 * Whether to request the target's counters. While batches arrive, the target sends them each second of
 * its own time, which differs from the host's. An unneeded request costs the target as much as dozens of
 * samples. Therefore they are requested only if no batch has arrived for some time, or if a Status is
 * overdue. This time is longer if batches are further apart, since an emulated target may be slow, or counts samples in
 * windows.
 */
static bool is_status_due(const struct mkperf_recorder *r, double now)
{
    uint64_t last = r->stream->totals.last_ns;
    double most = r->options.link.timeout_s / 3;
    bool windows = r->options.configure.aggregate_ms != 0;
    double patience = r->overdue ? STATUS_S
                      : windows  ? most
                                 : fmax(STATUS_S, fmin(2 * r->apart_s, most));
    return now - r->status_s >= STATUS_S &&
           (now - r->moved_s >= patience ||
            (double)(int64_t)(last - r->status_ns) >= STATUS_DUE_S * 1e9);
}

/* Requests what the stream needs, and the target's counters, without waiting. */
static enum mkperf_status serve_session(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget reset = {.which_msg = mkperf_ToTarget_reset_chains_tag};
    mkperf_ToTarget status = {.which_msg = mkperf_ToTarget_get_status_tag};
    const struct mkperf_stream *s = r->stream;
    double now = mkperf_now_s();

    if (now - r->link.heard_s > r->options.link.timeout_s) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: the target has been silent for %g s",
                                r->link.source.spec, r->options.link.timeout_s);
    }
    if (r->forgotten) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: the target no longer knows the session",
                                r->link.source.spec);
    }
    if (!r->watching && s->has_status && !s->status.running) {
        r->ended = true;
        mkperf_peer_say(&r->link, s->status.storm
                                      ? "the session was ended on the target: samples took more "
                                        "than half of its time; a longer period (-c, or a lower "
                                        "-F), fewer events or a shallower call chain "
                                        "(--max-frames) take less"
                                      : "the session was ended on the target");
        return MKPERF_OK;
    }
    if (mkperf_stream_needs_reset(s) && now - r->reset_s >= REPEAT_S) {
        r->reset_s = now;
        return mkperf_peer_send(&r->link, &reset, e);
    }
    /* Notes whether the samples' time has moved since the last call. */
    uint64_t last = r->stream->totals.last_ns;
    if (last != r->moved_ns) {
        r->apart_s = fmax(now - r->moved_s, APART_KEEPS * r->apart_s);
        r->moved_ns = last;
        r->moved_s = now;
    }
    if (is_status_due(r, now)) {
        r->status_s = now;
        r->status_ns = s->totals.last_ns;
        return mkperf_peer_send(&r->link, &status, e);
    }
    return MKPERF_OK;
}

/* Updates the deadline. Returns whether the duration is over. */
static bool update_deadline(struct mkperf_recorder *r, struct mkperf_deadline *d)
{
    const struct mkperf_totals *t = &r->stream->totals;
    double now = mkperf_now_s();

    bool overdue = r->options.configure.aggregate_ms != 0 && d->duration_s > 0 &&
                   now - d->began_s >= d->duration_s;

    /* The samples of a window that has not ended show no time, but the target's counters grow. */
    if (overdue && (!r->overdue || r->stream->status.captured != r->overdue_samples)) {
        r->overdue_samples = r->stream->status.captured;
        r->overdue_statuses = r->statuses;
    }
    r->overdue = overdue;
    if (overdue && r->statuses - r->overdue_statuses < STATUSES_WITHOUT_SAMPLES) {
        mkperf_deadline_restart_wait(d, now);
    }
    mkperf_deadline_observe(d, mkperf_totals_received(t) > 0,
                            (double)(t->last_ns - t->first_ns) / 1e9, now);
    return mkperf_deadline_over(d, now);
}

enum mkperf_status mkperf_recorder_run(struct mkperf_recorder *r, struct mkperf_error *e)
{
    struct mkperf_deadline deadline;

    mkperf_deadline_begin(&deadline, r->options.duration_s, mkperf_now_s());
    while (!mkperf_peer_stopped(&r->link) && !r->ended && !update_deadline(r, &deadline)) {
        if (mkperf_peer_pump(&r->link, 100, e) == MKPERF_OK && serve_session(r, e) == MKPERF_OK) {
            continue;
        }
        if (e->status != MKPERF_ERR_LINK || mkperf_recorder_resume(r, e) != MKPERF_OK) {
            return e->status;
        }
        mkperf_deadline_restart_wait(&deadline, mkperf_now_s());
    }
    return MKPERF_OK;
}

/* A watcher ends its recording: it only requests the counters. */
static enum mkperf_status stop_watching(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};

    if (!r->ended && mkperf_peer_ask(&r->link, &m, REPEAT_S, STOP_PATIENCE_S, e) != MKPERF_OK &&
        e->status != MKPERF_ERR_SILENT && e->status != MKPERF_ERR_LINK) {
        return e->status;
    }
    e->status = MKPERF_OK;
    return MKPERF_OK;
}

/*
 * Waits as long as bytes arrive, because a slow line may still transfer queued messages. A target that
 * has received the first Stop refuses a repeated one, which does no harm.
 */
enum mkperf_status mkperf_recorder_stop(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_stop_tag};
    const struct mkperf_stream *s = r->stream;
    double began = mkperf_now_s(), sent = 0;
    int stops = r->stop != NULL ? *r->stop : 0;
    uint64_t restarts = s->totals.restarts;

    if (r->watching || r->ended) {
        return stop_watching(r, e);
    }
    r->link.heard_s = began;
    while ((!s->has_status || s->status.running) && restarts == s->totals.restarts) {
        double now = mkperf_now_s();
        enum mkperf_status status = MKPERF_OK;
        if (now - r->link.heard_s > STOP_PATIENCE_S || now - began > DRAIN_PATIENCE_S ||
            (r->stop != NULL && *r->stop != stops)) {
            return mkperf_error_set(e, MKPERF_ERR_LINK,
                                    "%s: no answer to Stop: the end of the session may be missing",
                                    r->link.source.spec);
        }
        if (now - sent >= STOP_PATIENCE_S) {
            sent = now;
            status = mkperf_peer_send(&r->link, &m, e);
        }
        if (status == MKPERF_OK) {
            status = mkperf_peer_pump(&r->link, 20, e);
        }
        if (status == MKPERF_ERR_LINK && stops == 0) {
            status = mkperf_recorder_resume(r, e);
            sent = 0;
        }
        if (status != MKPERF_OK) {
            return status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_replay(struct mkperf_recorder *r, struct mkperf_error *e)
{
    enum mkperf_status status = mkperf_source_open(&r->link.source, e);

    r->link.state = MKPERF_PEER_OPEN;
    while (!mkperf_peer_stopped(&r->link) && status == MKPERF_OK) {
        status = mkperf_peer_pump(&r->link, -1, e);
    }
    mkperf_receiver_idle(&r->link.receiver);
    mkperf_recorder_keep_elfs(r);
    return r->link.source.ended ? MKPERF_OK : status;
}
