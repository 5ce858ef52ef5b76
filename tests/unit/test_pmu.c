/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PMUv3: the kernel's file of register accesses (kernel/arch/armv8_pmuv3.h) under the real hook,
 * the back-end's selectors, and access from user mode, against one model of the registers.
 */
#include "pmu/events.h"
#include "stat/stat.h" /* first: the model has short names */

#include "pmu_model.h"

/* ---- the kernel's file ---------------------------------------------------------------------- */

/* Only the kernel uses the PMU, and nothing of event counters is on; the cycle counter is the
 * kernel's. */
static void test_boot(void **state)
{
    (void)state;
    assert_int_equal(m.userenr, 0);
    assert_int_equal(m.enabled, UINT64_C(0x80000000));
    assert_int_equal(m.overflow, UINT64_C(0x80000000));
    assert_int_equal(m.interrupts, UINT64_C(0x80000000));
    request(0);
    assert_int_equal(d.answer.counters, 0x3f);
    assert_int_equal(d.answer.pmu[0], m.midr);
    assert_int_equal(d.answer.pmu[1], m.pmcr);
    assert_int_equal(d.answer.pmu[2], m.ceid[0]);
    assert_int_equal(d.answer.pmu[3], m.ceid[1]);
}

/* Counters of the session count and interrupt, and no others; a session ends as it began. */
static void test_session(void **state)
{
    (void)state;
    for (unsigned n = 0; n < COUNTERS; n++) {
        uint32_t bit = UINT32_C(1) << n;
        assert_int_equal(apply_one(n, pmu->select(m_id, CYCLES, MKPERF_PMU_THREADS), 5000 + n, 0),
                         0);
        assert_int_equal(m.enabled, UINT64_C(0x80000000) | bit);
        assert_int_equal(m.interrupts, UINT64_C(0x80000000) | bit);
        assert_int_equal(m.pmcr, UINT64_C(0x41033041)); /* E, and all else as it was */
        assert_int_equal(m.type[n], UINT32_C(1) << 31 | CYCLES);
        count_events(n, 4999 + n);
        assert_int_equal(interrupt(), 0);
        count_events(n, 3);
        assert_int_equal(interrupt(), 5000 + n);
        assert_int_equal((uint32_t)m.value[n], UINT32_C(0) - 4998 - n);
        assert_int_equal(m.overflow, UINT64_C(0x80000000));
        request(MKPERF_REQUEST_WITHDRAW);
        assert_int_equal(m.enabled, UINT64_C(0x80000000));
        assert_int_equal(m.interrupts, UINT64_C(0x80000000));
        assert_int_equal(d.answer.disturbed, 0);
    }
    assert_int_equal(apply_one(COUNTERS, CYCLES, 5000, 0), MKPERF_REQUEST_BAD_COUNTERS);
}

static void test_thirty_one_counters(void **state)
{
    (void)state;
    m.pmcr |= UINT64_C(0x1f) << 11;
    request(0);
    assert_int_equal(d.answer.counters, 0x7fffffff);
    for (unsigned n = 0; n < 31; n++) {
        assert_int_equal(apply_one(n, pmu->select(m_id, INSTRUCTIONS, MKPERF_PMU_ALL), 5000, 0), 0);
        count_events(n, 5000);
        assert_int_equal(interrupt(), 5000);
        assert_int_equal(m.type[n] & 0xffff, INSTRUCTIONS);
    }
}

/* Of a selector the kernel takes over the event and what it counts in. It refuses other bits, which reach no register. */
static void test_select_bits(void **state)
{
    (void)state;
    m.type_mask = UINT64_MAX;
    assert_int_equal(apply_one(0, MKPERF_SELECT_BITS, 5000, 0), 0);
    assert_int_equal(apply_one(0, UINT32_MAX, 5000, 0), MKPERF_REQUEST_BAD_EVENT);
    assert_int_equal(m.type[0], MKPERF_SELECT_BITS);
    m.type_mask = UINT64_C(0xfc0003ff); /* Armv8.0: ten bits of event number */
    assert_int_equal(apply_one(0, pmu->select(m_id, 0x3c0, MKPERF_PMU_THREADS), 5000, 0), 0);
    assert_int_equal(apply_one(0, pmu->select(m_id, 0x8c0, MKPERF_PMU_THREADS), 5000, 0),
                     MKPERF_REQUEST_BAD_EVENT); /* would count something else */
    assert_int_equal(m.enabled, UINT64_C(0x80000000));
}

