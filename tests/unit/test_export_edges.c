/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output at its edges: recordings with times and counts up to 2^64 - 1 in every format and view; directories
 * of CTF traces that exist already, and those of a conversion that fails.
 */
#include <unistd.h>

#include "recording.h"

/* Samples, scheduling events and marks at these times, which may be few or far apart. */
static void make(const char *name, const uint64_t *times, unsigned n, bool sched)
{
    struct mkperf_session session = {
        .platform = "pocket", .cores = 2, .nevents = 1, .sched = sched};
    struct mkperf_chain chain = {.n = 0};
    struct recording r;

    session.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    recording_new(&r, name);
    assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(BEGIN, session, &session), &r.e),
                     MKPERF_OK);
    recording_pd(&r, 0, 1, "client", recording_path("one.elf"));
    recording_pd(&r, 1, 2, "server", NULL);
    recording_pd(&r, 2, MKPERF_THREAD_IDLE, "idle", NULL);
    struct mkperf_totals t = {.complete = true, .first_ns = times[0], .last_ns = times[n - 1]};
    for (unsigned i = 0; i < n; i++) {
        struct mkperf_sample s = {.time_ns = times[i],
                                  .period = i % 2 != 0 ? UINT64_MAX : 1000,
                                  .pd = i % 3,
                                  .pc = recording_at.alpha,
                                  .core = i % 2,
                                  .callers = &chain};
        struct mkperf_mark m = {.time_ns = times[i],
                                .id = 1,
                                .pd = i % 2,
                                .kind = i % 2 != 0 ? MKPERF_MARK_END : MKPERF_MARK_BEGIN,
                                .name = "round"};
        struct mkperf_sched e = {.time_ns = times[i],
                                 .kind = MKPERF_SCHED_SWITCH,
                                 .reason = i % 2 != 0 ? MKPERF_STOPPED_REPLIED
                                                      : MKPERF_STOPPED_CALLED,
                                 .from = i % 2,
                                 .to = 1 - i % 2};
        assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(SAMPLE, sample, &s), &r.e),
                         MKPERF_OK);
        assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(MARK, mark, &m), &r.e), MKPERF_OK);
        t.samples++;
        t.marks++;
        if (sched) {
            assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(SCHED, sched, &e), &r.e),
                             MKPERF_OK);
            t.sched_events++;
        }
    }
    assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(END, totals, &t), &r.e), MKPERF_OK);
    recording_free(&r);
}

static void formats(const char *path, bool sched)
{
    static const char *const of_samples[] = {"perf",   "flamegraph", "html",
                                             "folded", "firefox",    "speedscope",
                                             "pprof",  "callgrind",  "jsonl"};
    const char *out = recording_path("converted");
    int status;

    for (size_t i = 0; i < sizeof of_samples / sizeof *of_samples; i++) {
        char *text = RUN(convert, &status, path, "--to", of_samples[i], "-o", out);
        if (status != 0) {
            fail_msg("%s of %s: %s", of_samples[i], path, text);
        }
    }
    char *text = RUN(convert, &status, path, "--to", "chrome", "-o", out);
    if (status != (sched ? 0 : MKPERF_ERR_INPUT)) {
        fail_msg("chrome: %s", text);
    }
    text = RUN(convert, &status, path, "--to", "ctf", "-o", recording_path("late.ctf"));
    if (status != (sched ? 0 : MKPERF_ERR_INPUT)) {
        fail_msg("ctf: %s", text);
    }
    free(recording_shell("rm -rf %s", recording_path("late.ctf")));
}

static void views(const char *path, bool sched)
{
    int status;

    RUN(report, &status, "--stdio", "-i", path);
    assert_int_equal(status, 0);
    RUN(report, &status, "--stdio", "-i", path, "-s", "time,pd");
    assert_int_equal(status, 0);
    RUN(report, &status, "--stdio", "-i", path, "--marks");
    assert_int_equal(status, 0);
    RUN(script, &status, "-i", path);
    assert_int_equal(status, 0);
    if (sched) {
        RUN(latency, &status, path);
        assert_int_equal(status, 0);
        RUN(latency, &status, path, "--json");
        assert_int_equal(status, 0);
        RUN(report, &status, "--util", "--stdio", "-i", path);
        assert_int_equal(status, 0);
    }
}

