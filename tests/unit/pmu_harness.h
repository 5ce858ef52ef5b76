/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every PMU back-end must do, checked against a model of its registers: order of programming,
 * modes, overflow, counts beyond 32 bits, jitter as the kernel hook programs it, refusals.
 *
 * Owns: the checks, and the hook's port to the model. A test of a back-end includes its source with
 * a model in place of its registers, fills in `model`, and has HARNESS_TESTS among its cases. The
 * model has the properties of the hardware; this file is independent of the architecture.
 */
#ifndef MKPERF_TEST_PMU_HARNESS_H
#define MKPERF_TEST_PMU_HARNESS_H

#include <math.h>

#include <mkperf/session.h>

#include "kernel/capture.c" // NOLINT(bugprone-suspicious-include)

#include "pd/profiler/policy.h"

struct pmu_model {
    const struct mkperf_pmu *pmu;
    unsigned counters;
    int (*reset)(void **state); /* the hardware as at boot, usable */
    /* A counter counts this many events, if it is enabled; 1 .. 2^32 - 1. */
    void (*run)(unsigned counter, uint32_t events);
    bool (*enabled)(unsigned counter);
    bool (*counts)(unsigned counter, bool kernel); /* by its mode filter */
    /* Its low 32 bits, as the kernel reads and writes them. */
    uint32_t (*get)(unsigned counter);
    void (*set)(unsigned counter, uint32_t value);
    uint32_t (*take_overflow)(void); /* as the kernel: bit = counter, cleared by reading */
    unsigned (*misuse)(void);        /* accesses that the architecture forbids, or that race */
    uint32_t good[2], bad;           /* supported events, and an unsupported one */
};

static const struct pmu_model model; /* of the file that includes this */

/* ---- the hook's port ------------------------------------------------------------------------ */

static struct mkperf_descriptor harness_descriptor;
static struct {
    struct mkperf_ring ring;
    uint64_t data[MKPERF_RING_MIN_BYTES / 8];
} harness_ring;
static uint64_t harness_ticks;

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = (struct mkperf_port_context){0x1000, 0, 0};
    return true;
}

uint64_t mkperf_port_thread(void)
{
    return 1;
}

uint64_t mkperf_port_kernel_pc(void)
{
    return 0;
}

unsigned mkperf_port_core(void)
{
    return 0;
}

uint64_t mkperf_port_time(void)
{
    return harness_ticks;
}

uint64_t mkperf_port_tick_hz(void)
{
    return 1000000;
}

uint32_t mkperf_port_overflow_take(void)
{
    return model.take_overflow();
}

uint32_t mkperf_port_counters(void)
{
    return (UINT32_C(1) << model.counters) - 1;
}

uint32_t mkperf_port_counter_read(unsigned i)
{
    return model.get(i);
}

void mkperf_port_counter_write(unsigned i, uint32_t value)
{
    model.set(i, value);
}

uintptr_t mkperf_port_user_page(uint64_t va)
{
    (void)va;
    return 0;
}

struct mkperf_ring *mkperf_port_ring(const struct mkperf_descriptor *d, uint64_t bytes)
{
    (void)d;
    assert_true(bytes <= sizeof harness_ring);
    return &harness_ring.ring;
}

struct mkperf_soft *mkperf_port_soft(const struct mkperf_descriptor *d)
{
    (void)d;
    return NULL;
}

void mkperf_port_wake(void)
{
}

/* ---- the checks ----------------------------------------------------------------------------- */

/* Nothing counts before start, nothing after stop, and no running counter is written. */
static void harness_order(void **state)
{
    const struct mkperf_pmu *pmu = model.pmu;

    (void)state;
    assert_int_equal(pmu->version, MKPERF_PMU_VERSION);
    assert_null(pmu->init());
    assert_int_equal(pmu->counters(), model.counters);
    for (unsigned i = 0; i < model.counters; i++) {
        assert_false(model.enabled(i));
        assert_true(pmu->program(i, model.good[i % 2], true, true));
        pmu->arm(i, 1000 + i);
        assert_false(model.enabled(i));
        assert_int_equal(pmu->read(i), UINT32_C(0) - (1000 + i));
    }
    pmu->start(1 << 1);
    assert_true(model.enabled(1));
    assert_false(model.enabled(0));
    assert_int_equal(model.get(1), UINT32_MAX - 1000);
    model.run(1, 400);
    assert_int_equal(pmu->read(1), UINT32_C(0) - 601);
    pmu->stop(1 << 1 | 1 << 2);
    model.run(1, 400);
    assert_int_equal(pmu->read(1), UINT32_C(0) - 601);
    pmu->start(1 << 1); /* resumes */
    assert_int_equal(pmu->read(1), UINT32_C(0) - 601);
    assert_true(pmu->program(1, model.good[0], true, false)); /* stops it first */
    assert_false(model.enabled(1));
    assert_int_equal(model.misuse(), 0);
}

