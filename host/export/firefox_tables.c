/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: a thread's tables of strings, functions, frames and stacks in the Firefox Profiler's format; see firefox.h. */
#include "firefox.h"

static void set_open(struct firefox_set *s, uint32_t n)
{
    s->local = mkperf_xcalloc(n, sizeof *s->local);
    s->used = mkperf_xcalloc(n, sizeof *s->used);
    s->n = n;
}

static void set_close(struct firefox_set *s)
{
    free(s->local);
    free(s->used);
}

static void set_reset(struct firefox_set *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->local[s->used[i]] = 0;
    }
    s->count = 0;
}

static uint32_t set_add(struct firefox_set *s, uint32_t number)
{
    assert(number < s->n);
    if (s->local[number] == 0) {
        s->used[s->count++] = number;
        s->local[number] = s->count;
    }
    return s->local[number] - 1;
}

uint32_t firefox_tables_text(struct firefox_tables *f, uint32_t text)
{
    return set_add(&f->string, text);
}

void firefox_tables_open(struct firefox_tables *f, struct mkperf_profile *c,
                         struct mkperf_textout *t)
{
    const struct mkperf_places *s = &c->places;

    *f = (struct firefox_tables){.c = c, .t = t};
    f->stack_of = mkperf_xcalloc(c->chains.count, sizeof *f->stack_of);
    f->place_of = mkperf_xcalloc(s->nframes, sizeof *f->place_of);
    set_open(&f->string, s->texts.count);
    set_open(&f->func, s->functions.count);
    set_open(&f->frame, s->nframes);
    for (uint32_t i = 0; i < s->places.count; i++) {
        for (uint32_t k = 0; k < s->place[i].nframes; k++) {
            f->place_of[s->place[i].first + k] = i;
        }
    }
}

void firefox_tables_close(struct firefox_tables *f)
{
    set_close(&f->string);
    set_close(&f->func);
    set_close(&f->frame);
    mkperf_hash_free(&f->stacks);
    free(f->stack_of);
    free(f->place_of);
    free(f->mark_end);
}

void firefox_tables_reset(struct firefox_tables *f, uint32_t pd, bool idle)
{
    set_reset(&f->string);
    set_reset(&f->func);
    set_reset(&f->frame);
    mkperf_hash_free(&f->stacks);
    memset(&f->stacks, 0, sizeof f->stacks);
    f->pd = pd;
    f->idle = idle;
}

void firefox_tables_add(struct firefox_tables *f, uint32_t chain)
{
    struct mkperf_profile_chain c;
    uint32_t stack = 0; /* the number of the stack so far + 1 */

    mkperf_profile_chain(f->c, chain, &c);
    for (uint32_t i = c.n; i-- > 0;) {
        const struct mkperf_place *p = &f->c->places.place[c.place[i]];
        for (uint32_t k = p->nframes; k-- > 0;) {
            uint64_t key[2] = {stack, p->first + k};
            set_add(&f->frame, p->first + k);
            stack = mkperf_hash_number(&f->stacks, key, 2) + 1;
        }
    }
    f->stack_of[chain] = stack;
}

/* A column of n values, each from value_of(f, i). INT64_MIN is written as null, other negative values as -1. */
static void put_column(struct firefox_tables *f, const char *name, uint32_t n,
                       int64_t (*value_of)(struct firefox_tables *f, uint32_t i))
{
    mkperf_json(f->t, "%s:[", name);
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = value_of(f, i);
        mkperf_textout_put(f->t, ",", i > 0);
        if (v == INT64_MIN) {
            mkperf_textout_puts(f->t, "null");
        } else if (v < 0) {
            mkperf_textout_puts(f->t, "-1");
        } else {
            mkperf_textout_u64(f->t, (uint64_t)v);
        }
    }
    mkperf_textout_puts(f->t, "],");
}

/* A column of n equal values. */
static void put_constant(struct firefox_tables *f, const char *name, uint32_t n, const char *value)
{
    mkperf_json(f->t, "%s:[", name);
    for (uint32_t i = 0; i < n; i++) {
        mkperf_textout_printf(f->t, i > 0 ? ",%s" : "%s", value);
    }
    mkperf_textout_puts(f->t, "],");
}

static const struct mkperf_function *func_at(const struct firefox_tables *f, uint32_t i)
{
    return &f->c->places.function[f->func.used[i]];
}

static const struct mkperf_frame *frame_at(const struct firefox_tables *f, uint32_t i)
{
    return &f->c->places.frame[f->frame.used[i]];
}

static const struct mkperf_place *place_at(const struct firefox_tables *f, uint32_t i)
{
    return &f->c->places.place[f->place_of[f->frame.used[i]]];
}

static int64_t frame_category(struct firefox_tables *f, uint32_t i)
{
    const struct mkperf_place *p = place_at(f, i);

    return f->idle          ? FIREFOX_IDLE
           : p->edge        ? FIREFOX_CALL
           : p->kernel      ? FIREFOX_KERNEL
           : p->pd != f->pd ? FIREFOX_CALLER
                            : FIREFOX_USER;
}

