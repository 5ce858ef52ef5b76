/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf latency of a recording of a known story: tables, values, JSON, and what it refuses. */
#include "story_recording.h"

#include "pd/profiler/latency.h"

#include <signal.h>
#include <sys/resource.h>

enum { ROUNDS = 40 };

static struct story story; /* the story as it was written */

static void write_story(const char *name)
{
    struct mkperf_session session = {.cores = 1};
    struct recording r;

    story_record(&story, &r, name, &session);
    story_rounds(&story, ROUNDS);
    mark(&story, 1100500, MKPERF_MARK_POINT, "request");
    mark(&story, 1100500, MKPERF_MARK_BEGIN, "round");
    mark(&story, 1147000, MKPERF_MARK_POINT, "done");
    mark(&story, 1147000, MKPERF_MARK_END, "round");
    story_end(&story);
    recording_free(&r);
}

static int setup(void **state)
{
    recording_setup(state);
    write_story("story.data");
    recording_make("samples.data", 3, 0);
    return 0;
}

static void tables(void **state)
{
    int status;
    char *text = RUN(latency, &status, recording_path("story.data"));

    (void)state;
    assert_int_equal(status, 0);
    has(text, "401 scheduling events in 0.003948 s");
    has(text,
        "        40         38.000         38.000         38.000         38.000         38.000 "
        "        38.000       0.001046  client -> server");
    has(text, "    0.00    34.21    65.79      0.00     0.00     0.00  client -> server\n"
              "             calls: store 65.79 %\n"
              "             worst, us: 38.000 = waited 0.000 + own 13.000 + calls 25.000 + "
              "preempted 0.000 + budget 0.000 + other 0.000\n");
    has(text, "             preempted by: driver 20.00 %\n");
    has(text, "  irq 33 -> driver\n");
    has(text, "store (101)  ready: mostly behind driver");
    has(text, "budget 2000 of 10000 us (20.00 %), consumed 5.07 %, head room 14.93 %");
    has(text, "   47.62    52.38     0.00  0\n");
}

static void values(void **state)
{
    int status;
    char *text = RUN(latency, &status, "-x", ",", "-i", recording_path("story.data"));

    (void)state;
    assert_int_equal(status, 0);
    has(text, "call,client,server,0,40,1520000,38000,38000,38000,38000,38000,1046000,0\n"
              "bucket,call,client,server,0,38912,40\n"
              "parts,client,server,1520000,0,520000,1000000,0,0,0\n"
              "worst,client,server,38000,0,13000,25000,0,0,0\n"
              "nested,client,server,store,1000000\n");
    has(text, "parts,server,store,1000000,0,800000,0,200000,0,0\n");
    has(text, "preempted,server,store,driver,200000\n");
    has(text, "irq,,driver,33,39,39000,1000,1000,1000,1000,1000,1128000,0\n");
    has(text, "core,0,1880000,2068000,0\n");
    has(text, "total,1000000,4948000,401,320,0,0,0,0\n");
    text = RUN(latency, &status, "--json", "-i", recording_path("story.data"));
    assert_int_equal(status, 0);
    has(text, "{\"type\":\"parts\",\"from\":\"server\",\"to\":\"store\",\"wall_ns\":1000000,"
              "\"wait_ns\":0,\"own_ns\":800000,\"nested_ns\":0,\"preempted_ns\":200000,"
              "\"budget_ns\":0,\"other_ns\":0}\n");
    char *lines = recording_shell("tests/tool/check-json <%s && wc -l <%s", recording_path("out"),
                                  recording_path("out"));
    assert_int_equal(atoi(lines), 25); /* the head and 24 rows */
    free(lines);
}

