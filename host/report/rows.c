/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see rows.h. A row's own weight is that of the chains whose innermost function it is; its
 * children weight is that of the chains in which it occurs at all, each counted once however often
 * it occurs (recursion).
 */
#include "rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/sort.h"
#include "base/xalloc.h"

/* Does a chain have weight, pass the filter by PD, and belong to the event? */
static bool is_wanted(const struct mkperf_frames *f, const struct report_options *o, uint32_t event,
                      uint32_t chain)
{
    struct mkperf_chain_head head = mkperf_profile_head(f->profile, chain);

    return head.event == event && f->profile->weight[chain].samples > 0 &&
           (!o->pd || strcmp(o->pd, mkperf_profile_pd_name(f->profile, head.pd)) == 0) &&
           !(o->no_idle && mkperf_places_idle(&f->profile->places, head.pd));
}

struct report_row_key report_row_key(const struct mkperf_frames *f, const struct report_options *o,
                                     uint32_t chain, uint32_t function)
{
    struct mkperf_chain_head head = mkperf_profile_head(f->profile, chain);
    struct mkperf_label label = mkperf_frames_label(f, function);

    return report_columns_key(&o->keys, f, &head, &label);
}

static struct report_row *row_of(struct report_rows *rows, struct report_row_key k)
{
    uint64_t key[] = {k.pd, k.name, k.core, k.kernel, k.line, k.event, k.dso, k.slice};
    uint32_t number = mkperf_hash_number(&rows->numbers, key, sizeof key / sizeof *key);

    MKPERF_GROW(rows->row, rows->room, (size_t)number + 1);
    if (number == rows->n) {
        rows->row[rows->n++] = (struct report_row){.key = k, .first = number};
    }
    return &rows->row[number];
}

static bool is_shown(const struct mkperf_frames *f, const struct report_options *o,
                     uint32_t function)
{
    return !o->symbol ||
           mkperf_symbol_is(mkperf_frames_text(f, mkperf_frames_label(f, function).name),
                            o->symbol);
}

static void add_hit(struct report_rows *rows, struct report_row *row, uint32_t chain)
{
    MKPERF_GROW(rows->hit, rows->hit_room, (size_t)rows->nhits + 1);
    rows->hit[rows->nhits++] = (struct report_hit){.chain = chain};
    if (row->last_hit != 0) {
        rows->hit[row->last_hit - 1].next = rows->nhits;
    } else {
        row->first_hit = rows->nhits;
    }
    row->last_hit = rows->nhits;
}

static void add_chain(struct report_rows *rows, struct mkperf_frames *f,
                      const struct report_options *o, uint32_t chain)
{
    const struct mkperf_weight *w = &f->profile->weight[chain];
    uint32_t function[MKPERF_PLACES_MAX], seen[MKPERF_PLACES_MAX], nseen = 0;
    uint32_t n = mkperf_frames_of(f, chain, function);

    mkperf_weight_add(&rows->shown, w);
    for (uint32_t i = 0; i < n; i++) {
        struct report_row *row;
        uint32_t j = 0;

        if (i > 0 && !o->children) {
            break;
        }
        if (!is_shown(f, o, function[i])) {
            continue;
        }
        row = row_of(rows, report_row_key(f, o, chain, function[i]));
        if (i == 0) {
            mkperf_weight_add(&row->self, w);
        }
        while (j < nseen && seen[j] != row->first) {
            j++;
        }
        if (j == nseen) {
            seen[nseen++] = row->first;
            mkperf_weight_add(&row->children, w);
            if (!f->profile->leaves_only) {
                add_hit(rows, row, chain);
            }
        }
    }
}

struct sorting {
    const struct mkperf_frames *frames;
    const struct report_options *options;
};

static int compare_texts(const struct mkperf_frames *f, const struct report_row *a,
                         const struct report_row *b)
{
    int order = strcmp(mkperf_profile_pd_name(f->profile, a->key.pd),
                       mkperf_profile_pd_name(f->profile, b->key.pd));

    if (order == 0) {
        order = strcmp(mkperf_frames_text(f, a->key.name), mkperf_frames_text(f, b->key.name));
    }
    if (order == 0) {
        order = strcmp(mkperf_frames_text(f, a->key.line), mkperf_frames_text(f, b->key.line));
    }
    return order;
}

/* With time, rows are in the order of the keys up to it, then as others are. */
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
    int order = compare_times(s, a, b);

    if (order != 0) {
        return order;
    }
    if (a->children.period != b->children.period) {
        return mkperf_compare(b->children.period, a->children.period);
    }
    if (a->self.period != b->self.period) {
        return mkperf_compare(b->self.period, a->self.period);
    }
    order = compare_texts(s->frames, a, b);
    return order != 0 ? order : mkperf_compare(a->first, b->first);
}

void report_rows_build(struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o, uint32_t event)
{
    memset(rows, 0, sizeof *rows);
    rows->event = event;
    for (uint32_t i = 0; i < f->profile->chains.count; i++) {
        if (is_wanted(f, o, event, i)) {
            add_chain(rows, f, o, i);
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
