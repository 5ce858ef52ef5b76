/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows for programs, see report.h. */
#include "report.h"

#include <math.h>

#include <mkperf/version.h>

struct report_values report_values_begin(FILE *out, const char *separator, const char *command,
                                         const char *input)
{
    struct report_values v = {.to = {.over = out}, .separator = separator};

    if (separator == NULL) {
        mkperf_json(&v.to, "{'type':'mkperf','schema':%d,'version':%s,'command':%s", REPORT_SCHEMA,
                    MKPERF_VERSION, command);
        mkperf_json_known(&v.to, "input", input);
        mkperf_textout_puts(&v.to, "}\n");
    }
    return v;
}

void report_field_print(const char *text, const char *separator, FILE *out)
{
    bool quoted = strstr(text, separator) != NULL;

    fputs(quoted ? "\"" : "", out);
    for (; *text != '\0'; text++) {
        fputs(quoted && *text == '"' ? "\"" : "", out);
        fputc(*text, out);
    }
    fputs(quoted ? "\"" : "", out);
}

void report_value_list(struct report_values *v, const char *kind, const struct report_value *value,
                       size_t n)
{
    bool json = v->separator == NULL;

    mkperf_textout_puts(&v->to, json ? "{\"type\":\"" : "");
    mkperf_textout_puts(&v->to, kind);
    mkperf_textout_puts(&v->to, json ? "\"" : "");
    for (const struct report_value *end = value + n; value < end; value++) {
        if (value->key == NULL) {
            continue;
        }
        if (json) {
            mkperf_json(&v->to, ",%s:", value->key);
        } else {
            mkperf_textout_puts(&v->to, v->separator);
        }
        if (value->as == REPORT_AS_TEXT && json) {
            mkperf_textout_json(&v->to, value->text);
        } else if (value->as == REPORT_AS_TEXT) {
            report_field_print(value->text, v->separator, v->to.over);
        } else if (value->as == REPORT_AS_NUMBER) {
            mkperf_textout_u64(&v->to, value->number);
        } else if (value->as == REPORT_AS_REAL) {
            mkperf_json(&v->to, "%.6g", value->real);
        } else if (isfinite(value->real) || json) {
            mkperf_json(&v->to, "%.4f", value->real);
        }
    }
    mkperf_textout_puts(&v->to, json ? "}\n" : "\n");
}
