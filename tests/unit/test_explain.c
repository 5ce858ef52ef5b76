/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf explain on planted systems: each has one cause, with random times, in STORIES recordings. The question about the cause
 * has the right answer in all of them. A system without it, and a recording that cannot show it, have the other verdicts.
 */
#include "story_recording.h"

enum { STORIES = 20, FIRST = 4, ROUNDS = 20 };

static struct story story;
static uint64_t own_code;
static uint32_t seed;
static unsigned story_number;

/* What an answer has to be: its verdict, and a part of its text. */
struct expected {
    const char *question, *verdict, *text;
};

/* Runs a question; of the first story with snapshots, too. */
#define ASK(command, status, ...) \
    (story_number == 0 ? RUN(command, status, __VA_ARGS__) : RUN_ONCE(command, status, __VA_ARGS__))

static void begin_story(unsigned number)
{
    story_number = number;
    seed = 1000 + number;
}

/* Records a story. */
static void plant_story(void (*plant)(void), unsigned cores)
{
    struct mkperf_session session = {.cores = cores};
    struct recording r;

    story_record(&story, &r, "planted", &session);
    plant();
    story_end(&story);
    recording_free(&r);
}

static void check_answer(const char *answers, const struct expected *x)
{
    char wanted[100];

    snprintf(wanted, sizeof wanted, "\"question\":\"%s\",\"verdict\":\"%s\",\"text\":\"",
             x->question, x->verdict);
    has(answers, wanted);
    const char *line = strstr(answers, wanted);
    char *answer = strndup(line, strcspn(line, "\n"));
    has(answer, x->text);
    free(answer);
}

/* Asks all questions about a recording at once. One by one are asked those that are not on the page, and of the first story all. */
static void check_answers(const char *name, const struct expected *x, size_t n)
{
    const char *path = recording_path(name);
    char on_page[64];
    int status;
    char *all = strdup(ASK(explain, &status, "--json", path));

    assert_int_equal(status, 0);
    for (size_t i = 0; i < n; i++) {
        snprintf(on_page, sizeof on_page, "\"question\":\"%s\"", x[i].question);
        if (strstr(all, on_page) != NULL) {
            check_answer(all, &x[i]);
        }
        if (strstr(all, on_page) == NULL || story_number == 0) {
            check_answer(ASK(explain, &status, "--json", "--why", x[i].question, path), &x[i]);
            assert_int_equal(status, 0);
        }
    }
    free(all);
}

static void check_stories(void (*plant)(void), unsigned cores, const struct expected *x, size_t n)
{
    for (unsigned i = 0; i < STORIES; i++) {
        begin_story(i);
        plant_story(plant, cores);
        check_answers("planted", x, n);
    }
}

#define EXPECTED(...)                       \
    (const struct expected[]){__VA_ARGS__}, \
        sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected)

static uint64_t about(uint64_t ns)
{
    return ns / 2 + story_draw(&seed, (unsigned)ns);
}

static void calls(void)
{
    story_rounds(&story, ROUNDS);
}

