/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a command cannot do without.
 *
 * Owns: what happens when there is none: a message, and the end of the process with
 * MKPERF_ERR_FAILED. Files that are being written keep what was received (mkperf_out_of_memory).
 * Not for sizes that an input states: those are compared with the input's own size first.
 */
#ifndef MKPERF_HOST_BASE_XALLOC_H
#define MKPERF_HOST_BASE_XALLOC_H

#include <stddef.h>
#include <stdio.h>

/* Called once before the process ends, if it is set. */
extern void (*mkperf_out_of_memory)(void);

_Noreturn void mkperf_die(void);

/* n elements, all zero; never NULL. Freed with free. */
void *mkperf_xcalloc(size_t n, size_t size);
/* As reallocarray, but never NULL. */
void *mkperf_xrealloc(void *p, size_t n, size_t size);
char *mkperf_xstrdup(const char *text); /* NULL for NULL */
char *mkperf_xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens a stream into memory. After mkperf_memstream_close *text has *n bytes and a NUL, and is freed with free. text and n
 * must be valid until then. */
FILE *mkperf_memstream_open(char **text, size_t *n);
void mkperf_memstream_close(FILE *f);

/* Returns a number of elements that is at least n and at least twice `room`. */
size_t mkperf_room(size_t room, size_t n);
/* p, grown from `from` to `to` elements; the new ones are zero. */
void *mkperf_xgrow(void *p, size_t from, size_t to, size_t size);

/* Makes room in an array for at least n elements; the new ones are zero. `room` is a variable of any unsigned type with the
 * number of elements that fit. */
#define MKPERF_GROW(array, room, n)                                                 \
    do {                                                                            \
        size_t room_before_ = (room);                                               \
        if ((n) > room_before_) {                                                   \
            (room) = mkperf_room(room_before_, (n));                                \
            (array) = mkperf_xgrow((array), room_before_, (room), sizeof *(array)); \
        }                                                                           \
    } while (0)

#endif
