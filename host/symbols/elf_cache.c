/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the copies of ELFs, their links and list entries, see symbols.h. */
#include "symbols_internal.h"

#include <dirent.h>
#include <sys/file.h>

enum { LOCK_TRIES = 5000, LOCK_PAUSE_NS = 2000000 };

/* A list entry, a file of DIR/.mkperf. */
struct cached_elf {
    char *id, *place;
    uint64_t bytes, used_ns;
};

char *mkperf_elf_cache_directory(void)
{
    const char *set = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");

    if (set != NULL && set[0] != '\0') {
        return mkperf_xstrdup(set);
    }
    return home != NULL && home[0] != '\0' ? mkperf_xprintf("%s/.debug", home) : NULL;
}

static enum mkperf_status failed(const char *path, struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "%s: %s", path, strerror(errno));
}

/* Makes the directories that lead to the last '/' of path. */
static enum mkperf_status make_directories(const char *path, struct mkperf_error *e)
{
    char *at = mkperf_xstrdup(path);

    for (char *slash = strchr(at + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(at, 0777) != 0 && errno != EEXIST) {
            failed(at, e);
            free(at);
            return e->status;
        }
        *slash = '/';
    }
    free(at);
    return MKPERF_OK;
}

/* Returns a descriptor that holds the lock until it is closed; -1 with *e set. */
static int lock_cache(const char *directory, struct mkperf_error *e)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    char *path = mkperf_xprintf("%s/.mkperf/lock", directory);
    int fd = -1, locked = -1;

    if (make_directories(path, e) != MKPERF_OK) {
        free(path);
        return -1;
    }
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    for (unsigned i = 0; fd >= 0 && i < LOCK_TRIES && locked != 0; i++) {
        locked = flock(fd, LOCK_EX | LOCK_NB);
        if (locked != 0 && errno != EWOULDBLOCK && errno != EINTR) {
            break;
        }
        if (locked != 0) {
            nanosleep(&pause, NULL);
        }
    }
    if (locked != 0) {
        failed(path, e);
        if (fd >= 0) {
            close(fd);
        }
        fd = -1;
    }
    free(path);
    return fd;
}

static enum mkperf_status write_file(const char *path, mode_t mode, const void *bytes, size_t n,
                                     struct mkperf_error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    bool whole = fd >= 0 && mkperf_write_all(fd, bytes, n) == n;
    enum mkperf_status status = whole ? MKPERF_OK : failed(path, e);

    if (fd >= 0 && close(fd) != 0 && whole) {
        status = failed(path, e);
    }
    return status;
}

/* Returns whether the copy that `link` leads to can be opened. */
static bool is_there(const char *link)
{
    char *elf = mkperf_xprintf("%s/elf", link);
    bool there = access(elf, R_OK) == 0;

    free(elf);
    return there;
}

static enum mkperf_status keep_elf(const char *directory, const struct mkperf_module *m,
                                   uint64_t most, struct mkperf_error *e)
{
    const char *path = mkperf_module_path(m);
    struct mkperf_build_id of;
    char id[MKPERF_BUILD_ID_TEXT];
    struct stat st;

    mkperf_module_identity(m, &of);
    if (of.n < 2) { /* a link's name needs a byte for the directory and one for the file */
        return MKPERF_OK;
    }
    MKPERF_FAIL_IF(m->size > most, e, MKPERF_ERR_OUTPUT,
                   "%s has %zu bytes, all copies together may have %llu", path, m->size,
                   (unsigned long long)most);
    mkperf_build_id_text(&of, id);
    char *list = mkperf_xprintf("%s/.mkperf/%s", directory, id);
    char *link = mkperf_xprintf("%s/.build-id/%.2s/%s", directory, id, id + 2);
    char *to = mkperf_xprintf("../..%s/%s", path, id), *place = to + strlen("../..");
    char *elf = mkperf_xprintf("%s%s/elf", directory, place);
    char *partial = mkperf_xprintf("%s/.mkperf/copy", directory);
    /* The copy is not more readable than the original. */
    mode_t mode = stat(path, &st) == 0 ? (st.st_mode & 0644) | 0600 : 0600;

    /* Writes the list entry first, so that what a crash leaves can be removed later. */
    if (is_there(link)) {
        (void)utimensat(AT_FDCWD, list, NULL, 0); /* a copy that perf made has no list entry */
    } else if (write_file(list, 0666, place, strlen(place), e) == MKPERF_OK &&
               make_directories(elf, e) == MKPERF_OK && make_directories(link, e) == MKPERF_OK &&
               write_file(partial, mode, m->bytes, m->size, e) == MKPERF_OK) {
        if (rename(partial, elf) != 0) {
            failed(elf, e);
        } else if ((unlink(link) != 0 && errno != ENOENT) || symlink(to, link) != 0) {
            failed(link, e);
        }
    }
    unlink(partial);
    free(list);
    free(link);
    free(to);
    free(elf);
    free(partial);
    return e->status;
}

