/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole sessions on a simulated machine: the real kernel hook, the profiler PD and the client PD in
 * one program, with a host that speaks the protocol at the end of a line that may be slow.
 *
 * The machine has counters whose rates the test sets, and time that moves when it says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/capture.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/counts.c"  // NOLINT(bugprone-suspicious-include)

#include "target/profiler/counting.c" // NOLINT(bugprone-suspicious-include)
#include "target/profiler/drain.c"    // NOLINT(bugprone-suspicious-include)
#include "target/profiler/main.c"     // NOLINT(bugprone-suspicious-include)
#include "target/profiler/pace.c"     // NOLINT(bugprone-suspicious-include)
#include "target/profiler/sampling.c" // NOLINT(bugprone-suspicious-include)

#include <pb_decode.h>
#include <pb_encode.h>

#include <mkperf/frame.h>

#include "target/client/control.h"

enum { COUNTERS = 6 };
#define TICK_HZ UINT64_C(1000000)

/* ---- the machine ---------------------------------------------------------------------------- */

struct sim_counter {
    uint32_t code;
    bool user, kernel, on;
    uint32_t value;
    uint64_t total; /* events counted since it was armed first */
};

static struct {
    struct sim_counter counter[COUNTERS];
    uint32_t overflow;
    uint64_t ticks;
    bool hook;       /* the kernel has the extension */
    bool interrupts; /* the PMU interrupt reaches the kernel */
    bool counts;     /* counters move at all */
    bool woken;      /* the profiler PD has a notification */
    bool told;       /* the client PD has one */
    bool asleep;     /* the profiler PD does not get to run */
    unsigned acks;
    uint32_t user_rate; /* events a tick */
    uint32_t kernel_rate;
    unsigned line; /* bytes a tick that the line takes */
    struct mkperf_capture_state state;
    bool by_thread; /* the kernel counts by thread */
    struct mkperf_counts_state counting;
} sim;

static uint8_t ipc_page[4096] __attribute__((aligned(4096)));
void *__sel4_ipc_buffer = ipc_page;
static uint8_t *rings, *output;

void microkit_dbg_puts(const char *s)
{
    (void)s;
}

void microkit_notify(microkit_channel ch)
{
    assert_int_equal(ch, MKPERF_CHANNEL_CLIENT);
    sim.told = true;
}

void microkit_irq_ack(microkit_channel ch)
{
    assert_int_equal(ch, MKPERF_CHANNEL_PMU);
    sim.acks++;
}

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = (struct mkperf_port_context){0x200000 + sim.ticks % 64 * 4, 0x200100, 0};
    return true;
}

uint64_t mkperf_port_thread(void)
{
    return 1 + sim.ticks / 1000 % 3;
}

uint64_t mkperf_port_kernel_pc(void)
{
    return UINT64_C(0xffffff8000001000);
}

unsigned mkperf_port_core(void)
{
    return 0;
}

uint64_t mkperf_port_time(void)
{
    return sim.ticks;
}

uint64_t mkperf_port_tick_hz(void)
{
    return TICK_HZ;
}

uint32_t mkperf_port_overflow_take(void)
{
    uint32_t taken = sim.overflow;

    sim.overflow = 0;
    return taken;
}

uint32_t mkperf_port_counter_read(unsigned i)
{
    return sim.counter[i].value;
}

void mkperf_port_counter_write(unsigned i, uint32_t value)
{
    sim.counter[i].value = value;
}

uintptr_t mkperf_port_user_page(uint64_t va)
{
    (void)va;
    return 0;
}

struct mkperf_ring *mkperf_port_ring(const struct mkperf_descriptor *d, uint64_t bytes)
{
    assert_int_equal(bytes, MKPERF_CORE_RING_BYTES + MKPERF_RING_HEADER_BYTES);
    return (struct mkperf_ring *)d->ring[0];
}

void mkperf_port_wake(void)
{
    sim.woken = true;
}

/* What the kernel does at a switch away from a thread, and after a capture. */
static void count_by_thread(uint64_t thread)
{
    const struct mkperf_descriptor *d = profiler.descriptor;

    if (sim.by_thread && d->magic == MKPERF_DESCRIPTOR_MAGIC && d->counts != 0) {
        mkperf_counts_switch(d, &sim.counting, (struct mkperf_counts *)d->counts, thread, 1);
    }
}

