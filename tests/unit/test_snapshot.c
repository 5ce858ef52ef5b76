/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots: structures as bytes and back; a snapshot is used for the same recording, question and mkperf only, and if nobody else
 * can have written it; and the answers of commands are those of the recording, whatever happened to it or to its ELFs since the first question.
 * recording_run asks each question of each unit test three times, which is the rest of the comparison.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/outfile.h"
#include "base/shape.h"
#include "import/import.h"
#include "story_recording.h"

/* ---- shapes ---- */

struct leaf {
    char *name;
    uint32_t value;
};

struct tree {
    uint64_t sum;
    struct leaf *leaf;
    unsigned n, room;
    uint16_t *small;
    size_t smalls;
    struct mkperf_hash hash;
    struct leaf *there;
    void *kept;
};

static const struct mkperf_shape_row leaf_rows[] = {MKPERF_SHAPE_TEXT(struct leaf, name),
                                                    MKPERF_SHAPE_END};
static const struct mkperf_shape_row value_rows[] = {MKPERF_SHAPE_BYTES(struct leaf, value, value),
                                                     MKPERF_SHAPE_END};
static const struct mkperf_shape_row tree_rows[] = {
    MKPERF_SHAPE_BYTES(struct tree, sum, sum),
    MKPERF_SHAPE_ARRAY(struct tree, leaf, n, room, leaf_rows),
    MKPERF_SHAPE_ARRAY(struct tree, small, smalls, smalls, NULL),
    MKPERF_SHAPE_INSIDE(struct tree, hash, mkperf_hash_rows),
    MKPERF_SHAPE_BEHIND(struct tree, there, value_rows),
    MKPERF_SHAPE_END};

static void make_tree(struct tree *t, struct leaf *there)
{
    const uint64_t key[2] = {5, 7};

    *t = (struct tree){.sum = 42, .n = 3, .room = 3, .smalls = 2, .there = there};
    t->leaf = mkperf_xcalloc(3, sizeof *t->leaf);
    t->leaf[0] = (struct leaf){mkperf_xstrdup("one"), 1};
    t->leaf[1] = (struct leaf){NULL, 2};
    t->leaf[2] = (struct leaf){mkperf_xstrdup(""), 3};
    t->small = mkperf_xcalloc(2, sizeof *t->small);
    t->small[1] = 99;
    mkperf_hash_number(&t->hash, key, 1);
    mkperf_hash_number(&t->hash, key, 2);
}

static void shapes(void **state)
{
    char stays[] = "stays";
    struct leaf out = {.value = 17}, in = {.name = stays, .value = 0};
    struct mkperf_shape_bytes bytes = {.n = 0};
    struct tree from, to;
    const uint64_t key[2] = {5, 7};

    (void)state;
    make_tree(&from, &out);
    mkperf_shape_put(tree_rows, &from, &bytes);
    make_tree(&to, &in); /* what is there is freed */
    to.kept = &to;
    struct mkperf_shape_input input = {bytes.p, bytes.n};
    assert_true(mkperf_shape_take(tree_rows, &to, &input));
    assert_int_equal(input.n, 0);
    assert_true(to.sum == 42 && to.n == 3 && to.room == 3 && to.small[1] == 99 && to.kept == &to);
    assert_string_equal(to.leaf[0].name, "one");
    assert_null(to.leaf[1].name);
    assert_string_equal(to.leaf[2].name, "");
    assert_int_equal(to.leaf[2].value, 3);
    assert_int_equal(mkperf_hash_find(&to.hash, key, 2), 1);
    assert_int_equal(mkperf_hash_number(&to.hash, key + 1, 1), 2);
    assert_string_equal(in.name, "stays");
    assert_int_equal(in.value, 17);
    for (size_t n = 0; n < bytes.n; n++) { /* cut anywhere, it is refused, and can be freed */
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, bytes.p, n);
        input = (struct mkperf_shape_input){cut, n};
        assert_false(mkperf_shape_take(tree_rows, &to, &input));
        free(cut);
    }
    to.there = NULL; /* there is another number of structures */
    input = (struct mkperf_shape_input){bytes.p, bytes.n};
    assert_false(mkperf_shape_take(tree_rows, &to, &input));
    mkperf_shape_free(tree_rows, &to);
    mkperf_shape_free(tree_rows, &from);
    free(bytes.p);
}

