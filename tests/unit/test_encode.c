/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoder against a decoder written only from the schema's comments: the output equals the
 * input for any chains; and the number of bytes of a sample on the wire.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pb_decode.h>

#include <mkperf/frame.h>
#include <mkperf/session.h>

#include "pd/client/encode.h"
#include "pd/profiler/policy.h"

#include "batch_columns.h"

enum { MAX_WORDS = MKPERF_MAX_RECORD_BYTES / 8 };

static struct mkperf_encoder e;
static uint64_t random_state;

static uint64_t next(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return random_state >> 24;
}

/* What was put in and has not come out yet. */
static struct {
    uint64_t word[MKPERF_BATCH_SAMPLES][MAX_WORDS];
    unsigned n;
    uint64_t loss[4][MKPERF_LOSS_WORDS];
    unsigned losses;
} expected;

/* The reference decoder's state. */
static struct {
    mkperf_Batch batch;
    mkperf_Chain chain[MKPERF_CHAIN_SLOTS];
    bool valid[MKPERF_CHAIN_SLOTS];
    mkperf_Chain defined[MKPERF_BATCH_SAMPLES];
    unsigned ndefined;
    uint32_t epoch;
    uint64_t samples;
    uint64_t bytes;
    uint64_t batches;
    uint64_t definitions;
    uint64_t short_ways;
    uint64_t changes;
} d;

static bool decode_chain(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
    mkperf_Chain *c = &d.defined[d.ndefined++];

    (void)field;
    (void)arg;
    assert_true(d.ndefined <= MKPERF_BATCH_SAMPLES);
    *c = (mkperf_Chain)mkperf_Chain_init_zero;
    return pb_decode(stream, mkperf_Chain_fields, c);
}

static void expect_sample(unsigned i, const mkperf_Chain *c, uint64_t pc, uint64_t time,
                          uint64_t period)
{
    const uint64_t *w = expected.word[i];
    bool no_user = c->flags & MKPERF_SAMPLE_NO_USER;
    uint64_t frame = c->pc;

    assert_int_equal(mkperf_record_counter(w[0]), c->counter);
    assert_int_equal(mkperf_record_flags(w[0]), c->flags);
    assert_int_equal(mkperf_record_nframes(w[0]), c->frames_count);
    assert_int_equal(mkperf_record_core(w[0]), d.batch.core);
    assert_int_equal(w[MKPERF_WORD_TIME], time);
    assert_int_equal(w[MKPERF_WORD_THREAD], c->thread - 2);
    assert_int_equal(w[MKPERF_WORD_PERIOD], period);
    assert_int_equal(w[MKPERF_WORD_PC], no_user ? 0 : c->pc + pc);
    assert_int_equal(w[MKPERF_WORD_LR], c->lr);
    w += MKPERF_SAMPLE_FIXED_WORDS;
    if (c->flags & MKPERF_SAMPLE_KERNEL) {
        assert_int_equal(*w++, no_user ? c->kernel_pc + pc : c->kernel_pc);
    }
    for (unsigned f = 0; f < c->frames_count; f++) {
        frame += (uint64_t)c->frames[f];
        /* What looks like a marker is none, but in the profiler PD's own samples. */
        bool marker = *w >= MKPERF_FRAME_MARKERS && c->thread - 2 != MKPERF_THREAD_AMBIGUOUS;
        assert_int_equal(marker ? 0 : *w, frame);
        w++;
    }
}

