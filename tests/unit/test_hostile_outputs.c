/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text from elsewhere is text, as in test_hostile.c: of recordings with scheduling events, marks and
 * counts of calls, whose names are hostile, and in the answers of mkperf view.
 */
#include "story_recording.h"

#include "hostile_text.h"
#include "model/figures.h"
#include "view_server.h"

enum { ROUNDS = 20 };

static const struct patch in_story[] = {
    {"client", "\033[31mC"},
    {"server", "\r\n\xe2\x80\xaeS"},
    {"driver", "\nF!\a\x9b"
               "D"},
    {"store", "\xc2\x9b"
              "1mS"},
    {"request", "\nF!\033[7m"},
    {"round", "\033]0;\a"},
};
static const struct patch in_samples[] = {
    {"client one", "\033[31m\nF!\xe2\a"},
    {"server", "\r\xe2\x81\xa6SV"},
    {"cortex-a53", "\033]0;x\aCPU!"},
};
static const struct patch in_elf[] = {
    {"alpha", "\033[1mX"},
    {"gamma_", "\nF!\xe2\x80\xae"},
    {"one.c", "\xc2\x9b"
              "7mZ"},
};

static void write_story(const char *name)
{
    static struct mkperf_interactions calls = {
        .nedges = 1, .edge = {{.from = "client", .to = "server", .calls = 3}}, .total = {1, 1, 3}};
    static struct story story;
    struct mkperf_session session = {.cores = 1, .nevents = 1};
    struct mkperf_chain chain = {.n = 0};
    struct recording r;

    session.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    story_record(&story, &r, name, &session);
    story_rounds(&story, ROUNDS);
    mark(&story, 1100500, MKPERF_MARK_POINT, "request");
    mark(&story, 1100500, MKPERF_MARK_BEGIN, "round");
    mark(&story, 1147000, MKPERF_MARK_END, "round");
    for (uint32_t i = 0; i < STORY_PDS; i++) {
        const struct mkperf_sample s = {
            .time_ns = 1200000 + i, .period = 1000, .pd = i, .pc = 0x1000, .callers = &chain};
        assert_int_equal(mkperf_sink_sample(&story.sink, &s, &r.e), MKPERF_OK);
    }
    struct mkperf_totals t = {.first_ns = story.first,
                              .last_ns = story.last,
                              .samples = STORY_PDS,
                              .sched_events = story.events,
                              .interactions = &calls,
                              .complete = true};
    assert_int_equal(story.sink.take(story.sink.self, MKPERF_ITEM(END, totals, &t), &r.e),
                     MKPERF_OK);
    recording_free(&r);
}

static void latencies(void **state)
{
    const char *in = recording_path("hostile.data");

    (void)state;
    CHECK(latency, 0, in);
    CHECK(latency, 0, in, "-x", ",");
    CHECK_JSON(latency, "call pd core ready total", in, "--json");
    CHECK_JSON(budget, "budget budget-period budget-below", in, "--json");
    CHECK(latency, 0, in, "--critical-path");
    CHECK(latency, 0, in, "--critical-path", "-x", ";");
    CHECK_JSON(latency, "path step", in, "--critical-path", "--json");
    CHECK(latency, 0, in, "--paths");
    CHECK_JSON(latency, "end-to-end path-stage", in, "--paths", "--json");
    CHECK(latency, MKPERF_ERR_USAGE, in, "--path", "irq 33 -> no\033[31m");
    CHECK(latency, MKPERF_ERR_USAGE, in, "--critical-path=no\033[31m:such");
    CHECK(latency, MKPERF_ERR_INPUT, recording_path("no\033[31m\nF!"));
}

static void reports(void **state)
{
    const char *in = recording_path("hostile.data");

    (void)state;
    CHECK(report, 0, "-i", in, "--stdio");
    CHECK(report, 0, "-i", in, "--stdio", "--marks");
    CHECK(report, 0, "-i", in, "--interactions");
    CHECK(report, 0, "-i", in, "--dot");
    CHECK_JSON(report, "row event total", in, "--json", "-s", "event,pd,symbol,core,mode,line,dso");
    CHECK_JSON(report, "row", in, "--json", "--util", "-s", "time,pd,util");
    CHECK_JSON(report, "session pd totals", in, "--json", "--header-only");
    CHECK_JSON(report, "charged charged_by", in, "--json", "--charged");
    CHECK_JSON(report, "interactions soft calls", in, "--json", "--interactions");
    CHECK_JSON(report, "row warning", recording_path("samples.data"), "--json");
    CHECK_JSON(diff, "side change changes", in, in, "--json", "-s", "event,pd,symbol");
    CHECK_JSON(explain, "answer", in, "--json");
    CHECK(script, 0, "-i", in);
}

static void check_file(const char *what, const char *path)
{
    size_t n;
    char *text = read_file(path, &n);

    assert_true(n > 100);
    check_text(what, text, n, true);
    free(text);
}

/* Of a file that is no text: none of what was put in is there. */
static void check_bytes(const char *path, const struct patch *patches, size_t count)
{
    size_t n;
    char *bytes = read_file(path, &n);

    assert_true(n > 100);
    for (size_t i = 0; i < count; i++) {
        if (memmem(bytes, n, patches[i].to, strlen(patches[i].to)) != NULL) {
            fail_msg("%s has what stands for %s", path, patches[i].from);
        }
    }
    free(bytes);
}

static void formats(void **state)
{
    static const char *const names[] = {"chrome",     "jsonl",   "html",      "folded",
                                        "speedscope", "firefox", "flamegraph"};
    const char *out = recording_path("converted");

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(convert, 0, recording_path("hostile.data"), "--to", names[i], "-o", out);
        check_file(names[i], out);
        if (strcmp(names[i], "jsonl") == 0) {
            size_t n;
            char *text = read_file(out, &n);
            check_rows(text, "session pd sample totals");
            free(text);
        }
    }
    /* A directory: a text that describes the bytes of the other file, in which are names as well. */
    CHECK(convert, 0, recording_path("hostile.data"), "-o", recording_path("trace.ctf"));
    check_file("ctf", recording_path("trace.ctf/metadata"));
    check_bytes(recording_path("trace.ctf/core_0"), in_story, sizeof in_story / sizeof *in_story);
}

static void page(void **state)
{
    static const char *const code[] = {"data/code?function=0", "data/code?function=1",
                                       "data/code?function=2"};
    const char *answer_file = recording_path("answer");

    (void)state;
    assert_true(view_start(recording_path("samples.data")));
    assert_int_equal(view_status("", view_address, ""), 200);
    check_file("the page", answer_file);
    assert_int_equal(view_status("", view_address, "data/profile"), 200);
    check_bytes(answer_file, in_samples, sizeof in_samples / sizeof *in_samples);
    check_bytes(answer_file, in_elf, sizeof in_elf / sizeof *in_elf);
    for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
        assert_int_equal(view_status("", view_address, code[i]), 200);
        check_file(code[i], answer_file);
    }
    view_stop();
}

static int setup(void **state)
{
    recording_setup(state);
    write_story("story.data");
    patch(recording_path("story.data"), recording_path("hostile.data"), in_story,
          sizeof in_story / sizeof *in_story);
    recording_make("plain.data", 20, 3);
    patch(recording_path("plain.data"), recording_path("samples.data"), in_samples,
          sizeof in_samples / sizeof *in_samples);
    patch(recording_path("one.elf"), recording_path("one.elf"), in_elf,
          sizeof in_elf / sizeof *in_elf);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies),
        cmocka_unit_test(reports),
        cmocka_unit_test(formats),
        cmocka_unit_test(page),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
