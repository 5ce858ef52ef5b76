/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data writer, checked with perf: it reads what was written, with names, without warnings.
 * Needs perf and aarch64-linux-gnu-gcc; programs are built in a directory of their own.
 */
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "perfdata/perfdata.h"
#include "set_clock.h"
#include "symbols/symbols.h"

static char directory[] = "/tmp/mkperf-test-XXXXXX";
static char elf[3][64]; /* two PDs and a kernel */

static const char user_source[] = ".globl _start\n.text\n"
                                  ".type _start,%function\n_start: bl first\n nop\n ret\n"
                                  ".size _start,.-_start\n"
                                  ".type first,%function\nfirst: bl second\n nop\n ret\n"
                                  ".size first,.-first\n"
                                  ".type second,%function\nsecond: nop\n nop\n ret\n"
                                  ".size second,.-second\n";

/* Offsets in these programs: _start 0, first 12, second 24. */
enum { START = 0, FIRST = 12, SECOND = 24 };

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
    char command[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) {
        fail_msg("%s", command);
    }
}

static void build(char *path, const char *name, const char *prefix, const char *address)
{
    char source[64];
    FILE *f;

    snprintf(path, 64, "%s/%s.elf", directory, name);
    snprintf(source, sizeof source, "%s/%s.s", directory, name);
    f = fopen(source, "w");
    assert_non_null(f);
    fputs(user_source, f);
    assert_int_equal(fclose(f), 0);
    run("sed -i 's/first/%sfirst/g; s/second/%ssecond/g' %s && aarch64-linux-gnu-gcc -nostdlib "
        "-static -Wl,--build-id -Wl,-Ttext=%s -o %s %s",
        prefix, prefix, source, address, path, source);
}

static int setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    build(elf[0], "alpha", "a", "0x200000");
    build(elf[1], "beta", "b", "0x200000");
    build(elf[2], "kernel", "k", "0xffff000000080000");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    run("rm -rf %s", directory);
    return 0;
}

static struct mkperf_session session_of(unsigned cores)
{
    struct mkperf_session s = {.platform = "fake",
                               .cpu = "Cortex-A53 r0p4",
                               .kernel_elf = elf[2],
                               .cores = cores,
                               .nevents = 2,
                               .max_frames = 16,
                               .jitter = true,
                               .command = "mkperf record -t fake"};

    s.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    s.event[1] = (struct mkperf_event){
        .name = "l1d_cache_refill", .code = 3, .user = true, .frequency = 500};
    return s;
}

struct writer {
    struct mkperf_symbols *symbols;
    struct mkperf_perfdata *w;
    struct mkperf_sink sink;
    struct mkperf_totals totals;
};