/* The recording has no samples: the other commands report that by the file's name, and report has its head and marks. */
static void without_samples(void **state)
{
    const char *data = recording_path("story.data");
    int status;

    (void)state;
    char *text = RUN(report, &status, "--header-only", data);
    assert_int_equal(status, 0);
    has(text, "# marks       4\n");
    has(text, " s from the first event to the last\n");
    has(text, "# lost        0 of 401 scheduling events (0.00 %)\n");
    text = RUN(report, &status, "--stdio", "--marks", data);
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "+0.000101 s  client: request (0)\n");
    has(text, "story.data: a recording of only scheduling events has no samples");
    text = RUN(script, &status, data);
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "story.data: a recording of only");
    text = RUN(diff, &status, recording_path("samples.data"), data);
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "story.data: a recording of only");
    has(text, "mkperf diff --latency compares two of them");
    text = RUN(convert, &status, data, "-o", recording_path("story.folded"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "story.data: a recording of only");
}

/* Of a copy, by conversion: priorities, budgets, and which PD is idle are in it. */
static void converted(void **state)
{
    static const char *const as[] = {"table", "-x,", "--json"};
    const char *copies[] = {recording_path("copy.data"), recording_path("copy.pipe")};
    int status;

    (void)state;
    (void)RUN(convert, &status, "-q", recording_path("story.data"), "-o", copies[0]);
    assert_int_equal(status, 0);
    (void)RUN(convert, &status, "-q", recording_path("story.data"), "--to", "perf", "-o", "-");
    assert_int_equal(status, 0);
    free(recording_shell("mv %s %s", recording_path("out"), copies[1]));
    for (unsigned i = 0; i < sizeof as / sizeof *as; i++) {
        char *first =
            strdup(RUN(latency, &status, recording_path("story.data"), i != 0 ? as[i] : NULL));
        for (unsigned k = 0; k < 2; k++) {
            char *text = RUN(latency, &status, copies[k], i != 0 ? as[i] : NULL);
            assert_int_equal(status, 0);
            assert_string_equal(strchr(first, '\n'),
                                strchr(text, '\n')); /* behind the file's name */
        }
        free(first);
    }
    char *first =
        strdup(RUN(report, &status, "--stdio", "--util", "-i", recording_path("story.data")));
    has(first, " idle");
    for (unsigned k = 0; k < 2; k++) {
        char *text = RUN(report, &status, "--stdio", "--util", "-i", copies[k]);
        assert_string_equal(strstr(first, "# Overhead"), strstr(text, "# Overhead"));
    }
    free(first);
}

/* The longest of 40 equal calls is the first. */
static void critical_path(void **state)
{
    int status;
    char *text =
        RUN(latency, &status, "--critical-path=client:server", recording_path("story.data"));

    (void)state;
    assert_int_equal(status, 0);
    has(text, "# critical path of the longest of 40 calls, client -> server\n"
              "# 38.000 us, from 0.001008000 to 0.001046000 s: 5 steps\n\n"
              "            us        %    times  what\n"
              "        20.000    52.63        2  store runs, for server\n"
              "        13.000    34.21        2  server runs, for client\n"
              "         5.000    13.16        1  store is ready, driver runs\n\n"
              "     after, us             us       by  what\n"
              "         0.000         10.000           server runs, for client\n"
              "        10.000         10.000     call  store runs, for server\n"
              "        20.000          5.000           store is ready, driver runs\n"
              "        25.000         10.000           store runs, for server\n"
              "        35.000          3.000    reply  server runs, for client\n");
    text = RUN(latency, &status, "--critical-path", "--at", "0.002030", "--json",
               recording_path("story.data"));
    assert_int_equal(status, 0);
    has(text, "{\"type\":\"path\",\"from_ns\":2008000,\"to_ns\":2046000,\"steps\":5}\n");
    has(text, "\"pd\":\"store\",\"state\":\"ready\",\"by\":\"driver\",\"serving\":\"server\","
              "\"entered\":\"\",\"irq\":0}\n");
    /* From a mark to the next of another name, and a phase: by the client's program. */
    text = RUN(latency, &status, "--critical-path=request..done", "-x", ",",
               recording_path("story.data"));
    assert_int_equal(status, 0);
    has(text, "path,1100500,1147000,8\nstep,1100500,1101000,client,waiting,,,,0\n"
              "step,1101000,1108000,client,running,,,,0\n"
              "step,1108000,1118000,server,running,,client,call,0\n");
    text = RUN(latency, &status, "--critical-path=round", "-x", ",", recording_path("story.data"));
    assert_int_equal(status, 0);
    has(text, "path,1100500,1147000,");
}

