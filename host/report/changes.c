/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a comparison in each printed form; see comparison.h.
 *
 * Owns: the columns of the table, the values of rows for programs, the tables in Markdown and the test cases of JUnit.
 */
#include "comparison.h"

#include <math.h>

/* Shares are printed in per cent; costs, latencies and counts as they are. */
static double unit_of(const struct report_comparison *d)
{
    return d->exact || report_has_costs(d) ? 1 : 100;
}

const char *report_change_value(const struct report_comparison *d, double value,
                                char text[REPORT_VALUE_TEXT])
{
    const char *format = d->exact              ? "%.0f"
                         : d->latency          ? "%.6g us"
                         : report_has_costs(d) ? "%.6g"
                                               : "%.2f %%";

    snprintf(text, REPORT_VALUE_TEXT, format, unit_of(d) * value);
    return text;
}

static bool is_shown(const struct report_comparison *d, const struct report_change *r)
{
    return !(fmax(report_change_part(d, r, REPORT_A), report_change_part(d, r, REPORT_B)) <
             d->limit);
}

bool report_change_fails(const struct report_comparison *d, const struct report_change *r)
{
    return d->fail_above >= 0 && !r->idle && r->sure && r->growth > d->fail_above &&
           report_change_part(d, r, REPORT_B) >= d->limit;
}

/* Returns the column of a key: its title, and its name for programs. Latencies have the columns of their kind and of the pair. */
static const struct report_column *column_of(const struct report_comparison *d, unsigned k)
{
    static const struct report_column latency[] = {{.name = "kind", .title = "Kind"},
                                                   {.name = "pair", .title = "Pair"}};

    return d->latency ? &latency[k] : &report_columns[d->keys.column[k]];
}

/* Prints a row's values: of both sides, their difference, its chance, and the growth that would have been seen. Growth is red. */
static void print_numbers(const struct report_comparison *d, const struct report_change *r)
{
    const char *begin = !d->colour || !r->sure ? "" : r->delta > 0 ? "\033[31m" : "\033[32m";
    const char *value = d->exact              ? "%s%14.0f%s "
                        : report_has_costs(d) ? "%s%12.6g%s "
                                              : "%s%8.2f%%%s ";
    const char *delta = d->exact              ? "%s%+14.0f%s"
                        : report_has_costs(d) ? "%s%+12.6g%s"
                                              : "%s%+9.2f%%%s";
    char seen[REPORT_VALUE_TEXT] = "-";

    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        double share = d->exact || d->latency ? 0 : report_change_part(d, r, side);
        printf(value, mkperf_colour_begin(d->colour, share), unit_of(d) * r->value[side],
               mkperf_colour_end(d->colour, share));
    }
    printf(delta, begin, unit_of(d) * r->delta, *begin != '\0' ? "\033[0m" : "");
    if (d->exact) {
        fputs("  ", stdout);
        return;
    }
    if (r->visible > 0) {
        snprintf(seen, sizeof seen, r->visible < 99.5 ? "%.2g%%" : "%.0f%%", r->visible);
    }
    printf(" %8.2g %7s  %c ", r->chance, seen, r->sure ? ' ' : '~');
}

/* Prints the texts of a line, or the titles if `text` is NULL. All columns except the last are padded. */
static void print_columns(char *const *text, const struct report_comparison *d,
                          const int width[REPORT_SORT_KEYS])
{
    for (unsigned k = 0; k < d->keys.n; k++) {
        bool last = k + 1 == d->keys.n;
        printf("%-*s%s", last ? 0 : width[k], text ? text[k] : column_of(d, k)->title,
               last ? "\n" : "  ");
    }
}

void report_changes_print(const struct report_comparison *d)
{
    size_t left_out = 0, significant = 0;
    int width[REPORT_SORT_KEYS];

    for (unsigned k = 0; k < d->keys.n; k++) {
        width[k] = (int)strlen(column_of(d, k)->title);
        for (size_t i = 0; i < d->n; i++) {
            int n = (int)strlen(d->row[i].text[k]);
            width[k] = n > width[k] ? n : width[k];
        }
    }
    fputs(d->exact              ? "#            A              B          Delta  "
          : report_has_costs(d) ? "#          A            B        Delta   Chance    Seen    "
                                : "#       A         B      Delta   Chance    Seen    ",
          stdout);
    print_columns(NULL, d, width);
    fputs("#\n", stdout);
    for (size_t i = 0; i < d->n; i++) {
        const struct report_change *r = &d->row[i];

        if (!is_shown(d, r)) {
            left_out++;
        } else if (!d->exact || r->delta != 0) {
            significant += r->sure;
            print_numbers(d, r);
            print_columns(r->text, d, width);
        }
    }
    if (left_out) {
        report_omitted_print(left_out, d->limit);
    }
    if (d->exact) {
        printf("# %zu of %zu rows differ; equal rows are omitted\n\n", significant, d->n);
        return;
    }
    printf("# %zu of the rows above differ significantly; ~ marks rows that may be chance\n"
           "# Seen: with these samples, a growth by so much of the row would have been seen\n",
           significant);
    double visible = d->n != 0 ? d->row[d->largest].visible : 0;
    if (d->fail_above > 0 && visible > d->fail_above) {
        printf("# to see a growth of the largest row by %g %%, a side needs %.3g times as many "
               "%s\n",
               d->fail_above, pow(visible / d->fail_above, 2),
               d->latency ? "latencies" : "samples");
    }
    putchar('\n');
}

