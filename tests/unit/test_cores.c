/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream of several cores through record and the looking commands: order, losses by core, cores
 * that are late. */
#include "recording.h"

#include "base/args.h"
#include "fake_target.h"
#include "model/figures.h"

enum { BATCHES = 60, IN_BATCH = 10 };

static struct fake stream;

/* The target samples `cores` of its cores. */
static void put_hello(struct fake *f, unsigned cores)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = 1;
    m.which_msg = mkperf_ToHost_hello_tag;
    m.msg.hello = (mkperf_TargetHello){.protocol = MKPERF_PROTOCOL,
                                       .boot_id = 5,
                                       .platform = "fake",
                                       .cpu = "none",
                                       .cores = cores,
                                       .target_cores = 4};
    fake_send(f, &m);
}

/* Ten samples of a core, 1000 ticks (16 us) apart, of PD core + 3. */
static void put_batch(struct fake *f, uint64_t *first, uint32_t core, uint64_t ticks)
{
    struct fake_batch b;

    fake_batch_init(&b, *first, IN_BATCH, ticks);
    b.batch.core = core;
    for (unsigned i = 0; i < IN_BATCH; i++) {
        b.sample[i].slot = core;
    }
    fake_chain(&b, core, 0, core + 3, 0x200000 + 0x1000 * core);
    *first += IN_BATCH;
    fake_batch(f, &b);
}

static mkperf_CoreStatus *put_status_of(mkperf_Status *s, uint64_t captured, uint64_t ring)
{
    mkperf_CoreStatus *c = &s->cores[s->cores_count];

    *c = (mkperf_CoreStatus){
        .core = s->cores_count, .captured = captured, .lost_ring = ring, .started_ticks = 100};
    s->cores_count++;
    s->captured += captured;
    s->sent += captured;
    s->lost_ring += ring;
    return c;
}

/*
 * Three sampled cores of four. Core 1's batches come two later than those of core 0, and one is
 * lost with its frame; core 0 reports 7 lost samples, of which 2 are known only from the status;
 * core 2 never answered.
 */
static void make_stream(void)
{
    static mkperf_ToHost m;
    struct fake *f = &stream;
    uint64_t first = 0;
    mkperf_Status *s = &m.msg.status;
    FILE *raw = fopen(recording_path("cores.raw"), "wb");

    put_hello(f, 3);
    f->all_cores = true;
    f->turns = true;
    fake_session(f, 2, 1, false);
    fake_session(f, 3, 1, true);
    for (unsigned i = 0; i < BATCHES + 2; i++) {
        uint64_t ticks = 1000000 + UINT64_C(10000) * i;
        if (i < BATCHES) {
            put_batch(f, &first, 0, ticks);
        }
        if (i == 5) {
            struct fake_batch loss;
            fake_batch_init(&loss, first, 0, ticks);
            loss.batch.losses_count = 1;
            loss.batch.losses[0] = (mkperf_Loss){.time_ticks = ticks, .samples = 5};
            fake_batch(f, &loss);
        }
        f->lose = i == 20;
        if (i >= 2) {
            put_batch(f, &first, 1, ticks - 20000 + 300);
        }
        f->lose = false;
    }
    memset(&m, 0, sizeof m);
    m.request = 4;
    m.which_msg = mkperf_ToHost_status_tag;
    *s = (mkperf_Status){.session = 1, .tick_hz = FAKE_HZ};
    put_status_of(s, (uint64_t)BATCHES * IN_BATCH, 7);
    mkperf_CoreStatus *late = put_status_of(s, (uint64_t)BATCHES * IN_BATCH, 0);
    late->late_events = 9;
    late->late_answers = 1;
    put_status_of(s, 0, 0)->state = mkperf_CoreState_CORE_ABSENT;
    fake_send(f, &m);
    assert_non_null(raw);
    assert_int_equal(fwrite(f->bytes, 1, f->n, raw), f->n);
    assert_int_equal(fclose(raw), 0);
}

static char *record(int *status)
{
    static char target[400];

    snprintf(target, sizeof target, "file:%s", recording_path("cores.raw"));
    return RUN(record, status, "-t", target, "--no-compress", "-o", recording_path("cores.data"));
}

static void the_summary_names_each_core(void **state)
{
    int status;
    char *text = record(&status);

    (void)state;
    assert_int_equal(status, 0);
    has(text, "1190 samples in");
    has(text, "the target has at least 4 cores and only cores 0-2 are sampled: percentages "
              "are of cores 0-2, not of the target");
    has(text, "warning: QEMU counts cycles on each core for all cores together");
    has(text, "warning: QEMU's cores take turns: time passes for a core while others run");
    has(text, "core 0  600 samples (50.42 %), 7 lost (ring 7)\n");
    has(text, "core 1  590 samples (49.58 %), 10 lost (transit 10), 9 late events, "
              "1 late answer\n");
    has(text, "core 1 did not answer 1 request of the target in time");
    has(text, "core 2  0 samples (0.00 %), 0 lost\n");
    has(text, "core 2 has never answered: nothing of it is in the profile");
    has(text, "10 samples on the way"); /* their core was not known when they were lost */
}

