/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see tree.h. */
#include "tree.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/xalloc.h"

void mkperf_tree_init(struct mkperf_tree *t)
{
    *t = (struct mkperf_tree){.n = 1};
    MKPERF_GROW(t->node, t->room, 1);
    mkperf_hash_number(&t->keys, (uint64_t[1]){0}, 1); /* the root's: numbers are those of nodes */
}

void mkperf_tree_free(struct mkperf_tree *t)
{
    mkperf_hash_free(&t->keys);
    free(t->node);
    *t = (struct mkperf_tree){.n = 0};
}

uint32_t mkperf_tree_child(struct mkperf_tree *t, uint32_t parent, uint32_t label)
{
    uint64_t key[2] = {parent, label};
    uint32_t number = mkperf_hash_number(&t->keys, key, 2);

    if (number == t->n) {
        MKPERF_GROW(t->node, t->room, (size_t)number + 1);
        t->node[t->n++] = (struct mkperf_tree_node){.parent = parent, .label = label};
    }
    return number;
}

void mkperf_tree_add(struct mkperf_tree *t, uint32_t node, unsigned side, struct mkperf_weight w)
{
    mkperf_weight_add(&t->node[node].self[side], &w);
}

struct order {
    const struct mkperf_tree *tree;
    int (*compare)(const struct mkperf_tree_node *a, const struct mkperf_tree_node *b,
                   const void *context);
    const void *context;
};

static int compare_nodes(const void *pa, const void *pb, void *context)
{
    const struct order *o = context;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    const struct mkperf_tree_node *x = &o->tree->node[a], *y = &o->tree->node[b];

    if (x->parent != y->parent) {
        return x->parent < y->parent ? -1 : 1;
    }
    int order = o->compare(x, y, o->context);
    return order != 0 ? order : mkperf_compare(a, b);
}

void mkperf_tree_finish(struct mkperf_tree *t,
                        int (*compare)(const struct mkperf_tree_node *a,
                                       const struct mkperf_tree_node *b, const void *context),
                        const void *context)
{
    struct order o = {.tree = t, .compare = compare, .context = context};
    uint32_t *order = mkperf_xcalloc(t->n, sizeof *order);

    for (uint32_t i = t->n; i-- > 0;) { /* children have larger numbers than parents */
        struct mkperf_tree_node *n = &t->node[i], *parent = &t->node[n->parent];
        for (unsigned side = 0; side < 2; side++) {
            mkperf_weight_add(&n->total[side], &n->self[side]);
            if (i > 0) {
                mkperf_weight_add(&parent->total[side], &n->total[side]);
            }
        }
        order[i] = i;
    }
    qsort_r(order + 1, t->n - 1, sizeof *order, compare_nodes, &o); /* but the root */
    for (uint32_t i = t->n; i-- > 1;) {
        struct mkperf_tree_node *n = &t->node[order[i]];
        n->next = t->node[n->parent].child;
        t->node[n->parent].child = order[i];
    }
    free(order);
}

uint32_t mkperf_tree_next(const struct mkperf_tree *t, uint32_t node)
{
    if (t->node[node].child != 0) {
        return t->node[node].child;
    }
    while (node != 0 && t->node[node].next == 0) {
        node = t->node[node].parent;
    }
    return t->node[node].next;
}
