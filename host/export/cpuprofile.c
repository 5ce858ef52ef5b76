/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format .cpuprofile of Chrome's DevTools and VS Code.
 *
 * Owns: the file. Called through the table of formats. Its nodes are those of the tree of stacks by name: a PD is the outermost
 * frame, and a node precedes the functions of each PD that a call enters. Readers charge the time until the next sample to a
 * sample. This time is therefore the sample's share of the event, out of the time of the recording, so that sums are those of the
 * other formats, also of several cores. A sample of the root ends the last one, because some readers ignore the profile's end. The format contains only stacks: losses and other events are omitted, and the command
 * prints them.
 */
#include "parts.h"

/* The samples of a chain. */
struct chain_hit {
    uint32_t node, line; /* line: of the innermost function's file; 0: unknown */
    uint64_t samples;
};

/* Writes all nodes, with the n hits at their lines, which are sorted. */
static void put_nodes(struct mkperf_textout *t, const struct stack_tree *tree,
                      const struct chain_hit *hit, uint32_t n)
{
    for (uint32_t node = 0, i = 0; node < tree->tree.n; node++) {
        struct stack_label label = stack_tree_label(tree, node);
        const struct stack_code *code = &tree->code[node];
        char name[1200];
        snprintf(name, sizeof name, "%s%s", stack_tree_text(tree, label.name),
                 label.kind == STACK_KERNEL ? " [kernel]" : "");
        mkperf_json(t,
                    ",\n{'id':%u,'callFrame':{'functionName':%s,'scriptId':'0','url':%s,"
                    "'lineNumber':%d,'columnNumber':%d},'hitCount':%" PRIu64 ",'children':[",
                    node + 1, node == 0 ? "(root)" : name, stack_tree_text(tree, code->file),
                    (int)code->line - 1, code->line != 0 ? 0 : -1,
                    mkperf_tree_self(&tree->tree, node).samples);
        for (uint32_t k = tree->tree.node[node].child; k != 0; k = tree->tree.node[k].next) {
            mkperf_json(t, ",%u", k + 1);
        }
        mkperf_textout_puts(t, "],\"positionTicks\":[");
        while (i < n && hit[i].node == node) {
            uint32_t line = hit[i].line;
            uint64_t ticks = 0;
            for (; i < n && hit[i].node == node && hit[i].line == line; i++) {
                ticks += hit[i].samples;
            }
            if (line != 0) {
                mkperf_json(t, ",{'line':%u,'ticks':%" PRIu64 "}", line, ticks);
            }
        }
        mkperf_textout_puts(t, "]}");
    }
}

enum mkperf_status mkperf_cpuprofile_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                           struct mkperf_textout *t, struct mkperf_error *e)
{
    struct stack_tree tree;
    uint32_t event, n = 0;

    MKPERF_TRY(mkperf_export_event(x, c, &event, e));
    MKPERF_TRY(mkperf_profile_order(c, e));
    uint32_t *node = mkperf_xcalloc(c->chains.count + 1, sizeof *node); /* 0: another event */
    struct chain_hit *hit = mkperf_xcalloc(c->chains.count + 1, sizeof *hit);
    stack_tree_init(&tree);
    for (uint32_t i = 0; i < c->chains.count; i++) {
        struct mkperf_profile_chain chain;
        mkperf_profile_chain(c, i, &chain);
        if (chain.event == event) {
            uint32_t frames;
            const struct mkperf_frame *f =
                mkperf_places_frames(&c->places, chain.place[0], &frames);
            node[i] = stack_tree_chain(&tree, &c->places, &chain);
            mkperf_tree_add(&tree.tree, node[i], 0, chain.weight);
            hit[n++] = (struct chain_hit){
                .node = node[i],
                .line = f->file == c->places.function[f->function].file ? f->line : 0,
                .samples = chain.weight.samples};
        }
    }
    stack_tree_finish(&tree);
    MKPERF_SORT(hit, n, MKPERF_UP(hit, node), MKPERF_UP(hit, line));
    mkperf_json(t, "{'nodes':[");
    put_nodes(t, &tree, hit, n);

    const struct mkperf_profile_sample *sample = c->samples.map;
    uint64_t start = c->first_ns / 1000, us = (c->last_ns - c->first_ns) / 1000;
    uint64_t sum = 0, before = 0;
    double total = c->total[event].period != 0 ? (double)c->total[event].period : 1;
    us = us != 0 ? us : 1;
    mkperf_json(t, "],\n'startTime':%" PRIu64 ",'endTime':%" PRIu64 ",\n'samples':[", start,
                start + us);
    for (size_t i = 0; i < c->samples.count; i++) {
        if (node[sample[i].chain] != 0) {
            mkperf_json(t, ",%u", node[sample[i].chain] + 1);
        }
    }
    mkperf_json(t, ",1],\n'timeDeltas':[");
    for (size_t i = 0; i < c->samples.count; i++) {
        if (node[sample[i].chain] != 0) { /* it begins where the samples before it end */
            uint64_t at = (uint64_t)((double)sum / total * (double)us);
            mkperf_json(t, ",%" PRIu64, at - before);
            before = at;
            sum += sample[i].period;
        }
    }
    mkperf_json(t, ",%" PRIu64 "]}\n", us - before);
    stack_tree_free(&tree);
    free(node);
    free(hit);
    return MKPERF_OK;
}
