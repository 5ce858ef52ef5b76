/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rest of a session on the simulated machine: the client PD, a line that may be slow, and a
 * host at its end that speaks the protocol and keeps its own books. For tests/unit/test_session*.c.
 */
#ifndef MKPERF_TEST_SIM_HOST_H
#define MKPERF_TEST_SIM_HOST_H

#include "batch_columns.h"
#include "sim_machine.h"

#include <pb_decode.h>
#include <pb_encode.h>

#include <mkperf/frame.h>

#include "pd/client/control.h"

enum { SIM_THREADS = 16 };

static struct mkperf_client client;
static struct mkperf_connection places[1];
static uint8_t queues[1][MKPERF_LINK_BYTES];
static struct mkperf_link host;      /* the host's end, */
static struct mkperf_link host_line; /* and what it sends */
static struct {
    mkperf_ToHost last; /* answer */
    uint64_t batch_samples;
    uint32_t session;
    uint64_t weight[MKPERF_MAX_COUNTERS];
    uint64_t of[MKPERF_MAX_COUNTERS];        /* samples */
    uint64_t reads[MKPERF_MAX_COUNTERS];     /* group reads in others' samples, */
    uint64_t most_read[MKPERF_MAX_COUNTERS]; /* and the most in one */
    uint64_t loss_samples[MKPERF_LOSS_PLACES];
    uint64_t loss_events;
    unsigned statuses, hellos, events, frames;
    bool after_status; /* a batch came after the last status */
    uint32_t chain_counter[MKPERF_CHAIN_SLOTS];
    uint32_t chain_reads[MKPERF_CHAIN_SLOTS];
    uint32_t chain_flags[MKPERF_CHAIN_SLOTS];
    uint64_t chain_thread[MKPERF_CHAIN_SLOTS];
    uint64_t of_confidence[4];
    uint64_t of_thread[SIM_THREADS]; /* by bits 8 and up of identity + 2 */
} got;
static uint32_t request;

static uint32_t call(uint32_t op)
{
    return (uint32_t) protected(MKPERF_CHANNEL_CLIENT, microkit_msginfo_new(op, 0)).label;
}

static mkperf_Chain chains[MKPERF_BATCH_SAMPLES];
static unsigned nchains;

static bool decode_chain(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
    (void)field;
    (void)arg;
    assert_true(nchains < MKPERF_BATCH_SAMPLES);
    chains[nchains] = (mkperf_Chain)mkperf_Chain_init_zero;
    return pb_decode(stream, mkperf_Chain_fields, &chains[nchains++]);
}

static uint64_t reads[MKPERF_BATCH_SAMPLES * MKPERF_MAX_READS];
static unsigned nreads;

static bool decode_reads(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
    (void)field;
    (void)arg;
    while (stream->bytes_left != 0) {
        assert_true(nreads < sizeof reads / sizeof *reads);
        assert_true(pb_decode_varint(stream, &reads[nreads++]));
    }
    return true;
}

/* The group reads of a sample. Returns where the next sample's begin. */
static unsigned host_reads(uint32_t mask, unsigned at)
{
    for (; mask != 0; mask &= mask - 1) {
        unsigned counter = (unsigned)__builtin_ctz(mask);
        assert_true(at < nreads);
        got.most_read[counter] = reads[at] > got.most_read[counter] ? reads[at]
                                                                    : got.most_read[counter];
        got.reads[counter] += reads[at++];
    }
    return at;
}

