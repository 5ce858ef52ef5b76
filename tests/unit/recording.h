/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings of known samples, and the looking commands run on them: for tests of script,
 * annotate, diff, top and view.
 *
 * Owns: a directory with two ELFs compiled on the spot and the recordings; the output of a command
 * run in a child.
 */
#ifndef MKPERF_TESTS_RECORDING_H
#define MKPERF_TESTS_RECORDING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "perfdata/perfdata.h"

static char recording_dir[] = "/tmp/mkperf-looking-XXXXXX";

static const char recording_program[] =
    "volatile int sink;\n"
    "__attribute__((noinline)) int alpha(int a) { sink = a; return a + 1; }\n"
    "__attribute__((noinline)) int beta(int a) { return alpha(a) + alpha(a + 1); }\n"
    "__attribute__((noinline)) int gamma_(int a) { return a ? gamma_(a - 1) + beta(a) : 0; }\n"
    "void _start(void) { sink = gamma_(3); }\n";

static const char recording_kernel[] =
    "volatile int sink;\n"
    "__attribute__((noinline)) void idle_thread(void) { sink++; }\n"
    "__attribute__((noinline)) void handleSyscall(void) { sink--; }\n"
    "__attribute__((noinline)) void take_lock(void) { sink++; }\n"
    "void _start(void) { idle_thread(); handleSyscall(); take_lock(); }\n";

struct recording {
    struct mkperf_symbols *symbols;
    struct mkperf_perfdata *writer;
    struct mkperf_sink sink;
    struct mkperf_error e;
    uint64_t time, samples;
};

/* Where things are in the two ELFs. */
static struct {
    uint64_t alpha, beta, gamma, start, idle, call;
} recording_at;

/* A path in the directory; lives as long as the program. */
static inline const char *recording_path(const char *name)
{
    static char path[32][300];
    char wanted[300];
    unsigned i = 0;

    snprintf(wanted, sizeof wanted, "%s/%s", recording_dir, name);
    while (path[i][0] && strcmp(path[i], wanted) != 0) {
        i++;
        assert_true(i < 32);
    }
    memcpy(path[i], wanted, sizeof wanted);
    return path[i];
}

static inline void recording_compile(const char *name, const char *text, const char *flags)
{
    char command[1600];
    FILE *f;

    snprintf(command, sizeof command, "%s/%s.c", recording_dir, name);
    f = fopen(command, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command,
             "aarch64-linux-gnu-gcc -O1 -g -fno-optimize-sibling-calls -ffreestanding -nostdlib "
             "-static -Wl,--build-id %s -o %s/%s.elf %s/%s.c",
             flags, recording_dir, name, recording_dir, name);
    assert_int_equal(system(command), 0);
}

static inline uint64_t recording_address(const char *elf, const char *function)
{
    char command[700];
    uint64_t addr = 0;
    FILE *p;

    snprintf(command, sizeof command, "aarch64-linux-gnu-nm %s | grep ' %s$'", recording_path(elf),
             function);
    p = popen(command, "r");
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%" SCNx64, &addr), 1);
    pclose(p);
    return addr;
}

static inline int recording_setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(recording_dir));
    setenv("PERF_BUILDID_DIR", recording_path("debug"), 1); /* not the user's ~/.debug */
    recording_compile("one", recording_program, "");
    recording_compile("kernel", recording_kernel, "-Wl,-Ttext-segment=0xffffff8040000000");
    recording_at.alpha = recording_address("one.elf", "alpha");
    recording_at.beta = recording_address("one.elf", "beta");
    recording_at.gamma = recording_address("one.elf", "gamma_");
    recording_at.start = recording_address("one.elf", "_start");
    recording_at.idle = recording_address("kernel.elf", "idle_thread");
    recording_at.call = recording_address("kernel.elf", "handleSyscall");
    return 0;
}

static inline int recording_teardown(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", recording_dir);
    return system(command);
}

/* A recording that has not begun. */
static inline void recording_new(struct recording *r, const char *name)
{
    *r = (struct recording){.symbols = mkperf_symbols_new()};
    assert_int_equal(mkperf_perfdata_new(recording_path(name), r->symbols, &r->writer, &r->e),
                     MKPERF_OK);
    r->sink = mkperf_perfdata_sink(r->writer);
}

static inline void recording_mark(struct recording *r, const char *name)
{
    const struct mkperf_mark m = {.time_ns = r->time, .kind = MKPERF_MARK_POINT, .name = name};

    assert_int_equal(mkperf_sink_mark(&r->sink, &m, &r->e), MKPERF_OK);
}

/* After its end. */
static inline void recording_free(struct recording *r)
{
    mkperf_perfdata_free(r->writer);
    mkperf_symbols_free(r->symbols);
}

/* The CPU of recordings that are opened. */
static const char *recording_cpu = "cortex-a53";

/* A recording of two events, without PDs. kernel_elf may be NULL. */
static inline void recording_open(struct recording *r, const char *name, const char *kernel_elf)
{
    struct mkperf_session session = {.platform = "pocket",
                                     .cpu = recording_cpu,
                                     .kernel_elf = kernel_elf,
                                     .cores = 2,
                                     .nevents = 2,
                                     .max_frames = 16,
                                     .jitter = true,
                                     .command = "mkperf record"};

    session.event[0] = (struct mkperf_event){"cycles", 0x11, true, true, 1000, 0, 0, false, false};
    session.event[1] =
        (struct mkperf_event){"instructions", 8, true, true, 5000, 0, 0, false, false};
    recording_new(r, name);
    assert_int_equal(r->sink.ops->begin(r->sink.self, &session, &r->e), MKPERF_OK);
}

