/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON as a stream of tokens, with places.
 *
 * Owns: the input and one buffer of fixed size. Called by the decoder of samples.json, which
 * interprets the tokens: words (numbers, true, ...) are returned unchanged.
 */
#ifndef MKPERF_HOST_IMPORT_JSON_H
#define MKPERF_HOST_IMPORT_JSON_H

#include "base/base.h"

enum {
    MKPERF_JSON_TOKEN = 4096, /* longest string or word */
    MKPERF_JSON_BUFFER = 256 * 1024,
    MKPERF_JSON_TAIL = 1024 * 1024,
};

enum mkperf_json_token {
    MKPERF_JSON_END,
    MKPERF_JSON_STRING,
    MKPERF_JSON_WORD,
    MKPERF_JSON_BAD, /* anything else; `text` has its first byte */
    MKPERF_JSON_OPEN_OBJECT = '{',
    MKPERF_JSON_CLOSE_OBJECT = '}',
    MKPERF_JSON_OPEN_ARRAY = '[',
    MKPERF_JSON_CLOSE_ARRAY = ']',
    MKPERF_JSON_COLON = ':',
    MKPERF_JSON_COMMA = ',',
};

struct mkperf_json_place {
    uint64_t offset, line, line_start; /* bytes from the beginning of the input; lines from 1 */
};

struct mkperf_json {
    const char *path; /* the path that messages name */
    int fd;
    uint64_t size; /* size of a regular file; else 0 */
    bool ended;    /* the buffer has the rest of the input */
    bool cut;      /* its end was inside an object or an array, in a lenient reading */
    bool failed;   /* reading failed; `reason` has the error of the system */
    uint64_t base; /* offset of buffer[0] in the input */
    size_t at, n;
    uint64_t line, line_start;
    uint8_t *buffer;
    /* The current token. */
    enum mkperf_json_token token;
    /* Text of a string or a word, without a NUL at its end; valid until the next token. */
    const char *text;
    size_t length;
    struct mkperf_json_place place;
    const char *reason; /* why it is MKPERF_JSON_BAD; NULL: an unexpected character */
    char unescaped[MKPERF_JSON_TOKEN];
};

/* Begins to read fd, which mkperf_json_close closes. Messages call the file `name`. */
void mkperf_json_open(struct mkperf_json *j, const char *name, int fd);
void mkperf_json_close(struct mkperf_json *j);

enum mkperf_json_token mkperf_json_next(struct mkperf_json *j);

/* Makes the current token the next one again. */
static inline void mkperf_json_unread(struct mkperf_json *j)
{
    j->at = (size_t)(j->place.offset - j->base);
}

/* Goes back: the next token is the one at `place`. False: the input is a pipe. */
bool mkperf_json_seek(struct mkperf_json *j, struct mkperf_json_place place);

/* Returns whether text occurs in the last MKPERF_JSON_TAIL bytes of the input. False for a pipe. */
bool mkperf_json_tail_has(const struct mkperf_json *j, const char *text);

/* Sets the error MKPERF_ERR_INPUT "path:line:col: reason" for the current token. */
enum mkperf_status mkperf_json_bad(const struct mkperf_json *j, struct mkperf_error *e,
                                   const char *format, ...) __attribute__((format(printf, 3, 4)));

static inline bool mkperf_json_is(const struct mkperf_json *j, const char *text)
{
    return j->length == strlen(text) && memcmp(j->text, text, j->length) == 0;
}

#endif