/* What firmware or a debugger changes is seen and put right. */
static void test_disturbed(void **state)
{
    (void)state;
    apply_one(2, pmu->select(m_id, CYCLES, MKPERF_PMU_THREADS), 5000, 0);
    m.enabled = 0;
    request(0);
    assert_int_equal(d.answer.disturbed, 1);
    assert_int_equal(m.enabled, 1 << 2);
    m.interrupts = 0;
    m.type[2] = INSTRUCTIONS;
    request(0);
    assert_int_equal(d.answer.disturbed, 2);
    assert_int_equal(m.type[2], UINT32_C(1) << 31 | CYCLES);
    m.pmcr &= ~UINT64_C(1);
    request(0);
    assert_int_equal(d.answer.disturbed, 3);
    count_events(2, 5000);
    assert_int_equal(interrupt(), 5000);
}

/* Counting as the profiler PD does it: overflows of 2^31 that the hook takes, and what is left. */
static void test_wrap(void **state)
{
    uint64_t counted = 0, reported = 0;

    (void)state;
    apply_one(2, pmu->select(m_id, CYCLES, MKPERF_PMU_THREADS), MKPERF_COUNT_PERIOD, 0);
    for (unsigned i = 0; i < 50; i++) {
        uint32_t events = 1000000007 + i;
        count_events(2, events);
        counted += events;
        reported += interrupt();
        request(MKPERF_REQUEST_SNAPSHOT);
        assert_int_equal(reported + (uint32_t)(d.answer.counter[2].value - MKPERF_COUNT_PERIOD),
                         counted);
    }
    assert_true(counted > UINT64_C(1) << 35);
    assert_int_equal(d.answer.disturbed, 0);
}

enum { BINS = 64, DRAWS = 64000 };

/*
 * The jitter of the policy as the hook programs it into the registers: every interval within its
 * range, the mean within four standard errors of the period less 1/2, and uniform by chi-square (63
 * degrees of freedom: 117 has p = 0.00005). Each sample weighs the interval that it ends.
 */
static void test_jitter(void **state)
{
    static const uint32_t periods[] = {2000, 65536, 1000000, MKPERF_MAX_PERIOD};

    for (unsigned k = 0; k < sizeof periods / sizeof *periods; k++) {
        uint32_t period = periods[k], mask = mkperf_jitter_mask(period);
        uint32_t least = period - (mask + 1) / 2, interval = period;
        unsigned bin[BINS] = {0};
        double sum = 0, chi = 0;

        reset(state);
        ticks = 12345 + k;
        assert_int_equal(apply_one(2, pmu->select(m_id, CYCLES, MKPERF_PMU_THREADS), period, mask),
                         0);
        for (unsigned i = 0; i < DRAWS; i++) {
            count_events(2, interval + i % 50); /* the interrupt arrives late */
            ticks += interval / 16;
            assert_int_equal(interrupt(), interval);
            count_events(2, 0 - (uint32_t)m.value[2] - 1); /* to one before the overflow */
            assert_int_equal(m.overflow & 0x3f, 0);
            interval = hook.session.counter[2].interval;
            assert_in_range(interval, least, least + mask);
            sum += interval;
            bin[(uint64_t)(interval - least) * BINS / ((uint64_t)mask + 1)]++;
            m.value[2] = 0 - interval;
        }
        double error = (mask + 1) / sqrt(12.0 * DRAWS);
        assert_true(fabs(sum / DRAWS - (period - 0.5)) < 4 * error);
        for (unsigned i = 0; i < BINS; i++) {
            double expected = (double)DRAWS / BINS, off = bin[i] - expected;
            chi += off * off / expected;
        }
        assert_true(chi < 117 && chi > 20);
    }
    assert_int_equal(m.misuse, 0);
}

/* ---- the back-end --------------------------------------------------------------------------- */

