/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks: "pd;outermost;...;innermost PERIOD", one line for each distinct stack of names.
 *
 * Owns: the tree of stacks by name, which the flame graph draws too, and the format that flamegraph.pl, inferno and
 * speedscope read. Called through the table of formats. Names of kernel functions end in _[k] and those of inlined
 * functions in _[i], as in the output of perf's folding scripts. The format contains only stacks: losses and other
 * events are omitted, and the command prints them.
 */
#include "parts.h"

const char *stack_tree_text(const struct stack_tree *t, uint32_t number)
{
    return mkperf_hash_text(&t->texts, number);
}

/* Returns the number of a label, which is new if no node has it. */
static uint32_t label_number(struct stack_tree *t, enum stack_kind kind, const char *name,
                             const char *pd)
{
    uint64_t key[3] = {kind, mkperf_hash_text_number(&t->texts, name),
                       mkperf_hash_text_number(&t->texts, pd)};

    return mkperf_hash_number(&t->labels, key, 3);
}

struct stack_label stack_tree_label(const struct stack_tree *t, uint32_t node)
{
    const uint64_t *key = mkperf_hash_key(&t->labels, t->tree.node[node].label);

    return (struct stack_label){
        .kind = (enum stack_kind)key[0], .name = (uint32_t)key[1], .pd_name = (uint32_t)key[2]};
}

void stack_tree_init(struct stack_tree *t)
{
    *t = (struct stack_tree){.code_room = 0};
    mkperf_hash_text_number(&t->texts, ""); /* text 0 */
    label_number(t, STACK_ROOT, "all", ""); /* label 0, which mkperf_tree_init gives the root */
    mkperf_tree_init(&t->tree);
}

void stack_tree_free(struct stack_tree *t)
{
    mkperf_tree_free(&t->tree);
    mkperf_hash_free(&t->texts);
    mkperf_hash_free(&t->labels);
    free(t->code);
}

/* Returns the child of `parent` for a frame, in code that is shown as that of PD `pd`. It is created if it is new. */
static uint32_t frame_node(struct stack_tree *t, const struct mkperf_places *s, uint32_t parent,
                           uint32_t pd, const struct mkperf_frame *frame)
{
    const struct mkperf_function *f = &s->function[frame->function];
    enum stack_kind kind = f->kernel    ? STACK_KERNEL
                           : !f->known  ? STACK_UNKNOWN
                           : f->inlined ? STACK_INLINED
                                        : STACK_USER;
    const char *name = mkperf_places_text(s, f->name);
    uint32_t known = t->tree.n;
    char foreign[1200];

    if (f->pd != pd) { /* one of the candidates of an ambiguous sample */
        snprintf(foreign, sizeof foreign, "%s [%s]", name, mkperf_places_pd_name(s, f->pd));
        name = foreign;
    }
    uint32_t node = mkperf_tree_child(&t->tree, parent,
                                      label_number(t, kind, name, mkperf_places_pd_name(s, f->pd)));
    MKPERF_GROW(t->code, t->code_room, t->tree.n);
    struct stack_code *code = &t->code[node];
    if (t->tree.n != known && f->file != 0) {
        code->file = mkperf_hash_text_number(&t->texts, mkperf_places_text(s, f->file));
    }
    if (frame->file == f->file && frame->line != 0 &&
        (code->line == 0 || frame->line < code->line)) {
        code->line = frame->line;
    }
    return node;
}

/* Returns the child of `parent` for PD `pd`, which a call entered. `inferred`: only registers show the call
 * (docs/stock.md). */
static uint32_t pd_node(struct stack_tree *t, const struct mkperf_places *s, uint32_t parent,
                        uint32_t pd, bool inferred)
{
    const char *name = mkperf_places_pd_name(s, pd);
    char text[400];

    snprintf(text, sizeof text, "%s%s", name, inferred ? " (inferred)" : "");
    return mkperf_tree_child(&t->tree, parent, label_number(t, STACK_PD, text, name));
}

uint32_t stack_tree_chain(struct stack_tree *t, const struct mkperf_places *s,
                          const struct mkperf_profile_chain *chain)
{
    bool ambiguous = mkperf_places_ambiguous(s, chain->pd);
    uint32_t owner = ambiguous ? chain->pd : s->place[chain->place[chain->n - 1]].pd;
    uint32_t at = pd_node(t, s, 0, owner, false);

    for (uint32_t i = chain->n; i-- > 0;) {
        uint32_t n;
        uint32_t pd = s->place[chain->place[i]].pd;
        if (pd != owner && !ambiguous) { /* a protected call entered that PD */
            owner = pd;
            at = pd_node(t, s, at, pd, mkperf_places_inferred(s, chain->event));
        }
        const struct mkperf_frame *frame = mkperf_places_frames(s, chain->place[i], &n);
        while (n-- > 0) {
            at = frame_node(t, s, at, owner, &frame[n]);
        }
    }
    return at;
}

void stack_tree_add(struct stack_tree *t, struct mkperf_profile *p, uint32_t event, unsigned side,
                    bool idle)
{
    struct mkperf_profile_chain chain;

    for (uint32_t i = 0; i < p->chains.count; i++) {
        mkperf_profile_chain(p, i, &chain);
        if (chain.event == event && (idle || !mkperf_places_idle(&p->places, chain.pd))) {
            mkperf_tree_add(&t->tree, stack_tree_chain(t, &p->places, &chain), side, chain.weight);
        }
    }
}

static int by_name(const struct mkperf_tree_node *a, const struct mkperf_tree_node *b,
                   const void *context)
{
    const struct stack_tree *t = context;
    uint32_t x = (uint32_t)(a - t->tree.node), y = (uint32_t)(b - t->tree.node);

    return strcmp(stack_tree_text(t, stack_tree_label(t, x).name),
                  stack_tree_text(t, stack_tree_label(t, y).name));
}

void stack_tree_finish(struct stack_tree *t)
{
    MKPERF_GROW(t->code, t->code_room, t->tree.n);
    mkperf_tree_finish(&t->tree, by_name, t);
}

/* Writes the names from the root's child to the node. */
static void put_path(struct mkperf_textout *t, const struct stack_tree *tree, uint32_t node)
{
    struct stack_label label = stack_tree_label(tree, node);
    uint32_t parent = tree->tree.node[node].parent;

    if (parent != 0) {
        put_path(t, tree, parent);
        mkperf_textout_puts(t, ";");
    }
    mkperf_textout_plain(t, stack_tree_text(tree, label.name), true);
    mkperf_textout_puts(t, label.kind == STACK_KERNEL    ? "_[k]"
                           : label.kind == STACK_INLINED ? "_[i]"
                                                         : "");
}

enum mkperf_status mkperf_folded_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                       struct mkperf_textout *t, struct mkperf_error *e)
{
    struct stack_tree tree;
    uint32_t event;

    MKPERF_TRY(mkperf_export_event(x, c, &event, e));
    stack_tree_init(&tree);
    stack_tree_add(&tree, c, event, 0, true);
    stack_tree_finish(&tree);
    for (uint32_t i = mkperf_tree_next(&tree.tree, 0); i != 0;
         i = mkperf_tree_next(&tree.tree, i)) {
        if (mkperf_tree_self(&tree.tree, i).period != 0) {
            put_path(t, &tree, i);
            mkperf_textout_puts(t, " ");
            mkperf_textout_u64(t, mkperf_tree_self(&tree.tree, i).period);
            mkperf_textout_put(t, "\n", 1);
        }
    }
    stack_tree_free(&tree);
    return MKPERF_OK;
}
