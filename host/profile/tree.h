/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call trees.
 *
 * Owns: nodes with the weights of one profile, or of two side by side. What a node stands for is a
 * number of its user's, the label: a function of mkperf_frames, a name of export/stack_tree.h.
 * Memory grows with the number of distinct paths: 32 bytes a node, its slot in the table of nodes, and 8
 * bytes if there are two profiles.
 */
#ifndef MKPERF_HOST_PROFILE_TREE_H
#define MKPERF_HOST_PROFILE_TREE_H

#include "profile.h"

struct mkperf_tree_node {
    uint32_t parent;      /* of the root (node 0): 0 */
    uint32_t child, next; /* the first child, the next of the same parent; 0: none */
    uint32_t label;
    struct mkperf_weight
        total; /* of the first profile; until mkperf_tree_finish, of the node itself */
};

struct mkperf_tree {
    struct mkperf_tree_node *node;
    uint32_t n, room;
    uint32_t *slot; /* nodes by parent and label, at most three quarters full; 0: free */
    uint32_t nslots;
    uint64_t *other; /* the second profile's total periods; NULL: there is none */
    uint32_t other_room;
};

/* A tree with a root only, which has label 0. */
void mkperf_tree_init(struct mkperf_tree *t);
void mkperf_tree_free(struct mkperf_tree *t);

/* The child of `parent` with this label, made if it is new. */
uint32_t mkperf_tree_child(struct mkperf_tree *t, uint32_t parent, uint32_t label);

/* Adds weight to a node itself. side: 0 or 1, of which only the period is kept. */
void mkperf_tree_add(struct mkperf_tree *t, uint32_t node, unsigned side, struct mkperf_weight w);

/* After the last: totals, and the children of each node in this order. */
void mkperf_tree_finish(struct mkperf_tree *t,
                        int (*compare)(const struct mkperf_tree_node *a,
                                       const struct mkperf_tree_node *b, const void *context),
                        const void *context);

/* After that: the weight of a node without that of its children, in the first profile. */
struct mkperf_weight mkperf_tree_self(const struct mkperf_tree *t, uint32_t node);

/* The node behind `node`, parents before children; 0: that was the last. Start with node 0. */
uint32_t mkperf_tree_next(const struct mkperf_tree *t, uint32_t node);

#endif
