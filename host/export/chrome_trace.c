/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events as a trace in Chrome's JSON format, which Perfetto's UI and chrome://tracing read. The trace has a
 * track for each PD with its states, a track for each core with the PDs that ran, calls as flows, and marks.
 *
 * Owns: the form. sched/analysis.h makes the intervals. An interval is written when it ends, since readers sort by time.
 *   Process 1 has a thread for each PD, and process 2 one for each core. The numbers of threads are unique over both
 *     processes, because Perfetto gives a name to the last thread of that number.
 *   There is no displayTimeUnit: some versions of Perfetto use it as the unit of all times.
 *   Warnings are in otherData, which Perfetto shows in its information on the trace.
 */
#include "parts.h"

enum { PDS = 1, CORES = 2, CORES_NAMED = 64, FIRST_PD = 10, FIRST_CORE = 1000000 };

struct chrome {
    struct mkperf_places places;
    struct mkperf_textout text;
    struct mkperf_analysis *analysis;
    uint64_t calls, events;
    bool named[CORES_NAMED];
    unsigned warnings;
};

/*
 * A time in us, and 0.2 ns more, in a format, and its arguments. Perfetto multiplies the number by 1000 and drops the fraction.
 * Without the addition, one of a hundred times would be a nanosecond less, and slices would overlap.
 */
#define US "%" PRIu64 ".%03" PRId64 "2"
#define IN_US(ns) ((ns) / 1000), ((int64_t)((ns) % 1000))

/* Begins an object, up to its name. */
static void begin_object(struct chrome *c, const char *phase, unsigned process, uint32_t thread,
                         const char *name)
{
    mkperf_textout_puts(&c->text, c->events++ == 0 ? "" : ",\n");
    mkperf_json(&c->text, "{'ph':%s,'pid':%u,'tid':%" PRIu32 ",'name':%s", phase, process,
                process == PDS ? FIRST_PD + thread : FIRST_CORE + thread, name);
}

/* Names a track (what: thread_name), or all of a process (process_name). */
static void name_track(struct chrome *c, unsigned process, uint32_t thread, const char *what,
                       const char *name)
{
    begin_object(c, "M", process, thread, what);
    mkperf_json(&c->text, ",'args':{'name':%s}}", name);
}

static void put_slice(struct chrome *c, unsigned process, uint32_t thread, const char *name,
                      uint64_t from, uint64_t to)
{
    begin_object(c, "X", process, thread, name);
    mkperf_json(&c->text, ",'ts':" US ",'dur':" US "}", IN_US(from), IN_US(to - from));
}

static void on_interval(void *self, const struct mkperf_interval *i)
{
    /* The text for a state, and whether the name of the PD `by` follows. A waiting PD and an unknown state have no slice. */
    static const struct {
        const char *what;
        bool by;
    } shown[MKPERF_PD_STATES] = {
        [MKPERF_PD_RUNNING] = {"running", false}, [MKPERF_PD_READY] = {"ready, runs: ", true},
        [MKPERF_PD_CALLING] = {"calls ", true},   [MKPERF_PD_THROTTLED] = {"throttled", false},
        [MKPERF_PD_STOPPED] = {"stopped", false},
    };
    struct chrome *c = self;
    char text[160];

    if (shown[i->state].what != NULL) {
        snprintf(text, sizeof text, "%s%s", shown[i->state].what,
                 shown[i->state].by ? mkperf_analysis_name(c->analysis, i->by) : "");
        put_slice(c, PDS, i->pd, text, i->from, i->to);
    }
    if (i->state == MKPERF_PD_RUNNING) {
        put_slice(c, CORES, i->core, mkperf_analysis_name(c->analysis, i->pd), i->from, i->to);
    }
}

/* Writes an arrow from the caller's run, which the call ends, to the callee's run. Each end of an arrow belongs to the
 * slice that is open at its time. */
static void on_call(void *self, uint32_t from, const struct mkperf_call *call, uint64_t end)
{
    struct chrome *c = self;

    begin_object(c, "s", PDS, from, "call");
    mkperf_json(&c->text, ",'cat':'call','id':%" PRIu64 ",'ts':" US "}", ++c->calls,
                IN_US(call->start - 1));
    begin_object(c, "f", PDS, call->to, "call");
    mkperf_json(&c->text,
                ",'cat':'call','bp':'e','id':%" PRIu64 ",'ts':" US ",'args':{'wall_ns':%" PRIu64
                "}}",
                c->calls, IN_US(call->start + call->parts.wait), end - call->start);
}