void report_changes_values(const struct report_comparison *d, unsigned failed,
                           struct mkperf_textout *v)
{
    const char *kind = d->exact         ? "exact_change"
                       : d->latency     ? "latency_change"
                       : d->per != NULL ? "cost_change"
                                        : "change";
    uint64_t significant = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct report_change *r = &d->row[i];

        significant += r->sure;
        if (!is_shown(d, r)) {
            continue;
        }
        mkperf_json(v, "{'type':%s,'event':%s", kind, d->event);
        for (unsigned k = 0; k < d->keys.n; k++) {
            if (d->keys.column[k] != REPORT_SORT_EVENT) { /* the row begins with its event */
                mkperf_json(v, ",%s:%s", column_of(d, k)->name, r->text[k]);
            }
        }
        if (d->exact) {
            mkperf_json(v, ",'before':%.0f,'after':%.0f}\n", r->value[REPORT_A],
                        r->value[REPORT_B]);
            continue;
        }
        mkperf_json(v,
                    report_has_costs(d) ? ",'before':%.6g,'after':%.6g,'interval':%.6g"
                                        : ",'before':%.4f,'after':%.4f,'interval':%.4f",
                    unit_of(d) * r->value[REPORT_A], unit_of(d) * r->value[REPORT_B],
                    unit_of(d) * r->interval);
        mkperf_json(v, ",'chance':%.6g,'significant':%d,'visible_growth':%.4f}\n", r->chance,
                    r->sure, r->visible);
    }
    mkperf_json(v, "{'type':'changes','event':%s,'rows':%zu,'significant':%" PRIu64 ",'failed':%u",
                d->event, d->n, significant, failed);
    mkperf_json_known(v, "per", d->per);
    mkperf_json(v, "}\n");
}

void report_markdown_cell(const char *text)
{
    for (; *text != '\0'; text++) {
        printf(strchr("|`*_<>[]\\", *text) != NULL ? "\\%c" : "%c", *text);
    }
}

void report_changes_markdown(const struct report_comparison *d)
{
    char a[REPORT_VALUE_TEXT], b[REPORT_VALUE_TEXT], change[REPORT_VALUE_TEXT];
    size_t n = 0;

    printf("### %s\n\n| before | after | change | chance |", d->event);
    for (unsigned k = 0; k < d->keys.n; k++) {
        printf(" %s |", column_of(d, k)->title);
    }
    fputs("\n|---:|---:|---:|---:|", stdout);
    for (unsigned k = 0; k < d->keys.n; k++) {
        fputs("---|", stdout);
    }
    putchar('\n');
    for (size_t i = 0; i < d->n; i++) {
        const struct report_change *r = &d->row[i];

        if (!r->sure || !is_shown(d, r)) {
            continue;
        }
        n++;
        printf("| %s | %s | %s%s | %.2g |", report_change_value(d, r->value[REPORT_A], a),
               report_change_value(d, r->value[REPORT_B], b), r->delta > 0 ? "+" : "",
               report_change_value(d, r->delta, change), r->chance);
        for (unsigned k = 0; k < d->keys.n; k++) {
            putchar(' ');
            report_markdown_cell(r->text[k]);
            fputs(" |", stdout);
        }
        putchar('\n');
    }
    printf("\n%zu of %zu rows differ significantly.\n\n", n, d->n);
}

unsigned report_changes_cases(const struct report_comparison *d, struct mkperf_textout *t)
{
    char a[REPORT_VALUE_TEXT], b[REPORT_VALUE_TEXT];
    unsigned cases = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct report_change *r = &d->row[i];

        if (report_change_part(d, r, REPORT_B) < d->limit) {
            continue;
        }
        cases++;
        mkperf_textout_puts(t, "    <testcase classname=\"");
        mkperf_textout_xml(t, d->event);
        mkperf_textout_puts(t, "\" name=\"");
        for (unsigned k = 0; k < d->keys.n; k++) {
            mkperf_textout_puts(t, k == 0 ? "" : " ");
            mkperf_textout_xml(t, r->text[k]);
        }
        if (!report_change_fails(d, r)) {
            mkperf_textout_puts(t, "\"/>\n");
            continue;
        }
        mkperf_textout_printf(t,
                              "\">\n      <failure message=\"from %s to %s, probability of chance "
                              "%.2g\"/>\n    </testcase>\n",
                              report_change_value(d, r->value[REPORT_A], a),
                              report_change_value(d, r->value[REPORT_B], b), r->chance);
    }
    return cases;
}
