/* SPDX-License-Identifier: BSD-2-Clause */
/* Files with what was read from recordings, see shape.h. */
#include "shape.h"

#include <dirent.h>

#include <mbedtls/sha256.h>

enum {
    TICK_NS = 20000000, /* a file system's clock has longer steps than that of processes */
    SECOND_NS = 1000000000,
};

static bool identify(const char *path, uint64_t number[7], struct stat *st)
{
    if (stat(path, st) != 0) {
        return false;
    }
    number[0] = st->st_dev;
    number[1] = st->st_ino;
    number[2] = (uint64_t)st->st_size;
    number[3] = (uint64_t)st->st_mtim.tv_sec;
    number[4] = (uint64_t)st->st_mtim.tv_nsec;
    number[5] = (uint64_t)st->st_ctim.tv_sec;
    number[6] = (uint64_t)st->st_ctim.tv_nsec;
    return true;
}

static bool identify_both(const char *recording, struct mkperf_snapshot_of *of, struct stat *st)
{
    struct stat own;

    return identify("/proc/self/exe", of->number[1], &own) &&
           identify(recording, of->number[0], st);
}

/*
 * Waits until the present step of the file system's clock is over, because a change within that step would leave the
 * file's times as they are. Returns false if the times are whole seconds, or in the future: then they show no change.
 */
static bool settle(const struct stat *st)
{
    struct timespec now, rest = {.tv_nsec = TICK_NS};

    if (clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        (st->st_ctim.tv_nsec == 0 && st->st_mtim.tv_nsec == 0)) {
        return false;
    }
    int64_t age = (int64_t)(now.tv_sec - st->st_ctim.tv_sec) * SECOND_NS + now.tv_nsec -
                  st->st_ctim.tv_nsec;
    return age >= TICK_NS || (age >= -TICK_NS && nanosleep(&rest, NULL) == 0);
}

bool mkperf_snapshot_possible(const char *recording)
{
    const char *wanted = getenv("MKPERF_SNAPSHOTS");
    bool always = wanted != NULL && strcmp(wanted, "always") == 0;
    struct stat st;

    return (wanted == NULL || strcmp(wanted, "no") != 0) && stat(recording, &st) == 0 &&
           S_ISREG(st.st_mode) && (always || st.st_size >= MKPERF_SNAPSHOT_LEAST);
}

/* Opens ~/.cache/mkperf, which is made if it is missing. Returns -1 if there is none that belongs to this user alone. */
static int open_directory(void)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_xdg = xdg != NULL && xdg[0] == '/', has_home = home != NULL && home[0] == '/';
    char *cache = has_xdg    ? mkperf_xstrdup(xdg)
                  : has_home ? mkperf_xprintf("%s/.cache", home)
                             : NULL;
    struct stat st;

    if (cache == NULL) {
        return -1;
    }
    char *path = mkperf_xprintf("%s/mkperf", cache);
    (void)mkdir(cache, S_IRWXU);
    (void)mkdir(path, S_IRWXU);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_uid != geteuid() ||
                    (st.st_mode & (S_IRWXG | S_IRWXO)) != 0)) {
        close(fd);
        fd = -1;
    }
    free(cache);
    free(path);
    return fd;
}

/* Computes the hash of a question about a recording, and of n bytes of its answer. */
static void hash(const struct mkperf_snapshot *s, const uint8_t *p, size_t n,
                 uint8_t sum[MKPERF_SNAPSHOT_HASH])
{
    mbedtls_sha256_context of;

    mbedtls_sha256_init(&of);
    (void)mbedtls_sha256_starts_ret(&of, 0);
    (void)mbedtls_sha256_update_ret(&of, (const uint8_t *)&s->of, sizeof s->of);
    (void)mbedtls_sha256_update_ret(&of, (const uint8_t *)s->question, strlen(s->question) + 1);
    (void)mbedtls_sha256_update_ret(&of, p, n);
    (void)mbedtls_sha256_finish_ret(&of, sum);
    mbedtls_sha256_free(&of);
}

bool mkperf_snapshot_begin(struct mkperf_snapshot *s, const char *recording, const char *question)
{
    uint8_t sum[MKPERF_SNAPSHOT_HASH];
    struct stat st;

    *s = (struct mkperf_snapshot){.recording = recording, .question = question, .directory = -1};
    if (question != NULL && mkperf_snapshot_possible(recording) &&
        identify_both(recording, &s->of, &st) && settle(&st)) {
        s->directory = open_directory();
        hash(s, NULL, 0, sum);
        mkperf_hex(sum, sizeof sum, s->name);
    }
    return s->directory >= 0;
}

void mkperf_snapshot_end(struct mkperf_snapshot *s)
{
    close(s->directory);
    free(s->content);
}

const uint8_t *mkperf_snapshot_read(struct mkperf_snapshot *s, size_t *n)
{
    int fd = openat(s->directory, s->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    uint8_t sum[MKPERF_SNAPSHOT_HASH];
    bool same = false;
    struct stat st;

    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof sum &&
        st.st_size <= MKPERF_SNAPSHOT_BYTES + (off_t)sizeof sum) {
        *n = (size_t)st.st_size - sizeof sum;
        s->content = mkperf_xcalloc((size_t)st.st_size, 1);
        if (read(fd, s->content, (size_t)st.st_size) == st.st_size) {
            hash(s, s->content + sizeof sum, *n, sum);
            same = memcmp(sum, s->content, sizeof sum) == 0;
        }
    }
    close(fd);
    return same ? s->content + sizeof sum : NULL;
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Makes room for the next snapshot: removes the oldest one if there are too many. */
static void remove_oldest(int directory)
{
    struct timespec first = {.tv_sec = INT64_MAX};
    struct dirent **entry;
    const char *oldest = NULL;
    struct stat st;
    int n = scandirat(directory, ".", &entry, is_file, NULL);

    for (int i = 0; i < n; i++) {
        if (fstatat(directory, entry[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (st.st_mtim.tv_sec < first.tv_sec ||
             (st.st_mtim.tv_sec == first.tv_sec && st.st_mtim.tv_nsec < first.tv_nsec))) {
            oldest = entry[i]->d_name;
            first = st.st_mtim;
        }
    }
    if (n > MKPERF_SNAPSHOTS && oldest != NULL) {
        (void)unlinkat(directory, oldest, 0);
    }
    for (int i = 0; i < n; i++) {
        free(entry[i]);
    }
    free(n >= 0 ? entry : NULL);
}

void mkperf_snapshot_write(const struct mkperf_snapshot *s, const uint8_t *p, size_t n)
{
    uint8_t sum[MKPERF_SNAPSHOT_HASH];
    struct mkperf_snapshot_of now = {.number = {{0}}};
    char partial[sizeof s->name + 32];
    struct stat st;
    int fd = -1;

    snprintf(partial, sizeof partial, "%s.%jd", s->name, (intmax_t)getpid());
    if (n <= MKPERF_SNAPSHOT_BYTES) {
        fd = openat(s->directory, partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    S_IRUSR | S_IWUSR);
    }
    if (fd >= 0) {
        hash(s, p, n, sum);
        bool whole = mkperf_write_all(fd, sum, sizeof sum) == sizeof sum &&
                     mkperf_write_all(fd, p, n) == n;
        whole = close(fd) == 0 && whole && identify_both(s->recording, &now, &st) &&
                memcmp(&now, &s->of, sizeof now) == 0;
        if (!whole || renameat(s->directory, partial, s->directory, s->name) != 0) {
            (void)unlinkat(s->directory, partial, 0);
        }
        remove_oldest(s->directory);
    }
}