static void interrupt(void)
{
    const struct mkperf_descriptor *d = profiler.descriptor;

    if (sim.overflow != 0 && sim.interrupts) {
        if (sim.hook && d->magic == MKPERF_DESCRIPTOR_MAGIC) {
            mkperf_capture(d, &sim.state);
            count_by_thread(mkperf_port_thread());
        } else {
            sim.woken = true;
        }
    }
}

/* One tick: the counters move, and the kernel takes the interrupt. */
static void tick(void)
{
    uint64_t before = mkperf_port_thread();

    sim.ticks++;
    if (mkperf_port_thread() != before) {
        count_by_thread(before);
    }
    for (unsigned i = 0; i < COUNTERS && sim.counts; i++) {
        struct sim_counter *c = &sim.counter[i];
        uint32_t events = (c->user ? sim.user_rate : 0) + (c->kernel ? sim.kernel_rate : 0);
        if (!c->on || events == 0) {
            continue;
        }
        events = c->code == 0x03 ? (sim.ticks % 100 == 0) * events : events; /* misses are rare */
        c->total += events;
        c->value += events;
        if (c->value < events) {
            sim.overflow |= UINT32_C(1) << i;
        }
    }
    interrupt();
}

/* ---- its PMU -------------------------------------------------------------------------------- */

static const char *pmu_reason;

static const char *sim_init(void)
{
    return pmu_reason;
}

static unsigned sim_counters(void)
{
    return COUNTERS;
}

static void sim_cpu(char *name, size_t n)
{
    snprintf(name, n, "simulated");
}

static bool sim_supported(uint32_t code)
{
    return code != 0x23;
}

static bool sim_program(unsigned counter, uint32_t code, bool user, bool kernel)
{
    assert_false(sim.counter[counter].on);
    sim.counter[counter] = (struct sim_counter){.code = code, .user = user, .kernel = kernel};
    return code != 0xbad;
}

static void sim_arm(unsigned counter, uint32_t events)
{
    assert_true(events >= 1 && events <= MKPERF_COUNT_PERIOD);
    sim.counter[counter].value = 0 - events;
}

static void sim_start(uint32_t mask)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        sim.counter[i].on |= mask >> i & 1;
    }
    for (unsigned i = 0; i < 200; i++) {
        tick(); /* the probe waits in a loop in which nothing else can move the time */
    }
}

static void sim_stop(uint32_t mask)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        sim.counter[i].on &= !(mask >> i & 1);
    }
}

static uint32_t sim_read(unsigned counter)
{
    return sim.counter[counter].value;
}

static uint32_t sim_overflow(void)
{
    return sim.overflow;
}

static void sim_clear(uint32_t mask)
{
    sim.overflow &= ~mask;
}

static void sim_raise(uint32_t mask)
{
    sim.overflow |= mask;
    interrupt();
}

static uint64_t sim_entropy(void)
{
    return 42;
}

const struct mkperf_pmu mkperf_armv8_pmuv3 = {
    MKPERF_PMU_VERSION,
    "simulated",
    sim_init,
    sim_counters,
    sim_cpu,
    sim_supported,
    sim_program,
    sim_arm,
    sim_start,
    sim_stop,
    sim_read,
    sim_overflow,
    sim_clear,
    sim_raise,
    sim_entropy,
    mkperf_armv8_events,
};

/* ---- the client PD and the host ------------------------------------------------------------- */

