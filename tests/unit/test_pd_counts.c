/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether samples and counts agree: recordings of simulated PDs, true ones and spoiled ones; and the counts in perf.data's
 * lines. All random numbers are those of a fixed seed. */
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
#include "perfdata/perfdata_internal.h"

enum { WORK, SERVER, MINE, SELDOM, PDS, PERIOD = 1 << 16, INTERVALS = 4000 };
static const char *const names[PDS] = {"work", "server", "mine", "seldom"};

static struct mkperf_totals seen;

static enum mkperf_status keep_totals(void *self, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    (void)self, (void)e;
    if (item->kind == MKPERF_ITEM_END) {
        seen = *item->totals;
    }
    return MKPERF_OK;
}

struct recording {
    uint64_t seed;
    struct mkperf_session session;
    struct mkperf_totals totals;
    struct mkperf_pd_counts counts;
    unsigned moved_percent; /* per cent of WORK's samples that are SERVER's instead */
    /* per cent of all samples that are lost; the totals have their number if they are counted */
    unsigned dropped_percent;
    bool counted;
    bool halved;     /* each period is half of what passed */
    bool no_seldom;  /* SELDOM has no PD call, because it has no sample */
    bool skip[PDS];  /* PDs that are not sampled, as with --pd */
    uint64_t window; /* samples of a PD in each row of a window; 0: each sample is sent */
};

static uint64_t random_below(struct recording *r, uint64_t n)
{
    r->seed = r->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (r->seed >> 33) % n;
}

static void put(const struct recording *r, const struct mkperf_sink *sink, uint32_t core,
                uint32_t pd, uint64_t period, uint64_t n)
{
    static const struct mkperf_chain none = {.n = 0};
    const struct mkperf_sample s = {.period = r->halved ? period / 2 : period,
                                    .more = n - 1,
                                    .pd = pd,
                                    .core = core,
                                    .callers = &none};
    struct mkperf_error e;

    assert_int_equal(mkperf_sink_sample(sink, &s, &e), MKPERF_OK);
}

/* PDs take turns. A turn of WORK has 6000 events on average, of SERVER 400, of SELDOM 3; MINE runs for 200 after each
 * fourth sample. */
static void play(struct recording *r, const struct mkperf_sink *sink, uint32_t core)
{
    static const uint64_t mean[PDS] = {6000, 400, 200, 3};
    uint64_t left = PERIOD, period = PERIOD, turn = 6000, held[PDS] = {0}, sum[PDS] = {0};
    uint32_t pd = WORK, before = WORK;

    for (unsigned n = 0; n < INTERVALS;) {
        uint64_t step = left < turn ? left : turn;
        r->counts.at[pd].user += step;
        left -= step;
        turn -= step;
        if (left == 0) {
            uint32_t of = pd == WORK && random_below(r, 100) < r->moved_percent ? SERVER : pd;
            of = of == SELDOM && r->no_seldom ? WORK : of;
            if (random_below(r, 100) < r->dropped_percent) {
                r->totals.lost[MKPERF_LOST_RING] += r->counted;
            } else if (!r->skip[of]) {
                r->totals.samples++;
                sum[of] += period;
                if (++held[of] >= r->window) {
                    put(r, sink, core, of, sum[of], held[of]);
                    held[of] = sum[of] = 0;
                }
            }
            period = left = PERIOD / 2 + random_below(r, PERIOD);
            if (n++ % 4 == 0) {
                before = pd;
                pd = MINE;
                turn = mean[MINE];
            }
        }
        if (turn == 0) {
            pd = pd == MINE ? before : pd == WORK ? SERVER : pd == SERVER ? SELDOM : WORK;
            turn = 1 + random_below(r, 2 * mean[pd]);
        }
    }
    for (pd = 0; pd < PDS; pd++) { /* the window's end */
        if (held[pd] != 0) {
            put(r, sink, core, pd, sum[pd], held[pd]);
        }
    }
}

static struct recording ordinary(uint64_t seed)
{
    struct recording r = {
        .seed = seed,
        .session = {.cores = 1,
                    .counts = true,
                    .nevents = 1,
                    .event = {{.name = "cycles", .user = true, .kernel = true, .frequency = 1}}},
        .counts = {.n = PDS}};

    for (unsigned i = 0; i < PDS; i++) {
        r.counts.at[i].own = i == MINE;
        snprintf(r.counts.at[i].pd, sizeof r.counts.at[i].pd, "%s", names[i]);
    }
    return r;
}

static void run(struct recording *r)
{
    struct mkperf_checks *a =
        mkperf_checks_new((struct mkperf_sink){.take = keep_totals}, NULL, false);
    struct mkperf_sink sink = mkperf_checks_sink(a);
    struct mkperf_error e;

    assert_int_equal(mkperf_sink_begin(&sink, &r->session, &e), MKPERF_OK);
    for (uint32_t i = 0; i < (r->no_seldom ? SELDOM : PDS); i++) {
        const struct mkperf_pd pd = {.id = i, .name = names[i], .profiler = i == MINE};
        assert_int_equal(mkperf_sink_pd(&sink, &pd, &e), MKPERF_OK);
    }
    for (uint32_t core = 0; core < r->session.cores; core++) {
        play(r, &sink, core);
    }
    if (r->totals.counts == NULL) {
        r->totals.counts = &r->counts;
    }
    assert_int_equal(mkperf_sink_end(&sink, &r->totals, &e), MKPERF_OK);
    mkperf_checks_free(a);
}

/* Returns the line of record's summary about the comparison. */
static const char *line(void)
{
    static char text[1024];
    FILE *f = fmemopen(text, sizeof text, "w");

    text[0] = '\0';
    mkperf_figures_print(MKPERF_FIGURE_SUMMARY, MKPERF_SECTION_FIRST, MKPERF_SECTION_END, &seen, f);
    fclose(f);
    return text;
}

