/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events on the target: the kernel's writer (ring full, not mapped, slots in dispute), and the encoder,
 * whose messages nanopb decodes. test_pd_latency.c has the latencies of the profiler PD.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pb_decode.h>

#include "mkperf_port.h"

#include "kernel/capture.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/counted.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/sched.c"       // NOLINT(bugprone-suspicious-include)
#include "kernel/unwind_walk.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/words.c"       // NOLINT(bugprone-suspicious-include)

#include "pd/client/sched.h"

#include "mkperf.pb.h"

enum { RING_BYTES = MKPERF_RING_MIN_BYTES, EVENTS = 20000 };

static struct {
    struct mkperf_ring ring;
    uint64_t data[RING_BYTES / 8];
    uint64_t guard[64];
} memory;

static struct mkperf_hook hook;
static uint64_t ticks_now;
static unsigned wakes;
static bool mapped;
/* A thread's address is its slot: two that are 256 apart share one. */
static char threads[2 * MKPERF_SCHED_SLOTS];
uint32_t mock_features;

/* ---- the hook's port, as far as it is used ---------------------------------------------------- */

struct mkperf_identity mkperf_port_identity(const void *thread)
{
    return (struct mkperf_identity){(uint64_t)((const char *)thread - threads) + 1, 7};
}

const void *mkperf_port_running(void)
{
    return &threads[0];
}

unsigned mkperf_port_core(void)
{
    return 3;
}

uint64_t mkperf_port_time(void)
{
    return ++ticks_now;
}

static struct mkperf_tables table; /* the session's table */

void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    (void)thread;
    if (bytes == sizeof table) {
        return va == (uintptr_t)&table ? &table : NULL;
    }
    return mapped ? &memory : NULL;
}

void mkperf_port_wake(void)
{
    wakes++;
}

/* What samples and counts need: no session here wants them, test_hook.c has those. */
#define NEVER(declaration, ...) \
    declaration                 \
    {                           \
        fail();                 \
        __VA_ARGS__;            \
    }
NEVER(uint32_t mkperf_pmu_read(unsigned i), return i)
NEVER(void mkperf_pmu_write(unsigned i, uint32_t value), (void)(i + value))
NEVER(void mkperf_pmu_clear(uint32_t mask), (void)mask)
NEVER(void mkperf_pmu_disable(uint32_t mask), (void)mask)
NEVER(bool mkperf_port_context(struct mkperf_port_context *c, bool kernel),
      return c != NULL && kernel)
NEVER(const void *mkperf_port_caller(const void *thread, uint64_t reply),
      return reply ? thread : NULL)
NEVER(void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread),
      c->thread = thread)
NEVER(uint64_t mkperf_port_kernel_pc(void), return 0)

/* A page of words, which another thread writes. */
static uint64_t page[512] __attribute__((aligned(4096)));
static bool page_mapped;

uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va)
{
    assert_ptr_equal(thread, &threads[0]);
    assert_int_equal(level, 0);
    return page_mapped && va == (uintptr_t)page ? va : 0;
}

static void begin(uint32_t watermark)
{
    memset(&memory, 0, sizeof memory);
    memset(memory.guard, 0xa5, sizeof memory.guard);
    memset(&hook, 0, sizeof hook);
    hook.session.ring = (uintptr_t)&memory;
    hook.session.ring_bytes = hook.out.size = RING_BYTES;
    hook.session.watermark = watermark;
    hook.owner = &threads[0];
    hook.session.sched = MKPERF_SCHED_EVENTS;
    mapped = true;
    ticks_now = 0;
    wakes = 0;
    hook.answer.time = mkperf_port_time();
    mkperf_sched_begin(&hook);
}

/* ---- the kernel's writer --------------------------------------------------------------------- */

struct reader {
    struct mkperf_ring_consumer c;
    uint64_t badge[MKPERF_SCHED_SLOTS];
    uint64_t events, lost;
    unsigned kind, reason;
    uint64_t about; /* subject of the last event */
    uint64_t time;
};

