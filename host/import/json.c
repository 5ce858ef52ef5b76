/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON as a stream of tokens. While a token is read, the buffer has at least as many bytes as a token
 * may be long, or the rest of the input.
 */
#include "json.h"

#include "base/process.h"

enum { SPACE = 1, WORD = 2, STRING_END = 4, ONE = 8 }; /* classes of bytes */

static const uint8_t class_of[256] = {
    [0 ... 8] = STRING_END,
    ['\t'] = SPACE | STRING_END,
    ['\n'] = SPACE | STRING_END,
    [11 ... 12] = STRING_END,
    ['\r'] = SPACE | STRING_END,
    [14 ... 31] = STRING_END,
    [' '] = SPACE,
    ['"'] = STRING_END,
    ['\\'] = STRING_END,
    ['+'] = WORD,
    ['-'] = WORD,
    ['.'] = WORD,
    ['_'] = WORD,
    ['0' ... '9'] = WORD,
    ['A' ... 'Z'] = WORD,
    ['a' ... 'z'] = WORD,
    ['{'] = ONE,
    ['}'] = ONE,
    ['['] = ONE,
    [']'] = ONE,
    [':'] = ONE,
    [','] = ONE,
};

void mkperf_json_open(struct mkperf_json *j, const char *name, int fd)
{
    struct stat st;

    *j = (struct mkperf_json){.path = name, .fd = fd, .line = 1};
    j->size = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    j->buffer = mkperf_xcalloc(1, MKPERF_JSON_BUFFER + 1);
}

void mkperf_json_close(struct mkperf_json *j)
{
    close(j->fd);
    free(j->buffer);
    j->buffer = NULL;
}

/* Makes space for a token in the buffer. */
static __attribute__((noinline)) void fill_slow(struct mkperf_json *j)
{
    memmove(j->buffer, j->buffer + j->at, j->n - j->at);
    j->base += j->at;
    j->n -= j->at;
    j->at = 0;
    while (!j->ended && j->n < MKPERF_JSON_BUFFER / 2) {
        ssize_t got = TEMP_FAILURE_RETRY(read(j->fd, j->buffer + j->n, MKPERF_JSON_BUFFER - j->n));
        j->failed = got < 0;
        j->reason = j->failed ? strerror(errno) : NULL;
        j->n += got > 0 ? (size_t)got : 0;
        j->ended = got <= 0;
    }
    j->buffer[j->n] = 0; /* ends every scan */
    mkperf_progress(MKPERF_BYTES, (double)j->base, (double)j->size);
}

static inline void fill_buffer(struct mkperf_json *j)
{
    if (j->n - j->at <= 2 * (size_t)MKPERF_JSON_TOKEN && !j->ended) {
        fill_slow(j);
    }
}

static inline void skip_space(struct mkperf_json *j)
{
    for (;;) {
        while (class_of[j->buffer[j->at]] & SPACE) {
            if (j->buffer[j->at++] == '\n') {
                j->line++;
                j->line_start = j->base + j->at;
            }
        }
        if (j->at < j->n || j->ended) {
            return;
        }
        fill_buffer(j);
    }
}

static enum mkperf_json_token bad_token(struct mkperf_json *j, const char *reason)
{
    j->text = (const char *)j->buffer + j->at;
    j->length = j->at < j->n;
    j->at += j->length;
    j->reason = reason;
    return j->token = MKPERF_JSON_BAD;
}

static bool hex4(const uint8_t *p, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = mkperf_digit((char)p[i]);
        if (digit > 15) {
            return false;
        }
        *out = *out << 4 | digit;
    }
    return true;
}

