/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether samples and scheduling events agree: recordings of a simulated schedule, true ones and spoiled ones. All
 * random numbers are those of a fixed seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/figures.h"
#include "model/relays.h"

enum { WORK, SERVER, MINE, IDLE, PDS, CORES = 2, PERIOD = 1 << 19, SAMPLES = 4000 };

static struct mkperf_totals seen;
static unsigned passed, profilers;

static enum mkperf_status count_items(void *self, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    (void)self, (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_PD:
        profilers += item->pd->profiler;
        break;
    case MKPERF_ITEM_SAMPLE:
    case MKPERF_ITEM_SCHED:
        passed++;
        break;
    case MKPERF_ITEM_END:
        seen = *item->totals;
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

/* A recording. A core's threads take turns; a sample is taken where its jittered interval ends. */
struct recording {
    uint64_t seed;
    struct mkperf_session session;
    struct mkperf_totals totals;
    uint64_t turn_ns[CORES][PDS]; /* mean length of a turn; 0: it does not run */
    bool idle_stands;             /* cycles do not count in idle */
    /* per cent of WORK's samples on the last core that are SERVER's instead */
    unsigned moved_percent;
    /* per cent of WORK's samples that are lost; the totals have their number if they are counted */
    unsigned dropped_percent;
    bool counted;
    bool skip[PDS];            /* PDs that are not sampled, as with --pd */
    uint64_t gap_from, gap_to; /* events of WORK's turns are missing there */
};

static uint64_t random_below(struct recording *r, uint64_t n)
{
    r->seed = r->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (r->seed >> 33) % n;
}

static void sample(struct recording *r, const struct mkperf_sink *sink, uint64_t now, uint32_t core,
                   uint32_t pd, uint64_t period)
{
    static const struct mkperf_chain none = {.n = 0};
    struct mkperf_error e;

    if (pd == WORK && core + 1 == r->session.cores && random_below(r, 100) < r->moved_percent) {
        pd = SERVER;
    }
    if (pd == WORK && random_below(r, 100) < r->dropped_percent) {
        r->totals.lost[MKPERF_LOST_RING] += r->counted;
        return;
    }
    if (!r->skip[pd]) {
        const struct mkperf_sample s = {
            .time_ns = now, .period = period, .pd = pd, .core = core, .callers = &none};
        assert_int_equal(mkperf_sink_sample(sink, &s, &e), MKPERF_OK);
        r->totals.samples++;
    }
}

static void switched(const struct recording *r, const struct mkperf_sink *sink, uint64_t now,
                     uint32_t core, uint32_t to)
{
    struct mkperf_sched s = {.time_ns = now, .core = core, .from = MKPERF_SCHED_NOBODY, .to = to};
    struct mkperf_error e;

    if (now > r->gap_from && now < r->gap_to) {
        return;
    }
    assert_int_equal(mkperf_sink_sched(sink, &s, &e), MKPERF_OK);
}

/* Plays a core until SAMPLES intervals are over. MINE runs right after a sample, for less than the shortest interval. */
static void play(struct recording *r, const struct mkperf_sink *sink, uint32_t core)
{
    uint64_t now = 1000000000, left = PERIOD, period = PERIOD;
    uint32_t pd = WORK, before = WORK;
    uint64_t turn = r->turn_ns[core][WORK];
    bool gap = false;

    switched(r, sink, now, core, pd);
    for (unsigned n = 0; n < SAMPLES;) {
        bool counts = pd != IDLE || !r->idle_stands;
        uint64_t step = counts && left < turn ? left : turn;

        now += step;
        turn -= step;
        left -= counts ? step : 0;
        if (left == 0) {
            sample(r, sink, now, core, pd, period);
            period = left = PERIOD / 2 + random_below(r, PERIOD);
            if (n++ % 4 == 0 && r->turn_ns[core][MINE] != 0 && pd != MINE) {
                before = pd;
                pd = MINE;
                turn = r->turn_ns[core][MINE];
                switched(r, sink, now, core, pd);
            }
        }
        if (turn == 0) {
            do {
                pd = pd == MINE ? before : pd == WORK ? SERVER : pd == SERVER ? IDLE : WORK;
            } while (r->turn_ns[core][pd] == 0);
            turn = 1 + random_below(r, 2 * r->turn_ns[core][pd]);
            if (!gap && r->gap_to != 0 && now >= r->gap_to) {
                const struct mkperf_sched s = {.time_ns = now,
                                               .core = core,
                                               .kind = MKPERF_SCHED_GAP,
                                               .from = MKPERF_SCHED_NOBODY,
                                               .to = MKPERF_SCHED_NOBODY,
                                               .lost = 9,
                                               .since_ns = r->gap_from};
                struct mkperf_error e;
                assert_int_equal(mkperf_sink_sched(sink, &s, &e), MKPERF_OK);
                gap = true;
            }
            switched(r, sink, now, core, pd);
        }
    }
}

static void run(struct recording *r)
{
    static const char *const names[PDS] = {"work", "server", "mine", "idle"};
    struct mkperf_checks *a =
        mkperf_checks_new((struct mkperf_sink){.take = count_items, .splits = true}, NULL, false);
    struct mkperf_sink sink = mkperf_checks_sink(a);
    struct mkperf_error e;

    passed = profilers = 0;
    memset(&seen, 0, sizeof seen);
    assert_int_equal(mkperf_sink_begin(&sink, &r->session, &e), MKPERF_OK);
    for (uint32_t i = 0; i < PDS; i++) {
        const struct mkperf_pd pd = {.id = i,
                                     .name = names[i],
                                     .thread = i == IDLE ? MKPERF_THREAD_IDLE : i,
                                     .profiler = i == MINE};
        assert_int_equal(mkperf_sink_pd(&sink, &pd, &e), MKPERF_OK);
    }
    for (uint32_t core = 0; core < r->session.cores; core++) {
        play(r, &sink, core);
    }
    assert_int_equal(mkperf_sink_end(&sink, &r->totals, &e), MKPERF_OK);
    assert_memory_equal(&seen.agreed, &mkperf_checks_totals(a)->agreed, sizeof seen.agreed);
    assert_true(passed > r->totals.samples && seen.samples == r->totals.samples);
    assert_int_equal(profilers, 1);
    mkperf_checks_free(a);
}

/* WORK has 60 % of each core, SERVER 4 %, idle 36 %; and MINE a tenth, which samples do not show. */
static struct recording ordinary(uint64_t seed)
{
    struct recording r = {
        .seed = seed,
        .session = {
            .cores = 1,
            .sched = true,
            .nevents = 1,
            .event = {{.name = "cycles", .user = true, .kernel = true, .frequency = 2000}}}};

    for (unsigned i = 0; i < CORES; i++) {
        r.turn_ns[i][WORK] = 3000000;
        r.turn_ns[i][SERVER] = 200000;
        r.turn_ns[i][IDLE] = 1800000;
        r.turn_ns[i][MINE] = 200000;
    }
    return r;
}

/* Returns the line of a report's head. */
static const char *line(char *text, size_t n)
{
    FILE *f = fmemopen(text, n, "w");

    text[0] = '\0'; /* fmemopen writes nothing if nothing is printed */
    assert_non_null(f);
    mkperf_figures_print(MKPERF_FIGURE_HEAD, MKPERF_SECTION_SECOND, MKPERF_SECTION_END, &seen, f);
    fclose(f);
    return text;
}

static void agrees(struct recording *r, unsigned shares)
{
    char text[4096];

    run(r);
    if (seen.agreed.contradicted != 0 || seen.agreed.compared != shares) {
        fail_msg("%s", line(text, sizeof text));
    }
    assert_non_null(
        strstr(line(text, sizeof text), "# checked     samples and scheduling events agree"));
}

static void contradicts(struct recording *r, const char *pd, uint32_t core)
{
    char text[4096];

    run(r);
    if (seen.agreed.contradicted == 0 || strcmp(seen.agreed.pd, pd) != 0 ||
        seen.agreed.core != core) {
        fail_msg("%s", line(text, sizeof text));
    }
    assert_non_null(strstr(line(text, sizeof text),
                           "# checked     samples and scheduling events CONTRADICT each other"));
    assert_non_null(strstr(text, pd));
}

static void true_ones(void **state)
{
    double squares = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct recording r = ordinary(seed);
        double off;

        r.session.cores = 1 + seed % 2;
        agrees(&r, r.session.cores * 3U);
        assert_true(seen.agreed.error_ppm > 0 && seen.agreed.off < 1);
        off = ((double)seen.agreed.by_samples_ppm - (double)seen.agreed.by_events_ppm) /
              (double)seen.agreed.error_ppm;
        squares += off * off;
    }
    assert_true(squares / 100 < 6); /* the largest of 3 to 6 differences */
}

/* A tenth of a PD's samples is another's: 6 % of the core's time, and 4 % are its own. */
static void moved(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct recording r = ordinary(seed);

        r.moved_percent = 10;
        contradicts(&r, "server", 0);
        r = ordinary(seed);
        r.moved_percent = 10;
        r.session.cores = 2;
        contradicts(&r, "server", 1);
    }
}

