/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks by name: the tree that folded stacks and flame graphs show.
 *
 * Owns: nodes and their names. The root's children are PDs; below, functions from the outermost
 * in. A tree can hold two profiles, side by side, for a comparison. Memory grows with the number
 * of distinct stacks of names.
 */
#ifndef MKPERF_HOST_PROFILE_TREE_H
#define MKPERF_HOST_PROFILE_TREE_H

#include "profile.h"

enum { MKPERF_TREE_NONE = UINT32_MAX };

enum mkperf_tree_kind {
    MKPERF_TREE_ROOT,
    MKPERF_TREE_PD,
    MKPERF_TREE_USER,
    MKPERF_TREE_INLINED,
    MKPERF_TREE_KERNEL,
    MKPERF_TREE_UNKNOWN,
};

struct mkperf_tree_node {
    uint32_t parent, child, next; /* child: the first; next: of the same parent; or NONE */
    uint32_t name;                /* text */
    uint32_t pd;                  /* text: name of the PD whose code it is */
    uint32_t file;                /* text; 0: unknown */
    enum mkperf_tree_kind kind;
    uint64_t self[2], total[2], samples[2]; /* of either profile; self and total: period */
};

struct mkperf_tree {
    struct mkperf_hash texts, keys;
    struct mkperf_tree_node *node; /* 0 is the root */
    uint32_t count, room;
};

/* Adds the chains of an event as profile `side` (0 or 1). */
enum mkperf_status mkperf_tree_add(struct mkperf_tree *t, struct mkperf_profile *c, uint32_t event,
                                   unsigned side, struct mkperf_error *e);
/* After the last: totals, and children in the order of their names. */
enum mkperf_status mkperf_tree_finish(struct mkperf_tree *t, struct mkperf_error *e);
const char *mkperf_tree_text(const struct mkperf_tree *t, uint32_t number);
void mkperf_tree_free(struct mkperf_tree *t);

#endif
