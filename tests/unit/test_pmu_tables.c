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
    assert_int_equal(n, 6);
}

/* Numbers of the CPUs' manuals. */
static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(code_of("Cortex-A35", "inst_spec"), 0x1b);
    assert_int_equal(code_of("Cortex-A35", "crypto_spec"), 0x77);
    assert_int_equal(code_of("Cortex-A35", "icache_throttle"), UINT32_MAX);
    assert_int_equal(code_of("Cortex-A35", "ld_dep_stall"), 0xe7);
    assert_int_equal(code_of("Cortex-A53", "ext_mem_req"), 0xc0);
    assert_int_equal(code_of("cortex-a53", "BR_COND_MISPRED"), 0xcc);
    assert_int_equal(code_of("Cortex-A53", "l1d_cache_rd"), UINT32_MAX);
    assert_int_equal(code_of("Cortex-A55", "stall_backend_st_tlb"), 0xec);
    assert_int_equal(code_of("Cortex-A57", "exc_svc"), 0x82);
    assert_int_equal(code_of("Cortex-A72", "l2d_cache_inval"), 0x58);
    assert_int_equal(code_of("Cortex-A72", "ld_retired"), UINT32_MAX);
    assert_int_equal(code_of("Cortex-A76", "l3d_cache_rd"), 0xa0);
    assert_int_equal(code_of("Cortex-A76", "ll_cache_miss_rd"), 0x37);
    assert_null(mkperf_pmu_table("Cortex-M4")->cpu);
    assert_null(mkperf_pmu_table_find(mkperf_pmu_table("Cortex-M4"), "cycles"));
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

/* Groups of figures: of the CPU's events, each figure's two at the same times; what a CPU lacks is named. */
static void test_metrics(void **state)
{
    static const char *const wrong[] = {"", "ipc,", "nothing", "ipc,,bus", "IPC"};
    mkperf_Configure c = mkperf_Configure_init_zero;
    struct mkperf_error e;
    char lacks[256];

    (void)state;
    assert_int_equal(mkperf_pmu_metric_groups("ipc,stall,cache", "Cortex-A72", &c, lacks, 256, &e),
                     MKPERF_OK);
    assert_string_equal(lacks, "Cortex-A72 has no events for stall");
    assert_int_equal(c.events_count, 8); /* ipc, and three caches */
    for (unsigned i = 0; i < c.events_count; i += 2) {
        assert_int_not_equal(c.events[i].group, 0);
        assert_int_equal(c.events[i].group, c.events[i + 1].group);
        assert_true(i == 0 || c.events[i].group != c.events[i - 1].group);
    }
    assert_string_equal(c.events[0].name, "inst_retired");
    assert_string_equal(c.events[7].name, "l2d_cache");
    c = (mkperf_Configure)mkperf_Configure_init_zero;
    assert_int_equal(mkperf_pmu_metric_groups("stall", "Cortex-A53", &c, lacks, 256, &e),
                     MKPERF_OK);
    assert_string_equal(c.events[0].name, "ic_dep_stall");
    c = (mkperf_Configure)mkperf_Configure_init_zero;
    assert_int_equal(
        mkperf_pmu_metric_groups("ipc,cache,branch,stall,bus", "Cortex-A35", &c, lacks, 256, &e),
        MKPERF_OK);
    assert_string_equal(lacks, "a session has at most 16 events, so this one is without bus");
    assert_int_equal(c.events_count, 2 + 6 + 2 + 6);
    c = (mkperf_Configure)mkperf_Configure_init_zero;
    assert_int_equal(mkperf_pmu_metric_groups("bus", "Cortex-A35", &c, lacks, 256, &e), MKPERF_OK);
    assert_string_equal(lacks, "");
    assert_int_equal(c.events_count, 2);
    c = (mkperf_Configure)mkperf_Configure_init_zero;
    assert_int_equal(mkperf_pmu_metric_groups("stall,branch", "Cortex-A76", &c, lacks, 256, &e),
                     MKPERF_OK);
    assert_string_equal(c.events[0].name, "stall_frontend");
    assert_string_equal(c.events[4].name, "br_mis_pred_retired");
    c = (mkperf_Configure)mkperf_Configure_init_zero;
    assert_int_equal(mkperf_pmu_metric_groups("stall", "Cortex-A57", &c, lacks, 256, &e),
                     MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "Cortex-A57 has no events for stall"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(mkperf_pmu_metric_groups(wrong[i], "Cortex-A53", &c, lacks, 256, &e),
                         MKPERF_ERR_USAGE);
    }
    for (const struct mkperf_pmu_table *t = mkperf_pmu_tables; t->cpu != NULL; t++) {
        assert_ptr_equal(mkperf_pmu_table(t->cpu), t);
        for (const struct mkperf_pmu_metric *m = t->metric; m->unit != NULL; m++) {
            assert_int_equal(code_of(t->cpu, m->event), m->event_code);
            assert_int_equal(code_of(t->cpu, m->of), m->of_code);
        }
    }
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
        cmocka_unit_test(test_all_tables),        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_agree_with_target), cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_resolve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
