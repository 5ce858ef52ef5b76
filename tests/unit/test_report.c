/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf report against perf: the same recording must give the same numbers. The recording is made
 * from known samples with the writer; the ELFs are compiled here; perf is the distribution's.
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
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "perfdata/writer.h"

static char dir[] = "/tmp/mkperf-report-XXXXXX";

static const char program[] =
    "volatile int sink;\n"
    "__attribute__((noinline)) int alpha(int a) { sink = a; return a + 1; }\n"
    "__attribute__((noinline)) int beta(int a) { return alpha(a) + alpha(a + 1); }\n"
    "__attribute__((noinline)) int gamma_(int a) { return a ? gamma_(a - 1) + beta(a) : 0; }\n"
    "void _start(void) { sink = gamma_(3); }\n";

static const char kernel[] = "volatile int sink;\n"
                             "__attribute__((noinline)) void idle_thread(void) { sink++; }\n"
                             "__attribute__((noinline)) void handleSyscall(void) { sink--; }\n"
                             "void _start(void) { idle_thread(); handleSyscall(); }\n";

static void compile(const char *name, const char *text, const char *flags)
{
    char path[256], command[1024];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s.c", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command,
             "aarch64-linux-gnu-gcc -O1 -g -fno-optimize-sibling-calls -ffreestanding -nostdlib "
             "-static -Wl,--build-id %s -o %s/%s.elf %s",
             flags, dir, name, path);
    assert_int_equal(system(command), 0);
}

static uint64_t address(struct mkperf_symbols *s, const char *elf, const char *function)
{
    char command[512];
    uint64_t addr = 0;
    FILE *p;

    (void)s;
    snprintf(command, sizeof command, "aarch64-linux-gnu-nm %s/%s.elf | grep ' %s$'", dir, elf,
             function);
    p = popen(command, "r");
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%" SCNx64, &addr), 1);
    pclose(p);
    return addr;
}

struct maker {
    struct mkperf_symbols *symbols;
    struct mkperf_perfdata *writer;
    struct mkperf_sink sink;
    struct mkperf_error e;
    uint64_t time, samples;
};

/* A sample with callers, the last one marked by 0; PD of each caller is the sample's own. */
static void put(struct maker *m, uint32_t pd, uint32_t event, uint32_t flags, uint64_t period,
                uint64_t kernel_pc, uint64_t pc, const uint64_t *callers)
{
    struct mkperf_chain chain = {.n = 0};
    struct mkperf_sample s = {.time_ns = m->time += 1000,
                              .period = period,
                              .pd = pd,
                              .event = event,
                              .flags = flags,
                              .kernel_pc = kernel_pc,
                              .pc = pc,
                              .core = (uint32_t)(m->samples % 2),
                              .callers = &chain};

    while (callers && callers[chain.n]) {
        chain.caller[chain.n] = (struct mkperf_caller){.addr = callers[chain.n], .pd = pd};
        chain.n++;
    }
    m->samples++;
    assert_int_equal(m->sink.ops->sample(m->sink.self, &s, &m->e), MKPERF_OK);
}

static void begin(struct maker *m, const char *path, const char *kernel_elf)
{
    struct mkperf_session session = {.platform = "pocket",
                                     .cpu = "cortex-a53",
                                     .kernel_elf = kernel_elf,
                                     .cores = 2,
                                     .nevents = 2,
                                     .max_frames = 16,
                                     .jitter = true,
                                     .command = "mkperf record"};

    session.event[0] = (struct mkperf_event){"cycles", 0x11, true, true, 1000, 0, 0, false, false};
    session.event[1] =
        (struct mkperf_event){"instructions", 8, true, true, 5000, 0, 0, false, false};
    assert_int_equal(mkperf_perfdata_new(path, m->symbols, &m->writer, &m->e), MKPERF_OK);
    m->sink = mkperf_perfdata_sink(m->writer);
    assert_int_equal(m->sink.ops->begin(m->sink.self, &session, &m->e), MKPERF_OK);
}

static void announce(struct maker *m, uint32_t id, uint64_t thread, const char *name,
                     const char *elf)
{
    struct mkperf_pd pd = {.thread = thread, .id = id, .name = name, .elf = elf};

    assert_int_equal(m->sink.ops->pd(m->sink.self, &pd, &m->e), MKPERF_OK);
}

static void finish(struct maker *m, uint64_t lost, bool complete)
{
    struct mkperf_totals t = {.samples = m->samples,
                              .first_ns = 1000,
                              .last_ns = m->time,
                              .late_events = 77,
                              .unrepaired = 3,
                              .unread = 4,
                              .complete = complete};
    struct mkperf_lost l = {.samples = lost, .where = MKPERF_LOST_LINK};

    t.lost[MKPERF_LOST_LINK] = lost;
    if (lost) {
        assert_int_equal(m->sink.ops->lost(m->sink.self, &l, &m->e), MKPERF_OK);
    }
    assert_int_equal(m->sink.ops->end(m->sink.self, &t, &m->e), MKPERF_OK);
    mkperf_perfdata_free(m->writer);
}

