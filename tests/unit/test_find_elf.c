/* SPDX-License-Identifier: BSD-2-Clause */
/* ELFs found by what identifies them, the limits of the search, and what an address can be. Needs
 * aarch64-linux-gnu-gcc. */
#include "recording.h"

#include <sys/stat.h>
#include <sys/wait.h>

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
    recording_setup(state);
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
    unsetenv("PERF_BUILDID_DIR");
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
    struct mkperf_finder *f = mkperf_finder_new(recording_path("tree"), NULL);

    (void)state;
    assert_false(one.derived);
    assert_true(bare.derived);
    assert_int_equal(bare.n, MKPERF_BUILD_ID_BYTES);
    expect(f, &one, "one.elf", "tree/stripped", NULL); /* before those below the directory */
    expect(f, &bare, "", "tree/bare", NULL);
    mkperf_finder_add(f, recording_path("tree/a/b/c/x"));
    expect(f, &one, "", "tree/a/b/c/x", NULL); /* this ELF has debugging information */
    mkperf_finder_free(f);

    free(recording_shell("cd %s/empty && mkdir -p below/d && cp ../tree/stripped below/d/y",
                         recording_dir));
    f = mkperf_finder_new(recording_path("empty/below"), NULL);
    expect(f, &one, "one.elf", "empty/below/d/y", NULL);
    mkperf_finder_free(f);
    free(recording_shell("rm -r %s/empty/below", recording_dir));
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
    mkperf_finder_free(f);
    free(recording_shell("cd %s && head -c -100 tree/stripped >elsewhere/%s/executable",
                         recording_dir, hex));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", NULL, "no ELF");
    expect(f, &one, "executable", NULL, "/executable: cut short");
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
        "head -c -100 tree/a/b/c/x >bad/damaged && "
        "mkfifo bad/fifo && ln -s nowhere bad/link && : >bad/empty && mkdir bad/dir bad/dir/32 && "
        "head -c -100 tree/a/b/c/x >bad/dir/one.elf && "
        "printf '\\177ELF\\1\\1%%14s' '' >bad/dir/32/one.elf",
        recording_dir));
    f = mkperf_finder_new(recording_path("bad"), NULL);
    /* Of the files of the name, the one that can be read is the reason. */
    expect(f, &one, "one.elf", NULL, "bad/one.elf is another build (");
    expect(f, &one, "two.elf", NULL, "no ELF with the build id ");
    expect(f, &one, "cut", NULL, "bad/cut: cut short");
    expect(f, &one, "damaged", NULL, "bad/damaged: cut short");
    mkperf_finder_add(f, recording_path("tree/stripped"));
    expect(f, &one, "damaged", "tree/stripped", NULL); /* this ELF is whole */
    expect(f, &none, "one.elf", NULL, "does not show which build of one.elf runs");
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
    /* Objects need no room, however they are called: more of them than ELFs are remembered. */
    free(recording_shell(
        "cd %s/empty && mkdir 2 && cd 2 && for i in $(seq 4200); do "
        "printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\1\\0'; done | split -a 4 -b 18",
        recording_dir));
    f = mkperf_finder_new(NULL, NULL);
    expect(f, &one, "", "1/2/3/4/5/6/7/8/x", NULL);
    expect(f, &(struct mkperf_build_id){.n = 1}, "", NULL, "was found");
    assert_int_equal(access("2/xagfn", R_OK), 0);
    mkperf_finder_free(f);
    free(recording_shell("cd %s/empty && rm -rf 1 2 && seq 20100 | xargs touch", recording_dir));
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

enum { BUILDS = 6 };
static char build_id[BUILDS][MKPERF_BUILD_ID_TEXT];

/* Opens programs 0 to BUILDS - 1: copies of one, each with another build id. */
static struct mkperf_symbols *open_builds(struct mkperf_module *m[BUILDS])
{
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_error e;
    char name[32];

    for (unsigned i = 0; i < BUILDS; i++) {
        snprintf(name, sizeof name, "builds/%u", i);
        assert_int_equal(mkperf_symbols_module(s, recording_path(name), &m[i], &e), MKPERF_OK);
    }
    return s;
}

static bool is_kept(const char *directory, unsigned i)
{
    char path[600];

    snprintf(path, sizeof path, "%s/.build-id/%.2s/%s/elf", directory, build_id[i],
             build_id[i] + 2);
    return access(path, R_OK) == 0;
}

