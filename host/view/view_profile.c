/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the answer "profile" of view_json.h: table and flame graph of the selected samples. Rows
 * are those of mkperf report --children; the tree's weights are of the same chains.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/row_tree.h"
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
static bool add_chain(struct report_tree *t, struct mkperf_frames *f, uint32_t chain)
{
    uint32_t function[MKPERF_PLACES_MAX];
    uint32_t n = mkperf_frames_of(f, chain, function);
    uint64_t period = f->profile->weight[chain].period;
    uint32_t pd = mkperf_profile_head(f->profile, chain).pd;
    uint32_t node = report_tree_child(t, 0, PD_NODE | pd);

    t->node[0].period += period;
    for (uint32_t i = n; node && i > 0; i--) {
        t->node[node].period += period;
        node = report_tree_child(t, node, function[i - 1]);
    }
    t->node[node].period += node ? period : 0;
    return n > 0 && node > 0;
}

/* The period below which nodes are not sent, so that at most VIEW_NODES are. */
static uint64_t least_period(const struct report_tree *t, uint32_t *hidden)
{
    uint64_t least = t->node[0].period / 20000 + 1;

    for (;; least *= 2) {
        uint32_t n = 0;

        for (uint32_t i = 1; i < t->n; i++) {
            n += t->node[i].period >= least;
        }
        *hidden = t->n - 1 - n;
        if (n <= VIEW_NODES) {
            return least;
        }
    }
}

struct printer {
    const struct report_tree *tree;
    uint64_t least;
    uint32_t *sent; /* number of each function in the answer, + 1; 0: none yet */
    uint32_t *order, nsent;
    bool first;
    FILE *out;
};

static int compare_nodes(const void *pa, const void *pb, void *context)
{
    const struct report_tree *t = context;
    const struct report_node *a = &t->node[*(const uint32_t *)pa];
    const struct report_node *b = &t->node[*(const uint32_t *)pb];

    if (a->period != b->period) {
        return a->period > b->period ? -1 : 1;
    }
    return a->function < b->function ? -1 : a->function > b->function;
}

static void print_node(struct printer *p, const struct report_node *node, unsigned depth)
{
    int64_t function = -1 - (int64_t)(node->function & ~PD_NODE);

    if (!(node->function & PD_NODE)) {
        if (p->sent[node->function] == 0) {
            p->order[p->nsent++] = node->function;
            p->sent[node->function] = p->nsent;
        }
        function = p->sent[node->function] - 1;
    }
    fprintf(p->out, "%s[%u,%" PRId64 ",%" PRIu64 "]", p->first ? "" : ",", depth, function,
            node->period);
    p->first = false;
}

/* The children of a node, the heaviest first. False: out of memory. */
static bool print_nodes(struct printer *p, uint32_t parent, unsigned depth)
{
    const struct report_node *node = p->tree->node;
    uint32_t n = 0, *list;
    bool ok;

    for (uint32_t i = node[parent].child; i; i = node[i].next) {
        n += node[i].period >= p->least;
    }
    list = calloc((size_t)n + 1, sizeof *list);
    ok = list != NULL;
    n = 0;
    for (uint32_t i = node[parent].child; i && ok; i = node[i].next) {
        if (node[i].period >= p->least) {
            list[n++] = i;
        }
    }
    if (ok) {
        qsort_r(list, n, sizeof *list, compare_nodes, (void *)(uintptr_t)p->tree);
    }
    for (uint32_t i = 0; i < n && ok; i++) {
        print_node(p, &node[list[i]], depth);
        ok = print_nodes(p, list[i], depth + 1);
    }
    free(list);
    return ok;
}

static bool print_tree(const struct mkperf_frames *f, const struct report_tree *t, FILE *out)
{
    uint32_t hidden, functions = f->functions.count;
    struct printer p = {.tree = t, .least = least_period(t, &hidden), .first = true, .out = out};

    bool ok;

    p.sent = calloc((size_t)functions + 1, sizeof *p.sent);
    p.order = calloc((size_t)functions + 1, sizeof *p.order);
    ok = p.sent && p.order;
    if (ok) {
        fputs(",\"tree\":[", out);
        ok = print_nodes(&p, 0, 0);
        fprintf(out, "],\"hidden\":%" PRIu32 ",\"functions\":[", hidden);
        for (uint32_t i = 0; i < p.nsent; i++) {
            struct mkperf_label fn = mkperf_frames_label(f, p.order[i]);

            fprintf(out, "%s[%" PRIu32 ",", i ? "," : "", fn.pd);
            view_json_text(mkperf_frames_text(f, fn.name), out);
            fprintf(out, ",%d]", fn.kernel);
        }
        fputs("]", out);
    }
    free(p.sent);
    free(p.order);
    return ok;
}

static bool build_tree(struct report_tree *t, struct mkperf_frames *f,
                       const struct report_options *o, uint32_t event)
{
    bool ok = report_tree_init(t);

    for (uint32_t i = 0; ok && i < f->profile->chains.count; i++) {
        ok = !report_chain_wanted(f, o, event, i) || add_chain(t, f, i);
    }
    return ok;
}

enum mkperf_status view_json_profile(struct mkperf_frames *f, const struct view_query *q, FILE *out,
                                     struct mkperf_error *e)
{
    static const struct report_options by_function = {
        .key = {REPORT_SORT_PD, REPORT_SORT_SYMBOL}, .nkeys = 2, .children = true};
    struct report_options o = by_function;
    struct report_rows rows;
    struct report_tree tree = {.node = NULL};
    enum mkperf_status status;

    o.pd = q->pd;
    status = report_rows_build(&rows, f, &o, q->event, e);
    if (status == MKPERF_OK) {
        fprintf(out, "{\"samples\":%" PRIu64 ",\"period\":%" PRIu64 ",\"whole\":%" PRIu64,
                rows.shown.samples, rows.shown.period, f->profile->total[q->event].period);
        print_rows(f, &rows, out);
        if (!build_tree(&tree, f, &o, q->event) || !print_tree(f, &tree, out)) {
            status = mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
        }
        fputs("}", out);
    }
    report_tree_free(&tree);
    report_rows_free(&rows);
    return status;
}
