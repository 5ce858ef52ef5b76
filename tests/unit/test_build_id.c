/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELFs that were rebuilt since the recording: no command uses their names, and each reports
 * why. Needs aarch64-linux-gnu-gcc.
 */
#include "recording.h"

#include "perfdata/perfdata.h"

static const char another_program[] =
    "volatile int sink;\n"
    "void wrong(void) { for (;;) { sink++; sink--; sink += 7; } }\n"
    "void _start(void) { wrong(); }\n";

static int setup(void **state)
{
    recording_setup(state);
    recording_make("perf.data", 10, 0);
    free(recording_shell("cp %s %s.kept", recording_path("one.elf"), recording_path("one.elf")));
    return 0;
}

static void original(void)
{
    free(recording_shell("cp %s.kept %s", recording_path("one.elf"), recording_path("one.elf")));
}

static void the_same_build(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(report, &status, "--stdio", "-i", recording_path("perf.data"));
    assert_int_equal(status, 0);
    assert_null(strstr(text, "build"));
    assert_non_null(strstr(text, "[.] alpha"));
}

static void another_build(void **state)
{
    char *text;
    int status;

    (void)state;
    recording_compile("one", another_program, "");
    text = RUN(report, &status, "--stdio", "-i", recording_path("perf.data"));
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# WARNING: no symbols for server: "));
    assert_non_null(strstr(text, "one.elf: another build ("));
    assert_null(strstr(text, "wrong"));
    assert_null(strstr(text, "alpha"));
    assert_non_null(strstr(text, "[.] [unknown] 0x"));
    assert_non_null(strstr(text, "[k] idle_thread")); /* the kernel's is the same */
    text = RUN(script, &status, "-i", recording_path("perf.data"));
    assert_null(strstr(text, "wrong"));
    text = RUN(convert, &status, recording_path("perf.data"), "-o", recording_path("x.folded"));
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "another build ("));
    text = recording_shell("cat %s", recording_path("x.folded"));
    assert_null(strstr(text, "wrong"));
    free(text);
    text = RUN(convert, &status, recording_path("perf.data"), "-o", recording_path("x.data"));
    assert_int_equal(status, MKPERF_ERR_INPUT); /* a file that would mislead perf is not written */
    assert_non_null(strstr(text, "another build ("));
    original();
}

static void another_kernel(void **state)
{
    char *text;
    int status;

    (void)state;
    recording_compile("kernel", another_program, "-Wl,-Ttext-segment=0xffffff8040000000");
    text = RUN(report, &status, "--stdio", "-i", recording_path("perf.data"));
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# WARNING: no symbols for the kernel: "));
    assert_null(strstr(text, "wrong"));
    assert_non_null(strstr(text, "[.] alpha"));
    recording_compile("kernel", recording_kernel, "-Wl,-Ttext-segment=0xffffff8040000000");
}

/* A file that has lost its build id is not known to be the one that ran. An ELF that never had one is
 * known by its content. */
static void builds_without_an_id(void **state)
{
    char *text;
    int status;

    (void)state;
    free(recording_shell("aarch64-linux-gnu-strip -R .note.gnu.build-id -d %s",
                         recording_path("one.elf")));
    text = RUN(report, &status, "--stdio", "-i", recording_path("perf.data"));
    assert_non_null(strstr(text, "# WARNING: no symbols for server: "));
    assert_null(strstr(text, "[.] alpha"));
    recording_make("content.data", 10, 0);
    text = RUN(report, &status, "--stdio", "-i", recording_path("content.data"));
    assert_null(strstr(text, "# WARNING: no symbols for server: "));
    assert_non_null(strstr(text, "[.] alpha"));
    recording_compile("one", another_program, "");
    free(recording_shell("aarch64-linux-gnu-strip -R .note.gnu.build-id -d %s",
                         recording_path("one.elf")));
    text = RUN(report, &status, "--stdio", "-i", recording_path("content.data"));
    assert_non_null(strstr(text, "one.elf: another build ("));
    assert_null(strstr(text, "wrong"));
    original();
}

static enum mkperf_status check_kernel(void *self, const struct mkperf_item *item,
                                       struct mkperf_error *e)
{
    (void)self, (void)e;
    if (item->kind == MKPERF_ITEM_BEGIN) {
        assert_int_equal(item->session->kernel_build_id.n, 20);
        assert_string_equal(item->session->kernel_elf, recording_path("kernel.elf"));
    }
    return MKPERF_OK;
}

/* A path as the user typed it is of use in one directory only. */
static void relative_paths(void **state)
{
    struct mkperf_session session = {.kernel_elf = "kernel.elf", .nevents = 1};
    struct mkperf_sink see = {.take = check_kernel};
    struct recording r = {.symbols = mkperf_symbols_new()};
    char *here = getcwd(NULL, 0);

    (void)state;
    assert_non_null(here);
    assert_int_equal(chdir(recording_dir), 0);
    assert_int_equal(mkperf_perfdata_new("r.data", r.symbols, &r.writer, &r.e), MKPERF_OK);
    r.sink = mkperf_perfdata_sink(r.writer);
    assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(BEGIN, session, &session), &r.e),
                     MKPERF_OK);
    recording_end(&r, 0);
    assert_int_equal(chdir(here), 0);
    free(here);
    assert_int_equal(mkperf_perfdata_read(recording_path("r.data"), -1, &see, &r.e), MKPERF_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_build), cmocka_unit_test(another_build),
        cmocka_unit_test(another_kernel), cmocka_unit_test(builds_without_an_id),
        cmocka_unit_test(relative_paths),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
