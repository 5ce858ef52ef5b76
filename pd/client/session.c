/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD's part of a session: its start, its stop, its dump, and the clock.
 *
 * Owns: the fields of a session in struct mkperf_client from its start on. Called for hosts
 * (control.c), for text commands, for applications, and at the end of a session that is followed by
 * another (stream.c).
 */
#include "control.h"

uint64_t mkperf_client_now(struct mkperf_client *c)
{
    return c->clock != NULL ? c->clock() : c->calls;
}

static void begin_session(struct mkperf_client *c)
{
    const mkperf_Session *s = &c->page->session;
    uint32_t bytes = c->page->output_bytes;

    if (mkperf_ring_size_ok(bytes) && bytes <= MKPERF_OUTPUT_RING_BYTES) {
        c->ring.size = bytes;
    }
    c->ring.tail = __atomic_load_n(&c->ring.ring->tail, __ATOMIC_RELAXED);
    mkperf_encoder_begin(&c->encoder, s->id, c->page->tick_hz);
    mkperf_encoder_windows(&c->encoder, s->aggregate_ms * c->page->tick_hz / 1000);
    mkperf_sched_encoder_begin(&c->sched, s->id, c->page->tick_hz);
    for (unsigned i = 0; i < s->events_count && i < MKPERF_MAX_EVENTS; i++) {
        const mkperf_SessionEvent *e = &s->events[i];
        uint64_t period = c->page->status.period[i];
        bool jitter = !mkperf_page_bool(&s->no_jitter) &&
                      s->source == mkperf_SampleSource_SOURCE_HOOK;
        if (mkperf_page_bool(&e->read)) {
            continue; /* Such an event takes no samples. */
        }
        /* The number of a missing half is 0, and 0 - 1 is ignored. */
        mkperf_encoder_expect(&c->encoder, e->user_counter - 1, period, jitter);
        mkperf_encoder_expect(&c->encoder, e->kernel_counter - 1, period, jitter);
    }
    for (unsigned i = 0; i < c->places; i++) {
        c->connection[i].gap = (struct mkperf_gap){0};
        c->connection[i].lost = 0;
        c->connection[i].sched_lost = 0;
    }
    c->corrupt = 0;
    c->dropped = 0;
    c->sched_dropped = 0;
    c->status_time = 0;
    c->status_due = false;
    c->ring_peak = 0;
    c->new_epoch = false;
    c->announce = true;
    c->running = true;
}

uint32_t mkperf_control_start(struct mkperf_client *c)
{
    uint32_t result = c->call(MKPERF_OP_START);

    c->trigger_there = false;
    if (result == MKPERF_RESULT_OK && !mkperf_page_bool(&c->page->session.overwrite)) {
        begin_session(c);
    }
    return result;
}

uint32_t mkperf_control_dump(struct mkperf_peer peer)
{
    struct mkperf_client *c = peer.c;

    if (c->dumping && c->dump_by == peer.who && c->dump_request == peer.request) {
        return MKPERF_RESULT_OK;
    }
    uint32_t result = c->call(MKPERF_OP_DUMP);
    if (result == MKPERF_RESULT_OK) {
        begin_session(c);
        c->stopping = true;
        c->dumping = true;
        c->dump_by = peer.who;
        c->dump_request = peer.request;
        c->stop_by = MKPERF_NOBODY;
    }
    return result;
}

bool mkperf_control_active(const struct mkperf_client *c)
{
    bool recording = c->page->status.flight == mkperf_FlightState_FLIGHT_RECORDING;

    return !c->stopping && (c->running || recording);
}

uint32_t mkperf_control_stop(struct mkperf_client *c, unsigned by, uint32_t request)
{
    uint32_t result = c->call(MKPERF_OP_STOP);

    if (result == MKPERF_RESULT_OK) {
        c->stopping = true;
        c->stop_by = by;
        c->stop_request = request;
    }
    return result;
}
