/* SPDX-License-Identifier: BSD-2-Clause */
/* Files next to a recording, see snapshot.h. */
#include "snapshot.h"

#include <dirent.h>
#include <sys/random.h>
#include <time.h>

#include <mkperf/auth.h>

enum {
    OTHERS = S_IRWXG | S_IRWXO,
    TICK_NS = 20000000, /* a file system's clock has longer steps than that of processes */
    SECOND_NS = 1000000000,
    NAME = 2 * MKPERF_PROOF_BYTES + 1,
};
static const char suffix[] = ".asked";

/* ---- the secret ---- */

/* Returns the path of ~/.cache, or of its directory "mkperf" with mkperf's own files, or NULL if
 * there is no home. */
static char *cache_path(const char *below)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (xdg != NULL && xdg[0] == '/') {
        return mkperf_xprintf("%s%s", xdg, below);
    }
    return home != NULL && home[0] == '/' ? mkperf_xprintf("%s/.cache%s", home, below) : NULL;
}

/* Returns whether an open file or directory belongs to this user, and no other can access it. */
static bool is_private(int fd, mode_t type)
{
    struct stat st;

    return fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type &&
           (st.st_mode & OTHERS) == 0 && st.st_uid == geteuid();
}

static bool read_secret(uint8_t key[MKPERF_KEY_BYTES])
{
    char *path = cache_path("/mkperf/secret");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    bool whole = is_private(fd, S_IFREG) && read(fd, key, MKPERF_KEY_BYTES) == MKPERF_KEY_BYTES;

    if (fd >= 0) {
        close(fd);
    }
    free(path);
    return whole;
}

/* Makes a secret, unless there is one. If two commands make one at once, the first one's
 * remains. */
static void make_secret(void)
{
    char *cache = cache_path(""), *directory = cache_path("/mkperf"),
         *path = cache_path("/mkperf/secret"), *new = cache_path("/mkperf/secret.XXXXXX");
    uint8_t key[MKPERF_KEY_BYTES];
    int fd = -1;

    if (new != NULL && getrandom(key, sizeof key, 0) == (ssize_t)sizeof key) {
        (void)mkdir(cache, S_IRWXU);
        (void)mkdir(directory, S_IRWXU);
        fd = mkostemp(new, O_CLOEXEC);
    }
    if (fd >= 0) {
        bool whole = write(fd, key, sizeof key) == (ssize_t)sizeof key;
        if (close(fd) == 0 && whole && link(new, path) != 0) {
            errno = 0; /* there is one, or none can be made: read_secret shows which */
        }
        unlink(new);
    }
    mbedtls_platform_zeroize(key, sizeof key);
    free(cache);
    free(directory);
    free(path);
    free(new);
}

/* ---- identities ---- */

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

bool mkperf_snapshot_begin(struct mkperf_snapshot *s, const char *recording, const char *question)
{
    struct stat st;

    *s = (struct mkperf_snapshot){.recording = recording};
    if (question != NULL && mkperf_snapshot_possible(recording) &&
        identify_both(recording, &s->of, &st) && settle(&st)) {
        s->question = mkperf_xstrdup(question);
    }
    return s->question != NULL;
}

void mkperf_snapshot_end(struct mkperf_snapshot *s)
{
    free(s->question);
    free(s->content);
    *s = (struct mkperf_snapshot){.recording = NULL};
}

/* ---- files ---- */

/* Returns the directory with the snapshots of a recording. */
static char *directory_of(const char *recording)
{
    const char *slash = strrchr(recording, '/');
    int n = slash != NULL ? (int)(slash + 1 - recording) : 0;

    return mkperf_xprintf("%.*s.%s%s", n, recording, recording + n, suffix);
}

/* Opens a directory of snapshots that is this user's. -1: there is none. */
static int open_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd >= 0 && !is_private(fd, S_IFDIR)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void hash(const uint8_t key[MKPERF_KEY_BYTES], const struct mkperf_snapshot *s,
                 const uint8_t *p, size_t n, uint8_t mac[MKPERF_HMAC_BYTES])
{
    struct mkperf_hmac h;

    mkperf_hmac_begin(&h, key);
    mkperf_hmac_add(&h, &s->of, sizeof s->of);
    mkperf_hmac_add(&h, s->question, strlen(s->question) + 1);
    mkperf_hmac_add(&h, p, n);
    mkperf_hmac_end(&h, mac);
}

/* Stores the name of a question's file: the begin of a hash. */
static void name_file(const char *question, char name[NAME])
{
    uint8_t sum[MKPERF_HMAC_BYTES];

    (void)mbedtls_sha256_ret((const uint8_t *)question, strlen(question), sum, 0);
    for (unsigned i = 0; i < MKPERF_PROOF_BYTES; i++) {
        snprintf(name + 2 * (size_t)i, 3, "%02x", sum[i]);
    }
}