static void put_sched_event(struct chrome *c, const struct mkperf_sched *event)
{
    char name[64];

    if (event->core < CORES_NAMED && !c->named[event->core]) {
        c->named[event->core] = true;
        snprintf(name, sizeof name, "core %" PRIu32, event->core);
        name_track(c, CORES, event->core, "thread_name", name);
    }
    if (event->kind == MKPERF_SCHED_GAP && event->since_ns != 0) {
        snprintf(name, sizeof name, "gap: %" PRIu64 " events are missing", event->lost);
        put_slice(c, CORES, event->core, name, event->since_ns, event->time_ns);
    }
}

static void put_mark_event(struct chrome *c, const struct mkperf_mark *m)
{
    static const char *const phases[] = {
        [MKPERF_MARK_POINT] = "i", [MKPERF_MARK_BEGIN] = "b", [MKPERF_MARK_END] = "e"};

    begin_object(c, phases[m->kind], PDS, m->pd, m->name);
    mkperf_json(&c->text, ",'cat':'mark','s':'t','id':%" PRIu32 ",'ts':" US "}", m->id,
                IN_US(m->time_ns));
}

static void put_warning_event(void *self, enum mkperf_warning_level level, const char *text)
{
    struct chrome *c = self;
    char line[1100];

    snprintf(line, sizeof line, "%s: %s", mkperf_warning_names[level], text);
    mkperf_json(&c->text, ",'warning %u':%s", ++c->warnings, line);
}

static enum mkperf_status chrome_end(struct chrome *c, const struct mkperf_totals *totals,
                                     struct mkperf_error *e)
{
    uint64_t lost = 0;

    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        lost += totals->sched_lost[i];
    }
    mkperf_json(&c->text,
                "\n],'otherData':{'events':%" PRIu64 ",'lost':%" PRIu64 ",'gaps':%" PRIu64,
                totals->sched_events, lost, c->analysis->gaps);
    mkperf_places_warnings(&c->places, totals, put_warning_event, c);
    mkperf_textout_puts(&c->text, "}}\n");
    return mkperf_outfile_finish(&c->text.out, e);
}

static enum mkperf_status put_event(void *self, const struct mkperf_item *item,
                                    struct mkperf_error *e)
{
    struct chrome *c = self;

    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        mkperf_textout_puts(&c->text, "{\"traceEvents\":[\n");
        name_track(c, PDS, 0, "process_name", "PDs");
        name_track(c, CORES, 0, "process_name", "cores");
        break;
    case MKPERF_ITEM_PD:
        if (item->pd->thread != MKPERF_THREAD_IDLE) {
            name_track(c, PDS, item->pd->id, "thread_name", item->pd->name);
        }
        break;
    case MKPERF_ITEM_MARK:
        put_mark_event(c, item->mark);
        break;
    case MKPERF_ITEM_SCHED:
        put_sched_event(c, item->sched);
        break;
    default:
        break;
    }
    MKPERF_TRY(mkperf_places_take(&c->places, item, e));
    MKPERF_TRY(mkperf_analysis_take(c->analysis, item, e));
    return item->kind == MKPERF_ITEM_END ? chrome_end(c, item->totals, e) : MKPERF_OK;
}

static void chrome_free(void *self)
{
    struct chrome *c = self;

    mkperf_outfile_close(&c->text.out);
    mkperf_analysis_free(c->analysis);
    mkperf_places_free(&c->places);
    free(c);
}

enum mkperf_status mkperf_chrome_open(const struct mkperf_export *x, struct mkperf_output *out,
                                      struct mkperf_error *e)
{
    struct chrome *c = mkperf_xcalloc(1, sizeof *c);

    if (mkperf_outfile_open(&c->text.out, x->path, false, e) != MKPERF_OK) {
        free(c);
        return e->status;
    }
    c->places.no_elfs = true;
    c->analysis = mkperf_analysis_new();
    mkperf_analysis_listen(c->analysis, (struct mkperf_analysis_listener){
                                            .interval = on_interval, .call = on_call, .self = c});
    *out = (struct mkperf_output){.sink = {.take = put_event, .self = c, .leaves_only = true},
                                  .free = chrome_free,
                                  .self = c};
    return MKPERF_OK;
}