static void the_file_says_the_same(void **state)
{
    int status;
    char *text = RUN(report, &status, "--stdio", "-s", "core", recording_path("cores.data"));

    (void)state;
    assert_int_equal(status, 0);
    has(text, "# cores       core 0  600 samples (50.42 %), 7 lost (ring 7)\n");
    has(text, "#             core 1  590 samples (49.58 %), 10 lost (transit 10), 9 late");
    has(text, "# WARNING: QEMU counts cycles on each core for all cores together");
    has(text, "# WARNING: QEMU's cores take turns");
    has(text, "# WARNING: core 1 did not answer 1 request of the target in time");
    has(text, "# WARNING: core 2 has never answered");
    has(text, "50.42%");
    text = RUN(convert, &status, recording_path("cores.data"), "-o", recording_path("cores.jsonl"));
    assert_int_equal(status, 0);
    text = recording_shell("grep -v '\"type\":\"sample\"' %s", recording_path("cores.jsonl"));
    has(text, ",\"all_cores\":true");
    has(text, ",\"turns\":true");
    has(text, "{\"type\":\"core\",\"core\":1,\"state\":\"runs\",\"samples\":590,\"lost\":"
              "{\"ring\":0,\"output\":0,\"link\":0,\"transit\":10,\"chain\":0},"
              "\"late_events\":9,\"late_answers\":1}");
    has(text, "{\"type\":\"core\",\"core\":2,\"state\":\"absent\",\"samples\":0");
    has(text, "\"where\":\"transit\",\"samples\":10"); /* a loss without a core */
    has(text, "\"unordered\":0");
    free(text);
}

/* All samples in one order in the file, each with its core and in its place. */
static void cores_are_in_one_order(void **state)
{
    int status;
    char *text =
        RUN(convert, &status, recording_path("cores.data"), "-o", recording_path("order.jsonl"));
    uint64_t last = 0, time;
    unsigned core, n = 0, of[3] = {0};

    (void)state;
    assert_int_equal(status, 0);
    text = recording_shell("grep '\"type\":\"sample\"' %s | cut -d, -f2,3",
                           recording_path("order.jsonl"));
    for (char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "\"time_ns\":%" SCNu64 ",\"core\":%u", &time, &core) == 2) {
            assert_true(time >= last && core < 3);
            assert_int_equal(time % 16000, core == 0 ? 0 : 300 * 16);
            last = time;
            of[core]++;
            n++;
        }
    }
    assert_int_equal(n, 1190);
    assert_int_equal(of[0], 600);
    assert_int_equal(of[1], 590);
    free(text);
}

static unsigned lines(const char *command, const char *path)
{
    char *text = recording_shell("%s %s", command, path);
    unsigned n = (unsigned)atoi(text);

    free(text);
    return n;
}

/* -C of commands that look, that convert, and of record: from a capture, it leaves cores out. */
static void cores_can_be_chosen(void **state)
{
    const char *in = recording_path("cores.data"), *one = recording_path("one.jsonl");
    char target[400];
    int status;
    char *text = RUN(report, &status, "--stdio", "-C", "1", "-s", "core", in);

    (void)state;
    assert_int_equal(status, 0);
    has(text, "# only        core 1: percentages are of these\n");
    has(text, "100.00%");
    text = RUN(script, &status, "-C", "1-2", "-G", "-F", "cpu,time", in);
    assert_null(strstr(text, "[000]"));
    has(text, "[001]");
    text = RUN(report, &status, "--stdio", "--cpu", "2-3", in);
    assert_int_equal(status, MKPERF_ERR_USAGE);
    has(text, "no sample of cores 2-3");
    for (const char *const *bad = (const char *const[]){"", "x", "1-", "2-1", "1,", "9999", NULL};
         *bad != NULL; bad++) {
        text = RUN(report, &status, "--stdio", "-C", *bad, in);
        assert_int_equal(status, MKPERF_ERR_USAGE);
        has(text, "cores below 4096, as in 0-2,5");
    }
    text = RUN(convert, &status, "-C", "1", in, "-o", one);
    assert_int_equal(status, 0);
    has(text, "590 samples");
    assert_int_equal(lines("grep -c '\"sample\",\"time_ns\":[0-9]*,\"core\":1,'", one), 590);
    assert_int_equal(lines("grep -c '\"type\":\"sample\"'", one), 590);
    assert_int_equal(lines("grep -c '\"core\",\"core\":0,.*\"samples\":0,'", one), 1);
    snprintf(target, sizeof target, "file:%s", recording_path("cores.raw"));
    text = RUN(record, &status, "-t", target, "-C", "0", "-o", recording_path("core0.data"));
    assert_int_equal(status, 0);
    text = RUN(report, &status, "--stdio", recording_path("core0.data"));
    has(text, "at least 4 cores and only core 0 is sampled: percentages are of core 0");
    has(text, "# Samples: 600 of event");
}

