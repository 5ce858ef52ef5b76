/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text from elsewhere is text: a hostile target, a hostile recording and hostile ELFs, and every
 * command that prints. What a command prints is UTF-8 without control characters, escape sequences
 * and bidirectional controls, and no text from elsewhere begins a line of its own.
 */
#include "one_target.h"
#include "recording.h"

#include "hostile_text.h"

static const struct patch in_elf[] =
    {
        {"alpha", "\033[1mX"},          /* a function's name, in .strtab and in .debug_str */
        {"beta", "\r\a\x7f\t"},         /* another's */
        {"gamma_", "\nF!\xe2\x80\xae"}, /* begins a line; right-to-left override */
        {"one.c", "\xc2\x9b"
                  "7mZ"}, /* a source file: CSI of ISO 6429 */
},
                          in_recording[] = {
                              {"client one", "\033[31m\nF!\xe2\a"},
                              {"server", "\r\xe2\x81\xa6SV"},
                              {"instructions", "\033[31m\x9b\a\r\xe2\x80\xaeI"},
                              {"cortex-a53", "\033]0;x\aCPU!"},
                              {"mkperf record", "\033[2J\033[H\nF!lie"},
};

/* ---- a recording and its ELFs -----------------------------------------------------------------
 */

static void test_recording(void **state)
{
    const char *in = recording_path("hostile.data");

    (void)state;
    CHECK(report, 0, "-i", in, "--stdio");
    CHECK(report, 0, "-i", in, "--stdio", "-g", "--children", "-s", "pd,symbol,line,event,core");
    CHECK(report, MKPERF_ERR_USAGE, "-i", in, "--stdio", "--pd", "nosuch");
    CHECK(report, MKPERF_ERR_USAGE, "-i", in, "--stdio", "-e", "nosuch");
    CHECK(report, MKPERF_ERR_INPUT, "-i", in, "--interactions");
    CHECK(script, 0, "-i", in, "-F", "+srcline");
    CHECK(diff, 0, in, recording_path("perf.data"));
    CHECK(diff, 0, "-s", "pd", recording_path("perf.data"), in);
    CHECK(report, MKPERF_ERR_USAGE, "-i", in, "--stdio", "\033[31mnosuch\n");
    CHECK(report, MKPERF_ERR_INPUT, "-i", recording_path("no\033[31m\nF!"));
}

/* The functions' names as report prints them are those that annotate takes. */
static void test_annotate(void **state)
{
    const char *in = recording_path("hostile.data");
    char name[100] = "";
    int status;

    (void)state;
    for (const char *line = RUN(report, &status, "-i", in, "--stdio", "-s", "symbol");
         name[0] == '\0' && line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strstr(line, "[.] ") != NULL && strstr(line, "[.] ") < strchrnul(line, '\n')) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(strstr(line, "[.] ") + 4, "\n"),
                     strstr(line, "[.] ") + 4);
        }
    }
    assert_true(name[0] != '\0');
    CHECK(annotate, 0, "-i", in, name);
    CHECK(annotate, MKPERF_ERR_USAGE, "-i", in, "\033[31mnosuch");
}

static void test_formats(void **state)
{
    static const char *const formats[] = {"folded",    "jsonl",      "flamegraph",
                                          "callgrind", "speedscope", "firefox"};
    const char *in = recording_path("hostile.data");

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *out = recording_path("converted");
        int status;
        size_t n;

        check(formats[i], RUN(convert, &status, in, "--to", formats[i], "-o", out));
        assert_int_equal(status, 0);
        char *text = read_file(out, &n);
        assert_true(n > 100);
        check_text(formats[i], text, n, true);
        free(text);
    }
}

/* perf.data written from a hostile one: perf prints its names as they are. */
static void test_perf(void **state)
{
    const char *out = recording_path("clean.data");

    (void)state;
    CHECK(convert, 0, recording_path("hostile.data"), "--to", "perf", "-o", out);
    char *text = recording_shell("perf script -i %s -F comm,event,time 2>/dev/null", out);
    assert_true(strlen(text) > 1000);
    check_text("perf script", text, strlen(text), true);
    free(text);
}

