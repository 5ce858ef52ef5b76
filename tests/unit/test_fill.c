/* SPDX-License-Identifier: BSD-2-Clause */
/* How full the target's output ring was: from its reports into the file, the summary, the exports.
 */
#include <inttypes.h>

#include "fake_target.h"
#include "model/figures.h"
#include "perfdata/perfdata_internal.h"
#include "recording.h"

static void test_points(void **state)
{
    static struct mkperf_fill f;
    char text[96];

    (void)state;
    mkperf_fill_add(&f, 5, 100, 0); /* a target that does not report it */
    assert_int_equal(f.n, 0);
    for (uint64_t i = 1; i <= 10 * MKPERF_FILL_POINTS; i++) {
        mkperf_fill_add(&f, i * 1000, i == 777 ? 4000 : i % 7, 4096);
        mkperf_fill_add(&f, i * 1000, 3, 4096); /* asked for: of the same time */
        assert_true(f.n <= MKPERF_FILL_POINTS);
    }
    assert_true(f.n >= MKPERF_FILL_POINTS / 2);
    assert_int_equal(f.peak, 4000);
    uint64_t before = 0;
    unsigned high = 0;
    for (uint32_t i = 0; i < f.n; i++) {
        assert_true(f.point[i].time_ns > before);
        assert_int_equal(f.point[i].bytes == 4000, before < 777000 && f.point[i].time_ns >= 777000);
        high += f.point[i].bytes == 4000;
        before = f.point[i].time_ns;
    }
    assert_int_equal(high, 1);
    assert_int_equal(before, 10 * MKPERF_FILL_POINTS * 1000);
    mkperf_fill_text(&f, text, sizeof text);
    assert_string_equal(text, "at most 4000 of 4096 bytes (97.7 %)");
}

static void test_lines(void **state)
{
    static struct mkperf_fill f;
    static struct perfin_session s;
    const struct mkperf_fill *back = &s.totals.fill;
    char *text = NULL, *rest = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    (void)state;
    for (uint64_t i = 0; i < 300; i++) {
        mkperf_fill_add(&f, i * i + 1, i, 1 << 20);
    }
    perfdata_lines_write(out, OF_FILL, 0, &f);
    for (unsigned i = 0; i < f.n; i++) {
        perfdata_lines_write(out, OF_FILL_POINT, 0, &f.point[i]);
    }
    assert_int_equal(fclose(out), 0);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ' ');
        *value = '\0';
        assert_true(perfdata_line_read(&s, line, value + 1));
        assert_true(perfdata_line_read(&s, "other", value + 1));
    }
    free(text);
    assert_int_equal(back->size, f.size);
    assert_int_equal(back->peak, f.peak);
    assert_int_equal(back->n, f.n);
    assert_memory_equal(back->point, f.point, f.n * sizeof *f.point);
    for (unsigned i = 0; i < 2 * MKPERF_FILL_POINTS; i++) {
        perfdata_line_read(&s, "ring_fill", "1 2"); /* a level above the ring's size */
    }
    assert_int_equal(back->n, MKPERF_FILL_POINTS);
    s.totals.fill.n = 1;
    perfdata_line_read(&s, "ring_fill", "x");
    perfdata_line_read(&s, "ring_fill", "1 x");
    assert_int_equal(back->n, 1);
    /* Nothing of a damaged line is used. */
    perfdata_line_read(&s, "core", "1 x x x x x");
    perfdata_line_read(&s, "core", "1 4294967296 1 1 1 1");
    perfdata_line_read(&s, "core", "0 0 5 0 1 2  7");
    assert_int_equal(s.totals.ncores, 0);
    perfdata_line_read(&s, "counted", "0 5 10");
    assert_false(s.damaged);
    static const char *const bad[][2] = {
        {"lost_ring", "x12"},  {"lost_ring", "12x"},
        {"lost_ring", "-1"},   {"lost_ring", "18446744073709551616"},
        {"lost_ring", "\t12"}, {"counted", "4294967296 5 10"},
        {"counted", "0 5 10x"}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        s.damaged = false;
        perfdata_line_read(&s, bad[i][0], bad[i][1]);
        assert_true(s.damaged); /* the totals are not complete */
    }
    assert_int_equal(s.totals.lost[MKPERF_LOST_RING], 0);
    assert_true(s.totals.running_ns[0] == 5 && s.totals.enabled_ns[0] == 10);
    perfdata_line_read(&s, "scheduling", "0 100 0 0 1 10");
    const struct mkperf_scheduling *how = &perfin_process_of(&s, 1)->pd.scheduling;
    assert_true(how->known && how->budget_us == 1 && how->period_us == 10);
    perfdata_line_read(&s, "scheduling", "0 100 0 0 1 2305843009213693952"); /* 2^64 ns are 0 */
    assert_false(perfin_process_of(&s, 1)->pd.scheduling.known);
    perfin_free_session(&s);
}

