/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Firefox Profiler's processed format, version 51. Later versions of the Firefox Profiler upgrade it on loading.
 *
 * Owns: the file. Called through the table of formats. A PD is a process. It has one thread for each event, and for each
 * core if there are several. Samples are in the order of time, and their weight is the period. Marks are markers of
 * their PD. Losses are markers in a separate thread, with place, core and numbers. Sums, periods and the command are in
 * the profile's "more info".
 */
#include "parts.h"

#include <mkperf/version.h>

/* The number of bits below the core in a thread's id. */
enum { TID_CORE = 20 };
/* A PD without a sample for this number of sampling intervals did not run. */
enum { GAP_STEPS = 2 };

enum firefox_category {
    FIREFOX_OTHER,
    FIREFOX_USER,
    FIREFOX_KERNEL,
    FIREFOX_IDLE,
    FIREFOX_CALLER, /* a frame of another PD than that of the thread */
    FIREFOX_CALL,   /* the frame between a PD and the PD that it called */
    FIREFOX_CATEGORIES,
};
static const struct {
    const char *name, *colour;
} categories[FIREFOX_CATEGORIES] = {
    [FIREFOX_OTHER] = {"Other", "grey"},
    [FIREFOX_USER] = {"User", "blue"},
    [FIREFOX_KERNEL] = {"Kernel", "orange"},
    [FIREFOX_IDLE] = {"Idle", "transparent"},
    [FIREFOX_CALLER] = {"Caller in another PD", "purple"},
    [FIREFOX_CALL] = {"Protected call", "yellow"},
};

/* Returns the thread's number of a text, a function or a frame of the profile. */
static uint32_t local_number(struct mkperf_hash *set, uint32_t number)
{
    const uint64_t key = number;

    return mkperf_hash_number(set, &key, 1);
}

/* Returns the profile's number of number i of the thread. */
static uint32_t profile_number(const struct mkperf_hash *set, size_t i)
{
    return (uint32_t)*mkperf_hash_key(set, (uint32_t)i);
}

/* Begins a thread of PD `pd` with empty tables. */
static void begin_thread(struct firefox *f, uint32_t pd)
{
    enum { TABLES = 4 };
    struct mkperf_hash *const of_thread[TABLES] = {&f->string, &f->func, &f->frame, &f->stacks};

    for (unsigned i = 0; i < TABLES; i++) {
        mkperf_hash_free(of_thread[i]);
        *of_thread[i] = (struct mkperf_hash){.count = 0};
    }
    f->pd = pd;
    f->nmarkers = 0;
}

/* Adds a chain's stack to the thread. */
static void add_stack(struct firefox *f, uint32_t chain)
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

static const struct mkperf_place *place_at(const struct firefox *f, size_t i)
{
    return &f->c->places.place[f->place_of[profile_number(&f->frame, i)]];
}

static int64_t frame_category(const struct firefox *f, size_t i)
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
static int64_t frame_address(const struct firefox *f, size_t i)
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
#define STACK_KEY(number) mkperf_hash_key(&f->stacks, (uint32_t)(number))
#define STACK_FRAME(number) local_number(&f->frame, (uint32_t)STACK_KEY(number)[1])
#define FRAME(number) frame[profile_number(&f->frame, number)]
#define FUNCTION(number) function[profile_number(&f->func, number)]

