/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file being written: one large buffer, patches, and the right name only when it is whole.
 *
 * Owns: the descriptor, the buffer, the temporary name. Used by sinks and for raw captures. What
 * is in the buffer is lost if the process is killed (not if it has no memory); the buffer always
 * holds whole records. An open file stays where it is in memory.
 */
#ifndef MKPERF_HOST_BASE_OUTFILE_H
#define MKPERF_HOST_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum { MKPERF_OUTFILE_BUFFER = 256 * 1024 };

struct mkperf_outfile {
    int fd; /* -1: closed */
    char *path;
    bool stream;      /* a pipe or standard output: nothing can be patched */
    bool keep_old;    /* an older file of that name, when this one is finished */
    char *partial;    /* the name until it is finished; NULL: written in place */
    uint64_t written; /* bytes that the kernel has taken */
    uint64_t
        passed; /* bytes that left the buffer: more than `written` if a filter made them fewer */
    /* Takes what leaves the buffer, and writes with mkperf_outfile_write_through; NULL: none. */
    enum mkperf_status (*filter)(void *self, const uint8_t *p, size_t n, struct mkperf_error *e);
    void *filter_self;
    size_t used; /* bytes in the buffer */
    uint8_t *buffer;
};

/* Creates path (as path + ".partial" if it is, or will be, a regular file); "-": standard output.
 */
enum mkperf_status mkperf_outfile_open(struct mkperf_outfile *o, const char *path,
                                       struct mkperf_error *e);

/*
 * The same for recordings, as perf has it: only the user can read the file, since it shows
 * what a system does; and a file that was there becomes path + ".old" when this one is finished.
 */
enum mkperf_status mkperf_outfile_open_private(struct mkperf_outfile *o, const char *path,
                                               struct mkperf_error *e);

/* Continues the file `from`, cut to n bytes; its name will be path (may be the same). */
enum mkperf_status mkperf_outfile_adopt(struct mkperf_outfile *o, const char *from, uint64_t n,
                                        const char *path, struct mkperf_error *e);

/* Room for n contiguous bytes, at most MKPERF_OUTFILE_BUFFER; NULL with *e set. */
uint8_t *mkperf_outfile_reserve_slow(struct mkperf_outfile *o, size_t n, struct mkperf_error *e);

static inline uint8_t *mkperf_outfile_reserve(struct mkperf_outfile *o, size_t n,
                                              struct mkperf_error *e)
{
    if (n <= MKPERF_OUTFILE_BUFFER - o->used) {
        return o->buffer + o->used;
    }
    return mkperf_outfile_reserve_slow(o, n, e);
}

static inline void mkperf_outfile_commit(struct mkperf_outfile *o, size_t n)
{
    o->used += n;
}

/* The position of the next byte; with a filter only after a flush. */
static inline uint64_t mkperf_outfile_offset(const struct mkperf_outfile *o)
{
    return o->written + o->used;
}

/* All bytes that were handed over, before any filter. */
static inline uint64_t mkperf_outfile_taken(const struct mkperf_outfile *o)
{
    return o->passed + o->used;
}

/* Appends n bytes of any number. */
enum mkperf_status mkperf_outfile_write(struct mkperf_outfile *o, const void *p, size_t n,
                                        struct mkperf_error *e);
enum mkperf_status mkperf_outfile_flush(struct mkperf_outfile *o, struct mkperf_error *e);
/* For the filter: n bytes into the file, past the buffer. */
enum mkperf_status mkperf_outfile_write_through(struct mkperf_outfile *o, const uint8_t *p,
                                                size_t n, struct mkperf_error *e);

/* Replaces n bytes at offset, all of them written before. */
enum mkperf_status mkperf_outfile_patch(struct mkperf_outfile *o, uint64_t offset, const void *p,
                                        size_t n, struct mkperf_error *e);

/* Flushes, closes and gives the file its name. */
enum mkperf_status mkperf_outfile_finish(struct mkperf_outfile *o, struct mkperf_error *e);

/* Closes without renaming: the written part stays under the temporary name. Idempotent. */
void mkperf_outfile_close(struct mkperf_outfile *o);

#endif
