/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every output format from one known profile: two events, user, kernel and idle samples, a chain
 * across PDs, losses, and a PD whose name is as bad as can be. What readers of the formats make of
 * the files is tests/system/exports.sh's business: it runs this with MKPERF_SINKS_DIR, where the
 * files stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/formats.h"

static char temporary[] = "/tmp/mkperf-sinks-XXXXXX";
static const char *dir = temporary;

static const char program[] =
    "static volatile int sink;\n"
    "static inline __attribute__((always_inline)) int inner(int a) { sink = a; return a + 1; }\n"
    "__attribute__((noinline)) int leaf(int a) { return inner(a) + sink; }\n"
    "__attribute__((noinline)) int middle(int a) { return leaf(a) + 1; }\n"
    "void _start(void) { sink = middle(3); }\n";
static const char kernel[] = "static volatile int sink;\n"
                             "__attribute__((noinline)) void handle(void) { sink++; }\n"
                             "__attribute__((noinline)) void idle_thread(void) { sink--; }\n"
                             "void _start(void) { handle(); idle_thread(); }\n";

#define ODD_NAME "a;b \"<&>\xff\t'\xc3\xa4"

static char client_elf[256], kernel_elf[256];
static struct {
    uint64_t leaf, middle, start, handle, idle;
} at;

static void compile(const char *name, const char *text, char path[256])
{
    char command[1024];
    FILE *f;

    snprintf(path, 256, "%s/%s.c", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command,
             "cd %s && aarch64-linux-gnu-gcc -O1 -g -fno-optimize-sibling-calls -ffreestanding "
             "-nostdlib -static -Wl,--build-id -o %s.elf %s.c",
             dir, name, name);
    assert_int_equal(system(command), 0);
    snprintf(path, 256, "%s/%s.elf", dir, name);
}

static uint64_t address(const char *elf, const char *function)
{
    char command[512];
    uint64_t addr = 0;
    FILE *p;

    snprintf(command, sizeof command, "aarch64-linux-gnu-nm %s | awk '$3 == \"%s\" { print $1 }'",
             elf, function);
    p = popen(command, "r");
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%" SCNx64, &addr), 1);
    pclose(p);
    return addr;
}

static struct mkperf_error e;

static void begin_with(const struct mkperf_sink *s, bool sched)
{
    struct mkperf_session session = {
        .sched = sched,
        .platform = "pocket",
        .cpu = "Cortex-A53",
        .kernel_elf = kernel_elf,
        .cores = 2,
        .nevents = 2,
        .event =
            {{.name = "cpu-cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000},
             {.name = "r17", .code = 0x17, .user = true, .frequency = 100}},
        .max_frames = 16,
        .command = "mkperf record <test>"};
    struct mkperf_pd pd[] = {
        {.thread = 1, .id = 0, .name = "client", .elf = client_elf},
        {.thread = 2, .id = 1, .name = ODD_NAME, .parent = "client"},
        {.thread = MKPERF_THREAD_IDLE, .id = 2, .name = "idle"},
    };

    assert_int_equal(s->take(s->self, MKPERF_ITEM(BEGIN, session, &session), &e), MKPERF_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(s->take(s->self, MKPERF_ITEM(PD, pd, &pd[i]), &e), MKPERF_OK);
    }
}

static void begin(const struct mkperf_sink *s)
{
    begin_with(s, false);
}

static uint64_t now;

static void add(const struct mkperf_sink *s, unsigned times, struct mkperf_sample sample)
{
    static const struct mkperf_chain none = {.n = 0};

    sample.callers = sample.callers != NULL ? sample.callers : &none;
    for (unsigned i = 0; i < times; i++) {
        sample.time_ns = now += 1000000;
        sample.core = i % 2;
        assert_int_equal(s->take(s->self, MKPERF_ITEM(SAMPLE, sample, &sample), &e), MKPERF_OK);
    }
}

/* A phase around another of the same name and number, one that never ends, a moment. */
static void mark(const struct mkperf_sink *s)
{
    static const struct mkperf_mark marks[] = {
        {500000, 0, MKPERF_MARK_BEGIN, 7, "request"},
        {1500000, 0, MKPERF_MARK_BEGIN, 7, "request"},
        {2500000, 0, MKPERF_MARK_END, 7, "request"},
        {2500000, 0, MKPERF_MARK_END, 8, "request"},
        {4500000, 0, MKPERF_MARK_END, 7, "request"},
        {3000000, 1, MKPERF_MARK_POINT, 0, "a \"b\""},
        {3000000, 2, MKPERF_MARK_BEGIN, 1, "forever"},
    };

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        assert_int_equal(s->take(s->self, MKPERF_ITEM(MARK, mark, &marks[i]), &e), MKPERF_OK);
    }
}