static void open_writer(struct writer *t, const char *path, unsigned cores)
{
    struct mkperf_session session = session_of(cores);
    struct mkperf_error e = {.text = ""};
    const struct mkperf_pd pds[] = {
        {.thread = 1, .id = 0, .name = "alpha", .elf = elf[0]},
        {.thread = 2, .id = 1, .name = "beta", .elf = elf[1], .parent = "alpha"},
        {.thread = MKPERF_THREAD_IDLE, .id = 2, .name = "idle"}};

    memset(t, 0, sizeof *t);
    t->symbols = mkperf_symbols_new();
    if (mkperf_perfdata_new(path, t->symbols, &t->w, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    t->sink = mkperf_perfdata_sink(t->w);
    assert_int_equal(t->sink.take(t->sink.self, MKPERF_ITEM(BEGIN, session, &session), &e),
                     MKPERF_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(t->sink.take(t->sink.self, MKPERF_ITEM(PD, pd, &pds[i]), &e), MKPERF_OK);
    }
}

static void close_writer(struct writer *t)
{
    mkperf_perfdata_free(t->w);
    mkperf_symbols_free(t->symbols);
}

static enum mkperf_status put(struct writer *t, struct mkperf_sample s,
                              const struct mkperf_chain *chain, struct mkperf_error *e)
{
    static const struct mkperf_chain none = {.n = 0};

    s.callers = chain != NULL ? chain : &none;
    t->totals.samples++;
    t->totals.last_ns = s.time_ns;
    return t->sink.take(t->sink.self, MKPERF_ITEM(SAMPLE, sample, &s), e);
}

/* Samples of each kind; `times` of all of them. */
static enum mkperf_status put_all(struct writer *t, unsigned times, struct mkperf_error *e)
{
    const uint64_t user = 0x200000, kernel = UINT64_C(0xffff000000080000);
    const struct mkperf_chain own = {2, {{user + FIRST + 4, 0}, {user + START + 4, 0}}};
    const struct mkperf_chain across = {
        3, {{user + START + 4, 1}, {user + FIRST + 4, 0}, {user + START + 4, 0}}};
    enum mkperf_status status = MKPERF_OK;

    for (unsigned i = 0; i < times && status == MKPERF_OK; i++) {
        uint64_t ns = 1000000000 + UINT64_C(10000) * i;
        struct mkperf_sample s = {.time_ns = ns, .period = 1000, .pd = 0, .pc = user + SECOND};
        put(t, s, &own, e);
        s = (struct mkperf_sample){.time_ns = ns + 1000, .period = 7, .pd = 1, .pc = user + FIRST};
        s.event = 1;
        put(t, s, &across, e);
        s = (struct mkperf_sample){.time_ns = ns + 2000, .period = 1001, .pd = 0, .pc = user + 4};
        s.flags = MKPERF_SAMPLE_KERNEL;
        s.kernel_pc = kernel + SECOND;
        put(t, s, NULL, e);
        s = (struct mkperf_sample){.time_ns = ns + 3000, .period = 1002, .pd = 2};
        s.flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
        s.kernel_pc = kernel + START;
        put(t, s, NULL, e);
        s = (struct mkperf_sample){.time_ns = ns + 4000, .period = 1003, .pd = 1, .pc = user + 8};
        s.flags = MKPERF_SAMPLE_KERNEL; /* an unknown kernel address */
        status = put(t, s, NULL, e);
        mkperf_sink_flush(&t->sink, e);
    }
    return status;
}

static void finish_writer(struct writer *t)
{
    struct mkperf_error e = {.text = ""};

    t->totals.first_ns = 1000000000;
    if (t->sink.take(t->sink.self, MKPERF_ITEM(END, totals, &t->totals), &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    close_writer(t);
}

/* Checks what perf prints, and that it prints nothing else. */
static char *perf(const char *path, const char *arguments)
{
    static char out[1 << 20];
    char command[512];
    FILE *f;

    run("perf %s -i %s >%s/out 2>%s/err </dev/null", arguments, path, directory, directory);
    snprintf(command, sizeof command, "grep -v 'unwind: target platform' %s/err", directory);
    if (system(command) == 0) {
        fail_msg("perf %s complains", arguments);
    }
    snprintf(command, sizeof command, "%s/out", directory);
    f = fopen(command, "r");
    assert_non_null(f);
    out[fread(out, 1, sizeof out - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    return out;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what)) {
        n++;
    }
    return n;
}

static void perf_reads_it(void **state)
{
    struct writer t;
    struct mkperf_error e = {.text = ""};
    struct mkperf_lost lost = {.samples = 1, .where = MKPERF_LOST_LINK};
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "%s/a.data", directory);
    open_writer(&t, path, 1);
    assert_int_equal(put_all(&t, 10, &e), MKPERF_OK);
    assert_int_equal(t.sink.take(t.sink.self, MKPERF_ITEM(LOST, lost, &lost), &e), MKPERF_OK);
    finish_writer(&t);
    char *text = perf(path, "script -F comm,pid,tid,cpu,time,period,event,ip,sym");
    assert_int_equal(count(text, "alpha     1/1     [000]     1.000000:       1000 "), 1);
    assert_int_equal(count(text, "asecond\n"), 10);
    assert_int_equal(count(text, "bfirst\n"), 10);
    assert_int_equal(count(text, "afirst\n"), 20); /* own callers, and those of a client's */
    assert_int_equal(count(text, "ksecond\n"), 10);
    assert_int_equal(count(text, "idle"), 10);
    assert_int_equal(count(text, "l1d_cache_refill:u"), 10);
    assert_int_equal(count(text, "               0 [unknown]\n"), 10);
    text = perf(path, "report --stdio --no-children -g none --sort comm,dso,symbol");
    assert_non_null(strstr(text, "Total Lost Samples: 1"));
    assert_non_null(strstr(text, "kernel.elf"));
    assert_null(strstr(text, "kallsyms"));
    text = perf(path, "report --stdio --header-only");
    assert_non_null(strstr(text, "cpudesc : Cortex-A53 r0p4"));
    assert_non_null(strstr(text, "arch : aarch64"));
    assert_non_null(strstr(text, "time of first sample : 1.000000"));
    assert_non_null(strstr(text, "{ sample_period, sample_freq } = 500"));
    text = perf(path, "buildid-list");
    assert_int_equal(count(text, ".elf\n"), 2); /* the kernel's is left out, see perfdata_maps.c */
}

/* Akaros' kernel has kernel callers, and more cores than seL4. */
static void kernel_chains_on_many_cores(void **state)
{
    const uint64_t kernel = UINT64_C(0xffff000000080000);
    const struct mkperf_chain callers = {2, {{kernel + FIRST + 4, 2}, {kernel + START + 4, 2}}};
    struct mkperf_error e = {.text = ""};
    struct writer t;
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "%s/m.data", directory);
    open_writer(&t, path, 4096);
    for (uint32_t i = 0; i < 3; i++) {
        struct mkperf_sample s = {.time_ns = i + 1, .period = 1, .pd = 2, .core = 2047 * i};
        s.flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
        s.kernel_pc = kernel + SECOND;
        assert_int_equal(put(&t, s, &callers, &e), MKPERF_OK);
    }
    finish_writer(&t);
    char *text = perf(path, "script -F cpu,ip,sym");
    assert_int_equal(count(text, "[4094]"), 1);
    for (const char *at = text; (at = strchr(at, '[')) != NULL; at++) {
        const char *second = strstr(at, "ksecond\n"), *first = strstr(at, "kfirst\n");
        assert_true(second != NULL && first > second && strstr(first, "k_start\n") == NULL);
        assert_true(strstr(first, "_start\n") > first);
    }
    assert_int_equal(count(text, "kfirst\n"), 3);
    text = perf(path, "report --stdio --no-children -g none --sort symbol");
    assert_non_null(strstr(text, "100.00%  [k] ksecond"));
}

/* PDs may be announced in any order: the perf.data reader does it when it meets them. */
static void pds_in_any_order(void **state)
{
    const struct mkperf_pd late = {.thread = 9, .id = 5, .name = "late", .elf = elf[0]};
    const struct mkperf_pd between = {.thread = 8, .id = 4, .name = "between"};
    struct mkperf_error e = {.text = ""};
    struct writer t;
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "%s/o.data", directory);
    open_writer(&t, path, 1);
    assert_int_equal(t.sink.take(t.sink.self, MKPERF_ITEM(PD, pd, &late), &e), MKPERF_OK);
    struct mkperf_sample s = {.time_ns = 1, .period = 1, .pd = 5, .pc = 0x200000 + FIRST};
    assert_int_equal(put(&t, s, NULL, &e), MKPERF_OK);
    s.pd = 4;
    assert_int_equal(t.sink.take(t.sink.self, MKPERF_ITEM(PD, pd, &between), &e), MKPERF_OK);
    s.time_ns = 2;
    assert_int_equal(put(&t, s, NULL, &e), MKPERF_OK);
    finish_writer(&t);
    char *text = perf(path, "script -F comm,pid,ip,sym");
    assert_non_null(strstr(text, "late     6 \n"));
    assert_int_equal(count(text, "afirst\n"), 1);
    assert_int_equal(count(text, "between"), 1);
}

/* seL4 with EL2 has low addresses, below those of the PDs; with EL1, high ones. */
static void kernels_at_any_address(void **state)
{
    static const char *const address[] = {"0x8000000000", "0xffffff8040000000"};
    char path[64], kept[64];

    (void)state;
    snprintf(path, sizeof path, "%s/k.data", directory);
    memcpy(kept, elf[2], sizeof kept);
    for (unsigned i = 0; i < 2; i++) {
        struct writer t;
        struct mkperf_error e = {.text = ""};
        struct mkperf_sample s = {.time_ns = 1, .period = 1, .flags = MKPERF_SAMPLE_KERNEL};
        build(elf[2], "sel4", "k", address[i]);
        open_writer(&t, path, 4);
        s.kernel_pc = strtoull(address[i], NULL, 16) + SECOND;
        s.pc = 0x200000 + FIRST;
        put(&t, s, NULL, &e);
        finish_writer(&t);
        char *text = perf(path, "script -F ip,sym");
        assert_int_equal(count(text, "ksecond\n"), 1);
        assert_int_equal(count(text, "afirst\n"), 1);
    }
    memcpy(elf[2], kept, sizeof kept);
}

/* seL4's has boot code at another address. Better no name than a wrong one, and none for long. */
static void kernels_of_several_segments(void **state)
{
    static const uint64_t pc[] = {UINT64_C(0x80000004), UINT64_C(0xffffff8040210000) + SECOND,
                                  UINT64_C(0x80000004), UINT64_C(0xffffff8040300000)};
    char path[64], kept[64];
    struct writer t;
    struct mkperf_error e = {.text = ""};

    (void)state;
    snprintf(path, sizeof path, "%s/s.data", directory);
    memcpy(kept, elf[2], sizeof kept);
    snprintf(elf[2], sizeof elf[2], "%s/boot.elf", directory);
    run("cd %s && (cat kernel.s; echo '.section .boot,\"ax\"'; echo '.type kboot,%%function'; "
        "echo 'kboot: nop; nop; ret'; echo '.size kboot,.-kboot') >boot.s && "
        "aarch64-linux-gnu-gcc -nostdlib -static -Wl,-Ttext=0xffffff8040210000 "
        "-Wl,--section-start=.boot=0x80000000 -o boot.elf boot.s",
        directory);
    open_writer(&t, path, 1);
    for (unsigned i = 0; i < 4; i++) {
        struct mkperf_sample s = {.period = 1, .flags = MKPERF_SAMPLE_KERNEL, .pc = 0x200000};
        s.time_ns = i + 1;
        s.kernel_pc = pc[i];
        put(&t, s, NULL, &e);
    }
    finish_writer(&t);
    char *text = perf(path, "script -F ip,sym");
    assert_int_equal(count(text, "80000004 [unknown]\n"), 1);
    assert_int_equal(count(text, "80000004 kboot\n"), 1);
    assert_int_equal(count(text, "ksecond\n"), 1);
    assert_int_equal(count(text, "ffffff8040300000 [unknown]\n"), 1);
    memcpy(elf[2], kept, sizeof kept);
}

static void later(struct writer *t)
{
    struct mkperf_session session = session_of(1);
    struct mkperf_mark mark = {
        .time_ns = 1000500000, .pd = 1, .kind = MKPERF_MARK_BEGIN, .id = 7, .name = "request"};
    struct mkperf_error e = {.text = ""};

    assert_int_equal(t->sink.take(t->sink.self, MKPERF_ITEM(MARK, mark, &mark), &e), MKPERF_OK);
    session.event[session.nevents++] =
        (struct mkperf_event){.name = "instructions", .code = 8, .user = true, .period = 777};
    assert_int_equal(t->sink.take(t->sink.self, MKPERF_ITEM(EVENTS, session, &session), &e),
                     MKPERF_OK);
    for (unsigned i = 0; i < 100; i++) {
        struct mkperf_sample s = {.time_ns = 1001000000 + i, .period = 777, .pc = 0x200000 + FIRST};
        s.event = 2;
        assert_int_equal(put(t, s, NULL, &e), MKPERF_OK);
    }
    mark = (struct mkperf_mark){
        .time_ns = 1002000000, .pd = 1, .kind = MKPERF_MARK_END, .id = 7, .name = "request"};
    assert_int_equal(t->sink.take(t->sink.self, MKPERF_ITEM(MARK, mark, &mark), &e), MKPERF_OK);
    t->totals.marks = 2;
}

/* A session with another event, and marks: perf shows both, in a recovered file, too. */
static void later_events_and_marks(void **state)
{
    char path[64];
    struct mkperf_totals totals;
    struct mkperf_error e = {.text = ""};
    struct writer t;
    char *text;

    (void)state;
    snprintf(path, sizeof path, "%s/later.data", directory);
    for (unsigned killed = 0; killed < 2; killed++) {
        open_writer(&t, path, 1);
        put_all(&t, 20, &e);
        later(&t);
        if (killed) {
            assert_int_equal(mkperf_perfdata_sync(t.w, &e), MKPERF_OK);
            close_writer(&t);
            run("mv %s.partial %s.cut", path, path);
            run("rm -f %s", path);
            char cut[160];
            snprintf(cut, sizeof cut, "%s.cut", path);
            assert_int_equal(mkperf_perfdata_recover(cut, path, &totals, &e), MKPERF_OK);
            assert_int_equal(totals.samples, 200);
            assert_int_equal(totals.marks, 2);
        } else {
            finish_writer(&t);
        }
        text = perf(path, "script");
        assert_int_equal(count(text, "BPF string: \"begin 7 request\""), 1);
        assert_int_equal(count(text, "BPF string: \"end 7 request\""), 1);
        assert_int_equal(count(text, " instructions:u: "), 100);
        text = perf(path, "report --stdio -g none --sort comm");
        assert_non_null(strstr(text, "Samples: 100  of event 'instructions:u'"));
        assert_non_null(strstr(text, "Samples: 2  of event 'mkperf:mark'"));
    }
}

/* Cores whose samples are in separate batches: perf sorts them without complaint. */
static void cores_out_of_step(void **state)
{
    struct writer t;
    struct mkperf_error e = {.text = ""};
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "%s/c.data", directory);
    open_writer(&t, path, 2);
    for (unsigned batch = 0; batch < 40; batch++) {
        for (unsigned i = 0; i < 500; i++) {
            struct mkperf_sample s = {.period = 1, .core = batch % 2, .pc = 0x200000};
            s.time_ns = 1 + (batch / 2 * 500 + i) * UINT64_C(1000) +
                        (batch % 2 == 1 ? UINT64_C(3000000) : 0);
            put(&t, s, NULL, &e);
        }
        mkperf_sink_flush(&t.sink, &e);
    }
    finish_writer(&t);
    char *text = perf(path, "report --stdio --stats");
    assert_non_null(strstr(text, "SAMPLE events:      20000"));
    assert_non_null(strstr(text, "FINISHED_ROUND events"));
}