static void late_times(void **state)
{
    static const struct {
        uint64_t at[5];
        unsigned n;
    } times[] = {
        {{0, 1000000, 2000000, UINT64_MAX - 1, UINT64_MAX}, 5},
        {{1, 1000000, 2000000, 3000000, UINT64_MAX}, 5},
        {{UINT64_MAX}, 1},
        {{UINT64_MAX - 3, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX}, 5},
        {{0, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_C(3) << 62, UINT64_MAX - 500}, 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        for (unsigned sched = 0; sched < 2; sched++) {
            char name[32];
            snprintf(name, sizeof name, "late%zu%u.data", i, sched);
            make(name, times[i].at, times[i].n, sched != 0);
            formats(recording_path(name), sched != 0);
            views(recording_path(name), sched != 0);
        }
    }
}

/* A recording lists PDs that no event names: they have no track. */
static void unused_pds(void **state)
{
    struct mkperf_session session = {.platform = "pocket", .cores = 1, .nevents = 1, .sched = true};
    struct mkperf_totals totals = {.complete = true, .sched_events = 4, .last_ns = 4000};
    const char *out = recording_path("unused.json");
    struct recording r;
    int status;

    (void)state;
    session.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    recording_new(&r, "unused.data");
    assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(BEGIN, session, &session), &r.e),
                     MKPERF_OK);
    recording_pd(&r, 0, 1, "client", NULL);
    recording_pd(&r, 1, 2, "unused", NULL);
    recording_pd(&r, 2, 3, "server", NULL);
    for (unsigned i = 0; i < 4; i++) {
        const struct mkperf_sched event = {.time_ns = 1000 * (i + 1),
                                           .kind = MKPERF_SCHED_SWITCH,
                                           .reason = MKPERF_STOPPED_PREEMPTED,
                                           .from = i % 2 * 2,
                                           .to = 2 - i % 2 * 2};
        assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(SCHED, sched, &event), &r.e),
                         MKPERF_OK);
    }
    assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(END, totals, &totals), &r.e), MKPERF_OK);
    recording_free(&r);
    RUN(convert, &status, recording_path("unused.data"), "--to", "firefox", "-o", out);
    assert_int_equal(status, 0);
    char *text = recording_shell("cat %s", out);
    assert_non_null(strstr(text, "server"));
    assert_null(strstr(text, "[unknown]"));
    free(text);
}

static void directories_of_traces(void **state)
{
    const uint64_t times[] = {1000, 2000, 3000};
    char good[300], dir[300], other[300], partial[320];
    int status;

    (void)state;
    make("sched.data", times, 3, true);
    make("plain.data", times, 3, false);
    snprintf(good, sizeof good, "%s", recording_path("sched.data"));
    snprintf(dir, sizeof dir, "%s", recording_path("t.ctf"));
    snprintf(other, sizeof other, "%s", recording_path("other.ctf"));
    snprintf(partial, sizeof partial, "%s.partial", dir);

    /* after an error nothing is left, neither under the final name nor under the other */
    RUN(convert, &status, recording_path("plain.data"), "-o", dir);
    assert_int_equal(status, MKPERF_ERR_INPUT);
    assert_true(access(dir, F_OK) != 0 && access(partial, F_OK) != 0);

    /* what a killed process left is not mixed with a new trace */
    free(recording_shell("mkdir %s; echo old >%s/core_7", partial, partial));
    RUN(convert, &status, good, "-o", dir);
    assert_int_equal(status, 0);
    char *text = recording_shell("ls %s | tr '\n' ' '", dir);
    assert_string_equal(text, "core_0 metadata ");
    free(text);
    assert_true(access(partial, F_OK) != 0);

    /* a directory with files is refused and stays as it is; an empty one is used */
    text = RUN(convert, &status, good, "-o", dir);
    assert_int_equal(status, MKPERF_ERR_OUTPUT);
    has(text, "exists already");
    free(recording_shell("mkdir %s; echo note >%s/note", other, other));
    RUN(convert, &status, good, "-o", other, "--to", "ctf");
    assert_int_equal(status, MKPERF_ERR_OUTPUT);
    text = recording_shell("cat %s/*; rm %s/note", other, other);
    assert_string_equal(text, "note\n");
    free(text);
    RUN(convert, &status, good, "-o", other, "--to", "ctf");
    assert_int_equal(status, 0);
    text = recording_shell("ls %s | tr '\n' ' '", other);
    assert_string_equal(text, "core_0 metadata ");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(late_times), cmocka_unit_test(unused_pds),
                                       cmocka_unit_test(directories_of_traces)};

    return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