/* cpu-cycles: 16 samples, 16,000; r17: 2 samples, 50. Lost: 5 in the ring, 7 on the link. */
static void feed(const struct mkperf_sink *s)
{
    struct mkperf_chain chain = {.n = 2, .caller = {{at.middle + 12, 0}, {at.start + 12, 0}}};
    struct mkperf_chain served = {.n = 2, .caller = {{0x2000, 1}, {at.middle + 12, 0}}};
    struct mkperf_lost lost[] = {{1500000, 5, 5000, MKPERF_LOST_RING, 1},
                                 {2500000, 7, 0, MKPERF_LOST_LINK, 0}};
    struct mkperf_totals totals = {.samples = 18,
                                   .lost = {[MKPERF_LOST_RING] = 5, [MKPERF_LOST_LINK] = 7},
                                   .marks = 7,
                                   .first_ns = 1000000,
                                   .last_ns = 18000000,
                                   .complete = true};

    now = 0;
    begin(s);
    mark(s);
    add(s, 6, (struct mkperf_sample){.period = 1000, .pd = 0, .pc = at.leaf, .callers = &chain});
    add(s, 3,
        (struct mkperf_sample){.period = 1000,
                               .pd = 0,
                               .flags = MKPERF_SAMPLE_KERNEL,
                               .kernel_pc = at.handle,
                               .pc = at.leaf,
                               .callers = &chain});
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(s->take(s->self, MKPERF_ITEM(LOST, lost, &lost[i]), &e), MKPERF_OK);
    }
    add(s, 4,
        (struct mkperf_sample){.period = 1000,
                               .pd = 2,
                               .kernel_pc = at.idle,
                               .flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER});
    add(s, 1, (struct mkperf_sample){.period = 1000, .pd = 1, .pc = 0x1234, .callers = &served});
    add(s, 2, (struct mkperf_sample){.period = 1000, .pd = 2, .flags = MKPERF_SAMPLE_NO_USER});
    add(s, 2, (struct mkperf_sample){.period = 25, .pd = 0, .event = 1, .pc = at.middle});
    assert_int_equal(s->take(s->self, MKPERF_ITEM(END, totals, &totals), &e), MKPERF_OK);
}

static char *read_file(const char *path, size_t *size)
{
    struct stat st;
    char *text;
    FILE *f;

    assert_int_equal(stat(path, &st), 0);
    text = calloc(1, (size_t)st.st_size + 1);
    f = fopen(path, "rb");
    assert_non_null(f);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)st.st_size, f), st.st_size);
    fclose(f);
    if (size != NULL) {
        *size = (size_t)st.st_size;
    }
    return text;
}

static char *write_as(const char *format, const char *name, struct mkperf_export x, size_t *size)
{
    static char path[512];
    struct mkperf_output out;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    x.path = path;
    assert_non_null(mkperf_format_by_name(format));
    assert_int_equal(mkperf_format_open(mkperf_format_by_name(format), &x, &out, &e), MKPERF_OK);
    feed(&out.sink);
    mkperf_output_free(&out);
    return read_file(path, size);
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no \"%s\" in:\n%.3000s", part, text);
    }
}

static void folded(void **state)
{
    char *text = write_as("folded", "out.folded", (struct mkperf_export){.no_inlined = true}, NULL);

    (void)state;
    assert_string_equal(text,
                        "client;_start;middle;leaf 6000\n"
                        "client;_start;middle;leaf;handle_[k] 3000\n"
                        "client;middle;a:b \"<&>\xef\xbf\xbd '\xc3\xa4;[unknown] 0x1000-0x1fff;"
                        "[unknown] 0x1000-0x1fff 1000\n"
                        "idle;[unknown]_[k] 2000\n"
                        "idle;idle_thread_[k] 4000\n");
    free(text);
    text = write_as("folded", "inlined.folded", (struct mkperf_export){.no_inlined = false}, NULL);
    expect(text, "client;_start;middle;leaf;inner_[i] 6000\n");
    free(text);
    text = write_as("folded", "event.folded", (struct mkperf_export){.event = "r17"}, NULL);
    assert_string_equal(text, "client;middle 50\n");
    free(text);
}

