/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows for programs (-x SEP, --json): one a line, its kind first.
 *
 * Owns: both forms. A value's name is in JSON alone, so the order of a kind's values is fixed. A row
 * begins with report_value_row, and ends with report_value_end.
 */
#ifndef MKPERF_HOST_REPORT_VALUES_H
#define MKPERF_HOST_REPORT_VALUES_H

#include <stdint.h>
#include <stdio.h>

struct report_values {
    FILE *out;
    const char *separator; /* NULL: JSON Lines */
};

void report_value_row(const struct report_values *v, const char *kind);
void report_value_end(const struct report_values *v);
void report_value_number(const struct report_values *v, const char *key, uint64_t value);
/* In per cent, with four decimals. */
void report_value_share(const struct report_values *v, const char *key, double percent);
/* Names are printable (base/printable.h). One with the separator in it is put in double quotes. */
void report_value_text(const struct report_values *v, const char *key, const char *value);

#endif
