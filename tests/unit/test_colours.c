/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PD has the same colour in all recordings of its system, whichever PDs have samples: in the profile, in the flame
 * graph, and in a copy of the file. Needs aarch64-linux-gnu-gcc.
 */
#include "recording.h"

#include "perfdata/perfdata.h"
#include "profile/profile.h"

enum { PDS = 20 };

static char name[PDS][16];

/* A recording of a system of PDS programs, of which each `every`th has a sample. */
static void make(const char *file, unsigned every)
{
    struct mkperf_session session = {.platform = "pocket",
                                     .cpu = "cortex-a53",
                                     .kernel_elf = recording_path("kernel.elf"),
                                     .cores = 1,
                                     .nevents = 1};
    struct mkperf_totals totals = {.complete = true};
    struct mkperf_chain none = {.n = 0};
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_perfdata *writer;
    struct mkperf_error e;

    session.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    assert_int_equal(mkperf_perfdata_new(recording_path(file), symbols, &writer, &e), MKPERF_OK);
    struct mkperf_sink sink = mkperf_perfdata_sink(writer);
    assert_int_equal(mkperf_sink_begin(&sink, &session, &e), MKPERF_OK);
    for (uint32_t i = 0; i < PDS; i++) {
        snprintf(name[i], sizeof name[i], "component%u", i);
        struct mkperf_pd pd = {
            .thread = i + 1, .id = i, .name = name[i], .elf = recording_path("one.elf")};
        assert_int_equal(mkperf_sink_pd(&sink, &pd, &e), MKPERF_OK);
    }
    for (uint32_t i = 0; i < PDS; i += every) {
        struct mkperf_sample sample = {.time_ns = 1000 * (i + 1),
                                       .period = 1000,
                                       .pd = i,
                                       .pc = recording_at.alpha,
                                       .callers = &none};
        assert_int_equal(mkperf_sink_sample(&sink, &sample, &e), MKPERF_OK);
        totals.samples++;
    }
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(END, totals, &totals), &e), MKPERF_OK);
    mkperf_perfdata_free(writer);
    mkperf_symbols_free(symbols);
}

static int setup(void **state)
{
    int status;

    recording_setup(state);
    make("all.data", 1);
    make("half.data", 2);
    RUN(convert, &status, "-q", recording_path("half.data"), "-o", recording_path("copy.data"));
    assert_int_equal(status, 0);
    RUN(convert, &status, "-q", recording_path("copy.data"), "-o", recording_path("again.data"));
    return status;
}

static void read_colours(const char *file, uint32_t colour[PDS])
{
    struct mkperf_profile p = {.cores = false};
    struct mkperf_sink sink = mkperf_profile_sink(&p);
    struct mkperf_colours c = {.colour = NULL};
    struct mkperf_error e;

    assert_int_equal(mkperf_perfdata_read(recording_path(file), -1, &sink, &e), MKPERF_OK);
    mkperf_colours_choose(&c, &p, NULL);
    for (unsigned i = 0; i < PDS; i++) {
        colour[i] = mkperf_colours_of(&c, name[i]);
    }
    assert_int_equal(mkperf_colours_of(&c, "no such PD"), MKPERF_COLOUR_UNKNOWN);
    mkperf_colours_free(&c);
    mkperf_profile_free(&p);
}

static void same_in_all(void **state)
{
    static const char *const files[] = {"half.data", "copy.data", "again.data"};
    const char *half[PDS / 2];
    uint32_t all[PDS], other[PDS], alone[PDS / 2];
    unsigned different = 0;

    (void)state;
    read_colours("all.data", all);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        read_colours(files[i], other);
        assert_memory_equal(all, other, sizeof all);
    }
    /* the colours would differ if they were chosen for the PDs with samples only */
    for (unsigned i = 0; i < PDS / 2; i++) {
        half[i] = name[2 * i];
    }
    mkperf_pd_colours(half, PDS / 2, alone);
    for (unsigned i = 0; i < PDS / 2; i++) {
        different += alone[i] != all[2 * i];
    }
    assert_true(different > 0);
}

/* A copy lists all PDs, and a copy of it lists them once. */
static void no_growth(void **state)
{
    char *text = recording_shell("strings -a %s | grep -c '^pd '; strings -a %s | grep -c '^pd '",
                                 recording_path("copy.data"), recording_path("again.data"));

    (void)state;
    assert_string_equal(text, "20\n20\n");
    free(text);
}

static char *fills(const char *file)
{
    int status;

    RUN(convert, &status, "-q", recording_path(file), "-o", recording_path("flame.svg"));
    assert_int_equal(status, 0);
    return recording_shell(
        "sed -n 's/.*data-n=\"\\(component[0-9]*[02468]\\)\".*fill=\"\\(#[0-9a-f]*\\)\".*/\\1 "
        "\\2/p' "
        "%s | sort",
        recording_path("flame.svg"));
}

static void flame_graphs(void **state)
{
    char *all = fills("all.data"), *half = fills("half.data");

    (void)state;
    assert_true(strlen(all) > 10 * strlen("component0 #000000\n") - 1);
    assert_string_equal(all, half);
    free(all);
    free(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_in_all),
        cmocka_unit_test(no_growth),
        cmocka_unit_test(flame_graphs),
    };

    return cmocka_run_group_tests_name("colours", tests, setup, recording_teardown);
}
