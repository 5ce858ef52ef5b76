/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows for programs, see report.h. */
#include "report.h"

void report_value_row(const struct report_values *v, const char *kind)
{
    fprintf(v->out, v->separator == NULL ? "{\"type\":\"%s\"" : "%s", kind);
}

void report_value_end(const struct report_values *v)
{
    fputs(v->separator == NULL ? "}\n" : "\n", v->out);
}

static void begin_value(const struct report_values *v, const char *key)
{
    if (v->separator == NULL) {
        fprintf(v->out, ",\"%s\":", key);
    } else {
        fputs(v->separator, v->out);
    }
}

void report_value_number(const struct report_values *v, const char *key, uint64_t value)
{
    begin_value(v, key);
    fprintf(v->out, "%" PRIu64, value);
}

void report_value_share(const struct report_values *v, const char *key, double percent)
{
    begin_value(v, key);
    fprintf(v->out, "%.4f", percent);
}

void report_value_text(const struct report_values *v, const char *key, const char *value)
{
    char escape = v->separator == NULL ? '\\' : '"'; /* precedes a double quote */

    begin_value(v, key);
    if (v->separator != NULL && strstr(value, v->separator) == NULL) {
        fputs(value, v->out);
        return;
    }
    fputc('"', v->out);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == escape) {
            fputc(escape, v->out);
        }
        fputc(*value, v->out);
    }
    fputc('"', v->out);
}

void report_value_list(const struct report_values *v, const char *kind,
                       const struct report_value *value, size_t n)
{
    report_value_row(v, kind);
    for (size_t i = 0; i < n; i++) {
        if (value[i].text != NULL) {
            report_value_text(v, value[i].key, value[i].text);
        } else {
            report_value_number(v, value[i].key, value[i].number);
        }
    }
    report_value_end(v);
}
