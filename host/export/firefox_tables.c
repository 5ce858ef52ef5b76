/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what a thread has in the Firefox Profiler's format: its tables of strings, functions, frames and stacks, and its markers.
 * See firefox.h.
 */
#include "firefox.h"

/* Returns the thread's number of a text, a function or a frame of the profile. */
static uint32_t local_number(struct mkperf_hash *set, uint32_t number)
{
    const uint64_t key = number;

    return mkperf_hash_number(set, &key, 1);
}

/* Returns the profile's number of number i of the thread. */
static uint32_t profile_number(const struct mkperf_hash *set, size_t i)
{
    uint32_t words;

    return (uint32_t)*mkperf_hash_key(set, (uint32_t)i, &words);
}

void firefox_tables_close(struct firefox_tables *f)
{
    firefox_tables_reset(f, 0);
    free(f->stack_of);
    free(f->place_of);
    free(f->mark_end);
}

void firefox_tables_reset(struct firefox_tables *f, uint32_t pd)
{
    enum { TABLES = 4 };
    struct mkperf_hash *const of_thread[TABLES] = {&f->string, &f->func, &f->frame, &f->stacks};

    for (unsigned i = 0; i < TABLES; i++) {
        mkperf_hash_free(of_thread[i]);
        *of_thread[i] = (struct mkperf_hash){.count = 0};
    }
    f->pd = pd;
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
            local_number(&f->frame, p->first + k);
            stack = mkperf_hash_number(&f->stacks, key, 2) + 1;
        }
    }
    f->stack_of[chain] = stack;
}

/* A number that the format has no value for. */
static const int64_t NO_NUMBER = INT64_MIN;

/* Writes a number: NO_NUMBER as null, other negative values as -1. */
static void put_signed(struct mkperf_textout *t, int64_t v)
{
    if (v < 0) {
        mkperf_textout_puts(t, v == NO_NUMBER ? "null" : "-1");
    } else {
        mkperf_textout_u64(t, (uint64_t)v);
    }
}

static const struct mkperf_place *place_at(const struct firefox_tables *f, size_t i)
{
    return &f->c->places.place[f->place_of[profile_number(&f->frame, i)]];
}

static int64_t frame_category(const struct firefox_tables *f, size_t i)
{
    const struct mkperf_place *p = place_at(f, i);

    return mkperf_places_idle(&f->c->places, f->pd) ? FIREFOX_IDLE
           : p->edge                                ? FIREFOX_CALL
           : p->kernel                              ? FIREFOX_KERNEL
           : p->pd != f->pd                         ? FIREFOX_CALLER
                                                    : FIREFOX_USER;
}

/* Returns the address in the file: relative to where the file begins in memory, by the first executable segment.
 * Returns -1 if it is not known. */
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
#define NUMBERS(name, n, value) FIREFOX_COLUMN(f->t, name, n, put_signed(f->t, value))
#define CONSTANTS(name, n, text) FIREFOX_COLUMN(f->t, name, n, mkperf_textout_puts(f->t, text))
#define STACK_KEY(number) mkperf_hash_key(&f->stacks, (uint32_t)(number), &words)
#define STACK_FRAME(number) local_number(&f->frame, (uint32_t)STACK_KEY(number)[1])
#define FRAME(number) frame[profile_number(&f->frame, number)]
#define FUNCTION(number) function[profile_number(&f->func, number)]

