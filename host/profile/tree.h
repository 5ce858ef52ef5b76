/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call trees.
 *
 * Owns: nodes with the weights of one profile, or of two that are compared. The label of a node is a number that
 * its user chooses: a function of mkperf_frames, a name of the stacks in export/parts.h. Memory grows with the number of distinct
 * paths: 32 bytes per node, its slot in the table of nodes, and 8 bytes if there are two profiles.
 */
#ifndef MKPERF_HOST_PROFILE_TREE_H
#define MKPERF_HOST_PROFILE_TREE_H

#include "profile.h"

struct mkperf_tree_node {
    uint32_t parent;      /* the root is node 0, and its parent is 0 */
    uint32_t child, next; /* the first child, and the next node of the same parent; 0: none */
    uint32_t label;
    /* The weight in the first profile with that of all descendants; before mkperf_tree_finish, of the node itself. */
    struct mkperf_weight total;
};

struct mkperf_tree {
    struct mkperf_tree_node *node;
    uint32_t n, room;
    uint32_t *slot; /* a hash table of nodes, at most three quarters full; 0: the slot is free */
    uint32_t nslots;
    uint64_t *other; /* by node: the period in the second profile; NULL: there is no second one */
    uint32_t other_room;
};

/* A tree with a root only, which has label 0. */
void mkperf_tree_init(struct mkperf_tree *t);
void mkperf_tree_free(struct mkperf_tree *t);

/* The child of `parent` with this label. It is created if there is none. */
uint32_t mkperf_tree_child(struct mkperf_tree *t, uint32_t parent, uint32_t label);

/* Adds weight to a node itself, in profile `side`: 0, or 1, of which only the period is kept. */
void mkperf_tree_add(struct mkperf_tree *t, uint32_t node, unsigned side, struct mkperf_weight w);

/* Follows the last mkperf_tree_add. It computes the totals, and sorts the children of each node. */
void mkperf_tree_finish(struct mkperf_tree *t,
                        int (*compare)(const struct mkperf_tree_node *a,
                                       const struct mkperf_tree_node *b, const void *context),
                        const void *context);

/* The weight of a finished tree's node in the first profile, without that of its children. */
struct mkperf_weight mkperf_tree_self(const struct mkperf_tree *t, uint32_t node);

/* The node that follows `node` if parents precede their children; 0: `node` is the last one. The first call has node 0. */
uint32_t mkperf_tree_next(const struct mkperf_tree *t, uint32_t node);

#endif
