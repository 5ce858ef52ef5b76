/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a recording from its start to its end, see recorder.h: the requests that a running session needs,
 * the duration, Stop, and the replay of a capture. It also owns the conversations that are not recordings.
 */
#include "recorder.h"

#include <math.h>

static const double RUN_REPEAT_S = 0.5; /* between two ResetChains, and repetitions of GetStatus */
static const double STATUS_S = 1.0;     /* between requests for the target's counters */
static const double APART_KEEPS = 0.8;  /* factor of apart_s at each batch */
static const double STATUS_DUE_S = 1.5; /* the target sends a Status per second of its own time */
/* After so many Status messages without a sample in between, the target samples nothing. */
enum { STATUSES_WITHOUT_SAMPLES = 2 };
/* How long the last Status is awaited while no byte arrives. */
static const double STOP_PATIENCE_S = 3.0;
static const double DRAIN_PATIENCE_S = 60; /* how long all messages before it are awaited */

/* Requests what the stream needs, and the target's counters, without waiting. */
static enum mkperf_status serve_session(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget reset = {.which_msg = mkperf_ToTarget_reset_chains_tag};
    mkperf_ToTarget status = {.which_msg = mkperf_ToTarget_get_status_tag};
    const struct mkperf_stream *s = r->stream;
    double now = mkperf_now_s();

    MKPERF_DEMAND(&r->link.source, now - r->link.heard_s <= r->options.link.timeout_s,
                  MKPERF_ERR_LINK, e, "the target has been silent for %g s",
                  r->options.link.timeout_s);
    MKPERF_DEMAND(&r->link.source, !r->forgotten, MKPERF_ERR_LINK, e,
                  "the target no longer knows the session");
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
    if (mkperf_stream_needs_reset(s) && now - r->reset_s >= RUN_REPEAT_S) {
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
    /*
     * Requests the target's counters. While batches arrive, the target sends them each second of its
     * own time, which differs from the host's. An unneeded request costs the target as much as dozens of samples.
     * Therefore they are requested only if no batch has arrived for some time, or if a Status is overdue. This time is
     * longer if batches are further apart, since an emulated target may be slow.
     *
     * A target that counts samples in windows rightly sends nothing for seconds. It is only requested to show that it is
     * there. After the duration its answers show whether it still samples: the pauses grow as long as it does.
     */
    double timeout = r->options.link.timeout_s;
    bool doubt = r->overdue && r->statuses != r->overdue_statuses;
    double pause = doubt ? STATUS_S : r->overdue ? r->overdue_pause_s : timeout;
    bool due = r->options.configure.aggregate_ms != 0
                   ? now - r->link.heard_s >= fmin(pause, timeout / 2)
                   : now - r->moved_s >= fmax(STATUS_S, fmin(2 * r->apart_s, timeout / 3)) ||
                         (double)(int64_t)(last - r->status_ns) >= STATUS_DUE_S * 1e9;
    if (due && now - r->status_s >= STATUS_S) {
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

    /* A watcher waits for its first batch. It can decode none before the next epoch, which begins after up to 16 batches. The wait
     * ends when the target has recorded nothing for timeout_s. */
    const struct mkperf_stream *s = r->stream;
    uint64_t captured = s->status.captured + s->status.sched_captured;
    bool waits = r->watching && s->running && (!s->has_status || s->status.running) &&
                 mkperf_totals_received(t) == 0;
    if (waits && captured != r->watched) {
        r->watched = captured;
        r->watched_s = now;
    }
    if (waits && now - r->watched_s <= r->options.link.timeout_s) {
        mkperf_deadline_begin(d, d->duration_s, now);
        return false;
    }
    bool overdue = r->options.configure.aggregate_ms != 0 && d->duration_s > 0 &&
                   now - d->began_s >= d->duration_s;

    /* The samples of a window that has not ended show no time, but the target's counters grow. */
    if (overdue && (!r->overdue || r->stream->status.captured != r->overdue_samples)) {
        r->overdue_pause_s = r->overdue ? 2 * r->overdue_pause_s : STATUS_S;
        r->overdue_samples = r->stream->status.captured;
        r->overdue_statuses = r->statuses;
    }
    r->overdue = overdue;
    if (overdue && r->statuses - r->overdue_statuses < STATUSES_WITHOUT_SAMPLES) {
        d->progress_s = now;
    }
    return mkperf_deadline_over(d, mkperf_totals_received(t) > 0,
                                (double)(t->last_ns - t->first_ns) / 1e9, now);
}

enum mkperf_status mkperf_recorder_run(struct mkperf_recorder *r, struct mkperf_error *e)
{
    struct mkperf_deadline deadline;

    r->watched_s = mkperf_now_s();
    mkperf_deadline_begin(&deadline, r->options.duration_s, r->watched_s);
    while (!mkperf_peer_stopped(&r->link) && !r->ended && !update_deadline(r, &deadline)) {
        if (mkperf_peer_pump(&r->link, 100, e) == MKPERF_OK && serve_session(r, e) == MKPERF_OK) {
            continue;
        }
        if (e->status != MKPERF_ERR_LINK || mkperf_recorder_resume(r, e) != MKPERF_OK) {
            return e->status;
        }
        deadline.progress_s = mkperf_now_s();
    }
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

    if (r->watching || r->ended) { /* only the counters are requested */
        mkperf_ToTarget get = {.which_msg = mkperf_ToTarget_get_status_tag};
        enum mkperf_status status =
            r->ended ? MKPERF_OK
                     : mkperf_peer_ask(&r->link, &get, RUN_REPEAT_S, STOP_PATIENCE_S, e);
        bool silent = status == MKPERF_ERR_SILENT || status == MKPERF_ERR_LINK;
        e->status = silent ? MKPERF_OK : status;
        return e->status;
    }
    r->link.heard_s = began;
    while ((!s->has_status || s->status.running) && restarts == s->totals.restarts) {
        double now = mkperf_now_s();
        enum mkperf_status status = MKPERF_OK;
        if (now - r->link.heard_s > STOP_PATIENCE_S || now - began > DRAIN_PATIENCE_S ||
            (r->stop != NULL && *r->stop != stops)) {
            return mkperf_source_demand(&r->link.source, false, MKPERF_ERR_LINK, e,
                                        "no answer to Stop: the end of the session may be missing");
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
    return status == MKPERF_ERR_LINK ? MKPERF_OK : status; /* the end of the file */
}

/*
 * ---- conversations that are not recordings ----
 *
 * These are snapshots of what a target counts and aggregates, and the fetch of flight recordings; see recorder.h,
 * docs/events.md and docs/flight.md.
 */

void mkperf_recorder_talk_init(void *recorder)
{
    struct mkperf_recorder *r = recorder;

    r->options.link.timeout_s = MKPERF_DEFAULT_TIMEOUT_S;
}

enum mkperf_status mkperf_recorder_talk(struct mkperf_recorder *r, const struct mkperf_sink *sink,
                                        const char *recording, struct mkperf_error *e)
{
    struct mkperf_sink to = {.take = mkperf_take_nothing};
    bool elfs = recording != NULL || mkperf_observe_wanted(&r->options.configure);

    MKPERF_TRY(mkperf_recorder_init(r, !elfs, e));
    MKPERF_FAIL_IF(!r->link.source.ops->interactive, e, MKPERF_ERR_USAGE,
                   "%s: a capture answers no requests", r->options.link.target);
    if (recording != NULL) {
        MKPERF_TRY(mkperf_perfdata_new(recording, r->symbols, &r->perfdata, e));
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

/* ---- snapshots of what the target counts ---- */

/* Adds a part of the answer to the rows. False: it is invalid. */
static bool take_latencies(struct mkperf_recorder *r, struct mkperf_latency_rows *rows)
{
    const mkperf_Latency *answer = &r->link.answer.msg.latency;

    if (answer->tick_hz == 0) {
        return false;
    }
    for (unsigned i = 0; i < answer->pairs_count; i++) {
        const mkperf_LatencyPair *p = &answer->pairs[i];
        uint64_t bucket = 0;
        if ((unsigned)p->kind >= MKPERF_LATENCY_KINDS || p->bucket_count != p->in_bucket_count) {
            return false;
        }
        bool irq = p->kind == mkperf_LatencyKind_LATENCY_IRQ;
        struct mkperf_latency_row *row = mkperf_latency_row(
            rows, (enum mkperf_latency_kind)p->kind, irq ? "" : mkperf_recorder_pd(r, p->from),
            mkperf_recorder_pd(r, p->to), p->irq);
        row->ns.count += p->count;
        row->ns.total += p->total_ticks;
        if (p->max_ticks > row->ns.max) {
            row->ns.max = p->max_ticks;
            row->max_at = p->max_at;
        }
        row->busy += p->busy;
        for (unsigned k = 0; k < p->bucket_count; k++) {
            bucket += p->bucket[k];
            if (!mkperf_latency_row_add(row, answer->tick_hz, bucket, p->in_bucket[k])) {
                return false;
            }
        }
    }
    rows->tick_hz = answer->tick_hz;
    rows->dropped = answer->pairs_dropped;
    rows->seconds = (double)answer->enabled_ticks / (double)answer->tick_hz;
    for (unsigned i = 0; i < answer->threads_count; i++) {
        const mkperf_LatencyThread *run = &answer->threads[i];
        mkperf_latency_run(rows, mkperf_recorder_pd(r, run->thread), run->thread - 2,
                           run->run_ticks, run->runs);
    }
    return true;
}

/* The requests that are answered in parts, by enum mkperf_target_counts. part, parts: where the answer has the number of its part, and
 * the number of all parts. */
static const struct {
    const char *name;
    pb_size_t request, answer;
    size_t part, parts;
} in_parts[] = {
    {"GetInteractions", mkperf_ToTarget_get_interactions_tag, mkperf_ToHost_interactions_tag,
     offsetof(mkperf_ToHost, msg.interactions.part),
     offsetof(mkperf_ToHost, msg.interactions.parts)},
    {"GetCounts", mkperf_ToTarget_get_counts_tag, mkperf_ToHost_counts_tag,
     offsetof(mkperf_ToHost, msg.counts.part), offsetof(mkperf_ToHost, msg.counts.parts)},
    {"GetLatency", mkperf_ToTarget_get_latency_tag, mkperf_ToHost_latency_tag,
     offsetof(mkperf_ToHost, msg.latency.part), offsetof(mkperf_ToHost, msg.latency.parts)},
};

_Static_assert(offsetof(mkperf_GetCounts, part) == offsetof(mkperf_GetInteractions, part) &&
                   offsetof(mkperf_GetCounts, part) == offsetof(mkperf_GetLatency, part),
               "requests of parts are alike");

enum mkperf_status mkperf_recorder_snapshot(struct mkperf_recorder *r,
                                            enum mkperf_target_counts what,
                                            struct mkperf_latency_rows *rows,
                                            struct mkperf_error *e)
{
    const mkperf_ToHost *answer = &r->link.answer;
    const uint32_t *at = (const void *)((const char *)answer + in_parts[what].part);
    const uint32_t *of = (const void *)((const char *)answer + in_parts[what].parts);
    const char *name = in_parts[what].name;
    mkperf_ToTarget m = {.which_msg = in_parts[what].request};

    for (uint32_t part = 0, parts = 1; part < parts; part++) {
        m.msg.get_counts.part = part; /* all of these requests have it at the same place */
        MKPERF_TRY(mkperf_recorder_ask(r, &m, name, e));
        bool right = answer->which_msg == in_parts[what].answer;
        if (!right && rows == NULL) {
            return MKPERF_OK;
        }
        MKPERF_TRY(mkperf_recorder_refused(r, e));
        MKPERF_DEMAND(&r->link.source, !right || (*at == part && *of <= MKPERF_MAX_PARTS),
                      MKPERF_ERR_INPUT, e,
                      "an answer that is not to %s: part %" PRIu32 " of %" PRIu32
                      " in the place of part %" PRIu32,
                      name, *at, *of, part);
        MKPERF_DEMAND(&r->link.source, right && (rows == NULL || take_latencies(r, rows)),
                      MKPERF_ERR_INPUT, e, "an answer that is not to %s", name);
        parts = *of;
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_latency_query(struct mkperf_recorder *r, struct mkperf_latency_rows *rows,
                                        struct mkperf_error *e)
{
    mkperf_latency_rows_free(rows);
    MKPERF_TRY(mkperf_recorder_snapshot(r, MKPERF_TARGET_LATENCIES, rows, e));
    mkperf_latency_rows_finish(rows);
    return MKPERF_OK;
}

/* ---- the fetch of a flight recording ---- */

static const double POLL_S = 0.25; /* between queries while it waits for a recording */
/* How long a dump may bring no sample while it is in transit. */
static const double SILENCE_S = 3.0;
static const uint64_t HELD_MAX = UINT64_C(1) << 40, MORE = 100000; /* samples and events */

enum mkperf_status mkperf_recorder_dump(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_dump_tag};
    uint64_t most = MORE;

    MKPERF_TRY(mkperf_recorder_connect(r, e));
    const mkperf_Status *held = &r->link.answer.msg.status;
    mkperf_ToTarget get = {.which_msg = mkperf_ToTarget_get_status_tag};
    MKPERF_TRY(mkperf_recorder_ask(r, &get, "GetStatus", e));
    bool answered = r->link.answer.which_msg == mkperf_ToHost_status_tag;
    /* With --wait, waits until a fault, a mark or a Stop has ended the recording. Our requests are activity on the target, so that it
     * notices a fault even if nothing else runs there. Dump reports a missing recording. */
    while (r->options.wait && (!answered || held->flight == mkperf_FlightState_FLIGHT_RECORDING)) {
        MKPERF_TRY(mkperf_recorder_refused(r, e));
        MKPERF_FAIL_IF(mkperf_peer_pause(&r->link, POLL_S), e, MKPERF_ERR_FAILED,
                       "interrupted: the flight recording continues, nothing of it was fetched");
        MKPERF_TRY(mkperf_recorder_ask(r, &get, "GetStatus", e));
        answered = r->link.answer.which_msg == mkperf_ToHost_status_tag;
    }
    /* A Dump can send at most twice what is held now, since a recording may continue. */
    if (answered && held->held < HELD_MAX && held->sched_held < HELD_MAX) {
        most += 2 * (held->held + held->sched_held);
    }
    r->stream->starting = true; /* the next Session is complete from its first sample on */
    MKPERF_TRY(mkperf_recorder_request(r, &m, "Dump", e));
    MKPERF_TRY(mkperf_recorder_refused(r, e));
    /* Receives the recording, until the Status after the last batch. Ends with an error if the target falls silent, or
     * sends more than it can hold. */
    mkperf_ToTarget reset = {.which_msg = mkperf_ToTarget_reset_chains_tag};
    const struct mkperf_stream *s = r->stream;
    uint64_t received = 0;
    double received_s = mkperf_now_s();

    while (!s->has_status || s->status.running) {
        double now = mkperf_now_s();
        MKPERF_FAIL_IF(
            mkperf_peer_stopped(&r->link), e, MKPERF_ERR_FAILED,
            "interrupted: the file is incomplete, and the target still has the recording");
        if (mkperf_totals_received(&s->totals) != received) {
            received = mkperf_totals_received(&s->totals);
            received_s = now;
        }
        MKPERF_DEMAND(&r->link.source, now - received_s <= SILENCE_S + r->options.link.timeout_s,
                      MKPERF_ERR_LINK, e,
                      "the target fell silent in the middle of the recording, and still has it");
        MKPERF_DEMAND(&r->link.source, received <= most, MKPERF_ERR_INPUT, e,
                      "the dump does not end: %" PRIu64
                      " samples and events arrived, the target reported less than half of that",
                      received);
        if (mkperf_stream_needs_reset(s) && now - r->reset_s >= RUN_REPEAT_S) {
            r->reset_s = now;
            MKPERF_TRY(mkperf_peer_send(&r->link, &reset, e));
        }
        MKPERF_TRY(mkperf_peer_pump(&r->link, 100, e));
    }
    r->stream->totals.overwritten = r->stream->status.overwritten;
    return mkperf_recorder_snapshot(r, MKPERF_TARGET_INTERACTIONS, NULL, e);
}
