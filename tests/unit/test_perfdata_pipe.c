/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.data through a pipe: perf and mkperf read the same as from a file.
 * Needs perf and aarch64-linux-gnu-gcc.
 */
#include "recording.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "log_sink.h"
#include "perfdata/perfdata.h"

enum { ROUNDS = 40, FEW = 4, LOST = 3, MANY = 1000 };

static void write_to(const char *name)
{
    recording_make(name, ROUNDS, LOST);
}

/* Records of all kinds, few of each: it is read once for each of its bytes. */
static void write_few(const char *name)
{
    recording_make(name, FEW, LOST);
}

/* More PDs than a record has room for. */
static void write_many(const char *name)
{
    struct recording r;

    recording_begin(&r, name);
    for (uint32_t i = 3; i < MANY; i++) {
        char text[64];
        snprintf(text, sizeof text, "a protection domain with a long name %u", i);
        struct mkperf_pd pd = {.thread = i + 1, .id = i, .name = text, .parent = "server"};
        assert_int_equal(r.sink.take(r.sink.self, MKPERF_ITEM(PD, pd, &pd), &r.e), MKPERF_OK);
    }
    recording_put(&r, MANY - 1, 0, 0, 7, recording_at.alpha, NULL);
    recording_end(&r, 0);
}

/* What `write` sends through a pipe, as the file `name`. */
static void record_pipe(const char *name, void (*write)(const char *name))
{
    char command[700];
    FILE *reader;

    unlink(recording_path("fifo"));
    assert_int_equal(mkfifo(recording_path("fifo"), 0600), 0);
    snprintf(command, sizeof command, "cat %s", recording_path("fifo"));
    snprintf(command + strlen(command), 300, " >%s", recording_path(name));
    reader = popen(command, "r");
    assert_non_null(reader);
    write("fifo");
    assert_int_equal(pclose(reader), 0);
}

/* Makes `fifo`, to which a process writes the file `name` in small pieces. The caller waits for that process. */
static void feed_fifo(const char *name)
{
    char command[900];

    unlink(recording_path("fifo"));
    assert_int_equal(mkfifo(recording_path("fifo"), 0600), 0);
    if (fork() == 0) {
        snprintf(command, sizeof command, "dd bs=777 status=none if=%s", recording_path(name));
        snprintf(command + strlen(command), 300, " of=%s 2>&-", recording_path("fifo"));
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(1);
    }
}

static int setup(void **state)
{
    recording_setup(state);
    write_to("file.data");
    record_pipe("pipe.data", write_to);
    return 0;
}

/* Returns what perf prints of a recording at its standard input; it must not complain. */
static char *perf(const char *arguments, const char *redirected, const char *name)
{
    char *complaint,
        *text = recording_shell("perf %s -i %s %s 2>%s/err | sed '/(Tip: /d'", arguments,
                                redirected, recording_path(name), recording_dir);

    complaint = recording_shell("grep -v 'unwind: target platform' %s/err", recording_dir);
    assert_string_equal(complaint, "");
    free(complaint);
    return text;
}

static void perf_reads_pipes(void **state)
{
    static const char *const commands[] = {
        "script",
        "script -F comm,pid,tid,cpu,time,period,event,ip,sym,dso",
        "report --stdio --no-children -g none --sort comm,dso,symbol",
        "report --stdio --no-children -g caller --sort symbol",
        "report --stdio --stats",
    };

    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *file = perf(commands[i], "", "file.data");
        char *pipe = perf(commands[i], "- <", "pipe.data"), *named;
        named = perf(commands[i], "", "pipe.data");
        if (strstr(commands[i], "--stats")) { /* the head's records are counted, too */
            assert_non_null(strstr(file, "SAMPLE events:        200"));
            assert_non_null(strstr(pipe, "SAMPLE events:        200"));
        } else {
            assert_true(strstr(file, "alpha") != NULL && strstr(file, "idle_thread") != NULL);
            assert_string_equal(pipe, file);
            assert_string_equal(named, file);
        }
        free(file);
        free(pipe);
        free(named);
    }
}

static void perf_shows_the_head(void **state)
{
    char *text;

    (void)state;
    text = perf("report --stdio --header-only", "- <", "pipe.data");
    assert_non_null(strstr(text, "arch : aarch64"));
    assert_non_null(strstr(text, "cpudesc : cortex-a53"));
    assert_non_null(strstr(text, "time of last sample : 0.200000"));
    free(text);
}

