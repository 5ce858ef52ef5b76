/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callgrind's format, for callgrind_annotate and KCachegrind.
 *
 * Owns: the file. Called through the table of formats. A row has a column of periods for each event, and one of samples.
 *   The count of a call is the number of samples that contain it, because sampling does not count calls.
 *   The object of a function is its PD, or "kernel". If several PDs have functions of one name, the PD is also part of
 *     the name, because callgrind_annotate adds up functions of one file and name.
 *   A call that occurs several times in a stack (recursion) adds to the inclusive cost once.
 *   Losses and periods are in lines "desc:".
 */
#include "parts.h"
#include <mkperf/version.h>

enum { SELF = 0 }; /* the member callee of a row that is not a call */

struct row {
    uint32_t function, line, callee; /* callee: a function + 1, or SELF */
    uint32_t is_call, number;
    uint32_t last; /* the chain that was added last + 1, to find recursion */
};

struct callgrind {
    struct mkperf_profile *c;
    struct mkperf_textout *t;
    uint32_t columns; /* one for each event, then one for samples */
    struct mkperf_hash rows;
    struct row *row;
    uint64_t *cost; /* cost[row * columns + column] */
    uint32_t room;
    size_t cost_room;
    /* By number: whether the name was written. Each name is written once, with its number. */
    bool *named_function, *named_file;
};

static uint32_t row_number(struct callgrind *g, uint32_t function, uint32_t line, uint32_t callee)
{
    uint64_t key[2] = {function | (uint64_t)line << 32, callee};
    uint32_t known = g->rows.count;
    uint32_t number = mkperf_hash_number(&g->rows, key, 2);

    if (number == known) {
        MKPERF_GROW(g->row, g->room, (size_t)number + 1);
        MKPERF_GROW(g->cost, g->cost_room, ((size_t)number + 1) * g->columns);
        g->row[number] = (struct row){.function = function,
                                      .line = line,
                                      .callee = callee,
                                      .is_call = callee != SELF,
                                      .number = number};
    }
    return number;
}

static void add_cost(struct callgrind *g, uint32_t number, const struct mkperf_profile_chain *chain,
                     uint32_t chain_number)
{
    if (g->row[number].last != chain_number + 1) {
        uint64_t *cost = g->cost + (size_t)number * g->columns;
        cost[chain->event] += chain->weight.period;
        cost[g->columns - 1] += chain->weight.samples;
        g->row[number].last = chain_number + 1;
    }
}

/*
 * Returns the number of a function that represents a PD. It is the outermost function of each of the PD's stacks:
 * readers compute a function's inclusive cost from its callers, and would miss stacks that begin with the function. If
 * a PD calls another PD, the other one's function is between the two.
 */
static uint32_t pd_function(const struct mkperf_places *s, uint32_t pd)
{
    return s->functions.count + (pd < s->npds ? pd : 0);
}

/* Returns the line of a frame; 0 if it is not in its function's file. */
static uint32_t line_of(const struct mkperf_places *s, const struct mkperf_frame *frame)
{
    return frame->file == s->function[frame->function].file ? frame->line : 0;
}

static void add_chain(struct callgrind *g, const struct mkperf_profile_chain *chain,
                      uint32_t number)
{
    const struct mkperf_places *s = &g->c->places;
    bool ambiguous = mkperf_places_ambiguous(s, chain->pd);
    uint32_t callee = SELF;
    uint32_t pd = chain->pd;

    for (uint32_t i = 0; i < chain->n; i++) {
        uint32_t n;
        uint32_t next = s->place[chain->place[i]].pd;
        if (next != pd && !ambiguous) {
            uint32_t edge = pd_function(s, pd);
            add_cost(g, row_number(g, edge, 0, callee), chain, number);
            callee = edge + 1;
            pd = next;
        }
        const struct mkperf_frame *f = mkperf_places_frames(s, chain->place[i], &n);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t row = row_number(g, f[k].function, line_of(s, &f[k]), callee);
            add_cost(g, row, chain, number);
            callee = f[k].function + 1;
        }
    }
    add_cost(g, row_number(g, pd_function(s, pd), 0, callee), chain, number);
}

/* Writes a text in a line. */
static void put_plain(struct callgrind *g, const char *text)
{
    mkperf_textout_plain(g->t, text, false);
}

