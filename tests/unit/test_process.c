/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf as a process: signals that end a recording, the permissions of what it writes, and exit
 * statuses that are easily wrong.
 */
#include "fake_net.h"
#include "recording.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *contents(const char *name)
{
    return recording_shell("cat %s", recording_path(name));
}

/* Returns whether the output in a file that grows has the text by now. */
static bool appears(const char *name, const char *text)
{
    for (int tries = 0; tries < 3000; tries++) {
        char *now = contents(name);
        bool found = strstr(now, text) != NULL;

        free(now);
        if (found) {
            return true;
        }
        usleep(10000);
    }
    return false;
}

/* A recording without an end, its words in the file "words". */
static pid_t start_recording(const char *target, const char *out)
{
    char *argv[] = {(char[]){"record"}, (char[]){"-t"}, strdup(target),
                    (char[]){"-o"},     strdup(out),    NULL};
    unlink(
        recording_path("words")); /* or the caller would wait for words of an earlier recording */
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        int fd = open(recording_path("words"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0) {
            _exit(99);
        }
        /* nohup, which may have started the tests, ignores it, and a recording leaves that so. */
        signal(SIGHUP, SIG_DFL);
        int status = mkperf_command_main(&mkperf_record_command, 5, argv);
        fflush(NULL);
        _exit(status);
    }
    free(argv[2]);
    free(argv[4]);
    return child;
}

/* The file is whole and the session was stopped, whichever signal ends the recording. */
static void test_signals(void **state)
{
    static const int signals[] = {SIGHUP, SIGTERM, SIGINT};

    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        const char *out = recording_path("ended.data");
        char target[64];
        int ended, status;
        uint16_t port;

        unlink(out);
        pid_t other = start_target((struct how){.marks = true, .says = true}, &port);
        snprintf(target, sizeof target, "tcp:127.0.0.1:%u", port);
        pid_t child = start_recording(target, out);
        assert_true(appears("words", "target: hello"));
        assert_int_equal(kill(child, signals[i]), 0);
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFEXITED(ended));
        char *words = contents("words");
        if (WEXITSTATUS(ended) != 0 || strstr(words, "continued after") != NULL) {
            fail_msg("signal %d: %s", signals[i], words);
        }
        free(words);
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);
        char *text = RUN(report, &status, "-i", out, "--stdio");
        assert_int_equal(status, 0);
        assert_null(strstr(text, "incomplete"));
    }
}

/* Samples show what a system does, so only the user can read them. */
static void test_permissions(void **state)
{
    const char *out = recording_path("own.data");
    struct stat st;
    int status;

    (void)state;
    mode_t mask = umask(022);
    RUN(convert, &status, recording_path("perf.data"), "--to", "perf", "-o", out);
    umask(mask);
    assert_int_equal(status, 0);
    assert_int_equal(stat(out, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* With a limit on the size of files, which is a full disk to who writes. */
static char *limited(const struct mkperf_command *command, int *status, const char *const *words)
{
    struct rlimit limit, small;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 8192;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char *text = recording_run(command, status, words);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return text;
}

static void test_full_temporary_directory(void **state)
{
    int status;

    (void)state;
    recording_make("long.data", 400, 0);
    char *text = limited(&mkperf_convert_command, &status,
                         (const char *[]){"convert", recording_path("long.data"), "--to", "firefox",
                                          "-o", "/dev/null", NULL});
    if (status != MKPERF_ERR_OUTPUT || strstr(text, "temporary file") == NULL) {
        fail_msg("status %d: %s", status, text);
    }
}

static void test_no_common_event(void **state)
{
    struct recording r;
    int status;

    (void)state;
    recording_begin(&r, "a.data");
    recording_put(&r, 0, 0, 0, 1000, recording_at.alpha, NULL);
    recording_end(&r, 0);
    free(recording_shell("LC_ALL=C sed 's/cycles/season/g; s/instructions/inspirations/g' %s >%s",
                         recording_path("a.data"), recording_path("b.data")));
    char *text = RUN(diff, &status, recording_path("a.data"), recording_path("b.data"));
    if (status != MKPERF_ERR_INPUT || strstr(text, "no event in common") == NULL) {
        fail_msg("status %d: %s", status, text);
    }
    text = RUN(diff, &status, recording_path("a.data"), recording_path("a.data"), "-e", "nosuch");
    assert_int_equal(status, MKPERF_ERR_USAGE);
}

static void put(FILE *f, uint64_t v, int bytes)
{
    for (; bytes-- > 0; v >>= 8) {
        fputc((int)(v & 0xff), f);
    }
}

/* kpdata of more processes than perf.data has room for: an input's fault, with the limit named. */
static void test_many_processes(void **state)
{
    const char *in = recording_path("many.kp"), *out = recording_path("many.data");
    FILE *f = fopen(in, "wb");
    int status;

    (void)state;
    assert_non_null(f);
    for (uint64_t pid = 1; pid <= 20000; pid++) { /* a user's sample of era B */
        put(f, 2, 1);
        put(f, 32, 1);
        put(f, 0, 8);
        put(f, pid, 8);
        put(f, pid, 4);
        put(f, 0, 2);
        put(f, 1, 2);
        put(f, 0x400000, 8);
    }
    assert_int_equal(fclose(f), 0);
    char *text = RUN(convert, &status, "--from", "kprof", in, "--to", "perf", "-o", out);
    if (status != MKPERF_ERR_INPUT || strstr(text, "2032") == NULL) {
        fail_msg("status %d: %s", status, text);
    }
    RUN(convert, &status, "--from", "kprof", in, "--to", "folded", "-o", out);
    assert_int_equal(status, 0);
}

/* A target with more cores than are sampled: said in the summary, the file, the report and exports. */
static void test_more_cores(void **state)
{
    static const char system[] =
        "<system><protection_domain name=\"a\" priority=\"1\"><program_image path=\"one.elf\"/>"
        "</protection_domain><protection_domain name=\"b\" cpu=\"2\"><program_image "
        "path=\"one.elf\"/></protection_domain></system>";
    const char *path = recording_path("cores.system"), *out = recording_path("cores.data");
    const char *wanted = "at least 3 cores and only core 0 is sampled: percentages are of core 0";
    FILE *f = fopen(path, "w");
    char target[64];
    uint16_t port;
    int status;

    (void)state;
    assert_non_null(f);
    fputs(system, f);
    assert_int_equal(fclose(f), 0);
    pid_t other = start_target((struct how){.dials = false}, &port);
    snprintf(target, sizeof target, "tcp:127.0.0.1:%u", port);
    char *text =
        RUN(record, &status, "-t", target, "--system", path, "-o", out, "--duration", "0.02");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, wanted));
    text = RUN(top, &status, "-t", target, "--system", path, "--stdio", "--duration", "0.02");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "of the sampled cores only"));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    text = RUN(report, &status, "-i", out, "--stdio");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, wanted));
    text = RUN(convert, &status, out, "--to", "jsonl", "-o", "-");
    assert_non_null(strstr(text, "\"cores\":1,\"target_cores\":3"));
    text = RUN(convert, &status, out, "--to", "callgrind", "-o", "-");
    assert_non_null(strstr(text, wanted));
    text = RUN(report, &status, "-i", recording_path("perf.data"), "--stdio");
    assert_null(strstr(text, "at least"));
}

static int setup(void **state)
{
    recording_setup(state);
    recording_make("perf.data", 20, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_full_temporary_directory),
        cmocka_unit_test(test_no_common_event),
        cmocka_unit_test(test_many_processes),
        cmocka_unit_test(test_more_cores),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
