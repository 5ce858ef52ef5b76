/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: conversations that are not recordings, the snapshots of what a target counts and aggregates, and the
 * fetch of flight recordings; see recorder.h, docs/events.md and docs/flight.md.
 */
#include "recorder.h"

/* ---- conversations that are not recordings ---- */

/* A sink that discards everything, also sessions with other events and scheduling events. */
static const struct mkperf_sink_ops no_sink = {
    .name = "none", .events = mkperf_ignore_events, .sched = mkperf_ignore_sched};

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

/* ---- snapshots of what the target counts ---- */

enum mkperf_status mkperf_recorder_interactions(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_interactions_tag};
    const mkperf_Interactions *i = &r->link.answer.msg.interactions;
    uint32_t parts = 1;

    for (uint32_t part = 0; part < parts; part++) {
        m.msg.get_interactions.part = part;
        if (mkperf_recorder_ask(r, &m, "GetInteractions", e) != MKPERF_OK) {
            return e->status;
        }
        if (r->link.answer.which_msg != mkperf_ToHost_interactions_tag) {
            return MKPERF_OK; /* this session counted none */
        }
        if (i->part != part || i->parts > MKPERF_MAX_PARTS) {
            return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                    "%s: an answer that is not to GetInteractions: part %" PRIu32
                                    " of %" PRIu32 " in the place of part %" PRIu32,
                                    r->link.source.spec, i->part, i->parts, part);
        }
        parts = i->parts;
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_latency_query_begin(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget stop = {.which_msg = mkperf_ToTarget_stop_tag};

    r->options.configure.latency = true;
    if (mkperf_recorder_begin(r, e) != MKPERF_OK) {
        return e->status;
    }
    if (r->link.answer.which_msg == mkperf_ToHost_session_tag &&
        !r->link.answer.msg.session.latency) {
        (void)mkperf_recorder_ask(r, &stop, "Stop", e);
        return mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                "%s: the target's build does not aggregate latencies",
                                r->options.link.target);
    }
    return MKPERF_OK;
}

static const char *name_of(struct mkperf_recorder *r, uint64_t thread)
{
    struct mkperf_pds *pds = r->pds;

    return mkperf_pds_at(pds, mkperf_pds_find(pds, thread - 2))->name;
}

/* Adds a pair of the answer to the rows. False: it is invalid. */
static bool add_pair(struct mkperf_recorder *r, struct mkperf_latency_rows *rows,
                     const mkperf_LatencyPair *p)
{
    uint64_t bucket = 0;

    if ((unsigned)p->kind >= MKPERF_LATENCY_KINDS || p->bucket_count != p->in_bucket_count) {
        return false;
    }
    bool irq = p->kind == mkperf_LatencyKind_LATENCY_IRQ;
    struct mkperf_latency_row *row = mkperf_latency_row(rows, (enum mkperf_latency_kind)p->kind,
                                                        irq ? "" : name_of(r, p->from),
                                                        name_of(r, p->to), p->irq);
    row->ns.count += p->count;
    row->ns.total += p->total_ticks;
    if (p->max_ticks > row->ns.max) {
        row->ns.max = p->max_ticks;
        row->max_at = p->max_at;
    }
    row->busy += p->busy;
    for (unsigned i = 0; i < p->bucket_count; i++) {
        bucket += p->bucket[i];
        if (!mkperf_latency_row_add(row, rows->tick_hz, bucket, p->in_bucket[i])) {
            return false;
        }
    }
    return true;
}

static enum mkperf_status bad_answer(const struct mkperf_recorder *r, struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: an answer that is not to GetLatency",
                            r->options.link.target);
}

enum mkperf_status mkperf_latency_query(struct mkperf_recorder *r, struct mkperf_latency_rows *rows,
                                        struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_latency_tag};
    const mkperf_Latency *answer = &r->link.answer.msg.latency;
    uint32_t parts = 1;

    mkperf_latency_rows_free(rows);
    for (uint32_t part = 0; part < parts; part++) {
        m.msg.get_latency.part = part;
        if (mkperf_recorder_ask(r, &m, "GetLatency", e) != MKPERF_OK ||
            mkperf_recorder_refused(r, e) != MKPERF_OK) {
            return e->status;
        }
        if (r->link.answer.which_msg != mkperf_ToHost_latency_tag || answer->part != part ||
            answer->parts > MKPERF_MAX_PARTS || answer->tick_hz == 0) {
            return bad_answer(r, e);
        }
        parts = answer->parts;
        rows->tick_hz = answer->tick_hz;
        rows->dropped = answer->pairs_dropped;
        rows->seconds = (double)answer->enabled_ticks / (double)answer->tick_hz;
        for (unsigned i = 0; i < answer->pairs_count; i++) {
            if (!add_pair(r, rows, &answer->pairs[i])) {
                return bad_answer(r, e);
            }
        }
        for (unsigned i = 0; i < answer->threads_count; i++) {
            const mkperf_LatencyThread *run = &answer->threads[i];
            mkperf_latency_run(rows, name_of(r, run->thread), run->thread - 2, run->run_ticks,
                               run->runs);
        }
    }
    mkperf_latency_rows_finish(rows);
    return MKPERF_OK;
}