/* Reads the list entry `id`, which has the place PATH/ID, into *x. False: mkperf did not write it, or its copy is gone. */
static bool read_entry(const char *directory, const char *id, struct cached_elf *x)
{
    char *list = mkperf_xprintf("%s/.mkperf/%s", directory, id), text[4096 + 64];
    struct stat used = {0}, st = {0};
    size_t n_id = strlen(id), n = 0;
    bool good = false;
    FILE *f = strspn(id, "0123456789abcdef") == n_id && n_id >= 4 ? fopen(list, "re") : NULL;

    if (f != NULL) {
        n = fstat(fileno(f), &used) == 0 ? fread(text, 1, sizeof text - 1, f) : 0;
        (void)fclose(f);
    }
    text[n] = '\0';
    if (n > n_id + 1 && text[0] == '/' && text[n - n_id - 1] == '/' &&
        strcmp(text + n - n_id, id) == 0 && strstr(text, "/../") == NULL) {
        char *elf = mkperf_xprintf("%s%s/elf", directory, text);
        good = stat(elf, &st) == 0 && S_ISREG(st.st_mode);
        free(elf);
        if (!good) {
            unlink(list);
        }
    }
    free(list);
    if (good) {
        x->id = mkperf_xstrdup(id);
        x->place = mkperf_xstrdup(text);
        x->bytes = (uint64_t)st.st_size;
        x->used_ns = (uint64_t)used.st_mtim.tv_sec * UINT64_C(1000000000) +
                     (uint64_t)used.st_mtim.tv_nsec;
    }
    return good;
}

static void remove_oldest(const char *directory, uint64_t most)
{
    char *lists = mkperf_xprintf("%s/.mkperf", directory);
    DIR *d = opendir(lists);
    const struct dirent *item;
    struct cached_elf *entry = NULL;
    size_t n = 0, room = 0;
    uint64_t sum = 0;

    while (d != NULL && (item = readdir(d)) != NULL) {
        MKPERF_GROW(entry, room, n + 1);
        if (read_entry(directory, item->d_name, &entry[n])) {
            sum += entry[n++].bytes;
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    MKPERF_SORT(entry, n, MKPERF_UP(entry, used_ns));
    for (size_t i = 0; i < n; i++) {
        if (sum > most) {
            sum -= entry[i].bytes;
            /* Removes the copy, its link, its list entry, and directories that are empty then. */
            const struct cached_elf *x = &entry[i];
            char *path = mkperf_xprintf("%s%s/elf", directory, x->place);
            char *link = mkperf_xprintf("%s/.build-id/%.2s/%s", directory, x->id, x->id + 2);
            char *list = mkperf_xprintf("%s/%s", lists, x->id);
            unlink(path);
            if (!is_there(link)) {
                unlink(link);
            }
            unlink(list);
            for (char *slash; (slash = strrchr(path + strlen(directory) + 1, '/')) != NULL;) {
                *slash = '\0';
                if (rmdir(path) != 0) {
                    break;
                }
            }
            free(path);
            free(link);
            free(list);
        }
        free(entry[i].id);
        free(entry[i].place);
    }
    free(entry);
    free(lists);
}

enum mkperf_status mkperf_elf_cache_keep(const char *directory, struct mkperf_module *const *elf,
                                         size_t n, uint64_t most, struct mkperf_error *e)
{
    struct mkperf_error first = {.status = MKPERF_OK};
    int held = lock_cache(directory, e);

    if (held < 0) {
        return e->status;
    }
    for (size_t i = 0; i < n; i++) {
        struct mkperf_error one = {.status = MKPERF_OK};
        if (keep_elf(directory, elf[i], most, &one) != MKPERF_OK && first.status == MKPERF_OK) {
            first = one;
        }
    }
    remove_oldest(directory, most);
    close(held);
    if (first.status != MKPERF_OK) {
        *e = first;
    }
    return first.status;
}