static void test_json_input(void **state)
{
    static const char json[] =
        "{\"elf_tcb_mappings\": {\"a\\u001b[31m\\nF!\\u202e.elf\": 1}, \"samples\": ["
        "{\"ip\": 100, \"pid\": 1, \"time\": 5, \"cpu\": 0, \"period\": 10, \"nr\": 1, "
        "\"ips\": [7]}]}";
    const char *in = recording_path("hostile.json"), *out = recording_path("json.folded");
    int status;
    size_t n;

    (void)state;
    write_file(in, json, sizeof json - 1);
    CHECK(convert, MKPERF_ERR_INPUT, in, "--to", "folded", "-o", out, "--build-dir", recording_dir);
    check("convert", RUN(convert, &status, "--lenient", in, "--to", "folded", "-o", out,
                         "--build-dir", recording_dir));
    assert_int_equal(status, 0);
    char *text = read_file(out, &n);
    check_text("folded", text, n, true);
    free(text);
}

/* ---- a target ---------------------------------------------------------------------------------
 */

static void test_record(void **state)
{
    const char *out = recording_path("target.data");

    (void)state;
    target_begin((struct how){.texts = HOSTILE, .marks = true, .says = true});
    CHECK(record, 0, "-t", target_address, "-o", out, "--duration", "0.02");
    target_end();
    CHECK(report, 0, "-i", out, "--stdio");
    CHECK(script, 0, "-i", out);
}

static void test_other_commands(void **state)
{
    (void)state;
    target_begin((struct how){.texts = HOSTILE, .marks = true, .says = true});
    CHECK(top, 0, "-t", target_address, "--stdio", "--duration", "0.02");
    CHECK(list, 0, "-t", target_address);
    CHECK_JSON(list, "target known_event", "-t", target_address, "--json");
    CHECK_JSON(top, "top", "-t", target_address, "--json", "--duration", "0.02");
    CHECK(console, MKPERF_ERR_REFUSED, "-t", target_address, "-c", "nonsense");
    target_end();
    target_begin((struct how){.texts = HOSTILE, .counts = COUNTED});
    CHECK(stat, 0, "-t", target_address, "-e", "cycles", "--duration", "0.03");
    target_end();
    target_begin((struct how){.texts = HOSTILE, .counts = COUNTED, .parts = 3});
    CHECK(stat, 0, "-t", target_address, "-e", "cycles", "--duration", "0.03", "--per-pd", "-x",
          ",");
    CHECK_JSON(stat, "count", "-t", target_address, "-e", "cycles", "--duration", "0.03",
               "--per-pd", "--json");
    CHECK(latency, 0, "-t", target_address, "--duration", "0.02");
    CHECK_JSON(latency, "total", "-t", target_address, "--duration", "0.02", "--json");
    target_end();
    target_begin((struct how){.texts = HOSTILE, .bob = true, .marks = true, .says = true});
    CHECK(record, 0, "-t", target_address, "-o", recording_path("bob.data"), "--watch",
          "--duration", "0.02");
    CHECK(record, MKPERF_ERR_REFUSED, "-t", target_address, "-o", recording_path("bob.data"),
          "--duration", "0.02");
    target_end();
}

/* A reason that came from the target: before authentication, and after. */
static void test_errors(void **state)
{
    const char *const out = recording_path("none.data");

    (void)state;
    for (int how = HOSTILE_HELLO; how <= HOSTILE_REQUEST; how++) {
        target_begin((struct how){.texts = how});
        CHECK(record, MKPERF_ERR_REFUSED, "-t", target_address, "-o", out, "--duration", "0.02");
        CHECK(stat, MKPERF_ERR_REFUSED, "-t", target_address, "-e", "cycles", "--duration", "0.02");
        CHECK(list, MKPERF_ERR_REFUSED, "-t", target_address);
        CHECK(top, MKPERF_ERR_REFUSED, "-t", target_address, "--stdio", "--duration", "0.02");
        CHECK(dump, MKPERF_ERR_REFUSED, "-t", target_address, "-o", out);
        CHECK(console, MKPERF_ERR_REFUSED, "-t", target_address, "-c", "status");
        CHECK(latency, MKPERF_ERR_REFUSED, "-t", target_address, "--duration", "0.02");
        CHECK(record, MKPERF_ERR_REFUSED, "-t", target_address, "--overwrite");
        target_end();
    }
}

static int setup(void **state)
{
    recording_setup(state);
    recording_make("perf.data", 20, 3);
    patch(recording_path("perf.data"), recording_path("hostile.data"), in_recording,
          sizeof in_recording / sizeof *in_recording);
    patch(recording_path("one.elf"), recording_path("one.elf"), in_elf,
          sizeof in_elf / sizeof *in_elf);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording),      cmocka_unit_test(test_annotate),
        cmocka_unit_test(test_formats),        cmocka_unit_test(test_perf),
        cmocka_unit_test(test_json_input),     cmocka_unit_test(test_record),
        cmocka_unit_test(test_other_commands), cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
