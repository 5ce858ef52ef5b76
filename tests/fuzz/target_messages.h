/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a target sends: messages that belong together, as it encodes them, with values of the input,
 * some of which are wrong. Decoders check so much of a batch or of a scheduling event that bytes at
 * random hardly get beyond the checks.
 *
 * Owns: the target's state (its session, epoch, encoder, numbers), from target_begin on.
 */
#ifndef MKPERF_TESTS_FUZZ_TARGET_MESSAGES_H
#define MKPERF_TESTS_FUZZ_TARGET_MESSAGES_H

#include <pb_encode.h>
#include <stdbool.h>
#include <stdio.h>

#include <mkperf/session.h>

#include "fuzz/input.h"
#include "mkperf.pb.h"

#define mkperf_chain client_chain /* the host has a struct of this name */
#include "pd/client/encode.h"
#undef mkperf_chain

enum { TARGET_HZ = 1000000, TARGET_FRAMES = 4, TARGET_CODES = 64, TARGET_CODE_BITS = 6 };

static struct {
    struct mkperf_encoder encoder;
    uint32_t session;
    unsigned events;
    uint64_t time; /* ticks */
    struct {
        uint32_t epoch;
        uint64_t next; /* number of its next scheduling event */
    } core[MKPERF_MAX_CORES];
} target;

static inline void target_begin(void)
{
    memset(&target, 0, sizeof target);
    target.time = 1000;
    mkperf_encoder_begin(&target.encoder, 0, TARGET_HZ);
}

static inline void target_session(mkperf_Session *s)
{
    unsigned flags = byte(), cores = byte();

    target.session += flags & 1;
    target.events = byte() % 6;
    s->id = target.session;
    s->running = !(flags & 2);
    s->sched = flags & 4;
    s->overwrite = flags & 8;
    s->latency = flags & 16;
    s->max_frames = flags & 32 ? 0 : 16;
    s->cores = flags & 64 ? cores : 0;
    s->source = flags & 128 ? mkperf_SampleSource_SOURCE_TIMER : mkperf_SampleSource_SOURCE_HOOK;
    s->events_count = (pb_size_t)target.events;
    for (unsigned i = 0; i < target.events; i++) {
        unsigned how = byte();
        s->events[i].name[0] = (char)(how & 1 ? 0 : 'a' + i + (how >> 4));
        s->events[i].code = how >> 4;
        s->events[i].user_counter = how & 2 ? 1 + how % 31 : 2 * i + 1;
        s->events[i].kernel_counter = how & 4 ? 0 : 2 * i + 2;
        s->events[i].period = 100;
        s->events[i].read = i != 0 && how & 8;
        s->events[i].group = how >> 6;
    }
    mkperf_encoder_begin(&target.encoder, target.session, TARGET_HZ);
    s->aggregate_ms = s->overwrite ? 100 : 0;
    mkperf_encoder_windows(&target.encoder, s->aggregate_ms * TARGET_HZ / 1000);
}