/* Reads a file of at most MKPERF_SNAPSHOT_BYTES and a head. NULL: there is none. */
static uint8_t *read_file(int directory, const char *name, size_t *n)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    uint8_t *p = NULL;
    struct stat st;

    *n = 0;
    if (is_private(fd, S_IFREG) && fstat(fd, &st) == 0 && st.st_size > 0 &&
        st.st_size <= MKPERF_SNAPSHOT_BYTES + MKPERF_HMAC_BYTES) {
        p = malloc((size_t)st.st_size);
        while (p != NULL && *n < (size_t)st.st_size) {
            ssize_t got = read(fd, p + *n, (size_t)st.st_size - *n);
            if (got <= 0) {
                break;
            }
            *n += (size_t)got;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return p;
}

const uint8_t *mkperf_snapshot_read(struct mkperf_snapshot *s, size_t *n)
{
    uint8_t key[MKPERF_KEY_BYTES], mac[MKPERF_HMAC_BYTES];
    char *path = directory_of(s->recording), name[NAME];
    int directory = open_directory(path);
    const uint8_t *body = NULL;
    size_t all = 0;

    if (directory >= 0 && read_secret(key)) {
        name_file(s->question, name);
        s->content = read_file(directory, name, &all);
        if (s->content != NULL && all >= sizeof mac) {
            *n = all - sizeof mac;
            hash(key, s, s->content + sizeof mac, *n, mac);
            body = mkperf_auth_same(mac, s->content, sizeof mac) ? s->content + sizeof mac : NULL;
        }
    }
    mbedtls_platform_zeroize(key, sizeof key);
    if (directory >= 0) {
        close(directory);
    }
    free(path);
    return body;
}

/* Calls visit for each entry of a directory. */
static void each_entry(int directory, void (*visit)(void *self, int directory, const char *name),
                       void *self)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (d == NULL && fd >= 0) {
        close(fd);
    }
    while (d != NULL && (entry = readdir(d)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            visit(self, directory, entry->d_name);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
}

static void remove_file(void *self, int directory, const char *name)
{
    (void)self;
    (void)unlinkat(directory, name, 0);
}

static void remove_directory(const char *path)
{
    int directory = open_directory(path);

    if (directory >= 0) {
        each_entry(directory, remove_file, NULL);
        close(directory);
        (void)rmdir(path);
    }
}

void mkperf_snapshots_remove(const char *recording)
{
    char *path = directory_of(recording);

    remove_directory(path);
    free(path);
}

/* The oldest file of a directory, and how many there are. */
struct oldest {
    unsigned n;
    struct timespec when;
    char name[NAME_MAX + 1];
};

static void visit_older(void *self, int directory, const char *name)
{
    struct oldest *o = self;
    struct stat st;

    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    bool older = st.st_mtim.tv_sec < o->when.tv_sec ||
                 (st.st_mtim.tv_sec == o->when.tv_sec && st.st_mtim.tv_nsec < o->when.tv_nsec);
    if (o->n++ == 0 || older) {
        o->when = st.st_mtim;
        snprintf(o->name, sizeof o->name, "%s", name);
    }
}

/* Removes the directories of recordings that are gone. `self` is the path of the directory with a "/", or "". */
static void visit_gone(void *self, int directory, const char *name)
{
    size_t n = strlen(name), end = sizeof suffix - 1;
    struct stat st;

    if (name[0] != '.' || n < end + 2 || strcmp(name + n - end, suffix) != 0) {
        return;
    }
    char *recording = mkperf_xprintf("%.*s", (int)(n - end - 1), name + 1);
    if (fstatat(directory, recording, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
        char *path = mkperf_xprintf("%s%s", (const char *)self, name);
        remove_directory(path);
        free(path);
    }
    free(recording);
}

/* Makes room for one more snapshot, and removes those of recordings that are gone. */
static void tidy(const char *recording, int directory)
{
    const char *slash = strrchr(recording, '/');
    char *before =
        mkperf_xprintf("%.*s", slash != NULL ? (int)(slash + 1 - recording) : 0, recording);
    int fd = open(slash != NULL ? before : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct oldest o = {.n = 0};

    each_entry(directory, visit_older, &o);
    if (o.n > MKPERF_SNAPSHOTS) {
        (void)unlinkat(directory, o.name, 0);
    }
    if (fd >= 0) {
        each_entry(fd, visit_gone, before);
        close(fd);
    }
    free(before);
}

void mkperf_snapshot_write(const struct mkperf_snapshot *s, const uint8_t *p, size_t n)
{
    uint8_t key[MKPERF_KEY_BYTES], mac[MKPERF_HMAC_BYTES];
    char *path = directory_of(s->recording), name[NAME], partial[NAME + 32];
    bool has_key = n <= MKPERF_SNAPSHOT_BYTES;
    struct mkperf_snapshot_of now = {.number = {{0}}};
    struct stat st;

    if (has_key && !read_secret(key)) {
        make_secret();
        has_key = read_secret(key);
    }
    if (has_key) {
        (void)mkdir(path, S_IRWXU);
        int directory = open_directory(path), fd = -1;
        name_file(s->question, name);
        snprintf(partial, sizeof partial, "%s.%jd", name, (intmax_t)getpid());
        if (directory >= 0) {
            fd = openat(directory, partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        S_IRUSR | S_IWUSR);
        }
        if (fd >= 0) {
            hash(key, s, p, n, mac);
            bool whole = mkperf_write_all(fd, mac, sizeof mac) == sizeof mac &&
                         mkperf_write_all(fd, p, n) == n;
            whole = close(fd) == 0 && whole && identify_both(s->recording, &now, &st) &&
                    memcmp(&now, &s->of, sizeof now) == 0;
            if (!whole || renameat(directory, partial, directory, name) != 0) {
                (void)unlinkat(directory, partial, 0);
            }
        }
        if (directory >= 0) {
            tidy(s->recording, directory);
            close(directory);
        }
    }
    mbedtls_platform_zeroize(key, sizeof key);
    free(path);
}