/* The driver uses up its budget in each round, and is throttled for most of the time. */
static void throttled(void)
{
    uint64_t t = 1000000;

    run(&story, t, IDLE, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < ROUNDS; i++) {
        irq(&story, t += about(10000), 33, DRIVER);
        run(&story, t, DRIVER, MKPERF_STOPPED_IDLE);
        run(&story, t += about(50000), IDLE, MKPERF_STOPPED_BUDGET);
        run(&story, t += about(200000), DRIVER, MKPERF_STOPPED_IDLE);
        run(&story, t += about(10000), IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    }
}

/* The server stops with a fault. */
static void faulted(void)
{
    run(&story, 1000000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 1000000 + about(5000), SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 1010000 + about(5000), IDLE, MKPERF_STOPPED_FAULTED);
    run(&story, 1100000, STORE, MKPERF_STOPPED_IDLE);
    run(&story, 1200000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
}

/* One of the calls of the client takes 20 times as long, because the driver runs. */
static void one_slow_call(void)
{
    unsigned slow = 5 + story_draw(&seed, 10);
    uint64_t t = 1000000;

    run(&story, t, IDLE, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < ROUNDS; i++) {
        run(&story, t += about(20000), CLIENT, MKPERF_STOPPED_IDLE);
        run(&story, t += 1000, SERVER, MKPERF_STOPPED_CALLED);
        if (i == slow) {
            irq(&story, t += 1000, 33, DRIVER);
            run(&story, t, DRIVER, MKPERF_STOPPED_PREEMPTED);
            run(&story, t += 400000, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
        }
        run(&story, t += about(10000), CLIENT, MKPERF_STOPPED_REPLIED);
        run(&story, t += 1000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    }
}

/* The driver's interrupt waits for long, once. */
static void one_slow_wakeup(void)
{
    unsigned slow = 5 + story_draw(&seed, 10);
    uint64_t t = 1000000;

    run(&story, t, CLIENT, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < ROUNDS; i++) {
        irq(&story, t += about(20000), 33, DRIVER);
        run(&story, t += i == slow ? 300000 : about(1000), DRIVER, MKPERF_STOPPED_PREEMPTED);
        run(&story, t += about(5000), CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    }
}

/* Core 0 always runs; core 1 runs the store for a moment. */
static void one_idle_core(void)
{
    uint64_t t = 1000000;

    on_core(&story, 1, t, IDLE, MKPERF_STOPPED_UNKNOWN);
    run(&story, t, CLIENT, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < ROUNDS; i++) {
        on_core(&story, 1, t += about(50000), STORE, MKPERF_STOPPED_IDLE);
        on_core(&story, 1, t += 1000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
        run(&story, t += 1000, SERVER, MKPERF_STOPPED_PREEMPTED);
        run(&story, t += 1000, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    }
}

/* Two PDs run equally long. */
static void equal(void)
{
    run(&story, 1000000, SERVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 1020000, CLIENT, MKPERF_STOPPED_WAIT_MESSAGE);
    run(&story, 1040000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 1080000, STORE, MKPERF_STOPPED_IDLE);
    run(&story, 1090000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 1100000, IDLE, MKPERF_STOPPED_IDLE);
}

/* Events are missing for most of the time. */
static void missing(void)
{
    run(&story, 1000000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 1000000 + about(1000), SERVER, MKPERF_STOPPED_CALLED);
    gap(&story, 1002000, 2000000, 100);
    run(&story, 2000000 + about(1000), CLIENT, MKPERF_STOPPED_UNKNOWN);
}

/* 32 cores that are busy for half of the time. */
static void many_cores(void)
{
    for (unsigned i = 0; i < 96; i++) {
        uint32_t busy = i / 32 % 2, pd = i % 32 % IDLE;

        story_pass(&story, (struct mkperf_sched){.time_ns = 1000000 + i / 32 * 100000,
                                                 .core = i % 32,
                                                 .kind = MKPERF_SCHED_SWITCH,
                                                 .reason = MKPERF_STOPPED_IDLE,
                                                 .from = busy ? pd : IDLE,
                                                 .to = busy ? IDLE : pd});
    }
}

/* n samples of which a share of `percent` is in alpha, 20 % in beta and the rest in idle. */
static void sampled(const char *name, unsigned n, unsigned percent)
{
    struct recording r;

    recording_begin(&r, name);
    for (unsigned i = 0; i < n; i++) {
        unsigned draw = story_draw(&seed, 100);

        if (draw < percent) {
            recording_put(&r, 0, 0, 0, 1000, recording_at.alpha, NULL);
        } else if (draw < percent + 20) {
            recording_put(&r, 1, 0, 0, 1000, recording_at.beta, NULL);
        } else {
            recording_put(&r, 2, 0, MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER, 1000,
                          recording_at.idle, NULL);
        }
    }
    recording_end(&r, 0);
}

/* alpha grows by a third; nothing grows; and few samples cannot show it. */
static void test_regression(void **state)
{
    int status;

    (void)state;
    for (unsigned i = 0; i < STORIES; i++) {
        begin_story(i);
        sampled("before", 4000, 30);
        sampled("after", 4000, 40);
        sampled("few", 400, 30);
        char *text = ASK(explain, &status, "--json", "--why", "regression",
                         recording_path("before"), recording_path("after"));
        has(text, "\"verdict\":\"problem\",\"text\":\"of cycles: client one [.] alpha from ");
        has(text, "less: idle [k] idle_thread from ");
        has(text, "ruled out: 1 other rows, which chance explains; machine, session and programs");
        text = ASK(explain, &status, "--json", "--why", "regression", recording_path("few"),
                   recording_path("few"));
        has(text, "\"verdict\":\"undecided\",\"text\":\"no row of cycles grew");
        has(text, "a growth by 5 % needs ");
    }
    sampled("before", 40000, 80);
    char *text = RUN(explain, &status, "--json", "--why", "regression", recording_path("before"),
                     recording_path("before"));
    has(text, "\"verdict\":\"ruled out\",\"text\":\"no row of cycles grew");
    RUN(explain, &status, "--why", "regression", recording_path("before"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(explain, &status, recording_path("before"), recording_path("before"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(explain, &status, "--why", "regression", recording_path("before"),
        recording_cut("before", 3000));
    assert_int_equal(status, MKPERF_ERR_INPUT);
}

/* n samples in alpha, in beta, in code without a name, in mkperf's own PD and in idle, in a random order of these shares. */
static void mixed(const char *name, unsigned n, const unsigned share[4], uint64_t lost)
{
    struct recording r;

    recording_begin(&r, name);
    recording_pd(&r, 3, 4, "profiler", recording_path("own.elf"));
    for (unsigned i = 0; i < n; i++) {
        const uint64_t at[4] = {recording_at.alpha, recording_at.beta, 0x1000, own_code};
        static const uint32_t pds[4] = {0, 1, 0, 3};
        unsigned draw = story_draw(&seed, 100), row = 0;

        while (row < 4 && draw >= share[row]) {
            draw -= share[row++];
        }
        recording_put(&r, row < 4 ? pds[row] : 2, 0,
                      row < 4 ? 0 : MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER, 1000,
                      row < 4 ? at[row] : recording_at.idle, NULL);
    }
    recording_end(&r, lost);
}

/* Questions about samples, in STORIES recordings. */
static void check_mixed(const unsigned share[4], uint64_t lost, const struct expected *x, size_t n)
{
    for (unsigned i = 0; i < STORIES; i++) {
        begin_story(i);
        mixed("mixed", 600, share, lost);
        check_answers("mixed", x, n);
    }
}

/* alpha, beta, unnamed code, mkperf's own PD; the rest is idle */
static const unsigned ordinary[4] = {40, 20, 0, 5}, unnamed[4] = {40, 20, 20, 5},
                      costly[4] = {20, 10, 0, 60}, idle_only[4] = {0, 0, 0, 0};

static void test_samples(void **state)
{
    (void)state;
    check_mixed(ordinary, 0,
                EXPECTED({"trust", "ruled out", "no sample and no event is known to be lost"},
                         {"names", "ruled out", "0.00 % of 600 samples are in code without"},
                         {"profiler-cost", "answer", "PDs: at least "},
                         {"time", "answer", "of cycles: client one "},
                         {"time", "answer", "(alpha "},
                         {"ran", "ruled out", "PDs of the system ran"}));
    check_mixed(ordinary, 60,
                EXPECTED({"trust", "problem", "9.09 % of the samples were lost (link 60)"},
                         {"lost", "problem", "60 of 660 samples (9.09 %)"}));
    check_mixed(unnamed, 0,
                EXPECTED({"names", "problem", "without a name, most of them in client one"}));
    check_mixed(costly, 0, EXPECTED({"profiler-cost", "problem", "mkperf's PDs took "}));
    check_mixed(idle_only, 0,
                EXPECTED({"time", "problem", "only idle was sampled"},
                         {"ran", "problem", "only idle and mkperf's PDs ran"}));
}

/* The driver calls the client, which has a low priority, and the store runs instead of the client. */
static void inverted(void)
{
    uint64_t t = 1000000;

    run(&story, t, IDLE, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < ROUNDS; i++) {
        run(&story, t += about(20000), DRIVER, MKPERF_STOPPED_IDLE);
        run(&story, t += 1000, CLIENT, MKPERF_STOPPED_CALLED);
        run(&story, t += 1000, STORE, MKPERF_STOPPED_PREEMPTED);
        run(&story, t += 100000, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
        run(&story, t += 1000, DRIVER, MKPERF_STOPPED_REPLIED);
        run(&story, t += 1000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    }
}

/* No PD runs. */
static void nothing(void)
{
    for (unsigned i = 0; i < 120; i++) {
        run(&story, 1000000 + i * (uint64_t)about(1000), IDLE, MKPERF_STOPPED_IDLE);
    }
}

/* What must be known first is the first line of each report, a warning before all rows for programs, and explain's first problem. */
static void expect_first(const char *name, bool events, const char *text)
{
    char line[128], problem[128];
    int status;
    char *out;

    snprintf(line, sizeof line, "# ERROR: %s", text);
    snprintf(problem, sizeof problem, "%s", text);
    const char *path = recording_path(name);
    out = events ? ASK(latency, &status, path) : ASK(report, &status, "--stdio", path);
    assert_ptr_equal(strstr(out, line), out);
    out = events ? ASK(budget, &status, path) : ASK(annotate, &status, "-i", path, "idle_thread");
    assert_ptr_equal(strstr(out, line), out);
    out = events ? ASK(latency, &status, "--json", path) : ASK(report, &status, "--json", path);
    snprintf(line, sizeof line, "{\"type\":\"warning\",\"level\":\"ERROR\",\"text\":\"%s", text);
    assert_ptr_equal(strstr(out, line), strchr(out, '\n') + 1);
    out = ASK(explain, &status, path);
    char *at = strstr(out, "\nProblems\n  ");
    assert_non_null(at);
    assert_ptr_equal(strstr(out, problem), at + strlen("\nProblems\n  ") + 15);
    assert_in_range(strlen(out), 100, 2048);
}

static void test_first(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FIRST; i++) {
        begin_story(i);
        plant_story(faulted, 1);
        expect_first("planted", true, "a PD stopped with a fault 1 time, the last time server");
        plant_story(nothing, 1);
        expect_first("planted", true, "only idle and mkperf's PDs ran");
        mixed("mixed", 600, idle_only, 0);
        expect_first("mixed", false, "only idle and mkperf's PDs ran");
        mixed("mixed", 600, costly, 0);
        expect_first("mixed", false, "mkperf's PDs took ");
    }
}

/* The page of each planted system. */
static void test_page(void **state)
{
    static void (*const plants[])(void) = {calls,         throttled,       faulted,
                                           one_slow_call, one_slow_wakeup, one_idle_core,
                                           missing,       inverted,        nothing};
    int status;

    (void)state;
    for (unsigned i = 0; i < sizeof plants / sizeof *plants; i++) {
        begin_story(i);
        plant_story(plants[i], 2);
        char *text = RUN(explain, &status, recording_path("planted"));
        assert_in_range(strlen(text), 200, 2048);
        lacks(text, "A text that is cut");
    }
    /* Questions that lack the same are named once. */
    plant_story(missing, 1);
    char *lacking = strstr(RUN(explain, &status, recording_path("planted")), "\n  idle\n");
    assert_non_null(lacking);
    assert_null(strstr(lacking + 1, "\n  idle\n"));
    /* The texts of 32 cores are cut; one question has all of its text. */
    plant_story(many_cores, 32);
    char *text = RUN(explain, &status, recording_path("planted"));
    assert_in_range(strlen(text), 200, 2048);
    has(text, "  cores          core 0 was busy for ");
    has(text, " ...\n");
    has(text, "\nRuled out\n  faults\n");
    has(text, "\nA text that is cut: mkperf explain --why QUESTION ");
    text = RUN(explain, &status, "--why", "cores", recording_path("planted"));
    has(text, "core 31 was busy for ");
    lacks(text, " ...\n");
}

static void test_planted(void **state)
{
    (void)state;
    check_stories(throttled, 1,
                  EXPECTED({"throttled", "problem", "driver used up its budget"},
                           {"budget", "problem", "driver used up its budget"},
                           {"throughput", "answer", "driver"}));
    check_stories(faulted, 1,
                  EXPECTED({"faults", "problem", "the last time server"},
                           {"wakeups", "ruled out", "no notification"}));
    check_stories(
        one_slow_call, 1,
        EXPECTED({"slow-call", "answer", "client called server for 4"},
                 {"slow-call", "answer", "of these, 400.000 us: server is ready, driver runs"},
                 {"latency", "answer", "server is ready, driver runs"}));
    check_stories(
        one_slow_wakeup, 1,
        EXPECTED({"wakeups", "answer", "interrupt 33 waited for 300.000 us until driver ran"}));
    check_stories(one_idle_core, 2,
                  EXPECTED({"cores", "problem",
                            "core 0 was busy for 100.00 % of the time, longest with client"},
                           {"core1", "problem", "core 1 was busy for "},
                           {"idle", "answer", "core 1 was idle"}));
    check_stories(
        inverted, 1,
        EXPECTED(
            {"inversion", "problem",
             "driver waited for client while store ran, which has a lower priority: 20 times"}));
    check_stories(equal, 1,
                  EXPECTED({"time", "answer", "client 20.00 %; server 20.00 %; store 10.00 %"}));
    check_stories(nothing, 1, EXPECTED({"ran", "problem", "only idle and mkperf's PDs ran"}));
}

static void test_ruled_out(void **state)
{
    (void)state;
    check_stories(calls, 1,
                  EXPECTED({"idle", "answer", "core 0 was idle for"},
                           {"time", "answer", "of one core's time: "},
                           {"faults", "ruled out", "no PD stopped with a fault"},
                           {"throttled", "ruled out", "no PD used up its budget"},
                           {"lost", "ruled out", "were lost"},
                           {"inversion", "ruled out", "no PD waited"},
                           {"cores", "ruled out", "core 0 was busy"},
                           {"names", "undecided", "mkperf record -e cycles"},
                           {"profiler-cost", "undecided", "use mkperf record --elf-path"}));
}

/* What a recording cannot show is not decided, and the text has the recording that would. */
static void test_not_decided(void **state)
{
    static const char *const of_events[] = {"faults",    "throughput", "idle",   "cores",
                                            "slow-call", "wakeups",    "budget", "inversion",
                                            "latency",   "throttled",  "time"};
    enum { QUESTIONS = sizeof of_events / sizeof *of_events };
    struct expected lacking[QUESTIONS];
    int status;

    (void)state;
    for (unsigned i = 0; i < QUESTIONS; i++) {
        lacking[i] = (struct expected){of_events[i], "undecided",
                                       i + 1 < QUESTIONS
                                           ? "scheduling events are missing; record fewer"
                                           : "scheduling events are missing"};
    }
    check_stories(missing, 1, lacking, QUESTIONS);
    recording_make("samples", 5, 0);
    char *text = RUN(explain, &status, "--json", "--why", "slow-call", recording_path("samples"));
    has(text, "\"verdict\":\"undecided\",\"text\":\"the recording has no scheduling events; record "
              "them with mkperf record --sched\"");
}

/* Help lists each question that --why takes. */
static void test_help(void **state)
{
    static const char *const names[] = {"throughput",    "latency",   "idle",    "core1",
                                        "throttled",     "lost",      "faults",  "budget",
                                        "profiler-cost", "slow-call", "wakeups", "regression"};
    char line[40];
    int status;

    (void)state;
    const char *help = strstr(RUN(explain, &status, "--help"), "QUESTION is one of:\n");
    assert_non_null(help);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(line, sizeof line, "\n  %s  ", names[i]);
        has(help, line);
    }
}

static int setup(void **state)
{
    recording_setup(state);
    recording_compile("own",
                      "volatile int sink;\nvoid mkperf_drain(void) { sink++; }\n"
                      "void _start(void) { mkperf_drain(); }\n",
                      "");
    own_code = recording_address("own.elf", "mkperf_drain");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),     cmocka_unit_test(test_regression),
        cmocka_unit_test(test_samples),     cmocka_unit_test(test_first),
        cmocka_unit_test(test_page),        cmocka_unit_test(test_ruled_out),
        cmocka_unit_test(test_not_decided), cmocka_unit_test(test_help),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
