/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the conversation that fetches a flight recording, and the one about software events; see
 * recorder.h.
 */
#include "recorder.h"

#include <inttypes.h>

static const double POLL_S = 0.25;   /* between queries while waiting for a recording */
static const double REPEAT_S = 0.5;  /* of a request */
static const double SILENCE_S = 3.0; /* without samples, while a dump is in transit */
static const uint64_t HELD_MAX = UINT64_C(1) << 40, MORE = 100000; /* samples, events */

/* Until the recording is held: a fault, a mark or a Stop. That we ask is activity on the target, in
 * which it notices a fault even if nothing else runs there any more. */
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

/* How much a Dump can bring: what is held now, twice, since a recording that runs goes on. */
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

/* Receives all of it, until the Status after the last batch. A target that never sends that, or no
 * samples before it, does not keep us. */
static enum mkperf_status receive(struct mkperf_recorder *r, uint64_t most, struct mkperf_error *e)
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
                                    "came, the target said that it holds less than half of that",
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
        mkperf_recorder_refused(r, e) != MKPERF_OK || receive(r, most, e) != MKPERF_OK) {
        return e->status;
    }
    r->stream->totals.overwritten = r->stream->status.overwritten;
    return mkperf_recorder_interactions(r, e);
}

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
