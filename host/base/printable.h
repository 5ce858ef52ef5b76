/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes text from elsewhere printable: the one place that decides what may be printed.
 *
 * Names and messages arrive from targets, recordings, ELFs and other hosts. Printed unchanged,
 * they could move the cursor, change colours, begin new lines or reverse the order of the text
 * around them. Called where such text enters mkperf (wire messages, symbols, perf.data)
 * and for each message that quotes it.
 */
#ifndef MKPERF_HOST_BASE_PRINTABLE_H
#define MKPERF_HOST_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the length of the UTF-8 sequence at s, 0 if there is no valid one. s ends with NUL. */
size_t mkperf_utf8(const char *s);

/*
 * Returns the length in bytes of the printable character at s; 0: the character is a control
 * character (C0, C1, DEL), a bidirectional or another invisible control, or no UTF-8.
 */
size_t mkperf_printable_char(const char *s);

bool mkperf_is_printable(const char *s);

/* Replaces each character of s that is not printable by '?', in place. s never grows. */
void mkperf_printable(char *s);

/* Does so in text of several lines. Newlines and tabs are kept; a carriage return before a newline is dropped. */
void mkperf_printable_lines(char *s);

/*
 * Returns s if it is printable or NULL, else a printable copy of its beginning in buffer (n bytes,
 * n > 0). For paths, which must not be changed.
 */
const char *mkperf_printable_copy(const char *s, char *buffer, size_t n);

enum { MKPERF_PRINTABLE_PATH = 512 }; /* a buffer for a path in a message */

/* Prints one line, its end included, of at most 1023 printable bytes. For warnings and notices. */
void mkperf_print_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * ---- a target's console text, in printable lines without escape sequences (ECMA-48: colours, cursor movements) ----
 */

enum { MKPERF_CONSOLE_LINE = 512 }; /* longer lines are cut into several */

struct mkperf_console_text {
    char line[MKPERF_CONSOLE_LINE + 1];
    size_t n;
    enum { MKPERF_TEXT_PLAIN, MKPERF_TEXT_ESCAPE, MKPERF_TEXT_SEQUENCE } state;
    void (*print)(void *self, const char *line); /* set by the caller; lines are not empty */
    void *self;
};

/* Appends n bytes and prints the lines that they end. */
void mkperf_console_text_add(struct mkperf_console_text *t, const char *p, size_t n);

/* Prints what was received since the last end of a line. */
void mkperf_console_text_end(struct mkperf_console_text *t);

#endif
