/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks: "pd;outermost;...;innermost PERIOD", one line for each distinct stack of names.
 *
 * Owns: the format that flamegraph.pl, inferno and speedscope read. Called through the table of
 * formats. Kernel functions end in _[k], inlined ones in _[i], as perf's folding scripts mark
 * them. The format has only stacks: losses and other events are omitted (the command
 * prints them).
 */
#include "formats.h"
#include "stack_tree.h"

enum { DEPTH_MAX = 2048 };

static void put_name(const struct stack_tree *tree, uint32_t node, struct mkperf_textout *t)
{
    struct stack_label label = stack_tree_label(tree, node);

    mkperf_textout_plain(t, stack_tree_text(tree, label.name), ';', ':');
    if (label.kind == STACK_KERNEL) {
        mkperf_textout_puts(t, "_[k]");
    } else if (label.kind == STACK_INLINED) {
        mkperf_textout_puts(t, "_[i]");
    }
}

static void put_line(const struct stack_tree *tree, uint32_t node, struct mkperf_textout *t)
{
    uint32_t path[DEPTH_MAX];
    unsigned n = 0;

    for (uint32_t at = node; at != 0 && n < DEPTH_MAX; at = tree->tree.node[at].parent) {
        path[n++] = at;
    }
    while (n-- > 0) {
        put_name(tree, path[n], t);
        mkperf_textout_put(t, n > 0 ? ";" : " ", 1);
    }
    mkperf_textout_u64(t, mkperf_tree_self(&tree->tree, node).period);
    mkperf_textout_put(t, "\n", 1);
}

enum mkperf_status mkperf_folded_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                       struct mkperf_textout *t, struct mkperf_error *e)
{
    struct stack_tree tree;
    uint32_t event;

    if (mkperf_export_event(x, c, &event, e) != MKPERF_OK) {
        return e->status;
    }
    stack_tree_init(&tree);
    stack_tree_add(&tree, c, event, 0, true);
    stack_tree_finish(&tree);
    for (uint32_t i = mkperf_tree_next(&tree.tree, 0); i != 0;
         i = mkperf_tree_next(&tree.tree, i)) {
        if (mkperf_tree_self(&tree.tree, i).period != 0) {
            put_line(&tree, i, t);
        }
    }
    stack_tree_free(&tree);
    return MKPERF_OK;
}
