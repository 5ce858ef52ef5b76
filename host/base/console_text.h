/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target's console text, in lines that may be printed: without escape sequences (ECMA-48:
 * colours, cursor movements) and as printable.h has it. For the commands that show such text.
 */
#ifndef MKPERF_HOST_BASE_CONSOLE_TEXT_H
#define MKPERF_HOST_BASE_CONSOLE_TEXT_H

#include <stddef.h>

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