/* ---- files ---- */

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void keep(const char *path, const char *question, const char *bytes)
{
    struct mkperf_snapshot s;

    assert_true(mkperf_snapshot_begin(&s, path, question));
    mkperf_snapshot_write(&s, (const uint8_t *)bytes, strlen(bytes));
    mkperf_snapshot_end(&s);
}

static void keep_nothing(const char *path, const char *question)
{
    struct mkperf_snapshot s;

    assert_false(mkperf_snapshot_begin(&s, path, question));
}

/* Returns the snapshot's text; "" if there is none. */
static const char *kept(const char *path, const char *question)
{
    static char text[100];
    struct mkperf_snapshot s;
    size_t n = 0;

    text[0] = '\0';
    if (mkperf_snapshot_begin(&s, path, question)) {
        const uint8_t *p = mkperf_snapshot_read(&s, &n);
        snprintf(text, sizeof text, "%.*s", p != NULL ? (int)n : 0, (const char *)p);
        mkperf_snapshot_end(&s);
    }
    return text;
}

static unsigned files(const char *directory)
{
    char *n = recording_shell("ls %s | wc -l", directory);
    unsigned value = (unsigned)atoi(n);

    free(n);
    return value;
}

/* Removes all snapshots. */
static void forget(void)
{
    free(recording_shell("rm -rf %s", recording_path("cache/mkperf")));
}

static void identity(void **state)
{
    const char *r = recording_path("r"), *other = recording_path("other");
    struct timespec touched[2] = {{.tv_sec = 1000, .tv_nsec = 7}, {.tv_sec = 1000, .tv_nsec = 7}};
    struct mkperf_snapshot s;

    (void)state;
    setenv("MKPERF_SNAPSHOTS", "always", 1);
    put_file(r, "recording");
    assert_string_equal(kept(r, "q"), "");
    keep(r, "q", "answer");
    keep(r, "p", "another");
    assert_string_equal(kept(r, "q"), "answer");
    assert_string_equal(kept(r, "p"), "another");
    assert_string_equal(kept(r, "q "), "");
    setenv("MKPERF_SNAPSHOTS", "no", 1);
    assert_string_equal(kept(r, "q"), "");
    unsetenv("MKPERF_SNAPSHOTS"); /* the recording is small */
    assert_string_equal(kept(r, "q"), "");
    setenv("MKPERF_SNAPSHOTS", "always", 1);
    put_file(other, "RECORDING"); /* the file has the same size */
    assert_int_equal(rename(other, r), 0);
    assert_string_equal(kept(r, "q"), "");
    keep(r, "q", "answer 2");
    assert_string_equal(kept(r, "q"), "answer 2");
    put_file(r, "recordinG"); /* the file has the same inode */
    assert_string_equal(kept(r, "q"), "");
    keep(r, "q", "answer 3");
    assert_int_equal(utimensat(AT_FDCWD, r, touched, 0), 0);
    assert_string_equal(kept(r, "q"), "");
    keep(r, "q", "answer 4");
    put_file(r, "RECORDING"); /* with the time of before: its inode has changed */
    assert_int_equal(utimensat(AT_FDCWD, r, touched, 0), 0);
    assert_string_equal(kept(r, "q"), "");
    assert_true(mkperf_snapshot_begin(&s, r, "q")); /* it changes while it is read */
    put_file(r, "recordIng");
    mkperf_snapshot_write(&s, (const uint8_t *)"false", 5);
    mkperf_snapshot_end(&s);
    assert_string_equal(kept(r, "q"), "");
    touched[1] = (struct timespec){
        .tv_sec = 1000}; /* a clock of seconds shows too little; the inode's does not */
    assert_int_equal(utimensat(AT_FDCWD, r, touched, 0), 0);
    keep(r, "q", "answer 5");
    assert_string_equal(kept(r, "q"), "answer 5");
    assert_false(mkperf_snapshot_begin(&s, recording_path("none"), "q"));
    assert_false(mkperf_snapshot_begin(&s, recording_dir, "q"));
    assert_false(mkperf_snapshot_begin(&s, r, NULL));
}

