/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: filling a struct mkperf_error; the meaning of statuses, for help and man pages. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "printable.h"

enum mkperf_status mkperf_error_set(struct mkperf_error *e, enum mkperf_status status,
                                    const char *format, ...)
{
    va_list args;

    e->status = status;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    mkperf_printable(e->text);
    return status;
}

const char *mkperf_status_text(enum mkperf_status status)
{
    switch (status) {
    case MKPERF_OK:
        return "done";
    case MKPERF_ERR_FAILED:
        return "any error without its own status";
    case MKPERF_ERR_INPUT:
        return "bad input: a file, ELF or stream that is missing or invalid; the message "
               "says "
               "where and why";
    case MKPERF_ERR_OUTPUT:
        return "writing failed (disk full, permission)";
    case MKPERF_ERR_SILENT:
        return "the target does not answer";
    case MKPERF_ERR_PROTOCOL:
        return "the target speaks another version of the protocol";
    case MKPERF_ERR_NOISE:
        return "bytes arrive, but no frame: wrong baud rate, or no client PD on that line";
    case MKPERF_ERR_REFUSED:
        return "the target refused, with its reason: unknown event, too few counters, no kernel "
               "hook, ...";
    case MKPERF_ERR_LINK:
        return "the connection failed, or broke and could not be restored in time; what was "
               "received is kept";
    case MKPERF_ERR_USAGE:
        return "usage error: unknown option, value or name";
    default:
        return NULL;
    }
}