static char input[300];

static void make_samples(struct maker *m)
{
    uint64_t alpha = address(m->symbols, "one", "alpha"), beta = address(m->symbols, "one", "beta");
    uint64_t gamma = address(m->symbols, "one", "gamma_"),
             start = address(m->symbols, "one", "_start");
    uint64_t idle = address(m->symbols, "kernel", "idle_thread");
    uint64_t call = address(m->symbols, "kernel", "handleSyscall");
    uint64_t deep[] = {beta + 12, gamma + 20, gamma + 20, gamma + 20, start + 12, 0};

    for (unsigned i = 0; i < 40; i++) {
        put(m, 0, 0, 0, 900 + 7 * i, 0, alpha + i % 3 * 4, deep);
        put(m, 1, 0, 0, 1003, 0, beta, deep + 1);
        put(m, 0, 1, 0, 5000 + i, 0, gamma, deep + 2);
    }
    for (unsigned i = 0; i < 25; i++) {
        put(m, 0, 0, MKPERF_SAMPLE_KERNEL, 1000 + i, call, beta + 8, deep + 1);
        put(m, 2, 0, MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER, 999, idle, 0, NULL);
    }
}

static int setup(void **state)
{
    char elf[3][300];
    struct maker m = {.symbols = mkperf_symbols_new()};

    (void)state;
    if (!mkdtemp(dir)) {
        return -1;
    }
    compile("one", program, "");
    compile("kernel", kernel, "-Wl,-Ttext-segment=0xffffff8040000000");
    snprintf(elf[0], sizeof elf[0], "%s/one.elf", dir);
    snprintf(elf[1], sizeof elf[1], "%s/kernel.elf", dir);
    snprintf(input, sizeof input, "%s/perf.data", dir);
    begin(&m, input, elf[1]);
    announce(&m, 0, 1, "client one", elf[0]);
    announce(&m, 1, 2, "server", elf[0]);
    announce(&m, 2, MKPERF_THREAD_IDLE, "idle", NULL);
    make_samples(&m);
    finish(&m, 5, true);
    mkperf_symbols_free(m.symbols);
    return 0;
}