/* Another mkperf: its file has another identity. */
static void another_mkperf(void **state)
{
    const char *r = recording_path("r");
    struct mkperf_snapshot s;
    size_t n;

    (void)state;
    put_file(r, "recording");
    keep(r, "q", "answer");
    assert_true(mkperf_snapshot_begin(&s, r, "q"));
    assert_true(s.of.number[1][1] != 0);
    s.of.number[1][5]++;
    assert_null(mkperf_snapshot_read(&s, &n));
    mkperf_snapshot_end(&s);
    assert_string_equal(kept(r, "q"), "answer");
}

static void forged(void **state)
{
    const char *r = recording_path("r");

    (void)state;
    put_file(r, "recording");
    forget();
    keep(r, "q", "answer");
    assert_int_equal(files(recording_path("cache/mkperf")), 1);
    char *path = recording_shell("echo -n %s/*", recording_path("cache/mkperf"));
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    for (long at = 0; at < 32 + 6; at++) { /* any byte is changed, and changed back */
        for (int k = 0; k < 2; k++) {
            assert_string_equal(kept(r, "q"), k == 0 ? "answer" : "");
            assert_int_equal(fseek(f, at, SEEK_SET), 0);
            int byte = fgetc(f);
            assert_int_equal(fseek(f, at, SEEK_SET), 0);
            assert_int_equal(fputc(byte ^ 1, f), byte ^ 1);
            assert_int_equal(fflush(f), 0);
        }
    }
    assert_string_equal(kept(r, "q"), "answer");
    for (int n = 32 + 5; n >= 0; n--) { /* cut */
        assert_int_equal(ftruncate(fileno(f), n), 0);
        assert_string_equal(kept(r, "q"), "");
    }
    (void)fclose(f);
    keep(r, "q", "answer");
    assert_string_equal(kept(r, "q"), "answer");
    for (mode_t others = 1; others <= 077; others <<= 1) { /* others may have written it */
        assert_int_equal(chmod(recording_path("cache/mkperf"), 0700 | others), 0);
        assert_string_equal(kept(r, "q"), "");
        keep_nothing(r, "q");
    }
    assert_int_equal(chmod(recording_path("cache/mkperf"), 0700), 0);
    assert_string_equal(kept(r, "q"), "answer");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(r, path), 0);
    assert_string_equal(kept(r, "q"), "");
    keep(r, "q", "answer 2"); /* the link is replaced, not the recording */
    assert_string_equal(kept(r, "q"), "answer 2");
    free(path);
}

/* There is no directory that belongs to this user alone: there are no snapshots, and nothing else happens. */
static void refused(void **state)
{
    const char *r = recording_path("r"), *directory = recording_path("cache/mkperf");

    (void)state;
    forget();
    put_file(directory, "a file");
    keep_nothing(r, "q");
    assert_int_equal(unlink(directory), 0);
    assert_int_equal(mkdir(recording_path("private"), 0700), 0);
    assert_int_equal(symlink(recording_path("private"), directory), 0);
    keep_nothing(r, "q");
    assert_int_equal(files(recording_path("private")), 0);
    assert_int_equal(unlink(directory), 0);
    if (geteuid() != 0) { /* root may write everywhere */
        assert_int_equal(chmod(recording_path("cache"), 0500), 0);
        keep_nothing(r, "q");
        assert_int_equal(chmod(recording_path("cache"), 0700), 0);
    }
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", "relative", 1);
    keep_nothing(r, "q");
    setenv("HOME", recording_path("home"), 1);
    assert_int_equal(mkdir(recording_path("home"), 0700), 0);
    keep(r, "q", "answer");
    assert_string_equal(kept(r, "q"), "answer");
    assert_int_equal(files(recording_path("home/.cache/mkperf")), 1);
    setenv("XDG_CACHE_HOME", recording_path("cache"), 1);
    assert_string_equal(kept(r, "q"), "");
}

