/* SPDX-License-Identifier: BSD-2-Clause */
/* Off-CPU time: samples of blocked threads with their switches, and what PDs waited for without. */
#include "story_recording.h"

#include "model/relays.h"

static struct mkperf_totals totals;
static struct mkperf_off_cpu relay;
static struct story story;
static struct {
    unsigned n;
    uint32_t pd[16];
    uint64_t time[16], period[16], caller[16];
} got;

static enum mkperf_status keep_samples(void *self, const struct mkperf_item *item,
                                       struct mkperf_error *e)
{
    const struct mkperf_sample *s = item->sample;

    (void)self, (void)e;
    if (item->kind == MKPERF_ITEM_SAMPLE) {
        assert_true(got.n < 16);
        got.pd[got.n] = s->pd;
        got.time[got.n] = s->time_ns;
        got.period[got.n] = s->period;
        got.caller[got.n++] = s->callers->n > 0 ? s->callers->caller[0].addr : 0;
    }
    return MKPERF_OK;
}

static void begin(void)
{
    struct mkperf_session session = {.nevents = 2,
                                     .event = {{.name = "cycles"}, {.name = "offcpu-time"}}};

    memset(&got, 0, sizeof got);
    totals = (struct mkperf_totals){.samples = 100, .core = {{.samples = 100}}};
    relay = (struct mkperf_off_cpu){
        .to = {.take = keep_samples}, .event = mkperf_off_cpu_event(&session), .totals = &totals};
    assert_int_equal(relay.event, 1);
    story_begin(&story, mkperf_off_cpu_sink(&relay), &session);
}

static void stops(uint64_t ns, uint32_t pd, uint64_t caller)
{
    const struct mkperf_chain chain = {.n = 1, .caller = {{.addr = caller, .pd = pd}}};
    const struct mkperf_sample s = {
        .time_ns = ns, .period = 1, .pd = pd, .event = 1, .callers = &chain};

    assert_int_equal(mkperf_sink_sample(&story.sink, &s, &story.e), MKPERF_OK);
}

static void paired(void **state)
{
    (void)state;
    begin();
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    stops(2000, CLIENT, 0x11);
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 3000, STORE, MKPERF_STOPPED_PREEMPTED);
    stops(4000, STORE, 0x22);
    run(&story, 4000, SERVER, MKPERF_STOPPED_WAIT_MESSAGE);
    stops(5000, SERVER, 0x33);
    run(&story, 5000, CLIENT, MKPERF_STOPPED_REPLIED);
    run(&story, 5500, STORE, MKPERF_STOPPED_PREEMPTED);
    assert_int_equal(got.n, 2);
    assert_int_equal(got.pd[0], CLIENT);
    assert_int_equal(got.time[0], 5000);
    assert_int_equal(got.period[0], 3000);
    assert_int_equal(got.caller[0], 0x11);
    assert_int_equal(got.pd[1], STORE);
    assert_int_equal(got.period[1], 1500);
    assert_int_equal(got.caller[1], 0x22);
    assert_int_equal(totals.samples, 100);
    /* The server's time is not known: the session ends. */
    mkperf_off_cpu_close(&relay);
    assert_int_equal(totals.off_cpu_unpaired, 1);
    assert_int_equal(totals.samples, 99);
    mkperf_off_cpu_free(&relay);
}

/* Samples without their switch, and what a gap cuts, are in no statistic, and counted. */
static void not_paired(void **state)
{
    const struct mkperf_chain none = {.n = 0};
    const struct mkperf_sample other = {.time_ns = 1500, .period = 7, .callers = &none};

    (void)state;
    begin();
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    stops(1900, CLIENT, 0x11); /* no switch happens then */
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 3000, CLIENT, MKPERF_STOPPED_REPLIED);
    assert_int_equal(got.n, 0);
    assert_int_equal(totals.off_cpu_unpaired, 1);
    stops(4000, CLIENT, 0x11);
    run(&story, 4000, SERVER, MKPERF_STOPPED_CALLED);
    gap(&story, 4000, 6000, 3);
    run(&story, 6000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    assert_int_equal(got.n, 0);
    assert_int_equal(totals.off_cpu_unpaired, 2);
    stops(7000, CLIENT, 0x11);
    stops(8000, CLIENT, 0x12); /* the first one's end is missing */
    run(&story, 8000, SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 8000, CLIENT, MKPERF_STOPPED_REPLIED); /* the thread was blocked for no time */
    assert_int_equal(got.n, 0);
    assert_int_equal(totals.off_cpu_unpaired, 4);
    assert_int_equal(totals.samples, 96);
    assert_int_equal(totals.core[0].samples, 96);
    assert_int_equal(mkperf_sink_sample(&story.sink, &other, &story.e), MKPERF_OK);
    assert_int_equal(got.period[0], 7); /* a sample of another event */
    mkperf_off_cpu_free(&relay);
}

/* 40 rounds without callchains: what each PD waited for, to the nanosecond. */
static void without_chains(void **state)
{
    struct mkperf_session session = {.cores = 1};
    struct recording r;
    const char *data = recording_path("story.data");
    int status;

    (void)state;
    story_record(&story, &r, "story.data", &session);
    story_rounds(&story, 40);
    story_end(&story);
    recording_free(&r);

    char *text = RUN(report, &status, "--stdio", "--off-cpu", data);
    assert_int_equal(status, 0);
    has(text, "by what each PD waited for: no callchains of blocked threads were recorded");
    has(text, "       40          1520000  client  [.] [calls server]\n");
    has(text, "       40          1000000  server  [.] [calls store]\n");
    has(text, "       39          3666000  driver  [.] [waits for interrupt 33]\n");
    has(text, "       39          2925000  store   [.] [waits for a call of server]\n");
    text = RUN(convert, &status, "-q", data, "--event", "offcpu-time", "-o",
               recording_path("off.folded"));
    assert_int_equal(status, 0);
    text = recording_shell("grep -c '^client;.calls server. 1520000$' %s",
                           recording_path("off.folded"));
    assert_int_equal(atoi(text), 1);
    free(text);
    RUN(report, &status, "--stdio", "--off-cpu", recording_path("samples.data"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    RUN(report, &status, "--stdio", "--off-cpu", "--charged", data);
    assert_int_equal(status, MKPERF_ERR_USAGE);
}

/* The head names the event that is shown, and no other one, of which it has counted no samples. */
static void head_of_off_cpu(void **state)
{
    struct mkperf_session session = {
        .cores = 1,
        .nevents = 2,
        .event = {{.name = "cycles", .user = true, .kernel = true, .period = 1000},
                  {.name = MKPERF_OFF_CPU_EVENT, .user = true, .kernel = true, .period = 1}}};
    struct recording r;
    int status;

    (void)state;
    story_record(&story, &r, "blocked.data", &session);
    story_rounds(&story, 40);
    story_end(&story);
    recording_free(&r);
    char *text = RUN(report, &status, "--stdio", "--off-cpu", recording_path("blocked.data"));
    assert_int_equal(status, 0);
    has(text, "# event       offcpu-time, ");
    assert_null(strstr(text, "# event       cycles"));
    text = RUN(report, &status, "--stdio", recording_path("blocked.data"));
    has(text, "# event       cycles, ");
}

static int setup(void **state)
{
    recording_setup(state);
    recording_make("samples.data", 3, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paired), cmocka_unit_test(not_paired),
                                       cmocka_unit_test(without_chains),
                                       cmocka_unit_test(head_of_off_cpu)};

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