/* A disk that is full in the middle: an older file stays, and what was printed has another name. */
static void full_disk(void **state)
{
    struct rlimit limit, small;
    int status;

    (void)state;
    free(recording_shell("echo older >%s; rm -f %s", recording_path("printed"),
                         recording_path("new")));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    for (const char *const *name = (const char *const[]){"printed", "new", NULL}; *name; name++) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        char *text =
            RUN(latency, &status, "-o", recording_path(*name), recording_path("story.data"));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(status, MKPERF_ERR_OUTPUT);
        has(text, ".partial: File too large; what was printed until then is in ");
    }
    char *left = recording_shell("cat %s; cd %s && ls new; wc -c <new.partial; rm *.partial",
                                 recording_path("printed"), recording_dir);
    assert_string_equal(left, "older\n1000\n");
    free(left);
    (void)RUN(latency, &status, "-o", "/dev/full", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_OUTPUT);
    /* Nothing is printed of a file that is not there. */
    (void)RUN(latency, &status, "-o", recording_path("new"), "missing.data");
    assert_int_equal(status, MKPERF_ERR_INPUT);
    left = recording_shell("cd %s && ls new new.partial 2>/dev/null", recording_dir);
    assert_string_equal(left, "");
    free(left);
    (void)RUN(latency, &status, "-o", recording_path("printed"), recording_path("story.data"));
    assert_int_equal(status, 0);
    left = recording_shell("head -n 1 %s; cd %s && ls *.partial 2>/dev/null",
                           recording_path("printed"), recording_dir);
    has(left, "# ");
    assert_null(strstr(left, "partial"));
    free(left);
}