static void flame_graphs(void **state)
{
    char *text = write_as("flamegraph", "out.svg",
                          (struct mkperf_export){.title = "a <test>", .idle = true}, NULL);

    (void)state;
    expect(text, "cpu-cycles: 16 samples, period sum 16000; lost samples: 12 (40.00%)");
    expect(text, "a &lt;test&gt;");
    expect(text, "data-w=\"16000\" data-d=\"0\" data-n=\"all\"");
    expect(text, "data-w=\"10000\" data-d=\"1\" data-n=\"client\"");
    expect(text, "data-n=\"handle\"><title>handle&#10;3000, 18.75%, itself 3000 in 3 samples"
                 "&#10;kernel");
    expect(text, "lost samples: 12, ring 5, link 7");
    free(text);
    text = write_as("flamegraph", "busy.svg", (struct mkperf_export){.title = "busy"}, NULL);
    expect(text, "<title>busy, without idle (37.50%)</title>");
    expect(text, "data-w=\"10000\" data-d=\"0\" data-n=\"all\"");
    expect(text, "<g id=\"frames\" data-all=\"16000\">");
    expect(text, "data-n=\"handle\"><title>handle&#10;3000, 18.75%, itself 3000 in 3 samples");
    free(text);
    free(write_as("flamegraph", "upward.svg", (struct mkperf_export){.upward = true}, NULL));

    struct mkperf_profile base = {.places = {.inlined = true}};
    struct mkperf_sink sink = mkperf_profile_sink(&base);
    feed(&sink);
    text = write_as("flamegraph", "diff.svg",
                    (struct mkperf_export){.base = &base, .base_name = "older"}, NULL);
    expect(text, "compared with older (16 samples, lost 12; ");
    expect(text, "before 18.75%, change +0.00 points");
    free(text);
    mkperf_profile_free(&base);
}

static void callgrind(void **state)
{
    char *text =
        write_as("callgrind", "callgrind.out", (struct mkperf_export){.no_inlined = true}, NULL);

    (void)state;
    expect(text, "events: cpu_cycles r17 Samples\nsummary: 16000 50 18\n");
    expect(text, "desc: lost samples: 12, ring 5, link 7\n");
    expect(text, "desc: event r17: 2 samples, period sum 50, 100 samples per second and core\n");
    expect(text, "calls=9 0\n4 9000 0 9\n"); /* leaf from middle */
    free(text);
}

static void tables(void **state)
{
    char *text = write_as("jsonl", "out.jsonl", (struct mkperf_export){.no_inlined = true}, NULL);

    (void)state;
    expect(text, "{\"type\":\"sample\",\"time_ns\":1000000,\"core\":0,\"pd\":\"client\","
                 "\"event\":\"cpu-cycles\",\"period\":1000,\"mode\":\"user\",\"stack\":[{"
                 "\"function\":\"leaf\"");
    expect(text,
           "{\"type\":\"lost\",\"time_ns\":1500000,\"core\":1,\"where\":\"ring\",\"samples\":5,"
           "\"events\":5000}\n");
    expect(text, "\"name\":\"a;b \\\"<&>\xef\xbf\xbd\\u0009'\xc3\xa4\"");
    expect(text, "{\"type\":\"mark\",\"time_ns\":500000,\"pd\":\"client\",\"kind\":\"begin\","
                 "\"id\":7,\"name\":\"request\"}\n");
    expect(text, "\"marks\":7,\"marks_lost\":0,");
    expect(text, "{\"type\":\"totals\",\"samples\":18,\"lost\":{\"ring\":5,\"output\":0,\"link\":7,"
                 "\"transit\":0,\"chain\":0}");
    free(text);
}

