/* SPDX-License-Identifier: BSD-2-Clause */
/* ELFs found by what identifies them, the limits of the search, and what an address can be. Needs
 * aarch64-linux-gnu-gcc. */
#include "recording.h"

#include "symbols/call_site.h"
#include "symbols/find_elf.h"
#include "symbols/identity.h"
#include "symbols/symbols.h"

static struct mkperf_build_id one, bare;

static void identify(const char *path, struct mkperf_build_id *id)
{
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_module *m;
    struct mkperf_error e;

    assert_int_equal(mkperf_symbols_module(s, path, &m, &e), MKPERF_OK);
    mkperf_module_identity(m, id);
    mkperf_symbols_free(s);
}

static int setup(void **state)
{
    (void)state;
    recording_setup();
    identify(recording_path("one.elf"), &one);
    free(recording_shell(
        "cd %s && mkdir -p tree/a/b/c home empty bad && mv one.elf tree/a/b/c/x && "
        "aarch64-linux-gnu-strip -R .note.gnu.build-id -d tree/a/b/c/x -o tree/bare && "
        "aarch64-linux-gnu-strip tree/a/b/c/x -o tree/stripped && ln -s / tree/root",
        recording_dir));
    identify(recording_path("tree/bare"), &bare);
    setenv("HOME", recording_path("home"), 1);
    unsetenv("DEBUGINFOD_CACHE_PATH");
    unsetenv("XDG_CACHE_HOME");
    return chdir(recording_path("empty"));
}

static void expect(struct mkperf_finder *f, const struct mkperf_build_id *id, const char *file,
                   const char *path, const char *reason)
{
    char why[512] = "";
    const char *found = mkperf_finder_find(f, id, file, why, sizeof why);

    if (path == NULL) {
        assert_null(found);
        if (reason == NULL || strstr(why, reason) == NULL) {
            fail_msg("\"%s\" without \"%s\"", why, reason != NULL ? reason : "(no reason)");
        }
    } else {
        assert_non_null(found);
        if (strstr(found, path) == NULL) {
            fail_msg("\"%s\" is not \"%s\"", found, path);
        }
    }
}

static void places(void **state)
{
    char path[600];
    struct mkperf_finder *f = mkperf_finder_new(recording_path("tree"), NULL);

    (void)state;
    assert_false(one.derived);
    assert_true(bare.derived);
    assert_int_equal(bare.n, MKPERF_BUILD_ID_BYTES);
    expect(f, &one, "one.elf", "tree/stripped", NULL); /* not those below the directory */
    expect(f, &bare, "", "tree/bare", NULL);
    mkperf_finder_add(f, recording_path("tree/a/b/c/x"));
    expect(f, &one, "", "tree/a/b/c/x", NULL); /* has debugging information */
    mkperf_finder_reject(f, mkperf_finder_find(f, &one, "", path, sizeof path));
    expect(f, &one, "", "tree/stripped", NULL);
    mkperf_finder_free(f);

    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "one.elf", NULL, "no ELF with the build id ");
    mkperf_finder_free(f);
    assert_int_equal(chdir(recording_path("tree")), 0);
    f = mkperf_finder_new(NULL, recording_path("empty")); /* the tree below the current directory */
    expect(f, &one, "one.elf", "./a/b/c/x", NULL);
    expect(f, &bare, "", "./bare", NULL);
    mkperf_finder_free(f);
    assert_int_equal(chdir(recording_path("empty")), 0);
}

