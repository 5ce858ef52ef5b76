/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks: "pd;outermost;...;innermost PERIOD", one line for each distinct stack of names.
 *
 * Owns: the format that flamegraph.pl, inferno and speedscope read. Called through the table of
 * formats. Kernel functions end in _[k], inlined ones in _[i], as perf's folding scripts mark
 * them. The format has no place for anything but stacks: losses and other events are left out (the
 * command prints them).
 */
#include "formats.h"
#include "profile/tree.h"

enum { DEPTH_MAX = 2048 };

static void put_name(const struct mkperf_tree *tree, const struct mkperf_tree_node *n,
                     struct mkperf_textout *t)
{
    mkperf_textout_plain(t, mkperf_tree_text(tree, n->name), ';', ':');
    if (n->kind == MKPERF_TREE_KERNEL) {
        mkperf_textout_puts(t, "_[k]");
    } else if (n->kind == MKPERF_TREE_INLINED) {
        mkperf_textout_puts(t, "_[i]");
    }
}

static void put_line(const struct mkperf_tree *tree, uint32_t node, struct mkperf_textout *t)
{
    uint32_t path[DEPTH_MAX];
    unsigned n = 0;

    for (uint32_t at = node; at != 0 && n < DEPTH_MAX; at = tree->node[at].parent) {
        path[n++] = at;
    }
    while (n-- > 0) {
        put_name(tree, &tree->node[path[n]], t);
        mkperf_textout_put(t, n > 0 ? ";" : " ", 1);
    }
    mkperf_textout_u64(t, tree->node[node].self[0]);
    mkperf_textout_put(t, "\n", 1);
}

/* The node after `node`, parents before children, in the order of names. NONE: that was the last.
 */
static uint32_t next_node(const struct mkperf_tree *tree, uint32_t node)
{
    if (tree->node[node].child != MKPERF_TREE_NONE) {
        return tree->node[node].child;
    }
    while (node != 0 && tree->node[node].next == MKPERF_TREE_NONE) {
        node = tree->node[node].parent;
    }
    return node != 0 ? tree->node[node].next : MKPERF_TREE_NONE;
}

static enum mkperf_status write_folded(const struct mkperf_export *x, struct mkperf_profile *c,
                                       struct mkperf_textout *t, struct mkperf_error *e)
{
    struct mkperf_tree tree = {.count = 0};
    uint32_t event;
    enum mkperf_status status = mkperf_export_event(x, c, &event, e);

    if (status == MKPERF_OK) {
        status = mkperf_tree_add(&tree, c, event, 0, e);
    }
    if (status == MKPERF_OK) {
        status = mkperf_tree_finish(&tree, e);
    }
    for (uint32_t i = 0; status == MKPERF_OK && i != MKPERF_TREE_NONE; i = next_node(&tree, i)) {
        if (tree.node[i].self[0] != 0) {
            put_line(&tree, i, t);
        }
    }
    mkperf_tree_free(&tree);
    return status;
}

enum mkperf_status mkperf_folded_open(const struct mkperf_export *x, struct mkperf_output *out,
                                      struct mkperf_error *e)
{
    return mkperf_profiled_open(x, false, false, write_folded, out, e);
}
