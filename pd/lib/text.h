/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text of fixed size, for error messages and names.
 *
 * Owns: a cursor over a caller's buffer. The text is NUL-terminated after every call; text that
 * does not fit is cut. Used by the target PDs; no state, no libc.
 */
#ifndef MKPERF_TEXT_H
#define MKPERF_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mkperf_text {
    char *out;
    size_t room; /* bytes at out, at least 1 */
};

/* n: bytes of the buffer, at least 1. */
struct mkperf_text mkperf_text_begin(char *buffer, size_t n);
void mkperf_text_put(struct mkperf_text *t, const char *s);
/* Appends text as printf would. The format may contain %s, %u and %x for 32 bits, and %lu and %lx
 * for 64 bits, and no other conversion. */
__attribute__((format(printf, 2, 3))) void mkperf_text_print(struct mkperf_text *t,
                                                             const char *format, ...);
__attribute__((format(printf, 2, 0))) void mkperf_text_vprint(struct mkperf_text *t,
                                                              const char *format, va_list values);

/* Copies the string at `from`, which may lack its NUL, and cuts it; both hold n bytes. */
void mkperf_text_copy(char *to, const char *from, size_t n);

/* Returns whether the n bytes at name hold exactly the string s and its NUL. */
bool mkperf_text_is(const char *name, size_t n, const char *s);

#endif
