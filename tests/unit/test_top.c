/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf top: the window over the target's time, the lists, the output; a replayed capture. */
#include "recording.h"

#include "fake_target.h"
#include "sched_story.h"
#include "top/top.h"

static struct mkperf_symbols *symbols;
static struct mkperf_pds *pds;
static const struct mkperf_chain no_callers = {.n = 0};

static void start(struct top_counts *c, double window_s)
{
    struct mkperf_session session = {
        .nevents = 1,
        .event = {{.name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000}}};
    struct mkperf_error e;
    struct mkperf_sink sink;

    *c = (struct top_counts){.pds = pds, .window_ns = (uint64_t)(window_s * 1e9)};
    sink = top_counts_sink(c);
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(BEGIN, session, &session), &e), MKPERF_OK);
}

static void put(struct top_counts *c, double time_s, uint32_t pd, uint64_t pc, uint64_t period)
{
    struct mkperf_sample s = {.time_ns = (uint64_t)(time_s * 1e9),
                              .period = period,
                              .pd = pd,
                              .pc = pc,
                              .callers = &no_callers};
    struct mkperf_sink sink = top_counts_sink(c);
    struct mkperf_error e;

    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(SAMPLE, sample, &s), &e), MKPERF_OK);
}

static uint64_t shown(const struct top_counts *c, const char *pd, uint32_t *functions)
{
    struct top_list l;
    uint64_t period = 0;

    top_counts_list(c, 0, pd, TOP_BY_SHARE, &l);
    for (uint32_t i = 0; i < l.nfunctions; i++) {
        period += l.function[i].weight.period;
        assert_true(i == 0 || l.function[i].weight.period <= l.function[i - 1].weight.period);
    }
    *functions = l.nfunctions;
    top_list_free(&l);
    return period;
}

static void test_window(void **state)
{
    struct top_counts c;
    uint32_t n, a = mkperf_pds_find(pds, 100), b = mkperf_pds_find(pds, 200);

    (void)state;
    start(&c, 3.2); /* slices of 0.1 s */
    put(&c, 10.0, a, 0x1000, 5);
    put(&c, 10.0, a, 0x1ffc, 6); /* the same page, no ELF: one row */
    put(&c, 11.0, b, 0x1000, 7);
    assert_int_equal(shown(&c, NULL, &n), 18);
    assert_int_equal(n, 2);
    assert_int_equal(shown(&c, pds->pd[b].name, &n), 7);
    put(&c, 13.15, b, 0x9000, 1);
    assert_int_equal(shown(&c, NULL, &n), 19); /* 10.0 is still in */
    put(&c, 13.25, b, 0x9000, 1);
    assert_int_equal(shown(&c, NULL, &n), 9); /* a sample has left the window */
    put(&c, 10.0, a, 0x1000, 100);            /* a late sample of another core is too old */
    assert_int_equal(shown(&c, NULL, &n), 9);
    put(&c, 12.0, a, 0x1000, 2); /* late, but in the window */
    assert_int_equal(shown(&c, NULL, &n), 11);
    put(&c, 1000.0, a, 0x1000, 3);
    assert_int_equal(shown(&c, NULL, &n), 3);
    c.all = true;
    assert_int_equal(shown(&c, NULL, &n), 125);
    top_counts_free(&c);
}

static void put_called(struct top_counts *c, double time_s, uint32_t pd, uint32_t caller,
                       uint32_t flags, uint64_t period)
{
    struct mkperf_chain chain = {.n = 2, .caller = {{0x10, pd}, {0x20, caller}}};
    struct mkperf_sample s = {.time_ns = (uint64_t)(time_s * 1e9),
                              .period = period,
                              .pd = pd,
                              .pc = 0x1000,
                              .flags = flags,
                              .callers = &chain};
    struct mkperf_sink sink = top_counts_sink(c);
    struct mkperf_error e;

    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(SAMPLE, sample, &s), &e), MKPERF_OK);
}