static const char *decode(const char *path, int fd, struct log_sink *log)
{
    struct mkperf_sink sink = log_sink(log);
    struct mkperf_error e = {.text = ""};

    if (mkperf_perfdata_read(path, fd, &sink, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    return log->text;
}

static void mkperf_reads_pipes(void **state)
{
    static struct log_sink a, b;

    (void)state;
    decode(recording_path("file.data"), -1, &a);
    assert_string_equal(decode(recording_path("pipe.data"), -1, &b), a.text);
    /* What is open is not opened again. */
    assert_string_equal(decode("no such file", open(recording_path("pipe.data"), O_RDONLY), &b),
                        a.text);
    feed_fifo("pipe.data");
    assert_string_equal(decode(recording_path("fifo"), -1, &b), a.text);
    assert_int_equal(b.samples, 5 * ROUNDS);
    wait(NULL);
}

static void commands_read_pipes(void **state)
{
    char *file, *pipe;
    int status;

    (void)state;
    file = strdup(RUN(report, &status, "--stdio", "-g", "-i", recording_path("file.data")));
    assert_int_equal(status, 0);
    assert_non_null(strstr(file, "3 of 203 samples"));
    pipe = RUN(report, &status, "--stdio", "-g", "-i", recording_path("pipe.data"));
    assert_string_equal(strchr(pipe, '\n'), strchr(file, '\n')); /* behind the name */
    free(file);
}

static bool complete;

static enum mkperf_status note_completeness(void *self, const struct mkperf_item *item,
                                            struct mkperf_error *e)
{
    (void)self, (void)e;
    if (item->kind == MKPERF_ITEM_END) {
        complete = item->totals->complete;
    }
    return MKPERF_OK;
}

/* Truncated anywhere: whole records are read, and the recording is never called complete. */
static void cut_pipes(void **state)
{
    struct mkperf_sink sink = {.take = note_completeness};
    static uint8_t bytes[1 << 16];
    struct mkperf_error e;
    size_t n, good = 0;

    (void)state;
    record_pipe("few.data", write_few);
    FILE *f = fopen(recording_path("few.data"), "r");
    assert_non_null(f);
    n = fread(bytes, 1, sizeof bytes, f);
    assert_true(n > 1000 && n < sizeof bytes);
    fclose(f);
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1); /* so that a read behind it is seen */
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        complete = false;
        if (mkperf_perfdata_read_memory("cut", copy, cut, &sink, &e) == MKPERF_OK) {
            good++;
            assert_false(complete);
        }
        free(copy);
    }
    assert_true(good > n / 2);
    assert_int_equal(mkperf_perfdata_read_memory("whole", bytes, n, &sink, &e), MKPERF_OK);
    assert_true(complete);
}

static void many_pds(void **state)
{
    static struct log_sink log;
    char *shown;

    (void)state;
    record_pipe("many.data", write_many);
    decode(recording_path("many.data"), -1, &log);
    assert_non_null(strstr(log.text, "a protection domain with a long name 999 - server\n"));
    shown = perf("script -F comm,sym", "- <", "many.data");
    assert_non_null(strstr(shown, "a protection do"));
    free(shown);
}

static void refused(void **state)
{
    struct mkperf_totals totals;
    struct mkperf_error e;
    int status;

    (void)state;
    assert_int_equal(mkperf_perfdata_recover(recording_path("pipe.data"), NULL, &totals, &e),
                     MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "needs no recovery"));
    feed_fifo("file.data");
    assert_non_null(strstr(RUN(report, &status, "-i", recording_path("fifo")),
                           "a file's layout cannot be read from a pipe"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    wait(NULL);

    feed_fifo("pipe.data");
    assert_non_null(
        strstr(RUN_ONCE(convert, &status, "--to", "folded", "-o", "-", recording_path("fifo")),
               "fifo: a pipe is read only once"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    int fifo = open(recording_path("fifo"), O_RDONLY | O_NONBLOCK); /* the writer's open may end */
    wait(NULL);
    close(fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perf_reads_pipes),
        cmocka_unit_test(perf_shows_the_head),
        cmocka_unit_test(mkperf_reads_pipes),
        cmocka_unit_test(commands_read_pipes),
        cmocka_unit_test(cut_pipes),
        cmocka_unit_test(many_pds),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
