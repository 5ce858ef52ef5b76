/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the samples.json decoder share: json.c owns tokens, toperf_pds.c findings,
 * iteration and the mapping of ELFs to ids, toperf.c samples and the whole file.
 */
#ifndef MKPERF_HOST_IMPORT_TOPERF_INTERNAL_H
#define MKPERF_HOST_IMPORT_TOPERF_INTERNAL_H

#include "import.h"

/*
 * JSON as a stream of tokens, with places.
 *
 * Owns: the input and one buffer of fixed size. Called by the decoder of samples.json, which
 * interprets the tokens: words (numbers, true, ...) are returned unchanged.
 */

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

enum { TOPERF_PDS_MAX = 1024, TOPERF_DEPTH_MAX = 64 };

/* Findings. A strict reading accepts those from TOPERF_ELF on as well. */
enum toperf_finding {
    TOPERF_MISSING_COMMA,
    TOPERF_TRAILING_COMMA,
    TOPERF_UNTERMINATED,
    TOPERF_NOISE,
    TOPERF_HEX_IP,
    TOPERF_BAD_VALUE,
    TOPERF_BAD_NR,
    TOPERF_UNKNOWN_PID,
    TOPERF_ZERO_PERIOD,
    TOPERF_SAME_ID,
    TOPERF_SECOND_MAPPING,
    TOPERF_NO_MAPPING,
    TOPERF_WRAPPED,
    TOPERF_ELF,
    TOPERF_NO_CPU,
    TOPERF_UNKNOWN_KEY,
    TOPERF_BACKWARDS,
    TOPERF_DISORDER,
    TOPERF_FINDINGS,
};

struct toperf {
    struct mkperf_json json;
    const struct mkperf_input *in;
    const struct mkperf_sink *sink;
    struct mkperf_error *e;
    struct {
        uint64_t count;
        struct mkperf_json_place first;
    } finding[TOPERF_FINDINGS];
    struct mkperf_pd *pd;      /* their threads are the pids */
    uint32_t npds, room, last; /* `last` was found last, and is usually wanted next */
    bool has_mapping, looked_ahead, began;
    bool serial; /* commas are missing, as in the log of a serial client */
    struct mkperf_session session;
    struct mkperf_totals totals;
    uint64_t wraps;    /* how often times have wrapped at 2^32 ns */
    uint64_t raw_time; /* the time of the last sample, as the file has it */
    struct mkperf_chain chain;
};

/* Counts a finding. In a strict reading it is an error, with `reason`. */
enum mkperf_status toperf_found(struct toperf *t, enum toperf_finding what, const char *reason);
/* Counts a finding that is no error in a strict reading either. */
void toperf_note(struct toperf *t, enum toperf_finding what);
/* Warns of each kind of finding, with its place and its number. */
void toperf_warn_of_findings(const struct toperf *t);

/*
 * Calls `member` for each member of the object whose '{' is the current token. At each call the value
 * is the current token. A key is cut at 1023 bytes. Ends after '}', or with json.cut at the end of the input.
 */
enum mkperf_status toperf_object(struct toperf *t,
                                 enum mkperf_status (*member)(struct toperf *t, void *self,
                                                              const char *key),
                                 void *self);
/* Calls `element` for each element of the array, as toperf_object does for members. */
enum mkperf_status toperf_array(struct toperf *t,
                                enum mkperf_status (*element)(struct toperf *t, void *self),
                                void *self);
/* Skips the current value. */
enum mkperf_status toperf_skip(struct toperf *t);

/* Stores the current token, a word or a string, as a number. Returns why it is none, NULL if it is
 * one. */
const char *toperf_number(const struct mkperf_json *j, uint64_t *out);

/* Reads the mapping from the current object. */
enum mkperf_status toperf_mapping(struct toperf *t);
/* Reads the mapping from sample_header.json in the build directory, if that exists. */
enum mkperf_status toperf_header_file(struct toperf *t);
/* Begins the sink's recording, and announces the PDs of the mapping. */
enum mkperf_status toperf_begin(struct toperf *t, uint64_t period);
/* Returns the PD of a pid. In a lenient reading it may be a new one. Returns -1 with the reason in
 * *t->e if there is none. */
int64_t toperf_pd_of(struct toperf *t, uint64_t pid);
void toperf_free_pds(struct toperf *t);

#endif
