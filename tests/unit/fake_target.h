/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target's half of the wire, built by hand with nanopb: for tests of the host.
 *
 * Owns: a buffer of bytes as a line would carry them. Each function appends one frame or text.
 */
#ifndef MKPERF_TESTS_FAKE_TARGET_H
#define MKPERF_TESTS_FAKE_TARGET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <mkperf/auth.h>
#include <mkperf/frame.h>
#include <mkperf/record.h>
#include <mkperf/wire.h>
#include <pb_encode.h>

#include "batch_columns.h"

enum { FAKE_HZ = 62500000, FAKE_PERIOD = 1000, FAKE_BYTES = 1 << 20 };

struct fake {
    uint8_t bytes[FAKE_BYTES];
    size_t n;
    uint16_t sequence;
    bool all_cores;     /* each core's counters count what all cores do */
    bool turns;         /* its cores are QEMU's, which take turns */
    bool lose;          /* the next frames are built and thrown away */
    bool authenticated; /* with mac_key; a number is the sequence: fakes do not live that long */
    uint8_t mac_key[MKPERF_KEY_BYTES];
    unsigned frames;
};

struct fake_batch {
    mkperf_Batch batch; /* but for its columns */
    struct batch_sample sample[MKPERF_BATCH_SAMPLES];
    unsigned samples;
    mkperf_Chain chain[4];
    unsigned chains;
};

static inline void fake_frame(struct fake *f, const uint8_t *message, size_t n)
{
    uint8_t frame[MKPERF_FRAME_BYTES], authenticated[MKPERF_MESSAGE_BYTES];

    if (f->authenticated) {
        memcpy(authenticated, message, n);
        n = mkperf_auth_mac(f->mac_key, f->sequence, authenticated, n);
        message = authenticated;
    }
    size_t length = mkperf_frame_encode(frame, f->sequence++, message, n);
    f->frames++;

    assert_int_not_equal(length, 0);
    assert_true(f->n + length <= sizeof f->bytes);
    if (!f->lose) {
        memcpy(f->bytes + f->n, frame, length);
        f->n += length;
    }
}

static inline void fake_send(struct fake *f, const mkperf_ToHost *m)
{
    uint8_t message[MKPERF_MESSAGE_BYTES];
    pb_ostream_t out = pb_ostream_from_buffer(message, sizeof message);

    assert_true(pb_encode(&out, mkperf_ToHost_fields, m));
    fake_frame(f, message, out.bytes_written);
}

static inline void fake_text(struct fake *f, const char *text)
{
    size_t n = strlen(text);

    assert_true(f->n + n <= sizeof f->bytes);
    memcpy(f->bytes + f->n, text, n);
    f->n += n;
}

static inline void fake_hello(struct fake *f, uint32_t request, uint64_t boot, uint32_t protocol)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_hello_tag;
    m.msg.hello = (mkperf_TargetHello){
        .protocol = protocol, .boot_id = boot, .platform = "fake", .cpu = "none", .cores = 1};
    fake_send(f, &m);
}

/* One event, called `event`, on counter 0 in both modes. */
static inline void fake_session_of(struct fake *f, uint32_t request, uint32_t id, bool running,
                                   const char *event)
{
    static mkperf_ToHost m;
    mkperf_Session *s = &m.msg.session;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_session_tag;
    s->id = id;
    s->running = running;
    s->max_frames = MKPERF_DEFAULT_FRAMES;
    s->events_count = 1;
    strcpy(s->events[0].name, event);
    s->events[0].code = 0x11;
    s->events[0].user_counter = s->events[0].kernel_counter = 1;
    s->events[0].period = FAKE_PERIOD;
    s->events[0].all_cores = f->all_cores;
    s->turns = f->turns;
    fake_send(f, &m);
}

static inline void fake_session(struct fake *f, uint32_t request, uint32_t id, bool running)
{
    fake_session_of(f, request, id, running, "cycles");
}

static inline void fake_status(struct fake *f, uint32_t request, uint32_t id, bool running,
                               uint64_t sent, uint64_t lost_ring)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_status_tag;
    m.msg.status = (mkperf_Status){.session = id,
                                   .running = running,
                                   .captured = sent,
                                   .sent = sent,
                                   .lost_ring = lost_ring,
                                   .late_events = 5,
                                   .spurious = 6,
                                   .disturbed = 7,
                                   .storm = true,
                                   .has_attribution = true,
                                   .attribution = {.spent_us = 7, .unread = 8}};
    fake_send(f, &m);
}

static inline void fake_error(struct fake *f, uint32_t request, mkperf_ErrorCode code,
                              uint32_t event, const char *text)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_error_tag;
    m.msg.error.code = code;
    m.msg.error.event = event;
    snprintf(m.msg.error.text, sizeof m.msg.error.text, "%s", text);
    fake_send(f, &m);
}

static inline bool fake_put_chains(pb_ostream_t *out, const pb_field_t *field, void *const *arg)
{
    const struct fake_batch *b = *arg;

    for (unsigned i = 0; i < b->chains; i++) {
        if (!pb_encode_tag_for_field(out, field) ||
            !pb_encode_submessage(out, mkperf_Chain_fields, &b->chain[i])) {
            return false;
        }
    }
    return true;
}

/* n samples of slot 0, the first with number `first`, one every 1000 ticks from `ticks` on. */
static inline void fake_batch_init(struct fake_batch *b, uint64_t first, unsigned n, uint64_t ticks)
{
    memset(b, 0, sizeof *b);
    b->batch = (mkperf_Batch){
        .session = 1, .epoch = 1, .first_sample = first, .tick_hz = FAKE_HZ, .time_ticks = ticks};
    b->samples = n;
    for (unsigned i = 0; i < n; i++) {
        b->sample[i] =
            (struct batch_sample){.time = ticks + UINT64_C(1000) * i, .period = FAKE_PERIOD};
    }
}

/* Defines slot `slot` from sample `at` on, for PD `thread`: pc, lr and two callers. */
static inline void fake_chain(struct fake_batch *b, uint32_t slot, uint32_t at, uint64_t thread,
                              uint64_t pc)
{
    b->chain[b->chains++] = (mkperf_Chain){.slot = slot,
                                           .at = at,
                                           .thread = thread + 2,
                                           .pc = pc,
                                           .lr = pc + 0x100,
                                           .frames_count = 2,
                                           .frames = {0x200, 0x10}};
}

static inline void fake_batch(struct fake *f, struct fake_batch *b)
{
    static mkperf_ToHost m;

    b->batch.chains.funcs.encode = fake_put_chains;
    b->batch.chains.arg = b;
    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToHost_batch_tag;
    m.msg.batch = b->batch;
    batch_columns_put(&m.msg.batch, b->sample, b->samples, FAKE_PERIOD, 65536);
    fake_send(f, &m);
}

#endif
