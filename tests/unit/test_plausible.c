/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples that cannot be of the ELF that names them: which, from how many on, and what becomes of it.
 * Needs aarch64-linux-gnu-gcc. */
#include "recording.h"

#include "model/relays.h"
#include "perfdata/perfdata.h"

static struct mkperf_totals seen;
static unsigned passed;

static enum mkperf_status count_samples(void *self, const struct mkperf_item *item,
                                        struct mkperf_error *e)
{
    (void)self, (void)e;
    if (item->kind == MKPERF_ITEM_SAMPLE) {
        passed++;
    } else if (item->kind == MKPERF_ITEM_END) {
        seen = *item->totals;
    }
    return MKPERF_OK;
}

static struct mkperf_checks *begin(void)
{
    struct mkperf_checks *p =
        mkperf_checks_new((struct mkperf_sink){.take = count_samples, .splits = true}, NULL, true);
    struct mkperf_sink sink = mkperf_checks_sink(p);
    struct mkperf_session session = {.kernel_elf = recording_path("kernel.elf"), .nevents = 1};
    struct mkperf_pd one = {.thread = 1, .id = 0, .name = "one", .elf = recording_path("one.elf")},
                     bare = {.thread = 2, .id = 1, .name = "bare"};
    struct mkperf_error e;

    assert_non_null(p);
    passed = 0;
    memset(&seen, 0, sizeof seen);
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(BEGIN, session, &session), &e), MKPERF_OK);
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(PD, pd, &one), &e), MKPERF_OK);
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(PD, pd, &bare), &e), MKPERF_OK);
    return p;
}

/* n samples at pc, with one caller if it is not 0. */
static void put(struct mkperf_checks *p, unsigned n, uint32_t pd, uint32_t flags, uint64_t pc,
                uint64_t caller)
{
    struct mkperf_chain chain = {.n = caller != 0, .caller = {{.addr = caller, .pd = pd}}};
    struct mkperf_sample s = {.period = 1,
                              .pd = pd,
                              .flags = flags,
                              .kernel_pc = flags & MKPERF_SAMPLE_KERNEL ? pc : 0,
                              .pc = flags & MKPERF_SAMPLE_NO_USER ? 0 : pc,
                              .callers = &chain};
    struct mkperf_sink sink = mkperf_checks_sink(p);
    struct mkperf_error e;

    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(mkperf_sink_sample(&sink, &s, &e), MKPERF_OK);
    }
}

static unsigned end(struct mkperf_checks *p, unsigned samples)
{
    struct mkperf_sink sink = mkperf_checks_sink(p);
    struct mkperf_totals totals = {.samples = samples, .spurious = 5};
    struct mkperf_error e;

    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(END, totals, &totals), &e), MKPERF_OK);
    assert_int_equal(passed, samples); /* all samples are passed on */
    assert_int_equal(seen.spurious, 5);
    assert_int_equal(seen.nsuspects, mkperf_checks_totals(p)->nsuspects);
    return seen.nsuspects;
}

/* Returns the address after the call in _start. */
static uint64_t return_address(void)
{
    char *text = recording_shell("aarch64-linux-gnu-objdump -d %s | grep -A20 '<_start>:' | "
                                 "grep -A1 'bl\t' | tail -1",
                                 recording_path("one.elf"));
    uint64_t addr = strtoull(text, NULL, 16);

    free(text);
    assert_int_not_equal(addr, 0);
    return addr;
}

static void good(void **state)
{
    struct mkperf_checks *p = begin();

    (void)state;
    put(p, 500, 0, 0, recording_at.alpha, return_address());
    put(p, 500, 1, 0, 0x1234, 0x5678); /* no ELF: nothing to check */
    put(p, 500, 0, MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER, recording_at.idle, 0);
    put(p, 500, 7, 0, 0x1234, 0); /* the PD was not announced */
    /* the caller is one of user code */
    put(p, 500, 1, MKPERF_SAMPLE_KERNEL, recording_at.idle, 0x5678);
    assert_int_equal(end(p, 2500), 0);
    mkperf_checks_free(p);
}

