/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook and what a request may hold: counters that the CPU lacks, intervals that are too short, memory that
 * is not the owner's. test_hook_random.c has any content.
 */
#include "hook_cpu.h"

/* Each counter that the CPU has samples; others' flags are not the hook's, and stay. */
static void test_samples(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
        assert_int_equal(cpu.running, mkperf_pmu_counters());
        assert_int_equal(cpu.writes, there);
        overflow(UINT32_MAX);
        assert_int_equal(cpu.writes, 2 * there);
        assert_int_equal(hook.answer.captures, 1);
        assert_int_equal(cpu.overflow, ~mkperf_pmu_counters());
        overflow(UINT32_C(1) << 31);
        assert_int_equal(cpu.writes, 2 * there);
        assert_int_equal(hook.answer.captures, 1);
        assert_int_equal(request(MKPERF_REQUEST_WITHDRAW), MKPERF_REQUEST_OK);
        assert_int_equal(cpu.running | hook.mask, 0);
    }
}

/* What each operation needs, and what is refused: an APPLY leaves no session then, and others change nothing. */
static void test_refusals(void **state)
{
    struct mkperf_configuration good;

    (void)state;
    boot(6);
    good = d.want;
    assert_int_equal(request(7), MKPERF_REQUEST_BAD_OP);
    for (uint32_t op = MKPERF_REQUEST_CONTINUE; op <= MKPERF_REQUEST_PAGE; op++) {
        assert_int_equal(request(op), MKPERF_REQUEST_BAD_STATE);
    }
    assert_int_equal(request(0), MKPERF_REQUEST_OK);
    for (unsigned n = 0; n < 2; n++) { /* without a session, and with one */
        static const struct {
            uint32_t status, mask, ring_bytes;
            uint64_t ring, tables;
        } bad[] = {
            {MKPERF_REQUEST_BAD_COUNTERS, 0, RING_BYTES, 1, 0},
            {MKPERF_REQUEST_BAD_COUNTERS, 1 << 6, RING_BYTES, 1, 0},
            {MKPERF_REQUEST_BAD_COUNTERS, UINT32_C(1) << 31, RING_BYTES, 1, 0},
            {MKPERF_REQUEST_BAD_RING, 1, RING_BYTES - 8, 1, 0},
            {MKPERF_REQUEST_BAD_RING, 1, 2 * RING_BYTES, 1, 0},
            {MKPERF_REQUEST_BAD_RING, 1, RING_BYTES, 0, 0},
            {MKPERF_REQUEST_BAD_TABLE, 1, RING_BYTES, 1, 8},
        };
        for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
            d.want.counter_mask = bad[i].mask;
            d.want.ring_bytes = bad[i].ring_bytes;
            d.want.ring = bad[i].ring != 0 ? good.ring : 8;
            d.want.tables = bad[i].tables;
            assert_int_equal(request(MKPERF_REQUEST_APPLY), bad[i].status);
            assert_int_equal(cpu.running | hook.mask, 0);
            d.want = good;
            if (n == 1) {
                assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
            }
        }
        assert_int_equal(request_of(other, MKPERF_REQUEST_APPLY), MKPERF_REQUEST_BAD_RING);
        assert_int_equal(cpu.running | hook.mask, 0);
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
        assert_int_equal(request_of(other, MKPERF_REQUEST_STOP), MKPERF_REQUEST_BAD_STATE);
        assert_int_equal(cpu.running, 0x3f);
    }
    /* Counters that are not the session's, and numbers above their limits, in APPLY and in CONTINUE. */
    const struct {
        uint32_t *member;
        uint32_t bad;
    } limits[] = {
        {&d.want.enable_mask, 1 << 6},
        {&d.want.read_mask, 1 << 6},
        {&d.want.slice_mask, 1 << 6},
        {&d.want.count_mask, 1 << 6},
        {&d.want.kernel_mask, UINT32_C(1) << 31},
        {&d.want.filters, MKPERF_MAX_FILTERS + 1},
        {&d.want.max_frames, MKPERF_MAX_FRAMES + 1},
        {&d.want.callers, MKPERF_MAX_CALLERS + 1},
        {&d.want.words, MKPERF_MAX_WORDS + 1},
    };
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
        bool kept = (char *)limits[i].member >= (char *)&d.want.ring;
        d.want = good;
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
        *limits[i].member = limits[i].bad;
        assert_int_equal(request(MKPERF_REQUEST_CONTINUE),
                         kept ? MKPERF_REQUEST_OK : MKPERF_REQUEST_BAD_COUNTERS);
        assert_int_equal(hook.mask, kept ? 0x3f : 0);
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_BAD_COUNTERS);
        assert_int_equal(cpu.running | hook.mask, 0);
    }
    /* An event that the PMU does not take: no session is left, and it shows of which counter. */
    d.want = good;
    d.want.counter[4].select = 0xbad;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_BAD_EVENT);
    assert_int_equal(d.answer.what, 4);
    assert_int_equal(cpu.running | hook.mask, 0);
    /* Another core's interrupt. */
    d.want = good;
    d.op = MKPERF_REQUEST_APPLY;
    d.sequence++;
    mkperf_hook_request(&hook, &d, owner, false);
    assert_int_equal(d.answer.status, MKPERF_REQUEST_BAD_CORE);
    assert_int_equal(cpu.running, 0);
}