static struct mkperf_client client;
static struct mkperf_link host; /* the host's end */
static struct {
    mkperf_ToHost last; /* answer */
    uint64_t batch_samples;
    uint64_t weight[COUNTERS];
    uint64_t of[COUNTERS]; /* samples */
    uint64_t loss_samples[MKPERF_LOSS_PLACES];
    uint64_t loss_events;
    unsigned statuses, hellos, events, frames;
    bool after_status; /* a batch came after the last status */
    uint32_t chain_counter[MKPERF_CHAIN_SLOTS];
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

static void host_batch(pb_istream_t *stream)
{
    static mkperf_Batch b;
    pb_istream_t inner;
    unsigned at = 0;

    b = (mkperf_Batch)mkperf_Batch_init_zero;
    b.chains.funcs.decode = decode_chain;
    nchains = 0;
    assert_true(pb_make_string_substream(stream, &inner));
    assert_true(pb_decode(&inner, mkperf_Batch_fields, &b));
    assert_int_equal(b.first_sample, got.batch_samples);
    assert_int_equal(b.tick_hz, TICK_HZ);
    for (unsigned i = 0; i < b.slot_count; i++) {
        for (; at < nchains && chains[at].at == i; at++) {
            got.chain_counter[chains[at].slot] = chains[at].counter;
        }
        uint32_t counter = got.chain_counter[b.slot[i]];
        got.weight[counter] += b.base_period[counter] + (uint64_t)b.period[i];
        got.of[counter]++;
    }
    for (unsigned i = 0; i < b.losses_count; i++) {
        got.loss_samples[b.losses[i].where] += b.losses[i].samples;
        got.loss_events += b.losses[i].events;
        assert_true(b.losses[i].samples != 0);
    }
    got.batch_samples += b.slot_count;
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
    if (m.request != 0) {
        got.last = m;
    }
}

/* Moves what the line takes in one tick. */
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
        if (sim.woken && !sim.asleep) {
            sim.woken = false;
            notified(MKPERF_CHANNEL_PMU);
        }
        if (sim.told || i % 100 == 0) { /* the line's interrupts let the client run, too */
            sim.told = false;
            mkperf_client_pump(&client);
        }
        line(sim.line);
    }
    assert_int_equal(host.bad_frames, 0);
}

/* Sends a message to the target. */
static void say(mkperf_ToTarget *m)
{
    static struct mkperf_link to;
    uint8_t message[MKPERF_MESSAGE_BYTES];
    pb_ostream_t stream = pb_ostream_from_buffer(message, sizeof message);
    size_t n;

    m->request = ++request;
    assert_true(pb_encode(&stream, mkperf_ToTarget_fields, m));
    assert_true(mkperf_link_send(&to, message, stream.bytes_written));
    while (mkperf_link_out(&to, &n), n != 0) {
        mkperf_client_byte(&client, 0, *mkperf_link_out(&to, &n));
        mkperf_link_sent(&to, 1);
    }
}

/* Asks, and lets the machine run until the answer is there. */
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

static void configure_one(mkperf_EventSpec e, pb_size_t answer)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = e;
    m.msg.configure.max_frames = 8;
    ask(&m, answer);
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
    memset(&host, 0, sizeof host);
    memset(&got, 0, sizeof got);
    memset(ipc_page, 0, sizeof ipc_page);
    pmu_reason = NULL;
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

/* ---- tests ---------------------------------------------------------------------------------- */

/* captured = delivered + lost, by the profiler's books and by what arrived. */
static void check_books(const mkperf_Status *s)
{
    assert_int_equal(s->captured, s->sent + s->lost_output + s->lost_link);
    assert_int_equal(s->sent, got.batch_samples);
    assert_int_equal(s->lost_ring, got.loss_samples[MKPERF_LOSS_RING]);
    assert_int_equal(s->lost_output, got.loss_samples[MKPERF_LOSS_OUTPUT]);
    assert_int_equal(s->corrupt, 0);
    assert_int_equal(s->bad_frames, 0);
}

/* Every event that a counter saw is in a sample, in a loss, or still in the counter. */
static void check_events(const mkperf_Status *s)
{
    uint64_t counted = 0;
    uint64_t told = got.loss_events;

    (void)s;
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (profiler.plan.counter_mask >> i & 1) {
            uint32_t left = 0 - sim.counter[i].value;
            told += got.weight[i] + (sim.state.armed[i] - profiler.skip[i] - left);
            counted += sim.counter[i].total;
        }
    }
    assert_int_equal(told, counted);
}

static void test_hello(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_hello_tag);

    (void)state;
    m.msg.hello.protocol = MKPERF_PROTOCOL;
    ask(&m, mkperf_ToHost_hello_tag);
    const mkperf_TargetHello *h = &got.last.msg.hello;
    assert_int_equal(h->protocol, MKPERF_PROTOCOL);
    assert_int_equal(h->counters, COUNTERS);
    assert_int_equal(h->cores, 1);
    assert_string_equal(h->platform, "test");
    assert_string_equal(h->cpu, "simulated");
    assert_true(h->boot_id != 0);
    uint64_t boot_id = h->boot_id;
    ask(&m, mkperf_ToHost_hello_tag);
    assert_int_equal(got.last.msg.hello.boot_id, boot_id);
    m.msg.hello.protocol = MKPERF_PROTOCOL + 1;
    ask(&m, mkperf_ToHost_error_tag);
    assert_int_equal(got.last.msg.error.code, mkperf_ErrorCode_ERROR_PROTOCOL);
}