/* Decodes one message and compares it with the expected one. */
static void decode(const uint8_t *message, size_t n)
{
    pb_istream_t stream = pb_istream_from_buffer(message, n);
    pb_istream_t inner;
    pb_wire_type_t type;
    uint32_t tag;
    bool eof;

    assert_true(n <= MKPERF_MESSAGE_BYTES);
    assert_true(pb_decode_tag(&stream, &type, &tag, &eof));
    assert_int_equal(tag, mkperf_ToHost_batch_tag);
    assert_true(pb_make_string_substream(&stream, &inner));
    d.batch = (mkperf_Batch)mkperf_Batch_init_zero;
    d.batch.chains.funcs.decode = decode_chain;
    d.ndefined = 0;
    assert_true(pb_decode(&inner, mkperf_Batch_fields, &d.batch));
    pb_close_string_substream(&stream, &inner);
    assert_int_equal(stream.bytes_left, 0);

    if (d.batch.epoch != d.epoch) {
        d.epoch = d.batch.epoch;
        memset(d.valid, 0, sizeof d.valid);
    }
    unsigned samples = d.batch.pc_count;
    assert_int_equal(samples, expected.n);
    assert_int_equal(d.batch.first_sample, d.samples);
    struct batch_columns columns;
    batch_columns_begin(&columns, &d.batch);
    unsigned next_chain = 0;
    for (unsigned i = 0; i < samples; i++) {
        for (; next_chain < d.ndefined && d.defined[next_chain].at == i; next_chain++) {
            const mkperf_Chain *c = &d.defined[next_chain];
            assert_true(c->slot < MKPERF_CHAIN_SLOTS);
            d.chain[c->slot] = *c;
            d.valid[c->slot] = true;
        }
        struct batch_sample s;
        batch_columns_chain(&columns, &s);
        assert_true(s.slot < MKPERF_CHAIN_SLOTS && d.valid[s.slot]);
        const mkperf_Chain *c = &d.chain[s.slot];
        batch_columns_next(&columns, c->counter, &s);
        expect_sample(i, c, (uint64_t)s.away, s.time, s.period);
    }
    batch_columns_end(&columns);
    d.changes += d.batch.change_count;
    assert_int_equal(next_chain, d.ndefined);
    assert_int_equal(d.batch.losses_count, expected.losses);
    for (unsigned i = 0; i < expected.losses; i++) {
        assert_int_equal(d.batch.losses[i].where, mkperf_record_counter(expected.loss[i][0]));
        assert_int_equal(d.batch.losses[i].time_ticks, expected.loss[i][1]);
        assert_int_equal(d.batch.losses[i].samples, expected.loss[i][2]);
        assert_int_equal(d.batch.losses[i].events, expected.loss[i][3]);
    }
    d.samples += samples;
    d.batches++;
    d.definitions += d.ndefined;
    expected.n = 0;
    expected.losses = 0;
}

static void flush(void)
{
    uint8_t *message = malloc(MKPERF_MESSAGE_BYTES);
    uint8_t frame[MKPERF_FRAME_BYTES];
    size_t n = mkperf_encoder_finish(&e, message);

    assert_true(n != 0);
    decode(message, n);
    d.bytes += mkperf_frame_encode(frame, (uint16_t)d.batches, message, n);
    free(message);
    assert_true(mkperf_encoder_empty(&e));
    if (e.batches >= MKPERF_EPOCH_BATCHES) {
        mkperf_encoder_new_epoch(&e);
    }
}

/* By the fast path if `run` is set and it accepts the record, else by the general path. */
static void add_by(const uint64_t *record, bool run)
{
    unsigned size = mkperf_record_size(record[0]);
    size_t taken = run ? mkperf_encoder_add_run(&e, record, size) : 0;

    if (taken == 0) {
        enum mkperf_encode_result result = mkperf_encoder_add(&e, record, size);
        if (result == MKPERF_ENCODE_FULL) {
            flush();
            result = mkperf_encoder_add(&e, record, size);
        }
        assert_int_equal(result, MKPERF_ENCODE_ADDED);
    } else {
        assert_int_equal(taken, size);
    }
    d.short_ways += taken != 0;
    if (mkperf_record_type(record[0]) == MKPERF_RECORD_LOSS) {
        memcpy(expected.loss[expected.losses++], record, size);
    } else {
        memcpy(expected.word[expected.n++], record, size);
    }
}

static void add(const uint64_t *record)
{
    add_by(record, next() % 2 == 0);
}

