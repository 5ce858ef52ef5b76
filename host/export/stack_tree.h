/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks by name: the tree that folded stacks and flame graphs show.
 *
 * Owns: what nodes are called. The root's children are the PDs that chains begin in; below,
 * functions from the outermost in, and a node of a PD where a protected call leads into it. A tree can hold two profiles, side by side, for a comparison.
 */
#ifndef MKPERF_HOST_EXPORT_STACK_TREE_H
#define MKPERF_HOST_EXPORT_STACK_TREE_H

#include "profile/tree.h"

enum stack_kind {
    STACK_ROOT,
    STACK_PD,
    STACK_USER,
    STACK_INLINED,
    STACK_KERNEL,
    STACK_UNKNOWN,
};

struct stack_tree {
    struct mkperf_tree tree; /* labels: numbers in `labels` */
    struct mkperf_hash texts, labels;
    uint32_t *file; /* of each node, a text; 0: unknown */
    uint32_t file_room;
};

/* A node's name. */
struct stack_label {
    enum stack_kind kind;
    uint32_t name, pd; /* texts; pd: the name of the PD whose code it is */
};

void stack_tree_init(struct stack_tree *t);
void stack_tree_free(struct stack_tree *t);

/* Adds the chains of an event as profile `side` (0 or 1), with those of idle or without. */
void stack_tree_add(struct stack_tree *t, struct mkperf_profile *p, uint32_t event, unsigned side,
                    bool idle);
/* After the last: totals, and children in the order of their names. */
void stack_tree_finish(struct stack_tree *t);

struct stack_label stack_tree_label(const struct stack_tree *t, uint32_t node);
const char *stack_tree_text(const struct stack_tree *t, uint32_t number);

#endif
