/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a report and the call trees below them, see report.h. */
#include "report.h"

/* Compares, if there is the key `time`, by the keys before it and by time; then by weight, then by texts. */
static int compare_rows(const void *pa, const void *pb, void *context)
{
    const struct report_row *a = pa, *b = pb;
    const struct report_rows *rows = context;
    const struct mkperf_frames *f = rows->frames;
    const struct report_column_list *keys = &rows->options->keys;
    char text_a[REPORT_ROW_TEXT], text_b[REPORT_ROW_TEXT];
    int order = 0;

    if (report_columns_have(keys, REPORT_SORT_TIME)) {
        for (unsigned i = 0; order == 0 && keys->column[i] != REPORT_SORT_TIME; i++) {
            order =
                strcmp(report_row_text(rows, a, i, text_a), report_row_text(rows, b, i, text_b));
        }
        uint64_t x = mkperf_time_slice_ns(&f->profile->slices, a->key.slice);
        uint64_t y = mkperf_time_slice_ns(&f->profile->slices, b->key.slice);
        order = order != 0 ? order : mkperf_compare(x, y);
    }
    order = order != 0 ? order : mkperf_compare(b->children.period, a->children.period);
    order = order != 0 ? order : mkperf_compare(b->self.period, a->self.period);
    order = order != 0 ? order
                       : strcmp(mkperf_profile_pd_name(f->profile, a->key.pd),
                                mkperf_profile_pd_name(f->profile, b->key.pd));
    order = order != 0
                ? order
                : strcmp(mkperf_frames_text(f, a->key.name), mkperf_frames_text(f, b->key.name));
    order = order != 0
                ? order
                : strcmp(mkperf_frames_text(f, a->key.line), mkperf_frames_text(f, b->key.line));
    return order != 0 ? order : mkperf_compare(a->first, b->first);
}

void report_rows_build(struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o, uint32_t event)
{
    const struct mkperf_profile *p = f->profile;

    *rows = (struct report_rows){.frames = f, .options = o, .event = event};
    for (uint32_t chain = 0; chain < p->chains.count; chain++) {
        struct mkperf_chain_head head = mkperf_profile_head(p, chain);
        const struct mkperf_weight *w = &p->weight[chain];
        uint32_t function[MKPERF_FRAMES_MAX], n = 0;

        mkperf_progress(MKPERF_STEPS, chain, p->chains.count);
        if (head.event == event && w->samples > 0 &&
            (!o->pd || strcmp(o->pd, mkperf_profile_pd_name(p, head.pd)) == 0) &&
            !(o->no_idle && mkperf_places_idle(&p->places, head.pd))) {
            n = mkperf_frames_of(f, chain, function);
            n = o->children ? n : 1;
            mkperf_weight_add(&rows->shown, w);
        }
        for (uint32_t i = 0; i < n; i++) {
            uint32_t name = mkperf_frames_label(f, function[i]).name;

            if (o->symbol && !mkperf_symbol_is(mkperf_frames_text(f, name), o->symbol)) {
                continue;
            }
            struct report_row_key k = report_columns_key(&o->keys, f, chain, function[i]);
            uint64_t key[] = {k.pd, k.name, k.core, k.mode, k.line, k.event, k.dso, k.slice};
            uint32_t number = mkperf_hash_number(&rows->numbers, key, sizeof key / sizeof *key);
            MKPERF_GROW(rows->row, rows->room, (size_t)number + 1);
            struct report_row *row = &rows->row[number];
            if (number == rows->n) {
                rows->n++;
                *row = (struct report_row){.key = k, .first = number};
            }
            if (i == 0) {
                mkperf_weight_add(&row->self, w);
            }
            if (row->last_chain == chain + 1) {
                continue;
            }
            row->last_chain = chain + 1;
            mkperf_weight_add(&row->children, w);
            if (!p->leaves_only) { /* the hits of a row are a list, the last one first */
                MKPERF_GROW(rows->hit, rows->hit_room, (size_t)rows->nhits + 1);
                rows->hit[rows->nhits++] = (struct report_hit){chain, row->last_hit};
                row->last_hit = rows->nhits;
            }
        }
    }
    rows->whole = o->of == REPORT_OF_SHOWN || o->no_idle ? rows->shown.period
                                                         : p->total[event].period;
    if (rows->n > 0) {
        qsort_r(rows->row, rows->n, sizeof *rows->row, compare_rows, rows);
    }
}

void report_rows_free(struct report_rows *rows)
{
    mkperf_hash_free(&rows->numbers);
    free(rows->row);
    free(rows->hit);
    memset(rows, 0, sizeof *rows);
}

static int compare_graph_nodes(const struct mkperf_tree_node *a, const struct mkperf_tree_node *b,
                               const void *context)
{
    const struct mkperf_frames *f = context;
    int order = mkperf_compare(b->total.period, a->total.period);

    order = order != 0 ? order
                       : strcmp(mkperf_frames_text(f, mkperf_frames_label(f, a->label).name),
                                mkperf_frames_text(f, mkperf_frames_label(f, b->label).name));
    return order != 0 ? order : mkperf_compare(a->label, b->label);
}

