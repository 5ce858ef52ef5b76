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
#include "base/percent.h"

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

static void add_chain(struct mkperf_tree *t, const struct report_row *r, struct mkperf_frames *f,
                      const struct report_options *o, uint32_t chain)
{
    uint32_t function[MKPERF_PLACES_MAX], node = 0;
    uint32_t n = mkperf_frames_of(f, chain, function);
    int at = occurrence(r, f, o, chain, function, n);
    int step = o->graph == REPORT_GRAPH_CALLERS ? 1 : -1;

    if (at < 0) {
        return;
    }
    for (at += step; at >= 0 && (uint32_t)at < n; at += step) {
        node = mkperf_tree_child(t, node, function[at]);
    }
    mkperf_tree_add(t, node, 0, f->profile->weight[chain]);
}

static int by_period(const struct mkperf_tree_node *a, const struct mkperf_tree_node *b,
                     const void *context)
{
    const struct mkperf_frames *f = context;
    uint64_t x = a->total.period, y = b->total.period;

    if (x != y) {
        return x > y ? -1 : 1;
    }
    int order = strcmp(mkperf_frames_text(f, mkperf_frames_label(f, a->label).name),
                       mkperf_frames_text(f, mkperf_frames_label(f, b->label).name));
    return order != 0 ? order : (a->label > b->label) - (a->label < b->label);
}

void report_tree_build(struct mkperf_tree *t, const struct report_row *r,
                       const struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o)
{
    mkperf_tree_init(t);
    for (uint32_t hit = r->first_hit; hit != 0; hit = rows->hit[hit - 1].next) {
        add_chain(t, r, f, o, rows->hit[hit - 1].chain);
    }
    mkperf_tree_finish(t, by_period, f);
}

void report_tree_text(const struct mkperf_tree *t, const struct mkperf_frames *f, uint32_t event,
                      uint32_t node, uint32_t parent_pd, uint64_t whole, char *text, size_t n)
{
    const struct mkperf_tree_node *at = &t->node[node];
    struct mkperf_label fn = mkperf_frames_label(f, at->label);
    const char *pd = fn.pd != parent_pd ? mkperf_profile_pd_name(f->profile, fn.pd) : NULL;

    bool inferred = pd != NULL && mkperf_places_inferred(&f->profile->places, event);

    snprintf(text, n, "%.2f%%-- %s%s%s%s%s%s%s", mkperf_percent(at->total.period, whole),
             fn.kernel ? "[k] " : "", mkperf_frames_text(f, fn.name), fn.line ? " " : "",
             fn.line ? mkperf_frames_text(f, fn.line) : "", pd ? " in " : "", pd ? pd : "",
             inferred ? " (inferred)" : "");
}

struct printer {
    const struct mkperf_tree *tree;
    const struct mkperf_frames *frames;
    uint32_t event;
    uint64_t whole;
    double least;
    FILE *out;
    bool colour;
    char indent[4 * MKPERF_PLACES_MAX + 8];
};

/* Children are in the order of periods: behind one that is not shown, none is. */
static bool shown(const struct printer *p, uint32_t node)
{
    return (double)p->tree->node[node].total.period >= p->least;
}

static void print_children(struct printer *p, uint32_t node, uint32_t pd)
{
    const struct mkperf_tree_node *n = p->tree->node;
    size_t depth = strlen(p->indent), share;
    char text[700];
    uint32_t next;

    for (uint32_t i = n[node].child; i != 0 && shown(p, i); i = next) {
        next = n[i].next;
        report_tree_text(p->tree, p->frames, p->event, i, pd, p->whole, text, sizeof text);
        share = strcspn(text, "-");
        fprintf(p->out, "%s|--%s%.*s%s%s\n", p->indent, mkperf_colour_begin(p->colour, atof(text)),
                (int)share, text, mkperf_colour_end(p->colour, atof(text)), text + share);
        memcpy(p->indent + depth, next != 0 && shown(p, next) ? "|   " : "    ", 5);
        print_children(p, i, mkperf_frames_label(p->frames, n[i].label).pd);
        p->indent[depth] = 0;
    }
}

void report_tree_print(const struct report_row *r, const struct report_rows *rows,
                       struct mkperf_frames *f, const struct report_options *o, FILE *out)
{
    struct mkperf_tree t;
    uint64_t whole = rows->whole;
    /* With --pd, branches are cut by their part of that PD: nothing is left of a small one else. */
    double base = (double)(o->pd ? rows->shown.period : whole);
    struct printer p = {.tree = &t,
                        .frames = f,
                        .event = rows->event,
                        .whole = whole,
                        .least = o->graph_limit * base / 100,
                        .out = out,
                        .colour = o->colour,
                        .indent = "        "};

    report_tree_build(&t, r, rows, f, o);
    if (t.node[0].child != 0) {
        print_children(&p, 0, r->key.pd);
        fputc('\n', out);
    }
    mkperf_tree_free(&t);
}