static void firefox_has_a_thread_for_each_core(void **state)
{
    const char *out = recording_path("cores.firefox.json");
    int status;

    (void)state;
    RUN(convert, &status, recording_path("cores.data"), "-o", out);
    assert_int_equal(status, 0);
    assert_int_equal(
        lines("jq '[.threads[].name] == [\"unknown-3 core 0\",\"unknown-4 core 1\",\"lost "
              "samples\"] | if . then 1 else 0 end'",
              out),
        1);
    assert_int_equal(lines("jq '[.threads[1].samples.weight[]] | add'", out), 590000);
}

static void top_has_a_line_for_each_core(void **state)
{
    char target[400];
    int status;

    (void)state;
    snprintf(target, sizeof target, "file:%s", recording_path("cores.raw"));
    char *text = RUN(top, &status, "-t", target, "--stdio", "--window", "0");
    assert_int_equal(status, 0);
    has(text, "  50.42%      600  core 0, lost 7\n");
    has(text, "cycles (of all cores on each, QEMU): ");
    has(text, "  49.58%      590  core 1, lost 10, did not answer 1 request");
    has(text, "   0.00%        0  core 2, has never answered");
}

/* --quiet leaves out the summary, but no warning. */
static void quiet_prints_warnings(void **state)
{
    char target[400];
    int status;

    (void)state;
    snprintf(target, sizeof target, "file:%s", recording_path("cores.raw"));
    char *text = RUN(record, &status, "-q", "-t", target, "-o", recording_path("quiet.data"));
    assert_int_equal(status, 0);
    has(text, "mkperf: warning: the target has at least 4 cores and only cores 0-2 are sampled");
    has(text, "mkperf: warning: QEMU's cores take turns");
    has(text, "mkperf: warning: core 1 did not answer 1 request of the target in time");
    has(text, "mkperf: warning: core 2 has never answered");
    has(text, "mkperf: warning: 1.41 % of the samples were lost (ring 7, transit 10)");
    assert_null(strstr(text, "samples in"));
}

/* A recording that was killed: what each core has is counted again. */
static void a_recovered_file_has_cores(void **state)
{
    const char *path = recording_path("cores.data");
    char *size = recording_shell("stat -c %%s %s", path);
    unsigned of[2], all;
    int status;

    (void)state;
    recording_cut("cores.data", (unsigned)atoi(size) * 3 / 4);
    /* as the writer leaves it: no table of features yet */
    free(recording_shell(
        "printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=%s bs=1 seek=48 conv=notrunc 2>&1; "
        "head -c 32 /dev/zero | dd of=%s bs=1 seek=72 conv=notrunc 2>&1",
        recording_path("cut"), recording_path("cut")));
    char *text = RUN(report, &status, "--stdio", recording_path("cut"));
    assert_int_equal(status, 0);
    has(text, "more may be missing than is known; mkperf recover finishes the file\n");
    text = RUN(recover, &status, recording_path("cut"), "-o", recording_path("again.data"));
    assert_int_equal(status, 0);
    text = RUN(report, &status, "--stdio", recording_path("again.data"));
    assert_int_equal(status, 0);
    /* The cut is in a compressed record, whose length depends on the temporary directory's name. */
    has(text, "# WARNING: QEMU's cores take turns");
    has(text, "# cores       core 0  ");
    assert_int_equal(sscanf(strstr(text, "# cores "), "# cores core 0 %u samples", &of[0]), 1);
    has(text, "#             core 1  ");
    assert_int_equal(sscanf(strstr(text, "  core 1  "), " core 1 %u samples", &of[1]), 1);
    has(text, "period 1000: ");
    assert_int_equal(sscanf(strstr(text, "period 1000: "), "period 1000: %u samples", &all), 1);
    assert_true(of[0] >= 200 && of[1] >= 200 && of[0] + of[1] == all && all < 1190);
    free(size);
}

static void masks_have_names(void **state)
{
    char text[MKPERF_CPU_LIST_TEXT];

    (void)state;
    assert_string_equal(mkperf_cpu_mask_text(1, text), "core 0");
    assert_string_equal(mkperf_cpu_mask_text(0x8, text), "core 3");
    assert_string_equal(mkperf_cpu_mask_text(0xf, text), "cores 0-3");
    assert_string_equal(mkperf_cpu_mask_text(0x2d, text), "cores 0,2-3,5");
    assert_string_equal(mkperf_cpu_mask_text(0x80000001, text), "cores 0,31");
    assert_true(strlen(mkperf_cpu_mask_text(0xaaaaaaaa, text)) < sizeof text);
    assert_string_equal(mkperf_cpu_mask_text(UINT32_MAX, text), "cores 0-31");
}

static int setup(void **state)
{
    recording_setup(state);
    make_stream();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_summary_names_each_core),
        cmocka_unit_test(quiet_prints_warnings),
        cmocka_unit_test(the_file_says_the_same),
        cmocka_unit_test(cores_are_in_one_order),
        cmocka_unit_test(cores_can_be_chosen),
        cmocka_unit_test(top_has_a_line_for_each_core),
        cmocka_unit_test(firefox_has_a_thread_for_each_core),
        cmocka_unit_test(a_recovered_file_has_cores),
        cmocka_unit_test(masks_have_names),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
