/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see rows_print.h. */
#include "rows_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/colour.h"
#include "base/percent.h"
#include "row_tree.h"

struct layout {
    int width[REPORT_SORT_KEYS]; /* of each column; the last is not padded */
    uint32_t omitted;            /* rows */
};

static struct layout lay_out(const struct report_rows *rows, const struct mkperf_frames *f,
                             const struct report_options *o)
{
    struct layout l = {.omitted = 0};
    char text[600];

    for (unsigned i = 0; i < o->keys.n; i++) {
        l.width[i] = (int)strlen(report_column_title(o->keys.column[i]));
    }
    for (uint32_t row = 0; row < rows->n; row++) {
        if (report_row_share(rows, row) < o->limit) {
            l.omitted++;
            continue;
        }
        for (unsigned i = 0; i < o->keys.n; i++) {
            report_column_text(o->keys.column[i], f, &rows->row[row].key, text, sizeof text);
            if ((int)strlen(text) > l.width[i]) {
                l.width[i] = (int)strlen(text);
            }
        }
    }
    return l;
}

void report_row_text(const struct mkperf_frames *f, const struct report_options *o,
                     const struct report_row *r, char *text, size_t n)
{
    char part[600];
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < o->keys.n && used < n; i++) {
        report_column_text(o->keys.column[i], f, &r->key, part, sizeof part);
        used += (size_t)snprintf(text + used, n - used, i + 1 < o->keys.n ? "%-12s  " : "%s", part);
    }
}

static void print_titles(const struct layout *l, const struct report_options *o, FILE *out)
{
    fprintf(out, o->children ? "# Children      Self  Samples           Period"
                             : "# Overhead  Samples           Period");
    for (unsigned i = 0; i < o->keys.n; i++) {
        bool last = i + 1 == o->keys.n;

        fprintf(out, "  %-*s", last ? 0 : l->width[i], report_column_title(o->keys.column[i]));
    }
    fprintf(out, "\n#\n");
}

static void print_share(double share, bool colour, FILE *out)
{
    fprintf(out, "%s%9.2f%%%s", mkperf_colour_begin(colour, share), share,
            mkperf_colour_end(colour, share));
}

static void print_row(const struct report_row *r, const struct layout *l,
                      const struct mkperf_frames *f, const struct report_options *o, uint64_t whole,
                      FILE *out)
{
    char text[600];

    if (o->children) {
        print_share(mkperf_percent(r->children.period, whole), o->colour, out);
    }
    print_share(mkperf_percent(r->self.period, whole), o->colour, out);
    fprintf(out, "  %7" PRIu64 "  %15" PRIu64, r->self.samples, r->self.period);
    for (unsigned i = 0; i < o->keys.n; i++) {
        report_column_text(o->keys.column[i], f, &r->key, text, sizeof text);
        fprintf(out, "  %-*s", i + 1 == o->keys.n ? 0 : l->width[i], text);
    }
    fputc('\n', out);
}

void report_rows_print(const struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o, FILE *out)
{
    uint64_t whole = rows->whole;
    struct layout l = lay_out(rows, f, o);

    print_titles(&l, o, out);
    for (uint32_t i = 0; i < rows->n; i++) {
        if (report_row_share(rows, i) < o->limit) {
            continue;
        }
        print_row(&rows->row[i], &l, f, o, whole, out);
        if (o->graph != REPORT_GRAPH_NONE) {
            report_tree_print(&rows->row[i], rows, f, o, out);
        }
    }
    if (l.omitted > 0) {
        fprintf(out, "# %" PRIu32 " rows below %g %% are omitted\n", l.omitted, o->limit);
    }
    fputc('\n', out);
}