/* An acknowledgement without a new sequence, or without the magic word, is no request. */
static void test_no_request(void **state)
{
    (void)state;
    boot(6);
    d.op = MKPERF_REQUEST_APPLY;
    mkperf_hook_request(&hook, &d, owner, true);
    d.sequence = 1;
    d.magic++;
    mkperf_hook_request(&hook, &d, owner, true);
    assert_int_equal(d.answered, 0);
    assert_int_equal(hook.mask | cpu.writes, 0);
    d.magic--;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
}

/* No interval is shorter than its counter's least one, or than the hook's, whatever is asked for; what was added is in
 * the sample's weight. */
static void test_least_interval(void **state)
{
    static const uint32_t periods[] = {0, 1, 2, 100, 349, 620, 799, 1999, UINT32_MAX};

    (void)state;
    for (unsigned n = 0; n < sizeof periods / sizeof *periods; n++) {
        for (unsigned jitter = 0; jitter < 2; jitter++) {
            boot(2);
            for (unsigned i = 0; i < 2; i++) {
                struct mkperf_request_counter *c = &d.want.counter[i];
                c->left = c->interval = c->period = periods[n];
                c->jitter_mask = jitter ? UINT32_MAX : 0;
                c->least = i == 0 ? n : MKPERF_MIN_KERNEL_PERIOD;
            }
            assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
            for (unsigned k = 0; k < 50; k++) {
                uint32_t user = 0 - cpu.value[0], kernel = 0 - cpu.value[1];
                assert_true(user >= MKPERF_HOOK_MIN_PERIOD);
                assert_true(kernel >= MKPERF_MIN_KERNEL_PERIOD);
                overflow(1);
                const uint64_t *w = record();
                assert_non_null(w);
                assert_int_equal(w[MKPERF_WORD_PERIOD], user);
                overflow(2);
                w = record();
                assert_int_equal(w[MKPERF_WORD_PERIOD], kernel);
                if (k % 10 == 9) {
                    request(MKPERF_REQUEST_UPDATE);
                }
            }
        }
    }
    assert_true(mkperf_least_interval(16, MKPERF_DEFAULT_CALLERS, 0, false) <= 1000);
}

/* A period that becomes much shorter: the counter is set forward, and its sample weighs what was
 * counted; if it has little left, nothing is changed. */
