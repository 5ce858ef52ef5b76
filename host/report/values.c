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
        report_value_end(&v);
    }
    return v;
}

void report_value_row(struct report_values *v, const char *kind)
{
    if (v->separator == NULL) {
        mkperf_json(&v->to, "{'type':%s", kind);
    } else {
        mkperf_textout_puts(&v->to, kind);
    }
}

void report_value_end(struct report_values *v)
{
    mkperf_textout_puts(&v->to, v->separator == NULL ? "}\n" : "\n");
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

void report_value_put(struct report_values *v, const struct report_value *value)
{
    if (value->key == NULL) {
        return;
    }
    if (v->separator == NULL) {
        mkperf_json(&v->to, ",%s:", value->key);
    } else {
        mkperf_textout_puts(&v->to, v->separator);
    }
    switch (value->as) {
    case REPORT_AS_TEXT:
        if (v->separator == NULL) {
            mkperf_textout_json(&v->to, value->text);
        } else {
            report_field_print(value->text, v->separator, v->to.over);
        }
        break;
    case REPORT_AS_NUMBER:
        mkperf_textout_u64(&v->to, value->number);
        break;
    case REPORT_AS_SHARE:
        if (isfinite(value->real) || v->separator == NULL) {
            mkperf_json(&v->to, "%.4f", value->real);
        }
        break;
    case REPORT_AS_REAL:
        mkperf_json(&v->to, "%.6g", value->real);
        break;
    }
}

void report_value_list(struct report_values *v, const char *kind, const struct report_value *value,
                       size_t n)
{
    report_value_row(v, kind);
    for (size_t i = 0; i < n; i++) {
        report_value_put(v, &value[i]);
    }
    report_value_end(v);
}