void report_tree_build(struct mkperf_tree *t, const struct report_rows *rows,
                       const struct report_row *r)
{
    struct mkperf_frames *f = rows->frames;
    const struct report_options *o = rows->options;
    int step = o->graph == REPORT_GRAPH_CALLERS ? 1 : -1;

    mkperf_tree_init(t);
    for (uint32_t hit = r->last_hit; hit != 0; hit = rows->hit[hit - 1].next) {
        uint32_t function[MKPERF_FRAMES_MAX], chain = rows->hit[hit - 1].chain, node = 0;
        uint32_t n = mkperf_frames_of(f, chain, function);
        int at = -1;

        /* Callers are followed from the innermost occurrence of the row's function outwards and callees from the outermost inwards,
         * so that samples of a recursive function are counted once. */
        for (uint32_t i = 0; i < (o->children ? n : 1) && (at < 0 || step < 0); i++) {
            struct report_row_key key = report_columns_key(&o->keys, f, chain, function[i]);
            at = memcmp(&key, &r->key, sizeof key) == 0 ? (int)i : at;
        }
        assert(at >= 0);
        for (at += step; at >= 0 && (uint32_t)at < n; at += step) {
            node = mkperf_tree_child(t, node, function[at]);
        }
        mkperf_tree_add(t, node, 0, f->profile->weight[chain]);
    }
    mkperf_tree_finish(t, compare_graph_nodes, f);
}

void report_tree_text(const struct mkperf_tree *t, const struct report_rows *rows, uint32_t node,
                      uint32_t parent_pd, char *text, size_t n)
{
    const struct mkperf_frames *f = rows->frames;
    const struct mkperf_tree_node *at = &t->node[node];
    struct mkperf_label fn = mkperf_frames_label(f, at->label);
    const char *pd = fn.pd != parent_pd ? mkperf_profile_pd_name(f->profile, fn.pd) : NULL;

    bool inferred = pd != NULL && mkperf_places_inferred(&f->profile->places, rows->event);
    char mode[] = {'[', mkperf_mode_letter(fn.kernel, fn.guest), ']', ' ', '\0'};

    snprintf(text, n, "%.2f%%-- %s%s%s%s%s%s%s", mkperf_percent(at->total.period, rows->whole),
             mode[1] != '.' ? mode : "", mkperf_frames_text(f, fn.name), fn.line ? " " : "",
             fn.line ? mkperf_frames_text(f, fn.line) : "", pd ? " in " : "", pd ? pd : "",
             inferred ? " (inferred)" : "");
}

struct printer {
    const struct mkperf_tree *tree;
    const struct report_rows *rows;
    double least;
    char indent[4 * MKPERF_FRAMES_MAX + 8];
};

/* Returns whether a branch is shown. Children are in the order of their periods, so no child is
 * shown after one that is not. */
static bool is_branch_shown(const struct printer *p, uint32_t node)
{
    return (double)p->tree->node[node].total.period >= p->least;
}

static void print_children(struct printer *p, uint32_t node, uint32_t pd)
{
    const struct mkperf_tree_node *n = p->tree->node;
    bool colour = p->rows->options->colour;
    size_t depth = strlen(p->indent), share;
    char text[700];
    uint32_t next;

    for (uint32_t i = n[node].child; i != 0 && is_branch_shown(p, i); i = next) {
        next = n[i].next;
        report_tree_text(p->tree, p->rows, i, pd, text, sizeof text);
        share = strcspn(text, "-");
        printf("%s|--%s%.*s%s%s\n", p->indent, mkperf_colour_begin(colour, atof(text)), (int)share,
               text, mkperf_colour_end(colour, atof(text)), text + share);
        memcpy(p->indent + depth, next != 0 && is_branch_shown(p, next) ? "|   " : "    ", 5);
        print_children(p, i, mkperf_frames_label(p->rows->frames, n[i].label).pd);
        p->indent[depth] = 0;
    }
}

void report_tree_print(const struct report_rows *rows, const struct report_row *r)
{
    const struct report_options *o = rows->options;
    struct mkperf_tree t;
    /* With --pd and --symbol, the limit is a part of the weight of that PD or row. Otherwise a small PD or row would have no
     * branch. */
    double base = (double)(o->symbol ? r->children.period
                           : o->pd   ? rows->shown.period
                                     : rows->whole);
    struct printer p = {
        .tree = &t, .rows = rows, .least = o->graph_limit * base / 100, .indent = "        "};

    report_tree_build(&t, rows, r);
    if (t.node[0].child != 0) {
        print_children(&p, 0, r->key.pd);
        putchar('\n');
    }
    mkperf_tree_free(&t);
}