/* Who is charged, by whom, in the window; sums are exact. */
static void test_charged(void **state)
{
    uint32_t a = mkperf_pds_find(pds, 100), b = mkperf_pds_find(pds, 200);
    uint32_t ambiguous = mkperf_pds_find(pds, MKPERF_THREAD_AMBIGUOUS);
    struct top_counts c;
    struct mkperf_charge charge;
    struct mkperf_weight sum = {0, 0};

    (void)state;
    start(&c, 3.2);
    put_called(&c, 1, b, a, 0, 1000); /* leaves the window */
    put(&c, 10, a, 0x1000, 5);
    put_called(&c, 10, b, a, 0, 7);
    put_called(&c, 10.1, b, a, MKPERF_SAMPLE_KERNEL, 1);
    put_called(&c, 10.2, b, b, 0, 20);
    put_called(&c, 10.3, ambiguous, a, MKPERF_AMBIGUOUS << MKPERF_CONFIDENCE_SHIFT, 40);
    top_counts_charge(&c, 0, &charge);
    assert_int_equal(charge.npds, 3);
    assert_int_equal(charge.total.period, 73);
    for (uint32_t i = 0; i < charge.npds; i++) {
        const struct mkperf_charge_pd *pd = &charge.pd[i];
        sum.period += pd->charged.period;
        sum.samples += pd->charged.samples;
        assert_int_equal(pd->charged.period, pd->self.period + pd->imposed.period);
        if (pd->pd == a) {
            assert_int_equal(pd->self.period, 5);
            assert_int_equal(pd->imposed.period, 8);
            assert_int_equal(pd->imposed.samples, 2);
        } else if (pd->pd == b) {
            assert_int_equal(pd->self.period, 20);
            assert_int_equal(pd->served.period, 8);
        } else { /* the callers of this PD are candidates */
            assert_int_equal(pd->self.period, 40);
        }
    }
    assert_int_equal(sum.period, 73);
    assert_int_equal(sum.samples, 5);
    mkperf_charge_free(&charge);
    c.all = true;
    top_counts_charge(&c, 0, &charge);
    assert_int_equal(charge.total.period, 1073);
    mkperf_charge_free(&charge);
    top_counts_charge(&c, 1, &charge); /* an event without samples */
    assert_int_equal(charge.npds, 0);
    mkperf_charge_free(&charge);
    top_counts_free(&c);
}

