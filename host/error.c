/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: filling a struct mkperf_error. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

enum mkperf_status mkperf_error_set(struct mkperf_error *e, enum mkperf_status status,
                                    const char *format, ...)
{
    va_list args;

    e->status = status;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return status;
}
