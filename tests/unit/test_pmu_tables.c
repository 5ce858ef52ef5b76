/* SPDX-License-Identifier: BSD-2-Clause */
/* The event tables of CPUs, and names of -e that only a table knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pd/pmu/pmu.h"
#include "pmu/events.h"

static uint32_t code_of(const char *cpu, const char *name)
{
    const struct mkperf_pmu_table_event *e = mkperf_pmu_table_find(mkperf_pmu_table(cpu), name);

    return e != NULL ? e->code : UINT32_MAX;
}

/* Every CPU has the events that PMUv3 demands, and no name or number twice. */
static void test_all_tables(void **state)
{
    unsigned n = 0;

    (void)state;
    for (const struct mkperf_pmu_table *t = mkperf_pmu_tables; t->cpu != NULL; t++, n++) {
        for (unsigned i = 0; i < t->n; i++) {
            const struct mkperf_pmu_table_event *e = &t->event[i];
            assert_true(i == 0 || e->code > t->event[i - 1].code);
            assert_ptr_equal(mkperf_pmu_table_find(t, e->name), e);
            assert_true(strlen(e->name) < 32 && strlen(e->description) > 5);
        }
        assert_int_equal(code_of(t->cpu, "cpu_cycles"), 0x11);
        assert_int_equal(code_of(t->cpu, "inst_retired"), 0x08);
        assert_int_equal(code_of(t->cpu, "l1d_cache_refill"), 0x03);
    }
    assert_int_equal(n, 5);
}

/* Numbers of the CPUs' manuals. */
static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(code_of("Cortex-A53", "ext_mem_req"), 0xc0);
    assert_int_equal(code_of("cortex-a53", "BR_COND_MISPRED"), 0xcc);
    assert_int_equal(code_of("Cortex-A53", "l1d_cache_rd"), UINT32_MAX);
    assert_int_equal(code_of("Cortex-A55", "stall_backend_st_tlb"), 0xec);
    assert_int_equal(code_of("Cortex-A57", "exc_svc"), 0x82);
    assert_int_equal(code_of("Cortex-A72", "l2d_cache_inval"), 0x58);
    assert_int_equal(code_of("Cortex-A72", "ld_retired"), UINT32_MAX);
    assert_int_equal(code_of("Cortex-A76", "l3d_cache_rd"), 0xa0);
    assert_int_equal(code_of("Cortex-A76", "ll_cache_miss_rd"), 0x37);
    assert_null(mkperf_pmu_table("Cortex-M4"));
    assert_null(mkperf_pmu_table_find(NULL, "cycles"));
}

/* Where the target's own table has the name, too, both say the same number. */
static void test_agree_with_target(void **state)
{
    unsigned both = 0;

    (void)state;
    for (const struct mkperf_pmu_event *e = mkperf_armv8_events; e->name != NULL; e++) {
        uint32_t code = code_of("Cortex-A55", e->name);
        if (code != UINT32_MAX) {
            assert_int_equal(code, e->code);
            both++;
        }
    }
    assert_true(both > 40);
}

static void test_resolve(void **state)
{
    mkperf_Configure c = mkperf_Configure_init_zero;
    struct mkperf_error e;

    (void)state;
    assert_int_equal(mkperf_events_parse("ext_mem_req:u,cycles,r1b,nothing", &c, &e), MKPERF_OK);
    mkperf_events_resolve(&c, "Cortex-A53");
    assert_int_equal(c.events[0].raw, 0xc0);
    assert_string_equal(c.events[0].name, "ext_mem_req");
    assert_int_equal(c.events[1].raw, 0); /* perf's name: the target's business */
    assert_int_equal(c.events[2].raw, 0x1b);
    assert_int_equal(c.events[3].raw, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_tables),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_agree_with_target),
        cmocka_unit_test(test_resolve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