void firefox_tables_put(struct firefox_tables *f)
{
    const struct mkperf_frame *frame = f->c->places.frame;
    const struct mkperf_function *function = f->c->places.function;
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
            (int64_t)place_at(f, i)->nframes - 1 -
                (profile_number(&f->frame, i) - place_at(f, i)->first));
    NUMBERS("category", n, frame_category(f, i));
    CONSTANTS("subcategory", n, "0");
    NUMBERS("func", n, local_number(&f->func, FRAME(i).function));
    CONSTANTS("nativeSymbol", n, "null");
    CONSTANTS("innerWindowID", n, "null");
    CONSTANTS("implementation", n, "null");
    NUMBERS("line", n, FRAME(i).line != 0 ? (int64_t)FRAME(i).line : NO_NUMBER);
    CONSTANTS("column", n, "null");
    mkperf_json(f->t, "'length':%u},\n", n);
    n = f->func.count;
    mkperf_json(f->t, "'funcTable':{");
    NUMBERS("name", n, local_number(&f->string, FUNCTION(i).name));
    CONSTANTS("isJS", n, "false");
    CONSTANTS("relevantForJS", n, "false");
    CONSTANTS("resource", n, "-1");
    NUMBERS("fileName", n,
            FUNCTION(i).file != 0 ? (int64_t)local_number(&f->string, FUNCTION(i).file)
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
        mkperf_json(f->t, ",%s", mkperf_places_text(&f->c->places, profile_number(&f->string, i)));
    }
    mkperf_textout_put(f->t, "]", 1);
}

/*
 * The markers of a thread. There are three kinds.
 *
 *   Marks: a point, or a phase from its begin to its end. A phase without its other half is a marker with one end.
 *   Scheduling: intervals of a PD's states without a hole; the time between the known states is waiting. A call is an
 *     interval of the caller, an interval of the callee from when it ran with the call, and the reply. All three have
 *     one flow, which the reply ends.
 *   Losses: a point for each report, in the thread of losses.
 */

#define OPEN UINT64_MAX          /* mark_end of a mark without its other half */
#define SKIPPED (UINT64_MAX - 1) /* mark_end of an end, if the begin has the marker */
enum { NAME_BYTES = 32 };

enum firefox_phase { FIREFOX_INSTANT, FIREFOX_INTERVAL, FIREFOX_START, FIREFOX_END };

struct firefox_marker {
    enum firefox_phase phase;
    enum firefox_category category;
    uint64_t from_ns, to_ns;        /* to_ns: of intervals and ends */
    uint32_t name;                  /* a text of the places */
    const char *type;               /* a name in markerSchema */
    uint32_t number;                /* member "id" of a "mark" */
    uint32_t other;                 /* member "by" or "pd": a text; 0: "" */
    uint32_t flow;                  /* member "flow": a text; 0: the marker has none */
    const struct mkperf_lost *lost; /* the members of a "lost" */
};

/* The markers of one thread, while they are collected. */
struct firefox_markers {
    struct firefox_marker *marker;
    size_t n, room;
};

static void add_marker(struct firefox_markers *m, struct firefox_marker marker)
{
    MKPERF_GROW(m->marker, m->room, m->n + 1);
    m->marker[m->n++] = marker;
}

static const struct mkperf_profile_mark *mark_at(const struct firefox_tables *f, size_t i)
{
    return (const struct mkperf_profile_mark *)f->c->marks.map + i;
}

void firefox_tables_open(struct firefox_tables *f, struct mkperf_profile *c,
                         struct mkperf_textout *t)
{
    const struct mkperf_places *s = &c->places;

    *f = (struct firefox_tables){.c = c, .t = t};
    f->stack_of = mkperf_xcalloc(c->chains.count, sizeof *f->stack_of);
    f->place_of = mkperf_xcalloc(s->nframes, sizeof *f->place_of);
    for (uint32_t i = 0; i < s->places.count; i++) {
        for (uint32_t k = 0; k < s->place[i].nframes; k++) {
            f->place_of[s->place[i].first + k] = i;
        }
    }
    /* The end of each mark that begins a phase. */
    struct mkperf_marks marks = {.nbegun = 0};
    f->mark_end = mkperf_xcalloc(c->marks.count, sizeof *f->mark_end);
    for (size_t i = 0; i < c->marks.count; i++) {
        const struct mkperf_profile_mark *m = mark_at(f, i);
        struct mkperf_phase phase = {.pd = m->pd, .id = m->id, .name = m->name};
        struct mkperf_phase_begin begin = {.time_ns = m->time_ns, .tag = i};
        f->mark_end[i] = OPEN;
        if (m->kind == MKPERF_MARK_BEGIN) {
            mkperf_marks_begin(&marks, &phase, &begin);
        } else if (m->kind == MKPERF_MARK_END && mkperf_marks_end(&marks, &phase, &begin)) {
            f->mark_end[begin.tag] = m->time_ns;
            f->mark_end[i] = SKIPPED;
        }
    }
    mkperf_marks_free(&marks);
}