static void test_modes(void **state)
{
    (void)state;
    m.type[0] = pmu->select(m_id, CYCLES, MKPERF_PMU_THREADS);
    m.type[1] = pmu->select(m_id, CYCLES, MKPERF_PMU_KERNEL);
    m.type[2] = pmu->select(m_id, INSTRUCTIONS, MKPERF_PMU_ALL);
    for (unsigned secure = 0; secure < 2; secure++) {
        assert_true(counts(0, 0, secure));
        assert_false(counts(0, 1, secure));
        assert_false(counts(1, 0, secure));
        assert_true(counts(1, 1, secure));
        assert_true(counts(2, 0, secure));
        assert_true(counts(2, 1, secure));
    }
    assert_false(counts(0, 2, false)); /* seL4 as a hypervisor runs there */
    assert_true(counts(1, 2, false));
    assert_true(counts(2, 2, false));
    for (unsigned i = 0; i < 3; i++) {
        assert_false(counts(i, 3, true)); /* firmware */
        assert_int_equal(m.type[i] & ~(uint64_t)MKPERF_SELECT_BITS, 0);
    }
}

/* A kernel at EL2 has guests at EL1 and EL0. */
static void test_modes_of_guests(void **state)
{
    static const struct {
        unsigned modes;
        bool at[4]; /* by exception level: whether the event counts there */
    } expect[] = {
        {MKPERF_PMU_USER, {true, false, false, false}},
        {MKPERF_PMU_GUEST, {false, true, false, false}},
        {MKPERF_PMU_THREADS, {true, true, false, false}},
        {MKPERF_PMU_KERNEL, {false, false, true, false}},
        {MKPERF_PMU_ALL, {true, true, true, false}},
    };
    struct mkperf_cpu cpu = {.pmu = pmu};

    (void)state;
    memcpy(cpu.id, m_id, sizeof cpu.id);
    assert_false(mkperf_cpu_guests(&cpu));
    cpu.id[1] |= UINT64_C(1) << 32;
    assert_true(mkperf_cpu_guests(&cpu));
    for (unsigned i = 0; i < sizeof expect / sizeof *expect; i++) {
        m.type[0] = pmu->select(cpu.id, CYCLES, expect[i].modes);
        for (unsigned level = 0; level < 4; level++) {
            assert_int_equal(counts(0, level, level == 3), expect[i].at[level]);
        }
    }
}

static void test_supported(void **state)
{
    (void)state;
    request(0);
    const uint64_t *id = d.answer.pmu;
    for (unsigned code = 0; code < 0x40; code++) {
        bool there = code == 0x00 || code == 0x03 || code == 0x08 || code == 0x11 || code == 0x21;
        assert_int_equal(pmu->supported(id, code), there);
    }
    for (unsigned code = 0x4000; code < 0x4040; code++) {
        assert_int_equal(pmu->supported(id, code), code == 0x4005 || code == 0x4024);
    }
    assert_true(pmu->supported(id, 0xc0)); /* the implementer's own: the CPU does not say */
    assert_true(pmu->supported(id, 0xffff));
    assert_false(pmu->supported(id, 0x10000));
    assert_false(pmu->supported(id, UINT32_MAX));
}

static void test_cpu(void **state)
{
    static const struct {
        uint64_t midr, pmcr;
        const char *name;
    } cpus[] = {
        {0x410fd034, 0x41033000, "Cortex-A53"},
        {0x412fd050, 0x41452000, "Cortex-A55"},
        {0x414fd0c1, 0x410c3000, "Neoverse-N1"},
        {0x420f5160, 0x42003000, "implementer 0x42 part 0x516"},
        {0, 0x41033000, "Cortex-A53"},
        {0, 0x41003000, "implementer 0x41 PMU 0x0"},
        {0, 0x42073000, "implementer 0x42 PMU 0x7"},
        {0, 0x3000, ""},
    };
    char name[32];

    (void)state;
    for (unsigned i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        uint64_t id[4] = {cpus[i].midr, cpus[i].pmcr};
        pmu->cpu(id, name, sizeof name);
        assert_string_equal(name, cpus[i].name);
    }
}

