/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the end of a process that has no memory, see xalloc.h. */
#include "xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

enum { FIRST = 64 };

void (*mkperf_out_of_memory)(void);

void mkperf_die(void)
{
    void (*last)(void) = mkperf_out_of_memory;

    mkperf_out_of_memory = NULL; /* if it runs out of memory itself, it is not called again */
    if (last != NULL) {
        last();
    }
    fputs("mkperf: out of memory\n", stderr);
    exit(MKPERF_ERR_FAILED);
}

void *mkperf_xcalloc(size_t n, size_t size)
{
    void *p = calloc(n != 0 ? n : 1, size);

    if (p == NULL) {
        mkperf_die();
    }
    return p;
}

void *mkperf_xrealloc(void *p, size_t n, size_t size)
{
    p = reallocarray(p, n != 0 ? n : 1, size);
    if (p == NULL) {
        mkperf_die();
    }
    return p;
}

char *mkperf_xstrdup(const char *text)
{
    char *copy = text != NULL ? strdup(text) : NULL;

    if (copy == NULL && text != NULL) {
        mkperf_die();
    }
    return copy;
}

char *mkperf_xprintf(const char *format, ...)
{
    va_list list;
    char *text;

    va_start(list, format);
    int n = vasprintf(&text, format, list);
    va_end(list);
    if (n < 0) {
        mkperf_die();
    }
    return text;
}

FILE *mkperf_memstream_open(char **text, size_t *n)
{
    FILE *f = open_memstream(text, n);

    if (f == NULL) {
        mkperf_die();
    }
    return f;
}

void mkperf_memstream_close(FILE *f)
{
    if (fclose(f) != 0) {
        mkperf_die();
    }
}

size_t mkperf_room(size_t room, size_t n)
{
    if (room > SIZE_MAX / 2) {
        mkperf_die();
    }
    room = room != 0 ? 2 * room : FIRST;
    return room > n ? room : n;
}

void *mkperf_xgrow(void *p, size_t from, size_t to, size_t size)
{
    if (to < from) { /* the type that counts the room was too small */
        mkperf_die();
    }
    p = mkperf_xrealloc(p, to, size);
    memset((char *)p + from * size, 0, (to - from) * size);
    return p;
}
