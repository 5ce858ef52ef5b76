/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a report and the call trees below them, see report.h. */
#include "report.h"

#include "base/colour.h"
#include "base/process.h"

/* Returns whether a chain belongs to the event, has weight, and passes the filters by PD and idle. */
static bool is_wanted(const struct mkperf_frames *f, const struct report_options *o, uint32_t event,
                      uint32_t chain)
{
    struct mkperf_chain_head head = mkperf_profile_head(f->profile, chain);

    return head.event == event && f->profile->weight[chain].samples > 0 &&
           (!o->pd || strcmp(o->pd, mkperf_profile_pd_name(f->profile, head.pd)) == 0) &&
           !(o->no_idle && mkperf_places_idle(&f->profile->places, head.pd));
}

/* Returns the key of the row of a function in a chain. */
static struct report_row_key key_of(const struct mkperf_frames *f, const struct report_options *o,
                                    uint32_t chain, uint32_t function)
{
    struct mkperf_chain_head head = mkperf_profile_head(f->profile, chain);
    struct mkperf_label label = mkperf_frames_label(f, function);

    return report_columns_key(&o->keys, f, &head, &label);
}

static struct report_row *row_with_key(struct report_rows *rows, struct report_row_key k)
{
    uint64_t key[] = {k.pd, k.name, k.core, k.mode, k.line, k.event, k.dso, k.slice};
    uint32_t number = mkperf_hash_number(&rows->numbers, key, sizeof key / sizeof *key);

    MKPERF_GROW(rows->row, rows->room, (size_t)number + 1);
    if (number == rows->n) {
        rows->row[rows->n++] = (struct report_row){.key = k, .first = number};
    }
    return &rows->row[number];
}

static void add_to_rows(struct report_rows *rows, struct mkperf_frames *f,
                        const struct report_options *o, uint32_t chain)
{
    const struct mkperf_weight *w = &f->profile->weight[chain];
    uint32_t function[MKPERF_FRAMES_MAX], seen[MKPERF_FRAMES_MAX], nseen = 0;
    uint32_t n = mkperf_frames_of(f, chain, function);

    mkperf_weight_add(&rows->shown, w);
    for (uint32_t i = 0; i < n; i++) {
        struct report_row *row;
        uint32_t j = 0;

        if (i > 0 && !o->children) {
            break;
        }
        uint32_t name = mkperf_frames_label(f, function[i]).name;
        if (o->symbol && !mkperf_symbol_is(mkperf_frames_text(f, name), o->symbol)) {
            continue;
        }
        row = row_with_key(rows, key_of(f, o, chain, function[i]));
        if (i == 0) {
            mkperf_weight_add(&row->self, w);
        }
        while (j < nseen && seen[j] != row->first) {
            j++;
        }
        if (j == nseen) {
            seen[nseen++] = row->first;
            mkperf_weight_add(&row->children, w);
            if (!f->profile->leaves_only) { /* the hits of a row are a list */
                MKPERF_GROW(rows->hit, rows->hit_room, (size_t)rows->nhits + 1);
                rows->hit[rows->nhits++] = (struct report_hit){.chain = chain};
                *(row->last_hit != 0 ? &rows->hit[row->last_hit - 1].next : &row->first_hit) =
                    rows->nhits;
                row->last_hit = rows->nhits;
            }
        }
    }
}

struct sorting {
    const struct mkperf_frames *frames;
    const struct report_options *options;
};

/* Compares by the keys before the key `time`, then by time. 0: the rows are equal in these, or there is no such key. */
static int compare_times(const struct sorting *s, const struct report_row *a,
                         const struct report_row *b)
{
    const struct report_column_list *keys = &s->options->keys;
    const struct mkperf_time_slices *slices = &s->frames->profile->slices;
    char text_a[600], text_b[600];
    int order = 0;

    if (!report_columns_have(keys, REPORT_SORT_TIME)) {
        return 0;
    }
    for (unsigned i = 0; order == 0 && keys->column[i] != REPORT_SORT_TIME; i++) {
        report_column_text(keys->column[i], s->frames, &a->key, text_a, sizeof text_a);
        report_column_text(keys->column[i], s->frames, &b->key, text_b, sizeof text_b);
        order = strcmp(text_a, text_b);
    }
    uint64_t x = mkperf_time_slice_ns(slices, a->key.slice);
    uint64_t y = mkperf_time_slice_ns(slices, b->key.slice);
    return order != 0 ? order : mkperf_compare(x, y);
}