static int begin(void **state)
{
    static uint32_t session;

    (void)state;
    random_state = 1;
    memset(&d, 0, sizeof d);
    memset(&expected, 0, sizeof expected);
    memset(&e, 0, sizeof e);
    mkperf_encoder_begin(&e, ++session, 62500000);
    return 0;
}

/* Writes a sample of a thread with frames that follow from `chain`. Returns its bytes. */
static unsigned make(uint64_t *w, unsigned counter, unsigned flags, uint64_t chain, unsigned depth,
                     uint64_t time, uint64_t period, uint64_t pc)
{
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS;
    bool user = !(flags & MKPERF_SAMPLE_NO_USER);

    w[MKPERF_WORD_TIME] = time;
    w[MKPERF_WORD_THREAD] = user ? 1 + chain % 5 : MKPERF_THREAD_IDLE;
    w[MKPERF_WORD_PERIOD] = period;
    w[MKPERF_WORD_PC] = user ? pc : 0;
    w[MKPERF_WORD_LR] = user ? 0x200400 + chain % 7 * 4 : 0;
    if (flags & MKPERF_SAMPLE_KERNEL) {
        w[words++] = user ? UINT64_C(0xffffff8040001000) + chain % 3 * 0x40
                          : UINT64_C(0xffffff8040009000) + pc % 2 * 4;
    }
    for (unsigned i = 0; i < depth; i++) {
        w[words++] = 0x200000 + ((chain * 131 + UINT64_C(977) * i) % 0x8000) * 4;
    }
    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, depth, counter, flags, 0);
    return 8 * words;
}

/* The demo's shape: cycles at 1 kHz on QEMU, user and kernel, jitter, 60 chains, depth 8. */
static double bytes_per_sample(uint64_t period, unsigned samples, unsigned per_wake)
{
    uint32_t jitter = mkperf_jitter_mask((uint32_t)period);
    uint64_t time = 1000000;

    uint64_t last[2] = {0, 0};
    mkperf_encoder_expect(&e, 0, period, true);
    mkperf_encoder_expect(&e, 1, period, true);
    for (unsigned i = 0; i < samples; i++) {
        uint64_t w[MAX_WORDS];
        bool kernel = next() % 10 == 0;
        uint64_t real = mkperf_jitter_interval(
            period, jitter, mkperf_jitter_draw(last[kernel], kernel, MKPERF_JITTER_MIX));
        uint64_t chain = (next() % 8) * (next() % 8) + (kernel ? 100 : 0);
        time += real / 16; /* one cycle is a nanosecond, one tick is 16 */
        last[kernel] = time;
        make(w, kernel, kernel ? MKPERF_SAMPLE_KERNEL : 0, chain, 8, time, real,
             0x201000 + chain * 512 + next() % 64 * 4);
        add(w);
        if (i % per_wake == per_wake - 1) {
            flush();
        }
    }
    if (!mkperf_encoder_empty(&e)) {
        flush();
    }
    return (double)d.bytes / samples;
}

static void test_bytes_per_sample(void **state)
{
    static const struct {
        uint64_t period;
        unsigned per_wake;
    } shape[] = {{1000000, 64}, {1000000, 100}, {100000, 64}, {10007, 64}, {1000000, 100000}};

    for (unsigned i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        begin(state);
        double bytes = bytes_per_sample(shape[i].period, 100000, shape[i].per_wake);
        printf("period %8llu, sent each %6u samples: %.2f bytes a sample, %llu definitions\n",
               (unsigned long long)shape[i].period, shape[i].per_wake, bytes,
               (unsigned long long)d.definitions);
        assert_true(bytes <= 7);
    }
}

static void test_eviction(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60000; i++) { /* far more chains than slots, some of them often */
        uint64_t w[MAX_WORDS];
        uint64_t chain = next() % 3 ? next() % 50 : next() % 3000;
        make(w, 0, 0, chain, (unsigned)(chain % 12), UINT64_C(100) * i, 1000 + next() % 100,
             0x200000 + next() % 9999);
        add(w);
    }
    flush();
    assert_true(d.definitions > UINT64_C(2) * MKPERF_CHAIN_SLOTS);
    assert_true(d.epoch > 1); /* some came by themselves */
}