static void test_update(void **state)
{
    (void)state;
    boot(1);
    d.want.counter[0].left = d.want.counter[0].interval = d.want.counter[0].period = 1000000;
    request(MKPERF_REQUEST_APPLY);
    cpu.value[0] += 300000; /* 700,000 are left */
    d.want.counter[0].period = 400000;
    request(MKPERF_REQUEST_UPDATE);
    assert_int_equal(0 - cpu.value[0], 700000);
    d.want.counter[0].period = 10000;
    request(MKPERF_REQUEST_UPDATE);
    assert_int_equal(0 - cpu.value[0], 10000);
    overflow(1);
    assert_int_equal(record()[MKPERF_WORD_PERIOD], 310000);
    assert_int_equal(0 - cpu.value[0], 10000);
    assert_int_equal(d.answer.disturbed, 0);
}

/* Where counters are, and that they continue from there. */
static void test_snapshot(void **state)
{
    (void)state;
    boot(6);
    request(MKPERF_REQUEST_APPLY);
    cpu.value[3] += 1234;
    assert_int_equal(request(MKPERF_REQUEST_STOP | MKPERF_REQUEST_SNAPSHOT), MKPERF_REQUEST_OK);
    assert_int_equal(cpu.running, 0);
    assert_int_equal(d.answer.counter[3].value, UINT32_C(0) - (PERIOD - 1234));
    assert_int_equal(d.answer.counter[3].interval, PERIOD);
    d.want.counter_mask = d.want.enable_mask = 1;
    d.want.counter[0].left = PERIOD - 1234;
    assert_int_equal(request(MKPERF_REQUEST_CONTINUE), MKPERF_REQUEST_OK);
    assert_int_equal(cpu.running, 1);
    overflow(1);
    assert_int_equal(record()[MKPERF_WORD_PERIOD], PERIOD);
}

/* An overflow that no interrupt was taken for becomes a sample before the request is read. */
static void test_pending(void **state)
{
    (void)state;
    boot(2);
    request(MKPERF_REQUEST_APPLY);
    cpu.overflow = 2;
    cpu.value[1] = 17;
    request(MKPERF_REQUEST_WITHDRAW);
    const uint64_t *w = record();
    assert_non_null(w);
    assert_int_equal(mkperf_record_counter(w[0]), 1);
    assert_int_equal(w[MKPERF_WORD_PERIOD], PERIOD);
    assert_int_equal(cpu.overflow, 0);
    assert_int_equal(d.answer.disturbed, 0);
}

/* An overflow that is pending at an entry becomes a sample of the thread that the entry interrupts. The next thread is
 * noted after it, has no part in it, and has the next overflow. */
static void test_boundary(void **state)
{
    static const struct {
        uint64_t badge;
        unsigned type;
    } wanted[] = {{1, MKPERF_RECORD_SAMPLE}, {0, MKPERF_RECORD_SCHED}, {2, MKPERF_RECORD_SAMPLE}};
    struct mkperf_ring_consumer c = {.ring = &memory.ring, .size = RING_BYTES};
    unsigned size, found = 0;
    bool corrupt = false;

    (void)state;
    boot(2);
    d.want.sched = MKPERF_SCHED_EVENTS;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
    c.tail = memory.ring.head;
    for (cpu.badge = 1; cpu.badge <= 2; cpu.badge++) {
        uint64_t entered = mkperf_port_time();
        cpu.overflow = 1;
        cpu.value[0] = 17;
        mkperf_hook_take(&hook, mkperf_pmu_overflow() & hook.mask);
        assert_int_equal(cpu.overflow, 0);
        assert_int_equal(0 - cpu.value[0], PERIOD - 17);
        assert_int_equal(hook.answer.captures, cpu.badge);
        assert_true(hook.out.head > c.tail);
        if (cpu.badge == 1) {
            mkperf_sched_switch(&hook, MKPERF_STOPPED_PREEMPTED, other, owner, entered);
        }
    }
    for (const uint64_t *w; (w = mkperf_ring_peek(&c, &size, &corrupt)) != NULL;
         mkperf_ring_release(&c, size)) {
        assert_true(found < sizeof wanted / sizeof *wanted);
        assert_int_equal(mkperf_record_type(w[0]), wanted[found].type);
        if (wanted[found].type == MKPERF_RECORD_SAMPLE) {
            assert_int_equal(mkperf_record_counter(w[0]), 0);
            assert_int_equal(w[MKPERF_WORD_THREAD], wanted[found].badge);
        }
        found++;
    }
    assert_false(corrupt);
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
}