static void removed(void **state)
{
    const char *r = recording_path("r");
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_outfile o;
    char question[20];

    (void)state;
    put_file(r, "recording");
    for (unsigned i = 0; i < MKPERF_SNAPSHOTS + 5; i++) { /* the oldest ones go */
        snprintf(question, sizeof question, "q%u", i);
        keep(r, question, question);
    }
    assert_int_equal(files(recording_path("cache/mkperf")), MKPERF_SNAPSHOTS);
    assert_string_equal(kept(r, "q4"), "");
    assert_string_equal(kept(r, "q5"), "q5");
    assert_string_equal(kept(r, question), question);
    assert_int_equal(mkperf_outfile_open(&o, r, true, &e), MKPERF_OK); /* as mkperf record does */
    mkperf_outfile_write(&o, "new", 3);
    assert_string_equal(kept(r, question), question);
    assert_int_equal(mkperf_outfile_finish(&o, &e), MKPERF_OK);
    assert_string_equal(kept(r, question), "");
    assert_int_equal(access(recording_path("r.old"), F_OK), 0);
    uint8_t *large = mkperf_xcalloc(MKPERF_SNAPSHOT_BYTES + 1, 1);
    struct mkperf_snapshot s;
    size_t n;
    assert_true(mkperf_snapshot_begin(&s, r, "large"));
    mkperf_snapshot_write(&s, large, MKPERF_SNAPSHOT_BYTES + 1);
    assert_null(mkperf_snapshot_read(&s, &n));
    mkperf_snapshot_write(&s, large, MKPERF_SNAPSHOT_BYTES);
    assert_non_null(mkperf_snapshot_read(&s, &n));
    assert_int_equal(n, MKPERF_SNAPSHOT_BYTES);
    mkperf_snapshot_end(&s);
    free(large);
    forget();
}

/* ---- questions ---- */

struct counter {
    uint64_t begun, pds, samples, events, ended;
    struct mkperf_interactions seen;
};

