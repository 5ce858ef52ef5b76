/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table as a tree of its sort keys (--hierarchy), see rows_print.h. */
#include <inttypes.h>
#include <string.h>

#include "base/colour.h"
#include "base/percent.h"
#include "profile/tree.h"
#include "rows_print.h"

struct hierarchy {
    struct mkperf_hash texts; /* labels of nodes */
    struct mkperf_tree tree;
    const struct report_options *options;
    uint64_t whole;
    uint32_t omitted;
    FILE *out;
};

/* Whether rows are in the order of the node's column: it is the time, or a key before it. */
static bool by_time(const struct hierarchy *h, const struct mkperf_tree_node *n)
{
    const struct report_column_list *keys = &h->options->keys;
    unsigned column = 0;

    for (uint32_t parent = n->parent; parent != 0; parent = h->tree.node[parent].parent) {
        column++;
    }
    while (column < keys->n && keys->column[column] != REPORT_SORT_TIME) {
        column++;
    }
    return column < keys->n;
}

static int by_period(const struct mkperf_tree_node *a, const struct mkperf_tree_node *b,
                     const void *context)
{
    const struct hierarchy *h = context;
    uint64_t x = a->total.period, y = b->total.period;

    if (by_time(h, a)) {
        return 0; /* as they were added */
    }
    if (x != y) {
        return x > y ? -1 : 1;
    }
    return strcmp(mkperf_hash_text(&h->texts, a->label), mkperf_hash_text(&h->texts, b->label));
}

static void add_row(struct hierarchy *h, const struct mkperf_frames *f, const struct report_row *r)
{
    uint32_t node = 0;
    char text[600];

    for (unsigned i = 0; i < h->options->keys.n; i++) {
        report_column_text(h->options->keys.column[i], f, &r->key, text, sizeof text);
        node = mkperf_tree_child(&h->tree, node, mkperf_hash_text_number(&h->texts, text));
    }
    mkperf_tree_add(&h->tree, node, 0, r->self);
}

static void print_below(struct hierarchy *h, uint32_t parent, int depth)
{
    const struct mkperf_tree_node *n = h->tree.node;
    bool colour = h->options->colour;

    for (uint32_t i = n[parent].child; i != 0; i = n[i].next) {
        double share = mkperf_percent(n[i].total.period, h->whole);
        if (share < h->options->limit) {
            h->omitted++;
            continue;
        }
        fprintf(h->out, "%s%9.2f%%%s  %7" PRIu64 "  %15" PRIu64 "  %*s%s\n",
                mkperf_colour_begin(colour, share), share, mkperf_colour_end(colour, share),
                n[i].total.samples, n[i].total.period, 2 * depth, "",
                mkperf_hash_text(&h->texts, n[i].label));
        print_below(h, i, depth + 1);
    }
}

void report_hierarchy_print(const struct report_rows *rows, const struct mkperf_frames *f,
                            const struct report_options *o, FILE *out)
{
    struct hierarchy h = {.options = o, .whole = rows->whole, .out = out};

    mkperf_tree_init(&h.tree);
    for (uint32_t i = 0; i < rows->n; i++) {
        add_row(&h, f, &rows->row[i]);
    }
    mkperf_tree_finish(&h.tree, by_period, &h);
    fprintf(out, "# Overhead  Samples           Period");
    for (unsigned i = 0; i < o->keys.n; i++) {
        fprintf(out, "%s%s", i == 0 ? "  " : " / ", report_column_title(o->keys.column[i]));
    }
    fprintf(out, "\n#\n");
    print_below(&h, 0, 0);
    if (h.omitted > 0) {
        fprintf(out, "# %" PRIu32 " rows below %g %%, and what is in them, are omitted\n",
                h.omitted, o->limit);
    }
    fputc('\n', out);
    mkperf_tree_free(&h.tree);
    mkperf_hash_free(&h.texts);
}