static inline void recording_pd(struct recording *r, uint32_t id, uint64_t thread, const char *name,
                                const char *elf)
{
    struct mkperf_pd pd = {.thread = thread, .id = id, .name = name, .elf = elf};

    assert_int_equal(r->sink.ops->pd(r->sink.self, &pd, &r->e), MKPERF_OK);
}

/* A recording with three PDs: 0 "client one" and 1 "server" run one.elf, 2 idle. */
static inline void recording_begin(struct recording *r, const char *name)
{
    recording_open(r, name, recording_path("kernel.elf"));
    recording_pd(r, 0, 1, "client one", recording_path("one.elf"));
    recording_pd(r, 1, 2, "server", recording_path("one.elf"));
    recording_pd(r, 2, MKPERF_THREAD_IDLE, "idle", NULL);
}

/* A sample; callers (may be NULL) end with 0 and are of the same PD. Cores alternate. */
static inline void recording_put(struct recording *r, uint32_t pd, uint32_t event, uint32_t flags,
                                 uint64_t period, uint64_t pc, const uint64_t *callers)
{
    struct mkperf_chain chain = {.n = 0};
    struct mkperf_sample s = {.time_ns = r->time += 1000000,
                              .period = period,
                              .pd = pd,
                              .event = event,
                              .flags = flags,
                              .kernel_pc = flags & MKPERF_SAMPLE_KERNEL ? pc : 0,
                              .pc = flags & MKPERF_SAMPLE_KERNEL ? recording_at.beta + 8 : pc,
                              .core = (uint32_t)(r->samples % 2),
                              .callers = &chain};

    while (callers && callers[chain.n]) {
        chain.caller[chain.n] = (struct mkperf_caller){.addr = callers[chain.n], .pd = pd};
        chain.n++;
    }
    r->samples++;
    assert_int_equal(r->sink.ops->sample(r->sink.self, &s, &r->e), MKPERF_OK);
}

/* The totals' number of samples and their times are filled in. */
static inline void recording_end_with(struct recording *r, struct mkperf_totals t)
{
    struct mkperf_lost l = {.samples = t.lost[MKPERF_LOST_LINK], .where = MKPERF_LOST_LINK};

    t.samples = r->samples;
    t.first_ns = 1000000;
    t.last_ns = r->time;
    if (l.samples) {
        assert_int_equal(r->sink.ops->lost(r->sink.self, &l, &r->e), MKPERF_OK);
    }
    assert_int_equal(r->sink.ops->end(r->sink.self, &t, &r->e), MKPERF_OK);
    recording_free(r);
}

static inline void recording_end(struct recording *r, uint64_t lost)
{
    recording_end_with(
        r, (struct mkperf_totals){.lost = {[MKPERF_LOST_LINK] = lost}, .complete = true});
}

/* n rounds of: alpha (client, deep), beta (server), gamma_ (instructions), a system call, idle. */
static inline void recording_make(const char *name, unsigned n, uint64_t lost)
{
    uint64_t deep[] = {recording_at.beta + 12, recording_at.gamma + 20, recording_at.start + 12, 0};
    struct recording r;

    recording_begin(&r, name);
    for (unsigned i = 0; i < n; i++) {
        recording_put(&r, 0, 0, 0, 900 + 7 * i, recording_at.alpha + i % 3 * 4, deep);
        recording_put(&r, 1, 0, 0, 1003, recording_at.beta, deep + 1);
        recording_put(&r, 0, 1, 0, 5000 + i, recording_at.gamma, deep + 2);
        recording_put(&r, 0, 0, MKPERF_SAMPLE_KERNEL, 1000 + i, recording_at.call, deep + 1);
        recording_put(&r, 2, 0, MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER, 999,
                      recording_at.idle, NULL);
    }
    recording_end(&r, lost);
}

/* Runs a command in a child; returns its output, and its exit status in *status. */
static inline char *recording_run(const struct mkperf_command *command, int *status,
                                  const char *const *words)
{
    static char text[1 << 18];
    char *argv[16] = {NULL};
    int argc = 0, result;
    pid_t child;
    FILE *f;

    for (; words[argc]; argc++) {
        argv[argc] = strdup(words[argc]);
    }
    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (!freopen(recording_path("out"), "w", stdout) || dup2(1, 2) < 0) {
            _exit(99);
        }
        result = mkperf_command_main(command, argc, argv);
        fflush(NULL);
        _exit(result);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    *status = WEXITSTATUS(result);
    while (argc > 0) {
        free(argv[--argc]);
    }
    f = fopen(recording_path("out"), "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

#define RUN(command, status, ...)                      \
    recording_run(&mkperf_##command##_command, status, \
                  (const char *[]){#command, __VA_ARGS__, NULL})

static inline void has(const char *text, const char *wanted)
{
    if (strstr(text, wanted) == NULL) {
        fail_msg("'%s' is not in:\n%s", wanted, text);
    }
}

static inline void lacks(const char *text, const char *unwanted)
{
    if (strstr(text, unwanted) != NULL) {
        fail_msg("'%s' is in:\n%s", unwanted, text);
    }
}

/* A shell command's output; the caller frees it. */
static inline char *recording_shell(const char *format, ...)
{
    char command[2000], *text = NULL;
    size_t n = 0;
    va_list args;
    FILE *p, *out;
    int c;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    p = popen(command, "r");
    out = open_memstream(&text, &n);
    assert_non_null(p);
    assert_non_null(out);
    while ((c = fgetc(p)) != EOF) {
        fputc(c, out);
    }
    pclose(p);
    fclose(out);
    return text;
}

/* A cut copy of a recording: the first n bytes. */
static inline const char *recording_cut(const char *name, unsigned n)
{
    free(recording_shell("head -c %u %s >%s", n, recording_path(name), recording_path("cut")));
    return recording_path("cut");
}

#endif