/* Makes one record, as the profiler PD writes it. Returns its size. */
static inline unsigned target_record(uint64_t w[MKPERF_MAX_RECORD_BYTES / 8], unsigned core)
{
    unsigned how = byte();
    unsigned flags = how & 1 ? byte() & ~MKPERF_SAMPLE_CALLERS : 0;
    unsigned counter = how & 2 ? byte() % 32 : byte() % (2 * target.events + 1);
    unsigned frames = how & 4 ? byte() % (TARGET_FRAMES + 1) : 1;
    unsigned reads = flags & MKPERF_SAMPLE_READ ? 1 + byte() % 3 : 0;
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS + (flags & MKPERF_SAMPLE_KERNEL);

    memset(w, 0, MKPERF_MAX_RECORD_BYTES);
    target.time += how & 8 ? byte() : 100;
    w[MKPERF_WORD_TIME] = target.time;
    if (how & 16) {
        w[0] =
            mkperf_record_header(MKPERF_RECORD_LOSS, 8 * MKPERF_LOSS_WORDS, 0, 0, byte() % 4, core);
        w[MKPERF_LOSS_SAMPLES] = w[MKPERF_LOSS_EVENTS] = byte();
        return 8 * MKPERF_LOSS_WORDS;
    }
    w[MKPERF_WORD_THREAD] = how & 32 ? MKPERF_THREAD_IDLE - byte() % 3 : 1 + byte() % 4;
    w[MKPERF_WORD_PERIOD] = how & 64 ? byte() : 100;
    w[MKPERF_WORD_PC] = 0x400000 + 4 * byte();
    w[MKPERF_WORD_LR] = 0x400000 + 4 * byte();
    if (flags & MKPERF_SAMPLE_NO_USER) {
        w[MKPERF_WORD_PC] = w[MKPERF_WORD_LR] = 0;
    }
    for (unsigned i = 0; i < frames; i++) {
        unsigned kind = how & 128 ? byte() : 0;
        w[words++] = kind % 8 == 1   ? MKPERF_FRAME_PD
                     : kind % 8 == 2 ? MKPERF_FRAME_CALLER
                     : kind % 8 == 3 ? 1 + kind / 8
                                     : 0x400000 + 4 * byte();
    }
    if (reads != 0) {
        w[words++] = reads;
    }
    for (unsigned i = 0; i < reads; i++) {
        w[words++] = (uint64_t)(2 * i + byte() % 2) << MKPERF_READ_COUNTER_SHIFT | byte();
    }
    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, frames, counter, flags, core);
    return 8 * words;
}

/* Makes a whole message in out (MKPERF_CONTENT_BYTES). Returns its length. */
static inline size_t target_batch(uint8_t *out)
{
    uint64_t w[MKPERF_MAX_RECORD_BYTES / 8];
    unsigned how = byte(), core = byte() % (MKPERF_MAX_CORES + 1);

    core = how & 64 ? core : 0;
    if (how & 128) {
        mkperf_encoder_new_epoch(&target.encoder);
    }
    for (unsigned n = 1 + how % 32; n != 0; n--) {
        if (mkperf_encoder_add(&target.encoder, w, target_record(w, core)) == MKPERF_ENCODE_FULL) {
            break;
        }
    }
    mkperf_encoder_end_window(&target.encoder);
    return mkperf_encoder_finish(&target.encoder, out);
}

static inline void target_sched(mkperf_Sched *s)
{
    unsigned how = byte(), core = byte() % (MKPERF_MAX_CORES + 1), bits = TARGET_CODE_BITS;
    unsigned i = core % MKPERF_MAX_CORES;

    target.core[i].epoch += how & 1;
    target.core[i].next += how & 2 ? byte() : 0; /* a gap */
    s->session = target.session;
    s->core = core;
    s->epoch = target.core[i].epoch;
    s->first_event = how & 4 ? byte() : target.core[i].next;
    s->tick_hz = how & 8 ? byte() : TARGET_HZ;
    s->time_ticks = target.time;
    s->code_bits = how & 16 ? byte() % 20 : bits;
    s->codes_count = byte() % (MKPERF_ROOM(mkperf_Sched, codes) + 1);
    for (unsigned k = 0; k < s->codes_count; k++) {
        unsigned kind = byte();
        s->codes[k] = (mkperf_SchedCode){.code = how & 32 ? 8 * byte() : k,
                                         .kind = (mkperf_SchedKind)(kind % 12),
                                         .reason = (mkperf_SchedReason)(kind / 12 % 12),
                                         .thread = byte() % 8,
                                         .irq = kind};
    }
    s->event_count = byte() % (MKPERF_ROOM(mkperf_Sched, event) + 1);
    for (unsigned k = 0; k < s->event_count; k++) {
        unsigned code = byte();
        s->event[k] = (uint64_t)(code / 16) << s->code_bits | code % 16;
    }
    target.core[i].next += s->event_count;
    target.time += 100;
}