static void without_idle(void **state)
{
    struct recording r = ordinary(7);

    (void)state;
    r.idle_stands = true;
    agrees(&r, 2);
    assert_true(seen.agreed.busy_only);
    r = ordinary(7);
    r.idle_stands = true;
    r.moved_percent = 10;
    contradicts(&r, "server", 0);
}

/* PDs that are not sampled on purpose are not compared; without that purpose they are missing. */
static void selected(void **state)
{
    struct recording r = ordinary(8);

    (void)state;
    r.skip[SERVER] = r.skip[IDLE] = true;
    r.session.selected = true;
    agrees(&r, 1);
    r = ordinary(8);
    r.skip[WORK] = true;
    contradicts(&r, "work", 0);
}

/* Samples that are lost, and counted, may have been anybody's. */
static void lost(void **state)
{
    struct recording r = ordinary(9);

    (void)state;
    r.dropped_percent = 20;
    r.counted = true;
    agrees(&r, 3);
    r = ordinary(9);
    r.dropped_percent = 20;
    contradicts(&r, "work", 0);
    r = ordinary(9);
    r.dropped_percent = 60;
    r.counted = true;
    run(&r);
    assert_int_equal(seen.agreed.compared, 0);
    assert_string_equal(seen.agreed.not, "too much is lost");
}