static void report(struct fake *f, bool running, uint64_t sent, uint64_t peak)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToHost_status_tag;
    m.msg.status = (mkperf_Status){.session = 1,
                                   .running = running,
                                   .captured = sent,
                                   .sent = sent,
                                   .ring_peak = peak,
                                   .ring_bytes = 65536};
    fake_send(f, &m);
}

static void samples(struct fake *f, uint64_t first, uint64_t ticks)
{
    struct fake_batch batch;

    fake_batch_init(&batch, first, 4, ticks);
    fake_chain(&batch, 0, 0, 0x10, 0x200000);
    fake_batch(f, &batch);
}

/* The sums of the track's differences are the levels: 3000, then 500, and nothing at the end. */
static void check_track(const char *path)
{
    char *text = recording_shell("cat %s", path);
    char *at = strstr(text, "{\"name\":\"output ring\",\"category\":\"Memory\"");
    int64_t level = 0, most = 0;
    unsigned n = 0, of_most = 0, of_500 = 0;

    assert_non_null(at);
    assert_non_null(strstr(at, ",\"mainThreadIndex\":0,")); /* the only thread is the main one */
    assert_non_null(strstr(at, "of 65536 in the target's output ring"));
    at = strstr(at, "\"count\":[");
    assert_non_null(at);
    for (at += strlen("\"count\":["); *at != ']'; n++) {
        level += strtoll(at, &at, 10);
        at += *at == ',';
        most = level > most ? level : most;
        assert_true(level >= 0);
        of_most += level == 3000;
        of_500 += level == 500;
    }
    assert_true(n >= 100);
    assert_int_equal(most, 3000);
    assert_in_range(of_most, n / 2 - 3, n / 2 + 3);
    assert_in_range(of_500, n / 2 - 3, n / 2 + 3);
    free(text);
}

static void test_recording(void **state)
{
    static struct fake f;
    char target[400];
    const char *data = recording_path("fill.data"), *json = recording_path("fill.firefox.json");
    int status;

    (void)state;
    fake_hello(&f, 0, 7, MKPERF_PROTOCOL);
    fake_session(&f, 0, 1, true);
    samples(&f, 0, FAKE_HZ);
    report(&f, true, 4, 100);
    samples(&f, 4, 2 * FAKE_HZ);
    report(&f, true, 8, 3000);
    samples(&f, 8, 3 * FAKE_HZ);
    report(&f, false, 12, 500);
    FILE *out = fopen(recording_path("raw"), "w");
    assert_non_null(out);
    assert_int_equal(fwrite(f.bytes, 1, f.n, out), f.n);
    assert_int_equal(fclose(out), 0);
    snprintf(target, sizeof target, "file:%s", recording_path("raw"));
    char *text = RUN(record, &status, "-t", target, "-o", data);
    assert_int_equal(status, 0);
    assert_non_null(
        strstr(text, "ring    at most 3000 of 65536 bytes (4.6 %) waited for the link"));
    text = RUN(report, &status, "-i", data, "--stdio");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# ring        at most 3000 of 65536 bytes (4.6 %)"));
    RUN(convert, &status, data, "-o", json);
    assert_int_equal(status, 0);
    check_track(json);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(recording_dir) != NULL ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_recording),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