static void test_epochs(void **state)
{
    uint64_t w[MAX_WORDS];

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        make(w, 0, 0, 3, 5, i, 1000, 0x200000);
        add(w);
        flush();
        assert_int_equal(d.definitions, 1 + i); /* once in each epoch */
        make(w, 0, 0, 3, 5, i, 1000, 0x200010);
        add(w);
        flush();
        assert_int_equal(d.definitions, 1 + i);
        mkperf_encoder_new_epoch(&e);
    }
}

static void test_losses(void **state)
{
    uint64_t w[MAX_WORDS];

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t loss[MKPERF_LOSS_WORDS] = {mkperf_record_header(MKPERF_RECORD_LOSS,
                                                                 8 * MKPERF_LOSS_WORDS, 0,
                                                                 i % MKPERF_LOSS_PLACES, 0, 0),
                                            next(), next() % 5 ? next() : UINT64_MAX, next()};
        add(loss);
        for (uint64_t n = next() % 4; n > 0; n--) {
            make(w, 0, 0, next() % 9, 3, next(), next() % 5000, next());
            add(w);
        }
    }
    flush();
}

/* Everything as large and as different as it may be: nothing is longer than a message. */
static void test_extremes(void **state)
{
    uint64_t w[MAX_WORDS];

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        unsigned flags = i % 3 ? MKPERF_SAMPLE_KERNEL : 0;
        unsigned depth = i % 2 ? MKPERF_MAX_FRAMES : (unsigned)(next() % 65);
        unsigned size = make(w, i % MKPERF_MAX_COUNTERS, flags, i, depth, 0, 0, 0);
        for (unsigned k = 1; k < size / 8; k++) {
            w[k] = next() % 4 ? next() << 32 ^ next() : (next() % 2 ? UINT64_MAX : 0);
        }
        add(w);
    }
    flush();
}

static void test_counters_flags_idle(void **state)
{
    uint64_t w[MAX_WORDS];
    uint64_t chains;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        unsigned counter = (unsigned)(next() % 6);
        unsigned flags = counter & 1 ? MKPERF_SAMPLE_KERNEL : 0;
        if (counter == 5) {
            flags |= MKPERF_SAMPLE_NO_USER;
        } else {
            flags |= next() % 2 ? MKPERF_SAMPLE_DEPTH_LIMIT : 0;
            flags |= next() % 4 ? 0 : MKPERF_SAMPLE_BAD_FP;
        }
        make(w, counter, flags, next() % 4, counter == 5 ? 0 : 6,
             UINT64_C(50000) * i + next() % 1000, 1000 << counter, 0x200000 + next() % 256 * 4);
        add(w);
    }
    chains = d.definitions;
    flush();
    /* The idle thread is one chain, though its pc differs. */
    assert_in_range(chains, 17, 2 * (5 * 4 * 4 + 1));
}

static void test_cores_do_not_mix(void **state)
{
    uint64_t w[MAX_WORDS];

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        unsigned size = make(w, 0, 0, 1, 2, i, 1000, 0x200000);
        w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 2, 0, 0, i / 10 % 3);
        add(w);
    }
    flush();
    assert_int_equal(d.batches, 10);
}

/* Many records in memory that ends with them, maybe within one: a run consumes the first ones,
 * whole, and consumes most of them. */