static void test_fixed_period(void **state)
{
    (void)state;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    assert_false(got.last.msg.session.running);
    assert_int_equal(got.last.msg.session.events[0].user_counter, 1);
    assert_int_equal(got.last.msg.session.events[0].kernel_counter, 2);
    for (unsigned i = 1; i <= 3; i++) {
        memset(got.weight, 0, sizeof got.weight);
        memset(got.of, 0, sizeof got.of);
        start_session();
        assert_int_equal(got.last.msg.session.id, i);
        run(2 * TICK_HZ); /* 1800 M events in user mode, 200 M in the kernel */
        const mkperf_Status *s = stop_session();
        check_books(s);
        check_events(s);
        assert_in_range(got.of[0], 17900, 18150);
        assert_in_range(got.of[1], 1970, 2030);
        assert_int_equal(s->lost_output + s->lost_ring, 0);
        assert_int_equal(s->spurious, 0);
        assert_in_range(s->wakeups, 20000 / 64 - 5, 20000 / 64 + 20);
        assert_int_equal(profiler.descriptor->magic, 0);
    }
    assert_true(got.statuses > 3); /* some came unasked */
    assert_true(got.hellos >= 3);
}

static void test_slow_line(void **state)
{
    (void)state;
    configure_one(event("cycles", 20000, 0), mkperf_ToHost_session_tag);
    start_session();
    for (unsigned i = 0; i < 400; i++) {
        sim.line = 0;
        run(5000);
        sim.line = 5;
        run(100);
    }
    sim.line = 1000;
    const mkperf_Status *s = stop_session();
    assert_true(s->lost_output > 1000);
    assert_true(s->sent > 1000);
    check_books(s);
    check_events(s);
}

static void test_starved_profiler(void **state)
{
    (void)state;
    configure_one(event("cycles", 10000, 0), mkperf_ToHost_session_tag);
    start_session();
    for (unsigned i = 0; i < 5; i++) {
        sim.asleep = true;
        run(TICK_HZ / 10);
        sim.asleep = false;
        run(TICK_HZ / 10);
    }
    const mkperf_Status *s = stop_session();
    assert_true(s->lost_ring > 1000);
    check_books(s);
    check_events(s);
}

/* As run, with a host that asks for the status twice a second. */
static void run_asking(unsigned seconds)
{
    for (unsigned i = 0; i < 2 * seconds; i++) {
        run(TICK_HZ / 2);
        command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    }
}

static void test_frequency_follows(void **state)
{
    static const uint32_t rates[] = {900, 90, 2000, 3, 900};

    (void)state;
    configure_one(event("cycles", 0, 1000), mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].period, 0);
    start_session();
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        sim.user_rate = rates[i];
        sim.kernel_rate = rates[i] / 10;
        run_asking(5); /* finds the new rate, */
        uint64_t before = got.batch_samples;
        run_asking(2); /* and keeps it */
        assert_in_range(got.batch_samples - before, 1600, 2400);
    }
    const mkperf_Status *s = stop_session();
    check_books(s);
    check_events(s);
}

static void test_frequency_of_a_rare_event(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 2;
    m.msg.configure.events[0] = event("cycles", 0, 500);
    m.msg.configure.events[1] = event("cache-misses", 0, 500);
    ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_asking(3);
    uint64_t before = got.of[2] + got.of[3];
    run_asking(2);
    assert_in_range(got.of[2] + got.of[3] - before, 800, 1200);
    sim.user_rate = 4; /* 25 times rarer; what is left to count would take seconds */
    sim.kernel_rate = 0;
    run_asking(6);
    before = got.of[2];
    run_asking(2);
    assert_in_range(got.of[2] - before, 350, 1200);
    const mkperf_Status *s = stop_session();
    check_books(s);
    check_events(s);
}

