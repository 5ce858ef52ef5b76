/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a report as text, as a tree of sort keys (--hierarchy), and as values for programs (-x, --json).
 *
 * Owns: the widths of columns, and the form of each output. See report.h.
 */
#include "report.h"

#include <math.h>

#include <mkperf/version.h>

void report_omitted_print(uint64_t n, double limit)
{
    printf("# %" PRIu64 " row%s below %g %% %s omitted\n", n, mkperf_plural(n), limit,
           n == 1 ? "is" : "are");
}

static void print_share(double share, bool colour)
{
    printf("%s%9.2f%%%s", mkperf_colour_begin(colour, share), share,
           mkperf_colour_end(colour, share));
}

void report_rows_print(const struct report_rows *rows)
{
    const struct report_options *o = rows->options;
    int width[REPORT_SORT_KEYS]; /* of each column; the last is not padded */
    uint32_t omitted = 0;
    char text[REPORT_ROW_TEXT];

    for (unsigned k = 0; k < o->keys.n; k++) {
        width[k] = (int)strlen(report_columns[o->keys.column[k]].title);
    }
    for (uint32_t i = 0; i < rows->n; i++) {
        bool shown = report_row_share(rows, i) >= o->limit;

        omitted += !shown;
        for (unsigned k = 0; k + 1 < o->keys.n && shown; k++) {
            int n = (int)strlen(report_row_text(rows, &rows->row[i], k, text));
            width[k] = n > width[k] ? n : width[k];
        }
    }
    width[o->keys.n - 1] = 0;
    printf("# %s%s  Samples           Period", o->children ? "Children      Self" : "Overhead",
           o->interval ? "   95 %" : "");
    for (unsigned k = 0; k < o->keys.n; k++) {
        printf("  %-*s", width[k], report_columns[o->keys.column[k]].title);
    }
    printf("\n#\n");
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct report_row *r = &rows->row[i];
        double share = mkperf_percent(r->self.period, rows->whole);

        if (report_row_share(rows, i) < o->limit) {
            continue;
        }
        if (o->children) {
            print_share(report_row_share(rows, i), o->colour);
        }
        print_share(share, o->colour);
        if (o->interval) {
            printf(" ±%5.2f", mkperf_profile_interval(rows->frames->profile, rows->event, share));
        }
        printf("  %7" PRIu64 "  %15" PRIu64, r->self.samples, r->self.period);
        for (unsigned k = 0; k < o->keys.n; k++) {
            printf("  %-*s", width[k], report_row_text(rows, r, k, text));
        }
        putchar('\n');
        if (o->graph != REPORT_GRAPH_NONE) {
            report_tree_print(rows, r);
        }
    }
    if (omitted > 0) {
        report_omitted_print(omitted, o->limit);
    }
    putchar('\n');
}

struct hierarchy {
    struct mkperf_hash texts; /* a node's label is the number of its text */
    struct mkperf_tree tree;
    const struct report_rows *rows;
    uint32_t omitted;
};

static int compare_hierarchy_nodes(const struct mkperf_tree_node *a,
                                   const struct mkperf_tree_node *b, const void *context)
{
    const struct hierarchy *h = context;
    const struct report_column_list *keys = &h->rows->options->keys;
    unsigned column = 0;

    for (uint32_t parent = a->parent; parent != 0; parent = h->tree.node[parent].parent) {
        column++;
    }
    for (; column < keys->n; column++) {
        if (keys->column[column] == REPORT_SORT_TIME) {
            /* Their column is the time, or a key before it: they keep the order of rows, in which they were added. */
            return 0;
        }
    }
    int order = mkperf_compare(b->total.period, a->total.period);
    return order != 0 ? order
                      : strcmp(mkperf_hash_text(&h->texts, a->label),
                               mkperf_hash_text(&h->texts, b->label));
}

static void print_below(struct hierarchy *h, uint32_t parent, int depth)
{
    const struct mkperf_tree_node *n = h->tree.node;

    for (uint32_t i = n[parent].child; i != 0; i = n[i].next) {
        double share = mkperf_percent(n[i].total.period, h->rows->whole);
        if (share < h->rows->options->limit) {
            h->omitted++;
            continue;
        }
        print_share(share, h->rows->options->colour);
        printf("  %7" PRIu64 "  %15" PRIu64 "  %*s%s\n", n[i].total.samples, n[i].total.period,
               2 * depth, "", mkperf_hash_text(&h->texts, n[i].label));
        print_below(h, i, depth + 1);
    }
}