static void test_runs(void **state)
{
    enum { RECORDS = 300 };
    uint64_t time = 0;
    uint64_t last[2] = {0, 0};
    uint64_t taken = 0;
    uint64_t all = 0;

    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        unsigned chains = round % 4 ? 20 : 4000;
        uint64_t *words = malloc(sizeof(uint64_t) * MAX_WORDS * RECORDS);
        size_t bytes = 0;
        for (unsigned i = 0; i < RECORDS; i++) {
            unsigned counter = (unsigned)(next() % 10 == 0);
            bool idle = next() % 20 == 0;
            unsigned flags = counter ? MKPERF_SAMPLE_KERNEL : 0;
            flags |= idle ? MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER : 0;
            uint64_t chain = next() % chains;
            uint64_t *w = words + bytes / 8;
            time += 1000 + next() % 300;
            uint64_t period = mkperf_jitter_interval(
                1000, 511, mkperf_jitter_draw(last[counter], counter, MKPERF_JITTER_MIX));
            last[counter] = time;
            bytes += make(w, counter, flags, chain, idle ? 0 : (unsigned)(chain % 20), time,
                          next() % 50 ? period : next() % 5000, 0x200000 + next() % 64 * 4);
            if (next() % 200 == 0) { /* a sample of another core */
                w[0] |= UINT64_C(1) << 56;
            } else if (next() % 200 == 0) {
                bytes = bytes - mkperf_record_size(w[0]) + sizeof(uint64_t) * MKPERF_LOSS_WORDS;
                w[0] = mkperf_record_header(MKPERF_RECORD_LOSS, 8 * MKPERF_LOSS_WORDS, 0, 1, 0, 0);
            }
        }
        size_t cut = next() % 3 ? 0 : 8 * (1 + next() % 5);
        uint64_t *exact = malloc(bytes - cut); /* the sanitizer sees each byte too far */
        memcpy(exact, words, bytes - cut);
        free(words);
        const uint64_t *w = exact;
        size_t rest = bytes - cut;
        while (rest >= 8 && mkperf_record_size(*w) <= rest) {
            size_t n = mkperf_encoder_add_run(&e, w, rest);
            assert_true(n <= rest);
            while (n != 0) {
                unsigned size = mkperf_record_size(*w);
                assert_true(size <= n);
                memcpy(expected.word[expected.n++], w, size);
                w += size / 8;
                n -= size;
                rest -= size;
                taken++;
                all++;
            }
            if (rest >= 8 && mkperf_record_size(*w) <= rest) {
                unsigned size = mkperf_record_size(*w);
                add_by(w, false);
                w += size / 8;
                rest -= size;
                all++;
            }
        }
        free(exact);
    }
    flush();
    assert_true(taken > all / 2);
}

/*
 * Periods that are not what follows from the sample before: each kind costs what it must and comes
 * back. The middle changes; the jitter's width, too; one interval ended late; samples are missing.
 */
static void test_periods(void **state)
{
    uint64_t w[MAX_WORDS];
    uint64_t last = 0;
    uint64_t time = 1000;
    uint64_t base = 100000;

    (void)state;
    mkperf_encoder_expect(&e, 0, base, true);
    for (unsigned i = 0; i < 4000; i++) {
        uint64_t changes = d.changes;
        if (i % 40 == 10) {
            base = next() % 3 ? base + next() % 1000 : 20000 + next() % 1000000;
        }
        uint64_t period = mkperf_jitter_interval(base, mkperf_jitter_mask((uint32_t)base),
                                                 mkperf_jitter_draw(last, 0, MKPERF_JITTER_MIX));
        last = time += period / 16;
        if (i % 40 == 20) {
            period += 3 * base; /* the interval ended late */
        }
        if (i % 40 == 30) {
            continue; /* this sample was lost on the target */
        }
        make(w, 0, 0, 3, 5, time, period, 0x200000);
        add(w);
        if (i % 40 == 39) {
            flush();
            /* The middle, the late one, the one after the loss, and back: two or three values each,
             * and seldom a wrong guess. */
            assert_in_range(d.changes - changes, 4, 24);
        }
    }
    printf("%llu values of changes in 100 rounds\n", (unsigned long long)d.changes);
    assert_in_range(d.changes, 600, 1100);
}