static void host_batch(pb_istream_t *stream)
{
    static mkperf_Batch b;
    struct batch_columns columns;
    pb_istream_t inner;
    unsigned at = 0, read = 0;
    uint64_t samples = 0;

    b = (mkperf_Batch)mkperf_Batch_init_zero;
    b.chains.funcs.decode = decode_chain;
    b.read.funcs.decode = decode_reads;
    nchains = nreads = 0;
    assert_true(pb_make_string_substream(stream, &inner));
    assert_true(pb_decode(&inner, mkperf_Batch_fields, &b));
    assert_int_equal(b.first_sample, got.batch_samples);
    assert_int_equal(b.tick_hz, TICK_HZ);
    batch_columns_begin(&columns, &b);
    for (unsigned i = 0; i < b.pc_count; i++) {
        struct batch_sample s;
        for (; at < nchains && chains[at].at == i; at++) {
            got.chain_counter[chains[at].slot] = chains[at].counter;
            got.chain_reads[chains[at].slot] = chains[at].reads;
            got.chain_flags[chains[at].slot] = chains[at].flags;
            got.chain_thread[chains[at].slot] = chains[at].thread;
        }
        batch_columns_chain(&columns, &s);
        uint32_t counter = got.chain_counter[s.slot];
        uint64_t count = 1;
        if (b.count_count != 0) {
            count = batch_columns_row(&columns, counter, &s);
        } else {
            batch_columns_next(&columns, counter, &s);
        }
        uint64_t weight = s.period;
        assert_in_range(weight, 1, UINT64_C(0xc0000000) * count);
        got.weight[counter] += weight;
        got.of_confidence[got.chain_flags[s.slot] >> 6 & 3]++;
        got.of_thread[(got.chain_thread[s.slot] >> 8) % SIM_THREADS]++;
        got.of[counter] += count;
        samples += count;
        read = host_reads(got.chain_reads[s.slot], read);
    }
    assert_int_equal(read, nreads);
    for (unsigned i = 0; i < b.losses_count; i++) {
        got.loss_samples[b.losses[i].where] += b.losses[i].samples;
        got.loss_events += b.losses[i].events;
        assert_true(b.losses[i].samples != 0);
    }
    if (b.count_count == 0) {
        batch_columns_end(&columns);
    }
    got.batch_samples += samples;
    got.after_status = true;
}

static void host_message(const uint8_t *message, int n)
{
    pb_istream_t stream = pb_istream_from_buffer(message, (size_t)n);
    pb_wire_type_t type;
    uint32_t tag;
    bool eof;

    got.frames++;
    if (message[0] == (mkperf_ToHost_batch_tag << 3 | 2)) {
        assert_true(pb_decode_tag(&stream, &type, &tag, &eof));
        host_batch(&stream);
        return;
    }
    static mkperf_ToHost m;
    assert_true(pb_decode(&stream, mkperf_ToHost_fields, &m));
    got.hellos += m.which_msg == mkperf_ToHost_hello_tag;
    if (m.which_msg == mkperf_ToHost_events_tag) {
        got.events += m.msg.events.events_count;
    }
    if (m.which_msg == mkperf_ToHost_status_tag) {
        got.statuses++;
        got.after_status = false;
    }
    if (m.which_msg == mkperf_ToHost_session_tag && m.msg.session.running) {
        got.batch_samples = m.msg.session.id == got.session ? got.batch_samples : 0;
        got.session = m.msg.session.id;
    }
    if (m.request != 0) {
        got.last = m;
    }
}

/* Moves the bytes that the line carries in one tick. */
static void line(size_t n)
{
    while (n > 0) {
        size_t there;
        const uint8_t *bytes = mkperf_link_out(&client.connection[0].link, &there);
        const uint8_t *message;
        if (there == 0) {
            break;
        }
        int length = mkperf_link_byte(&host, *bytes, &message);
        if (length >= 0) {
            host_message(message, length);
        }
        mkperf_link_sent(&client.connection[0].link, 1);
        n--;
    }
}

static void run(uint64_t ticks)
{
    for (uint64_t i = 0; i < ticks; i++) {
        tick();
        sim_children_tick();
        if (sim_alarm != 0 && sim.ticks >= sim_alarm && !sim.asleep) {
            sim_alarm = 0;
            notified(MKPERF_CHANNEL_TIMER);
        }
        if (sim.woken && !sim.asleep) {
            sim.woken = false;
            notified(MKPERF_CHANNEL_PMU);
        }
        if (sim.reported || i % 100 == 0) { /* the line's interrupts let the client run, too */
            sim.reported = false;
            mkperf_client_pump(&client);
        }
        line(sim.line);
    }
    assert_int_equal(host.bad_frames, 0);
}

/* Sends a message to the target. */
static void say(mkperf_ToTarget *m)
{
    uint8_t message[MKPERF_MESSAGE_BYTES];
    pb_ostream_t stream = pb_ostream_from_buffer(message, sizeof message);
    size_t n;

    m->request = ++request;
    assert_true(pb_encode(&stream, mkperf_ToTarget_fields, m));
    assert_true(mkperf_link_send(&host_line, message, stream.bytes_written));
    while (mkperf_link_out(&host_line, &n), n != 0) {
        mkperf_client_byte(&client, 0, *mkperf_link_out(&host_line, &n));
        mkperf_link_sent(&host_line, 1);
    }
}