static inline void target_status(mkperf_Status *s)
{
    unsigned how = byte();

    s->session = target.session;
    s->running = !(how & 1);
    s->storm = how & 2;
    s->tick_hz = how & 4 ? byte() : TARGET_HZ;
    s->sent = target.encoder.sent + (how & 8 ? byte() : 0);
    s->lost_ring = how & 16 ? byte() : 0;
    s->lost_link = how & 32 ? UINT64_MAX : 0;
    s->sched_sent = how & 64 ? byte() : 0;
    s->marks_lost = how & 128 ? byte() : 0;
    s->captured = s->sent + s->lost_ring;
    s->ring_bytes = 4096;
    s->enabled_ticks = byte();
    s->running_ticks_count = byte() % (MKPERF_ROOM(mkperf_Status, running_ticks) + 1);
    for (unsigned i = 0; i < s->running_ticks_count; i++) {
        s->running_ticks[i] = byte();
    }
    s->has_attribution = how & 128;
    s->attribution = (mkperf_Attribution){
        .right = byte(), .wrong = byte(), .faults = byte(), .unread = byte(), .cost_ns = 1};
    s->cores_count = byte() % (MKPERF_ROOM(mkperf_Status, cores) + 1);
    for (unsigned i = 0; i < s->cores_count; i++) {
        unsigned core = byte();
        s->cores[i] = (mkperf_CoreStatus){.core = core & 128 ? core : i,
                                          .state = (mkperf_CoreState)(core % 4),
                                          .captured = byte(),
                                          .lost_output = byte(),
                                          .started_ticks = byte(),
                                          .stopped_ticks = byte()};
    }
    s->flight = (mkperf_FlightState)(byte() % 4);
}

static inline void target_mark(mkperf_Mark *m)
{
    unsigned how = byte();

    m->session = how & 1 ? 0 : target.session;
    m->tick_hz = how & 2 ? byte() : TARGET_HZ;
    m->time_ticks = target.time;
    m->thread = how & 4 ? 0 : 2 + byte() % 8;
    m->kind = (mkperf_MarkKind)(how >> 4);
    m->id = byte();
    if (how & 8) {
        snprintf(m->pd, sizeof m->pd, "unknown-%u", byte() % 4U);
    }
    m->name[0] = (char)byte();
}

static inline void target_gap(mkperf_Gap *g)
{
    unsigned how = byte();

    g->session = how & 1 ? byte() : target.session;
    g->first_sample = how & 2 ? byte() : target.encoder.sent;
    g->samples = byte();
    g->reason = how & 8 ? mkperf_GapReason_GAP_JOINED : mkperf_GapReason_GAP_SLOW;
    target.encoder.sent += how & 4 ? g->samples : 0;
}

static inline void target_interactions(mkperf_Interactions *i, uint32_t part)
{
    unsigned how = byte();

    i->session = target.session;
    i->part = how & 1 ? byte() : part;
    i->parts = how & 2 ? UINT32_MAX : part + 1 + (how >> 2 & 1);
    i->tick_hz = how & 8 ? byte() : TARGET_HZ;
    i->total_count = byte() % (MKPERF_ROOM(mkperf_Interactions, total) + 1);
    i->edges_count = byte() % (MKPERF_ROOM(mkperf_Interactions, edges) + 1);
    for (unsigned k = 0; k < i->edges_count; k++) {
        i->edges[k] = (mkperf_Edge){.from = byte(), .to = byte(), .calls = byte()};
    }
    i->threads_count = byte() % (MKPERF_ROOM(mkperf_Interactions, threads) + 1);
    for (unsigned k = 0; k < i->threads_count; k++) {
        i->threads[k].thread = byte();
        i->threads[k].count_count = byte() % (MKPERF_ROOM(mkperf_ThreadEvents, count) + 1);
    }
}