static uint32_t text_number(struct mkperf_profile *c, const char *name)
{
    return mkperf_places_text_number(&c->places, name);
}

static void flow_name(char name[NAME_BYTES], size_t call)
{
    snprintf(name, NAME_BYTES, "call %zx", call + 1);
}

static const char *state_name(enum mkperf_pd_state state)
{
    return state == MKPERF_PD_CALLING ? "in a call" : mkperf_pd_state_names[state];
}

static uint32_t pd_text(const struct firefox_tables *f, uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? 0
                                     : text_number(f->c, mkperf_places_pd_name(&f->c->places, pd));
}

bool firefox_sched_known(const struct mkperf_profile *c, uint32_t pd)
{
    const struct mkperf_analysis *a = c->sched;

    return c->schedule.open && a->events > 0 && pd < a->npds && !a->pd[pd].idle &&
           a->pd[pd].name != NULL && a->pd[pd].in[MKPERF_PD_UNKNOWN] < a->last_ns - a->first_ns;
}

static void add_state(const struct firefox_tables *f, enum mkperf_pd_state state, uint64_t from,
                      uint64_t to, uint32_t by, struct firefox_markers *m)
{
    if (to > from) {
        add_marker(m, (struct firefox_marker){
                          .phase = FIREFOX_INTERVAL,
                          .category = state == MKPERF_PD_RUNNING ? FIREFOX_USER : FIREFOX_OTHER,
                          .from_ns = from,
                          .to_ns = to,
                          .name = text_number(f->c, state_name(state)),
                          .type = "sched",
                          .other = pd_text(f, by)});
    }
}

static void put_marker_data(struct firefox_tables *f, const struct firefox_marker *m)
{
    bool mark = strcmp(m->type, "mark") == 0, sched = strcmp(m->type, "sched") == 0;

    if (m->lost != NULL) {
        mkperf_json(f->t, "{'type':%s,'where':%s", m->type, mkperf_loss_places[m->lost->where].key);
        if (m->lost->core != MKPERF_CORE_UNKNOWN) {
            mkperf_json(f->t, ",'core':%" PRIu32, m->lost->core);
        }
        mkperf_json(f->t, ",'samples':%" PRIu64 ",'events':%" PRIu64, m->lost->samples,
                    m->lost->events);
    } else {
        mkperf_json(f->t, "{'type':%s,%s:%" PRIu32, m->type,
                    mark    ? "id"
                    : sched ? "by"
                            : "pd",
                    mark ? m->number : local_number(&f->string, m->other));
    }
    if (m->flow != 0) {
        mkperf_json(f->t, ",'flow':%" PRIu32, local_number(&f->string, m->flow));
    }
    mkperf_textout_put(f->t, "}", 1);
}

/* Writes a time, or null if it is not known. */
static void put_time(struct firefox_tables *f, bool known, uint64_t ns)
{
    if (known) {
        mkperf_textout_ms(f->t, ns - f->c->first_ns);
    } else {
        mkperf_textout_puts(f->t, "null");
    }
}

static void put_columns(struct firefox_tables *f, struct firefox_markers *markers)
{
    const struct firefox_marker *m = markers->marker;
    size_t n = markers->n;

    mkperf_json(f->t, "'markers':{");
    FIREFOX_COLUMN(f->t, "data", n, put_marker_data(f, &m[i]));
    FIREFOX_COLUMN(f->t, "name", n, mkperf_textout_u64(f->t, local_number(&f->string, m[i].name)));
    FIREFOX_COLUMN(f->t, "startTime", n, put_time(f, m[i].phase != FIREFOX_END, m[i].from_ns));
    FIREFOX_COLUMN(
        f->t, "endTime", n,
        put_time(f, m[i].phase == FIREFOX_INTERVAL || m[i].phase == FIREFOX_END, m[i].to_ns));
    FIREFOX_COLUMN(f->t, "phase", n, mkperf_textout_u64(f->t, m[i].phase));
    FIREFOX_COLUMN(f->t, "category", n, mkperf_textout_u64(f->t, m[i].category));
    mkperf_json(f->t, "'length':%zu},\n", n);
    free(markers->marker);
}