/* On a terminal it shows progress after two seconds. */
static enum mkperf_status recover_shown(const char *partial, const char *to,
                                        struct mkperf_totals *totals, struct mkperf_error *e)
{
    int terminal, tty, was = dup(STDERR_FILENO);
    char shown[4096];

    assert_int_equal(openpty(&terminal, &tty, NULL, NULL, NULL), 0);
    dup2(tty, STDERR_FILENO);
    mkperf_progress_begin("d.data");
    set_clock_ms += 2100;
    enum mkperf_status status = mkperf_perfdata_recover(partial, to, totals, e);
    mkperf_progress_end();
    assert_int_equal(write(STDERR_FILENO, "#", 1), 1); /* all has arrived when this has */
    dup2(was, STDERR_FILENO);
    close(was);
    for (size_t n = 0; n == 0 || shown[n - 1] != '#';) {
        ssize_t got = read(terminal, shown + n, sizeof shown - 1 - n);
        assert_true(got > 0);
        n += (size_t)got;
        shown[n] = '\0';
    }
    assert_non_null(strstr(shown, "d.data [...")); /* the progress is at its beginning */
    assert_non_null(strstr(shown, " MB, 2 s"));
    close(tty);
    close(terminal);
    return status;
}

static void killed_and_recovered(void **state)
{
    struct mkperf_error e = {.text = ""};
    struct mkperf_totals totals;
    struct stat st;
    char path[64], partial[80], copy[80];
    int how;

    (void)state;
    snprintf(path, sizeof path, "%s/d.data", directory);
    snprintf(partial, sizeof partial, "%s.partial", path);
    snprintf(copy, sizeof copy, "%s/copy.data", directory);
    pid_t child = fork();
    if (child == 0) {
        struct writer t;
        open_writer(&t, path, 1);
        put_all(&t, 3000, &e);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(stat(partial, &st), 0);
    assert_int_equal(truncate(partial, st.st_size - 12), 0); /* in the middle of a record */
    assert_int_equal(recover_shown(partial, copy, &totals, &e), MKPERF_OK);
    assert_true(totals.samples > 5000);
    uint64_t samples = totals.samples;
    assert_int_equal(mkperf_perfdata_recover(partial, NULL, &totals, &e), MKPERF_OK);
    assert_int_equal(totals.samples, samples);
    run("cmp %s %s", path, copy);
    assert_int_equal(stat(partial, &st), -1);
    char *text = perf(path, "report --stdio --no-children -g none --sort comm,symbol");
    assert_non_null(strstr(text, "asecond"));
    text = perf(path, "report --stdio --header-only");
    assert_non_null(strstr(text, "name = l1d_cache_refill:u"));
    assert_int_equal(mkperf_perfdata_recover(elf[0], NULL, &totals, &e), MKPERF_ERR_INPUT);
    assert_int_equal(mkperf_perfdata_recover(path, NULL, &totals, &e), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "complete"));
}