/* One in a hundred is not more than that; fewer than three are chance. */
static void thresholds(void **state)
{
    struct mkperf_checks *p = begin();

    (void)state;
    put(p, 990, 0, 0, recording_at.alpha, 0);
    put(p, 10, 0, 0, 0x10, 0);
    assert_int_equal(end(p, 1000), 0);
    mkperf_checks_free(p);
    p = begin();
    put(p, 989, 0, 0, recording_at.alpha, 0);
    put(p, 11, 0, 0, 0x10, 0);
    assert_int_equal(end(p, 1000), 1);
    mkperf_checks_free(p);
    p = begin();
    put(p, 2, 0, 0, 0x10, 0);
    assert_int_equal(end(p, 2), 0);
    mkperf_checks_free(p);
}

static void bad(void **state)
{
    char text[512];
    struct mkperf_checks *p = begin();

    (void)state;
    put(p, 100, 0, 0, recording_at.alpha, recording_at.beta); /* no call before a function */
    put(p, 50, 0, 0, recording_at.alpha + 2, 0); /* this is no address of an instruction */
    put(p, 10, 0, 0, 0x10, 0x20);
    put(p, 40, 0, MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER, 0x10, 0);
    put(p, 20, 0, MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER, recording_at.idle,
        recording_at.idle + 4); /* no call in the idle loop */
    assert_int_equal(end(p, 220), 2);
    assert_int_equal(seen.suspect[0].pd, 0);
    assert_int_equal(seen.suspect[0].samples, 160);
    assert_int_equal(seen.suspect[0].doubtful, 160);
    assert_int_equal(seen.suspect[0].outside, 60);
    assert_int_equal(seen.suspect[0].no_call, 110);
    assert_int_equal(seen.suspect[1].pd, MKPERF_SUSPECT_KERNEL);
    assert_int_equal(seen.suspect[1].doubtful, 60);
    assert_int_equal(seen.suspect[1].outside, 40);
    assert_int_equal(seen.suspect[1].no_call, 20);
    mkperf_suspect_text(&seen.suspect[0], "one", text, sizeof text);
    assert_non_null(strstr(text, "one: 160 of 160 samples cannot be of its ELF"));
    mkperf_suspect_text(&seen.suspect[1], "kernel", text, sizeof text);
    assert_non_null(strstr(text, "kernel: 60 of 60 samples"));
    mkperf_checks_free(p);
}

/* The most doubtful ones, if there are more than there is space for. */
static void many(void **state)
{
    struct mkperf_checks *p = begin();
    struct mkperf_sink sink = mkperf_checks_sink(p);
    struct mkperf_error e;
    unsigned samples = 0;

    (void)state;
    for (uint32_t i = 2; i < 42; i++) {
        struct mkperf_pd pd = {
            .thread = i + 1, .id = i, .name = "x", .elf = recording_path("one.elf")};
        assert_int_equal(sink.take(sink.self, MKPERF_ITEM(PD, pd, &pd), &e), MKPERF_OK);
        put(p, 100 + (i * 7) % 40, i, 0, 0x10, 0);
        samples += 100 + (i * 7) % 40;
    }
    assert_int_equal(end(p, samples), MKPERF_SUSPECTS);
    for (unsigned i = 0; i < MKPERF_SUSPECTS; i++) {
        assert_int_equal(seen.suspect[i].doubtful, 139 - i);
    }
    mkperf_checks_free(p);
}

/* Through a file and back. */
static void kept(void **state)
{
    struct recording r;
    struct mkperf_sink sink = {.take = count_samples, .splits = true};
    const struct mkperf_totals totals = {
        .nsuspects = 2, .suspect = {{1, 100, 50, 20, 40}, {MKPERF_SUSPECT_KERNEL, 9, 8, 8, 0}}};

    (void)state;
    recording_begin(&r, "kept.data");
    recording_put(&r, 0, 0, 0, 1000, recording_at.alpha, NULL);
    recording_end_with(&r, totals);
    assert_int_equal(mkperf_perfdata_read(recording_path("kept.data"), -1, &sink, &r.e), MKPERF_OK);
    assert_int_equal(seen.nsuspects, 2);
    assert_int_equal(seen.suspect[0].pd, 1);
    assert_int_equal(seen.suspect[0].samples, 100);
    assert_int_equal(seen.suspect[0].doubtful, 50);
    assert_int_equal(seen.suspect[0].outside, 20);
    assert_int_equal(seen.suspect[0].no_call, 40);
    assert_int_equal(seen.suspect[1].pd, MKPERF_SUSPECT_KERNEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good), cmocka_unit_test(thresholds), cmocka_unit_test(bad),
        cmocka_unit_test(many), cmocka_unit_test(kept),
    };

    return cmocka_run_group_tests_name("plausible", tests, recording_setup, recording_teardown);
}
