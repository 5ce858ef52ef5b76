/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows for programs (-x SEP, --json): one row per line, beginning with its kind.
 *
 *      -x ,      row,cycles,12.5000,40
 *      --json    {"type":"row","event":"cycles","percent":12.5000,"samples":40}
 *
 * Owns: both forms. Only JSON contains the names of values, so the order of the values of each kind is fixed.
 */
#ifndef MKPERF_HOST_REPORT_VALUES_H
#define MKPERF_HOST_REPORT_VALUES_H

#include "base/base.h"

struct report_values {
    FILE *out;
    const char *separator; /* NULL: JSON Lines */
};

/* A text, or a number. */
struct report_value {
    const char *key, *text; /* text NULL: it is a number */
    uint64_t number;
};
#define REPORT_TEXT(key, text) \
    {                          \
        key, text, 0           \
    }
#define REPORT_NUMBER(key, number) \
    {                              \
        key, NULL, number          \
    }

/* A row whose values are known beforehand: REPORT_ROW(v, "kind", REPORT_TEXT("pd", name), ...); */
#define REPORT_ROW(v, kind, ...)                                               \
    report_value_list((v), (kind), (const struct report_value[]){__VA_ARGS__}, \
                      sizeof(const struct report_value[]){__VA_ARGS__} /       \
                          sizeof(struct report_value))
void report_value_list(const struct report_values *v, const char *kind,
                       const struct report_value *value, size_t n);

/* A row of other values: its kind, then its values one after the other, then its end. */
void report_value_row(const struct report_values *v, const char *kind);
void report_value_end(const struct report_values *v);
void report_value_number(const struct report_values *v, const char *key, uint64_t value);
/* A share in per cent, with four decimals. */
void report_value_share(const struct report_values *v, const char *key, double percent);
/* A text; it is printable (base/base.h). A text that contains the separator is put in double quotes. */
void report_value_text(const struct report_values *v, const char *key, const char *value);

#endif