static void viewers(void **state)
{
    size_t size;
    char *text = write_as("speedscope", "out.speedscope.json",
                          (struct mkperf_export){.no_inlined = true}, NULL);

    (void)state;
    expect(text, "\"name\":\"all (cpu-cycles)\"");
    expect(text, "\"endValue\":16000}");
    expect(text, "(lost samples: 12)");
    free(text);
    text =
        write_as("firefox", "out.firefox.json", (struct mkperf_export){.no_inlined = true}, NULL);
    expect(text, "{\"type\":\"lost\",\"where\":\"ring\",\"core\":1,\"samples\":5,\"events\":5000}");
    expect(text, "\"name\":\"client core 1 (r17)\"");
    /* the outer request, the inner one, an end without a beginning; times from the beginning
     * of what the first sample stands for, 0.5 ms before the first mark */
    expect(text, "\"startTime\":[0.500000,1.500000,null],\"endTime\":[4.500000,2.500000,2.500000],"
                 "\"phase\":[1,1,3],");
    expect(text, "\"startTime\":[3],\"endTime\":[null],\"phase\":[0],"); /* a point */
    expect(text, "\"startTime\":[3],\"endTime\":[null],\"phase\":[2],"); /* the phase has no end */
    free(text);
    text = write_as("pprof", "out.pb.gz", (struct mkperf_export){.no_inlined = true}, &size);
    assert_true(size > 100 && (uint8_t)text[0] == 0x1f && (uint8_t)text[1] == 0x8b);
    free(text);
}

/* Returns the number behind `key`, after *text, which moves behind the number. */
static unsigned number_after(const char **text, const char *key)
{
    const char *found = strstr(*text, key);
    char *end;

    assert_non_null(found);
    unsigned long number = strtoul(found + strlen(key), &end, 10);
    assert_ptr_not_equal(end, found + strlen(key));
    *text = end;
    return (unsigned)number;
}

/* Readers charge the time until the next sample to the node of a sample. The root's sample is at the profile's end. */
static void cpuprofile_times(const char *text, unsigned samples, unsigned us[32])
{
    const char *span = text, *node = strstr(text, "\"samples\":"),
               *delta = strstr(text, "\"timeDeltas\":[");
    unsigned left = 0 - number_after(&span, "\"startTime\":");

    left += number_after(&span, "\"endTime\":");
    assert_non_null(delta);
    assert_int_equal(number_after(&delta, "["), 0);
    for (unsigned i = 0; i < samples; i++) {
        unsigned id = number_after(&node, i == 0 ? "[" : ",");
        unsigned time = number_after(&delta, ",");
        assert_in_range(id, 2, 31);
        us[id] += time;
        left -= time;
    }
    assert_int_equal(number_after(&node, ","), 1);
    assert_int_equal(left, 0);
    assert_memory_equal(node, "],", 2);
    assert_memory_equal(delta, "]}", 2);
}

static void cpuprofile(void **state)
{
    const struct mkperf_export no_inlined = {.no_inlined = true};
    struct mkperf_totals totals = {.samples = 2};
    unsigned us[32] = {0}, weighted[32] = {0};
    struct mkperf_output out;
    char path[512], code[600];
    char *text = write_as("cpuprofile", "out.cpuprofile", no_inlined, NULL);

    (void)state;
    cpuprofile_times(text, 16, us); /* 17,500 us from the first mark on, 16,000 cycles */
    assert_in_range(us[5], 6562, 6563);
    assert_in_range(us[6], 3281, 3282);
    assert_in_range(us[8], 4374, 4375);
    assert_in_range(us[12], 1093, 1094);
    assert_in_range(us[13], 2187, 2188);
    expect(text,
           "\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":\"0\",\"url\":\"\","
           "\"lineNumber\":-1,\"columnNumber\":-1},\"hitCount\":0,\"children\":[2,7],"
           "\"positionTicks\":[]}");
    expect(text, "{\"id\":2,\"callFrame\":{\"functionName\":\"client\",");
    snprintf(code, sizeof code,
             "{\"id\":5,\"callFrame\":{\"functionName\":\"leaf\",\"scriptId\":\"0\",\"url\":"
             "\"%s/client.c\",\"lineNumber\":2,\"columnNumber\":0},\"hitCount\":6,\"children\":[6],"
             "\"positionTicks\":[{\"line\":3,\"ticks\":6}]}",
             dir);
    expect(text, code);
    expect(text, "{\"id\":6,\"callFrame\":{\"functionName\":\"handle [kernel]\",");
    expect(text, "{\"id\":8,\"callFrame\":{\"functionName\":\"idle_thread [kernel]\",");
    expect(text, "{\"id\":12,\"callFrame\":{\"functionName\":\"[unknown] 0x1000-0x1fff\",");
    expect(text, "{\"id\":13,\"callFrame\":{\"functionName\":\"[unknown] [kernel]\",");
    assert_null(strstr(text, "\"id\":14,"));
    free(text);

    /* 3 of 4 cycles in 1 ms, whatever the times of the samples are */
    snprintf(path, sizeof path, "%s/weighted.cpuprofile", dir);
    struct mkperf_export x = {.path = path, .no_inlined = true};
    assert_int_equal(mkperf_format_open(mkperf_format_by_path(path), &x, &out, &e), MKPERF_OK);
    now = 0;
    begin(&out.sink);
    add(&out.sink, 1, (struct mkperf_sample){.period = 3000, .pd = 0, .pc = at.leaf});
    add(&out.sink, 1, (struct mkperf_sample){.period = 1000, .pd = 0, .pc = at.middle});
    assert_int_equal(out.sink.take(out.sink.self, MKPERF_ITEM(END, totals, &totals), &e),
                     MKPERF_OK);
    mkperf_output_free(&out);
    text = read_file(path, NULL);
    cpuprofile_times(text, 2, weighted); /* node 2 is the PD */
    assert_int_equal(weighted[3], 750);
    assert_int_equal(weighted[4], 250);
    free(text);
}