/* What other software did to the PMU is counted and corrected. */
static void test_disturbed(void **state)
{
    (void)state;
    boot(6);
    request(MKPERF_REQUEST_APPLY);
    request(0);
    assert_int_equal(d.answer.disturbed, 0);
    cpu.running = 0x30;
    request(0);
    assert_int_equal(d.answer.disturbed, 4);
    assert_int_equal(cpu.running, 0x3f);
    cpu.select[2] = 0x11; /* the counter counts in the kernel, too */
    cpu.value[4] = 5;     /* more is left than the whole interval */
    request(0);
    assert_int_equal(d.answer.disturbed, 6);
    assert_int_equal(cpu.select[2], MKPERF_SELECT_P | 0x11);
    assert_int_equal(0 - cpu.value[4], PERIOD);
    assert_int_equal(cpu.running, 0x3f);
}

/* Makes captures until there is a storm, at most 3000, and returns their number. Each takes one measured tick, and
 * they are `between` ticks apart. */
static unsigned captures_until_storm(uint64_t between)
{
    unsigned captures = 0;

    for (; captures < 3000 && hook.answer.storm == 0; captures++) {
        if (captures % 100 == 99) { /* a new session does not avoid the limit */
            memory.ring.head = memory.ring.tail = 0;
            request(MKPERF_REQUEST_APPLY);
        }
        overflow(1);
        memory.ring.tail = memory.ring.head;
        cpu.time += between;
    }
    return captures;
}

/* More than half of the time is the hook's: the counters are off until another session. */
static void test_storm(void **state)
{
    (void)state;
    for (uint64_t between = 0; between < 4; between++) {
        boot(2);
        request(MKPERF_REQUEST_APPLY);
        unsigned captures = captures_until_storm(between);
        /* About one capture in 16 is measured, with one tick. For a record of 7 words the estimate of
         * entry and exit is half of that. */
        bool storm = between < 2;
        assert_int_equal(hook.answer.storm, storm);
        assert_int_equal(cpu.running, storm ? 0 : 3);
        assert_in_range(captures, storm ? 1024 : 3000, storm ? 1056 : 3000);
        assert_int_equal(cpu.wakes, hook.answer.storm);
        request(0);
        assert_int_equal(d.answer.storm, hook.answer.storm);
        assert_int_equal(request(MKPERF_REQUEST_CONTINUE),
                         hook.answer.storm ? MKPERF_REQUEST_BAD_STATE : MKPERF_REQUEST_OK);
        if (hook.answer.storm) { /* not before as much time has passed again */
            uint64_t until = hook.quiet;
            assert_in_range(until, cpu.time + 1000 * (between + 1),
                            cpu.time + 1056 * (between + 1) + 200);
            while (cpu.time + 10 < until) {
                assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_BAD_TIME);
            }
            cpu.time = until;
        }
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
        assert_int_equal(hook.answer.storm, 0);
        if (storm) { /* the time in between does not count for the next session */
            assert_in_range(captures_until_storm(between), 1024, 1056);
        }
    }
}

/* A lost sample writes no record, so entry and exit are a larger part of its time. */
static void test_storm_lost(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++) {
        boot(1);
        request(MKPERF_REQUEST_APPLY);
        for (unsigned i = 0; i < 4000 && hook.answer.storm == 0; i++) {
            overflow(1);
            memory.ring.tail = lost ? 0 : memory.ring.head;
            cpu.time += 2;
        }
        assert_int_equal(hook.lost.samples != 0, lost);
        assert_int_equal(hook.answer.storm, lost);
    }
}

/* In each pattern all captures but one are expensive: the storm is found wherever the cheap one is,
 * and a fixed step between measured captures would hit that one alone. */