/* Reads all that is there. Times do not go back, each slot was announced, nothing else is there. */
static void drain(struct reader *r)
{
    unsigned size;
    bool corrupt = false;
    const uint64_t *w;

    r->c.ring = &memory.ring;
    r->c.size = RING_BYTES;
    while ((w = mkperf_ring_peek(&r->c, &size, &corrupt)) != NULL) {
        unsigned slot = mkperf_sched_slot_of(w[0]);
        assert_int_equal(mkperf_record_core(w[0]), 3);
        switch (mkperf_record_type(w[0])) {
        case MKPERF_RECORD_SCHED:
            assert_int_equal(size, 8 * MKPERF_SCHED_WORDS);
            assert_int_not_equal(r->badge[slot], 0);
            assert_true(w[1] >= r->time);
            r->events++;
            r->time = w[1];
            r->kind = mkperf_sched_kind_of(w[0]);
            r->reason = mkperf_sched_reason_of(w[0]);
            r->about = r->badge[slot];
            break;
        case MKPERF_RECORD_SCHED_THREAD:
            assert_int_equal(size, 8 * MKPERF_SCHED_THREAD_WORDS);
            assert_int_equal(w[MKPERF_WORD_SC], 7);
            r->badge[slot] = w[MKPERF_WORD_THREAD];
            break;
        default:
            assert_int_equal(mkperf_record_type(w[0]), MKPERF_RECORD_SCHED_LOSS);
            assert_int_equal(size, 8 * MKPERF_SCHED_LOSS_WORDS);
            r->lost += w[MKPERF_SCHED_LOST];
        }
        mkperf_ring_release(&r->c, size);
    }
    assert_false(corrupt);
    for (unsigned i = 0; i < 64; i++) {
        assert_int_equal(memory.guard[i], UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
}

/* What is delivered and what is lost is what happened, however late the ring is read. */
static void test_ring(void **state)
{
    (void)state;
    for (unsigned pause = 1; pause < 700; pause += 61) {
        struct reader r = {0};
        begin(RING_BYTES / 4);
        drain(&r);
        assert_int_equal(r.events, 1);
        assert_int_equal(r.about, 1);
        for (unsigned n = 1; n <= EVENTS; n++) {
            mkperf_sched_switch(&hook, MKPERF_STOPPED_PREEMPTED, NULL,
                                &threads[(n * 7919U) % sizeof threads], mkperf_port_time());
            if (n % pause == 0) {
                drain(&r);
            }
        }
        drain(&r);
        /* The next event would report these. */
        uint64_t open = hook.lost.sched - hook.sched.reported;
        assert_int_equal(r.events + r.lost + open, EVENTS + 1);
        assert_int_equal(memory.ring.lost.sched, r.lost + open);
        /* 48 bytes an event, for two threads share a slot: 85 fit, and 21 are the watermark. */
        assert_true((pause > 85) == (r.lost + open > 0));
        assert_true((pause > 21) == (wakes > 0));
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Returns a word of the page, of which `bytes` are read (bit 0: the byte at its address). */
static uint64_t word_at(unsigned index, uint64_t bytes)
{
    return (uint64_t)(uintptr_t)&page[index] | bytes << MKPERF_WORD_BYTES_SHIFT;
}

/* Begins a session with words, as a request does. */
static void begin_words(unsigned n)
{
    begin(RING_BYTES);
    hook.session.words = n;
    hook.session.tables = (uintptr_t)&table;
    mkperf_hook_unmapped(&hook);
    hook.answer.time = mkperf_port_time();
    mkperf_sched_begin(&hook);
    mkperf_words_read(&hook, true, hook.answer.time);
}

struct taken {
    struct mkperf_ring_consumer c;
    unsigned events, readings, lost;
    uint64_t flags, time, set, value[MKPERF_MAX_WORDS]; /* the last reading */
    bool first; /* the last record is an event with the time of the last reading */
};

static void take_all(struct taken *t)
{
    unsigned size;
    bool corrupt = false;
    const uint64_t *w;

    t->c.ring = &memory.ring;
    t->c.size = RING_BYTES;
    while ((w = mkperf_ring_peek(&t->c, &size, &corrupt)) != NULL) {
        unsigned type = mkperf_record_type(w[0]);
        if (type == MKPERF_RECORD_WORDS) {
            t->readings++;
            t->flags = mkperf_record_counter(w[0]);
            t->time = w[MKPERF_WORD_TIME];
            t->set = w[MKPERF_WORDS_SET];
            unsigned at = MKPERF_WORDS_FIXED;
            for (unsigned i = 0; i < MKPERF_MAX_WORDS; i++) {
                at += i % 2 == 0 && i != 0 && (t->set >> (i - 2) & 3) != 0 ? 2 : 0;
                t->value[i] = t->set >> i & 1 ? w[at + i % 2] : t->value[i];
            }
            at += (t->set >> 62) != 0 ? 2 : 0;
            assert_int_equal(size, 8 * at);
        } else if (type == MKPERF_RECORD_SCHED_LOSS) {
            t->lost += (unsigned)w[MKPERF_SCHED_LOST];
        } else if (type == MKPERF_RECORD_SCHED) {
            t->events++;
            t->first = w[MKPERF_WORD_TIME] == t->time;
        }
        mkperf_ring_release(&t->c, size);
    }
    assert_false(corrupt);
}

static void switch_to(unsigned thread)
{
    mkperf_sched_switch(&hook, MKPERF_STOPPED_PREEMPTED, &threads[0], &threads[thread],
                        mkperf_port_time());
}

/* What changed is read before the switch; only the selected bytes, and nothing if nothing changed. */
static void test_words(void **state)
{
    struct taken t = {0};

    (void)state;
    memset(page, 0, sizeof page);
    page_mapped = true;
    page[3] = UINT64_C(0x1122334455667788);
    table.word[0] = word_at(3, 0x06);   /* bytes 1 and 2 */
    table.word[1] = word_at(511, 0xff); /* the page's last word */
    table.word[2] = word_at(9, 0xff) + 4096;
    begin_words(3);
    take_all(&t);
    assert_int_equal(t.flags, MKPERF_WORDS_ALL);
    assert_int_equal(t.set, 3); /* the third is not mapped */
    assert_int_equal(t.value[0], 0x667700);
    assert_int_equal(t.value[1], 0);
    switch_to(1);
    page[3] += 1 + (UINT64_C(1) << 32); /* a change outside bytes 1 and 2 */
    page[9] = 1;
    switch_to(2);
    take_all(&t);
    assert_int_equal(t.readings, 1);
    page[511] = UINT64_MAX;
    switch_to(3);
    take_all(&t);
    assert_int_equal(t.readings, 2);
    assert_int_equal(t.flags, 0);
    assert_int_equal(t.set, 3); /* the word and the other one of its pair */
    assert_true(t.value[1] == UINT64_MAX);
    assert_true(t.first);
    /* A delivery of an earlier time that the switch does not report comes before the reading. */
    mkperf_sched_message(&hook, &threads[0], &threads[5], MKPERF_FAULT_NONE, true);
    page[3] += 0x100;
    switch_to(6);
    unsigned events = t.events;
    take_all(&t);
    assert_int_equal(t.events, events + 2);
    assert_int_equal(t.value[0], 0x667800);
    assert_true(t.first);
}

/* A mapping that changed is not followed before the next request. */
static void test_words_unmapped(void **state)
{
    struct taken t = {0};

    (void)state;
    page_mapped = true;
    table.word[0] = word_at(0, 0xff);
    begin_words(1);
    page_mapped = false;
    mkperf_hook_unmapped(&hook);
    page[0]++;
    switch_to(1);
    take_all(&t);
    assert_int_equal(t.readings, 1);
    mkperf_words_read(&hook, true, 2);
    take_all(&t);
    assert_int_equal(t.readings, 2);
    assert_int_equal(t.set, 0);
    switch_to(2);
    take_all(&t);
    assert_int_equal(t.readings, 2);
    page_mapped = true;
    mkperf_words_read(&hook, true, 3);
    take_all(&t);
    assert_int_equal(t.set, 1);
    assert_int_equal(t.value[0], page[0]);
}

/* A reading without room is counted, and the next one has its words. */
static void test_words_lost(void **state)
{
    struct taken t = {0};

    (void)state;
    page_mapped = true;
    for (unsigned i = 0; i < MKPERF_MAX_WORDS; i++) {
        table.word[i] = word_at(i, 0xff);
    }
    begin_words(MKPERF_MAX_WORDS);
    assert_int_equal(2 * hook.words.pairs, MKPERF_MAX_WORDS);
    unsigned switches = 0;
    while (hook.lost.sched == 0) {
        page[switches % MKPERF_MAX_WORDS]++;
        switch_to(switches++ % 3);
    }
    take_all(&t);
    unsigned got = t.events + t.readings;
    page[0]++;
    switch_to(7);
    take_all(&t);
    assert_true(t.lost != 0);
    assert_int_equal(t.lost, memory.ring.lost.sched);
    assert_true(got != 0);
    for (unsigned i = 0; i < MKPERF_MAX_WORDS; i++) {
        assert_int_equal(t.value[i], page[i]);
    }
}

/* While the ring is not mapped events are lost, and reported when it is mapped again. */
static void test_unmapped(void **state)
{
    struct reader r = {0};

    (void)state;
    begin(RING_BYTES);
    mapped = false;
    mkperf_hook_unmapped(&hook);
    for (unsigned i = 0; i < 5; i++) {
        mkperf_sched_event(&hook, MKPERF_SCHED_WAKE, 0, &threads[9], mkperf_port_time());
    }
    drain(&r);
    assert_int_equal(r.events, 1);
    mapped = true;
    mkperf_sched_event(&hook, MKPERF_SCHED_IRQ, 1019, &threads[9], mkperf_port_time());
    drain(&r);
    assert_int_equal(r.events, 2);
    assert_int_equal(r.lost, 5);
    assert_int_equal(r.kind, MKPERF_SCHED_IRQ);
}

/* A delivery is one event with the switch to the thread, else two. */
static void test_delivery(void **state)
{
    struct reader r = {0};
    static const struct {
        unsigned kind, reason;
        bool same;
        unsigned events, says;
    } cases[] = {
        {MKPERF_SCHED_CALL, MKPERF_STOPPED_CALLED, true, 1, MKPERF_STOPPED_CALLED},
        {MKPERF_SCHED_CALL, MKPERF_STOPPED_CALLED, false, 2, MKPERF_STOPPED_CALLED},
        {MKPERF_SCHED_REPLY, MKPERF_STOPPED_WAIT_MESSAGE, true, 1, MKPERF_STOPPED_REPLIED},
        {MKPERF_SCHED_REPLY, MKPERF_STOPPED_WAIT_MESSAGE, false, 2, MKPERF_STOPPED_WAIT_MESSAGE},
        {MKPERF_SCHED_REPLY, MKPERF_STOPPED_PREEMPTED, true, 2, MKPERF_STOPPED_PREEMPTED},
    };

    (void)state;
    begin(RING_BYTES);
    drain(&r);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t before = r.events;
        deliver(&hook, cases[i].kind, &threads[5], true);
        mkperf_sched_switch(&hook, cases[i].reason, NULL, &threads[cases[i].same ? 5 : 6],
                            mkperf_port_time());
        drain(&r);
        assert_int_equal(r.events - before, cases[i].events);
        assert_int_equal(r.reason, cases[i].says);
    }
    /* A thread that is deleted is reported no more, and its address is announced again. */
    mkperf_sched_reply(&hook, &threads[5], true);
    mkperf_sched_forget(&hook, &threads[5]);
    uint64_t before = r.events;
    mkperf_sched_flush(&hook);
    r.badge[mkperf_port_slot(&threads[5]) % MKPERF_SCHED_SLOTS] = 0;
    mkperf_sched_switch(&hook, MKPERF_STOPPED_REPLIED, NULL, &threads[5], mkperf_port_time());
    drain(&r);
    assert_int_equal(r.events - before, 1);
    assert_int_equal(r.about, 6);
}

/* ---- the encoder ----------------------------------------------------------------------------- */

static struct mkperf_sched_encoder encoder;
static struct { /* what the receiver knows of a core */
    uint32_t epoch;
    uint64_t next;
    mkperf_SchedCode code[1024];
    bool known[1024];
} core[2];
static uint64_t decoded, bytes;
static uint64_t expected[EVENTS + 1][4]; /* what, thread, time, core */

/* Decodes a message and compares its events with the expected ones. */
static void receive(const uint8_t *message, size_t n)
{
    static mkperf_ToHost m;
    pb_istream_t stream = pb_istream_from_buffer(message, n);

    m = (mkperf_ToHost)mkperf_ToHost_init_zero;
    assert_true(n <= MKPERF_CONTENT_BYTES);
    assert_true(pb_decode(&stream, mkperf_ToHost_fields, &m));
    assert_int_equal(m.which_msg, mkperf_ToHost_sched_tag);
    const mkperf_Sched *s = &m.msg.sched;
    assert_int_equal(s->session, 5);
    assert_int_equal(s->tick_hz, 1000);
    assert_true(s->core < 2 && s->code_bits <= 16 && s->event_count != 0);
    if (core[s->core].epoch != s->epoch) {
        memset(core[s->core].known, 0, sizeof core[s->core].known);
        core[s->core].epoch = s->epoch;
    }
    for (unsigned i = 0; i < s->codes_count; i++) {
        assert_true(s->codes[i].code < 1024);
        core[s->core].code[s->codes[i].code] = s->codes[i];
        core[s->core].known[s->codes[i].code] = true;
    }
    assert_int_equal(s->first_event, core[s->core].next);
    core[s->core].next += s->event_count;
    uint64_t time = s->time_ticks;
    for (unsigned i = 0; i < s->event_count; i++, decoded++) {
        unsigned code = s->event[i] & ((1U << s->code_bits) - 1);
        time += s->event[i] >> s->code_bits;
        assert_true(core[s->core].known[code]);
        const mkperf_SchedCode *c = &core[s->core].code[code];
        uint64_t what = (uint64_t)c->kind | (uint64_t)c->reason << 8 | (uint64_t)c->irq << 16;
        assert_int_equal(what, expected[decoded][0]);
        assert_int_equal(mkperf_thread_from_wire(c->thread), expected[decoded][1]);
        assert_int_equal(time, expected[decoded][2]);
        assert_int_equal(s->core, expected[decoded][3]);
    }
    bytes += n;
}

static void add(const uint64_t *record, unsigned words)
{
    uint8_t message[MKPERF_CONTENT_BYTES];
    enum mkperf_encode_result result = mkperf_sched_encoder_add(&encoder, record, 8 * words);

    if (result == MKPERF_ENCODE_FULL) {
        receive(message, mkperf_sched_encoder_finish(&encoder, message));
        result = mkperf_sched_encoder_add(&encoder, record, 8 * words);
    }
    assert_int_equal(result, MKPERF_ENCODE_ADDED);
}

/* Many threads and two cores, times that jump, gaps, new epochs: what comes out is what went in. */
static void test_encoder(void **state)
{
    uint64_t seed = 3;
    uint64_t time[2] = {1000, 2000};

    (void)state;
    for (unsigned threads_there = 4; threads_there <= 4000; threads_there *= 10) {
        uint8_t message[MKPERF_CONTENT_BYTES];
        memset(core, 0, sizeof core);
        decoded = bytes = 0;
        mkperf_sched_encoder_begin(&encoder, 5, 1000);
        for (unsigned n = 0; n < EVENTS; n++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
            unsigned at = n / 100 % 2;
            unsigned kind = (seed >> 60) % 10;
            unsigned irqs = threads_there == 4 ? 2 : 4096;
            unsigned irq = kind == MKPERF_SCHED_IRQ ? (seed >> 40) % irqs : 0;
            unsigned reason = kind == MKPERF_SCHED_SWITCH ? (seed >> 50) % 11 : 0;
            uint64_t thread = (seed >> 33) % threads_there;
            time[at] += (seed >> 20) % (n % 1000 == 0 ? UINT64_C(1) << 40 : 300);
            uint64_t record[] = {(mkperf_sched_header(kind, reason, irq) & ~UINT64_C(0xffff0000)) |
                                     (uint64_t)(8 * MKPERF_SCHED_OUTPUT_WORDS) << 16 |
                                     (uint64_t)at << 56,
                                 time[at], thread};
            expected[n][0] = kind | (uint64_t)reason << 8 | (uint64_t)irq << 16;
            expected[n][1] = thread;
            expected[n][2] = time[at];
            expected[n][3] = at;
            add(record, MKPERF_SCHED_OUTPUT_WORDS);
            if (n % 5000 == 2999) { /* a gap of this core */
                uint64_t loss[] = {MKPERF_RECORD_SCHED_LOSS | (uint64_t)at << 56, time[at], 17};
                add(loss, MKPERF_SCHED_LOSS_WORDS);
                core[at].next += 17;
            }
        }
        size_t n = mkperf_sched_encoder_finish(&encoder, message);
        receive(message, n);
        assert_int_equal(mkperf_sched_encoder_finish(&encoder, message), 0);
        assert_int_equal(decoded, EVENTS);
        assert_int_equal(encoder.sent, EVENTS);
        /* A system has a handful of threads: codes are sent once. */
        assert_true(threads_there != 4 || bytes <= 4 * decoded);
    }
}

/* Records that no profiler PD writes. */
static void test_encoder_refuses(void **state)
{
    uint64_t record[MKPERF_SCHED_THREAD_WORDS] = {MKPERF_RECORD_SCHED, 1, 2, 3};

    (void)state;
    mkperf_sched_encoder_begin(&encoder, 5, 1000);
    assert_int_equal(mkperf_sched_encoder_add(&encoder, record, 16), MKPERF_ENCODE_BAD);
    assert_int_equal(mkperf_sched_encoder_add(&encoder, record, 32), MKPERF_ENCODE_BAD);
    record[0] = MKPERF_RECORD_SCHED_THREAD;
    assert_int_equal(mkperf_sched_encoder_add(&encoder, record, 32), MKPERF_ENCODE_BAD);
    record[0] = MKPERF_RECORD_SCHED | UINT64_C(255) << 56;
    assert_int_equal(mkperf_sched_encoder_add(&encoder, record, 24), MKPERF_ENCODE_BAD);
    assert_int_equal(encoder.events, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),           cmocka_unit_test(test_unmapped),
        cmocka_unit_test(test_delivery),       cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_unmapped), cmocka_unit_test(test_words_lost),
        cmocka_unit_test(test_encoder),        cmocka_unit_test(test_encoder_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
