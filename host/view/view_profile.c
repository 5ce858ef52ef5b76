/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the answer "profile" of view_json.h: table and flame graph of the selected samples. Rows
 * are those of mkperf report --children; the tree's weights are of the same chains.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "profile/tree.h"
#include "report/rows.h"
#include "view_json.h"

/* In a tree, the nodes below the root are PDs: not functions, but numbers from here on. */
static const uint32_t PD_NODE = UINT32_C(1) << 31;

static void print_rows(const struct mkperf_frames *f, const struct report_rows *rows, FILE *out)
{
    uint32_t n = rows->n < VIEW_ROWS ? rows->n : VIEW_ROWS;

    fputs(",\"rows\":[", out);
    for (uint32_t i = 0; i < n; i++) {
        const struct report_row *r = &rows->row[i];

        fprintf(out, "%s[%" PRIu32 ",", i ? "," : "", r->key.pd);
        view_json_text(mkperf_frames_text(f, r->key.name), out);
        fprintf(out, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", r->key.kernel,
                r->self.period, r->children.period, r->self.samples);
    }
    fprintf(out, "],\"left\":%" PRIu32, rows->n - n);
}

/* Adds a chain, from its PD to the innermost function. */
static void add_chain(struct mkperf_tree *t, struct mkperf_frames *f, uint32_t chain)
{
    uint32_t function[MKPERF_PLACES_MAX];
    uint32_t pd = mkperf_profile_head(f->profile, chain).pd;
    uint32_t node = mkperf_tree_child(t, 0, PD_NODE | pd);

    for (uint32_t i = mkperf_frames_of(f, chain, function); i-- > 0;) {
        node = mkperf_tree_child(t, node, function[i]);
    }
    mkperf_tree_add(t, node, 0, f->profile->weight[chain]);
}

/* The period below which nodes are not sent, so that at most VIEW_NODES are. */
static uint64_t least_period(const struct mkperf_tree *t, uint32_t *hidden)
{
    uint64_t least = t->node[0].total[0].period / 20000 + 1;

    for (;; least *= 2) {
        uint32_t n = 0;

        for (uint32_t i = 1; i < t->n; i++) {
            n += t->node[i].total[0].period >= least;
        }
        *hidden = t->n - 1 - n;
        if (n <= VIEW_NODES) {
            return least;
        }
    }
}

struct printer {
    const struct mkperf_tree *tree;
    uint64_t least;
    uint32_t *sent; /* number of each function in the answer, + 1; 0: none yet */
    uint32_t *order, nsent;
    bool first;
    FILE *out;
};

static int by_period(const struct mkperf_tree_node *a, const struct mkperf_tree_node *b,
                     const void *context)
{
    uint64_t x = a->total[0].period, y = b->total[0].period;

    (void)context;
    return x != y ? (x > y ? -1 : 1) : (a->label > b->label) - (a->label < b->label);
}

static void print_node(struct printer *p, const struct mkperf_tree_node *node, unsigned depth)
{
    int64_t function = -1 - (int64_t)(node->label & ~PD_NODE);

    if (!(node->label & PD_NODE)) {
        if (p->sent[node->label] == 0) {
            p->order[p->nsent++] = node->label;
            p->sent[node->label] = p->nsent;
        }
        function = p->sent[node->label] - 1;
    }
    fprintf(p->out, "%s[%u,%" PRId64 ",%" PRIu64 "]", p->first ? "" : ",", depth, function,
            node->total[0].period);
    p->first = false;
}

/* The children of a node, the heaviest first. */
static void print_nodes(struct printer *p, uint32_t parent, unsigned depth)
{
    const struct mkperf_tree_node *node = p->tree->node;

    for (uint32_t i = node[parent].child; i != 0 && node[i].total[0].period >= p->least;
         i = node[i].next) {
        print_node(p, &node[i], depth);
        print_nodes(p, i, depth + 1);
    }
}

static void print_tree(const struct mkperf_frames *f, const struct mkperf_tree *t, FILE *out)
{
    uint32_t hidden, functions = f->functions.count;
    struct printer p = {.tree = t, .least = least_period(t, &hidden), .first = true, .out = out};

    p.sent = mkperf_xcalloc(functions, sizeof *p.sent);
    p.order = mkperf_xcalloc(functions, sizeof *p.order);
    fputs(",\"tree\":[", out);
    print_nodes(&p, 0, 0);
    fprintf(out, "],\"hidden\":%" PRIu32 ",\"functions\":[", hidden);
    for (uint32_t i = 0; i < p.nsent; i++) {
        struct mkperf_label fn = mkperf_frames_label(f, p.order[i]);

        fprintf(out, "%s[%" PRIu32 ",", i ? "," : "", fn.pd);
        view_json_text(mkperf_frames_text(f, fn.name), out);
        fprintf(out, ",%d]", fn.kernel);
    }
    fputs("]", out);
    free(p.sent);
    free(p.order);
}

static void build_tree(struct mkperf_tree *t, struct mkperf_frames *f,
                       const struct report_options *o, uint32_t event)
{
    mkperf_tree_init(t);
    for (uint32_t i = 0; i < f->profile->chains.count; i++) {
        if (report_chain_wanted(f, o, event, i)) {
            add_chain(t, f, i);
        }
    }
    mkperf_tree_finish(t, by_period, NULL);
}

enum mkperf_status view_json_profile(struct mkperf_frames *f, const struct view_query *q, FILE *out,
                                     struct mkperf_error *e)
{
    static const struct report_options by_function = {
        .keys = {{REPORT_SORT_PD, REPORT_SORT_SYMBOL}, 2}, .children = true};
    struct report_options o = by_function;
    struct report_rows rows;
    struct mkperf_tree tree;
    enum mkperf_status status;

    o.pd = q->pd;
    status = report_rows_build(&rows, f, &o, q->event, e);
    if (status == MKPERF_OK) {
        fprintf(out, "{\"samples\":%" PRIu64 ",\"period\":%" PRIu64 ",\"whole\":%" PRIu64,
                rows.shown.samples, rows.shown.period, f->profile->total[q->event].period);
        print_rows(f, &rows, out);
        build_tree(&tree, f, &o, q->event);
        print_tree(f, &tree, out);
        mkperf_tree_free(&tree);
        fputs("}", out);
    }
    report_rows_free(&rows);
    return status;
}