/* An event that stops to come: the period is lowered when the host asks for the status. */
static void test_silence(void **state)
{
    (void)state;
    configure_one(event("cycles", 0, 100), mkperf_ToHost_session_tag);
    start_session();
    run(2 * TICK_HZ);
    uint32_t period = profiler.pace[0].period;
    sim.user_rate = 1;
    sim.kernel_rate = 0;
    for (unsigned i = 0; i < 5; i++) {
        run(TICK_HZ);
        command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    }
    assert_true(profiler.pace[0].period < period / 100);
    uint64_t before = got.batch_samples;
    run(3 * TICK_HZ);
    assert_true(got.batch_samples - before > 150);
    const mkperf_Status *s = stop_session();
    check_books(s);
    check_events(s);
}

static void refused(mkperf_ErrorCode code, uint32_t about)
{
    assert_int_equal(got.last.msg.error.code, code);
    assert_int_equal(got.last.msg.error.event, about);
    assert_true(strlen(got.last.msg.error.text) > 10);
    assert_true(strlen(got.last.msg.error.text) < sizeof got.last.msg.error.text - 1);
}

static void test_no_hook(void **state)
{
    (void)state;
    sim.hook = false;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    for (unsigned i = 0; i < 2; i++) {
        unsigned acks = sim.acks;
        sim.interrupts = i == 0; /* with or without an interrupt that the kernel knows */
        command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
        refused(mkperf_ErrorCode_ERROR_NO_HOOK, 0);
        assert_non_null(strstr(got.last.msg.error.text, "extension"));
        assert_int_equal(profiler.descriptor->magic, 0);
        assert_int_equal(sim.overflow, 0);
        assert_true(sim.acks >= acks + 2);
        assert_false(profiler.running);
        for (unsigned c = 0; c < COUNTERS; c++) {
            assert_false(sim.counter[c].on);
        }
    }
    sim.counts = false;
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_PMU, 0);
    sim.hook = sim.interrupts = sim.counts = true; /* and nothing stands in the way of a good one */
    start_session();
    run(TICK_HZ / 10);
    check_books(stop_session());
}

static void test_no_pmu(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_hello_tag);

    (void)state;
    pmu_reason = "there is none";
    init();
    m.msg.hello.protocol = MKPERF_PROTOCOL;
    ask(&m, mkperf_ToHost_hello_tag);
    assert_int_equal(got.last.msg.hello.counters, 0);
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_PMU, 0);
    assert_string_equal(got.last.msg.error.text, "there is none");
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_PMU, 0);
}