static int teardown(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

/* Runs the command in a child; its output, and its exit status in *status. */
static char *run(int *status, const char *const *words)
{
    static char text[1 << 18];
    char path[300];
    size_t n;
    pid_t child;
    FILE *f;
    int argc = 0, result;

    char *argv[16] = {NULL};

    while (words[argc]) {
        argv[argc] = strdup(words[argc]);
        assert_non_null(argv[argc++]);
    }
    snprintf(path, sizeof path, "%s/out", dir);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (!freopen(path, "w", stdout) || dup2(1, 2) < 0) {
            _exit(99);
        }
        result = mkperf_report_command.run(argc, argv);
        fflush(NULL);
        _exit(result);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    *status = WEXITSTATUS(result);
    while (argc > 0) {
        free(argv[--argc]);
    }
    f = fopen(path, "r");
    assert_non_null(f);
    n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

#define RUN(status, ...) run(status, (const char *[]){"report", "-i", input, __VA_ARGS__, NULL})

/* The lines of a table without blanks, sorted, one string. */
static char *normal(const char *command)
{
    char *text = NULL;
    size_t n = 0;
    FILE *p = popen(command, "r"), *out = open_memstream(&text, &n);
    int c;

    assert_non_null(p);
    while ((c = fgetc(p)) != EOF) {
        fputc(c, out);
    }
    pclose(p);
    fclose(out);
    return text;
}

static const char squeeze[] = "grep -v '^#' | grep % | tr -s ' ' | sed 's/^ //; s/ *$//' | sort";

static void compare_with_perf(const char *ours, const char *theirs_fields, const char *event)
{
    char command[1024], path[300];
    char *perf, *mkperf;

    snprintf(path, sizeof path, "%s/ours", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(ours, f);
    fclose(f);
    snprintf(command, sizeof command, "cat %s | %s", path, squeeze);
    mkperf = normal(command);
    snprintf(command, sizeof command,
             "perf report -i %s --stdio -g none %s 2>/dev/null | awk '/of event/ {on = index($0, "
             "\"%s\") > 0} on' | sed 's/  *-  *-  *$//' | %s",
             input, theirs_fields, event, squeeze);
    perf = normal(command);
    assert_true(strlen(perf) > 20);
    assert_string_equal(mkperf, perf);
    free(perf);
    free(mkperf);
}

static void test_self_equals_perf(void **state)
{
    int status;

    (void)state;
    compare_with_perf(RUN(&status, "--event", "cycles"),
                      "--no-children -F overhead,sample,period,comm,sym", "'cycles'");
    assert_int_equal(status, 0);
    compare_with_perf(RUN(&status, "--event", "instructions", "--sort", "pd"),
                      "--no-children -F overhead,sample,period,comm", "'instructions'");
    compare_with_perf(RUN(&status, "--event", "cycles", "--sort", "core,symbol"),
                      "--no-children -F overhead,sample,period,cpu,sym", "'cycles'");
    compare_with_perf(
        RUN(&status, "--event", "cycles", "--sort", "time,pd", "--time-quantum", "50us"),
        "--no-children -F overhead,sample,period,time,comm --time-quantum 50us", "'cycles'");
}

static void test_children_equal_perf(void **state)
{
    int status;

    (void)state;
    compare_with_perf(RUN(&status, "--event", "cycles", "--children"),
                      "--children -F overhead_children,overhead,sample,period,comm,sym",
                      "'cycles'");
    assert_int_equal(status, 0);
}

static void test_head(void **state)
{
    int status;
    char *text = RUN(&status, "--stdio");

    (void)state;
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "pocket, cpu cortex-a53, 2 cores (samples from 2)"));
    assert_non_null(strstr(text, "cycles, period 1000: 130 samples"));
    assert_non_null(strstr(text, "lost        5 of 175 samples (2.86 %)"));
    assert_non_null(strstr(text, "WARNING: 2.86 %"));
    assert_non_null(strstr(text, "link too slow"));
    assert_non_null(strstr(text, "77 events"));
    assert_non_null(strstr(text, "of 3 samples"));
    assert_non_null(strstr(text, "unread      4 samples without"));
    assert_non_null(strstr(text, "jitter      on"));
    assert_null(strstr(text, "totals are incomplete"));
}

static void test_trees(void **state)
{
    int status;
    char *text = RUN(&status, "-g", "--event", "instructions");

    (void)state;
    assert_non_null(strstr(text, "|--100.00%-- gamma_\n"));
    assert_non_null(strstr(text, "|--100.00%-- _start\n"));
    text = RUN(&status, "-g", "callee", "--children", "--event", "instructions");
    assert_non_null(strstr(text, "|--100.00%-- gamma_\n"));
}

static void test_filters_and_lines(void **state)
{
    int status;
    char *text = RUN(&status, "--pd", "server", "--event", "cycles");

    (void)state;
    assert_non_null(strstr(text, "in PD server: 40 samples, period sum 40120"));
    assert_null(strstr(text, "client one"));
    text = RUN(&status, "--sort", "line", "--event", "cycles");
    assert_non_null(strstr(text, "one.c:2"));
    text = RUN(&status, "--percent-limit", "50");
    assert_non_null(strstr(text, "rows below 50 % are omitted"));
    text = RUN(&status, "--sort", "mode", "--event", "cycles");
    assert_non_null(strstr(text, "[k]"));
}

static void test_errors(void **state)
{
    int status;
    char *text = RUN(&status, "--pd", "nobody");

    (void)state;
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample of a PD 'nobody'"));
    text = RUN(&status, "-C", "9");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample of core 9\n"));
    assert_null(strstr(text, "Overhead"));
    text = RUN(&status, "--time", "1000000,1000001");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample in that time (the first is at "));
    text = RUN(&status, "-S", "nothing", "--pd", "server");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample hit a function nothing in PD server"));
    assert_null(strstr(text, "Overhead"));
    RUN(&status, "--sort", "colour");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(&status, "--percent-limit", "x");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(&status, "--event");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = run(&status, (const char *[]){"report", "-i", "/nowhere/perf.data", NULL});
    assert_int_equal(status, MKPERF_ERR_INPUT);
    assert_non_null(strstr(text, "/nowhere/perf.data: No such file"));
}

/* The ELF is gone: addresses instead of names, and the head says why. */
static void test_missing_elf(void **state)
{
    struct maker m = {.symbols = mkperf_symbols_new()};
    char elf[300], path[800];
    char *text;
    int status;

    (void)state;
    snprintf(elf, sizeof elf, "%s/gone.elf", dir);
    snprintf(path, sizeof path, "cp %s/one.elf %s", dir, elf);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/gone.data", dir);
    begin(&m, path, NULL);
    announce(&m, 0, 1, "client", elf);
    put(&m, 0, 0, 0, 1000, 0, 0x400123, NULL);
    finish(&m, 0, false);
    mkperf_symbols_free(m.symbols);
    assert_int_equal(unlink(elf), 0);
    text = run(&status, (const char *[]){"report", "-i", path, NULL});
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "no symbols for client:"));
    assert_non_null(strstr(text, "[unknown] 0x400000-0x400fff"));
    assert_non_null(strstr(text, "totals are incomplete"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_equals_perf),
        cmocka_unit_test(test_children_equal_perf),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_filters_and_lines),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_missing_elf),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