/* The fast path consumes no more than fits into the batch, to the last byte. */
static void test_runs_fill_a_batch(void **state)
{
    uint64_t w[MAX_WORDS];
    uint64_t big = UINT64_C(1) << 62;

    (void)state;
    mkperf_encoder_expect(&e, 0, 1000, false);
    mkperf_encoder_expect(&e, 1, 1000, false);
    for (unsigned i = 0; i < 20000; i++) {
        bool far = i / 1000 % 2;
        uint64_t pc = 0x200000 + (far ? next() % (UINT64_C(1) << 31) * 4 : 0);
        make(w, i % 2, 0, i % 7, 5, far ? next() * big : UINT64_C(1000) * i, 1000, pc);
        add_by(w, true);
    }
    flush();
    assert_true(d.short_ways > 15000);
}

static void test_bad_records(void **state)
{
    uint64_t w[MAX_WORDS] = {0};
    unsigned size = make(w, 0, 0, 1, 4, 1, 1, 1);

    (void)state;
    mkperf_encoder_expect(&e, 0, 1000, false);
    assert_int_equal(mkperf_encoder_add(&e, w, size - 8), MKPERF_ENCODE_BAD);
    assert_int_equal(mkperf_encoder_add(&e, w, 8), MKPERF_ENCODE_BAD);
    w[0] = mkperf_record_header(7, size, 4, 0, 0, 0);
    assert_int_equal(mkperf_encoder_add(&e, w, size), MKPERF_ENCODE_BAD);
    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 4, 31, 0, 0);
    assert_int_equal(mkperf_encoder_add(&e, w, size), MKPERF_ENCODE_BAD);
    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 4, 0, MKPERF_SAMPLE_NO_USER, 0);
    assert_int_equal(mkperf_encoder_add(&e, w, size), MKPERF_ENCODE_BAD);
    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, sizeof w, 65, 0, 0, 0);
    assert_int_equal(mkperf_encoder_add(&e, w, sizeof w), MKPERF_ENCODE_BAD);
    w[0] = mkperf_record_header(MKPERF_RECORD_LOSS, 32, 0, MKPERF_LOSS_PLACES, 0, 0);
    assert_int_equal(mkperf_encoder_add(&e, w, 32), MKPERF_ENCODE_BAD);
    assert_true(mkperf_encoder_empty(&e));
    /* Also in a batch in progress: a run ends there and has changed nothing. */
    for (unsigned i = 0; i < 2; i++) {
        make(w, 0, 0, 1, 4, i, 1000, 0x200000);
        add_by(w, false);
    }
    const uint64_t bad[] = {
        mkperf_record_header(7, size, 4, 0, 0, 0),
        mkperf_record_header(MKPERF_RECORD_PAD, size, 4, 0, 0, 0),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size - 8, 4, 0, 0, 0),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size + 8, 4, 0, 0, 0),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size - 4, 3, 0, 0, 0),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, 0, 0, 0, 0, 0),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 4, 31, 0, 0),
        /* the counter's first sample */
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 4, 1, 0, 0),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 4, 0, MKPERF_SAMPLE_NO_USER, 0),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 4, 0, MKPERF_SAMPLE_READ, 0),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 4, 0, 0, 1),
        mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 65, 0, 0, 0),
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        w[0] = bad[i];
        assert_int_equal(mkperf_encoder_add_run(&e, w, size), 0);
    }
    make(w, 0, 0, 1, 4, 2, 1000, 0x200000);
    add_by(w, true);
    assert_int_equal(d.short_ways, 1);
    flush();
}

/* ---- windows ---- */

enum { KINDS = 1 << 16 };

/* By a hash of all that a sample has but its time: how many there were, and the sum of their periods. */
static struct {
    uint64_t samples, events;
} put_in[KINDS], came_out[KINDS];