/* Returns what is printed of it; to be freed. */
static char *charged_text(struct top_counts *c)
{
    const struct mkperf_totals totals = {.samples = 0};
    struct top_screen s = {.target = "t", .counts = c, .totals = &totals, .charged = true};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    assert_non_null(out);
    top_screen_refresh(&s);
    top_screen_print(&s, out);
    top_screen_free(&s);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* 40 rounds of a known story: 4 ms, of which the window has all. */
static void test_util(void **state)
{
    struct mkperf_session session = {
        .nevents = 1,
        .event = {{.name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000}}};
    struct top_counts c = {.pds = pds, .window_ns = 3200000000, .all = true};
    static struct story story;
    struct top_list l;
    double sum = 0;

    (void)state;
    story_begin(&story, top_counts_sink(&c), &session);
    story_rounds(&story, 40);
    top_counts_list(&c, 0, NULL, TOP_BY_SHARE, &l);
    assert_int_equal(l.npds, STORY_PDS);
    for (uint32_t i = 0; i < l.npds; i++) {
        sum += l.pd[i].util;
        if (strcmp(l.pd[i].pd, "store") ==
            0) { /* 20 us in each round; it ends with the last one's */
            assert_true(l.pd[i].util > 100 * 0.8 / 3.948 - 0.001);
            assert_true(l.pd[i].util < 100 * 0.8 / 3.948 + 0.001);
        }
    }
    assert_true(sum > 99.999 && sum < 100.001);
    top_list_free(&l);
    /* Charged time has the column, too, and rows of PDs without samples. */
    put_called(&c, 0.001, mkperf_pds_find(pds, 200), mkperf_pds_find(pds, 100), 0, 7);
    char *text = charged_text(&c);
    assert_non_null(strstr(text, "# Charged      Self   Imposed  For others     Util  PD\n"));
    assert_non_null(strstr(text,
                           "  100.00%     0.00%   100.00%       0.00%    0.00%  unknown-64\n"
                           "                      100.00%                        by unknown-"));
    assert_non_null(strstr(text, "    0.00%     0.00%     0.00%       0.00%   20.26%  store\n"));
    free(text);
    top_counts_free(&c);
}

/* A PD runs for 2 s, idle for 2 s, and 8 s of events are lost: they are neither idle nor anybody's. */
static void test_util_lost(void **state)
{
    struct mkperf_session session = {
        .nevents = 1,
        .event = {{.name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000}}};
    struct top_counts c = {.pds = pds, .window_ns = 3200000000, .all = true};
    static const double wanted[] = {100 / 6.0, 100 / 6.0, 400 / 6.0};
    static const char *const names[] = {"client", "idle", "[not known]"};
    const uint64_t s_ns = 1000000000;
    static struct story story;
    struct top_list l;
    unsigned found = 0;

    (void)state;
    story_begin(&story, top_counts_sink(&c), &session);
    run(&story, s_ns, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 3 * s_ns, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    gap(&story, 4 * s_ns, 12 * s_ns, 1000);
    run(&story, 12 * s_ns, IDLE, MKPERF_STOPPED_UNKNOWN);
    event(&story, 13 * s_ns, MKPERF_SCHED_NOTIFY, CLIENT); /* idle until here, and it runs on */
    top_counts_list(&c, 0, NULL, TOP_BY_SHARE, &l);
    for (uint32_t i = 0; i < l.npds; i++) {
        for (unsigned k = 0; k < 3; k++) {
            if (strcmp(l.pd[i].pd, names[k]) == 0) {
                assert_true(l.pd[i].util > wanted[k] - 0.001 && l.pd[i].util < wanted[k] + 0.001);
                found++;
            }
        }
    }
    assert_int_equal(found, 3);
    assert_int_equal(l.npds, 3);
    top_list_free(&l);
    top_counts_free(&c);
}

/* What finds no room is counted in one row. */
static void test_bounded(void **state)
{
    struct top_counts c;
    uint32_t n, a = mkperf_pds_find(pds, 100);

    (void)state;
    start(&c, 1);
    for (uint64_t i = 0; i < TOP_ROWS_MAX + 1000; i++) {
        put(&c, 1, a, i * 4096, 1);
    }
    assert_int_equal(shown(&c, NULL, &n), TOP_ROWS_MAX + 1000);
    assert_int_equal(n, TOP_ROWS_MAX + 1);
    top_counts_free(&c);
}

/* A capture of four samples of 1000 in two PDs, of which the target lost three more. */
static void make_capture(const char *path)
{
    static struct fake f;
    struct fake_batch batch;
    FILE *out = fopen(path, "w");

    fake_text(&f, "demo: hello\n");
    fake_hello(&f, 0, 7, MKPERF_PROTOCOL);
    fake_session(&f, 0, 1, true);
    fake_batch_init(&batch, 0, 4, 1000);
    fake_chain(&batch, 0, 0, 0x10, 0x200000);
    fake_chain(&batch, 0, 3, 0x20, 0x300000);
    fake_batch(&f, &batch);
    fake_status(&f, 0, 1, false, 4, 3);
    assert_non_null(out);
    assert_int_equal(fwrite(f.bytes, 1, f.n, out), f.n);
    assert_int_equal(fclose(out), 0);
}

static void test_replay(void **state)
{
    char target[400], *text;
    int status;

    (void)state;
    make_capture(recording_path("raw"));
    snprintf(target, sizeof target, "file:%s", recording_path("raw"));
    text = RUN(top, &status, "-t", target, "--stdio", "--window", "0");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# lost 3 (42.86 %)"));
    assert_non_null(strstr(text, "  75.00%        3  unknown-10"));
    assert_non_null(strstr(text, "  25.00%        1  unknown-20       [.] [unknown] 0x300000"));
    assert_non_null(strstr(text, "target: demo: hello"));
    text = RUN(top, &status, "-t", target, "--stdio", "--flow");
    assert_int_not_equal(status, 0);
    assert_non_null(strstr(text, "the session has no queues (--flow)"));
    text = RUN(top, &status, "-t", target, "--stdio", "--rows", "1", "--pd", "unknown-20");
    assert_null(strstr(text, "0x200000"));
    text = RUN(top, &status, "-t", target, "--stdio", "--window", "0", "--charged");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, ", charged"));
    assert_non_null(strstr(text, "# Charged      Self   Imposed  For others  PD"));
    assert_non_null(strstr(text, "   75.00%    75.00%     0.00%       0.00%  unknown-10"));
}

