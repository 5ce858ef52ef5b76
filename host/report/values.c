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

static void begin_value(struct report_values *v, const char *key)
{
    if (v->separator == NULL) {
        mkperf_json(&v->to, ",%s:", key);
    } else {
        mkperf_textout_puts(&v->to, v->separator);
    }
}

void report_value_number(struct report_values *v, const char *key, uint64_t value)
{
    begin_value(v, key);
    mkperf_textout_u64(&v->to, value);
}

void report_value_share(struct report_values *v, const char *key, double percent)
{
    begin_value(v, key);
    if (isfinite(percent) || v->separator == NULL) {
        mkperf_json(&v->to, "%.4f", percent);
    }
}

void report_value_real(struct report_values *v, const char *key, double value)
{
    begin_value(v, key);
    mkperf_json(&v->to, "%.6g", value);
}

void report_value_text(struct report_values *v, const char *key, const char *value)
{
    begin_value(v, key);
    if (v->separator == NULL) {
        mkperf_textout_json(&v->to, value);
        return;
    }
    bool quoted = strstr(value, v->separator) != NULL;

    mkperf_textout_puts(&v->to, quoted ? "\"" : "");
    for (; *value != '\0'; value++) {
        mkperf_textout_put(&v->to, "\"", quoted && *value == '"');
        mkperf_textout_put(&v->to, value, 1);
    }
    mkperf_textout_puts(&v->to, quoted ? "\"" : "");
}

void report_value_list(struct report_values *v, const char *kind, const struct report_value *value,
                       size_t n)
{
    report_value_row(v, kind);
    for (size_t i = 0; i < n; i++) {
        switch (value[i].as) {
        case REPORT_AS_TEXT:
            report_value_text(v, value[i].key, value[i].text);
            break;
        case REPORT_AS_LAST_TEXT:
            if (value[i].text[0] != '\0') {
                report_value_text(v, value[i].key, value[i].text);
            }
            break;
        case REPORT_AS_NUMBER:
            report_value_number(v, value[i].key, value[i].number);
            break;
        case REPORT_AS_SHARE:
            report_value_share(v, value[i].key, value[i].real);
            break;
        case REPORT_AS_REAL:
            report_value_real(v, value[i].key, value[i].real);
            break;
        }
    }
    report_value_end(v);
}
