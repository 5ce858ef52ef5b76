/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How host functions fail: they fill a struct mkperf_error with place and reason and return its
 * status; only main and the commands print and exit.
 */
#ifndef MKPERF_HOST_BASE_ERROR_H
#define MKPERF_HOST_BASE_ERROR_H

/* Also the exit status of the mkperf command. Texts: mkperf_status_text. Numbers are not reused. */
enum mkperf_status {
    MKPERF_OK = 0,
    MKPERF_ERR_FAILED = 1,   /* any error without its own status */
    MKPERF_ERR_INPUT = 2,    /* a file, ELF or stream is missing or invalid: the text says why */
    MKPERF_ERR_OUTPUT = 4,   /* writing failed (disk full, permission) */
    MKPERF_ERR_SILENT = 5,   /* the target does not answer */
    MKPERF_ERR_PROTOCOL = 6, /* the target speaks another version of the protocol */
    MKPERF_ERR_NOISE = 7,    /* the line carries bytes but no frame */
    MKPERF_ERR_REFUSED = 8,  /* the target refused the request; its reason is in the text */
    MKPERF_ERR_LINK = 9,     /* the connection broke; what was received is kept */
    MKPERF_ERR_USAGE = 129,  /* command line; the number is perf's and git's */
};

struct mkperf_error {
    enum mkperf_status status;
    char text[1024];
};

/* Sets status and text (printf format; cut at the buffer's end) and returns status. */
enum mkperf_status mkperf_error_set(struct mkperf_error *e, enum mkperf_status status,
                                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The meaning of this exit status; NULL: no such status. */
const char *mkperf_status_text(enum mkperf_status status);

/* Sets of statuses for struct mkperf_command: 1 << status. OK, FAILED and USAGE belong to every set. */
enum {
    MKPERF_STATUSES_READ = 1 << MKPERF_ERR_INPUT,
    MKPERF_STATUSES_WRITE = 1 << MKPERF_ERR_OUTPUT,
    MKPERF_STATUSES_TARGET = 1 << MKPERF_ERR_SILENT | 1 << MKPERF_ERR_PROTOCOL |
                             1 << MKPERF_ERR_NOISE | 1 << MKPERF_ERR_REFUSED | 1 << MKPERF_ERR_LINK,
};

#endif
