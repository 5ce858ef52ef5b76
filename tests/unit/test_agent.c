/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf agent's files: the names of windows, an outbox that is full, one that an earlier agent left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "sched_story.h"

static char dir[] = "/tmp/test_agent.XXXXXX";

static void write_file(const char *path, size_t n)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (size_t i = 0; i < n; i++) {
        fputc('x', f);
    }
    fclose(f);
}

static void names(void **state)
{
    static const char *const wrong[] = {"",
                                        "index.jsonl",
                                        "000000000001.5.7.board",
                                        "000000000001.5.board.data",
                                        "1.5.7.board.data",
                                        "000000000001.5.7..data.partial",
                                        "000000000001.5.7.a/b.data",
                                        "000000000001.5.7.a b.data",
                                        "000000000001.5.7..data",
                                        "000000000001.-5.7.board.data",
                                        "000000000001.5. 7.board.data",
                                        "000000000001.99999999999999999999999999x.7.board.data"};
    struct agent_name w;
    char text[256];

    (void)state;
    assert_true(agent_name_parse("000000000017.1764242205123.1000.10.0.0.5.data", &w));
    assert_int_equal(w.sequence, 17);
    assert_int_equal(w.unix_ms, 1764242205123);
    assert_int_equal(w.samples, 1000);
    assert_string_equal(w.target, "10.0.0.5");
    assert_true(agent_name_parse("000000000017.5.0.board-1_x.pprof", &w));
    assert_string_equal(w.target, "board-1_x");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(agent_name_parse(wrong[i], &w));
    }
    snprintf(text, sizeof text, "000000000017.5.0.%0*d.data", 200, 0); /* too long a target */
    assert_false(agent_name_parse(text, &w));
}

/* Three windows of 400 bytes do not fit into 1000: the oldest one is given up, with its samples. The next agent finds the rest. */
static void limit(void **state)
{
    struct agent_outbox o;
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_totals totals = {.samples = 0};
    const struct mkperf_elf_search elfs = {.elf_path = NULL};
    uint64_t sequence = 0;
    char *spec = mkperf_xprintf("file:%s/windows", dir);

    (void)state;
    assert_int_equal(agent_outbox_open(&o, spec, NULL, 1000, &sequence, &e), MKPERF_OK);
    assert_int_equal(sequence, 0);
    for (unsigned i = 0; i < 3; i++) {
        char *made = mkperf_xprintf("%s/%012u.%013u.%u.t.data", dir, i + 5, i, 10 + i);
        write_file(made, 400);
        assert_int_equal(agent_outbox_add(&o, made, &totals, &elfs, &e), MKPERF_OK);
        unlink(made);
        free(made);
    }
    assert_int_equal(o.bytes, 800);
    assert_int_equal(o.given_up, 1);
    assert_int_equal(o.given_up_samples, 10);
    agent_outbox_free(&o);

    /* A window that cannot be finished is removed, other files stay. */
    char *partial = mkperf_xprintf("%s/windows/000000000009.0000000000001.0.t.data.partial", dir);
    write_file(partial, 20);
    assert_int_equal(agent_outbox_open(&o, spec, NULL, 1000, &sequence, &e), MKPERF_OK);
    assert_int_equal(sequence, 8);
    assert_int_equal(STAILQ_FIRST(&o.waiting)->samples, 11);
    assert_int_not_equal(access(partial, F_OK), 0);
    agent_outbox_drop(&o);
    agent_outbox_drop(&o);
    assert_true(STAILQ_EMPTY(&o.waiting));
    assert_int_equal(o.bytes, 0);
    agent_outbox_free(&o);
    free(spec);
    free(partial);
}

static void destinations(void **state)
{
    static const char *const wrong[] = {
        "", "file", "file:", "fil:x", "otlp:host:4318", "otlp:ftp://x", "pyroscope:"};
    struct agent_outbox o;
    uint64_t sequence = 0;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mkperf_error e = {.status = MKPERF_OK};
        assert_int_equal(agent_outbox_open(&o, wrong[i], dir, 1, &sequence, &e), MKPERF_ERR_USAGE);
    }
}

/* Label values: a quote and a backslash in a name do not end it. */
static void text_of_nothing(void **state)
{
    struct agent a = {.nto = 1, .outbox = {{.spec = "file:a\"b\\c"}}};
    size_t n;
    char *text = agent_metrics_text(&a, &n);

    (void)state;
    assert_non_null(strstr(text, "mkperf_agent_sent_windows_total{to=\"file:a\\\"b\\\\c\"} 0\n"));
    assert_int_equal(text[n - 1], '\n');
    free(text);
}

