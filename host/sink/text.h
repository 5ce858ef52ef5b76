/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text file being written by a sink: numbers, and strings quoted for JSON, XML and CSV.
 *
 * Owns: the output file and its first error, which sticks, so that writers need not ask after
 * every word. Used by the text sinks. Strings of any bytes give valid UTF-8: what is not becomes
 * U+FFFD. A file that is not finished is removed.
 */
#ifndef MKPERF_HOST_SINK_TEXT_H
#define MKPERF_HOST_SINK_TEXT_H

#include <stdbool.h>

#include "outfile.h"

struct mkperf_text {
    struct mkperf_outfile out;
    struct mkperf_error error; /* status MKPERF_OK: none so far */
};

/* "-" is standard output. */
enum mkperf_status mkperf_text_open(struct mkperf_text *t, const char *path,
                                    struct mkperf_error *e);
enum mkperf_status mkperf_text_finish(struct mkperf_text *t, struct mkperf_error *e);
void mkperf_text_discard(struct mkperf_text *t); /* idempotent, also after finish */

void mkperf_text_put(struct mkperf_text *t, const void *p, size_t n);
void mkperf_text_puts(struct mkperf_text *t, const char *s);
void mkperf_text_u64(struct mkperf_text *t, uint64_t n);
void mkperf_text_printf(struct mkperf_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));               /* at most 1023 bytes */
void mkperf_text_ms(struct mkperf_text *t, uint64_t ns); /* milliseconds, to the nanosecond */

void mkperf_text_json(struct mkperf_text *t, const char *s); /* with its quotes */
void mkperf_text_xml(struct mkperf_text *t, const char *s);  /* text or attribute */
void mkperf_text_csv(struct mkperf_text *t, const char *s);  /* quoted if it must be */
/* As it is, but control characters become blanks and `but` becomes `instead`. */
void mkperf_text_plain(struct mkperf_text *t, const char *s, char but, char instead);

/* The length of the UTF-8 sequence at s, 0 if it is none. s ends with 0. */
size_t mkperf_text_utf8(const char *s);

#endif