static void test_storm_in_step(void **state)
{
    (void)state;
    for (unsigned width = 2; width <= 64; width *= 2) {
        for (unsigned phase = 0; phase < width; phase++) {
            boot(1);
            request(MKPERF_REQUEST_APPLY);
            for (unsigned i = 0; i < 3000 && hook.answer.storm == 0; i++) {
                cpu.pass = i % width == phase ? 0 : 100;
                overflow(1);
                memory.ring.tail = memory.ring.head;
                cpu.time += 20;
            }
            assert_int_equal(hook.answer.storm, 1);
        }
    }
}

/* The owner unmaps its ring: samples are dropped and counted, until it is there again. */
static void test_unmapped(void **state)
{
    (void)state;
    boot(1);
    request(MKPERF_REQUEST_APPLY);
    overflow(1);
    assert_non_null(record());
    mkperf_hook_unmapped(&hook);
    cpu.mapped = false;
    uint64_t head = memory.ring.head;
    overflow(1);
    assert_int_equal(hook.lost.samples, 1);
    assert_int_equal(hook.lost.events, PERIOD);
    assert_int_equal(memory.ring.head, head);
    assert_int_equal(0 - cpu.value[0], PERIOD);
    cpu.mapped = true;
    overflow(1);
    assert_non_null(record());
    mkperf_hook_end(&hook, true);
    assert_int_equal(cpu.running | hook.mask, 0);
    assert_null(hook.owner);
}

/* Values that ride in a sample: of counters of the session. */
static void test_values(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        d.want.read_mask = d.want.counter_mask & ~1u;
        d.want.counter[0].reads = UINT32_MAX;
        for (unsigned i = 1; i < there; i++) {
            d.want.counter[i].left = d.want.counter[i].interval = MKPERF_COUNT_PERIOD;
        }
        request(MKPERF_REQUEST_APPLY);
        for (unsigned i = 1; i < there; i++) {
            cpu.value[i] = MKPERF_COUNT_PERIOD + i * 10;
        }
        cpu.reads = cpu.writes = 0;
        overflow(1);
        assert_int_equal(cpu.reads, there); /* its own, to arm it again, and the others */
        assert_int_equal(cpu.writes, 1);
        const uint64_t *w = record();
        assert_non_null(w);
        assert_int_equal(w[MKPERF_WORD_PERIOD], PERIOD);
        if (there == 1) {
            continue; /* the record has no values of other counters */
        }
        unsigned rode = there - 1 < MKPERF_MAX_READS ? there - 1 : MKPERF_MAX_READS;
        w += MKPERF_SAMPLE_FIXED_WORDS;
        assert_int_equal(*w++, rode);
        for (unsigned i = 1; i <= rode; i++, w++) {
            assert_int_equal(*w >> MKPERF_READ_COUNTER_SHIFT, i);
            assert_int_equal(*w & MKPERF_READ_COUNT, i * 10);
        }
    }
}

/* Counts are kept where the sample is of a thread that is not wanted, and where the ring is full. */
static void test_values_of_no_sample(void **state)
{
    (void)state;
    for (unsigned full = 0; full < 2; full++) {
        boot(6);
        d.want.read_mask = d.want.counter_mask & ~1u;
        d.want.counter[0].reads = UINT32_MAX;
        for (unsigned i = 1; i < 6; i++) {
            d.want.counter[i].select = MKPERF_SELECT_U;
        }
        d.want.filters = !full;
        d.want.filter[0].badge = 2;
        request(MKPERF_REQUEST_APPLY);
        memory.ring.tail = full ? hook.out.head - RING_BYTES : memory.ring.head;
        uint64_t head = memory.ring.head;
        cpu.reads = 0;
        overflow(1);
        assert_int_equal(memory.ring.head, head);
        assert_int_equal(hook.lost.samples, full);
        assert_int_equal(cpu.reads, 1 + 5); /* arm it, and begin the others again */
        for (unsigned i = 1; i < 6; i++) {
            assert_int_equal(hook.session.counter[i].read, cpu.value[i] - MKPERF_COUNT_PERIOD);
        }
    }
}