void firefox_markers_put(struct firefox_tables *f, uint32_t pd)
{
    struct firefox_markers m = {.n = 0};

    for (size_t i = 0; i < f->c->marks.count; i++) {
        if (mark_at(f, i)->pd == pd && f->mark_end[i] != SKIPPED) {
            enum mkperf_mark_kind kind = mark_at(f, i)->kind;
            enum firefox_phase phase = kind == MKPERF_MARK_POINT   ? FIREFOX_INSTANT
                                       : f->mark_end[i] != OPEN    ? FIREFOX_INTERVAL
                                       : kind == MKPERF_MARK_BEGIN ? FIREFOX_START
                                                                   : FIREFOX_END;
            add_marker(&m, (struct firefox_marker){.phase = phase,
                                                   .from_ns = mark_at(f, i)->time_ns,
                                                   .to_ns = phase == FIREFOX_INTERVAL
                                                                ? f->mark_end[i]
                                                                : mark_at(f, i)->time_ns,
                                                   .name = mark_at(f, i)->name,
                                                   .type = "mark",
                                                   .number = mark_at(f, i)->id});
        }
    }
    if (firefox_sched_known(f->c, pd)) {
        const struct mkperf_interval *i = f->c->schedule.intervals.map;
        uint64_t at = f->c->sched->first_ns;
        for (size_t k = 0; k < f->c->schedule.intervals.count; k++) {
            if (i[k].pd == pd && i[k].state != MKPERF_PD_WAITING) {
                add_state(f, MKPERF_PD_WAITING, at, i[k].from, MKPERF_SCHED_NOBODY, &m);
                add_state(f, i[k].state, i[k].from, i[k].to, i[k].by, &m);
                at = i[k].to;
            }
        }
        add_state(f, MKPERF_PD_WAITING, at, f->c->sched->last_ns, MKPERF_SCHED_NOBODY, &m);
        const struct mkperf_schedule_call *call = f->c->schedule.calls.map;
        char name[NAME_BYTES], exit[64];
        for (size_t k = 0; k < f->c->schedule.calls.count; k++) {
            struct firefox_marker marker = {
                .phase = FIREFOX_INTERVAL, .type = "call", .to_ns = call[k].to_ns};
            if (call[k].from != pd && call[k].to != pd) {
                continue;
            }
            flow_name(name, k);
            marker.flow = text_number(f->c, name);
            if (call[k].from == pd) {
                marker.from_ns = call[k].from_ns;
                marker.name = text_number(
                    f->c, call[k].exit == 0 ? "call" : mkperf_exit_name(call[k].exit, exit));
                marker.other = pd_text(f, call[k].to);
                add_marker(&m, marker);
                marker.phase = FIREFOX_INSTANT;
                marker.type = "reply";
                marker.from_ns = call[k].to_ns;
                marker.name = text_number(f->c, "reply");
            } else {
                marker.from_ns = call[k].taken_ns;
                marker.name = text_number(f->c, "serve");
                marker.other = pd_text(f, call[k].from);
            }
            add_marker(&m, marker);
        }
    }
    put_columns(f, &m);
}

void firefox_markers_put_lost(struct firefox_tables *f)
{
    const struct mkperf_lost *lost = f->c->losses.map;
    struct firefox_markers m = {.n = 0};

    for (size_t i = 0; i < f->c->losses.count; i++) {
        uint64_t at = lost[i].time_ns > f->c->first_ns ? lost[i].time_ns : f->c->first_ns;

        add_marker(&m, (struct firefox_marker){.phase = FIREFOX_INSTANT,
                                               .from_ns = at,
                                               .name = text_number(f->c, "Lost samples"),
                                               .type = "lost",
                                               .lost = &lost[i]});
    }
    put_columns(f, &m);
}
