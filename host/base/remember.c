/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers that were given before, see remember.h. */
#include "remember.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    REMEMBER_FILES = 64,
    REMEMBER_BYTES = 1 << 20, /* of each output */
    ANSWER_MAX = 8 << 20,     /* bytes of its file, with the paths */
    PATHS_MAX = 2048,
    ENDS = 4096,           /* bytes of a file's begin and of its end, which are summed up */
    IDENTITY = 192,        /* bytes of its text */
    COARSE_NS = 2000000000 /* the coarsest times of a file system */
};
static const double WORTH_SECONDS = 0.1; /* of a run's CPU time */
static const char magic[] = "mkperf answer 1";

struct path {
    char *path, identity[IDENTITY];
};

/* What a run printed on a stream. */
struct said {
    FILE **stream, *before;
    char *text;
    size_t n;
};

static struct {
    bool on;
    uint64_t began_ns;
    struct path *path;
    uint32_t npaths, room;
    struct said said[2];
} run;

static uint64_t sum_of(const void *bytes, size_t n, uint64_t sum)
{
    for (size_t i = 0; i < n; i++) {
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* Writes a path's identity. False: a run that looks at it cannot be kept. */
static bool identify(const char *path, uint64_t before_ns, char text[IDENTITY])
{
    uint8_t bytes[ENDS];
    uint64_t sum = 0;
    struct stat st;

    if (stat(path, &st) != 0) {
        snprintf(text, IDENTITY, "none %d", errno);
        return true;
    }
    if (S_ISREG(st.st_mode)) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        ssize_t first = fd >= 0 ? pread(fd, bytes, sizeof bytes, 0) : -1;

        sum = first > 0 ? sum_of(bytes, (size_t)first, sum) : ~UINT64_C(0);
        first = fd >= 0 && st.st_size > ENDS ? pread(fd, bytes, sizeof bytes, st.st_size - ENDS)
                                             : 0;
        sum = first > 0 ? sum_of(bytes, (size_t)first, sum) : sum;
        if (fd >= 0) {
            close(fd);
        }
    }
    snprintf(text, IDENTITY, "%ju %ju %jo %ju %ju %ju %jx", (uintmax_t)st.st_dev,
             (uintmax_t)st.st_ino, (uintmax_t)st.st_mode, (uintmax_t)st.st_size,
             (uintmax_t)ns_of(&st.st_mtim), (uintmax_t)ns_of(&st.st_ctim), (uintmax_t)sum);
    return (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && ns_of(&st.st_mtim) < before_ns &&
           ns_of(&st.st_ctim) < before_ns;
}

/* What the output depends on in addition to files. */
static char *make_key(int argc, char *const *argv, size_t *n)
{
    static const char *const names[] = {"HOME",     "XDG_CACHE_HOME", "PERF_BUILDID_DIR",
                                        "NO_COLOR", "TERM",           "DEBUGINFOD_CACHE_PATH",
                                        "LANG",     "LC_ALL",         "LC_CTYPE"};
    char *key, *cwd = getcwd(NULL, 0), self[IDENTITY];
    FILE *f = mkperf_memstream_open(&key, n);

    identify("/proc/self/exe", UINT64_MAX, self);
    fprintf(f, "%s%c%s%c%s%c", magic, 0, self, 0, cwd != NULL ? cwd : "", 0);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        fprintf(f, "%s%s%c", value != NULL ? "=" : "", value != NULL ? value : "", 0);
    }
    for (int i = 0; i < argc; i++) {
        fprintf(f, "%s%c", argv[i], 0);
    }
    mkperf_memstream_close(f);
    free(cwd);
    return key;
}

/* The directory of answers, which is made if `make` is set. NULL: there is none. */
static char *find_directory(bool make)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"),
               *wanted = getenv("MKPERF_REMEMBER");
    bool set = xdg != NULL && *xdg == '/';

    if ((!set && (home == NULL || *home != '/')) || (wanted != NULL && strcmp(wanted, "no") == 0)) {
        return NULL;
    }
    char *path = mkperf_xprintf("%s%s/mkperf/answers", set ? xdg : home, set ? "" : "/.cache");
    for (char *at = path + 1; make && (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
    if (make) {
        (void)mkdir(path, 0700);
    }
    return path;
}

static char *answer_path(const char *directory, const char *key, size_t n)
{
    return mkperf_xprintf("%s/%016jx", directory, (uintmax_t)sum_of(key, n, 1));
}

/* A run of bytes in an answer: its size, then the bytes. */
static void put_part(FILE *f, const void *bytes, uint64_t n)
{
    (void)fwrite(&n, sizeof n, 1, f);
    if (n != 0) {
        (void)fwrite(bytes, 1, (size_t)n, f);
    }
}

static bool take_part(const char **at, const char *end, const char **bytes, uint64_t *n)
{
    if ((size_t)(end - *at) < sizeof *n) {
        return false;
    }
    memcpy(n, *at, sizeof *n);
    *bytes = *at + sizeof *n;
    if (*n > (uint64_t)(end - *bytes)) {
        return false;
    }
    *at = *bytes + *n;
    return true;
}

/* Whether each path has its identity. The part has pairs of texts, each with its end. */
static bool is_unchanged(const char *paths, uint64_t n)
{
    char now[IDENTITY];

    if (n == 0 || paths[n - 1] != '\0') {
        return false;
    }
    for (const char *at = paths; at < paths + n;) {
        const char *identity = at + strlen(at) + 1;

        if (identity >= paths + n) {
            return false;
        }
        (void)identify(at, UINT64_MAX, now);
        if (strcmp(now, identity) != 0) {
            return false;
        }
        at = identity + strlen(identity) + 1;
    }
    return true;
}

bool mkperf_remember_answer(int argc, char *const *argv, int *status)
{
    enum { KEY, PATHS, STATUS, OUTPUT, ERRORS, PARTS };
    const char *part[PARTS];
    uint64_t n[PARTS];
    size_t nkey;
    char *directory = find_directory(false);

    if (directory == NULL) {
        return false;
    }
    char *key = make_key(argc, argv, &nkey), *path = answer_path(directory, key, nkey);
    char *bytes = NULL;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                st.st_size < ANSWER_MAX;

    if (good) {
        bytes = mkperf_xcalloc((size_t)st.st_size + 1, 1);
        good = read(fd, bytes, (size_t)st.st_size) == st.st_size;
        const char *at = bytes, *end = bytes + st.st_size;
        for (unsigned i = 0; i < PARTS && good; i++) {
            good = take_part(&at, end, &part[i], &n[i]);
        }
        good = good && at == end && n[STATUS] == sizeof *status && n[KEY] == nkey &&
               memcmp(part[KEY], key, nkey) == 0 && is_unchanged(part[PATHS], n[PATHS]);
    }
    if (good) {
        memcpy(status, part[STATUS], sizeof *status);
        (void)fwrite(part[ERRORS], 1, (size_t)n[ERRORS], stderr);
        (void)fwrite(part[OUTPUT], 1, (size_t)n[OUTPUT], stdout);
        (void)futimens(fd, NULL); /* it is the newest one */
    }
    if (fd >= 0) {
        close(fd);
    }
    free(bytes);
    free(path);
    free(key);
    free(directory);
    return good;
}

/* Writes what a run prints where it was to be printed, and keeps it. */
static ssize_t say(void *of, const char *bytes, size_t n)
{
    struct said *s = of;

    if (fwrite(bytes, 1, n, s->before) != n || fflush(s->before) != 0) {
        return 0;
    }
    if (s->n + n > REMEMBER_BYTES) {
        mkperf_remember_not();
    } else {
        s->text = mkperf_xrealloc(s->text, s->n + n, 1);
        memcpy(s->text + s->n, bytes, n);
        s->n += n;
    }
    return (ssize_t)n;
}

void mkperf_remember_begin(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    run.began_ns = ns_of(&now);
    run.on = true;
    run.said[0].stream = &stdout;
    run.said[1].stream = &stderr;
    for (unsigned i = 0; i < 2; i++) {
        struct said *s = &run.said[i];
        FILE *tee = fopencookie(s, "w", (cookie_io_functions_t){.write = say});

        s->before = *s->stream;
        if (tee == NULL) {
            run.on = false;
            continue;
        }
        (void)setvbuf(tee, NULL, i == 0 ? _IOFBF : _IONBF, 65536);
        *s->stream = tee;
    }
}

void mkperf_remember_path(const char *path)
{
    uint32_t i = 0;

    if (!run.on) {
        return;
    }
    while (i < run.npaths && strcmp(run.path[i].path, path) != 0) {
        i++;
    }
    if (i < run.npaths) {
        return;
    }
    MKPERF_GROW(run.path, run.room, i + 1);
    run.path[i].path = mkperf_xstrdup(path);
    run.npaths++;
    if (run.npaths == PATHS_MAX ||
        !identify(path, run.began_ns - COARSE_NS, run.path[i].identity)) {
        run.on = false;
    }
}

void mkperf_remember_not(void)
{
    run.on = false;
}

/* Removes the oldest answers. */
static void remove_oldest(const char *directory)
{
    for (;;) {
        DIR *d = opendir(directory);
        const struct dirent *entry;
        char *oldest = NULL;
        uint64_t oldest_ns = UINT64_MAX;
        unsigned n = 0;

        while (d != NULL && (entry = readdir(d)) != NULL) {
            struct stat st;
            if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
                !S_ISREG(st.st_mode)) {
                continue;
            }
            n++;
            if (ns_of(&st.st_mtim) < oldest_ns) {
                oldest_ns = ns_of(&st.st_mtim);
                free(oldest);
                oldest = mkperf_xstrdup(entry->d_name);
            }
        }
        bool done = n <= REMEMBER_FILES || unlinkat(dirfd(d), oldest, 0) != 0;
        free(oldest);
        if (d != NULL) {
            closedir(d);
        }
        if (done) {
            return;
        }
    }
}

static void keep(int argc, char *const *argv, int status)
{
    char *paths, *directory = find_directory(true);
    size_t nkey, npaths;

    if (directory == NULL) {
        return;
    }
    char *key = make_key(argc, argv, &nkey), *path = answer_path(directory, key, nkey);
    char *partial = mkperf_xprintf("%s.%jd", path, (intmax_t)getpid());
    FILE *all = mkperf_memstream_open(&paths, &npaths);
    for (uint32_t i = 0; i < run.npaths; i++) {
        fprintf(all, "%s%c%s%c", run.path[i].path, 0, run.path[i].identity, 0);
    }
    mkperf_memstream_close(all);
    int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f != NULL && is_unchanged(paths, npaths)) {
        put_part(f, key, nkey);
        put_part(f, paths, npaths);
        put_part(f, &status, sizeof status);
        put_part(f, run.said[0].text, run.said[0].n);
        put_part(f, run.said[1].text, run.said[1].n);
    }
    bool whole = f != NULL && fflush(f) == 0 && !ferror(f) && ftell(f) > 0;
    if (f != NULL) {
        (void)fclose(f);
    }
    if (!whole || rename(partial, path) != 0) {
        (void)unlink(partial);
    } else {
        remove_oldest(directory);
    }
    free(paths);
    free(partial);
    free(path);
    free(key);
    free(directory);
}

void mkperf_remember_end(int argc, char *const *argv, int status)
{
    const char *set = getenv("MKPERF_REMEMBER");
    bool worth = (double)clock() / CLOCKS_PER_SEC >= WORTH_SECONDS ||
                 (set != NULL && strcmp(set, "always") == 0);

    for (unsigned i = 0; i < 2; i++) {
        struct said *s = &run.said[i];

        if (s->stream != NULL && *s->stream != s->before) {
            (void)fclose(*s->stream);
            *s->stream = s->before;
        }
    }
    if (run.on && run.npaths != 0 && worth &&
        (status == MKPERF_OK || status == MKPERF_ERR_FAILED)) {
        keep(argc, argv, status);
    }
    for (uint32_t i = 0; i < run.npaths; i++) {
        free(run.path[i].path);
    }
    free(run.path);
    free(run.said[0].text);
    free(run.said[1].text);
    memset(&run, 0, sizeof run);
}
