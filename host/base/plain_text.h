/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a target's console text is shown: printable bytes and tabs, and of an escape sequence
 * (ECMA-48: colours, cursor movements) nothing. Used by the commands that show such text.
 */
#ifndef MKPERF_HOST_BASE_PLAIN_TEXT_H
#define MKPERF_HOST_BASE_PLAIN_TEXT_H

#include <stdbool.h>

struct mkperf_plain_text {
    enum { MKPERF_TEXT_PLAIN, MKPERF_TEXT_ESCAPE, MKPERF_TEXT_SEQUENCE } state;
};

/* Whether the next byte of the text is to be shown. A control byte ends a sequence. */
static inline bool mkperf_plain_text(struct mkperf_plain_text *t, unsigned char c)
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

#endif