static void caches(void **state)
{
    char hex[MKPERF_BUILD_ID_TEXT];
    struct mkperf_finder *f;

    (void)state;
    mkperf_build_id_text(&one, hex);
    free(
        recording_shell("cd %s/home && mkdir -p .cache/debuginfod_client/%s && cp ../tree/stripped "
                        ".cache/debuginfod_client/%s/executable",
                        recording_dir, hex, hex));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", "home/.cache/debuginfod_client/", NULL);
    mkperf_finder_free(f);
    free(recording_shell("cd %s/home && mkdir -p .debug/.build-id/%.2s && cp ../tree/stripped "
                         ".debug/.build-id/%.2s/%s",
                         recording_dir, hex, hex, hex + 2));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", "home/.debug/.build-id/", NULL);
    mkperf_finder_free(f);
    /* a file in a cache is what its content is, not what its name says */
    free(recording_shell(
        "cd %s/home && cp ../kernel.elf .debug/.build-id/%.2s/%s && cp ../kernel.elf "
        ".cache/debuginfod_client/%s/executable",
        recording_dir, hex, hex + 2, hex));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", NULL, "no ELF with the build id ");
    mkperf_finder_free(f);
    setenv("DEBUGINFOD_CACHE_PATH", recording_path("elsewhere"), 1);
    free(recording_shell(
        "cd %s && mkdir -p elsewhere/%s && cp tree/stripped elsewhere/%s/executable", recording_dir,
        hex, hex));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", "elsewhere/", NULL);
    const char *found = mkperf_finder_find(f, &one, "", hex, sizeof hex);
    mkperf_finder_reject(f, found);
    expect(f, &one, "", NULL, "no ELF"); /* and is not looked up again */
    mkperf_finder_free(f);
    unsetenv("DEBUGINFOD_CACHE_PATH");
}

static void other_builds(void **state)
{
    struct mkperf_finder *f;
    struct mkperf_build_id none = {.n = 0};

    (void)state;
    free(recording_shell(
        "cd %s && cp kernel.elf bad/one.elf && head -c 500 tree/stripped >bad/cut && "
        "mkfifo bad/fifo && ln -s nowhere bad/link && : >bad/empty && mkdir bad/dir",
        recording_dir));
    f = mkperf_finder_new(recording_path("bad"), NULL);
    expect(f, &one, "one.elf", NULL, "bad/one.elf is another build (");
    expect(f, &one, "two.elf", NULL, "no ELF with the build id ");
    expect(f, &none, "one.elf", NULL, "does not tell which build of one.elf runs");
    mkperf_finder_free(f);
}

/* Ten levels are too deep; 20000 entries are enough of a directory. */
static void limits(void **state)
{
    struct mkperf_finder *f;

    (void)state;
    free(recording_shell("cd %s/empty && mkdir -p 1/2/3/4/5/6/7/8/9 && cp ../tree/stripped "
                         "1/2/3/4/5/6/7/8/9/x",
                         recording_dir));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", NULL, "the search ended at its limit");
    mkperf_finder_free(f);
    free(recording_shell("cd %s/empty && mv 1/2/3/4/5/6/7/8/9/x 1/2/3/4/5/6/7/8", recording_dir));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", "1/2/3/4/5/6/7/8/x", NULL);
    mkperf_finder_free(f);
    free(recording_shell("cd %s/empty && rm -rf 1 && seq 20100 | xargs touch", recording_dir));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", NULL, "the search ended at its limit");
    mkperf_finder_free(f);
}

static void call_sites(void **state)
{
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_module *m;
    struct mkperf_error e;
    uint64_t at = recording_at.start, calls = 0;

    (void)state;
    assert_int_equal(mkperf_symbols_module(s, recording_path("tree/a/b/c/x"), &m, &e), MKPERF_OK);
    assert_true(mkperf_module_is_code(m, at));
    assert_false(mkperf_module_is_code(m, at + 2));
    assert_false(mkperf_module_is_code(m, 0));
    assert_false(mkperf_module_is_code(m, UINT64_MAX));
    assert_false(mkperf_module_follows_call(m, at));
    assert_false(mkperf_module_follows_call(m, 0));
    assert_false(mkperf_module_follows_call(m, 3));
    assert_false(mkperf_module_follows_call(m, UINT64_MAX));
    for (uint64_t i = 0; i < 64; i += 4) {
        calls += mkperf_module_follows_call(m, at + i);
        assert_false(mkperf_module_follows_call(m, at + i + 2));
    }
    assert_true(calls > 0); /* _start calls */
    mkperf_symbols_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places), cmocka_unit_test(caches),     cmocka_unit_test(other_builds),
        cmocka_unit_test(limits), cmocka_unit_test(call_sites),
    };

    return cmocka_run_group_tests_name("find elf", tests, setup, recording_teardown);
}
