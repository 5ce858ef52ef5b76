/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the temporary file, and sorting in place. See outfile.h. */
#include "outfile.h"

#include <sys/mman.h>

enum { RECORD_MAX = 256 };

static enum mkperf_status spool_failed(struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "temporary file: %s (TMPDIR names its directory)",
                            strerror(errno));
}

enum mkperf_status mkperf_spool_open(struct mkperf_spool *s, size_t size, struct mkperf_error *e)
{
    const char *directory = getenv("TMPDIR");

    *s = (struct mkperf_spool){.size = size};
    assert(size <= RECORD_MAX);
    char *path = mkperf_xprintf("%s/mkperf-XXXXXX",
                                directory != NULL && *directory ? directory : "/var/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
        s->file = fdopen(fd, "w+");
        if (s->file == NULL) {
            close(fd);
        }
    }
    free(path);
    return s->file != NULL ? MKPERF_OK : spool_failed(e);
}

enum mkperf_status mkperf_spool_add(struct mkperf_spool *s, const void *record,
                                    struct mkperf_error *e)
{
    if (fwrite(record, s->size, 1, s->file) != 1) {
        return spool_failed(e);
    }
    s->count++;
    return MKPERF_OK;
}

enum mkperf_status mkperf_spool_map(struct mkperf_spool *s, struct mkperf_error *e)
{
    if (fflush(s->file) != 0) {
        return spool_failed(e);
    }
    if (s->count == 0) {
        return MKPERF_OK;
    }
    s->map = mmap(NULL, s->size * s->count, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(s->file), 0);
    if (s->map == MAP_FAILED) {
        s->map = NULL;
        return spool_failed(e);
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

/* Sorts the records with Shell's sort: most spools are in order, or nearly, and it takes no memory. */
void mkperf_spool_sort(struct mkperf_spool *s, struct mkperf_sort_key *keys)
{
    _Alignas(8) char moving[RECORD_MAX];
    size_t gap = 1, sorted = 1;

    while (sorted < s->count && mkperf_compare_by(at(s, sorted - 1), at(s, sorted), keys) <= 0) {
        sorted++;
    }
    while (gap < s->count / 3) {
        gap = 3 * gap + 1;
    }
    for (; sorted < s->count && gap > 0; gap /= 3) {
        for (size_t i = gap; i < s->count; i++) {
            size_t to = i;
            if (mkperf_compare_by(at(s, i - gap), at(s, i), keys) <= 0) {
                continue;
            }
            memcpy(moving, at(s, i), s->size);
            for (; to >= gap && mkperf_compare_by(at(s, to - gap), moving, keys) > 0; to -= gap) {
                memcpy(at(s, to), at(s, to - gap), s->size);
            }
            memcpy(at(s, to), moving, s->size);
        }
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
