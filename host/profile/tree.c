/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see tree.h. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_WORDS = 160 };

static int64_t text_number(struct mkperf_tree *t, const char *text)
{
    uint64_t words[TEXT_WORDS];
    size_t n = strnlen(text, sizeof words - 1);

    words[n / 8] = 0;
    memcpy(words, text, n);
    memset((char *)words + n, 0, 8 - n % 8);
    return mkperf_hash_number(&t->texts, words, (uint32_t)(n / 8 + 1));
}

const char *mkperf_tree_text(const struct mkperf_tree *t, uint32_t number)
{
    uint32_t words;

    return (const char *)mkperf_hash_key(&t->texts, number, &words);
}

/* The child of `parent` with this name, made if it is new; -1: out of memory. */
static int64_t node_of(struct mkperf_tree *t, uint32_t parent, enum mkperf_tree_kind kind,
                       const char *name, const char *pd, const char *file)
{
    int64_t name_number = text_number(t, name), pd_number = text_number(t, pd);
    int64_t file_number = file != NULL ? text_number(t, file) : 0;
    uint64_t key[2] = {parent | (uint64_t)kind << 32,
                       (uint64_t)name_number | (uint64_t)pd_number << 32};
    uint32_t known = t->keys.count;

    if (name_number < 0 || pd_number < 0 || file_number < 0) {
        return -1;
    }
    int64_t number = mkperf_hash_number(&t->keys, key, 2);
    if (number < 0 || t->keys.count == known) {
        return number;
    }
    if (t->count == t->room) {
        uint32_t room = t->room != 0 ? 2 * t->room : 256;
        struct mkperf_tree_node *more = reallocarray(t->node, room, sizeof *more);
        if (more == NULL) {
            return -1;
        }
        t->node = more;
        t->room = room;
    }
    t->node[t->count++] = (struct mkperf_tree_node){.parent = parent,
                                                    .child = MKPERF_TREE_NONE,
                                                    .next = MKPERF_TREE_NONE,
                                                    .name = (uint32_t)name_number,
                                                    .pd = (uint32_t)pd_number,
                                                    .file = (uint32_t)file_number,
                                                    .kind = kind};
    return number;
}

static int64_t frame_node(struct mkperf_tree *t, const struct mkperf_places *s, uint32_t parent,
                          uint32_t pd, const struct mkperf_frame *frame)
{
    const struct mkperf_function *f = &s->function[frame->function];
    enum mkperf_tree_kind kind = !f->known    ? MKPERF_TREE_UNKNOWN
                                 : f->kernel  ? MKPERF_TREE_KERNEL
                                 : f->inlined ? MKPERF_TREE_INLINED
                                              : MKPERF_TREE_USER;
    const char *name = mkperf_places_text(s, f->name);
    const char *file = f->file != 0 ? mkperf_places_text(s, f->file) : NULL;
    char foreign[1200];

    if (f->kernel && !f->known) {
        kind = MKPERF_TREE_KERNEL;
    }
    if (f->pd != pd) { /* the client whose call is being served */
        snprintf(foreign, sizeof foreign, "%s [%s]", name, mkperf_places_pd_name(s, f->pd));
        name = foreign;
    }
    return node_of(t, parent, kind, name, mkperf_places_pd_name(s, f->pd), file);
}

static enum mkperf_status add_chain(struct mkperf_tree *t, const struct mkperf_places *s,
                                    const struct mkperf_profile_chain *chain, unsigned side,
                                    struct mkperf_error *e)
{
    const char *pd = mkperf_places_pd_name(s, chain->pd);
    int64_t at = node_of(t, 0, MKPERF_TREE_PD, pd, pd, NULL);

    for (int i = chain->n; at >= 0 && i-- > 0;) {
        uint32_t n;
        const struct mkperf_frame *frame = mkperf_places_frames(s, chain->place[i], &n);
        while (at >= 0 && n-- > 0) {
            at = frame_node(t, s, (uint32_t)at, chain->pd, &frame[n]);
        }
    }
    if (at < 0) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    t->node[at].self[side] += chain->weight.period;
    t->node[at].samples[side] += chain->weight.samples;
    return MKPERF_OK;
}

enum mkperf_status mkperf_tree_add(struct mkperf_tree *t, struct mkperf_profile *c, uint32_t event,
                                   unsigned side, struct mkperf_error *e)
{
    struct mkperf_profile_chain chain;

    if (t->count == 0 && (text_number(t, "") < 0 ||
                          node_of(t, MKPERF_TREE_NONE, MKPERF_TREE_ROOT, "all", "", NULL) < 0)) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    for (uint32_t i = 0; i < c->chains.count; i++) {
        if (mkperf_profile_chain(c, i, &chain, e) != MKPERF_OK) {
            return e->status;
        }
        if (chain.event == event && add_chain(t, &c->places, &chain, side, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

struct by_name {
    const struct mkperf_tree *tree;
    uint32_t node;
};

static int compare(const void *a, const void *b)
{
    const struct by_name *x = a, *y = b;
    const struct mkperf_tree_node *p = &x->tree->node[x->node], *q = &y->tree->node[y->node];

    if (p->parent != q->parent) {
        return p->parent < q->parent ? -1 : 1;
    }
    int order = strcmp(mkperf_tree_text(x->tree, p->name), mkperf_tree_text(y->tree, q->name));
    return order != 0 ? order : (x->node > y->node) - (x->node < y->node);
}

enum mkperf_status mkperf_tree_finish(struct mkperf_tree *t, struct mkperf_error *e)
{
    struct by_name *order = reallocarray(NULL, t->count + 1, sizeof *order);

    if (order == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    for (uint32_t i = t->count; i-- > 0;) { /* children have larger numbers than parents */
        struct mkperf_tree_node *n = &t->node[i];
        for (unsigned side = 0; side < 2; side++) {
            n->total[side] += n->self[side];
            if (i > 0) {
                t->node[n->parent].total[side] += n->total[side];
            }
        }
        order[i] = (struct by_name){t, i};
    }
    qsort(order, t->count, sizeof *order, compare);
    for (uint32_t i = t->count; i-- > 0;) {
        struct mkperf_tree_node *n = &t->node[order[i].node];
        if (n->parent != MKPERF_TREE_NONE) {
            n->next = t->node[n->parent].child;
            t->node[n->parent].child = order[i].node;
        }
    }
    free(order);
    return MKPERF_OK;
}

void mkperf_tree_free(struct mkperf_tree *t)
{
    mkperf_hash_free(&t->texts);
    mkperf_hash_free(&t->keys);
    free(t->node);
    *t = (struct mkperf_tree){.count = 0};
}