static unsigned kind_of(unsigned core, uint64_t thread, unsigned counter, unsigned flags,
                        uint64_t lr, uint64_t pc, uint64_t kernel_pc, unsigned frames,
                        uint64_t innermost)
{
    const uint64_t word[] = {core, thread, counter, flags, lr, pc, kernel_pc, frames, innermost};
    uint64_t hash = 0;

    for (unsigned i = 0; i < sizeof word / sizeof *word; i++) {
        hash = (hash ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 31;
    }
    return (unsigned)(hash % KINDS);
}

/* Decodes a message of windows by docs/protocol.md, and adds its rows. */
static void decode_rows(const uint8_t *message, size_t n)
{
    pb_istream_t stream = pb_istream_from_buffer(message, n);
    pb_istream_t inner;
    pb_wire_type_t type;
    uint32_t tag;
    bool eof;
    struct batch_columns columns;
    struct batch_sample s;

    assert_true(pb_decode_tag(&stream, &type, &tag, &eof));
    assert_true(pb_make_string_substream(&stream, &inner));
    d.batch = (mkperf_Batch)mkperf_Batch_init_zero;
    d.batch.chains.funcs.decode = decode_chain;
    d.ndefined = 0;
    assert_true(n <= MKPERF_CONTENT_BYTES && pb_decode(&inner, mkperf_Batch_fields, &d.batch));
    assert_int_equal(d.batch.first_sample, d.samples);
    for (unsigned i = 0; i < d.ndefined; i++) {
        assert_int_equal(d.defined[i].at, 0);
        d.chain[d.defined[i].slot] = d.defined[i];
    }
    batch_columns_begin(&columns, &d.batch);
    for (unsigned i = 0; i < d.batch.pc_count; i++) {
        batch_columns_chain(&columns, &s);
        const mkperf_Chain *c = &d.chain[s.slot];
        uint64_t count = batch_columns_row(&columns, c->counter, &s);
        bool user = !(c->flags & MKPERF_SAMPLE_NO_USER);
        unsigned kind = kind_of(d.batch.core, c->thread - 2, c->counter, c->flags, c->lr,
                                user ? c->pc + (uint64_t)s.away : 0,
                                c->kernel_pc + (user ? 0 : (uint64_t)s.away), c->frames_count,
                                c->frames_count != 0 ? c->pc + (uint64_t)c->frames[0] : 0);
        came_out[kind].samples += count;
        came_out[kind].events += s.period;
        d.samples += count;
    }
    assert_int_equal(columns.slots, d.batch.slot_count);
    d.definitions += d.ndefined;
}

/* Sends what the encoder has: of a window that has not ended, only chains. */
static void flush_rows(void)
{
    uint8_t message[MKPERF_CONTENT_BYTES], frame[MKPERF_FRAME_BYTES];
    size_t n = mkperf_encoder_finish(&e, message);

    if (n != 0) {
        decode_rows(message, n);
        d.bytes += mkperf_frame_encode(frame, (uint16_t)d.batches++, message, n);
    }
}

/* Counts n samples of windows of 10 s, at 1 kHz, of `chains` chains with `pcs` addresses in each. Returns the bytes of a
 * sample on the wire. */
static double count_samples(unsigned n, unsigned chains, unsigned pcs, unsigned cores)
{
    uint64_t w[MAX_WORDS], time = 1000;

    memset(put_in, 0, sizeof put_in);
    memset(came_out, 0, sizeof came_out);
    mkperf_encoder_windows(&e, UINT64_C(625000000));
    for (unsigned i = 0; i < n; i++) {
        uint64_t chain = next() % chains * (next() % chains) / chains;
        unsigned flags = chain % 7 == 0   ? MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER
                         : chain % 3 == 0 ? MKPERF_SAMPLE_KERNEL
                                          : 0;
        unsigned core = (unsigned)(next() % cores), counter = flags != 0;
        uint64_t period = 500000 + next() % 1000000;
        time += 60000 + next() % 5000;
        unsigned size = make(w, counter, flags, chain, (unsigned)(chain % 12), time - next() % 4096,
                             period, 0x200000 + next() % pcs * 4);
        unsigned frames = mkperf_record_nframes(w[0]);
        w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, size, frames, counter, flags, core);
        assert_int_equal(mkperf_encoder_add_run(&e, w, size), 0);
        enum mkperf_encode_result result;
        for (unsigned tries = 0; (result = mkperf_encoder_add(&e, w, size)) == MKPERF_ENCODE_FULL;
             tries++) {
            assert_true(tries < 100);
            flush_rows();
        }
        assert_int_equal(result, MKPERF_ENCODE_ADDED);
        bool kernel = flags & MKPERF_SAMPLE_KERNEL;
        unsigned kind = kind_of(core, w[MKPERF_WORD_THREAD], counter, flags, w[MKPERF_WORD_LR],
                                w[MKPERF_WORD_PC], kernel ? w[MKPERF_SAMPLE_FIXED_WORDS] : 0,
                                frames, frames != 0 ? w[MKPERF_SAMPLE_FIXED_WORDS + kernel] : 0);
        put_in[kind].samples++;
        put_in[kind].events += period;
    }
    mkperf_encoder_end_window(&e);
    while (!mkperf_encoder_empty(&e)) {
        flush_rows();
    }
    assert_memory_equal(put_in, came_out, sizeof put_in);
    assert_int_equal(d.samples, n);
    assert_int_equal(e.sent, n);
    return (double)d.bytes / n;
}

