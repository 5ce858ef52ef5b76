/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call trees.
 *
 * Owns: nodes with the weights of one profile, or of two side by side. What a node stands for is a
 * number of its user's, the label: a function of mkperf_frames, a name of export/stack_tree.h.
 * Memory grows with the number of distinct paths.
 */
#ifndef MKPERF_HOST_PROFILE_TREE_H
#define MKPERF_HOST_PROFILE_TREE_H

#include "profile.h"

struct mkperf_tree_node {
    uint32_t parent;      /* of the root (node 0): 0 */
    uint32_t child, next; /* the first child, the next of the same parent; 0: none */
    uint32_t label;
    struct mkperf_weight self[2], total[2]; /* of either profile */
};

struct mkperf_tree {
    struct mkperf_hash keys;
    struct mkperf_tree_node *node;
    uint32_t n, room;
};

/* A tree with a root only, which has label 0. */
void mkperf_tree_init(struct mkperf_tree *t);
void mkperf_tree_free(struct mkperf_tree *t);

/* The child of `parent` with this label, made if it is new. */
uint32_t mkperf_tree_child(struct mkperf_tree *t, uint32_t parent, uint32_t label);

/* Adds weight to a node itself. side: 0 or 1. */
void mkperf_tree_add(struct mkperf_tree *t, uint32_t node, unsigned side, struct mkperf_weight w);

/* After the last: totals, and the children of each node in this order. */
void mkperf_tree_finish(struct mkperf_tree *t,
                        int (*compare)(const struct mkperf_tree_node *a,
                                       const struct mkperf_tree_node *b, const void *context),
                        const void *context);

/* The node behind `node`, parents before children; 0: that was the last. Start with node 0. */
uint32_t mkperf_tree_next(const struct mkperf_tree *t, uint32_t node);

#endif