static void gap(void **state)
{
    struct recording r = ordinary(10);

    (void)state;
    r.gap_from = 1100000000;
    r.gap_to = 1300000000;
    agrees(&r, 3);
}

static void not_compared(void **state)
{
    struct recording r = ordinary(11);
    char text[4096];

    (void)state;
    r.session.event[0].kernel = false;
    run(&r);
    assert_int_equal(seen.agreed.compared, 0);
    assert_non_null(
        strstr(line(text, sizeof text), "were not compared: cycles were not sampled in"));
    r = ordinary(11);
    strcpy(r.session.event[0].name, "instructions");
    run(&r);
    assert_int_equal(seen.agreed.compared, 0);
    r = ordinary(11);
    r.session.sched = false;
    run(&r);
    assert_string_equal(line(text, sizeof text), "");
}

/* The other figures: what mkperf's own PDs took, and that no other PD was sampled. */
static void own_and_idle(void **state)
{
    struct recording r = ordinary(12);
    char text[4096];
    double own;

    (void)state;
    run(&r);
    own = (double)seen.own_ns /
          (double)seen.known_ns; /* at most 200 us of each 4 mean intervals of 524 us */
    assert_true(own > 0.05 && own < 0.1);
    assert_int_equal(seen.only_idle, 0);
    assert_non_null(strstr(line(text, sizeof text), "# own PDs     mkperf's PDs ran "));
    r = ordinary(12);
    r.skip[WORK] = r.skip[SERVER] = true;
    run(&r);
    assert_int_equal(seen.only_idle, 0); /* by events, others ran */
    r = ordinary(12);
    r.skip[WORK] = r.skip[SERVER] = true;
    r.session.sched = false;
    run(&r);
    assert_int_equal(seen.only_idle, r.totals.samples);
    assert_true(mkperf_first(MKPERF_FIRST_NONE_RAN, &seen, text));
    assert_non_null(strstr(text, "only idle and mkperf's PDs ran"));
    r = ordinary(12);
    r.skip[WORK] = r.skip[SERVER] = true;
    r.session.selected = true;
    run(&r);
    assert_int_equal(seen.only_idle, 0);
}

static void faulted(void **state)
{
    struct mkperf_checks *a =
        mkperf_checks_new((struct mkperf_sink){.take = count_items, .splits = true}, NULL, false);
    const struct mkperf_sink sink = mkperf_checks_sink(a);
    const struct mkperf_session session = {.cores = 1, .sched = true};
    const struct mkperf_pd pd = {.name = "worker"};
    struct mkperf_sched s = {.time_ns = 5, .reason = MKPERF_STOPPED_FAULTED};
    struct mkperf_totals totals = {.samples = 0};
    struct mkperf_error e;
    char text[4096];

    (void)state;
    assert_int_equal(mkperf_sink_begin(&sink, &session, &e), MKPERF_OK);
    assert_int_equal(mkperf_sink_pd(&sink, &pd, &e), MKPERF_OK);
    assert_int_equal(mkperf_sink_sched(&sink, &s, &e), MKPERF_OK);
    assert_int_equal(mkperf_sink_end(&sink, &totals, &e), MKPERF_OK);
    assert_int_equal(seen.faulted, 1);
    assert_true(mkperf_first(MKPERF_FIRST_FAULTED, &seen, text));
    assert_string_equal(text, "a PD stopped with a fault 1 time, the last time worker");
    assert_false(mkperf_first(MKPERF_FIRST_NONE_RAN, &seen, text));
    assert_false(mkperf_first(MKPERF_FIRST_COST, &seen, text));
    mkperf_checks_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_ones),    cmocka_unit_test(moved),
        cmocka_unit_test(without_idle), cmocka_unit_test(selected),
        cmocka_unit_test(lost),         cmocka_unit_test(gap),
        cmocka_unit_test(not_compared), cmocka_unit_test(own_and_idle),
        cmocka_unit_test(faulted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