/* Nothing is lost or changed by counting, whether the window has room for all chains and addresses or not. */
static void test_windows(void **state)
{
    double bytes = count_samples(60000, 50, 3, 1); /* samples as in the demo */

    printf("windows of 10 s: %.3f bytes a sample\n", bytes);
    assert_true(bytes <= 0.3);
    begin(state);
    count_samples(20000, 300, 500, 4); /* more addresses than entries */
    begin(state);
    count_samples(20000, 4000, 2, 2); /* more chains than slots */
    assert_true(d.definitions > MKPERF_CHAIN_SLOTS);
}

/* Losses are sent with the window, or before it if there are more than a batch has room for. Group reads are refused. */
static void test_windows_with_losses(void **state)
{
    uint64_t w[MAX_WORDS], lost = 0;
    uint64_t loss[MKPERF_LOSS_WORDS] = {0, 5, 7, 9};

    (void)state;
    mkperf_encoder_windows(&e, 1000);
    for (unsigned i = 0; i < 10; i++) {
        unsigned size = make(w, 0, 0, i % 2, 3, 100 + i, 1000, 0x200000);
        loss[0] = mkperf_record_header(MKPERF_RECORD_LOSS, 8 * MKPERF_LOSS_WORDS, 0, 0, 0, i % 2);
        assert_int_equal(mkperf_encoder_add(&e, w, size), MKPERF_ENCODE_ADDED);
        while (mkperf_encoder_add(&e, loss, sizeof loss) == MKPERF_ENCODE_FULL) {
            flush_rows();
            assert_int_equal(d.batch.pc_count, 0);
            lost += 7 * d.batch.losses_count;
        }
    }
    mkperf_encoder_end_window(&e);
    for (unsigned i = 0; !mkperf_encoder_empty(&e); i++) {
        assert_true(i < 10);
        flush_rows();
        lost += 7 * d.batch.losses_count;
    }
    assert_int_equal(lost, 70);
    assert_int_equal(d.samples, 10);
    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * (MKPERF_SAMPLE_FIXED_WORDS + 2), 0, 0,
                                MKPERF_SAMPLE_READ, 0);
    w[MKPERF_SAMPLE_FIXED_WORDS] = 1;
    assert_int_equal(mkperf_encoder_add(&e, w, 8 * (MKPERF_SAMPLE_FIXED_WORDS + 2)),
                     MKPERF_ENCODE_BAD);
}

#define T(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_bytes_per_sample),
        T(test_eviction),
        T(test_epochs),
        T(test_losses),
        T(test_extremes),
        T(test_counters_flags_idle),
        T(test_cores_do_not_mix),
        T(test_bad_records),
        T(test_runs),
        T(test_periods),
        T(test_runs_fill_a_batch),
        T(test_windows),
        T(test_windows_with_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
