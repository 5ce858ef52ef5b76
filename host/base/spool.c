/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the temporary file, and sorting in place. See spool.h. */
#include "spool.h"

#include <sys/mman.h>

enum { RECORD_MAX = 256, NEAR = 4 };

static enum mkperf_status failed(struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "temporary file: %s (TMPDIR names its directory)",
                            strerror(errno));
}

enum mkperf_status mkperf_spool_open(struct mkperf_spool *s, size_t size, struct mkperf_error *e)
{
    const char *directory = getenv("TMPDIR");
    char *path = NULL;

    *s = (struct mkperf_spool){.size = size};
    assert(size <= RECORD_MAX);
    if (asprintf(&path, "%s/mkperf-XXXXXX",
                 directory != NULL && *directory ? directory : "/var/tmp") < 0) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
        s->file = fdopen(fd, "w+");
        if (s->file == NULL) {
            close(fd);
        }
    }
    free(path);
    return s->file != NULL ? MKPERF_OK : failed(e);
}

enum mkperf_status mkperf_spool_add(struct mkperf_spool *s, const void *record,
                                    struct mkperf_error *e)
{
    if (fwrite(record, s->size, 1, s->file) != 1) {
        return failed(e);
    }
    s->count++;
    return MKPERF_OK;
}

enum mkperf_status mkperf_spool_map(struct mkperf_spool *s, struct mkperf_error *e)
{
    if (fflush(s->file) != 0) {
        return failed(e);
    }
    if (s->count == 0) {
        return MKPERF_OK;
    }
    s->map = mmap(NULL, s->size * s->count, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(s->file), 0);
    if (s->map == MAP_FAILED) {
        s->map = NULL;
        return failed(e);
    }
    return MKPERF_OK;
}

size_t mkperf_spool_read(struct mkperf_spool *s, size_t first, void *records, size_t n)
{
    size_t got = 0, left = first < s->count ? s->count - first : 0;

    n = n < left ? n : left;
    if (n == 0 || fflush(s->file) != 0) {
        return 0;
    }
    while (got < n * s->size) {
        ssize_t part = pread(fileno(s->file), (char *)records + got, n * s->size - got,
                             (off_t)(first * s->size + got));
        if (part <= 0) {
            return 0;
        }
        got += (size_t)part;
    }
    return n;
}

size_t mkperf_spool_last(struct mkperf_spool *s, void *records, size_t n)
{
    return mkperf_spool_read(s, n < s->count ? s->count - n : 0, records, n);
}

static char *at(const struct mkperf_spool *s, size_t i)
{
    return (char *)s->map + i * s->size;
}

/* Moves record i down in the heap of the first n records, until neither of its children is larger. */
static void sift_down(struct mkperf_spool *s, size_t i, size_t n,
                      int (*compare)(const void *a, const void *b))
{
    _Alignas(8) char moving[RECORD_MAX];

    memcpy(moving, at(s, i), s->size);
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n) {
            break;
        }
        if (child + 1 < n && compare(at(s, child), at(s, child + 1)) < 0) {
            child++;
        }
        if (compare(moving, at(s, child)) >= 0) {
            break;
        }
        memcpy(at(s, i), at(s, child), s->size);
        i = child;
    }
    memcpy(at(s, i), moving, s->size);
}

/* Sorts by insertion, with at most NEAR moves per record on average. That is enough for records of several cores, which are
 * nearly sorted. False: the records are only partly sorted. */
static bool insertion_sort(struct mkperf_spool *s, int (*compare)(const void *a, const void *b))
{
    size_t moves = NEAR * s->count;
    _Alignas(8) char moving[RECORD_MAX];

    for (size_t i = 1; i < s->count; i++) {
        size_t to = i;
        if (compare(at(s, i - 1), at(s, i)) <= 0) {
            continue;
        }
        memcpy(moving, at(s, i), s->size);
        for (; to > 0 && moves > 0 && compare(at(s, to - 1), moving) > 0; to--, moves--) {
            memcpy(at(s, to), at(s, to - 1), s->size);
        }
        memcpy(at(s, to), moving, s->size);
        if (moves == 0) {
            return false;
        }
    }
    return true;
}

void mkperf_spool_sort(struct mkperf_spool *s, int (*compare)(const void *a, const void *b))
{
    _Alignas(8) char last[RECORD_MAX];

    if (insertion_sort(s, compare)) {
        return;
    }
    for (size_t i = s->count / 2; i-- > 0;) {
        sift_down(s, i, s->count, compare);
    }
    for (size_t n = s->count; n-- > 1;) {
        memcpy(last, at(s, n), s->size);
        memcpy(at(s, n), at(s, 0), s->size);
        memcpy(at(s, 0), last, s->size);
        sift_down(s, 0, n, compare);
    }
}

void mkperf_spool_close(struct mkperf_spool *s)
{
    if (s->map != NULL) {
        munmap(s->map, s->size * s->count);
    }
    if (s->file != NULL) {
        (void)fclose(s->file);
    }
    s->map = NULL;
    s->file = NULL;
}