/* Writes the member stackTable and the following members up to stringArray. */
static void put_thread_tables(struct firefox *f)
{
    const struct mkperf_frame *frame = f->c->places.frame;
    const struct mkperf_function *function = f->c->places.function;
    uint32_t n = f->stacks.count;

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

enum firefox_phase { FIREFOX_INSTANT, FIREFOX_INTERVAL, FIREFOX_START, FIREFOX_END };

/* A marker of the current thread, of which the data are written. */
struct firefox_marker {
    enum firefox_phase phase;
    enum firefox_category category;
    uint64_t from_ns, to_ns; /* to_ns: of intervals and ends */
    uint32_t name;           /* a text of the places */
};

static void add_marker(struct firefox *f, struct firefox_marker marker)
{
    MKPERF_GROW(f->marker, f->marker_room, f->nmarkers + 1);
    f->marker[f->nmarkers++] = marker;
}

static uint32_t text_number(const struct firefox *f, const char *text)
{
    return mkperf_hash_text_number(&f->c->places.texts, text);
}

/* Writes a member with the name of a PD, "" for nobody. */
static void put_pd_member(struct firefox *f, const char *key, uint32_t pd)
{
    const char *name = pd == MKPERF_SCHED_NOBODY ? "" : mkperf_places_pd_name(&f->c->places, pd);

    mkperf_json(f->t, ",%s:%" PRIu32, key, local_number(&f->string, text_number(f, name)));
}

/* Returns whether scheduling events show what the PD did. */
static bool is_sched_known(const struct mkperf_profile *c, uint32_t pd)
{
    const struct mkperf_analysis *a = c->sched;

    return c->schedule.open && a->events > 0 && pd < a->npds && !a->pd[pd].idle &&
           a->pd[pd].name != NULL && a->pd[pd].in[MKPERF_PD_UNKNOWN] < a->last_ns - a->first_ns;
}

static void add_state(struct firefox *f, enum mkperf_pd_state state, uint64_t from, uint64_t to,
                      uint32_t by)
{
    const char *name = state == MKPERF_PD_CALLING ? "in a call" : mkperf_pd_state_names[state];

    if (to > from) {
        mkperf_json(f->t, ",{'type':'sched'");
        put_pd_member(f, "by", by);
        mkperf_textout_put(f->t, "}", 1);
        add_marker(f, (struct firefox_marker){
                          .phase = FIREFOX_INTERVAL,
                          .category = state == MKPERF_PD_RUNNING ? FIREFOX_USER : FIREFOX_OTHER,
                          .from_ns = from,
                          .to_ns = to,
                          .name = text_number(f, name)});
    }
}

/* Adds the marker of a call, with its data. */
static void add_call(struct firefox *f, const char *type, size_t call, uint32_t pd,
                     struct firefox_marker marker)
{
    char flow[32];

    snprintf(flow, sizeof flow, "call %zx", call + 1);
    mkperf_json(f->t, ",{'type':%s", type);
    put_pd_member(f, "pd", pd);
    mkperf_json(f->t, ",'flow':%" PRIu32 "}", local_number(&f->string, text_number(f, flow)));
    add_marker(f, marker);
}

/* Writes a time, or null if it is not known. */
static void put_time(struct firefox *f, bool known, uint64_t ns)
{
    if (known) {
        mkperf_textout_ms(f->t, ns - f->c->first_ns);
    } else {
        mkperf_textout_puts(f->t, "null");
    }
}

/* Writes the columns of the thread's markers behind that of their data. */
static void put_marker_columns(struct firefox *f)
{
    const struct firefox_marker *m = f->marker;
    size_t n = f->nmarkers;

    mkperf_textout_puts(f->t, "],");
    FIREFOX_COLUMN(f->t, "name", n, mkperf_textout_u64(f->t, local_number(&f->string, m[i].name)));
    FIREFOX_COLUMN(f->t, "startTime", n, put_time(f, m[i].phase != FIREFOX_END, m[i].from_ns));
    FIREFOX_COLUMN(
        f->t, "endTime", n,
        put_time(f, m[i].phase == FIREFOX_INTERVAL || m[i].phase == FIREFOX_END, m[i].to_ns));
    FIREFOX_COLUMN(f->t, "phase", n, mkperf_textout_u64(f->t, m[i].phase));
    FIREFOX_COLUMN(f->t, "category", n, mkperf_textout_u64(f->t, m[i].category));
    mkperf_json(f->t, "'length':%zu},\n", n);
}

/* Writes the member markers of a PD's first thread. */
static void put_markers(struct firefox *f)
{
    const struct mkperf_profile_mark *mark = f->c->marks.map;

    for (size_t i = 0; i < f->c->marks.count; i++) {
        if (mark[i].pd == f->pd && f->mark_end[i] != SKIPPED) {
            bool whole = f->mark_end[i] != OPEN && mark[i].kind != MKPERF_MARK_POINT;

            mkperf_json(f->t, ",{'type':'mark','id':%" PRIu32 "}", mark[i].id);
            add_marker(f, (struct firefox_marker){
                              .phase = mark[i].kind == MKPERF_MARK_POINT   ? FIREFOX_INSTANT
                                       : whole                             ? FIREFOX_INTERVAL
                                       : mark[i].kind == MKPERF_MARK_BEGIN ? FIREFOX_START
                                                                           : FIREFOX_END,
                              .from_ns = mark[i].time_ns,
                              .to_ns = whole ? f->mark_end[i] : mark[i].time_ns,
                              .name = mark[i].name});
        }
    }
    if (!is_sched_known(f->c, f->pd)) {
        return;
    }
    const struct mkperf_interval *i = f->c->schedule.intervals.map;
    uint64_t at = f->c->sched->first_ns;
    for (size_t k = 0; k < f->c->schedule.intervals.count; k++) {
        if (i[k].pd == f->pd && i[k].state != MKPERF_PD_WAITING) {
            add_state(f, MKPERF_PD_WAITING, at, i[k].from, MKPERF_SCHED_NOBODY);
            add_state(f, i[k].state, i[k].from, i[k].to, i[k].by);
            at = i[k].to;
        }
    }
    add_state(f, MKPERF_PD_WAITING, at, f->c->sched->last_ns, MKPERF_SCHED_NOBODY);
    const struct mkperf_schedule_call *call = f->c->schedule.calls.map;
    for (size_t k = 0; k < f->c->schedule.calls.count; k++) {
        struct firefox_marker marker = {.phase = FIREFOX_INTERVAL, .to_ns = call[k].to_ns};
        char exit[64];
        if (call[k].from == f->pd) {
            marker.from_ns = call[k].from_ns;
            marker.name =
                text_number(f, call[k].exit == 0 ? "call" : mkperf_exit_name(call[k].exit, exit));
            add_call(f, "call", k, call[k].to, marker);
            marker =
                (struct firefox_marker){.from_ns = call[k].to_ns, .name = text_number(f, "reply")};
            add_call(f, "reply", k, call[k].to, marker);
        } else if (call[k].to == f->pd) {
            marker.from_ns = call[k].taken_ns;
            marker.name = text_number(f, "serve");
            add_call(f, "call", k, call[k].from, marker);
        }
    }
}

static void put_note_label(void *self, const char *line)
{
    struct firefox *f = self;

    mkperf_json(f->t, ",{'label':'note %u','format':'string','value':%s}", ++f->notes, line);
}

/* The kinds of markers. */
static const char schema[] =
    "'markerSchema':[{'name':'lost','tooltipLabel':'{marker.data.samples} samples lost',"
    "'tableLabel':'{marker.data.samples} samples lost: {marker.data.where}',"
    "'chartLabel':'lost {marker.data.samples}',"
    "'display':['marker-chart','marker-table','timeline-overview'],'data':["
    "{'key':'where','label':'Place','format':'string','searchable':true},"
    "{'key':'samples','label':'Samples lost','format':'integer'},"
    "{'key':'events','label':'Events they stood for (0: unknown)','format':'integer'},"
    "{'key':'core','label':'Core','format':'integer'}]},\n"
    "{'name':'mark','tooltipLabel':'{marker.name} ({marker.data.id})',"
    "'tableLabel':'{marker.name} ({marker.data.id})','chartLabel':'{marker.name}',"
    "'display':['marker-chart','marker-table','timeline-overview'],'data':["
    "{'key':'id','label':'Number','format':'integer'}]},\n"
    "{'name':'sched','tooltipLabel':'{marker.name} {marker.data.by}',"
    "'tableLabel':'{marker.name} {marker.data.by}','chartLabel':'{marker.name}',"
    "'display':['marker-chart','marker-table'],'data':["
    "{'key':'by','label':'PD that ran, or is waited for','format':'unique-string'}]},\n"
    "{'name':'call','tooltipLabel':'{marker.name} {marker.data.pd}',"
    "'tableLabel':'{marker.name} {marker.data.pd}','chartLabel':'{marker.name} {marker.data.pd}',"
    "'display':['marker-chart','marker-table'],'data':["
    "{'key':'pd','label':'PD','format':'unique-string'},"
    "{'key':'flow','label':'Call','format':'flow-id'}]},\n"
    "{'name':'reply','tooltipLabel':'{marker.name} of {marker.data.pd}',"
    "'tableLabel':'{marker.name} of {marker.data.pd}',"
    "'chartLabel':'{marker.name}','display':['marker-chart','marker-table'],'data':["
    "{'key':'pd','label':'PD','format':'unique-string'},"
    "{'key':'flow','label':'Call','format':'terminating-flow-id'}]}],\n";

/* Returns the average time between two samples of a core, in milliseconds. */
static double interval_ms(const struct mkperf_profile *c)
{
    double span = (double)(c->last_ns - c->first_ns) / 1e6;
    double cores = c->places.session.cores > 0 ? c->places.session.cores : 1;

    double count = (double)c->samples.count;

    return count > cores && span > 0 ? span * cores / count : 1;
}

static void put_optional(struct mkperf_textout *t, const char *key, const char *value)
{
    if (value != NULL && *value != '\0') {
        mkperf_json(t, "%s:%s,", key, value);
    }
}

static void put_meta(struct firefox *f, const char *title)
{
    const struct mkperf_session *s = &f->c->places.session;
    struct mkperf_textout *t = f->t;

    mkperf_json(t,
                "{'meta':{'interval':%.6f,'startTime':0,'processType':0,'product':%s,"
                "'stackwalk':1,'version':27,'preprocessedProfileVersion':51,\n",
                interval_ms(f->c), title != NULL ? title : "mkperf");
    put_optional(t, "platform", s->platform);
    put_optional(t, "CPUName", s->cpu);
    put_optional(t, "arguments", s->command);
    mkperf_json(t, "'logicalCPUs':%u,\n", s->cores);
    mkperf_json(t, "'categories':[");
    for (unsigned i = 0; i < FIREFOX_CATEGORIES; i++) {
        mkperf_json(t, ",{'name':%s,'color':%s,'subcategories':['Other']}", categories[i].name,
                    categories[i].colour);
    }
    mkperf_json(t, "],\n");
    mkperf_json(t, schema);
    mkperf_json(t, "'sampleUnits':{'time':'ms','eventDelay':'ms','threadCPUDelta':"
                   "'variable CPU cycles'},'symbolicated':true,'symbolicationNotSupported':true,"
                   "'importedFrom':'mkperf " MKPERF_VERSION "','usesOnlyOneStackType':true,"
                   "'sourceCodeIsNotOnSearchfox':true,'keepProfileThreadOrder':true,"
                   "'initialVisibleThreads':[");
    for (uint32_t i = 0; i < f->nthreads + (f->c->losses.count > 0); i++) {
        mkperf_json(t, ",%u", i);
    }
    mkperf_json(t, "],\n'extra':[{'label':'Recording','entries':[");
    mkperf_profile_notes(f->c, put_note_label, f);
    mkperf_json(t, "]}]},\n'libs':[],'threads':[\n");
}

/* A value of a thread's samples. Nothing ran if the stack is 0. */
struct point {
    uint64_t time_ns, weight;
    uint64_t active_ns; /* how long something ran since the value before */
    uint32_t stack;     /* a stack of the thread + 1 */
};

/* The values of a thread. */
struct points {
    struct point *at;
    size_t n, room;
    uint64_t step_ns; /* the average time between two samples of a core */
};

static void add_point(struct points *p, uint64_t time_ns, uint32_t stack, uint64_t weight)
{
    uint64_t since = p->n > 0 ? time_ns - p->at[p->n - 1].time_ns : 0;

    MKPERF_GROW(p->at, p->room, p->n + 1);
    p->at[p->n++] = (struct point){.time_ns = time_ns,
                                   .weight = weight,
                                   .active_ns = stack == 0           ? 0
                                                : since < p->step_ns ? since
                                                                     : p->step_ns,
                                   .stack = stack};
}

/*
 * Writes the columns of a thread's samples. The Firefox Profiler draws a sample up to the middle between it and its
 * neighbours. Therefore empty samples surround the times in which a PD did not run. Their value in the column of activity,
 * threadCPUDelta, is 0.
 */
static void put_sample_columns(struct firefox *f, uint32_t thread)
{
    const struct mkperf_profile_sample *sample = f->c->samples.map;
    struct points p = {.step_ns = (uint64_t)(interval_ms(f->c) * 1e6)};
    uint64_t last = f->c->first_ns;

    for (size_t i = 0; i <= f->c->samples.count; i++) {
        bool end = i == f->c->samples.count;
        uint64_t time = end ? f->c->last_ns : sample[i].time_ns;
        if (!end && f->thread_of[sample[i].chain] != thread) {
            continue;
        }
        if (time - last > GAP_STEPS * p.step_ns) {
            add_point(&p, last + (p.n > 0 ? p.step_ns : 0), 0, 0);
            add_point(&p, end ? time : time - p.step_ns, 0, 0);
        }
        if (!end) {
            add_point(&p, time, f->stack_of[sample[i].chain], sample[i].period);
            last = time;
        }
    }
    mkperf_json(f->t, "'samples':{");
    FIREFOX_COLUMN(f->t, "stack", p.n,
                   p.at[i].stack == 0 ? mkperf_textout_puts(f->t, "null")
                                      : mkperf_textout_u64(f->t, p.at[i].stack - 1));
    FIREFOX_COLUMN(f->t, "time", p.n, mkperf_textout_ms(f->t, p.at[i].time_ns - f->c->first_ns));
    FIREFOX_COLUMN(f->t, "threadCPUDelta", p.n, mkperf_textout_u64(f->t, p.at[i].active_ns));
    FIREFOX_COLUMN(f->t, "weight", p.n, mkperf_textout_u64(f->t, p.at[i].weight));
    mkperf_json(f->t, "'weightType':'samples','length':%zu},\n", p.n);
    free(p.at);
}

static void put_thread_head(struct firefox *f, const char *name, const char *process, uint32_t pid,
                            uint32_t tid, bool is_main)
{
    mkperf_json(f->t,
                "{'processType':'default','processStartupTime':0,'processShutdownTime':null,"
                "'registerTime':0,'unregisterTime':null,'pausedRanges':[],'name':%s,"
                "'processName':%s,'isMainThread':%hhd,'pid':'%u','tid':%u,\n",
                name, process, is_main, pid, tid);
}

static void put_thread(struct firefox *f, uint32_t number)
{
    struct mkperf_profile *c = f->c;
    const struct firefox_thread *thread = &f->thread[number];
    const char *process = mkperf_places_pd_name(&c->places, thread->pd);
    char room[32], on[24] = "", name[400];

    begin_thread(f, thread->pd);
    for (uint32_t i = 0; i < c->chains.count; i++) {
        if (f->thread_of[i] == number) {
            add_stack(f, i);
        }
    }
    if (c->cores_seen > 1) {
        snprintf(on, sizeof on, " core %u", thread->core);
    }
    snprintf(name, sizeof name, c->nevents > 1 ? "%.255s%s (%.90s)" : "%.255s%s", process, on,
             mkperf_places_event_name(&c->places, thread->event, room));
    put_thread_head(f, name, process, thread->pd + 1,
                    (thread->core << TID_CORE) + (thread->pd + 1) * MKPERF_MODEL_EVENTS +
                        thread->event,
                    firefox_is_main(f, number));
    put_sample_columns(f, number);
    mkperf_json(f->t, "'markers':{'data':[");
    if (firefox_is_main(f, number)) {
        put_markers(f);
    }
    put_marker_columns(f);
    put_thread_tables(f);
    mkperf_textout_put(f->t, "}", 1);
}

/* Writes the thread of losses. It has no samples, and a marker for each report. */
static void put_thread_of_losses(struct firefox *f)
{
    const struct mkperf_lost *lost = f->c->losses.map;

    begin_thread(f, 0);
    put_thread_head(f, "lost samples", "lost samples", 0, 0, true);
    mkperf_json(f->t, "'samples':{'stack':[],'time':[],'weight':[],'weightType':'samples',"
                      "'length':0},\n'markers':{'data':[");
    for (size_t i = 0; i < f->c->losses.count; i++) {
        mkperf_json(f->t, ",{'type':'lost','where':%s", mkperf_loss_places[lost[i].where].key);
        if (lost[i].core != MKPERF_CORE_UNKNOWN) {
            mkperf_json(f->t, ",'core':%" PRIu32, lost[i].core);
        }
        mkperf_json(f->t, ",'samples':%" PRIu64 ",'events':%" PRIu64 "}", lost[i].samples,
                    lost[i].events);
        add_marker(f, (struct firefox_marker){.from_ns = lost[i].time_ns > f->c->first_ns
                                                             ? lost[i].time_ns
                                                             : f->c->first_ns,
                                              .name = text_number(f, "Lost samples")});
    }
    put_marker_columns(f);
    put_thread_tables(f);
    mkperf_textout_put(f->t, "}", 1);
}

/* Lists the threads with samples, and one for each PD that has only marks or scheduling events. */
static void list_threads(struct firefox *f)
{
    const struct mkperf_profile *c = f->c;
    const struct mkperf_profile_mark *mark = c->marks.map;
    struct firefox_thread *list =
        mkperf_xcalloc(c->chains.count + c->marks.count + c->places.npds + 1, sizeof *list);
    size_t n = 0;

    for (uint32_t i = 0; i < c->chains.count; i++) {
        struct mkperf_chain_head head = mkperf_profile_head(c, i);
        list[n++] = (struct firefox_thread){head.pd, head.event, head.core, .chain = i + 1};
    }
    for (size_t i = 0; i < c->marks.count; i++) {
        if (c->places.pd[mark[i].pd].samples == 0) {
            list[n++] = (struct firefox_thread){.pd = mark[i].pd};
        }
    }
    for (uint32_t pd = 0; pd < c->places.npds; pd++) {
        if (c->places.pd[pd].samples == 0 && is_sched_known(c, pd)) {
            list[n++] = (struct firefox_thread){.pd = pd};
        }
    }
    MKPERF_SORT(list, n, MKPERF_UP(list, pd), MKPERF_UP(list, event), MKPERF_UP(list, core));
    f->thread = list;
    f->thread_of = mkperf_xcalloc(c->chains.count, sizeof *f->thread_of);
    for (size_t i = 0; i < n; i++) {
        struct firefox_thread one = list[i], *last = &list[f->nthreads - (f->nthreads > 0)];

        if (f->nthreads == 0 || last->pd != one.pd || last->event != one.event ||
            last->core != one.core) {
            list[f->nthreads++] = one;
        }
        if (one.chain != 0) {
            f->thread_of[one.chain - 1] = f->nthreads - 1;
        }
    }
}

/* Finds the end of each mark that begins a phase. */
static void find_mark_ends(struct firefox *f)
{
    const struct mkperf_profile_mark *mark = f->c->marks.map;
    struct mkperf_marks marks = {.nbegun = 0};

    f->mark_end = mkperf_xcalloc(f->c->marks.count, sizeof *f->mark_end);
    for (size_t i = 0; i < f->c->marks.count; i++) {
        struct mkperf_phase phase = {.pd = mark[i].pd, .id = mark[i].id, .name = mark[i].name};
        struct mkperf_phase_begin begin = {.time_ns = mark[i].time_ns, .tag = i};
        f->mark_end[i] = OPEN;
        if (mkperf_marks_add(&marks, mark[i].kind, &phase, &begin)) {
            f->mark_end[begin.tag] = mark[i].time_ns;
            f->mark_end[i] = SKIPPED;
        }
    }
    mkperf_marks_free(&marks);
}

enum mkperf_status mkperf_firefox_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                        struct mkperf_textout *t, struct mkperf_error *e)
{
    struct firefox f = {.c = c, .t = t};
    const struct mkperf_places *s = &c->places;