/* PMCEID0_EL0 of QEMU 7.2 with -icount, and of a Cortex-A53 (its manual, 12.4). */
static void test_machine_wide(void **state)
{
    const uint64_t qemu[4] = {0x410fd034, 0x41033000, 0x20101, 0};
    const uint64_t a53[4] = {0x410fd034, 0x41033000, 0x7fff0f3f, 0};

    (void)state;
    assert_true(pmu->machine_wide(qemu, 0x08));
    assert_false(pmu->machine_wide(qemu, 0x11)); /* time */
    assert_false(pmu->machine_wide(a53, 0x08));
}

static uint32_t code_of(const char *name)
{
    for (const struct mkperf_pmu_event *e = pmu->events; e->name != NULL; e++) {
        if (strcmp(e->name, name) == 0) {
            return e->code;
        }
    }
    fail_msg("no event %s", name);
    return 0;
}

static void test_event_table(void **state)
{
    (void)state;
    for (const struct mkperf_pmu_event *e = pmu->events; e->name != NULL; e++) {
        assert_true(strlen(e->name) < 32);
        assert_true(strlen(e->description) < 64 && strlen(e->description) > 5);
        assert_true(e->code < 0x40);
        assert_true(e->rate == MKPERF_RATE_BUSY || e->rate == MKPERF_RATE_RARE);
    }
    /* Linux, drivers/perf/arm_pmuv3.c */
    assert_int_equal(code_of("cycles"), 0x11);
    assert_int_equal(code_of("instructions"), 0x08);
    assert_int_equal(code_of("branches"), 0x0c);
    assert_int_equal(code_of("branch-misses"), 0x10);
    assert_int_equal(code_of("cache-references"), 0x04);
    assert_int_equal(code_of("cache-misses"), 0x03);
    assert_int_equal(code_of("L1-dcache-loads"), code_of("l1d_cache"));
    assert_int_equal(code_of("L1-icache-load-misses"), code_of("l1i_cache_refill"));
    assert_int_equal(code_of("dTLB-load-misses"), code_of("l1d_tlb_refill"));
    assert_int_equal(code_of("iTLB-loads"), code_of("l1i_tlb"));
    assert_int_equal(code_of("LLC-load-misses"), code_of("ll_cache_miss_rd"));
}

/* ---- from user mode ------------------------------------------------------------------------- */

/* With the hook, and with a kernel that does not export the PMU: reported, and nothing changed. */
static void test_user_closed(void **state)
{
    struct mkperf_cpu cpu = {.pmu = pmu};

    (void)state;
    assert_non_null(strstr(pmu->user->find(&cpu), "PMUSERENR_EL0"));
    assert_int_equal(m.misuse, 0);
    m.userenr = 1;
    m.pmcr &= ~(UINT64_C(0x1f) << 11);
    assert_non_null(strstr(pmu->user->find(&cpu), "no event counters"));
}

static void test_user(void **state)
{
    struct mkperf_cpu cpu = {.pmu = pmu};

    (void)state;
    m.userenr = 1;
    assert_null(pmu->user->find(&cpu));
    assert_int_equal(cpu.counters, COUNTERS);
    assert_true(mkperf_cpu_supports(&cpu, CYCLES));
    assert_false(pmu->user->program(COUNTERS, pmu->select(m_id, CYCLES, MKPERF_PMU_ALL)));
    for (unsigned n = 0; n < 2; n++) {
        assert_true(pmu->user->program(
            n, pmu->select(m_id, CYCLES, n == 0 ? MKPERF_PMU_ALL : MKPERF_PMU_THREADS)));
    }
    pmu->user->start(3);
    assert_int_equal(m.enabled, UINT64_C(0x80000003));
    assert_int_equal(m.pmcr & 1, 1);
    count_events(0, 77);
    count_events(1, UINT32_MAX);
    count_events(1, 2);
    pmu->user->stop(3);
    assert_int_equal(m.enabled, UINT64_C(0x80000000));
    assert_int_equal(m.overflow, UINT64_C(0x80000000)); /* only the cycle counter has overflowed */
    assert_int_equal(pmu->user->read(0), 77);
    assert_int_equal(pmu->user->read(1), 1);
    m.type_mask = UINT64_C(0xfc0003ff);
    assert_false(pmu->user->program(0, pmu->select(m_id, 0x8c0, MKPERF_PMU_THREADS)));
    assert_int_equal(m.misuse, 0);
    assert_false(m.cycle_touched);
}