static void test_refusals(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);
    mkperf_EventSpec raw = event("", 5000, 0);

    (void)state;
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    command(mkperf_ToTarget_stop_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    ask(&m, mkperf_ToHost_error_tag); /* no event */
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    configure_one(event("cycles", 5000, 0), mkperf_ToHost_session_tag);
    configure_one(event("cyc", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNKNOWN, 1);
    configure_one(event("stall_frontend", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 1);
    configure_one(event("cycles", 999, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(event("cycles", UINT64_C(0x80000000), 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(event("cycles", 0, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(event("cycles", 0, 100001), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    m.msg.configure.events_count = 4;
    for (unsigned i = 0; i < 4; i++) {
        m.msg.configure.events[i] = event("instructions", 5000, 0);
    }
    ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 0);
    assert_non_null(strstr(got.last.msg.error.text, "need 8 counters, the PMU has 6"));
    m.msg.configure.max_frames = 65;
    ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    assert_string_equal(profiler.plan.event[0].name, "cycles"); /* the old one stays */
    snprintf(raw.name, sizeof raw.name, "a_name_of_the_hosts");
    raw.raw = 0xc3; /* for names that only the host knows */
    configure_one(raw, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].code, 0xc3);
    assert_string_equal(got.last.msg.session.events[0].name, raw.name);
    raw.name[0] = '\0';
    raw.raw = 0xbad;
    configure_one(raw, mkperf_ToHost_session_tag);
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 1);
}

static void test_refusals_while_running(void **state)
{
    (void)state;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    configure_one(event("cycles", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    run(TICK_HZ / 10);
    check_books(stop_session());
}

static void test_user_or_kernel(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 3;
    m.msg.configure.no_jitter = true;
    m.msg.configure.events[0] = event("cycles", 50000, 0);
    m.msg.configure.events[0].kernel = true;
    m.msg.configure.events[1] = event("instructions", 50000, 0);
    m.msg.configure.events[1].user = true;
    m.msg.configure.events[2] = event("cache-misses", 500, 0);
    ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].user_counter, 0);
    assert_int_equal(got.last.msg.session.events[0].kernel_counter, 1);
    assert_int_equal(got.last.msg.session.events[1].user_counter, 2);
    assert_int_equal(got.last.msg.session.events[2].kernel_counter, 4);
    start_session();
    assert_int_equal(profiler.descriptor->kernel_mask, 1 << 0 | 1 << 3);
    assert_int_equal(profiler.descriptor->counter[0].jitter_mask, 0);
    run(TICK_HZ);
    const mkperf_Status *s = stop_session();
    check_books(s);
    check_events(s);
    assert_in_range(got.of[0], 1990, 2015);
    assert_in_range(got.of[1], 17990, 18050);
    assert_int_equal(got.weight[1], got.of[1] * 50000);
}

static void test_epochs_and_malformed(void **state)
{
    static const uint8_t noise[] = {0, 3, 0x11, 0x22, 1, 0};

    (void)state;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 10);
    unsigned hellos = got.hellos;
    uint32_t epoch = client.encoder.epoch;
    command(mkperf_ToTarget_reset_chains_tag, mkperf_ToHost_ack_tag);
    run(TICK_HZ / 10);
    assert_int_equal(client.encoder.epoch, epoch + 1);
    assert_int_equal(got.hellos, hellos + 1);
    mkperf_ToTarget m = message(0);
    ask(&m, mkperf_ToHost_error_tag);
    assert_int_equal(got.last.msg.error.code, mkperf_ErrorCode_ERROR_MALFORMED);
    for (unsigned i = 0; i < sizeof noise; i++) {
        mkperf_client_byte(&client, 0, noise[i]);
    }
    const mkperf_Status *s = stop_session();
    assert_int_equal(s->bad_frames, 2);
    assert_int_equal(s->captured, s->sent);
}

static void test_list(void **state)
{
    unsigned all = 0;

    (void)state;
    for (const struct mkperf_pmu_event *e = mkperf_armv8_events; e->name != NULL; e++) {
        all++;
    }
    say(&(mkperf_ToTarget){.which_msg = mkperf_ToTarget_list_events_tag});
    run(20000);
    assert_int_equal(got.events, all);
    assert_false(got.last.msg.events.more);
    assert_int_equal(got.last.request, request);
}

static void test_policy(void **state)
{
    (void)state;
    assert_int_equal(mkperf_jitter_mask(1000000), (1 << 17) - 1);
    assert_int_equal(mkperf_jitter_mask(MKPERF_MAX_PERIOD), (1 << 29) - 1);
    for (uint32_t p = 1; p < 100000; p++) {
        uint32_t mask = mkperf_jitter_mask(p);
        assert_int_equal(mask & (mask + 1), 0);
        assert_true(mask <= p / 4 && 2 * mask + 1 > p / 4);
    }
    assert_int_equal(mkperf_wake_samples(0, 0, 0, TICK_HZ), 1);
    assert_int_equal(mkperf_wake_samples(0, 10, TICK_HZ, TICK_HZ), 1);
    assert_int_equal(mkperf_wake_samples(0, 300, TICK_HZ, TICK_HZ), 30);
    assert_int_equal(mkperf_wake_samples(0, 1000, TICK_HZ, TICK_HZ), 64);
    assert_int_equal(mkperf_wake_samples(0, UINT64_MAX, 1, UINT64_MAX), 64);
    assert_int_equal(mkperf_wake_samples(200, 1, 1, 1), 200);
    assert_int_equal(mkperf_watermark(64, 136, 262144), 64 * 136);
    assert_int_equal(mkperf_watermark(1, 0, 262144), 48);
    assert_int_equal(mkperf_watermark(UINT32_MAX, 568, 262144), 131072);
    assert_int_equal(mkperf_first_period(1000, MKPERF_RATE_BUSY), 1000000);
    assert_int_equal(mkperf_first_period(1000, MKPERF_RATE_RARE), 100);
    assert_int_equal(mkperf_adapt_period(5000, 1000, 100, 0, 5, 5), 5000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 1000000, TICK_HZ, TICK_HZ), 10000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 2000000, TICK_HZ, TICK_HZ), 15000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, UINT64_MAX, 1, TICK_HZ), 40000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 1, UINT64_MAX, TICK_HZ), 2500);
    assert_int_equal(mkperf_adapt_period(1000, 1000, 100, 1, TICK_HZ, TICK_HZ), 1000);
    assert_int_equal(mkperf_adapt_period(MKPERF_MAX_PERIOD, 1000, 1, UINT64_MAX, 1, UINT64_MAX),
                     MKPERF_MAX_PERIOD);
    assert_int_equal(mkperf_starved_period(100000, 1000), 25000);
    assert_int_equal(mkperf_starved_period(2000, 1000), 1000);
}

/* A watermark for 64 records of one size wakes with exactly the 64th. */
static void test_wakes_at_64(void **state)
{
    (void)state;
    sim.kernel_rate = 0;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 10);
    uint64_t wakeups = profiler.books.wakeups;
    uint64_t captured = profiler.books.captured;
    run(TICK_HZ / 2);
    assert_int_equal(profiler.books.captured - captured, 64 * (profiler.books.wakeups - wakeups));
    check_books(stop_session());
}