    MKPERF_TRY(mkperf_profile_order(c, e));
    /* The profile's time begins when the work that the first samples represent began. */
    const struct mkperf_profile_sample *sample = c->samples.map;
    uint64_t *span = mkperf_profile_spans(c, sample, c->samples.count, NULL);
    for (size_t i = 0; i < c->samples.count; i++) {
        uint64_t from = sample[i].time_ns - span[i];
        c->first_ns = from < c->first_ns ? from : c->first_ns;
    }
    free(span);
    if (c->schedule.open && c->sched->events > 0) { /* it includes the first event */
        bool other = c->samples.count + c->marks.count > 0;

        c->first_ns = other && c->first_ns < c->sched->first_ns ? c->first_ns : c->sched->first_ns;
        c->last_ns = c->last_ns > c->sched->last_ns ? c->last_ns : c->sched->last_ns;
    }
    f.stack_of = mkperf_xcalloc(c->chains.count, sizeof *f.stack_of);
    f.place_of = mkperf_xcalloc(s->nframes, sizeof *f.place_of);
    for (uint32_t i = 0; i < s->places.count; i++) {
        for (uint32_t k = 0; k < s->place[i].nframes; k++) {
            f.place_of[s->place[i].first + k] = i;
        }
    }
    find_mark_ends(&f);
    list_threads(&f);
    put_meta(&f, x->title);
    for (uint32_t i = 0; i < f.nthreads; i++) {
        mkperf_textout_puts(t, i > 0 ? ",\n" : "");
        put_thread(&f, i);
    }
    if (c->losses.count > 0) {
        mkperf_textout_puts(t, f.nthreads > 0 ? ",\n" : "");
        put_thread_of_losses(&f);
    }
    mkperf_textout_puts(t, "],\n");
    firefox_counters_put(&f);
    mkperf_textout_puts(t, "}\n");
    begin_thread(&f, 0); /* frees the tables of the last one */
    free(f.thread);
    free(f.thread_of);
    free(f.stack_of);
    free(f.place_of);
    free(f.mark_end);
    free(f.marker);
    return MKPERF_OK;
}
