/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical paths and latencies that the page of mkperf view computes itself (critical_path.js,
 * latency.js) are those of mkperf latency: the same steps, words and numbers, to the nanosecond, in known
 * stories and in any events. The page's scripts run in node; without it the test is skipped.
 */
#include "sched_story.h"

#include <inttypes.h>
#include <unistd.h>

#include "page/page.h"
#include "report/report.h"
#include "sched/analysis.h"

enum { WINDOWS = 30, STORIES = 30, MARKS = 200 };

static struct story story;
static struct mkperf_mark mark[MARKS]; /* one after every marks_every-th event */
static unsigned marks, marks_every;
static struct mkperf_session session;
static char directory[32], container[64], wanted[64];
static unsigned checked;  /* recordings that node has not compared yet */
static char *lines[1024]; /* lines of latencies, which node sorts as text */

static int open_files(void **state)
{
    (void)state;
    session = (struct mkperf_session){.platform = "test", .cpu = ""};
    strcpy(directory, "/tmp/mkperf-page-XXXXXX");
    return mkdtemp(directory) == NULL;
}

static int remove_files(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

/* The story's events again, into another sink. */
static void deliver(struct mkperf_sink sink)
{
    static struct story again;

    story_begin(&again, sink, &session);
    for (unsigned i = 0; i < story.events; i++) {
        story_pass(&again, story.kept[i]);
        unsigned k = i / (marks_every + 1);
        if (i % (marks_every + 1) == marks_every && k < marks) {
            mark[k].time_ns = story.kept[i].time_ns;
            assert_int_equal(sink.take(sink.self, MKPERF_ITEM(MARK, mark, &mark[k]), &story.e),
                             MKPERF_OK);
        }
    }
    story_end(&again);
}

static void put_container(void)
{
    static struct mkperf_profile profile;
    struct mkperf_frames frames = {.profile = &profile};
    FILE *out = fopen(container, "we");

    memset(&profile, 0, sizeof profile);
    profile.cores = profile.times = profile.keep_schedule = true;
    deliver(mkperf_profile_sink(&profile));
    assert_int_equal(mkperf_profile_order(&profile, &story.e), MKPERF_OK);
    const struct page_input in = page_input_of(&frames, "story");
    struct page_bytes data = page_data_make(&in);
    assert_non_null(out);
    assert_int_equal(fwrite(data.p, 1, data.n, out), data.n);
    assert_int_equal(fclose(out), 0);
    page_bytes_free(&data);
    mkperf_frames_close(&frames);
    mkperf_profile_free(&profile);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Calls, and wake-ups if it is a story that a kernel could report: in others a PD is woken twice, and
 * the page counts both. */
static void want_latencies(FILE *out, bool wakeups)
{
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_latency_rows rows;
    unsigned n = 0;
    char irq[32];

    deliver(mkperf_analysis_sink(a));
    mkperf_latency_rows_of(a, &rows);
    for (unsigned i = 0; i < rows.n; i++) {
        const struct mkperf_latency_row *r = &rows.row[i];
        snprintf(irq, sizeof irq, "irq %" PRIu32, r->irq);
        const struct mkperf_log_histogram *h = r->of;
        if (h->count > 0 && (wakeups || r->kind == MKPERF_LATENCY_CALL)) {
            assert_true(asprintf(&lines[n++],
                                 "latency %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                                 " %" PRIu64 " %" PRIu64 " %s -> %s",
                                 h->count, h->total, mkperf_log_quantile(h, 500),
                                 mkperf_log_quantile(h, 900), mkperf_log_quantile(h, 990),
                                 mkperf_log_quantile(h, 999), h->max,
                                 r->kind == MKPERF_LATENCY_IRQ ? irq : r->from, r->to) > 0);
        }
    }
    qsort(lines, n, sizeof *lines, compare_lines);
    for (unsigned i = 0; i < n; i++) {
        fprintf(out, "%s\n", lines[i]);
        free(lines[i]);
    }
    mkperf_latency_rows_free(&rows);
    mkperf_analysis_free(a);
}

static void want_path(FILE *out, uint32_t pd, uint64_t from, uint64_t to)
{
    static const char *const by[MKPERF_SCHED_KINDS] = {[MKPERF_SCHED_CALL] = "call",
                                                       [MKPERF_SCHED_REPLY] = "reply",
                                                       [MKPERF_SCHED_NOTIFY] = "notify",
                                                       [MKPERF_SCHED_FAULT] = "fault"};
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_timeline timeline;
    struct mkperf_path path;
    char text[256];

    mkperf_timeline_attach(&timeline, a, from, to);
    deliver(mkperf_analysis_sink(a));
    mkperf_path_find(&path, &timeline, pd, from, to);
    fprintf(out, "path %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", pd, from, to);
    for (size_t i = 0; i < path.n; i++) {
        const struct mkperf_path_step *s = &path.step[i];
        report_path_text(a, s, text, sizeof text);
        fprintf(out, "step %" PRIu64 " %" PRIu64 " %s %s\n", s->what.from, s->what.to,
                by[s->entered] != NULL ? by[s->entered] : "", text);
    }
    mkperf_path_free(&path);
    mkperf_timeline_free(&timeline);
    mkperf_analysis_free(a);
}

/* What a path is wanted of: the longest of all such times, or the one under way at a time. */
static void want_choice(FILE *out, const char *what, uint64_t at)
{
    struct mkperf_path_choice c = {
        .analysis = mkperf_analysis_new(), .has_at = at != 0, .at_ns = at};

    assert_int_equal(mkperf_path_choice_parse(&c, what, &story.e), MKPERF_OK);
    deliver(mkperf_path_choice_sink(&c));
    fprintf(out, "choose %s %" PRIu64 " ", what, at);
    if (c.found) {
        fprintf(out, "%" PRIu32 " %" PRIu64 " %" PRIu64 " of %" PRIu64 "\n", c.pd, c.from_ns,
                c.to_ns, c.candidates);
    } else {
        fprintf(out, "none\n");
    }
    mkperf_analysis_free(c.analysis);
    mkperf_marks_free(&c.phases);
}

/* Between marks, in phases, and of calls. */
static void want_choices(FILE *out, uint32_t *seed)
{
    static const char *const what[] = {"client:server", "server:store", "begin..end", "end..begin",
                                       "begin..begin",  "begin",        "end"};

    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        want_choice(out, what[i], 0);
        want_choice(out, what[i],
                    story.first + story_draw(seed, (unsigned)(story.last - story.first)));
    }
}

/* Writes the story for the page, and what the command computes of it: of all of it, and of windows of time anywhere in it. */
static void check(uint32_t seed, bool wakeups)
{
    snprintf(container, sizeof container, "%s/%02u.page", directory, checked);
    snprintf(wanted, sizeof wanted, "%s/%02u.text", directory, checked++);
    FILE *out = fopen(wanted, "we");

    assert_non_null(out);
    put_container();
    want_latencies(out, wakeups);
    for (unsigned i = 0; i < WINDOWS; i++) {
        uint64_t from = story.first + story_draw(&seed, (unsigned)(story.last - story.first));
        uint64_t to = from + 1 + story_draw(&seed, (unsigned)(story.last - from));
        want_path(out, story_draw(&seed, IDLE), from, to);
    }
    want_path(out, SERVER, story.first, story.last);
    want_choices(out, &seed);
    assert_int_equal(fclose(out), 0);
}

/* Compares the page with the command, in all stories that were written: node takes longer to start than for one of them. */
static void compare(bool wakeups)
{
    char command[256], answer[512] = "";

    snprintf(command, sizeof command, "node tests/npm/page_paths.mjs %s %s/*.page 2>&1 && rm %s/*",
             wakeups ? "wake-ups" : "calls", directory, directory);
    FILE *node = popen(command, "r");
    assert_non_null(node);
    size_t n = fread(answer, 1, sizeof answer - 1, node);
    answer[n] = '\0';
    if (pclose(node) != 0) {
        fail_msg("%s", answer);
    }
    char compared[32];
    snprintf(compared, sizeof compared, "%u recordings\n", checked);
    assert_string_equal(answer, compared);
    checked = 0;
}

static bool has_node(void)
{
    static int status = -1;

    status = status < 0 ? system("node --version >/dev/null 2>&1") : status;
    return status == 0;
}

static void begin(void)
{
    if (!has_node()) {
        skip();
    }
    story_begin(&story, (struct mkperf_sink){.take = mkperf_take_nothing}, &session);
}

/* Points, and beginnings and ends of phases, of a few PDs, with the same names. */
static void make_marks(uint32_t seed)
{
    marks = MARKS;
    marks_every = (unsigned)(story.events / MARKS);
    for (unsigned i = 0; i < MARKS; i++) {
        mark[i] = (struct mkperf_mark){.pd = story_draw(&seed, 2),
                                       .id = story_draw(&seed, 2),
                                       .kind = (enum mkperf_mark_kind)story_draw(&seed, 3),
                                       .name = story_draw(&seed, 2) == 0 ? "begin" : "end"};
    }
}

/* Calls, a preemption, interrupts and notifications, and a gap behind them. */
static void known_rounds(void **state)
{
    (void)state;
    begin();
    story_rounds(&story, 5);
    gap(&story, 1500000, 2000000, 7);
    run(&story, 2001000, SERVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2050000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    check(1, true);
    compare(true);
}

static void any_events(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < STORIES; seed++) {
        begin();
        story_any(&story, seed, 1500);
        make_marks(seed);
        check(seed, false);
    }
    compare(false);
}

/* On two cores, between which PDs go; calls, replies and notifications across. */
static void two_cores(void **state)
{
    (void)state;
    session.cores = 2;
    for (uint32_t seed = 0; seed < STORIES / 3; seed++) {
        uint32_t draw = seed;
        uint64_t t = 1000;
        begin();
        for (unsigned i = 0; i < 1500; i++) {
            uint32_t core = story_draw(&draw, 2), to = story_draw(&draw, STORY_PDS);
            t += story_draw(&draw, 50);
            if (to == story.running[1 - core] || story_draw(&draw, 2) == 0) {
                story_pass(&story,
                           (struct mkperf_sched){.time_ns = t,
                                                 .core = core,
                                                 .kind = (enum mkperf_sched_kind)(
                                                     1 + story_draw(&draw, MKPERF_SCHED_LOCK - 1)),
                                                 .from = story.running[core],
                                                 .to = to});
            } else {
                on_core(&story, core, t, to,
                        (enum mkperf_sched_reason)story_draw(&draw, MKPERF_STOPPED_REASONS));
            }
        }
        make_marks(seed);
        check(seed, false);
    }
    compare(false);
    session.cores = 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_rounds),
        cmocka_unit_test(any_events),
        cmocka_unit_test(two_cores),
    };

    return cmocka_run_group_tests(tests, open_files, remove_files);
}