/* ---- the fetch of a flight recording ---- */

static const double POLL_S = 0.25;   /* between queries while it waits for a recording */
static const double REPEAT_S = 0.5;  /* between two ResetChains */
static const double SILENCE_S = 3.0; /* without samples, while a dump is in transit */
static const uint64_t HELD_MAX = UINT64_C(1) << 40, MORE = 100000; /* samples and events */

/* Waits until a fault, a mark or a Stop has ended the recording. Our requests are activity on the target, so
 * that it notices a fault even if nothing else runs there. */
static enum mkperf_status wait_for_trigger(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};
    const mkperf_Status *status = &r->link.answer.msg.status;

    for (;;) {
        if (mkperf_recorder_ask(r, &m, "GetStatus", e) != MKPERF_OK ||
            mkperf_recorder_refused(r, e) != MKPERF_OK) {
            return e->status;
        }
        if (r->link.answer.which_msg == mkperf_ToHost_status_tag &&
            status->flight != mkperf_FlightState_FLIGHT_RECORDING) {
            return MKPERF_OK; /* Dump reports a missing recording */
        }
        if (mkperf_peer_pause(&r->link, POLL_S)) {
            return mkperf_error_set(
                e, MKPERF_ERR_FAILED,
                "interrupted: the flight recording continues, nothing of it was "
                "fetched");
        }
    }
}

/* The most samples and events that a Dump can send: twice what is held now, since a recording may continue. */
static enum mkperf_status ask_held(struct mkperf_recorder *r, uint64_t *most,
                                   struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};
    const mkperf_Status *status = &r->link.answer.msg.status;

    *most = MORE;
    if (mkperf_recorder_ask(r, &m, "GetStatus", e) == MKPERF_OK &&
        r->link.answer.which_msg == mkperf_ToHost_status_tag && status->held < HELD_MAX &&
        status->sched_held < HELD_MAX) {
        *most += 2 * (status->held + status->sched_held);
    }
    return e->status;
}

/* Receives the recording, until the Status after the last batch. Ends with an error if the target falls
 * silent, or sends more than it can hold. */
static enum mkperf_status receive_dump(struct mkperf_recorder *r, uint64_t most,
                                       struct mkperf_error *e)
{
    mkperf_ToTarget reset = {.which_msg = mkperf_ToTarget_reset_chains_tag};
    const struct mkperf_stream *s = r->stream;
    uint64_t received = 0;
    double received_s = mkperf_now_s();

    while (!s->has_status || s->status.running) {
        double now = mkperf_now_s();
        if (mkperf_peer_stopped(&r->link)) {
            return mkperf_error_set(e, MKPERF_ERR_FAILED,
                                    "interrupted: the recording is not whole, "
                                    "and still on the target");
        }
        if (mkperf_totals_received(&s->totals) != received) {
            received = mkperf_totals_received(&s->totals);
            received_s = now;
        }
        if (now - received_s > SILENCE_S + r->options.link.timeout_s) {
            return mkperf_error_set(e, MKPERF_ERR_LINK,
                                    "%s: the target fell silent in the middle of "
                                    "the recording, which it still has",
                                    r->link.source.spec);
        }
        if (received > most) {
            return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                    "%s: the dump does not end: %" PRIu64 " samples and events "
                                    "arrived, the target reported less than half of that",
                                    r->link.source.spec, received);
        }
        if (mkperf_stream_needs_reset(s) && now - r->reset_s >= REPEAT_S) {
            r->reset_s = now;
            if (mkperf_peer_send(&r->link, &reset, e) != MKPERF_OK) {
                return e->status;
            }
        }
        if (mkperf_peer_pump(&r->link, 100, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_dump(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_dump_tag};
    uint64_t most;

    if (mkperf_recorder_connect(r, e) != MKPERF_OK ||
        (r->options.wait && wait_for_trigger(r, e) != MKPERF_OK) ||
        ask_held(r, &most, e) != MKPERF_OK) {
        return e->status;
    }
    r->stream->starting = true; /* the next Session is complete from its first sample on */
    if (mkperf_recorder_request(r, &m, "Dump", e) != MKPERF_OK ||
        mkperf_recorder_refused(r, e) != MKPERF_OK || receive_dump(r, most, e) != MKPERF_OK) {
        return e->status;
    }
    r->stream->totals.overwritten = r->stream->status.overwritten;
    return mkperf_recorder_interactions(r, e);
}
