/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of characters that are not printable, and the removal of escape sequences. See base.h. */
#include "base.h"

/* Characters that print nothing and change how others are shown (Unicode 15, general category Cf
 * and the separators of lines and paragraphs). */
static const struct range {
    uint32_t first, last;
} invisible[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad},   {0x061c, 0x061c},
    {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

/* Returns the length of the UTF-8 sequence at s, or 0, and stores its code point (Unicode 15, table 3-7). */
static size_t decode(const char *s, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* of a sequence of this length */
    unsigned char first = (unsigned char)s[0];
    size_t n = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    *c = n > 1 ? first & 0xffU >> (n + 1) : first;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        *c = *c << 6 | ((unsigned char)s[i] & 0x3f);
    }
    bool surrogate = *c >= 0xd800 && *c < 0xe000, noncharacter = *c == 0xfffe || *c == 0xffff;
    return *c < least[n] || *c > 0x10ffff || first >= 0xf8 || surrogate || noncharacter ? 0 : n;
}

size_t mkperf_utf8(const char *s)
{
    uint32_t c;

    return decode(s, &c);
}

size_t mkperf_printable_char(const char *s)
{
    uint32_t c;
    size_t n = decode(s, &c);

    if (n == 1) { /* most characters are one byte */
        return c >= 0x20 && c != 0x7f ? 1 : 0;
    }
    for (size_t i = 0; i < sizeof invisible / sizeof *invisible; i++) {
        if (c >= invisible[i].first && c <= invisible[i].last) {
            return 0;
        }
    }
    return n;
}

bool mkperf_is_printable(const char *s)
{
    while (*s != '\0') {
        size_t n = mkperf_printable_char(s);
        if (n == 0) {
            return false;
        }
        s += n;
    }
    return true;
}

static void replace_hidden(char *s, const char *allowed)
{
    char *to = s;

    while (*s != '\0') {
        size_t n = strchr(allowed, *s) != NULL ? 1 : mkperf_printable_char(s);
        if (s[0] == '\r' && s[1] == '\n' && *allowed != '\0') {
            n = 1;
        } else if (n != 0) {
            memmove(to, s, n);
            to += n;
        } else {
            n = mkperf_utf8(s);
            *to++ = '?';
        }
        s += n != 0 ? n : 1;
    }
    *to = '\0';
}

void mkperf_printable(char *s)
{
    replace_hidden(s, "");
}

void mkperf_printable_lines(char *s)
{
    replace_hidden(s, "\n\t");
}

const char *mkperf_printable_copy(const char *s, char *buffer, size_t n)
{
    if (s == NULL || mkperf_is_printable(s)) {
        return s;
    }
    snprintf(buffer, n, "%s", s);
    mkperf_printable(buffer);
    return buffer;
}

/* Follows the escape sequences of a stream, and returns whether this byte is text. A control byte ends a sequence. */
static bool take_byte(struct mkperf_console_text *t, unsigned char c)
{
    if (c < 0x20) {
        t->state = c == 0x1b ? MKPERF_TEXT_ESCAPE : MKPERF_TEXT_PLAIN;
        return c == '\t';
    }
    switch (t->state) {
    case MKPERF_TEXT_ESCAPE: /* ESC [ begins a sequence; ESC with another byte is a whole one */
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
        mkperf_printable_lines(t->line); /* keeps tabs; the line has no newline */
        t->print(t->self, t->line);
    }
}

void mkperf_console_text_add(struct mkperf_console_text *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\n' || t->n == MKPERF_CONSOLE_LINE) {
            mkperf_console_text_end(t);
        }
        if (take_byte(t, (unsigned char)p[i])) {
            t->line[t->n++] = p[i];
        }
    }
}
