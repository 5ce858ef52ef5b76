/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: a target's console text in lines, see console_text.h. */
#include "console_text.h"

#include <stdbool.h>

#include "printable.h"

/* Whether the byte is text. A control byte ends an escape sequence. */
static bool is_text(struct mkperf_console_text *t, unsigned char c)
{
    if (c < 0x20) {
        t->state = c == 0x1b ? MKPERF_TEXT_ESCAPE : MKPERF_TEXT_PLAIN;
        return c == '\t';
    }
    switch (t->state) {
    case MKPERF_TEXT_ESCAPE: /* ESC [ begins a sequence, ESC and another byte are all of one */
        t->state = c == '[' ? MKPERF_TEXT_SEQUENCE : MKPERF_TEXT_PLAIN;
        return false;
    case MKPERF_TEXT_SEQUENCE: /* parameters, up to a final byte */
        t->state = c < 0x40 ? MKPERF_TEXT_SEQUENCE : MKPERF_TEXT_PLAIN;
        return false;
    default:
        return true;
    }
}

void mkperf_console_text_end(struct mkperf_console_text *t)
{
    if (t->n > 0) {
        t->line[t->n] = '\0';
        t->n = 0;
        mkperf_printable_lines(t->line); /* for its tabs: there is no newline in it */
        t->print(t->self, t->line);
    }
}

void mkperf_console_text_add(struct mkperf_console_text *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\n' || t->n == MKPERF_CONSOLE_LINE) {
            mkperf_console_text_end(t);
        }
        if (is_text(t, (unsigned char)p[i])) {
            t->line[t->n++] = p[i];
        }
    }
}