static void agrees(struct recording *r, uint64_t shares)
{
    run(r);
    if (seen.counted.contradicted != 0 || seen.counted.compared != shares) {
        fail_msg("%s", line());
    }
    assert_non_null(strstr(line(), "samples and counts agree in all "));
}

/* what: which share differs most; NULL: any. */
static void contradicts(struct recording *r, const char *what)
{
    run(r);
    if (seen.counted.contradicted == 0 || (what != NULL && strcmp(seen.counted.pd, what) != 0)) {
        fail_msg("%s", line());
    }
    assert_non_null(strstr(line(), "samples and counts CONTRADICT each other in "));
    assert_non_null(strstr(line(), " % of cycles:u by samples, "));
    assert_null(strstr(line(), "scheduling events"));
}

static void not_compared(struct recording *r, const char *why)
{
    run(r);
    assert_int_equal(seen.counted.compared, 0);
    assert_non_null(strstr(line(), "samples and counts were not compared: "));
    assert_non_null(strstr(line(), why));
}

/* On one core and on two; also if a PD has no sample, and with the samples of windows. */
static void true_ones(void **state)
{
    double squares = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct recording r = ordinary(seed);
        double off;

        r.session.cores = 1 + seed % 2;
        r.no_seldom = seed % 3 == 0;
        r.window = seed % 5 == 0 ? 50 : 0;
        agrees(&r, 4); /* three shares and the sum */
        assert_true(seen.counted.off < 1);
        off = ((double)seen.counted.by_samples_ppm - (double)seen.counted.by_events_ppm) /
              ((double)seen.counted.error_ppm + 1);
        squares += strcmp(seen.counted.pd, "the sum") != 0 ? off * off : 0;
    }
    assert_true(squares / 100 < 6);
}

/* 6 % of a PD's samples are another's. */
static void moved(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct recording r = ordinary(seed);

        r.moved_percent = 6;
        contradicts(&r, NULL);
        assert_int_equal(seen.counted.contradicted, 2);
    }
}

/* The shares are right, and the periods are not; or samples are missing that no figure counts. */
static void sums(void **state)
{
    struct recording r = ordinary(3);

    (void)state;
    r.halved = true;
    contradicts(&r, "the sum");
    assert_int_equal(seen.counted.contradicted, 1);
    r = ordinary(4);
    r.dropped_percent = 2;
    contradicts(&r, "the sum");
    r = ordinary(4);
    r.dropped_percent = 2;
    r.counted = true;
    agrees(&r, 4);
}

static void selected(void **state)
{
    struct recording r = ordinary(5);

    (void)state;
    r.skip[WORK] = r.skip[SELDOM] = r.skip[MINE] = true;
    r.session.selected = true;
    agrees(&r, 1);
    r = ordinary(5);
    r.skip[SERVER] = true;
    contradicts(&r, "the sum");
}

static void none(void **state)
{
    static const struct mkperf_pd_counts empty = {.n = 0};
    struct recording r = ordinary(6);

    (void)state;
    r.totals.counts = &empty;
    not_compared(&r, "there are no counts of these samples");
    r = ordinary(6);
    r.totals.restarts = 1;
    not_compared(&r, "the target was restarted");
    r = ordinary(6);
    r.dropped_percent = 60;
    r.counted = true;
    not_compared(&r, "too much is lost");
    r = ordinary(6);
    r.skip[WORK] = r.skip[SERVER] = true;
    not_compared(&r, "too few samples");
    r = ordinary(6);
    r.session.counts = false;
    run(&r);
    assert_string_equal(line(), "");
}

/* As lines of perf.data, and back. */
static void lines(void **state)
{
    static struct perfin_session s;
    struct mkperf_pd_counts c = {.n = 0}, again;
    char text[256], *rest = NULL;
    FILE *f = fmemopen(text, sizeof text, "w");

    (void)state;
    mkperf_pd_counts_add(&c, &(struct mkperf_pd_count){"a b", true, 3, UINT64_MAX - 1});
    mkperf_pd_counts_add(&c, &(struct mkperf_pd_count){"b", false, 0, 4});
    mkperf_pd_counts_add(&c, &(struct mkperf_pd_count){"b", false, 0, 5});
    assert_int_equal(c.n, 2);
    for (unsigned i = 0; i < c.n; i++) {
        perfdata_lines_write(f, OF_COUNT, 0, &c.at[i]);
    }
    fclose(f);
    for (char *l = strtok_r(text, "\n", &rest); l != NULL; l = strtok_r(NULL, "\n", &rest)) {
        assert_int_equal(strncmp(l, "user_count ", 11), 0);
        assert_true(perfdata_line_read(&s, "user_count", l + 11));
    }
    assert_memory_equal(&c, s.counts, sizeof c);
    perfdata_line_read(&s, "user_count", "32 0 1 x");
    perfdata_line_read(&s, "user_count", "1 0");
    perfdata_line_read(&s, "user_count", "1 0 x");
    again = *s.counts;
    free(s.counts);
    assert_int_equal(again.n, 2);
    for (unsigned i = 0; i < MKPERF_PD_COUNTS + 1; i++) {
        struct mkperf_pd_count count = {.event = i % 2};
        snprintf(count.pd, sizeof count.pd, "pd %u", i);
        mkperf_pd_counts_add(&again, &count);
    }
    assert_int_equal(again.n, MKPERF_PD_COUNTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_ones), cmocka_unit_test(moved), cmocka_unit_test(sums),
        cmocka_unit_test(selected),  cmocka_unit_test(none),  cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