/* A running session of another event on counter 0. */
static void other_session(struct fake *f, uint32_t id)
{
    static mkperf_ToHost m;
    mkperf_Session *s = &m.msg.session;

    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToHost_session_tag;
    *s = (mkperf_Session){.id = id, .running = true, .max_frames = 16, .events_count = 1};
    strcpy(s->events[0].name, "instructions");
    s->events[0].code = 0x08;
    s->events[0].user_counter = 1;
    s->events[0].period = 500;
    fake_send(f, &m);
}

/* A session of that id with four samples in the PD `thread`. */
static void four_samples(struct fake *f, uint32_t id, uint64_t time, uint64_t thread)
{
    struct fake_batch batch;

    fake_batch_init(&batch, 0, 4, time);
    batch.batch.session = id;
    fake_chain(&batch, 0, 0, thread, 0x200000);
    fake_batch(f, &batch);
    fake_status(f, 0, id, false, 4, 0);
}

/*
 * Another host changes the events: the new ones are shown from there on, nothing of the old ones is
 * among them, and when the first come again, they are where they were.
 */
static void test_other_events(void **state)
{
    static struct fake f;
    char target[400], *text;
    int status;

    (void)state;
    for (unsigned sessions = 2; sessions <= 3; sessions++) {
        f = (struct fake){.n = 0};
        fake_hello(&f, 0, 7, MKPERF_PROTOCOL);
        fake_session(&f, 0, 1, true);
        four_samples(&f, 1, 1000, 0x10);
        other_session(&f, 2);
        four_samples(&f, 2, 2000, 0x20);
        if (sessions == 3) {
            fake_session(&f, 0, 3, true);
            four_samples(&f, 3, 3000, 0x30);
        }
        FILE *out = fopen(recording_path("others"), "w");
        assert_non_null(out);
        assert_int_equal(fwrite(f.bytes, 1, f.n, out), f.n);
        assert_int_equal(fclose(out), 0);
        snprintf(target, sizeof target, "file:%s", recording_path("others"));
        text = RUN(top, &status, "-t", target, "--stdio", "--window", "0");
        assert_int_equal(status, 0);
        if (sessions == 2) {
            assert_non_null(strstr(text, "another session began: instructions from here on"));
            assert_non_null(strstr(text, "(0.00 %)  instructions: "));
            assert_non_null(strstr(text, " 100.00%        4  unknown-20"));
            assert_null(strstr(text, "unknown-10"));
        } else { /* read at one go: the picture is of the last session's event */
            assert_non_null(strstr(text, "(0.00 %)  cycles: "));
            assert_non_null(strstr(text, "  50.00%        4  unknown-10"));
            assert_non_null(strstr(text, "  50.00%        4  unknown-30"));
            assert_null(strstr(text, "unknown-20"));
        }
    }
}

static void test_bad_input(void **state)
{
    char *text;
    int status;

    (void)state;
    RUN(top, &status, "--stdio");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = RUN(top, &status, "-t", "file:/nowhere", "--stdio");
    assert_int_not_equal(status, 0);
    assert_non_null(strstr(text, "/nowhere"));
    text = RUN(top, &status, "-t", "file:/dev/null", "-o", "x");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no such option: -o"));
    RUN(top, &status, "-t", "file:/dev/null", "-d", "0");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(top, &status, "-t", "file:/dev/null", "--window", "1e-9");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = RUN(top, &status, "-t", "file:/dev/null", "--stdio");
    assert_int_equal(status, MKPERF_ERR_INPUT);
}

static int setup(void **state)
{
    struct mkperf_pds_config config = {.system = NULL};
    struct mkperf_error e;

    (void)state;
    assert_non_null(mkdtemp(recording_dir));
    symbols = mkperf_symbols_new();
    return mkperf_pds_new(&config, symbols, &pds, &e) == MKPERF_OK ? 0 : -1;
}

static int teardown(void **state)
{
    mkperf_pds_free(pds);
    mkperf_symbols_free(symbols);
    return recording_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),       cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_util),         cmocka_unit_test(test_charged),
        cmocka_unit_test(test_util_lost),    cmocka_unit_test(test_replay),
        cmocka_unit_test(test_other_events), cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
