/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see outfile.h. */
#include "outfile.h"

#include <math.h>

void mkperf_textout_put(struct mkperf_textout *t, const void *p, size_t n)
{
    if (n > 0) {
        t->last = ((const char *)p)[n - 1];
    }
    if (t->over != NULL) {
        (void)fwrite(p, 1, n, t->over); /* the stream's owner asks it for errors */
    } else {
        mkperf_outfile_write(&t->out, p, n);
    }
}

void mkperf_textout_puts(struct mkperf_textout *t, const char *s)
{
    mkperf_textout_put(t, s, strlen(s));
}

void mkperf_textout_u64(struct mkperf_textout *t, uint64_t n)
{
    char digits[20], *at = digits + sizeof digits;

    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    mkperf_textout_put(t, at, (size_t)(digits + sizeof digits - at));
}

void mkperf_textout_printf(struct mkperf_textout *t, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    mkperf_textout_put(t, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

void mkperf_textout_ms(struct mkperf_textout *t, uint64_t ns)
{
    char fraction[8];

    mkperf_textout_u64(t, ns / 1000000);
    if (ns % 1000000 != 0) {
        snprintf(fraction, sizeof fraction, ".%06u", (unsigned)(ns % 1000000));
        mkperf_textout_put(t, fraction, 7);
    }
}

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Bytes that no form escapes: most of what is written. */
static const bool ordinary[256] = {
    [' ' ... '!'] = true, ['#' ... '%'] = true, ['\'' ... ':'] = true,
    ['=' ... '='] = true, ['?' ... '['] = true, [']' ... '~'] = true,
};

/* What is written instead of an ASCII character; NULL: the character itself. */
typedef const char *const escapes[128];
static escapes
    json = {['"'] = "\\\"", ['\\'] = "\\\\"},
    frame = {[';'] = ":"}, field = {['"'] = "\"\""}, nothing,
    xml = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\n'] = "&#10;"};

/* Writes s. control: the form of other control characters. */
static void put_escaped(struct mkperf_textout *t, const char *s, escapes of, const char *control)
{
    const char *from = s;
    char room[8];

    while (*s != '\0') {
        unsigned char c = (unsigned char)*s;
        if (ordinary[c]) {
            s++;
            continue;
        }
        size_t n = mkperf_utf8(s);
        const char *instead = n == 1 ? of[c] : mkperf_printable_char(s) == 0 ? replacement : NULL;
        if (instead == NULL && (c < 0x20 || c == 0x7f)) {
            snprintf(room, sizeof room, control, c);
            instead = room;
        }
        n = n > 0 ? n : 1;
        if (instead != NULL) {
            mkperf_textout_put(t, from, (size_t)(s - from));
            mkperf_textout_puts(t, instead);
            from = s + n;
        }
        s += n;
    }
    mkperf_textout_put(t, from, (size_t)(s - from));
}

static void put_quoted(struct mkperf_textout *t, const char *s, escapes of, const char *control)
{
    mkperf_textout_put(t, "\"", 1);
    put_escaped(t, s, of, control);
    mkperf_textout_put(t, "\"", 1);
}

void mkperf_textout_xml(struct mkperf_textout *t, const char *s)
{
    put_escaped(t, s, xml, replacement);
}

void mkperf_textout_plain(struct mkperf_textout *t, const char *s, bool is_frame)
{
    put_escaped(t, s, is_frame ? frame : nothing, " ");
}

/* Writes the value of a conversion. `at` is behind its %. Returns the rest of the format. */
static const char *put_value(struct mkperf_textout *t, const char *at, va_list *args)
{
    char spec[24] = "%", text[64]; /* spec: the conversion without its length */
    bool wide = false;             /* 64 bits: long, long long and size_t */
    size_t n = 0, used = 1;        /* n: where the letter of the conversion is */

    for (; strchr("sudxfg", at[n]) == NULL; n++) {
        assert(n < 12);
        wide |= at[n] == 'l' || at[n] == 'z';
        if (strchr("lzh", at[n]) == NULL) {
            spec[used++] = at[n];
        }
    }
    bool name = at[n] == 's' && at[n + 1] == ':';
    if (t->separator != NULL && !name && t->last != '\n' && t->last != '\0') {
        mkperf_textout_puts(t, t->separator);
    }
    if (at[n] == 's') {
        const char *s = va_arg(*args, const char *);
        if (t->separator == NULL && s == NULL) {
            mkperf_textout_puts(t, "null");
        } else if (t->separator == NULL) {
            put_quoted(t, s, json, "\\u%04x");
        } else if (s != NULL && !name && strstr(s, t->separator) != NULL) {
            put_quoted(t, s, field, "%c");
        } else if (s != NULL && !name) {
            mkperf_textout_puts(t, s);
        }
    } else if (at[n] == 'u') {
        mkperf_textout_u64(t, wide ? va_arg(*args, uint64_t) : va_arg(*args, unsigned));
    } else if (at[0] == 'h') {
        mkperf_textout_puts(t, va_arg(*args, int) ? "true" : "false");
    } else if (at[n] == 'x' || at[n] == 'd') {
        memcpy(spec + used, at[n] == 'x' ? PRIx64 : PRId64, sizeof PRIx64);
        snprintf(text, sizeof text, spec,
                 wide           ? va_arg(*args, int64_t)
                 : at[n] == 'x' ? (int64_t)va_arg(*args, unsigned)
                                : va_arg(*args, int));
        mkperf_textout_puts(t, text);
    } else {
        double value = va_arg(*args, double);
        spec[used] = at[n];
        snprintf(text, sizeof text, spec, value);
        mkperf_textout_puts(t, isfinite(value) ? text : t->separator != NULL ? "" : "null");
    }
    if (t->separator != NULL && !name) {
        t->last = *t->separator; /* also behind an empty value */
    }
    return at + n + 1;
}

void mkperf_json(struct mkperf_textout *t, const char *format, ...)
{
    static const char type[] = "{'type':'";
    va_list args;

    va_start(args, format);
    if (t->separator != NULL && strncmp(format, type, sizeof type - 1) == 0) {
        const char *kind = format + sizeof type - 1;
        mkperf_textout_put(t, kind, strcspn(kind, "'"));
    }
    if (*format == ',' && (t->last == '[' || t->last == '{')) {
        format++;
    }
    while (*format != '\0') {
        char literal[64];
        size_t n = 0;

        for (; n < sizeof literal && *format != '%' && *format != '\0'; n++, format++) {
            literal[n] = *format;
            if (*format == '\'') {
                literal[n] = '"';
            }
        }
        bool ends = n > 0 && literal[n - 1] == '\n';
        mkperf_textout_put(t, t->separator == NULL ? literal : "\n",
                           t->separator == NULL ? n : ends);
        if (*format == '%') {
            format = put_value(t, format + 1, &args);
        }
    }
    va_end(args);
}

void mkperf_json_known(struct mkperf_textout *t, const char *key, const char *value)
{
    if (value != NULL && *value != '\0') {
        mkperf_json(t, ",%s:%s", key, value);
    }
}