/* An event of the CPU happens n times in user mode: the counters that select it count. */
static void happens(uint32_t code, uint32_t n)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        if ((m.type[i] & 0xffff) == code && counts(i, 0, false)) {
            count_events(i, n);
        }
    }
    uint32_t hit = mkperf_pmu_overflow() & hook.mask;
    if (hit != 0) {
        mkperf_capture(&hook, hit, mkperf_port_time());
    }
}

/* Each figure of each CPU's table: the two events are selected, counted past 2^32, and divided. */
static void test_figures(void **state)
{
    static struct stat_reading reading;
    unsigned groups = 0;

    for (const struct mkperf_pmu_table *t = mkperf_pmu_tables; t->cpu != NULL; t++) {
        for (const struct mkperf_pmu_metric *f = t->metric; f->unit != NULL; f++) {
            const uint32_t code[] = {f->event_code, f->of_code};
            const uint64_t times[] = {UINT64_C(3) << 31 | (groups + 7), UINT64_C(5) << 31 | 11};
            mkperf_Session session = mkperf_Session_init_zero;
            const struct stat_style style = {.session = &session, .cpu = t->cpu};
            double figure;

            if (f->group[0] == '\0') {
                continue; /* printed if both are counted, and not chosen by -M */
            }
            reset(state);
            memset(&reading, 0, sizeof reading);
            d.want.counter_mask = d.want.enable_mask = d.want.read_mask = 3;
            for (unsigned i = 0; i < 2; i++) {
                d.want.counter[i] = (struct mkperf_request_counter){
                    .select = pmu->select(m_id, code[i], MKPERF_PMU_THREADS),
                    .left = MKPERF_COUNT_PERIOD,
                    .interval = MKPERF_COUNT_PERIOD,
                    .period = MKPERF_COUNT_PERIOD,
                };
                session.events[i].code = code[i];
                session.events[i].group = 1;
                session.events[i].user_counter = i + 1;
            }
            assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
            for (unsigned i = 0; i < 2; i++) {
                for (uint64_t left = times[i]; left != 0;) {
                    uint32_t n = left > UINT32_C(1) << 30 ? UINT32_C(1) << 30 : (uint32_t)left;
                    happens(code[i], n);
                    left -= n;
                }
                happens(0x7fff, 1000); /* another event happens */
            }
            assert_int_equal(request(MKPERF_REQUEST_SNAPSHOT), MKPERF_REQUEST_OK);
            session.events_count = reading.events = 2;
            for (unsigned i = 0; i < 2; i++) {
                const struct mkperf_answer_counter *a = &d.answer.counter[i];
                uint64_t count = (uint32_t)(a->value - MKPERF_COUNT_PERIOD) - a->read;
                assert_int_equal(count, times[i]);
                reading.row[0].value[i].user = (double)count;
            }
            assert_string_equal(stat_derived(&reading, &reading.row[0], &style, 0, &figure),
                                f->unit);
            assert_true(figure == f->factor * (double)times[0] / (double)times[1]);
            groups++;
        }
    }
    assert_true(groups > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_boot, reset),
        cmocka_unit_test_setup(test_session, reset),
        cmocka_unit_test_setup(test_thirty_one_counters, reset),
        cmocka_unit_test_setup(test_select_bits, reset),
        cmocka_unit_test_setup(test_disturbed, reset),
        cmocka_unit_test_setup(test_wrap, reset),
        cmocka_unit_test_setup(test_jitter, reset),
        cmocka_unit_test_setup(test_modes, reset),
        cmocka_unit_test_setup(test_modes_of_guests, reset),
        cmocka_unit_test_setup(test_supported, reset),
        cmocka_unit_test_setup(test_cpu, reset),
        cmocka_unit_test_setup(test_machine_wide, reset),
        cmocka_unit_test_setup(test_event_table, reset),
        cmocka_unit_test_setup(test_user_closed, reset),
        cmocka_unit_test_setup(test_user, reset),
        cmocka_unit_test_setup(test_figures, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