static void harness_modes(void **state)
{
    const struct mkperf_pmu *pmu = model.pmu;

    (void)state;
    assert_null(pmu->init());
    for (unsigned mode = 1; mode < 4; mode++) {
        assert_true(pmu->program(0, model.good[0], mode & 1, mode & 2));
        assert_int_equal(model.counts(0, false), mode & 1);
        assert_int_equal(model.counts(0, true), mode >> 1);
    }
    assert_int_equal(model.misuse(), 0);
}

/* An overflow is seen once, after exactly the events that it was armed with. */
static void harness_overflow(void **state)
{
    static const uint32_t events[] = {1, 2, 1000, 0x7fffffff, 0x80000000};
    const struct mkperf_pmu *pmu = model.pmu;

    (void)state;
    assert_null(pmu->init());
    for (unsigned k = 0; k < sizeof events / sizeof *events; k++) {
        for (unsigned i = 0; i < model.counters; i++) {
            assert_true(pmu->program(i, model.good[i % 2], true, false));
            assert_int_equal(pmu->overflow() >> i & 1, 0);
            pmu->arm(i, events[k]);
            pmu->start(UINT32_C(1) << i);
            if (events[k] > 1) {
                model.run(i, events[k] - 1);
            }
            assert_int_equal(pmu->overflow() >> i & 1, 0);
            model.run(i, 1);
            assert_int_equal(pmu->overflow(), UINT32_C(1) << i);
            model.run(i, 7);
            assert_int_equal(pmu->read(i), 7);
            pmu->stop(UINT32_C(1) << i);
            pmu->clear(UINT32_C(1) << i);
            assert_int_equal(pmu->overflow(), 0);
        }
    }
    assert_int_equal(model.misuse(), 0);
}

static void harness_publish(uint32_t period, uint32_t jitter)
{
    static uint32_t generation;
    struct mkperf_descriptor *d = &harness_descriptor;

    generation++;
    *d = (struct mkperf_descriptor){.magic = MKPERF_DESCRIPTOR_MAGIC,
                                    .generation = generation,
                                    .counter_mask = 1 << 2,
                                    .watermark = UINT32_MAX,
                                    .ring_bytes = MKPERF_RING_MIN_BYTES};
    d->counter[2] = (struct mkperf_descriptor_counter){period, period, jitter};
    memset(&harness_ring, 0, sizeof harness_ring);
}

/* The record that the hook wrote last; the ring is empty then. */
static uint64_t harness_weight(void)
{
    struct mkperf_ring_consumer c = {
        .ring = &harness_ring.ring, .size = MKPERF_RING_MIN_BYTES, .tail = harness_ring.ring.tail};
    unsigned size;
    bool corrupt = false;
    const uint64_t *record = mkperf_ring_peek(&c, &size, &corrupt);

    assert_non_null(record);
    uint64_t weight = record[MKPERF_WORD_PERIOD];
    mkperf_ring_release(&c, size);
    return weight;
}

/* Counting as the profiler PD does it: overflows of 2^31 that the hook handles, and the rest. */
static void harness_wrap(void **state)
{
    static struct mkperf_capture_state hook;
    const struct mkperf_pmu *pmu = model.pmu;
    uint64_t counted = 0, told = 0;

    (void)state;
    memset(&hook, 0, sizeof hook);
    assert_null(pmu->init());
    assert_true(pmu->program(2, model.good[0], true, false));
    harness_publish(MKPERF_COUNT_PERIOD, 0);
    pmu->arm(2, MKPERF_COUNT_PERIOD);
    pmu->start(1 << 2);
    for (unsigned i = 0; i < 50; i++) {
        uint32_t events = 1000000007 + i;
        model.run(2, events);
        counted += events;
        if (pmu->overflow() != 0) {
            mkperf_capture(&harness_descriptor, &hook);
            told += harness_weight();
        }
        assert_int_equal(told + (uint32_t)(pmu->read(2) - MKPERF_COUNT_PERIOD), counted);
    }
    assert_true(counted > UINT64_C(1) << 35);
    assert_int_equal(model.misuse(), 0);
}

