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

/* A number that the format has no value for. */
static const int64_t NO_NUMBER = INT64_MIN;

/* NO_NUMBER is written as null, other negative values as -1. */
static void put_number(struct mkperf_textout *t, int64_t v)
{
    if (v < 0) {
        mkperf_textout_puts(t, v == NO_NUMBER ? "null" : "-1");
    } else {
        mkperf_textout_u64(t, (uint64_t)v);
    }
}

static const struct mkperf_place *place_at(const struct firefox_tables *f, size_t i)
{
    return &f->c->places.place[f->place_of[f->frame.used[i]]];
}

static int64_t frame_category(const struct firefox_tables *f, size_t i)
{
    const struct mkperf_place *p = place_at(f, i);

    return f->idle          ? FIREFOX_IDLE
           : p->edge        ? FIREFOX_CALL
           : p->kernel      ? FIREFOX_KERNEL
           : p->pd != f->pd ? FIREFOX_CALLER
                            : FIREFOX_USER;
}

/* The address in the file: relative to where the file begins in memory, by the first executable segment. -1: unknown. */
static int64_t frame_address(const struct firefox_tables *f, size_t i)
{
    const struct mkperf_place *p = place_at(f, i);
    const struct mkperf_places *s = &f->c->places;
    struct mkperf_module *m = p->kernel ? s->kernel : p->pd < s->npds ? s->pd[p->pd].module : NULL;
    size_t n;
    const struct mkperf_segment *segment = mkperf_module_segments(m, &n);

    if (p->edge) {
        return -1;
    }
    if (n == 0 || p->addr < segment[0].vaddr - segment[0].offset) {
        return p->addr <= INT64_MAX >> 10 ? (int64_t)p->addr : -1;
    }
    uint64_t relative = p->addr - (segment[0].vaddr - segment[0].offset);
    return relative <= INT64_MAX >> 10 ? (int64_t)relative : -1;
}

/* A column of numbers, a column of n equal texts, and the key and the frame (a number of the thread) of a stack. */
#define NUMBERS(name, n, value) FIREFOX_COLUMN(f->t, name, n, put_number(f->t, value))
#define CONSTANTS(name, n, text) FIREFOX_COLUMN(f->t, name, n, mkperf_textout_puts(f->t, text))
#define STACK_KEY(number) mkperf_hash_key(&f->stacks, (uint32_t)(number), &words)
#define STACK_FRAME(number) (f->frame.local[STACK_KEY(number)[1]] - 1)

void firefox_tables_put(struct firefox_tables *f)
{
    const struct mkperf_frame *frame = f->c->places.frame;
    const struct mkperf_function *function = f->c->places.function;
    const uint32_t *frames = f->frame.used, *functions = f->func.used;
    uint32_t n = f->stacks.count, words;

    mkperf_json(f->t, "'stackTable':{");
    NUMBERS("frame", n, STACK_FRAME(i));
    NUMBERS("prefix", n, STACK_KEY(i)[0] != 0 ? (int64_t)STACK_KEY(i)[0] - 1 : NO_NUMBER);
    NUMBERS("category", n, frame_category(f, STACK_FRAME(i)));
    CONSTANTS("subcategory", n, "0");
    mkperf_json(f->t, "'length':%u},\n", n);
    n = f->frame.count;
    mkperf_json(f->t, "'frameTable':{");
    NUMBERS("address", n, frame_address(f, i));
    NUMBERS("inlineDepth", n,
            (int64_t)place_at(f, i)->nframes - 1 - (frames[i] - place_at(f, i)->first));
    NUMBERS("category", n, frame_category(f, i));
    CONSTANTS("subcategory", n, "0");
    NUMBERS("func", n, set_add(&f->func, frame[frames[i]].function));
    CONSTANTS("nativeSymbol", n, "null");
    CONSTANTS("innerWindowID", n, "null");
    CONSTANTS("implementation", n, "null");
    NUMBERS("line", n, frame[frames[i]].line != 0 ? (int64_t)frame[frames[i]].line : NO_NUMBER);
    CONSTANTS("column", n, "null");
    mkperf_json(f->t, "'length':%u},\n", n);
    n = f->func.count;
    mkperf_json(f->t, "'funcTable':{");
    NUMBERS("name", n, set_add(&f->string, function[functions[i]].name));
    CONSTANTS("isJS", n, "false");
    CONSTANTS("relevantForJS", n, "false");
    CONSTANTS("resource", n, "-1");
    NUMBERS("fileName", n,
            function[functions[i]].file != 0
                ? (int64_t)set_add(&f->string, function[functions[i]].file)
                : NO_NUMBER);
    CONSTANTS("lineNumber", n, "null");
    CONSTANTS("columnNumber", n, "null");
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