static void full_disk(void **state)
{
    struct mkperf_error e = {.text = ""};
    struct rlimit limit, small = {1 << 20, RLIM_INFINITY};
    struct writer t;
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "%s/f.data", directory);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small.rlim_max = limit.rlim_max;
    open_writer(&t, path, 1);
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(put_all(&t, 10000, &e), MKPERF_ERR_OUTPUT);
    assert_non_null(strstr(e.text, "f.data.partial"));
    setrlimit(RLIMIT_FSIZE, &limit);
    mkperf_sink_abandon(&t.sink);
    close_writer(&t);
    open_writer(&t, "/dev/full", 1);
    assert_int_equal(put_all(&t, 10000, &e), MKPERF_ERR_OUTPUT);
    mkperf_sink_abandon(&t.sink);
    close_writer(&t);
    struct mkperf_perfdata *none;
    assert_int_equal(mkperf_perfdata_new("/nowhere/x", NULL, &none, &e), MKPERF_ERR_OUTPUT);
}

static void addresses_slide_and_return(void **state)
{
    static const uint64_t wild[] = {0,
                                    0x200000,
                                    MKPERF_PERFDATA_WINDOW - 1,
                                    MKPERF_PERFDATA_WINDOW,
                                    MKPERF_PERFDATA_SLIDE + 5,
                                    MKPERF_PERFDATA_END - 1};

    (void)state;
    for (uint32_t pd = 0; pd < MKPERF_PERFDATA_PDS; pd += 97) {
        for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
            uint32_t back = pd;
            uint64_t slid = mkperf_perfdata_slid(pd, wild[i]);
            assert_int_equal(mkperf_perfdata_unslid(&back, slid), wild[i]);
            assert_int_equal(back, pd);
        }
    }
    assert_true(mkperf_perfdata_slid(0, UINT64_MAX) < (uint64_t)-4096);
}

