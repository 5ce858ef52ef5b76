/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see tree.h. Callers are followed from the innermost occurrence of the row's function
 * outwards, callees from the outermost inwards, so that a recursive function's samples are counted
 * once.
 */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

struct node {
    uint32_t function;
    uint32_t child, next; /* numbers of nodes; 0 = none (node 0 is the root) */
    uint64_t period;
};

struct tree {
    struct node *node;
    uint32_t n, room;
};

static uint32_t child_of(struct tree *t, uint32_t parent, uint32_t function)
{
    uint32_t i;

    for (i = t->node[parent].child; i; i = t->node[i].next) {
        if (t->node[i].function == function) {
            return i;
        }
    }
    if (t->n == t->room) {
        struct node *more = reallocarray(t->node, 2 * (size_t)t->room, sizeof *more);

        if (!more) {
            return 0;
        }
        t->node = more;
        t->room *= 2;
    }
    t->node[t->n] = (struct node){.function = function, .next = t->node[parent].child};
    t->node[parent].child = t->n;
    return t->n++;
}

/* A function in a tree is shown by PD, mode and name: lines would split it. */
static bool same_row(const struct report_row_key *a, const struct report_row_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Where the row's function is in a chain; -1: not there. */
static int occurrence(const struct report_row *r, const struct report_frames *f,
                      const struct report_options *o, uint32_t chain, const uint32_t *function,
                      uint32_t n)
{
    int found = -1;

    for (uint32_t i = 0; i < n && (i == 0 || o->children); i++) {
        struct report_row_key key = report_row_key(f, o, chain, function[i]);

        if (same_row(&key, &r->key)) {
            found = (int)i;
            if (o->graph == REPORT_GRAPH_CALLERS) {
                break;
            }
        }
    }
    return found;
}

static bool add_chain(struct tree *t, const struct report_row *r, struct report_frames *f,
                      const struct report_options *o, uint32_t chain)
{
    uint32_t function[REPORT_FRAMES_MAX], node = 0;
    uint32_t n = report_frames_of(f, chain, function);
    int at = occurrence(r, f, o, chain, function, n);
    int step = o->graph == REPORT_GRAPH_CALLERS ? 1 : -1;

    if (at < 0) {
        return n > 0;
    }
    t->node[0].period += f->profile->weight[chain].period;
    for (at += step; at >= 0 && (uint32_t)at < n; at += step) {
        node = child_of(t, node, function[at]);
        if (node == 0) {
            return false;
        }
        t->node[node].period += f->profile->weight[chain].period;
    }
    return true;
}

struct printer {
    const struct tree *tree;
    const struct report_frames *frames;
    uint64_t whole;
    double limit;
    FILE *out;
    char indent[4 * REPORT_FRAMES_MAX + 8];
};

static int compare_nodes(const void *pa, const void *pb, void *context)
{
    const struct printer *p = context;
    const struct node *a = &p->tree->node[*(const uint32_t *)pa];
    const struct node *b = &p->tree->node[*(const uint32_t *)pb];
    struct report_function fa = report_function(p->frames, a->function);
    struct report_function fb = report_function(p->frames, b->function);
    int order = strcmp(report_text(p->frames, fa.name), report_text(p->frames, fb.name));

    if (a->period != b->period) {
        return a->period > b->period ? -1 : 1;
    }
    return order ? order : a->function < b->function ? -1 : a->function > b->function;
}

/* The children of a node that are large enough, sorted; NULL if there are none or no memory. */
static uint32_t *children_of(struct printer *p, uint32_t node, uint32_t *n)
{
    uint32_t *list, count = 0;

    *n = 0;
    for (uint32_t i = p->tree->node[node].child; i; i = p->tree->node[i].next) {
        count++;
    }
    list = count ? calloc(count, sizeof *list) : NULL;
    for (uint32_t i = p->tree->node[node].child; i && list; i = p->tree->node[i].next) {
        if (100.0 * (double)p->tree->node[i].period >= p->limit * (double)p->whole) {
            list[(*n)++] = i;
        }
    }
    if (list) {
        qsort_r(list, *n, sizeof *list, compare_nodes, p);
    }
    return list;
}

static void print_node(struct printer *p, uint32_t node, uint32_t parent_pd)
{
    const struct node *t = &p->tree->node[node];
    struct report_function fn = report_function(p->frames, t->function);
    const char *pd = fn.pd != parent_pd ? report_pd_name(p->frames->profile, fn.pd) : NULL;

    fprintf(p->out, "%s|--%.2f%%-- %s%s%s%s%s%s\n", p->indent,
            p->whole ? 100.0 * (double)t->period / (double)p->whole : 0.0, fn.kernel ? "[k] " : "",
            report_text(p->frames, fn.name), fn.line ? " " : "",
            fn.line ? report_text(p->frames, fn.line) : "", pd ? " in " : "", pd ? pd : "");
}

static void print_children(struct printer *p, uint32_t node, uint32_t pd)
{
    size_t depth = strlen(p->indent);
    uint32_t n, *list = children_of(p, node, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t child_pd = report_function(p->frames, p->tree->node[list[i]].function).pd;

        print_node(p, list[i], pd);
        memcpy(p->indent + depth, i + 1 < n ? "|   " : "    ", 5);
        print_children(p, list[i], child_pd);
        p->indent[depth] = 0;
    }
    free(list);
}

enum mkperf_status report_tree_print(const struct report_row *r, struct report_frames *f,
                                     const struct report_options *o, uint32_t event, FILE *out,
                                     struct mkperf_error *e)
{
    struct tree t = {.node = calloc(64, sizeof *t.node), .n = 1, .room = 64};
    struct printer p = {.tree = &t,
                        .frames = f,
                        .whole = f->profile->total[event].period,
                        .limit = o->graph_limit,
                        .out = out,
                        .indent = "        "};
    bool ok = t.node != NULL;

    for (uint32_t i = 0; ok && i < f->profile->chains.count; i++) {
        ok = !report_chain_wanted(f, o, event, i) || add_chain(&t, r, f, o, i);
    }
    if (ok && t.node[0].child) {
        print_children(&p, 0, r->key.pd);
        fputc('\n', out);
    }
    free(t.node);
    return ok ? MKPERF_OK : mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
}