static inline void target_latency(mkperf_Latency *l, uint32_t part)
{
    unsigned how = byte();

    l->session = target.session;
    l->part = how & 1 ? byte() : part;
    l->parts = how & 2 ? UINT32_MAX : part + 1 + (how >> 2 & 1);
    l->tick_hz = how & 8 ? 0 : TARGET_HZ;
    l->enabled_ticks = byte();
    l->pairs_count = byte() % (MKPERF_ROOM(mkperf_Latency, pairs) + 1);
    for (unsigned i = 0; i < l->pairs_count; i++) {
        mkperf_LatencyPair *p = &l->pairs[i];
        unsigned kind = byte();
        p->kind = (mkperf_LatencyKind)(kind % 4);
        p->from = byte() % 8;
        p->to = byte() % 8;
        p->count = kind & 64 ? UINT64_MAX : byte();
        p->max_ticks = byte();
        p->busy = kind & 8 ? byte() : 0;
        p->bucket_count = p->in_bucket_count = byte() %
                                               (MKPERF_ROOM(mkperf_LatencyPair, bucket) + 1);
        p->in_bucket_count = kind & 32 ? 0 : p->in_bucket_count;
        for (unsigned k = 0; k < p->bucket_count; k++) {
            p->bucket[k] = kind & 16 ? 16U * byte() : byte() % 16;
            p->in_bucket[k] = byte();
        }
    }
    l->threads_count = how & 16 ? byte() % (MKPERF_ROOM(mkperf_Latency, threads) + 1) : 0;
    for (unsigned i = 0; i < l->threads_count; i++) {
        l->threads[i].thread = byte() % 8;
        l->threads[i].run_ticks = byte();
        l->threads[i].runs = byte();
    }
}

enum target_kind {
    TARGET_SESSION,
    TARGET_BATCH,
    TARGET_SCHED,
    TARGET_STATUS,
    TARGET_MARK,
    TARGET_GAP,
    TARGET_INTERACTIONS,
    TARGET_LATENCY,
    TARGET_KINDS,
};

/* Makes a message in out (MKPERF_CONTENT_BYTES): the answer to `request`, or none with 0. Returns its length. part:
 * that a request of parts asked for. */
static inline size_t target_message(uint8_t *out, unsigned kind, uint32_t request, uint32_t part)
{
    static mkperf_ToHost m;
    pb_ostream_t to = pb_ostream_from_buffer(out, MKPERF_CONTENT_BYTES);

    m = (mkperf_ToHost)mkperf_ToHost_init_zero;
    m.request = request;
    switch (kind % TARGET_KINDS) {
    case TARGET_SESSION:
        m.which_msg = mkperf_ToHost_session_tag;
        target_session(&m.msg.session);
        break;
    case TARGET_BATCH:
        return target_batch(out);
    case TARGET_SCHED:
        m.which_msg = mkperf_ToHost_sched_tag;
        target_sched(&m.msg.sched);
        break;
    case TARGET_STATUS:
        m.which_msg = mkperf_ToHost_status_tag;
        target_status(&m.msg.status);
        break;
    case TARGET_MARK:
        m.which_msg = mkperf_ToHost_mark_tag;
        target_mark(&m.msg.mark);
        break;
    case TARGET_GAP:
        m.which_msg = mkperf_ToHost_gap_tag;
        target_gap(&m.msg.gap);
        break;
    case TARGET_INTERACTIONS:
        m.which_msg = mkperf_ToHost_interactions_tag;
        target_interactions(&m.msg.interactions, part);
        break;
    default:
        m.which_msg = mkperf_ToHost_latency_tag;
        target_latency(&m.msg.latency, part);
    }
    return pb_encode(&to, mkperf_ToHost_fields, &m) ? to.bytes_written : 0;
}

#endif