void report_hierarchy_print(const struct report_rows *rows)
{
    const struct report_options *o = rows->options;
    struct hierarchy h = {.rows = rows};

    mkperf_tree_init(&h.tree);
    for (uint32_t i = 0; i < rows->n; i++) {
        uint32_t node = 0;
        char text[REPORT_ROW_TEXT];

        for (unsigned k = 0; k < o->keys.n; k++) {
            const char *key = report_row_text(rows, &rows->row[i], k, text);
            node = mkperf_tree_child(&h.tree, node, mkperf_hash_text_number(&h.texts, key));
        }
        mkperf_tree_add(&h.tree, node, 0, rows->row[i].self);
    }
    mkperf_tree_finish(&h.tree, compare_hierarchy_nodes, &h);
    printf("# Overhead  Samples           Period");
    for (unsigned i = 0; i < o->keys.n; i++) {
        printf("%s%s", i == 0 ? "  " : " / ", report_columns[o->keys.column[i]].title);
    }
    printf("\n#\n");
    print_below(&h, 0, 0);
    if (h.omitted > 0) {
        printf("# %" PRIu32 " row%s below %g %%, with all that is below, %s omitted\n", h.omitted,
               mkperf_plural(h.omitted), o->limit, h.omitted == 1 ? "is" : "are");
    }
    putchar('\n');
    mkperf_tree_free(&h.tree);
    mkperf_hash_free(&h.texts);
}

struct mkperf_textout report_values_begin(FILE *out, const char *separator, const char *command,
                                          const char *input)
{
    struct mkperf_textout t = {.over = out, .separator = separator};

    if (separator == NULL) {
        mkperf_json(&t, "{'type':'mkperf','schema':%d,'version':%s,'command':%s", REPORT_SCHEMA,
                    MKPERF_VERSION, command);
        mkperf_json_known(&t, "input", input);
        mkperf_textout_puts(&t, "}\n");
    }
    return t;
}

void report_rows_values(const struct report_rows *rows, struct mkperf_textout *v)
{
    const struct report_options *o = rows->options;
    const struct mkperf_profile *p = rows->frames->profile;
    const char *event = p->places.session.event[rows->event].name;

    for (uint32_t i = 0; i < rows->n; i++) {
        const struct report_row *r = &rows->row[i];
        double share = mkperf_percent(r->self.period, rows->whole);

        if (report_row_share(rows, i) < o->limit) {
            continue;
        }
        mkperf_json(v, "{'type':'row','event':%s", event);
        if (o->children) {
            mkperf_json(v, ",'children_percent':%.4f", report_row_share(rows, i));
        }
        mkperf_json(v, ",'percent':%.4f,'samples':%" PRIu64 ",'period':%" PRIu64, share,
                    r->self.samples, r->self.period);
        for (unsigned k = 0; k < o->keys.n; k++) {
            enum report_column_id column = o->keys.column[k];
            if (column == REPORT_SORT_TIME) {
                mkperf_json(v, ",'time_ns':%" PRIu64,
                            mkperf_time_slice_ns(&p->slices, r->key.slice));
            } else if (column == REPORT_SORT_UTIL) {
                double percent = 0;
                uint64_t unknown_ns = 0;
                bool known =
                    mkperf_utilisation_of(&p->util, r->key.pd, r->key.slice, &percent, &unknown_ns);
                mkperf_json(v, ",'util_percent':%.4f,'unknown_ns':%" PRIu64, known ? percent : NAN,
                            unknown_ns);
            } else if (column != REPORT_SORT_EVENT || v->separator != NULL) {
                /* Each JSON row begins with its event. */
                char text[REPORT_ROW_TEXT];
                mkperf_json(v, ",%s:%s", report_columns[column].name,
                            report_row_text(rows, r, k, text));
            }
        }
        if (o->interval) {
            mkperf_json(v, ",'interval':%.4f", mkperf_profile_interval(p, rows->event, share));
        }
        mkperf_json(v, "}\n");
    }
    mkperf_json(v,
                "{'type':'event','event':%s,'samples':%" PRIu64 ",'period':%" PRIu64
                ",'shown_samples':%" PRIu64 ",'shown_period':%" PRIu64 "}\n",
                event, p->total[rows->event].samples, p->total[rows->event].period,
                rows->shown.samples, rows->shown.period);
}

void report_total_values(const struct mkperf_profile *p, struct mkperf_textout *v)
{
    mkperf_json(v,
                "{'type':'total','first_ns':%" PRIu64 ",'last_ns':%" PRIu64 ",'samples':%" PRIu64
                ",'lost':%" PRIu64 ",'gaps':%" PRIu64 ",'gap_ns':%" PRIu64 ",'complete':%d}\n",
                p->totals.first_ns, p->totals.last_ns, p->totals.samples, mkperf_lost_sum(p->lost),
                p->sched != NULL ? p->sched->gaps : 0, p->sched != NULL ? p->sched->gap_ns : 0,
                p->totals.complete);
}