/* The owner is woken whenever the watermark is crossed, also by the padding before the ring's end. */
static void test_watermark(void **state)
{
    (void)state;
    for (uint32_t watermark = 8; watermark < RING_BYTES / 2; watermark += 8) {
        boot(1);
        d.want.watermark = watermark;
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
        for (unsigned i = 0; i < 200; i++) {
            uint64_t before = memory.ring.head - memory.ring.tail;
            unsigned wakes = cpu.wakes;
            overflow(1);
            uint64_t after = memory.ring.head - memory.ring.tail;
            assert_int_equal(cpu.wakes - wakes, before < watermark && after >= watermark);
            if (after >= watermark) {
                memory.ring.tail = memory.ring.head;
            }
        }
        assert_int_equal(hook.lost.samples, 0);
    }
}

/* A filter is a badge, and the bits of the scheduling context's badge that its mask selects. */
static void test_filters(void **state)
{
    static const struct {
        uint64_t badge, sc;
        bool wanted;
    } threads[] = {{1, 0x100, false}, {2, 0x100, false}, {2, 0x777, true}, {2, 0x10777, true}};

    (void)state;
    boot(1);
    d.want.filters = 2;
    d.want.filter[0] = (struct mkperf_filter){2, 0x777, 0xffff};
    d.want.filter[1] = (struct mkperf_filter){9, 0, 0};
    request(MKPERF_REQUEST_APPLY);
    for (unsigned i = 0; i < sizeof threads / sizeof *threads; i++) {
        cpu.badge = threads[i].badge;
        cpu.sc = threads[i].sc;
        overflow(1);
        const uint64_t *w = record();
        assert_int_equal(w != NULL, threads[i].wanted);
        if (w != NULL) {
            assert_int_equal(w[MKPERF_WORD_THREAD], threads[i].badge);
            assert_int_equal(w[MKPERF_WORD_SC], threads[i].sc);
        }
    }
    cpu.badge = 9;
    overflow(1);
    assert_non_null(record());
}

/* A switch from a thread that waits is a sample of it and the event, at the same time; another switch
 * is the event alone. */
