/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of fixed size: see text.h for ownership and callers, and for text that is cut. */
#include "text.h"

struct mkperf_text mkperf_text_begin(char *buffer, size_t n)
{
    buffer[0] = '\0';
    return (struct mkperf_text){.out = buffer, .room = n};
}

static void put_char(struct mkperf_text *t, char c)
{
    if (t->room > 1) {
        *t->out++ = c;
        *t->out = '\0';
        t->room--;
    }
}

void mkperf_text_put(struct mkperf_text *t, const char *s)
{
    while (*s != '\0' && t->room > 1) {
        put_char(t, *s++);
    }
}

static void put_number(struct mkperf_text *t, uint64_t value, unsigned base)
{
    char digits[20];
    unsigned n = 0;

    do {
        digits[n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (n > 0) {
        put_char(t, digits[--n]);
    }
}

void mkperf_text_vprint(struct mkperf_text *t, const char *format, va_list values)
{
    for (; *format != '\0'; format++) {
        if (*format != '%') {
            put_char(t, *format);
            continue;
        }
        bool is_long = format[1] == 'l';
        format += is_long ? 2 : 1;
        if (*format == 's') {
            mkperf_text_put(t, va_arg(values, const char *));
        } else {
            uint64_t value = is_long ? va_arg(values, uint64_t) : va_arg(values, uint32_t);
            put_number(t, value, *format == 'x' ? 16 : 10);
        }
    }
}

void mkperf_text_print(struct mkperf_text *t, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    mkperf_text_vprint(t, format, values);
    va_end(values);
}

void mkperf_text_copy(char *to, const char *from, size_t n)
{
    size_t i = 0;

    for (; i + 1 < n && from[i] != '\0'; i++) {
        to[i] = from[i];
    }
    for (; i < n; i++) {
        to[i] = '\0';
    }
}

bool mkperf_text_is(const char *name, size_t n, const char *s)
{
    for (size_t i = 0; i < n; i++) {
        if (name[i] != s[i]) {
            return false;
        }
        if (s[i] == '\0') {
            return true;
        }
    }
    return false;
}