/* A later session's events: every format that can hold some can hold these. */
static void later_events(void **state)
{
    static const struct mkperf_chain none = {.n = 0};
    struct mkperf_totals totals = {.samples = 1};
    char path[512];

    (void)state;
    for (size_t i = 0; i < mkperf_nformats; i++) {
        struct mkperf_session session = {
            .platform = "", .cpu = "", .cores = 1, .nevents = 1, .sched = true};
        snprintf(session.event[0].name, sizeof session.event[0].name, "cycles");
        struct mkperf_pd pd = {.thread = 1, .id = 0, .name = "pd"};
        struct mkperf_sample sample = {.time_ns = 5, .period = 1, .event = 1, .callers = &none};
        struct mkperf_output out;
        snprintf(path, sizeof path, "%s/later.%s", dir, mkperf_formats[i].name);
        struct mkperf_export x = {.path = path, .input = "", .event = "instructions"};
        assert_int_equal(mkperf_format_open(&mkperf_formats[i], &x, &out, &e), MKPERF_OK);
        const struct mkperf_sink *s = &out.sink;
        assert_int_equal(s->take(s->self, MKPERF_ITEM(BEGIN, session, &session), &e), MKPERF_OK);
        assert_int_equal(s->take(s->self, MKPERF_ITEM(PD, pd, &pd), &e), MKPERF_OK);
        session.event[session.nevents++] = (struct mkperf_event){.name = "instructions"};
        assert_int_equal(s->take(s->self, MKPERF_ITEM(EVENTS, session, &session), &e), MKPERF_OK);
        assert_int_equal(s->take(s->self, MKPERF_ITEM(SAMPLE, sample, &sample), &e), MKPERF_OK);
        assert_int_equal(s->take(s->self, MKPERF_ITEM(END, totals, &totals), &e), MKPERF_OK);
        mkperf_output_free(&out);
    }
}

static void nothing_in_it(void **state)
{
    struct mkperf_session session = {.platform = "",
                                     .cpu = "",
                                     .cores = 1,
                                     .nevents = 1,
                                     .event = {{.name = "cycles"}},
                                     .sched = true};
    struct mkperf_totals totals = {.samples = 0};
    char path[512];

    (void)state;
    for (size_t i = 0; i < mkperf_nformats; i++) {
        struct mkperf_output out;
        snprintf(path, sizeof path, "%s/empty.%s", dir, mkperf_formats[i].name);
        struct mkperf_export x = {.path = path, .input = ""};
        assert_int_equal(mkperf_format_open(&mkperf_formats[i], &x, &out, &e), MKPERF_OK);
        assert_int_equal(out.sink.take(out.sink.self, MKPERF_ITEM(BEGIN, session, &session), &e),
                         MKPERF_OK);
        assert_int_equal(out.sink.take(out.sink.self, MKPERF_ITEM(END, totals, &totals), &e),
                         MKPERF_OK);
        mkperf_output_free(&out);
        assert_int_equal(access(path, R_OK), 0);
    }
}