static int64_t stack_frame(struct firefox_tables *f, uint32_t i)
{
    uint32_t words;

    return f->frame.local[mkperf_hash_key(&f->stacks, i, &words)[1]] - 1;
}

static int64_t stack_prefix(struct firefox_tables *f, uint32_t i)
{
    uint32_t words;
    uint64_t prefix = mkperf_hash_key(&f->stacks, i, &words)[0];

    return prefix == 0 ? INT64_MIN : (int64_t)prefix - 1;
}

static int64_t stack_category(struct firefox_tables *f, uint32_t i)
{
    return frame_category(f, (uint32_t)stack_frame(f, i));
}

/* The address in the file: relative to where the file begins in memory, by the first executable segment. -1: unknown. */
static int64_t frame_address(struct firefox_tables *f, uint32_t i)
{
    const struct mkperf_place *p = place_at(f, i);
    const struct mkperf_places *s = &f->c->places;
    struct mkperf_module *m = p->kernel ? s->kernel : p->pd < s->npds ? s->pd[p->pd].module : NULL;
    size_t n = 0;
    const struct mkperf_segment *segment = m != NULL ? mkperf_module_segments(m, &n) : NULL;

    if (p->edge) {
        return -1;
    }
    if (n == 0 || p->addr < segment[0].vaddr - segment[0].offset) {
        return p->addr <= INT64_MAX >> 10 ? (int64_t)p->addr : -1;
    }
    uint64_t relative = p->addr - (segment[0].vaddr - segment[0].offset);
    return relative <= INT64_MAX >> 10 ? (int64_t)relative : -1;
}

static int64_t frame_depth(struct firefox_tables *f, uint32_t i)
{
    const struct mkperf_place *p = place_at(f, i);

    return (int64_t)p->nframes - 1 - (f->frame.used[i] - p->first);
}

static int64_t frame_func(struct firefox_tables *f, uint32_t i)
{
    return set_add(&f->func, frame_at(f, i)->function);
}

static int64_t frame_line(struct firefox_tables *f, uint32_t i)
{
    return frame_at(f, i)->line != 0 ? (int64_t)frame_at(f, i)->line : INT64_MIN;
}

static int64_t func_name(struct firefox_tables *f, uint32_t i)
{
    return set_add(&f->string, func_at(f, i)->name);
}

static int64_t func_file(struct firefox_tables *f, uint32_t i)
{
    return func_at(f, i)->file != 0 ? (int64_t)set_add(&f->string, func_at(f, i)->file) : INT64_MIN;
}

void firefox_tables_put(struct firefox_tables *f)
{
    uint32_t n = f->stacks.count;

    mkperf_json(f->t, "'stackTable':{");
    put_column(f, "frame", n, stack_frame);
    put_column(f, "prefix", n, stack_prefix);
    put_column(f, "category", n, stack_category);
    put_constant(f, "subcategory", n, "0");
    mkperf_json(f->t, "'length':%u},\n", n);
    n = f->frame.count;
    mkperf_json(f->t, "'frameTable':{");
    put_column(f, "address", n, frame_address);
    put_column(f, "inlineDepth", n, frame_depth);
    put_column(f, "category", n, frame_category);
    put_constant(f, "subcategory", n, "0");
    put_column(f, "func", n, frame_func);
    put_constant(f, "nativeSymbol", n, "null");
    put_constant(f, "innerWindowID", n, "null");
    put_constant(f, "implementation", n, "null");
    put_column(f, "line", n, frame_line);
    put_constant(f, "column", n, "null");
    mkperf_json(f->t, "'length':%u},\n", n);
    n = f->func.count;
    mkperf_json(f->t, "'funcTable':{");
    put_column(f, "name", n, func_name);
    put_constant(f, "isJS", n, "false");
    put_constant(f, "relevantForJS", n, "false");
    put_constant(f, "resource", n, "-1");
    put_column(f, "fileName", n, func_file);
    put_constant(f, "lineNumber", n, "null");
    put_constant(f, "columnNumber", n, "null");
    mkperf_json(f->t, "'length':%u},\n", n);
    mkperf_json(f->t, "'resourceTable':{'lib':[],'name':[],'host':[],'type':[],'length':0},\n"
                      "'nativeSymbols':{'libIndex':[],'address':[],'name':[],'functionSize':[],"
                      "'length':0},\n");
    /* The columns above added functions and texts, so stringArray is last. */
    mkperf_json(f->t, "'stringArray':[");
    for (uint32_t i = 0; i < f->string.count; i++) {
        mkperf_json(f->t, ",%s", mkperf_places_text(&f->c->places, f->string.used[i]));
    }
    mkperf_textout_put(f->t, "]", 1);
}
