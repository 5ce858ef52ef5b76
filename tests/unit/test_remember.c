/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers that are printed again (base/remember.h): only if nothing has changed. A remembered answer is recognised because the
 * test has changed its text in the file.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include "recording.h"

static char answers[300];

/* Waits until the directory's files are old enough to be remembered: 2 s. */
static void grow_old(void)
{
    const struct timespec wait = {.tv_nsec = 50000000};
    struct timespec now;
    struct stat st;

    free(recording_shell("touch %s/newest", recording_dir));
    do {
        nanosleep(&wait, NULL);
        assert_int_equal(stat(recording_path("newest"), &st), 0);
        clock_gettime(CLOCK_REALTIME, &now);
    } while ((now.tv_sec - st.st_ctim.tv_sec) * 1000 +
                 (now.tv_nsec - st.st_ctim.tv_nsec) / 1000000 <
             2100);
}

static unsigned kept(void)
{
    DIR *d = opendir(answers);
    unsigned n = 0;

    while (d != NULL && readdir(d) != NULL) {
        n++;
    }
    if (d != NULL) {
        closedir(d);
    }
    return n > 2 ? n - 2 : 0;
}

static void forget(void)
{
    free(recording_shell("rm -rf %s", answers));
}

static char *report(int *status)
{
    return RUN(report, status, "--stdio", recording_path("one"));
}

/* Keeps the answer of report, and changes its text. */
static void keep_marked(void)
{
    int status;

    forget();
    has(report(&status), "handleSyscall");
    assert_int_equal(kept(), 1);
    free(recording_shell("sed -i s/handleSyscall/HANDLESYSCALL/ %s/*", answers));
    has(report(&status), "HANDLESYSCALL");
    assert_int_equal(status, 0);
}

static int setup(void **state)
{
    recording_setup(state);
    setenv("XDG_CACHE_HOME", recording_path("cache"), 1);
    setenv("MKPERF_REMEMBER", "always", 1);
    snprintf(answers, sizeof answers, "%s/mkperf/answers", recording_path("cache"));
    recording_make("one", 10, 0);
    recording_make("two", 20, 0);
    free(recording_shell("mkdir %s/empty", recording_dir));
    assert_int_equal(chdir(recording_path("empty")), 0); /* a missing ELF is looked for here */
    return 0;
}

/* A file that was written just now may change again within its time's resolution. */
static void test_new_file(void **state)
{
    int status;

    (void)state;
    recording_make("fresh", 10, 0);
    RUN(report, &status, "--stdio", recording_path("fresh"));
    assert_int_equal(kept(), 0);
    grow_old();
}

/* The whole key must be equal. */
static void test_key(void **state)
{
    int status;

    (void)state;
    keep_marked();
    lacks(RUN(report, &status, "--stdio", "-s", "symbol", recording_path("one")), "HANDLESYSCALL");
    lacks(RUN(report, &status, "--stdio", recording_path("two")), "HANDLESYSCALL");
    setenv("PERF_BUILDID_DIR", "/nonexistent", 1);
    lacks(report(&status), "HANDLESYSCALL");
    setenv("PERF_BUILDID_DIR", recording_path("debug"), 1);
    has(report(&status), "HANDLESYSCALL");
    setenv("MKPERF_REMEMBER", "no", 1);
    lacks(report(&status), "HANDLESYSCALL");
    setenv("MKPERF_REMEMBER", "always", 1);
}

/* The recording and the ELFs: replaced, changed in place with their old time, removed, added. */
static void test_changes(void **state)
{
    static const char *const changes[] = {
        "cp -p two one",
        "cp -p untouched one; touch -r one stamp; printf X | dd of=one bs=1 seek=8000 conv=notrunc "
        "2>/dev/null; touch -r stamp one; cmp -s one untouched && echo equal",
        "rm one.elf", "cp -p one.saved one.elf"};
    int status;

    (void)state;
    free(recording_shell("cd %s && cp -p one untouched && cp -p one.elf one.saved", recording_dir));
    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        keep_marked();
        char *out = recording_shell("cd %s && { %s; }", recording_dir, changes[i]);
        lacks(out, "equal");
        free(out);
        lacks(report(&status), "HANDLESYSCALL");
        if (i == 1) { /* the changed byte may have made it invalid */
            free(recording_shell("cd %s && cp -p untouched one", recording_dir));
        }
        grow_old();
    }
    forget();
}

/* Answers that are cut or damaged are no answers, and no errors. */
static void test_damage(void **state)
{
    int status;

    (void)state;
    keep_marked();
    free(recording_shell("cp %s/* %s", answers, recording_path("answer")));
    struct stat st;
    assert_int_equal(stat(recording_path("answer"), &st), 0);
    for (off_t n = 0; n < st.st_size; n += 97) {
        free(recording_shell("head -c %ld %s >$(echo %s/*)", (long)n, recording_path("answer"),
                             answers));
        char *text = report(&status);
        assert_int_equal(status, 0);
        has(text, "handleSyscall");
    }
    for (unsigned at = 0; at < 64; at += 7) { /* the first size */
        free(recording_shell("f=$(echo %s/*); cp %s $f; printf '\\377' | dd of=$f bs=1 seek=%u "
                             "conv=notrunc 2>/dev/null",
                             answers, recording_path("answer"), at));
        char *text = report(&status);
        assert_int_equal(status, 0);
        has(text, "handleSyscall");
    }
}

/* What an answer cannot repeat is not kept, and not too many are. */
static void test_not_kept(void **state)
{
    char path[512];
    int status;

    (void)state;
    forget();
    snprintf(path, sizeof path, "%s", recording_path("junit.xml"));
    RUN(diff, &status, "--junit", path, recording_path("one"), recording_path("two"));
    assert_int_equal(kept(), 0);
    RUN(report, &status, "--stdio", recording_path("none"));
    assert_int_equal(kept(), 0);
    RUN(diff, &status, recording_path("one"), recording_path("two"));
    assert_int_equal(kept(), 1);
    free(recording_shell("for i in $(seq 100); do echo x >%s/$i; done", answers));
    report(&status);
    assert_int_equal(kept(), 64);
    setenv("XDG_CACHE_HOME", "/proc/none", 1); /* no directory can be made there */
    has(report(&status), "handleSyscall");
    assert_int_equal(status, 0);
    setenv("XDG_CACHE_HOME", recording_path("cache"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_file), cmocka_unit_test(test_key),
        cmocka_unit_test(test_changes),  cmocka_unit_test(test_damage),
        cmocka_unit_test(test_not_kept),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