static void nothing_is_left_of_what_was_given_up(void **state)
{
    char path[512], partial[600];
    FILE *f;

    (void)state;
    for (size_t i = 0; i < mkperf_nformats; i++) {
        struct mkperf_output out;
        if (mkperf_formats[i].sched) {
            continue; /* nothing to show in these samples */
        }
        snprintf(path, sizeof path, "%s/older.%s", dir, mkperf_formats[i].name);
        snprintf(partial, sizeof partial, "%s.partial", path);
        f = fopen(path, "w");
        assert_non_null(f);
        fputs("older", f);
        fclose(f);
        struct mkperf_export x = {.path = path, .input = ""};
        assert_int_equal(mkperf_format_open(&mkperf_formats[i], &x, &out, &e), MKPERF_OK);
        begin(&out.sink);
        mkperf_sink_abandon(&out.sink);
        mkperf_output_free(&out);
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, 5);
        if (strcmp(mkperf_formats[i].name, "perf") != 0) { /* its partial file can be recovered */
            assert_int_not_equal(access(partial, F_OK), 0);
        }
    }
}

static void says_that_the_disk_is_full(void **state)
{
    struct mkperf_chain none = {.n = 0};
    struct mkperf_totals totals = {.samples = 1};

    (void)state;
    for (size_t i = 0; i < mkperf_nformats; i++) {
        struct mkperf_export x = {.path = "/dev/full", .input = ""};
        struct mkperf_output out;
        struct mkperf_sample sample = {.period = 5, .callers = &none};
        if (mkperf_format_open(&mkperf_formats[i], &x, &out, &e) != MKPERF_OK) {
            assert_int_equal(e.status, MKPERF_ERR_OUTPUT); /* it writes a directory */
            continue;
        }
        begin_with(&out.sink, true); /* some formats show nothing else */
        e.status = out.sink.take(out.sink.self, MKPERF_ITEM(SAMPLE, sample, &sample), &e);
        if (e.status == MKPERF_OK) {
            e.status = out.sink.take(out.sink.self, MKPERF_ITEM(END, totals, &totals), &e);
        }
        assert_int_equal(e.status, MKPERF_ERR_OUTPUT);
        mkperf_output_free(&out);
    }
}

static void formats_have_names(void **state)
{
    (void)state;
    assert_string_equal(mkperf_format_by_path("a/b.svg")->name, "flamegraph");
    assert_string_equal(mkperf_format_by_path("perf.data")->name, "perf");
    assert_string_equal(mkperf_format_by_path("x.pb.gz")->name, "pprof");
    assert_string_equal(mkperf_format_by_path("x.speedscope.json")->name, "speedscope");
    assert_null(mkperf_format_by_path("x.json"));
    assert_null(mkperf_format_by_name("nothing"));
}

static int set_up(void **state)
{
    (void)state;
    if (getenv("MKPERF_SINKS_DIR") != NULL) {
        dir = getenv("MKPERF_SINKS_DIR");
    } else if (mkdtemp(temporary) == NULL) {
        return 1;
    }
    compile("client", program, client_elf);
    compile("kernel", kernel, kernel_elf);
    at.leaf = address(client_elf, "leaf");
    at.middle = address(client_elf, "middle");
    at.start = address(client_elf, "_start");
    at.handle = address(kernel_elf, "handle");
    at.idle = address(kernel_elf, "idle_thread");
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    if (dir != temporary) {
        return 0;
    }
    snprintf(command, sizeof command, "rm -rf %s", temporary);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded),
        cmocka_unit_test(flame_graphs),
        cmocka_unit_test(callgrind),
        cmocka_unit_test(tables),
        cmocka_unit_test(viewers),
        cmocka_unit_test(cpuprofile),
        cmocka_unit_test(later_events),
        cmocka_unit_test(nothing_in_it),
        cmocka_unit_test(nothing_is_left_of_what_was_given_up),
        cmocka_unit_test(says_that_the_disk_is_full),
        cmocka_unit_test(formats_have_names),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