static int compare_rows(const void *pa, const void *pb, void *context)
{
    const struct report_row *a = pa, *b = pb;
    const struct sorting *s = context;
    const struct mkperf_frames *f = s->frames;
    int order = compare_times(s, a, b);

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
    memset(rows, 0, sizeof *rows);
    rows->event = event;
    for (uint32_t i = 0; i < f->profile->chains.count; i++) {
        if (is_wanted(f, o, event, i)) {
            add_to_rows(rows, f, o, i);
        }
        mkperf_progress_steps(i, f->profile->chains.count);
    }
    rows->whole = o->relative || o->no_idle ? rows->shown.period : f->profile->total[event].period;
    if (rows->n > 0) {
        struct sorting s = {.frames = f, .options = o};

        qsort_r(rows->row, rows->n, sizeof *rows->row, compare_rows, &s);
    }
}

void report_rows_free(struct report_rows *rows)
{
    mkperf_hash_free(&rows->numbers);
    free(rows->row);
    free(rows->hit);
    memset(rows, 0, sizeof *rows);
}

/*
 * Returns the index of the row's function in a chain, or -1 if it is not there. Callers are followed from its innermost
 * occurrence outwards and callees from the outermost inwards, so that samples of a recursive function are counted once.
 */
static int occurrence(const struct report_row *r, const struct mkperf_frames *f,
                      const struct report_options *o, uint32_t chain, const uint32_t *function,
                      uint32_t n)
{
    int found = -1;

    for (uint32_t i = 0; i < n && (i == 0 || o->children); i++) {
        struct report_row_key key = key_of(f, o, chain, function[i]);

        if (memcmp(&key, &r->key, sizeof key) == 0) {
            found = (int)i;
            if (o->graph == REPORT_GRAPH_CALLERS) {
                break;
            }
        }
    }
    return found;
}

static void add_to_tree(struct mkperf_tree *t, const struct report_row *r, struct mkperf_frames *f,
                        const struct report_options *o, uint32_t chain)
{
    uint32_t function[MKPERF_FRAMES_MAX], node = 0;
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

static int compare_graph_nodes(const struct mkperf_tree_node *a, const struct mkperf_tree_node *b,
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
        add_to_tree(t, r, f, o, rows->hit[hit - 1].chain);
    }
    mkperf_tree_finish(t, compare_graph_nodes, f);
}

void report_tree_text(const struct mkperf_tree *t, const struct mkperf_frames *f, uint32_t event,
                      uint32_t node, uint32_t parent_pd, uint64_t whole, char *text, size_t n)
{
    const struct mkperf_tree_node *at = &t->node[node];
    struct mkperf_label fn = mkperf_frames_label(f, at->label);
    const char *pd = fn.pd != parent_pd ? mkperf_profile_pd_name(f->profile, fn.pd) : NULL;

    bool inferred = pd != NULL && mkperf_places_inferred(&f->profile->places, event);
    char mode[] = {'[', mkperf_mode_letter(fn.kernel, fn.guest), ']', ' ', '\0'};

    snprintf(text, n, "%.2f%%-- %s%s%s%s%s%s%s", mkperf_percent(at->total.period, whole),
             mode[1] != '.' ? mode : "", mkperf_frames_text(f, fn.name), fn.line ? " " : "",
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
    size_t depth = strlen(p->indent), share;
    char text[700];
    uint32_t next;

    for (uint32_t i = n[node].child; i != 0 && is_branch_shown(p, i); i = next) {
        next = n[i].next;
        report_tree_text(p->tree, p->frames, p->event, i, pd, p->whole, text, sizeof text);
        share = strcspn(text, "-");
        fprintf(p->out, "%s|--%s%.*s%s%s\n", p->indent, mkperf_colour_begin(p->colour, atof(text)),
                (int)share, text, mkperf_colour_end(p->colour, atof(text)), text + share);
        memcpy(p->indent + depth, next != 0 && is_branch_shown(p, next) ? "|   " : "    ", 5);
        print_children(p, i, mkperf_frames_label(p->frames, n[i].label).pd);
        p->indent[depth] = 0;
    }
}

void report_tree_print(const struct report_row *r, const struct report_rows *rows,
                       struct mkperf_frames *f, const struct report_options *o, FILE *out)
{
    struct mkperf_tree t;
    uint64_t whole = rows->whole;
    /* With --pd and --symbol, the limit is a part of the weight of that PD or row. Otherwise a small PD or row would have no
     * branch. */
    double base = (double)(o->symbol ? r->children.period : o->pd ? rows->shown.period : whole);
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
