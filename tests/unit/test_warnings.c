/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every number that may be wrong reports that, in every output: a recording that has every warning is written as
 * perf.data and converted into each format. Each line of the list must be in each output, or on the screen if the
 * format has no place for it. Needs aarch64-linux-gnu-gcc.
 */
#include "recording.h"

#include "export/formats.h"
#include "model/figures.h"

enum { LINES = 40 };

static struct mkperf_session session;
static struct mkperf_totals totals;
static struct {
    enum mkperf_warning_level level;
    char text[1024];
} line[LINES];
static unsigned lines;

static const char *pd_name(const void *names, uint32_t pd)
{
    (void)names, (void)pd;
    return "client one";
}

static void keep(void *self, enum mkperf_warning_level level, const char *text)
{
    (void)self;
    assert_in_range(lines, 0, LINES - 1);
    line[lines].level = level;
    snprintf(line[lines++].text, sizeof line->text, "%s", text);
}

/* A session and totals with every warning but "cut off", which a file with totals cannot have. */
static void fill(void)
{
    session = (struct mkperf_session){.platform = "pocket",
                                      .cpu = "cortex-a53",
                                      .kernel_elf = recording_path("kernel.elf"),
                                      .unverified = "the image has no list of its programs",
                                      .cores = 2,
                                      .target_cores = 4,
                                      .nevents = 2,
                                      .sched = true,
                                      .command = "mkperf record"};
    session.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    session.event[1] = (struct mkperf_event){.name = "instructions",
                                             .code = 8,
                                             .user = true,
                                             .kernel = true,
                                             .period = 5000,
                                             .all_cores = true};
    totals = (struct mkperf_totals){
        .samples = 2,
        .late_events = 101,
        .spurious = 102,
        .disturbed = 103,
        .guest_accesses = 112,
        .storms = 1,
        .unrepaired = 1,
        .cut_chains = 2,
        .marks_lost = 105,
        .restarts = 106,
        .inferred_callers = 1,
        .unread = 107,
        .sched_events = 3,
        .sched_overwritten = 108,
        .off_cpu_unpaired = 109,
        .overwritten = 110,
        .unordered = 111,
        .agreed = {.not = "too few samples"}, /* which readers find again */
        .first_ns = 1000000,
        .last_ns = 2000000,
        .ncores = 2,
        .nsuspects = 2,
        .suspect = {{0, 100, 50, 20, 40}, {MKPERF_SUSPECT_KERNEL, 9, 8, 8, 0}}};
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        totals.lost[i] = 200 + i;
        totals.sched_lost[i] = 300 + i;
    }
    totals.confidence[MKPERF_PROVED] = totals.confidence[MKPERF_AMBIGUOUS] = 1;
    totals.core[0].late_answers = 2;
    totals.core[1].state = MKPERF_CORE_ABSENT;
    totals.enabled_ns[0] = 1000;
    totals.running_ns[0] = 250;
}

static void make(const char *name)
{
    struct mkperf_chain none = {.n = 0};
    struct mkperf_sample sample = {
        .time_ns = 1000000, .period = 1000, .pc = recording_at.alpha, .callers = &none};
    struct mkperf_sched run = {.time_ns = 1000000, .kind = MKPERF_SCHED_SWITCH, .from = 1};
    struct mkperf_error e;
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_perfdata *writer;

    assert_int_equal(mkperf_perfdata_new(recording_path(name), symbols, &writer, &e), MKPERF_OK);
    struct mkperf_sink sink = mkperf_perfdata_sink(writer);
    assert_int_equal(mkperf_sink_begin(&sink, &session, &e), MKPERF_OK);
    for (uint32_t i = 0; i < 2; i++) {
        struct mkperf_pd pd = {.thread = i + 1,
                               .id = i,
                               .name = i == 0 ? "client one" : "server",
                               .elf = recording_path("one.elf")};
        assert_int_equal(mkperf_sink_pd(&sink, &pd, &e), MKPERF_OK);
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(mkperf_sink_sample(&sink, &sample, &e), MKPERF_OK);
        assert_int_equal(sink.take(sink.self, MKPERF_ITEM(SCHED, sched, &run), &e), MKPERF_OK);
        sample.time_ns = run.time_ns += 500000;
        run.to = 1 - run.to;
        run.from = 1 - run.from;
    }
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(END, totals, &totals), &e), MKPERF_OK);
    mkperf_perfdata_free(writer);
    mkperf_symbols_free(symbols);
}

static int setup(void **state)
{
    recording_setup(state);
    fill();
    make("all.data");
    mkperf_warnings_each(&session, &totals, pd_name, NULL, keep, NULL);
    return 0;
}

static void listed(void **state)
{
    static const char *const wanted[] = {
        "names are unverified: the image has no list of its programs",
        "client one: 50 of 100 samples cannot be of its ELF",
        "kernel: 8 of 9 samples",
        "the target has at least 4 cores and only",
        "QEMU counts instructions on each core for all cores together",
        "core 0 did not answer 2 requests",
        "core 1 has never answered",
        "samples were lost (ring 200, output 201, link 202, transit 203, chain 204): numbers",
        "105 marks were lost",
        "restarts: the target was restarted 106 times",
        "flight: 110 older samples",
        "late: 101 events",
        "spurious: 102 interrupts",
        "attributed: by the timer's registers: 50.00 % proved, 0.00 %",
        "unread: 107 samples",
        "callers: of 1 sample (50.00 %) may lack",
        "callers: of 2 samples (100.00 %) are cut off",
        "disturbed: 103 times",
        "storm: ended by the target",
        "guests: accessed the PMU 112 times",
        "sched: 300 scheduling events lost",
        "flight: 108 older scheduling events",
        "blocked: 109 samples",
        "callers: of 1 sample (50.00 %) in other PDs",
        "unordered: 111 samples",
        "checked: samples and scheduling events were not compared: too few samples",
        "event cycles multiplexed: counted 25.00 % of the time",
        "no matching totals from the target",
    };
    unsigned alarms = 0;

    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        unsigned k = 0;
        while (k < lines && strncmp(line[k].text, wanted[i], strlen(wanted[i])) != 0 &&
               (i != 7 || strstr(line[k].text, wanted[i]) == NULL)) {
            k++;
        }
        if (k == lines) {
            fail_msg("not listed: %s", wanted[i]);
        }
    }
    assert_int_equal(lines, sizeof wanted / sizeof *wanted + MKPERF_LOST_PLACES - 1);
    for (unsigned i = 0; i < lines; i++) {
        alarms += line[i].level != MKPERF_NOTE;
    }
    assert_int_equal(alarms, 2 + 4 + 1 + 3 + MKPERF_LOST_PLACES);
}