/* Sends a request, and runs the machine until the answer has arrived. */
static void ask(mkperf_ToTarget *m, pb_size_t answer)
{
    say(m);
    for (unsigned i = 0; i < 3000 && got.last.request != request; i++) {
        run(1000);
    }
    assert_int_equal(got.last.request, request);
    if (answer == mkperf_ToHost_session_tag && got.last.which_msg == mkperf_ToHost_error_tag) {
        print_message("%s\n", got.last.msg.error.text);
    }
    assert_int_equal(got.last.which_msg, answer);
}

static mkperf_ToTarget message(pb_size_t which)
{
    mkperf_ToTarget m = mkperf_ToTarget_init_zero;

    m.which_msg = which;
    return m;
}

static mkperf_EventSpec event(const char *name, uint64_t period, uint32_t frequency)
{
    mkperf_EventSpec e = mkperf_EventSpec_init_zero;

    snprintf(e.name, sizeof e.name, "%s", name);
    e.period = period;
    e.frequency = frequency;
    return e;
}

static void command(pb_size_t which, pb_size_t answer)
{
    mkperf_ToTarget m = message(which);

    ask(&m, answer);
}

static void start_session(void)
{
    got.batch_samples = 0;
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_session_tag);
}

static const mkperf_Status *stop_session(void)
{
    command(mkperf_ToTarget_stop_tag, mkperf_ToHost_status_tag);
    assert_false(got.after_status);
    assert_false(got.last.msg.status.running);
    return &got.last.msg.status;
}

static int boot(void **state)
{
    (void)state;
    memset(&sim, 0, sizeof sim);
    memset(&profiler, 0, sizeof profiler);
    memset(&client, 0, sizeof client);
    memset(places, 0, sizeof places);
    memset(&host, 0, sizeof host);
    memset(&host_line, 0, sizeof host_line);
    memset(&got, 0, sizeof got);
    memset(&ipc_buffer, 0, sizeof ipc_buffer);
    mock_features = 0;
    sim.hook = sim.interrupts = sim.counts = true;
    sim.user_rate = 900;
    sim.kernel_rate = 100;
    sim.line = 1000;
    rings = aligned_alloc(4096, MKPERF_RINGS_REGION_BYTES);
    output = aligned_alloc(4096, MKPERF_OUTPUT_REGION_BYTES);
    memset(rings, 0, MKPERF_RINGS_REGION_BYTES);
    memset(output, 0, MKPERF_OUTPUT_REGION_BYTES);
    mkperf_rings = (uintptr_t)rings;
    mkperf_output = (uintptr_t)output;
    init();
    client.platform = "test";
    client.page = (struct mkperf_session_page *)output;
    client.ring.ring = mkperf_output_ring(mkperf_output);
    client.ring.size = MKPERF_OUTPUT_RING_BYTES;
    client.call = call;
    client.connection = places;
    client.places = 1;
    client.queue = queues;
    client.hosts = 1;
    mkperf_client_init(&client);
    assert_int_equal(mkperf_client_open(&client, false), 0);
    return 0;
}

static int halt(void **state)
{
    (void)state;
    free(rings);
    free(output);
    return 0;
}

/* captured = delivered + lost, by the profiler's statistics and by what arrived. */
static void check_statistics(const mkperf_Status *s)
{
    assert_int_equal(s->captured, s->sent + s->lost_output + s->lost_link);
    assert_int_equal(s->sent, got.batch_samples);
    assert_int_equal(s->lost_ring, got.loss_samples[MKPERF_LOSS_RING]);
    assert_int_equal(s->lost_output, got.loss_samples[MKPERF_LOSS_OUTPUT]);
    assert_int_equal(s->corrupt, 0);
    assert_int_equal(s->bad_frames, 0);
}

static inline void refused(mkperf_ErrorCode code, uint32_t about)
{
    assert_int_equal(got.last.msg.error.code, code);
    assert_int_equal(got.last.msg.error.event, about);
    assert_true(strlen(got.last.msg.error.text) > 10);
    assert_true(strlen(got.last.msg.error.text) < sizeof got.last.msg.error.text - 1);
}

/* A case that begins with a booted machine. */
#define T(name) cmocka_unit_test_setup_teardown(name, boot, halt)

#endif
