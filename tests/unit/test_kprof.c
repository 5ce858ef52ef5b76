/* SPDX-License-Identifier: BSD-2-Clause */
/* The decoder of Akaros' kpdata: its three layouts, order, processes, and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/import.h"
#include "log_sink.h"

static struct {
    uint8_t p[65536];
    size_t n;
} file;

static char warnings[4096];
static struct log_sink l;
static struct mkperf_error e;

static void warn(void *self, const char *text)
{
    (void)self;
    strncat(warnings, text, sizeof warnings - strlen(warnings) - 2);
    strcat(warnings, "\n");
}

static void put(uint64_t v, int bytes)
{
    while (bytes-- > 0) {
        file.p[file.n++] = (uint8_t)v;
        v >>= 8;
    }
}

static void head(unsigned type, size_t size)
{
    put(type, 1);
    while (size >= 0x80) {
        put(size | 0x80, 1);
        size >>= 7;
    }
    put(size, 1);
}

static void put_sample(char era, bool kernel, uint64_t info, uint64_t time, uint32_t pid,
                       unsigned cpu, unsigned n, const uint64_t *pc)
{
    bool has_pid = !kernel || era == 'C';

    head(kernel ? 1 : 2, 12u + (era != 'A' ? 8u : 0) + (has_pid ? 4u : 0) + 8 * n);
    if (era != 'A') {
        put(info, 8);
    }
    put(time, 8);
    if (has_pid) {
        put(pid, 4);
    }
    put(cpu, 2);
    put(n, 2);
    for (unsigned i = 0; i < n; i++) {
        put(pc[i], 8);
    }
}

static void put_map(uint64_t time, uint64_t start, uint64_t length, uint64_t offset, uint32_t pid,
                    const char *path)
{
    head(3, 36 + strlen(path) + 1);
    put(time, 8);
    put(start, 8);
    put(length, 8);
    put(offset, 8);
    put(pid, 4);
    memcpy(file.p + file.n, path, strlen(path) + 1);
    file.n += strlen(path) + 1;
}

static void put_process(uint64_t time, uint32_t pid, const char *path)
{
    head(4, 12 + strlen(path) + 1);
    put(time, 8);
    put(pid, 4);
    memcpy(file.p + file.n, path, strlen(path) + 1);
    file.n += strlen(path) + 1;
}

static enum mkperf_status read_era(enum mkperf_kprof_era era, bool lenient)
{
    struct mkperf_input config = {.era = era, .lenient = lenient, .pds.warn = warn};
    struct mkperf_sink sink = log_sink(&l);

    warnings[0] = '\0';
    e = (struct mkperf_error){.status = MKPERF_OK};
    enum mkperf_status status = mkperf_kprof_read_memory("k", file.p, file.n, &config, &sink, &e);
    assert_false(l.broken);
    assert_false(l.disorder);
    assert_true(l.ended == (status == MKPERF_OK));
    assert_true(l.abandoned == (status != MKPERF_OK));
    return status;
}

static const uint64_t user_pc[] = {0x401000, 0x401000, 0x401100, 0x401200};
static const uint64_t kernel_pc[] = {0xffffffffc0010000, 0xffffffffc0010020};

/* Samples newest first, as two cores' buffers can come. */
static void put_typical(char era)
{
    file.n = 0;
    put_map(1000, 0x401000, 0x1000, 0x1000, 31, "/bin/hello");
    put_process(1001, 31, "/bin/hello");
    put_sample(era, false, 0, 9000, 31, 1, 4, user_pc);
    put_sample(era, true, 0, 8000, 31, 0, 2, kernel_pc);
    put_sample(era, true, 0, 7000, UINT32_MAX, 0, 1, kernel_pc);
}

static void tells_eras_apart(void **state)
{
    (void)state;
    for (int era = 'A'; era <= 'C'; era++) {
        put_typical((char)era);
        assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_OK);
        assert_string_equal(
            l.text, era == 'C'
                        ? "event samples 1\npd 0 kernel - -\n"
                          "7000 core 0 pd 0 event 0 period 1 kernel ffffffffc0010000\n"
                          "pd 1 hello - -\n"
                          "8000 core 0 pd 1 event 0 period 1 kernel ffffffffc0010000 "
                          "ffffffffc0010020@1\n"
                          "9000 core 1 pd 1 event 0 period 1 user 401000 401100@1 401200@1\n"
                        : "event samples 1\npd 0 kernel - -\n"
                          "7000 core 0 pd 0 event 0 period 1 kernel ffffffffc0010000\n"
                          "8000 core 0 pd 0 event 0 period 1 kernel ffffffffc0010000 "
                          "ffffffffc0010020@0\n"
                          "pd 1 hello - -\n"
                          "9000 core 1 pd 1 event 0 period 1 user 401000 401100@1 401200@1\n");
    }
}