static void test_off_cpu(void **state)
{
    const uint32_t waits = 1 << MKPERF_STOPPED_CALLED | 1 << MKPERF_STOPPED_REPLIED |
                           1 << MKPERF_STOPPED_WAIT_MESSAGE |
                           1 << MKPERF_STOPPED_WAIT_NOTIFICATION | 1 << MKPERF_STOPPED_BUDGET |
                           1 << MKPERF_STOPPED_FAULTED | 1 << MKPERF_STOPPED_SUSPENDED |
                           1 << MKPERF_STOPPED_QUEUED;
    struct mkperf_ring_consumer c = {.ring = &memory.ring, .size = RING_BYTES};

    (void)state;
    boot(1);
    d.want.sched = MKPERF_SCHED_EVENTS | MKPERF_SCHED_OFF_CPU;
    d.want.callers = 1;
    cpu.sc = 0x105;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
    mkperf_sched_switch(&hook, MKPERF_STOPPED_PREEMPTED, owner, other,
                        mkperf_port_time()); /* a record announces the thread */
    for (unsigned reason = 0; reason < MKPERF_STOPPED_REASONS; reason++) {
        unsigned size;
        bool corrupt = false;
        const uint64_t *w;
        uint64_t time = 0;

        c.tail = memory.ring.head;
        mkperf_sched_switch(&hook, reason, other, owner, mkperf_port_time());
        w = mkperf_ring_peek(&c, &size, &corrupt);
        assert_int_equal(mkperf_record_type(w[0]) == MKPERF_RECORD_SAMPLE, waits >> reason & 1);
        if (mkperf_record_type(w[0]) == MKPERF_RECORD_SAMPLE) {
            const uint64_t *caller = w + MKPERF_SAMPLE_FIXED_WORDS;
            assert_int_equal(mkperf_record_counter(w[0]), MKPERF_OFF_CPU_COUNTER);
            assert_int_equal(mkperf_record_flags(w[0]), MKPERF_SAMPLE_CALLERS);
            assert_int_equal(w[MKPERF_WORD_THREAD], cpu.badge);
            assert_int_equal(w[MKPERF_WORD_SC], 0x105);
            assert_int_equal(w[MKPERF_WORD_PERIOD], 1);
            assert_int_equal(w[MKPERF_WORD_PC], 0x3000);
            assert_int_equal(caller[MKPERF_CALLER_THREAD], 3);
            time = w[MKPERF_WORD_TIME];
            mkperf_ring_release(&c, size);
            w = mkperf_ring_peek(&c, &size, &corrupt);
        }
        assert_int_equal(mkperf_record_type(w[0]), MKPERF_RECORD_SCHED);
        assert_int_equal(mkperf_sched_reason_of(w[0]), reason);
        assert_true(time == 0 || w[MKPERF_WORD_TIME] == time);
        mkperf_ring_release(&c, size);
        assert_null(mkperf_ring_peek(&c, &size, &corrupt));
    }
    /* Samples of other threads are not wanted; a full ring and one that is gone lose both. */
    hook.session.filters = 1;
    hook.session.filter[0] = (struct mkperf_filter){77, 0, 0};
    uint64_t head = memory.ring.head;
    mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, owner, mkperf_port_time());
    assert_int_equal(memory.ring.head, head + 8 * MKPERF_SCHED_WORDS);
    hook.session.filters = 0;
    memory.ring.tail = memory.ring.head - RING_BYTES;
    hook.sched.limit = 0;
    mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, owner, mkperf_port_time());
    assert_int_equal(memory.ring.lost.samples, 1);
    assert_int_equal(memory.ring.lost.sched, 1);
    cpu.mapped = false;
    mkperf_hook_unmapped(&hook);
    mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, owner, mkperf_port_time());
    assert_int_equal(hook.lost.samples, 2);
    assert_int_equal(hook.lost.sched, 2);
}

static const uint64_t *counts_of(uint64_t badge, uint64_t sc)
{
    return thread_row(&tables.counts, key_of(&hook, (struct mkperf_identity){badge, sc}))->count;
}

/* Counts by thread: every counter of the session; a scheduling context tells those apart that are
 * to be distinguished by it. */
static void test_counts(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        d.want.count_mask = d.want.counter_mask;
        d.want.tables = (uintptr_t)&tables;
        d.want.sc_if = 8;
        d.want.sc_mask = 0xff;
        d.want.slot[0] = 1;
        d.want.slot[ALL] = 255;
        request(MKPERF_REQUEST_APPLY);
        assert_true(hook.reports);
        cpu.reads = cpu.writes = 0;
        hook.running = (struct mkperf_identity){1, 6};
        for (unsigned i = 0; i < there; i++) {
            cpu.value[i] += 7;
        }
        cpu.badge = 2;
        mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, other, mkperf_port_time());
        assert_int_equal(cpu.reads, there);
        assert_int_equal(cpu.writes, 0);
        const uint64_t *one = counts_of(1, 99);
        assert_non_null(one);
        assert_int_equal(one[1], 7);
        assert_int_equal(one[0], 7 * (there - 1));
        assert_int_equal(hook.running.badge, 2);
        assert_int_equal(d.answer.badge, 3);
        for (unsigned i = 0; i < 2; i++) {
            cpu.value[0] += 10 + i;
            hook.running = (struct mkperf_identity){9, 0x300 + i};
            mkperf_counts_take(&hook);
        }
        assert_int_equal(counts_of(9, 0x400)[1], 10);
        assert_int_equal(counts_of(9, 0x401)[1], 11);
    }
}

static uint32_t ask_page(uint32_t slot, uint64_t page)
{
    d.slot = slot;
    d.page = page;
    return request(MKPERF_REQUEST_PAGE);
}