static enum mkperf_status count_items(void *self, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    struct counter *c = self;

    (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        assert_string_equal(item->session->cpu, "cortex-a53");
        c->begun++;
        break;
    case MKPERF_ITEM_PD:
        c->pds++;
        break;
    case MKPERF_ITEM_SAMPLE:
        c->samples += mkperf_sample_count(item->sample);
        break;
    case MKPERF_ITEM_END:
        assert_int_equal(item->totals->samples, 50);
        assert_int_equal(item->totals->lost[MKPERF_LOST_LINK], 3);
        c->ended++;
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

/* The second time, no sample is read, and the sink has what it would have counted. */
static void replay(void **state)
{
    static const struct mkperf_shape_row rows[] = {
        MKPERF_SHAPE_BYTES(struct counter, samples, events), MKPERF_SHAPE_END};
    const struct mkperf_input in = {.from = NULL};
    struct mkperf_error e;

    (void)state;
    recording_make("asked", 10, 3);
    setenv("MKPERF_SNAPSHOTS", "always", 1);
    for (unsigned i = 0; i < 2; i++) {
        struct counter c = {.events = i};
        const struct mkperf_question q = {.text = "count", .kept = {{&c, rows}}};
        struct mkperf_sink sink = {.take = count_items, .self = &c};
        assert_int_equal(mkperf_input_ask(recording_path("asked"), &in, &sink, &q, &e), MKPERF_OK);
        assert_true(c.begun == 1 && c.pds == 3 && c.samples == 50 && c.ended == 1);
        assert_int_equal(c.events, 0); /* the second time, this member was replaced */
    }
}

/* Asks without and with snapshots; the answers are equal. Returns the answer. */
static char *ask(void)
{
    int status;

    return RUN(report, &status, "--stdio", "-g", recording_path("elfs"));
}

/* Names are those of the ELFs that are there when the question is asked. */
static void elfs(void **state)
{
    static const char *const profiler = "volatile int sink;\n"
                                        "void mkperf_drain(void) { sink++; }\n"
                                        "void _start(void) { mkperf_drain(); }\n";
    struct recording r;
    int status;

    (void)state;
    recording_compile("two", profiler, "");
    recording_open(&r, "elfs", recording_path("kernel.elf"));
    recording_pd(&r, 0, 1, "client one", recording_path("one.elf"));
    recording_pd(&r, 1, 2, "own", recording_path("two.elf"));
    recording_pd(&r, 2, MKPERF_THREAD_IDLE, "idle", NULL);
    const uint64_t drain = recording_address("two.elf", "mkperf_drain");
    for (unsigned i = 0; i < 200; i++) {
        recording_put(&r, 0, 0, 0, 900, recording_at.alpha, NULL);
        recording_put(&r, 1, 0, 0, 700, drain, NULL);
    }
    recording_end(&r, 0);
    has(ask(), "alpha");
    has(ask(), "mkperf_drain");
    free(recording_shell("cd %s && mv one.elf gone.elf && mv two.elf gone2.elf", recording_dir));
    lacks(ask(), "alpha");
    lacks(ask(), "mkperf_drain");
    has(RUN(explain, &status, recording_path("elfs")), "code without a name");
    recording_compile("one", recording_kernel, ""); /* another build of the program */
    lacks(ask(), "alpha");
    free(recording_shell("cd %s && mv gone.elf one.elf && mv gone2.elf two.elf", recording_dir));
    has(ask(), "alpha");
    has(ask(), "mkperf_drain");
    has(RUN(explain, &status, recording_path("elfs")), "alpha");
    has(RUN(report, &status, "--stdio", "--elf-path", recording_dir, recording_path("elfs")),
        "alpha");
}

/* Each format of convert that a snapshot can answer: the file and the messages are the same. */
static void formats(void **state)
{
    static const char *const to[] = {"folded", "flamegraph", "pprof", "otlp", "callgrind"};
    int status;

    (void)state;
    recording_make("asked", 20, 3);
    for (unsigned i = 0; i < sizeof to / sizeof *to; i++) {
        char *first = NULL;
        for (unsigned k = 0; k < 3; k++) {
            setenv("MKPERF_SNAPSHOTS", k == 0 ? "no" : "always", 1);
            char *said = RUN(convert, &status, "--to", to[i], recording_path("asked"), "-o",
                             recording_path("converted"));
            assert_int_equal(status, 0);
            char *sum = recording_shell("cksum <%s", recording_path("converted"));
            char *all = mkperf_xprintf("%s%s", said, sum);
            free(sum);
            if (first == NULL) {
                first = all;
            } else {
                assert_string_equal(all, first);
                free(all);
            }
        }
        free(first);
    }
}

/* Commands at once: each has the answer, and a snapshot is there. */
static void at_once(void **state)
{
    enum { COMMANDS = 6 };
    pid_t child[COMMANDS];

    (void)state;
    recording_make("asked", 300, 3);
    forget();
    setenv("MKPERF_SNAPSHOTS", "always", 1);
    for (unsigned i = 0; i < COMMANDS; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            char path[300];
            const char *const argv[] = {"report", "--stdio", "-g", recording_path("asked")};
            snprintf(path, sizeof path, "%s/at-once-%u", recording_dir, i);
            if (freopen(path, "w", stdout) == NULL) {
                _exit(9);
            }
            char *words[5] = {NULL};
            for (unsigned k = 0; k < 4; k++) {
                words[k] = strdup(argv[k]);
            }
            int ended = mkperf_command_main(&mkperf_report_command, 4, words);
            fflush(stdout);
            _exit(ended);
        }
        assert_true(child[i] > 0);
    }
    for (unsigned i = 0; i < COMMANDS; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    char *differ = recording_shell("cd %s && for i in 1 2 3 4 5; do cmp at-once-0 at-once-$i; done",
                                   recording_dir);
    assert_string_equal(differ, "");
    free(differ);
    assert_int_equal(files(recording_path("cache/mkperf")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),  cmocka_unit_test(identity), cmocka_unit_test(another_mkperf),
        cmocka_unit_test(forged),  cmocka_unit_test(refused),  cmocka_unit_test(removed),
        cmocka_unit_test(replay),  cmocka_unit_test(elfs),     cmocka_unit_test(formats),
        cmocka_unit_test(at_once),
    };

    return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