/* ELFs stay open for windows that began before they were opened, and no longer than a window. */
static void elfs(void **state)
{
    struct agent a = {.window_s = 10};

    (void)state;
    assert_non_null(agent_elfs(&a, agent_unix_ms()).open);
    a.elfs_unix_ms = 5;
    assert_non_null(agent_elfs(&a, 5).open);
    assert_int_equal(a.elfs_unix_ms, 5);
    assert_non_null(agent_elfs(&a, 6).open); /* a later window opens ELFs again */
    assert_true(a.elfs_unix_ms > 6);
    a.elfs_unix_ms = 5;
    a.elfs_s -= 11;
    assert_non_null(agent_elfs(&a, 5).open);
    assert_true(a.elfs_unix_ms > 5);
    mkperf_symbols_free(a.elfs);
}

/* A guest exits twice for one reason and once for another; the call of its monitor is no exit. */
static void exits(void **state)
{
    static struct story story;
    static struct agent_target target = {.name = (char *)"board"};
    struct agent_window *w = &target.window;
    struct mkperf_session session = {.cores = 1};
    struct agent a = {.target = (struct agent_target *[]){&target}, .ntargets = 1};
    const uint32_t reason[] = {MKPERF_EXIT_HVC, 0x9000 << 8 | MKPERF_EXIT_ACCESS, MKPERF_EXIT_HVC};
    size_t n;

    (void)state;
    w->of = &target;
    w->session = (struct mkperf_session){.platform = "seL4", .cpu = "A53", .sched = true};
    w->sched = mkperf_analysis_new();
    mkperf_flow_init(&w->flow, w->sched);
    story_begin(&story, mkperf_analysis_sink(w->sched), &session);
    run(&story, 500, SERVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 1000, CLIENT, MKPERF_STOPPED_WAIT_MESSAGE);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t ns = 10000 * (i + 1);

        story_pass(&story, (struct mkperf_sched){.time_ns = ns,
                                                 .kind = MKPERF_SCHED_FAULT,
                                                 .from = CLIENT,
                                                 .to = SERVER,
                                                 .irq = reason[i]});
        run(&story, ns, SERVER, MKPERF_STOPPED_FAULTED);
        run(&story, ns + 1000, STORE, MKPERF_STOPPED_CALLED);
        run(&story, ns + 1500, SERVER, MKPERF_STOPPED_REPLIED);
        run(&story, ns + 3000, CLIENT, MKPERF_STOPPED_WAIT_MESSAGE);
    }
    story_end(&story);
    uint64_t ran_ns[] = {1500000000, 7};
    assert_int_equal(mkperf_hash_number(&w->ran_keys, (uint64_t[]){CLIENT, 0}, 2), 0);
    assert_int_equal(mkperf_hash_number(&w->ran_keys, (uint64_t[]){MKPERF_SCHED_NOBODY, 3}, 2), 1);
    w->ran_ns = memcpy(mkperf_xcalloc(2, sizeof ran_ns[0]), ran_ns, sizeof ran_ns);
    agent_metrics_make(w);
    char *text = agent_metrics_text(&a, &n);
    const char *const wanted[] = {
        "mkperf_run_seconds_total{target=\"board\",core=\"0\",pd=\"client\"} 1.500000000\n",
        "mkperf_core_unknown_seconds_total{target=\"board\",core=\"3\"} 0.000000007\n",
        "# TYPE mkperf_exit_seconds histogram\n",
        "mkperf_exit_seconds_count{target=\"board\",from=\"client\",to=\"server\",reason=\"HVC\"} "
        "2\n",
        "mkperf_exit_seconds_sum{target=\"board\",from=\"client\",to=\"server\",reason=\"HVC\"} "
        "0.000006000\n",
        "reason=\"access to page 0x9000\",le=\"0.000002047\"} 0\n",
        "reason=\"access to page 0x9000\",le=\"0.000004095\"} 1\n",
        "reason=\"access to page 0x9000\",le=\"+Inf\"} 1\n",
        "mkperf_call_seconds_count{target=\"board\",from=\"server\",to=\"store\",irq=\"\"} 3\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (strstr(text, wanted[i]) == NULL) {
            fail_msg("no %s in:\n%s", wanted[i], text);
        }
    }
    assert_null(strstr(text, "mkperf_call_seconds_count{target=\"board\",from=\"client\""));
    assert_null(strstr(text, "mkperf_exit_seconds_count{target=\"board\",from=\"server\""));
    free(text);
    agent_window_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),           cmocka_unit_test(limit),
                                       cmocka_unit_test(destinations),    cmocka_unit_test(elfs),
                                       cmocka_unit_test(text_of_nothing), cmocka_unit_test(exits)};

    if (mkdtemp(dir) == NULL) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char *command = mkperf_xprintf("rm -rf %s", dir);
    failed += system(command) != 0;
    free(command);
    return failed;
}