/* Writes the lines ob=, fl= and fn= of a function. `prefix` is "c" for a callee, and "" otherwise. */
static void put_function(struct callgrind *g, uint32_t number, const char *prefix)
{
    const struct mkperf_places *s = &g->c->places;
    bool root = number >= s->functions.count;
    struct mkperf_function f = {.pd = number - s->functions.count};

    if (!root) {
        f = s->function[number];
    }
    mkperf_textout_printf(g->t, "%sob=", prefix);
    put_plain(g, f.kernel ? "kernel" : mkperf_places_pd_name(s, f.pd));
    mkperf_textout_printf(g->t, "\n%s=(%u)", *prefix != '\0' ? "cfi" : "fl", f.file + 1);
    if (!g->named_file[f.file]) {
        g->named_file[f.file] = true;
        mkperf_textout_puts(g->t, " ");
        put_plain(g, f.file != 0 ? mkperf_places_text(s, f.file) : "???");
    }
    mkperf_textout_printf(g->t, "\n%sfn=(%u)", prefix, number + 1);
    if (!g->named_function[number]) {
        const char *pd = root ? NULL : mkperf_places_one_of_several(s, number);
        g->named_function[number] = true;
        mkperf_textout_puts(g->t, " ");
        put_plain(g, root ? mkperf_places_pd_name(s, f.pd) : mkperf_places_name(s, number));
        if (pd != NULL) {
            mkperf_textout_puts(g->t, " {");
            put_plain(g, pd);
            mkperf_textout_puts(g->t, "}");
        }
    }
    mkperf_textout_puts(g->t, "\n");
}

/* Writes the values of all columns. */
static void put_costs(struct callgrind *g, const uint64_t *cost)
{
    for (uint32_t i = 0; i < g->columns; i++) {
        mkperf_textout_puts(g->t, " ");
        mkperf_textout_u64(g->t, cost[i]);
    }
    mkperf_textout_puts(g->t, "\n");
}

static void put_note_line(void *self, const char *line)
{
    struct callgrind *g = self;

    mkperf_textout_puts(g->t, "desc: ");
    put_plain(g, line);
    mkperf_textout_puts(g->t, "\n");
}

enum mkperf_status mkperf_callgrind_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                          struct mkperf_textout *t, struct mkperf_error *e)
{
    struct callgrind g = {.c = c, .t = t, .columns = c->nevents + 1};
    struct mkperf_profile_chain chain;

    (void)e;
    for (uint32_t i = 0; i < c->chains.count; i++) {
        mkperf_profile_chain(c, i, &chain);
        add_chain(&g, &chain, i);
    }
    mkperf_textout_puts(t, "# callgrind format\nversion: 1\ncreator: mkperf " MKPERF_VERSION
                           "\ncmd: ");
    put_plain(&g, x->title != NULL ? x->title : "mkperf");
    mkperf_textout_puts(t, "\n");
    mkperf_profile_notes(c, put_note_line, &g);
    mkperf_textout_puts(t, "positions: line\nevents:");
    uint64_t sums[MKPERF_MODEL_EVENTS + 1] = {0};
    for (uint32_t i = 0; i < c->nevents; i++) {
        /* Writes the name of an event as one word of letters, digits and underscores. */
        char room[32], name[MKPERF_MODEL_NAME];
        snprintf(name, sizeof name, "%s", mkperf_places_event_name(&c->places, i, room));
        for (char *p = name; *p != '\0'; p++) {
            *p = isalnum((unsigned char)*p) ? *p : '_';
        }
        mkperf_textout_puts(t, isdigit((unsigned char)name[0]) ? " _" : " ");
        mkperf_textout_puts(t, name);
        sums[i] = c->total[i].period;
        sums[c->nevents] += c->total[i].samples;
    }
    mkperf_textout_puts(t, " Samples\nsummary:");
    put_costs(&g, sums);
    const struct mkperf_places *s = &c->places;
    uint32_t n = g.rows.count;
    g.named_function = mkperf_xcalloc((size_t)pd_function(s, 0) + s->npds + 1, sizeof(bool));
    g.named_file = mkperf_xcalloc(s->texts.count, sizeof(bool));
    /* By function; the row of the function itself precedes those of its calls. */
    MKPERF_SORT(g.row, n, MKPERF_UP(g.row, function), MKPERF_UP(g.row, is_call),
                MKPERF_UP(g.row, line), MKPERF_UP(g.row, callee));
    for (uint32_t i = 0; i < n; i++) {
        const struct row *row = &g.row[i];
        const uint64_t *cost = g.cost + (size_t)row->number * g.columns;
        if (i == 0 || row->function != row[-1].function) {
            mkperf_textout_puts(t, "\n");
            put_function(&g, row->function, "");
        }
        if (row->callee != SELF) {
            put_function(&g, row->callee - 1, "c");
            mkperf_textout_printf(t, "calls=%" PRIu64 " 0\n", cost[g.columns - 1]);
        }
        mkperf_textout_u64(t, row->line);
        put_costs(&g, cost);
    }
    mkperf_hash_free(&g.rows);
    free(g.row);
    free(g.cost);
    free(g.named_function);
    free(g.named_file);
    return MKPERF_OK;
}
