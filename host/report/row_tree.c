/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see row_tree.h. Callers are followed from the innermost occurrence of the row's function
 * outwards, callees from the outermost inwards, so that a recursive function's samples are counted
 * once.
 */
#include "row_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/colour.h"

bool report_tree_init(struct report_tree *t)
{
    *t = (struct report_tree){.node = calloc(64, sizeof *t->node), .n = 1, .room = 64};
    return t->node != NULL;
}

void report_tree_free(struct report_tree *t)
{
    free(t->node);
    t->node = NULL;
}

uint32_t report_tree_child(struct report_tree *t, uint32_t parent, uint32_t function)
{
    uint32_t i;

    for (i = t->node[parent].child; i; i = t->node[i].next) {
        if (t->node[i].function == function) {
            return i;
        }
    }
    if (t->n == t->room) {
        struct report_node *more = reallocarray(t->node, 2 * (size_t)t->room, sizeof *more);

        if (!more) {
            return 0;
        }
        t->node = more;
        t->room *= 2;
    }
    t->node[t->n] = (struct report_node){.function = function, .next = t->node[parent].child};
    t->node[parent].child = t->n;
    return t->n++;
}

/* A function in a tree is shown by PD, mode and name: lines would split it. */
static bool same_row(const struct report_row_key *a, const struct report_row_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Where the row's function is in a chain; -1: not there. */
static int occurrence(const struct report_row *r, const struct mkperf_frames *f,
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

static bool add_chain(struct report_tree *t, const struct report_row *r, struct mkperf_frames *f,
                      const struct report_options *o, uint32_t chain)
{
    uint32_t function[MKPERF_PLACES_MAX], node = 0;
    uint32_t n = mkperf_frames_of(f, chain, function);
    int at = occurrence(r, f, o, chain, function, n);
    int step = o->graph == REPORT_GRAPH_CALLERS ? 1 : -1;

    if (at < 0) {
        return n > 0;
    }
    t->node[0].period += f->profile->weight[chain].period;
    for (at += step; at >= 0 && (uint32_t)at < n; at += step) {
        node = report_tree_child(t, node, function[at]);
        if (node == 0) {
            return false;
        }
        t->node[node].period += f->profile->weight[chain].period;
    }
    return true;
}

enum mkperf_status report_tree_build(struct report_tree *t, const struct report_row *r,
                                     struct mkperf_frames *f, const struct report_options *o,
                                     uint32_t event, struct mkperf_error *e)
{
    bool ok = report_tree_init(t);

    for (uint32_t i = 0; ok && i < f->profile->chains.count; i++) {
        ok = !report_chain_wanted(f, o, event, i) || add_chain(t, r, f, o, i);
    }
    return ok ? MKPERF_OK : mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
}

struct order {
    const struct report_tree *tree;
    const struct mkperf_frames *frames;
};

static int compare_nodes(const void *pa, const void *pb, void *context)
{
    const struct order *o = context;
    const struct report_node *a = &o->tree->node[*(const uint32_t *)pa];
    const struct report_node *b = &o->tree->node[*(const uint32_t *)pb];
    struct mkperf_label fa = mkperf_frames_label(o->frames, a->function);
    struct mkperf_label fb = mkperf_frames_label(o->frames, b->function);
    int order =
        strcmp(mkperf_frames_text(o->frames, fa.name), mkperf_frames_text(o->frames, fb.name));

    if (a->period != b->period) {
        return a->period > b->period ? -1 : 1;
    }
    return order ? order : a->function < b->function ? -1 : a->function > b->function;
}

uint32_t *report_tree_children(const struct report_tree *t, const struct mkperf_frames *f,
                               uint32_t node, double least, uint32_t *n)
{
    struct order order = {.tree = t, .frames = f};
    uint32_t *list, count = 0;

    *n = 0;
    for (uint32_t i = t->node[node].child; i; i = t->node[i].next) {
        count++;
    }
    list = count ? calloc(count, sizeof *list) : NULL;
    for (uint32_t i = t->node[node].child; i && list; i = t->node[i].next) {
        if ((double)t->node[i].period >= least) {
            list[(*n)++] = i;
        }
    }
    if (list) {
        qsort_r(list, *n, sizeof *list, compare_nodes, &order);
    }
    return list;
}

void report_tree_text(const struct report_tree *t, const struct mkperf_frames *f, uint32_t node,
                      uint32_t parent_pd, uint64_t whole, char *text, size_t n)
{
    const struct report_node *at = &t->node[node];
    struct mkperf_label fn = mkperf_frames_label(f, at->function);
    const char *pd = fn.pd != parent_pd ? mkperf_profile_pd_name(f->profile, fn.pd) : NULL;

    snprintf(text, n, "%.2f%%-- %s%s%s%s%s%s",
             whole ? 100.0 * (double)at->period / (double)whole : 0.0, fn.kernel ? "[k] " : "",
             mkperf_frames_text(f, fn.name), fn.line ? " " : "",
             fn.line ? mkperf_frames_text(f, fn.line) : "", pd ? " in " : "", pd ? pd : "");
}

struct printer {
    const struct report_tree *tree;
    const struct mkperf_frames *frames;
    uint64_t whole;
    double least;
    FILE *out;
    bool colour;
    char indent[4 * MKPERF_PLACES_MAX + 8];
};

static void print_children(struct printer *p, uint32_t node, uint32_t pd)
{
    size_t depth = strlen(p->indent), share;
    uint32_t n, *list = report_tree_children(p->tree, p->frames, node, p->least, &n);
    char text[700];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t child_pd = mkperf_frames_label(p->frames, p->tree->node[list[i]].function).pd;

        report_tree_text(p->tree, p->frames, list[i], pd, p->whole, text, sizeof text);
        share = strcspn(text, "-");
        fprintf(p->out, "%s|--%s%.*s%s%s\n", p->indent, mkperf_colour_begin(p->colour, atof(text)),
                (int)share, text, mkperf_colour_end(p->colour, atof(text)), text + share);
        memcpy(p->indent + depth, i + 1 < n ? "|   " : "    ", 5);
        print_children(p, list[i], child_pd);
        p->indent[depth] = 0;
    }
    free(list);
}

enum mkperf_status report_tree_print(const struct report_row *r, struct mkperf_frames *f,
                                     const struct report_options *o, uint32_t event, FILE *out,
                                     struct mkperf_error *e)
{
    struct report_tree t;
    enum mkperf_status status = report_tree_build(&t, r, f, o, event, e);
    uint64_t whole = f->profile->total[event].period;
    struct printer p = {.tree = &t,
                        .frames = f,
                        .whole = whole,
                        .least = o->graph_limit * (double)whole / 100,
                        .out = out,
                        .colour = o->colour,
                        .indent = "        "};

    if (status == MKPERF_OK && t.node[0].child) {
        print_children(&p, 0, r->key.pd);
        fputc('\n', out);
    }
    report_tree_free(&t);
    return status;
}