/* Resolves the escapes of a string of n raw bytes. False: an escape does not exist. */
static bool unescape(struct mkperf_json *j, const uint8_t *p, size_t n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        const char *known;
        unsigned c;
        if (p[i] != '\\') {
            j->unescaped[used++] = (char)p[i];
            continue;
        }
        i++;
        if (i + 4 < n && p[i] == 'u' && hex4(p + i + 1, &c) && c != 0) {
            /* UTF-8. Surrogates stay what they are: names have none. */
            if (c < 0x80) {
                j->unescaped[used++] = (char)c;
            } else {
                if (c < 0x800) {
                    j->unescaped[used++] = (char)(0xc0 | c >> 6);
                } else {
                    j->unescaped[used++] = (char)(0xe0 | c >> 12);
                    j->unescaped[used++] = (char)(0x80 | (c >> 6 & 0x3f));
                }
                j->unescaped[used++] = (char)(0x80 | (c & 0x3f));
            }
            i += 4;
        } else if (p[i] != 0 && (known = strchr(from, p[i])) != NULL) {
            j->unescaped[used++] = to[known - from];
        } else {
            return false;
        }
    }
    j->text = j->unescaped;
    j->length = used;
    return true;
}

static enum mkperf_json_token read_string(struct mkperf_json *j)
{
    const uint8_t *p = j->buffer + j->at + 1;
    bool escaped = false;
    size_t n = 0;

    for (;;) {
        while (!(class_of[p[n]] & STRING_END)) {
            n++;
        }
        if (p[n] != '\\' || p[n + 1] < 0x20 || n >= MKPERF_JSON_TOKEN) {
            break;
        }
        escaped = true;
        n += 2;
    }
    if (n >= MKPERF_JSON_TOKEN) {
        return bad_token(j, "a string longer than 4095 bytes");
    }
    if (p[n] != '"') {
        return bad_token(j, "a string without its closing quote");
    }
    j->text = (const char *)p;
    j->length = n;
    if (escaped && !unescape(j, p, n)) {
        return bad_token(j, "an escape that does not exist");
    }
    j->at += n + 2;
    return j->token = MKPERF_JSON_STRING;
}

enum mkperf_json_token mkperf_json_next(struct mkperf_json *j)
{
    skip_space(j);
    fill_buffer(j);
    j->place = (struct mkperf_json_place){j->base + j->at, j->line, j->line_start};
    if (j->at >= j->n) {
        j->length = 0;
        return j->token = j->failed ? MKPERF_JSON_BAD : MKPERF_JSON_END;
    }
    uint8_t c = j->buffer[j->at];
    if (c == '"') {
        return read_string(j);
    }
    if (class_of[c] & ONE) {
        j->at++;
        return j->token = (enum mkperf_json_token)c;
    }
    const uint8_t *p = j->buffer + j->at;
    size_t n = 0;

    while (class_of[p[n]] & WORD) {
        n++;
    }
    if (n == 0 || n >= MKPERF_JSON_TOKEN) {
        return bad_token(j, n == 0 ? NULL : "a word longer than 4095 bytes");
    }
    j->text = (const char *)p;
    j->length = n;
    j->at += n;
    return j->token = MKPERF_JSON_WORD;
}

bool mkperf_json_seek(struct mkperf_json *j, struct mkperf_json_place place)
{
    if (lseek(j->fd, (off_t)place.offset, SEEK_SET) < 0) {
        return false;
    }
    j->base = place.offset;
    j->at = j->n = 0;
    j->ended = j->cut = false;
    j->buffer[0] = 0;
    j->line = place.line;
    j->line_start = place.line_start;
    return true;
}

bool mkperf_json_tail_has(const struct mkperf_json *j, const char *text)
{
    uint8_t *tail = mkperf_xcalloc(1, MKPERF_JSON_TAIL);
    uint64_t from = j->size > MKPERF_JSON_TAIL ? j->size - MKPERF_JSON_TAIL : 0;
    ssize_t n = j->size != 0 ? pread(j->fd, tail, MKPERF_JSON_TAIL, (off_t)from) : 0;
    bool has = n > 0 && memmem(tail, (size_t)n, text, strlen(text)) != NULL;

    free(tail);
    return has;
}

enum mkperf_status mkperf_json_bad(const struct mkperf_json *j, struct mkperf_error *e,
                                   const char *format, ...)
{
    char reason[512];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (j->token == MKPERF_JSON_BAD && j->reason != NULL) {
        snprintf(reason, sizeof reason, "%s", j->reason);
    }
    return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s:%" PRIu64 ":%" PRIu64 ": %s", j->path,
                            j->place.line, j->place.offset - j->place.line_start + 1, reason);
}
