/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the nodes of call trees, and the table that finds them. See profile.h.
 *
 * The table is not base/hash.c, which keeps a copy of each key. A node is its own key, so a tree of random chains takes 52 bytes
 * per node instead of 105 (tree_bytes_per_node of `make bench`). A flame graph can have millions of nodes.
 */
#include "profile.h"

enum { FIRST_SLOTS = 256 };

void mkperf_tree_init(struct mkperf_tree *t)
{
    *t = (struct mkperf_tree){.n = 1};
    MKPERF_GROW(t->node, t->room, 1);
}

void mkperf_tree_free(struct mkperf_tree *t)
{
    free(t->node);
    free(t->slot);
    free(t->other);
    *t = (struct mkperf_tree){.n = 0};
}

/* Returns the slot of the child of `parent` with this label, or the free slot for it. */
static uint32_t *slot_of(const struct mkperf_tree *t, uint32_t parent, uint32_t label)
{
    uint64_t hash = ((uint64_t)parent << 32 | label) * UINT64_C(0xff51afd7ed558ccd);
    uint32_t i = (uint32_t)((hash ^ hash >> 32) * UINT64_C(0xc4ceb9fe1a85ec53) >> 32);

    for (;; i++) {
        uint32_t *slot = &t->slot[i & (t->nslots - 1)];
        if (*slot == 0 || (t->node[*slot].parent == parent && t->node[*slot].label == label)) {
            return slot;
        }
    }
}

uint32_t mkperf_tree_child(struct mkperf_tree *t, uint32_t parent, uint32_t label)
{
    if ((uint64_t)t->n * 4 >= (uint64_t)t->nslots * 3) {
        free(t->slot);
        t->nslots = (uint32_t)mkperf_room(t->nslots, FIRST_SLOTS); /* a power of two */
        t->slot = mkperf_xcalloc(t->nslots, sizeof *t->slot);
        for (uint32_t i = 1; i < t->n; i++) {
            *slot_of(t, t->node[i].parent, t->node[i].label) = i;
        }
    }
    uint32_t *slot = slot_of(t, parent, label);

    if (*slot == 0) {
        if (t->n == t->room) { /* the new memory is not cleared, which would touch all of it */
            t->room = (uint32_t)mkperf_room(t->room, (size_t)t->n + 1);
            t->node = mkperf_xrealloc(t->node, t->room, sizeof *t->node);
        }
        t->node[t->n] = (struct mkperf_tree_node){.parent = parent, .label = label};
        *slot = t->n++;
    }
    return *slot;
}

void mkperf_tree_add(struct mkperf_tree *t, uint32_t node, unsigned side, struct mkperf_weight w)
{
    if (side == 0) {
        mkperf_weight_add(&t->node[node].total, &w);
        return;
    }
    MKPERF_GROW(t->other, t->other_room, t->n);
    t->other[node] += w.period;
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

    if (t->other != NULL) {
        MKPERF_GROW(t->other, t->other_room, t->n);
    }
    for (uint32_t i = t->n; i-- > 0;) { /* children have larger numbers than parents */
        struct mkperf_tree_node *n = &t->node[i];
        if (i > 0) {
            mkperf_weight_add(&t->node[n->parent].total, &n->total);
        }
        if (i > 0 && t->other != NULL) {
            t->other[n->parent] += t->other[i];
        }
        order[i] = i;
    }
    qsort_r(order + 1, t->n - 1, sizeof *order, compare_nodes, &o); /* all except the root */
    for (uint32_t i = t->n; i-- > 1;) {
        struct mkperf_tree_node *n = &t->node[order[i]];
        n->next = t->node[n->parent].child;
        t->node[n->parent].child = order[i];
    }
    free(order);
}

struct mkperf_weight mkperf_tree_self(const struct mkperf_tree *t, uint32_t node)
{
    struct mkperf_weight self = t->node[node].total;

    for (uint32_t i = t->node[node].child; i != 0; i = t->node[i].next) {
        self.period -= t->node[i].total.period;
        self.samples -= t->node[i].total.samples;
    }
    return self;
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