static struct mkperf_session read_back;

static enum mkperf_status keep_events(void *self, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    (void)self, (void)e;
    if (item->kind == MKPERF_ITEM_BEGIN) {
        memcpy(read_back.event, item->session->event, sizeof read_back.event);
        read_back.nevents = item->session->nevents;
    }
    return MKPERF_OK;
}

/* What an event counts of guests and of their host: to perf, and back. */
static void events_of_guests(void **state)
{
    static const struct {
        bool user, kernel, guest, host;
        const char *name, *excludes;
    } expect[] = {
        {true, true, false, false, "cycles", ""},
        {true, false, false, false, "cycles:u", "kernel"},
        {false, true, false, false, "cycles:k", "user guest"},
        {true, true, true, false, "cycles:G", "host"},
        {true, false, true, false, "cycles:uG", "kernel host"},
        {false, true, true, false, "cycles:kG", "user host"},
        {true, true, false, true, "cycles:H", "guest"},
        {true, false, false, true, "cycles:uH", "kernel guest"},
        {false, true, false, true, "cycles:kH", "user guest"},
    };
    static const char *const levels[] = {"user", "kernel", "host", "guest"};
    const unsigned n = sizeof expect / sizeof *expect;
    struct mkperf_session s = {.cores = 1, .nevents = n};
    struct mkperf_sink sink = {.take = keep_events};
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_perfdata *w;
    struct mkperf_error e;
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "%s/guests.data", directory);
    for (unsigned i = 0; i < n; i++) {
        s.event[i] = (struct mkperf_event){.name = "cycles",
                                           .code = 0x11,
                                           .user = expect[i].user,
                                           .kernel = expect[i].kernel,
                                           .guest = expect[i].guest,
                                           .host = expect[i].host,
                                           .period = 1000};
    }
    assert_int_equal(mkperf_perfdata_new(path, symbols, &w, &e), MKPERF_OK);
    struct mkperf_sink to = mkperf_perfdata_sink(w);
    assert_int_equal(to.take(to.self, MKPERF_ITEM(BEGIN, session, &s), &e), MKPERF_OK);
    assert_int_equal(
        to.take(to.self, MKPERF_ITEM(END, totals, &(struct mkperf_totals){.complete = true}), &e),
        MKPERF_OK);
    mkperf_perfdata_free(w);
    mkperf_symbols_free(symbols);
    const char *line = perf(path, "evlist -v");
    for (unsigned i = 0; i < n; i++, line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        size_t name = strlen(expect[i].name);
        assert_non_null(end);
        assert_memory_equal(line, expect[i].name, name);
        assert_int_equal(line[name], ':');
        for (unsigned k = 0; k < 4; k++) {
            char flag[32];
            snprintf(flag, sizeof flag, "exclude_%s: 1", levels[k]);
            const char *at = strstr(line, flag);
            assert_int_equal(at != NULL && at < end, strstr(expect[i].excludes, levels[k]) != NULL);
        }
    }
    assert_int_equal(mkperf_perfdata_read(path, -1, &sink, &e), MKPERF_OK);
    assert_int_equal(read_back.nevents, n);
    for (unsigned i = 0; i < n; i++) {
        char name[MKPERF_MODEL_NAME + 4];
        snprintf(name, sizeof name, "%s%s", read_back.event[i].name,
                 mkperf_event_modes(&read_back.event[i]));
        assert_string_equal(name, expect[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perf_reads_it),
        cmocka_unit_test(kernel_chains_on_many_cores),
        cmocka_unit_test(pds_in_any_order),
        cmocka_unit_test(kernels_at_any_address),
        cmocka_unit_test(kernels_of_several_segments),
        cmocka_unit_test(later_events_and_marks),
        cmocka_unit_test(cores_out_of_step),
        cmocka_unit_test(killed_and_recovered),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(events_of_guests),
        cmocka_unit_test(addresses_slide_and_return),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