/* The least stack pointer of each thread, at samples and switches, and what a page of its stack has. */
static void test_stacks(void **state)
{
    static uint64_t page[512] __attribute__((aligned(4096)));
    const uint64_t at = (uintptr_t)page;
    const unsigned last = 511;

    (void)state;
    boot(1);
    d.want.tables = (uintptr_t)&tables;
    d.want.soft_mask = MKPERF_SOFT_ALL;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
    mock_sp = 0x8000;
    overflow(1);
    mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, other, mkperf_port_time());
    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        assert_int_equal(tables.counts.thread[i].stack.least, 0); /* the session has no stacks */
    }
    assert_int_equal(ask_page(0, at), MKPERF_REQUEST_BAD_STATE);

    memset(&tables, 0, sizeof tables);
    d.want.soft_mask |= MKPERF_SOFT_STACKS;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
    const struct mkperf_counts_thread *row = NULL;
    for (unsigned i = 0; i < 4; i++) {
        static const uint64_t sp[] = {0x8000, 0x7000, 0x7f00, 0x6000};
        static const uint64_t least[] = {0x8000, 0x7000, 0x7000, 0x6000};
        mock_sp = sp[i];
        if (i < 3) {
            hook.running = (struct mkperf_identity){cpu.badge, cpu.sc};
            overflow(1);
        } else {
            mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, owner, mkperf_port_time());
        }
        for (unsigned n = 0; n < MKPERF_COUNT_THREADS; n++) {
            const struct mkperf_counts_thread *found = &tables.counts.thread[n];
            row = found->key == mkperf_counts_key(cpu.badge) ? found : row;
        }
        assert_non_null(row);
        assert_int_equal(row->stack.least, least[i]);
    }
    cpu.badge = MKPERF_THREAD_IDLE; /* it has no stack, and a guest's is not the PD's */
    mock_sp = 1;
    overflow(1);
    assert_int_equal(row->stack.least, 0x6000);
    cpu.badge = 1;

    uint32_t slot = mkperf_port_slot(other) % MKPERF_SCHED_SLOTS;
    assert_int_equal(ask_page(slot + 1, at), MKPERF_REQUEST_BAD_STATE);
    assert_int_equal(ask_page(slot, at), MKPERF_REQUEST_OK);
    assert_int_equal(d.answer.badge, 1);
    assert_int_equal(d.answer.readable, 0);
    hook_page = page;
    assert_int_equal(ask_page(slot, at + 8), MKPERF_REQUEST_OK); /* an address of the page */
    assert_int_equal(d.answer.readable, 1);
    assert_int_equal(d.answer.word, 0);
    page[last] = 1;
    assert_int_equal(ask_page(slot, at), MKPERF_REQUEST_OK);
    assert_int_equal(d.answer.word, at + 8 * last);
    page[0] = UINT64_C(1) << 63;
    assert_int_equal(ask_page(slot, at), MKPERF_REQUEST_OK);
    assert_int_equal(d.answer.word, at);
    assert_int_equal(request_of(other, MKPERF_REQUEST_PAGE), MKPERF_REQUEST_BAD_STATE);
    mkperf_sched_forget(&hook, other); /* the thread is deleted */
    assert_int_equal(ask_page(slot, at), MKPERF_REQUEST_BAD_STATE);
    hook_page = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_request),    cmocka_unit_test(test_least_interval),
        cmocka_unit_test(test_update),        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_pending),       cmocka_unit_test(test_disturbed),
        cmocka_unit_test(test_storm),         cmocka_unit_test(test_storm_lost),
        cmocka_unit_test(test_storm_in_step), cmocka_unit_test(test_unmapped),
        cmocka_unit_test(test_values),        cmocka_unit_test(test_values_of_no_sample),
        cmocka_unit_test(test_filters),       cmocka_unit_test(test_off_cpu),
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_boundary),
        cmocka_unit_test(test_stacks),        cmocka_unit_test(test_watermark),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