/* ---- counting ------------------------------------------------------------------------------- */

/* Events of names, all to be counted; groups are those of `group`, if not NULL. */
static void configure_counting(const char *const *names, const uint32_t *group, unsigned n,
                               pb_size_t answer)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = (pb_size_t)n;
    m.msg.configure.per_pd = true;
    for (unsigned i = 0; i < n; i++) {
        m.msg.configure.events[i] = event(names[i], 0, 0);
        m.msg.configure.events[i].count = true;
        m.msg.configure.events[i].group = group != NULL ? group[i] : 0;
    }
    ask(&m, answer);
}

static const mkperf_Counts *counts(uint32_t part)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_get_counts_tag);

    m.msg.get_counts.part = part;
    ask(&m, mkperf_ToHost_counts_tag);
    return &got.last.msg.counts;
}

/* More than 2^32 events in each counter, exactly. */
static void test_counts_are_exact(void **state)
{
    static const char *const names[] = {"cycles", "instructions", "cache-misses"};
    uint64_t total[COUNTERS];

    (void)state;
    sim.user_rate = 40000;
    sim.kernel_rate = 100;
    configure_counting(names, NULL, 3, mkperf_ToHost_session_tag);
    start_session();
    assert_true(got.last.msg.session.events[0].count);
    run(TICK_HZ / 5);
    const mkperf_Counts *c = counts(0);
    assert_true(c->running);
    assert_int_equal(c->turns, 1);
    assert_true(c->events[0].user > UINT32_MAX);
    stop_session();
    for (unsigned i = 0; i < COUNTERS; i++) {
        total[i] = sim.counter[i].total;
    }
    c = counts(0);
    assert_false(c->running);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(c->events[i].user, total[2 * i]);
        assert_int_equal(c->events[i].kernel, total[2 * i + 1]);
        assert_int_equal(c->events[i].running_ticks, c->enabled_ticks);
    }
    assert_in_range(c->enabled_ticks, TICK_HZ / 5, TICK_HZ / 5 + 10000);
    assert_int_equal(got.batch_samples, 0);
    check_books(&(mkperf_Status){0});
    assert_false(c->by_pd);
    assert_int_equal(c->parts, 1);
}

/* The kernel counts by thread: the threads' sum is the total, and each has its share. */
static void test_counts_by_thread(void **state)
{
    static const char *const names[] = {"cycles", "instructions"};
    uint64_t user[4] = {0}, kernel[4] = {0};

    (void)state;
    sim.by_thread = true;
    sim.user_rate = 40000;
    configure_counting(names, NULL, 2, mkperf_ToHost_session_tag);
    start_session();
    run(300000);
    stop_session();
    const mkperf_Counts *c = counts(0);
    uint64_t total_user = c->events[1].user, total_kernel = c->events[1].kernel;
    uint32_t parts = c->parts;
    assert_true(c->by_pd);
    for (uint32_t part = 1; part < parts; part++) {
        c = counts(part);
        for (unsigned i = 0; i < c->threads_count; i++) {
            assert_in_range(c->threads[i].thread, 1 + 2, 3 + 2);
            user[c->threads[i].thread - 2] += c->threads[i].user[1];
            kernel[c->threads[i].thread - 2] += c->threads[i].kernel[1];
        }
    }
    assert_int_equal(user[1] + user[2] + user[3], total_user);
    assert_int_equal(kernel[1] + kernel[2] + kernel[3], total_kernel);
    for (unsigned i = 1; i <= 3; i++) {
        assert_in_range(user[i], total_user / 100 * 32, total_user / 100 * 35);
    }
    mkperf_ToTarget m = message(mkperf_ToTarget_get_counts_tag);
    m.msg.get_counts.part = parts;
    ask(&m, mkperf_ToHost_error_tag);
}