static void nothing_to_say(void **state)
{
    struct mkperf_session quiet = {.cores = 1, .nevents = 1, .image = "1234"};
    struct mkperf_totals clean = {.samples = 5, .complete = true};
    unsigned before = lines;

    (void)state;
    mkperf_warnings_each(&quiet, &clean, pd_name, NULL, keep, NULL);
    assert_int_equal(lines, before);
}

/* Every line's text, with the escapes of XML and of quoted strings undone. */
static void want_all(const char *what, char *text, enum mkperf_warning_level least)
{
    static const char *const escapes[][2] = {
        {"&apos;", "'"}, {"&#39;", "'"}, {"&gt;", ">"}, {"\\\"", "\""}};

    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        size_t n = strlen(escapes[i][0]);
        for (char *at = text; (at = strstr(at, escapes[i][0])) != NULL; at++) {
            *at = *escapes[i][1];
            memmove(at + 1, at + n, strlen(at + n) + 1);
        }
    }
    for (unsigned i = 0; i < lines; i++) {
        if (line[i].level >= least && strstr(text, line[i].text) == NULL) {
            fail_msg("%s does not say: %s\n%.3000s", what, line[i].text, text);
        }
    }
}

static void formats(void **state)
{
    int status;

    (void)state;
    for (size_t i = 0; i < mkperf_nformats; i++) {
        const char *name = mkperf_formats[i].name;
        char *screen = RUN(convert, &status, recording_path("all.data"), "--to", name, "-o",
                           recording_path(name)),
             *text;
        assert_int_equal(status, 0);
        /* what is more than a note is on the screen, whatever the format; all that has no other place */
        want_all(name, screen, mkperf_formats[i].bare ? MKPERF_NOTE : MKPERF_WARNING);
        if (mkperf_formats[i].bare || strcmp(name, "perf") == 0) {
            continue;
        }
        if (strcmp(name, "ctf") == 0) {
            text = recording_shell("cat %s/metadata", recording_path(name));
        } else if (strcmp(name, "pprof") == 0) {
            text = recording_shell("gzip -dc <%s | tr '\\000' ' '", recording_path(name));
        } else if (strcmp(name, "html") == 0) {
            text = recording_shell("sed -n 's/.*id=\"profile-data\">\\(.*\\)<.script>/\\1/p' %s | "
                                   "base64 -d | gzip -dc | tr '\\000' ' '",
                                   recording_path(name));
        } else {
            text = recording_shell("cat %s", recording_path(name));
        }
        want_all(name, text, MKPERF_NOTE);
        free(text);
    }
}

/* perf.data keeps all of it: what is reported about a copy is the same. */
static void kept(void **state)
{
    int status;

    (void)state;
    RUN(convert, &status, recording_path("all.data"), "-q", "-o", recording_path("copy.data"));
    assert_int_equal(status, 0);
    want_all("a copy",
             RUN(convert, &status, recording_path("copy.data"), "--to", "folded", "-o",
                 recording_path("folded")),
             MKPERF_NOTE);
}

static void find_in(void *self, bool warns, const char *title, const char *text)
{
    char first[256];

    (void)warns;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "\n"), text);
    if (strstr(self, first) == NULL) {
        fail_msg("the report does not say: %s %s", title, first);
    }
}

/* The head of a report has each figure, too. */
static void report(void **state)
{
    int status;
    char *text = RUN(report, &status, "--stdio", "-i", recording_path("all.data"));

    (void)state;
    assert_int_equal(status, 0);
    mkperf_figures_texts(MKPERF_FIGURE_HEAD, MKPERF_SECTION_FIRST, MKPERF_SECTION_END, &totals,
                         find_in, text);
    for (unsigned i = 0; i < lines; i++) {
        if (line[i].level == MKPERF_ERROR && strstr(text, line[i].text) == NULL) {
            fail_msg("the report does not say: %s", line[i].text);
        }
    }
    assert_non_null(strstr(text, "# WARNING: the target has at least 4 cores"));
    assert_non_null(strstr(text, "# WARNING: QEMU counts instructions on each core"));
    assert_non_null(strstr(text, "# WARNING: core 0 did not answer 2 requests"));
    assert_non_null(strstr(text, "# WARNING: core 1 has never answered"));
    assert_non_null(strstr(text, "multiplexed: counted 25.00 % of the time"));
    assert_non_null(strstr(text, "# WARNING: the totals are incomplete"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listed), cmocka_unit_test(nothing_to_say), cmocka_unit_test(formats),
        cmocka_unit_test(kept),   cmocka_unit_test(report),
    };

    return cmocka_run_group_tests_name("warnings", tests, setup, recording_teardown);
}