enum { HARNESS_BINS = 64, HARNESS_DRAWS = 64000 };

/*
 * The jitter of the policy as the hook programs it into the registers: every interval within its
 * range, the mean within four standard errors of the period less 1/2, and uniform by chi-square (63
 * degrees of freedom: 117 has p = 0.00005). Each sample weighs the interval that it ends.
 */
static void harness_jitter(void **state)
{
    static const uint32_t periods[] = {1000, 65536, 1000000, MKPERF_MAX_PERIOD};
    static struct mkperf_capture_state hook;
    const struct mkperf_pmu *pmu = model.pmu;

    (void)state;
    for (unsigned k = 0; k < sizeof periods / sizeof *periods; k++) {
        uint32_t period = periods[k], mask = mkperf_jitter_mask(period);
        uint32_t least = period - (mask + 1) / 2, interval = period;
        unsigned bin[HARNESS_BINS] = {0};
        double sum = 0, chi = 0;

        memset(&hook, 0, sizeof hook);
        harness_ticks = 12345 + k;
        model.reset(state);
        assert_null(pmu->init());
        assert_true(pmu->program(2, model.good[0], true, false));
        harness_publish(period, mask);
        pmu->arm(2, period);
        pmu->start(1 << 2);
        for (unsigned i = 0; i < HARNESS_DRAWS; i++) {
            uint32_t late = i % 50;
            model.run(2, interval + late); /* the interrupt comes late */
            mkperf_capture(&harness_descriptor, &hook);
            assert_int_equal(harness_weight(), interval);
            model.run(2, 0 - model.get(2) - 1); /* to one before the overflow */
            assert_int_equal(pmu->overflow(), 0);
            interval = hook.armed[2];
            assert_in_range(interval, least, least + mask);
            sum += interval;
            bin[(uint64_t)(interval - least) * HARNESS_BINS / ((uint64_t)mask + 1)]++;
            model.set(2, 0 - interval);
        }
        double error = (mask + 1) / sqrt(12.0 * HARNESS_DRAWS);
        assert_true(fabs(sum / HARNESS_DRAWS - (period - 0.5)) < 4 * error);
        for (unsigned i = 0; i < HARNESS_BINS; i++) {
            double expected = (double)HARNESS_DRAWS / HARNESS_BINS, off = bin[i] - expected;
            chi += off * off / expected;
        }
        assert_true(chi < 117 && chi > 20);
    }
    assert_int_equal(model.misuse(), 0);
}

static void harness_refusals(void **state)
{
    const struct mkperf_pmu *pmu = model.pmu;

    (void)state;
    assert_null(pmu->init());
    assert_true(pmu->supported(model.good[0]) && pmu->supported(model.good[1]));
    assert_false(pmu->supported(model.bad));
    assert_false(pmu->program(0, model.bad, true, false));
    assert_false(pmu->program(0, model.good[0], false, false));
    assert_false(pmu->program(model.counters, model.good[0], true, false));
    assert_false(pmu->program(31, model.good[0], true, false));
    assert_true(pmu->program(0, model.good[0], true, false)); /* and nothing stands in its way */
    for (const struct mkperf_pmu_event *e = pmu->events; e->name != NULL; e++) {
        assert_true(strlen(e->name) < 32);
        assert_true(strlen(e->description) < 64 && strlen(e->description) > 5);
        assert_true(e->rate == MKPERF_RATE_BUSY || e->rate == MKPERF_RATE_RARE);
    }
    assert_int_equal(model.misuse(), 0);
}

static int harness_reset(void **state)
{
    return model.reset(state);
}

#define HARNESS_TESTS                                            \
    cmocka_unit_test_setup(harness_order, harness_reset),        \
        cmocka_unit_test_setup(harness_modes, harness_reset),    \
        cmocka_unit_test_setup(harness_overflow, harness_reset), \
        cmocka_unit_test_setup(harness_wrap, harness_reset),     \
        cmocka_unit_test_setup(harness_jitter, harness_reset),   \
        cmocka_unit_test_setup(harness_refusals, harness_reset)

#endif