static void critical_path_refuses(void **state)
{
    int status;
    char *text =
        RUN(latency, &status, "--critical-path=client:srever", recording_path("story.data"));

    (void)state;
    assert_int_equal(status, MKPERF_ERR_USAGE);
    has(text, "no PD 'srever' is recorded");
    text = RUN(latency, &status, "--critical-path=client:store", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "no whole call client -> store is recorded");
    text = RUN(latency, &status, "--critical-path=done..request", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "no mark 'done' with a later mark 'request'");
    text = RUN(latency, &status, "--critical-path", "--at", "9", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "no whole call is recorded at that time");
    text = RUN(latency, &status, "--critical-path=:x", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = RUN(latency, &status, "--at", "1", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    has(text, "--at is for --critical-path");
    text = RUN(latency, &status, "--critical-path", recording_path("samples.data"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "no scheduling events were recorded");
}

static struct mkperf_latency target;

/* Returns the greatest value of the bucket in which the quantile is. */
static uint64_t quantile(unsigned pair, unsigned per_mille)
{
    const struct mkperf_latency_pair *p = &target.pair[pair];
    uint64_t wanted = (p->count * per_mille + 999) / 1000, seen = 0, value = 0;

    for (unsigned bucket = 0; bucket < MKPERF_LOG_BUCKETS && seen < wanted; bucket++) {
        seen += mkperf_latency_count(&target, pair, bucket);
        while (seen >= wanted && mkperf_log_bucket(value + 1) <= bucket) {
            value++;
        }
    }
    return value < p->max ? value : p->max;
}

static const char *name_of(uint64_t thread)
{
    return story_names[thread == MKPERF_THREAD_IDLE ? IDLE : thread - 1];
}

/* Gives the story's events to the target, at 1 ns a tick. */
static void replay(void)
{
    for (unsigned i = 0; i < story.events; i++) {
        const struct mkperf_sched *e = &story.kept[i];
        uint64_t thread = e->to == IDLE ? MKPERF_THREAD_IDLE : e->to + 1;
        mkperf_latency_event(
            &target, e->core,
            mkperf_sched_header(e->kind, e->kind == MKPERF_SCHED_SWITCH ? e->reason : 0, e->irq),
            thread, e->time_ns);
    }
}

static mkperf_Status reached;

/* Compares the target's latencies with a limit, at 1 ns a tick. */
static void begin_limit(const mkperf_StopIf *limit)
{
    mkperf_latency_begin(&target);
    reached = (mkperf_Status)mkperf_Status_init_zero;
    mkperf_latency_limit(&target, limit, 1, 1000000000, &reached);
}

/* Returns whether the story reaches a limit; `reached` shows how. */
static bool reaches(mkperf_StopIf limit)
{
    begin_limit(&limit);
    replay();
    assert_int_equal(target.dropped, 0);
    return reached.trigger == mkperf_FlightTrigger_FLIGHT_CONDITION &&
           reached.trigger_kind == limit.kind;
}

/* The conditions that end a flight recording: the first latency that reaches the limit, to the tick. */
static void limits(void **state)
{
    (void)state;
    assert_true(reaches((mkperf_StopIf){
        .kind = mkperf_StopKind_STOP_CALL, .from = CLIENT + 3, .to = SERVER + 3, .ns = 38000}));
    assert_int_equal(reached.trigger_ticks, 38000);
    assert_int_equal(reached.trigger_at, 1046000); /* as the table of the recording has it */
    assert_int_equal(reached.trigger_from, CLIENT + 3);
    assert_int_equal(reached.trigger_thread, SERVER + 3);
    assert_false(reaches((mkperf_StopIf){
        .kind = mkperf_StopKind_STOP_CALL, .from = CLIENT + 3, .to = SERVER + 3, .ns = 38001}));
    assert_false(reaches(
        (mkperf_StopIf){.kind = mkperf_StopKind_STOP_CALL, .from = SERVER + 3, .to = CLIENT + 3}));
    assert_true(
        reaches((mkperf_StopIf){.kind = mkperf_StopKind_STOP_CALL, .to = STORE + 3, .ns = 1}));
    assert_int_equal(reached.trigger_from, SERVER + 3);
    assert_true(reaches((mkperf_StopIf){.kind = mkperf_StopKind_STOP_IRQ, .from = 34, .ns = 1}));
    assert_int_equal(reached.trigger_from, 33);
    assert_int_equal(reached.trigger_thread, DRIVER + 3);
    assert_false(reaches((mkperf_StopIf){.kind = mkperf_StopKind_STOP_IRQ, .from = 35}));
    assert_true(
        reaches((mkperf_StopIf){.kind = mkperf_StopKind_STOP_READY, .to = STORE + 3, .ns = 1}));
    uint64_t ready = reached.trigger_ticks;
    assert_true(
        reaches((mkperf_StopIf){.kind = mkperf_StopKind_STOP_READY, .to = STORE + 3, .ns = ready}));
    assert_false(reaches(
        (mkperf_StopIf){.kind = mkperf_StopKind_STOP_READY, .to = STORE + 3, .ns = 1000000}));
    assert_false(reaches((mkperf_StopIf){.kind = mkperf_StopKind_STOP_THROTTLED}));
    begin_limit(&(mkperf_StopIf){.kind = mkperf_StopKind_STOP_THROTTLED, .to = CLIENT + 3});
    for (unsigned i = 0; i < 2; i++) {
        mkperf_latency_event(
            &target, 0,
            mkperf_sched_header(MKPERF_SCHED_SWITCH,
                                i == 0 ? MKPERF_STOPPED_IDLE : MKPERF_STOPPED_BUDGET, 0),
            i == 0 ? CLIENT + 1 : MKPERF_THREAD_IDLE, 100 + i);
        assert_int_equal(reached.trigger == mkperf_FlightTrigger_FLIGHT_CONDITION, i);
    }
    assert_int_equal(reached.trigger_at, 101);
}

/* What the target aggregates itself of the same events, at 1 ns a tick, are the same numbers. */
static void same_as_on_the_target(void **state)
{
    int status;
    unsigned rows = 0;
    char *text = RUN(latency, &status, "-x", ",", "-i", recording_path("story.data"));

    (void)state;
    mkperf_latency_begin(&target);
    replay();
    for (unsigned i = 0; i < MKPERF_LATENCY_PAIRS; i++) {
        static const char *const kinds[] = {"call", "notification", "irq"};
        const struct mkperf_latency_pair *p = &target.pair[i];
        mkperf_LatencyPair ends;
        char row[256];
        if (p->key == 0) {
            continue;
        }
        mkperf_latency_ends(&target, p, &ends);
        bool irq = ends.kind == mkperf_LatencyKind_LATENCY_IRQ;
        snprintf(row, sizeof row, "%s,%s,%s,%u,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
                 kinds[ends.kind], irq ? "" : name_of(mkperf_thread_from_wire(ends.from)),
                 name_of(mkperf_thread_from_wire(ends.to)), ends.irq, (unsigned long long)p->count,
                 (unsigned long long)p->total, (unsigned long long)quantile(i, 500),
                 (unsigned long long)quantile(i, 900), (unsigned long long)quantile(i, 990),
                 (unsigned long long)quantile(i, 999), (unsigned long long)p->max,
                 (unsigned long long)p->max_at, (unsigned long long)p->busy);
        has(text, row);
        rows++;
    }
    assert_true(rows >= 3);
    assert_int_equal(target.dropped, 0);
}

static void refuses(void **state)
{
    int status;
    char *text = RUN(latency, &status, recording_path("samples.data"));

    (void)state;
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "no scheduling events were recorded (mkperf record --sched)");
    text = RUN(latency, &status, "-I", "100", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    has(text, "-I, --duration and --record are for a target");
    text = RUN(latency, &status, "-t", "tcp:localhost", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = RUN(latency, &status, "-o", "/nonexistent/x", recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_OUTPUT);
    /* What only looks at samples shows where to look. */
    text = RUN(report, &status, recording_path("story.data"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "mkperf latency and mkperf report --util show what is in it");
    text = RUN(convert, &status, recording_path("story.data"), "-o", recording_path("x.folded"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
}

/* More different paths than are counted: 1024 are, and the others' instances are in a warning. */
static void many_paths(void **state)
{
    enum { PATHS = 1100, TWICE = 2 };
    struct mkperf_session session = {.cores = 1};
    struct recording r;
    uint64_t t = 1000000;
    int status;

    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        const unsigned paths = more != 0 ? PATHS : 1024;

        story_record(&story, &r, "paths.data", &session);
        run(&story, t, DRIVER, MKPERF_STOPPED_UNKNOWN);
        run(&story, t += 100, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
        for (unsigned i = 0; i < TWICE * paths; i++) {
            story.events = 0; /* the story is longer than what it keeps */
            irq(&story, t += 1000, 32 + i % paths, DRIVER);
            run(&story, t += 10, DRIVER, MKPERF_STOPPED_IDLE);
            run(&story, t += 100, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
        }
        story_end(&story);
        recording_free(&r);
        char *text = RUN(latency, &status, "--json", "--paths", recording_path("paths.data"));
        assert_int_equal(status, 0);
        has(text, " -> driver\"");
        const char *warning = "\"text\":\"152 instances of further paths are not counted\"";
        if (more != 0) {
            has(text, warning);
        } else {
            lacks(text, "not counted");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(values),
        cmocka_unit_test(without_samples),
        cmocka_unit_test(converted),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(critical_path),
        cmocka_unit_test(critical_path_refuses),
        cmocka_unit_test(same_as_on_the_target),
        cmocka_unit_test(limits),
        cmocka_unit_test(many_paths),
        cmocka_unit_test(refuses),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
