/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the rows of a report for programs (-x, --json), see rows_print.h. */
#include <inttypes.h>

#include "rows_print.h"
#include "values.h"

static void put_column(const struct report_values *v, enum report_column_id column,
                       const struct mkperf_frames *f, const struct report_row_key *key)
{
    const struct mkperf_profile *p = f->profile;
    uint64_t unknown_ns = 0;
    double percent = 0;
    char text[600];

    switch (column) {
    case REPORT_SORT_TIME:
        report_value_number(v, "time_ns", mkperf_time_slice_ns(&p->slices, key->slice));
        break;
    case REPORT_SORT_UTIL:
        if (mkperf_utilisation_of(&p->util, key->pd, key->slice, &percent, &unknown_ns)) {
            report_value_share(v, "util_percent", percent);
        } else {
            report_value_text(v, "util_percent", "");
        }
        report_value_number(v, "unknown_ns", unknown_ns);
        break;
    default:
        report_column_text(column, f, key, text, sizeof text);
        report_value_text(v, report_column_name(column), text);
    }
}

void report_rows_values(const struct report_rows *rows, const struct mkperf_frames *f,
                        const struct report_options *o, const struct report_values *v)
{
    const char *event = f->profile->places.session.event[rows->event].name;

    for (uint32_t i = 0; i < rows->n; i++) {
        const struct report_row *r = &rows->row[i];

        if (report_row_share(rows, i) < o->limit) {
            continue;
        }
        report_value_row(v, "row");
        report_value_text(v, "event", event);
        if (o->children) {
            report_value_share(v, "children_percent", report_row_share(rows, i));
        }
        report_value_share(v, "percent", mkperf_percent(r->self.period, rows->whole));
        report_value_number(v, "samples", r->self.samples);
        report_value_number(v, "period", r->self.period);
        for (unsigned k = 0; k < o->keys.n; k++) {
            put_column(v, o->keys.column[k], f, &r->key);
        }
        report_value_end(v);
    }
    REPORT_ROW(v, "event", REPORT_TEXT("event", event),
               REPORT_NUMBER("samples", f->profile->total[rows->event].samples),
               REPORT_NUMBER("period", f->profile->total[rows->event].period),
               REPORT_NUMBER("shown_samples", rows->shown.samples),
               REPORT_NUMBER("shown_period", rows->shown.period));
}

void report_total_values(const struct mkperf_profile *p, const struct report_values *v)
{
    REPORT_ROW(v, "total", REPORT_NUMBER("first_ns", p->totals.first_ns),
               REPORT_NUMBER("last_ns", p->totals.last_ns),
               REPORT_NUMBER("samples", p->totals.samples),
               REPORT_NUMBER("lost", mkperf_profile_lost(p)),
               REPORT_NUMBER("gaps", p->sched != NULL ? p->sched->gaps : 0),
               REPORT_NUMBER("gap_ns", p->sched != NULL ? p->sched->gap_ns : 0),
               REPORT_NUMBER("complete", p->totals.complete));
}