static void an_era_can_be_forced(void **state)
{
    (void)state;
    put_typical('B');
    assert_int_equal(read_era(MKPERF_KPROF_B, false), MKPERF_OK);
    assert_int_equal(read_era(MKPERF_KPROF_A, false), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "does not fit era A (0 of 3 do)"));
    assert_int_equal(read_era(MKPERF_KPROF_C, true), MKPERF_OK);
    assert_int_equal(l.samples, 1); /* user samples of B and C are alike */
    assert_non_null(strstr(warnings, "2 records were omitted"));
}

static void a_core_that_cannot_exist_is_refused(void **state)
{
    (void)state;
    put_typical('B');
    put_sample('B', false, 0, 9500, 31, MKPERF_MODEL_CORES, 1, user_pc);
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "core 4096 of a sample"));
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, true), MKPERF_OK);
    assert_int_equal(l.samples, 3);
    assert_non_null(strstr(warnings, "1 records were omitted"));
}

static void info_names_events(void **state)
{
    (void)state;
    file.n = 0;
    put_sample('B', false, UINT64_C(1) << 60 | 1000, 1, 5, 0, 1, user_pc);
    put_sample('B', false, UINT64_C(2) << 60 | 0x412e, 2, 5, 0, 1, user_pc);
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_OK);
    assert_non_null(strstr(l.text, "event timer 1000000\nevent r412e 1\npd 0 pid-5 - -\n"));
    assert_int_equal(l.period, 1000001);
    file.n = 0;
    put_sample('C', false, 0x7f0012345678, 1, 5, 0, 1, user_pc);
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_OK);
    assert_non_null(strstr(l.text, "event stream-7f0012345678 1\n"));
}

static void files_of_a_process_are_pds(void **state)
{
    static const uint64_t pc[] = {0x700010, 0x401010, 0x900000};

    (void)state;
    file.n = 0;
    put_sample('B', false, 0, 50, 31, 0, 3, pc);
    put_map(10, 0x401000, 0x1000, 0, 31, "/bin/hello");
    put_map(20, 0x700000, 0x1000, 0, 31, "/lib/libc.so");
    put_map(60, 0x700000, 0x1000, 0, 31, "/lib/later.so");
    put_process(11, 31, "/bin/hello");
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_OK);
    assert_non_null(strstr(l.text, "pd 0 hello:libc.so - hello\npd 1 hello - -\n50 core 0 pd 0 "
                                   "event 0 period 1 user 700010 401010@1 900000@1\n"));
}

static void refuses_with_an_offset(void **state)
{
    (void)state;
    file.n = 0;
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_ERR_INPUT);
    assert_string_equal(e.text, "k: the file is empty");

    put_typical('B');
    size_t whole = file.n;
    file.n -= 3;
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_ERR_INPUT);
    assert_string_equal(e.text, "k: offset 170: the file ends inside a record");
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, true), MKPERF_OK);
    assert_int_equal(l.samples, 2);
    assert_non_null(strstr(warnings, "the last 27 bytes are an incomplete record"));

    file.n = whole;
    memset(file.p + file.n, 0x80, 30); /* a number without an end */
    file.n += 30;
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "header is invalid"));

    file.n = 0;
    head(2, 33 << 20);
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_ERR_INPUT);
    assert_string_equal(e.text, "k: offset 0: a record of more than 32 MiB");

    file.n = 0; /* n = 0, and n larger than the payload */
    put_sample('B', false, 0, 1, 5, 0, 0, NULL);
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_ERR_INPUT);
    file.n = 0;
    put_map(1, 2, 3, 4, 5, "/x");
    file.p[file.n - 1] = 'x';
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_ERR_INPUT);
    assert_string_equal(e.text, "k: offset 0: a path without its end");
}

static void skips_unknown_types_and_cuts_deep_chains(void **state)
{
    static uint64_t pc[100];

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        pc[i] = i + 1;
    }
    file.n = 0;
    head(77, 5);
    put(0, 5);
    put_sample('B', false, 0, 1, 5, 0, 100, pc);
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_OK);
    assert_int_equal(l.samples, 1);
    assert_non_null(strstr(warnings, "1 records of unknown types"));
    assert_non_null(strstr(warnings, "1 chains were cut at 64"));
}

static void sorts_many(void **state)
{
    (void)state;
    file.n = 0;
    for (unsigned i = 0; i < 1000; i++) {
        put_sample('B', false, 0, (i * 7919) % 1000, 5, i % 4, 1, user_pc);
    }
    assert_int_equal(read_era(MKPERF_KPROF_AUTO, false), MKPERF_OK);
    assert_int_equal(l.samples, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_eras_apart),
        cmocka_unit_test(an_era_can_be_forced),
        cmocka_unit_test(a_core_that_cannot_exist_is_refused),
        cmocka_unit_test(info_names_events),
        cmocka_unit_test(files_of_a_process_are_pds),
        cmocka_unit_test(refuses_with_an_offset),
        cmocka_unit_test(skips_unknown_types_and_cuts_deep_chains),
        cmocka_unit_test(sorts_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