static enum mkperf_status try_keep(const char *directory, struct mkperf_module *const m[], size_t n,
                                   uint64_t most, struct mkperf_error *e)
{
    e->status = MKPERF_OK;
    return mkperf_elf_cache_keep(directory, m, n, most, e);
}

static void keep(const char *directory, struct mkperf_module *const m[], size_t n, uint64_t most)
{
    struct mkperf_error e;

    if (try_keep(directory, m, n, most, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
}

/* The copy with the oldest use is removed first. Files that mkperf did not put there are never
 * removed. */
static void copies(void **state)
{
    struct mkperf_module *m[BUILDS];
    const char *dir = "copies";
    struct mkperf_error e;
    size_t size;

    (void)state;
    assert_int_equal(chdir(recording_path("empty")), 0);
    free(recording_shell("mkdir %s/builds && cd %s/builds && for i in 0 1 2 3 4 5; do "
                         "echo 'void _start(void) {}' | aarch64-linux-gnu-gcc -nostdlib -static "
                         "-Wl,--build-id=0x00112233445566$i$i -x c - -o $i || exit 1; done",
                         recording_dir, recording_dir));
    struct mkperf_symbols *s = open_builds(m);
    (void)mkperf_module_file(m[0], &size);
    for (unsigned i = 0; i < BUILDS; i++) {
        struct mkperf_build_id id;
        mkperf_module_identity(m[i], &id);
        mkperf_build_id_text(&id, build_id[i]);
    }
    free(recording_shell("perf --buildid-dir %s/empty/copies buildid-cache -a %s/builds/5",
                         recording_dir, recording_dir));
    for (unsigned i = 0; i < 3; i++) {
        keep(dir, &m[i], 1, 3 * size + 100);
        usleep(10000); /* the clock of files has steps of a few ms */
    }
    keep(dir, &m[0], 1, 3 * size + 100); /* the first copy is used again */
    usleep(10000);
    assert_true(is_kept(dir, 0) && is_kept(dir, 1) && is_kept(dir, 2));
    keep(dir, &m[3], 1, 3 * size + 100);
    assert_true(is_kept(dir, 0) && !is_kept(dir, 1) && is_kept(dir, 2) && is_kept(dir, 3));
    assert_true(is_kept(dir, 5)); /* perf's */
    keep(dir, &m[5], 1, size + 100);
    assert_true(is_kept(dir, 3) && is_kept(dir, 5) && !is_kept(dir, 0) && !is_kept(dir, 2));
    char *left = recording_shell("cd %s/empty/copies && find . -name elf | wc -l && "
                                 "find . -type d -empty && find . -xtype l",
                                 recording_dir);
    assert_string_equal(left, "2\n");
    free(left);

    /* A module that is read from a copy has the name of the file that was copied. */
    struct mkperf_symbols *again = mkperf_symbols_new();
    struct mkperf_module *copy;
    assert_int_equal(setenv("PERF_BUILDID_DIR", dir, 1), 0);
    char *elf = mkperf_xprintf("%s%s/%s/elf", dir, mkperf_module_path(m[3]), build_id[3]);
    assert_int_equal(mkperf_symbols_module(again, elf, &copy, &e), MKPERF_OK);
    assert_string_equal(mkperf_module_path(copy), mkperf_module_path(m[3]));
    assert_int_equal(unsetenv("PERF_BUILDID_DIR"), 0);
    mkperf_symbols_free(again);
    free(elf);

    assert_int_equal(try_keep(dir, &m[1], 1, size - 1, &e), MKPERF_ERR_OUTPUT);
    assert_non_null(strstr(e.text, "all copies together may have"));
    assert_int_equal(try_keep("/dev/null", &m[1], 1, size, &e), MKPERF_ERR_OUTPUT);
    assert_non_null(strstr(e.text, "/dev/null"));
    mkperf_symbols_free(s);
}

/* Four processes keep and remove copies in one directory; each copy that can be opened is whole. */
static void copies_at_once(void **state)
{
    enum { PROCESSES = 4, TIMES = 50 };
    struct mkperf_module *m[BUILDS];
    const char *dir = "shared";
    pid_t child[PROCESSES];
    size_t size;

    (void)state;
    struct mkperf_symbols *s = open_builds(m);
    (void)mkperf_module_file(m[0], &size);
    for (unsigned p = 0; p < PROCESSES; p++) {
        child[p] = fork();
        if (child[p] == 0) {
            struct mkperf_error e;
            for (unsigned i = 0; i < TIMES; i++) {
                uint64_t most = i % 2 != 0 ? 2 * size : 10 * size;
                if (try_keep(dir, &m[(i + p) % BUILDS], 1, most, &e) != MKPERF_OK) {
                    fprintf(stderr, "%s\n", e.text);
                    _exit(1);
                }
            }
            _exit(0);
        }
    }
    for (unsigned p = 0; p < PROCESSES; p++) {
        int status;
        assert_int_equal(waitpid(child[p], &status, 0), child[p]);
        assert_int_equal(status, 0);
    }
    keep(dir, m, BUILDS, 10 * size);
    for (unsigned i = 0; i < BUILDS; i++) {
        assert_true(is_kept(dir, i));
    }
    char *bad = recording_shell("cd %s/empty/shared && find . -name elf ! -size %zuc; "
                                "ls .mkperf | grep -v 'lock\\|^00112'; find . -xtype l",
                                recording_dir, size);
    assert_string_equal(bad, "");
    free(bad);
    mkperf_symbols_free(s);
}

/* A recording's ELF was built again: its copy is found, and with an option a file of another name. */
static void older_build(void **state)
{
    const struct mkperf_elf_search nowhere = {.elf_path = NULL};
    struct mkperf_module *m[BUILDS], *found;
    struct mkperf_symbols *s = open_builds(m);
    struct mkperf_build_id id;
    struct mkperf_error e;

    (void)state;
    mkperf_module_identity(m[2], &id);
    keep(recording_path("home/.debug"), m, BUILDS, UINT64_MAX);
    mkperf_symbols_free(s);
    free(recording_shell("rm -rf %s/empty/* && cd %s/builds && mv 2 old && cp 3 2", recording_dir,
                         recording_dir));

    s = mkperf_symbols_new();
    assert_int_equal(mkperf_symbols_recorded(s, recording_path("builds/2"), &id, &found, &e),
                     MKPERF_ERR_INPUT);
    mkperf_symbols_search(s, &nowhere);
    assert_int_equal(mkperf_symbols_recorded(s, recording_path("builds/2"), &id, &found, &e),
                     MKPERF_OK);
    struct mkperf_build_id copied;
    mkperf_module_identity(found, &copied);
    assert_true(mkperf_build_id_same(&copied, &id));
    assert_string_equal(mkperf_module_path(found), recording_path("builds/2"));
    mkperf_symbols_free(s);

    setenv("PERF_BUILDID_DIR", recording_path("none"), 1);
    s = mkperf_symbols_new();
    mkperf_symbols_search(s, &nowhere);
    assert_int_equal(mkperf_symbols_recorded(s, recording_path("builds/2"), &id, &found, &e),
                     MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "another build ("));
    assert_non_null(strstr(e.text, "there is no copy in "));
    assert_non_null(strstr(e.text, "--elf-path DIR names where"));
    assert_int_equal(mkperf_symbols_recorded(s, NULL, &id, &found, &e), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "no ELF with the build id"));
    mkperf_symbols_search(s,
                          &(const struct mkperf_elf_search){.elf_path = recording_path("builds")});
    assert_int_equal(mkperf_symbols_recorded(s, recording_path("builds/2"), &id, &found, &e),
                     MKPERF_OK);
    assert_non_null(strstr(mkperf_module_path(found), "builds/old"));
    assert_int_equal(mkperf_symbols_recorded(s, NULL, &id, &found, &e), MKPERF_OK);
    mkperf_symbols_free(s);

    /* The file was replaced after the search had listed it. */
    s = mkperf_symbols_new();
    mkperf_symbols_search(s,
                          &(const struct mkperf_elf_search){.elf_path = recording_path("builds")});
    identify(recording_path("builds/3"), &copied);
    assert_int_equal(mkperf_symbols_recorded(s, NULL, &copied, &found, &e), MKPERF_OK);
    free(recording_shell("cd %s/builds && cp 4 old", recording_dir));
    assert_int_equal(mkperf_symbols_recorded(s, NULL, &id, &found, &e), MKPERF_ERR_INPUT);
    assert_non_null(strstr(e.text, "old: another build ("));
    assert_non_null(strstr(e.text, "--elf-path DIR names where"));
    unsetenv("PERF_BUILDID_DIR");
    mkperf_symbols_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),         cmocka_unit_test(caches),
        cmocka_unit_test(other_builds),   cmocka_unit_test(limits),
        cmocka_unit_test(call_sites),     cmocka_unit_test(copies),
        cmocka_unit_test(copies_at_once), cmocka_unit_test(older_build),
    };

    return cmocka_run_group_tests_name("find elf", tests, setup, recording_teardown);
}