/* Eight counters' worth of events on six: two turns, a group never split, scaled right. */
static void test_counts_take_turns(void **state)
{
    static const char *const names[] = {"cycles", "instructions", "cycles", "instructions"};
    static const uint32_t group[] = {0, 3, 3, 0};

    (void)state;
    sim.by_thread = true;
    configure_counting(names, group, 4, mkperf_ToHost_session_tag);
    assert_int_equal(profiler.plan.turns, 3);
    assert_int_equal(profiler.plan.event[1].turn, profiler.plan.event[2].turn);
    start_session();
    run(2 * TICK_HZ);
    stop_session();
    assert_true(profiler.counting.rotated > 300);
    const mkperf_Counts *c = counts(0);
    uint64_t all = 0;
    for (unsigned i = 0; i < 4; i++) {
        double share = (double)c->events[i].running_ticks / (double)c->enabled_ticks;
        double scaled = (double)c->events[i].user / share;
        assert_in_range((uint64_t)(share * 1000), 313, 353);
        assert_in_range((uint64_t)(scaled / (900.0 * (double)c->enabled_ticks) * 1000), 990, 1010);
        all += i != 2 ? c->events[i].running_ticks : 0;
    }
    assert_int_equal(c->events[1].running_ticks, c->events[2].running_ticks);
    assert_int_equal(c->events[1].user, c->events[2].user);
    assert_in_range(all, c->enabled_ticks - 20, c->enabled_ticks + 20);
    assert_int_equal(profiler.books.spurious, 0);
}

static void test_counting_refusals(void **state)
{
    static const char *const names[] = {"cycles", "cycles", "cycles", "cycles"};
    static const uint32_t group[] = {0, 2, 2, 2};
    mkperf_ToTarget m = message(mkperf_ToTarget_get_counts_tag);

    (void)state;
    ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    configure_counting(names, group, 4, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 2);
    assert_non_null(strstr(got.last.msg.error.text, "needs 6 counters"));
    m = message(mkperf_ToTarget_configure_tag);
    m.msg.configure.events_count = 2;
    m.msg.configure.events[0] = event("cycles", 100000, 0);
    m.msg.configure.events[1] = event("instructions", 0, 0);
    m.msg.configure.events[1].count = true;
    ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 2);
}

/* Samples of two threads of three; what is left out takes no room and is no loss. */
static void test_filters(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = event("cycles", 10000, 0);
    m.msg.configure.only_count = 2;
    m.msg.configure.only[0] = 1 + 2;
    m.msg.configure.only[1] = 3 + 2;
    ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 2);
    const mkperf_Status *s = stop_session();
    check_books(s);
    assert_in_range(s->captured, 50000 * 2 / 3 - 300, 50000 * 2 / 3 + 300);
    for (unsigned i = 0; i < MKPERF_CHAIN_SLOTS; i++) {
        assert_int_not_equal(
            client.encoder.chain[i].words != 0 ? client.encoder.chain[i].key[1] : 0, 2);
    }
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    assert_int_equal(profiler.descriptor->filters, 0);
    run(TICK_HZ / 10);
    stop_session();
}

#define T(name) cmocka_unit_test_setup_teardown(name, boot, halt)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_hello),
        T(test_fixed_period),
        T(test_slow_line),
        T(test_starved_profiler),
        T(test_frequency_follows),
        T(test_frequency_of_a_rare_event),
        T(test_silence),
        T(test_no_hook),
        T(test_no_pmu),
        T(test_refusals),
        T(test_refusals_while_running),
        T(test_user_or_kernel),
        T(test_epochs_and_malformed),
        T(test_list),
        T(test_policy),
        T(test_wakes_at_64),
        T(test_counts_are_exact),
        T(test_counts_by_thread),
        T(test_counts_take_turns),
        T(test_counting_refusals),
        T(test_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
