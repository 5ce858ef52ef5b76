/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text file being written by a sink: numbers, and strings quoted for JSON, XML and CSV.
 *
 * Owns: the output file, whose first error is sticky, so that writers need not check every write. Used by the text sinks. Strings of any bytes become valid UTF-8: invalid bytes become
 * U+FFFD. A file that is not finished is removed.
 */
#ifndef MKPERF_HOST_BASE_TEXTOUT_H
#define MKPERF_HOST_BASE_TEXTOUT_H

#include "outfile.h"

struct mkperf_textout {
    struct mkperf_outfile out;
};

/* "-" is standard output. */
enum mkperf_status mkperf_textout_open(struct mkperf_textout *t, const char *path,
                                       struct mkperf_error *e);
enum mkperf_status mkperf_textout_finish(struct mkperf_textout *t, struct mkperf_error *e);
void mkperf_textout_discard(struct mkperf_textout *t); /* idempotent, also after finish */

void mkperf_textout_put(struct mkperf_textout *t, const void *p, size_t n);
void mkperf_textout_puts(struct mkperf_textout *t, const char *s);
void mkperf_textout_u64(struct mkperf_textout *t, uint64_t n);
void mkperf_textout_printf(struct mkperf_textout *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));                     /* at most 1023 bytes */
void mkperf_textout_ms(struct mkperf_textout *t, uint64_t ns); /* milliseconds, to the nanosecond */

void mkperf_textout_json(struct mkperf_textout *t, const char *s); /* with its quotes */
void mkperf_textout_xml(struct mkperf_textout *t, const char *s);  /* text or attribute */
void mkperf_textout_csv(struct mkperf_textout *t, const char *s);  /* quoted if it must be */
/* As it is, but control characters become blanks, others that are not printable U+FFFD, and `but`
 * becomes `instead`. */
void mkperf_textout_plain(struct mkperf_textout *t, const char *s, char but, char instead);

#endif
