/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see items.h. */
#include "items.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"
#include "base/xalloc.h"
#include "rows_print.h"

enum { TEXT = REPORT_ITEM_TEXT / 2 };

/* Makes room for `count` items at `at`; those behind it move. */
static void make_room(struct report_items *l, size_t at, size_t count)
{
    MKPERF_GROW(l->item, l->room, l->n + count);
    memmove(l->item + at + count, l->item + at, (l->n - at) * sizeof *l->item);
    l->n += count;
}

static void free_trees(struct report_items *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->item[i].node == 0 && l->item[i].tree) {
            mkperf_tree_free(l->item[i].tree);
            free(l->item[i].tree);
        }
    }
    l->n = 0;
}

void report_items_free(struct report_items *l)
{
    free_trees(l);
    report_rows_free(&l->rows);
    free(l->item);
    l->item = NULL;
    l->room = 0;
}

void report_items_build(struct report_items *l)
{
    uint32_t n = 0;

    free_trees(l);
    report_rows_free(&l->rows);
    report_rows_build(&l->rows, l->frames, &l->options, l->event);
    make_room(l, 0, l->rows.n);
    for (uint32_t i = 0; i < l->rows.n; i++) {
        if (report_row_share(&l->rows, i) >= l->options.limit) {
            l->item[n++] = (struct report_item){.row = i, .pd = l->rows.row[i].key.pd};
        }
    }
    l->n = n;
}

static struct mkperf_tree *tree_of(struct report_items *l, const struct report_item *row)
{
    struct mkperf_tree *tree = mkperf_xcalloc(1, sizeof *tree);

    report_tree_build(tree, &l->rows.row[row->row], &l->rows, l->frames, &l->options);
    return tree;
}

static const char *open_item(struct report_items *l, size_t at)
{
    struct report_item parent = l->item[at];
    double whole = (double)l->rows.whole;
    double least = l->options.graph_limit * whole / 100;
    uint32_t n = 0;

    if (parent.open) {
        return NULL;
    }
    parent.tree = parent.tree != NULL ? parent.tree : tree_of(l, &parent);
    l->item[at] = parent;
    const struct mkperf_tree_node *node = parent.tree->node;
    for (uint32_t i = node[parent.node].child; i != 0 && (double)node[i].total.period >= least;
         i = node[i].next) {
        make_room(l, at + 1 + n, 1);
        l->item[at + 1 + n++] =
            (struct report_item){.row = parent.row,
                                 .node = i,
                                 .pd = mkperf_frames_label(l->frames, node[i].label).pd,
                                 .depth = parent.depth + 1,
                                 .tree = parent.tree};
    }
    l->item[at].open = n > 0;
    return n > 0 ? NULL : "no caller";
}

const char *report_items_open(struct report_items *l, size_t at)
{
    size_t n = l->n;
    const char *problem = open_item(l, at);

    while (l->n == n + 1) {
        at++;
        n = l->n;
        open_item(l, at);
    }
    return problem;
}

void report_items_close(struct report_items *l, size_t at)
{
    size_t end = at + 1;

    while (end < l->n && l->item[end].depth > l->item[at].depth) {
        end++;
    }
    memmove(l->item + at + 1, l->item + end, (l->n - end) * sizeof *l->item);
    l->n -= end - at - 1;
    l->item[at].open = false;
}

size_t report_items_parent(const struct report_items *l, size_t at)
{
    int depth = l->item[at].depth;

    while (at > 0 && depth > 0 && l->item[at].depth >= depth) {
        at--;
    }
    return at;
}

static void row_text(const struct report_items *l, const struct report_item *at, char *text,
                     size_t n)
{
    const struct report_row *r = &l->rows.row[at->row];
    uint64_t whole = l->rows.whole;
    char columns[TEXT];
    char mark = at->open ? '-' : '+';

    report_row_text(l->frames, &l->options, r, columns, sizeof columns);
    if (l->options.children) {
        snprintf(text, n, "%c %6.2f%% %6.2f%% %8" PRIu64 "  %s", mark,
                 mkperf_percent(r->children.period, whole), mkperf_percent(r->self.period, whole),
                 r->self.samples, columns);
    } else {
        snprintf(text, n, "%c %6.2f%% %8" PRIu64 "  %s", mark,
                 mkperf_percent(r->self.period, whole), r->self.samples, columns);
    }
}

void report_items_text(const struct report_items *l, size_t at, char *text, size_t n)
{
    const struct report_item *i = &l->item[at];
    const struct report_item *parent = &l->item[report_items_parent(l, at)];
    uint64_t whole = l->rows.whole;
    char node[TEXT];

    if (i->node == 0) {
        row_text(l, i, text, n);
        return;
    }
    report_tree_text(i->tree, l->frames, l->event, i->node, parent->pd, whole, node, sizeof node);
    snprintf(text, n, "%*s%c-%s", 8 + 4 * i->depth, "", i->open ? '-' : '|', node);
}
