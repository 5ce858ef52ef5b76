/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Firefox Profiler's processed format, version 51. Later versions of the Firefox Profiler upgrade it on loading.
 *
 * Owns: the file, and the counters in it. Called through the table of formats. A PD is a process. It has one thread for each event, and for each
 * core if there are several. Samples are in the order of time, and their weight is the period. Marks are markers of
 * their PD. Losses are markers in a separate thread, with place, core and numbers. Sums, periods and the command are in
 * the profile's "more info".
 */
#include "firefox.h"

#include <mkperf/version.h>

/*
 * The counters of a profile, which the Firefox Profiler draws as tracks over time: the events that each PD's samples
 * represent, lost samples, and the fill level of the target's output ring.
 *
 * The recording is divided into steps of one length, and a counter has a value for each step.
 *   1. A sample's events are spread over the time that the sample represents (profile/profile.h).
 *   2. A hardware counter for kernel time pauses during user time, and the reverse. Its events may therefore be older
 *      than rule 1 assumes. If a step has more events than a core can count, the rest is moved to earlier steps.
 *   3. No rule changes the sum of a counter.
 *   4. The fill level is reported about once per second. A report is valid for the time since the previous one.
 */

/* The threads of the output, in ascending order. */
struct threads {
    uint64_t *list;
    uint32_t n;
};

enum { STEPS = 500 };

struct steps {
    uint64_t first_ns, step_ns;
    unsigned n;
};

static unsigned step_of(const struct steps *s, uint64_t ns)
{
    uint64_t at = ns > s->first_ns ? (ns - s->first_ns) / s->step_ns : 0;

    return at < s->n ? (unsigned)at : s->n - 1;
}

static void put_counter_head(struct firefox_tables *f, const struct steps *s, const char *name,
                             const char *category, const char *description, uint32_t pid,
                             uint32_t thread)
{
    mkperf_json(f->t,
                "{'name':%s,'category':%s,'description':%s,'pid':'%u','mainThreadIndex':%u,"
                "'samples':{",
                name, category, description, pid, thread);
    FIREFOX_COLUMN(f->t, "time", s->n, mkperf_textout_ms(f->t, i * s->step_ns));
}

static void put_counter(struct firefox_tables *f, const struct steps *s, const uint64_t *value,
                        const char *name, const char *description, uint32_t pid, uint32_t thread)
{
    put_counter_head(f, s, name, "PMU", description, pid, thread);
    FIREFOX_COLUMN(f->t, "count", s->n, mkperf_textout_u64(f->t, value[i]));
    mkperf_json(f->t, "'length':%u}}", s->n);
}

static int compare_threads(const void *a, const void *b)
{
    return mkperf_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Adds a sample's events to the steps of the span that it represents, in proportion to the time in each step. */
static void add_counter_sample(const struct steps *s, uint64_t end_ns, uint64_t span_ns,
                               uint64_t period, uint64_t *value)
{
    uint64_t begin_ns = end_ns - span_ns, put = 0;
    unsigned last = step_of(s, end_ns);

    for (unsigned i = step_of(s, begin_ns); i < last; i++) {
        uint64_t until = s->first_ns + (i + 1) * s->step_ns;
        double part = (double)period * (double)(until - begin_ns) / (double)span_ns;
        uint64_t upto = part < (double)period ? (uint64_t)part : period;
        value[i] += upto - put;
        put = upto;
    }
    value[last] += period - put;
}

/* The threads of one event on one core, one thread for each PD. */
struct group {
    uint64_t **value; /* for each thread the values of its steps */
    uint32_t n;
    uint64_t most; /* the number of events that the core can count in a step */
};

static uint64_t sum_of(const struct group *g, unsigned step)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        sum += g->value[i][step];
    }
    return sum;
}

/* Moves the events above the limit from one step to another, from each PD in proportion to its events. */
static void move_excess(const struct group *g, unsigned from, unsigned to)
{
    uint64_t sum = sum_of(g, from);

    if (sum <= g->most) {
        return;
    }
    uint64_t over = sum - g->most, left = over;

    for (uint32_t i = 0; i < g->n && left > 0; i++) {
        uint64_t *v = g->value[i];
        uint64_t part = (uint64_t)((double)v[from] * (double)over / (double)sum) + 1;
        part = part < v[from] ? part : v[from];
        part = part < left ? part : left;
        v[from] -= part;
        v[to] += part;
        left -= part;
    }
}

/*
 * Moves excess events to earlier steps, and those that the first step cannot hold to later ones: those of each event on each
 * core. The limit is raised to the average, because the rate of an event may be estimated too low (profile/profile.h).
 */
static void level_all(const struct threads *threads, const struct steps *s, uint64_t *values,
                      const double *rate, const struct mkperf_profile *c)
{
    struct group g = {.value = mkperf_xcalloc((size_t)threads->n + 1, sizeof *g.value)};

    for (uint32_t k = 0; k < c->nevents * c->cores_seen; k++) {
        uint32_t event = k / c->cores_seen, core = k % c->cores_seen;
        uint64_t sum = 0;
        g.n = 0;
        g.most = (uint64_t)(rate[event] * (double)s->step_ns);
        for (uint32_t i = 0; i < threads->n && g.most > 0; i++) {
            uint64_t thread = threads->list[i];
            if (firefox_thread_event(thread) == event && firefox_thread_core(thread) == core) {
                g.value[g.n++] = values + (size_t)i * s->n;
            }
        }
        for (unsigned i = 0; i < s->n; i++) {
            sum += sum_of(&g, i);
        }
        if (g.most * s->n < sum) {
            g.most = sum / s->n + 1;
        }
        for (unsigned i = s->n - 1; i > 0; i--) {
            move_excess(&g, i, i - 1);
        }
        for (unsigned i = 0; i + 1 < s->n; i++) {
            move_excess(&g, i, i + 1);
        }
    }
    free(g.value);
}

/*
 * Writes the fill level of the output ring. The Firefox Profiler adds up the values of a counter of this category, so
 * differences are written. A counter must have a thread, so this one has the thread of the first PD.
 */
static void put_fill(struct firefox_tables *f, const struct steps *s, uint32_t pid)
{
    const struct mkperf_fill *fill = &f->c->totals.fill;
    uint64_t before = 0;
    uint32_t at = 0;
    char text[160];

    snprintf(text, sizeof text,
             "Bytes that waited for the link at most, of %llu in the target's output ring",
             (unsigned long long)fill->size);
    put_counter_head(f, s, "output ring", "Memory", text, pid, 0);
    mkperf_json(f->t, "'count':[");
    for (unsigned i = 0; i < s->n; i++) {
        uint64_t now = 0;

        /* The highest level of the reports in this step, and of the next report, which is valid for the time before it. */
        while (at < fill->n && step_of(s, fill->point[at].time_ns) <= i) {
            now = fill->point[at].bytes > now ? fill->point[at].bytes : now;
            at++;
        }
        if (at < fill->n && fill->point[at].bytes > now) {
            now = fill->point[at].bytes;
        }
        mkperf_json(f->t, ",%" PRId64, (int64_t)(now - before));
        before = now;
    }
    mkperf_json(f->t,
                "],'length':%u},'display':{'graphType':'line-accumulated','unit':'bytes',"
                "'color':'orange','markerSchemaLocation':null,'sortWeight':60,"
                "'label':'output ring'}}",
                s->n);
}

/* Writes the member counters. The thread of losses, if there is one, follows the listed threads. */
static void put_counters(struct firefox_tables *f, const struct threads *threads)
{
    struct mkperf_profile *c = f->c;
    /* The steps of the recording: at most STEPS, even if the last time is 2^64 - 1. */
    uint64_t before_last = c->last_ns - c->first_ns;
    struct steps s = {.first_ns = c->first_ns,
                      .step_ns = before_last / STEPS + (before_last % STEPS == STEPS - 1) + 1};
    s.n = (unsigned)(before_last / s.step_ns) + 1;
    uint32_t n = threads->n;
    uint64_t *values = mkperf_xcalloc(((size_t)n + 1) * s.n, sizeof *values);
    double *rate = mkperf_xcalloc((size_t)c->nevents + 1, sizeof *rate);
    uint32_t main_thread = 0;
    char room[32], text[192], core[24] = "";

    /* Fills values[thread * steps + step] with sums of periods, and rate[event] as mkperf_profile_spans does. */
    const struct mkperf_profile_sample *sample = f->c->samples.map;
    uint64_t *span = mkperf_profile_spans(f->c, sample, f->c->samples.count, rate);
    for (size_t i = 0; i < f->c->samples.count; i++) {
        uint64_t thread = firefox_thread_of(f->c, sample[i].chain);
        const uint64_t *at =
            bsearch(&thread, threads->list, threads->n, sizeof thread, compare_threads);
        if (at != NULL) {
            add_counter_sample(&s, sample[i].time_ns, span[i], sample[i].period,
                               &values[(size_t)(at - threads->list) * s.n]);
        }
    }
    free(span);
    level_all(threads, &s, values, rate, c);
    mkperf_json(f->t, "'counters':[");
    for (uint32_t i = 0; i < n; i++) {
        uint64_t thread = threads->list[i];
        uint32_t pd = firefox_thread_pd(thread);
        const char *name = mkperf_places_event_name(&c->places, firefox_thread_event(thread), room);
        main_thread = i == 0 || firefox_thread_pd(threads->list[i - 1]) != pd ? i : main_thread;
        if (c->cores_seen > 1) {
            snprintf(core, sizeof core, " on core %u", firefox_thread_core(thread));
        }
        snprintf(text, sizeof text, "Events of %.100s%s, as the PD's samples stand for them", name,
                 core);
        mkperf_textout_puts(f->t, i > 0 ? ",\n" : "");
        put_counter(f, &s, values + (size_t)i * s.n, name, text, pd + 1, main_thread);
    }
    if (c->losses.count > 0) {
        mkperf_textout_puts(f->t, n > 0 ? ",\n" : "");
        const struct mkperf_lost *lost = f->c->losses.map;
        for (unsigned i = 0; i < s.n; i++) {
            values[i] = 0;
        }
        for (size_t i = 0; i < f->c->losses.count; i++) {
            values[step_of(&s, lost[i].time_ns)] += lost[i].samples;
        }
        put_counter(f, &s, values, "lost samples", "Samples lost, at the time of the report", 0, n);
    }
    if (c->totals.fill.n > 0 && n > 0) {
        mkperf_textout_puts(f->t, ",\n");
        put_fill(f, &s, firefox_thread_pd(threads->list[0]) + 1);
    }
    mkperf_textout_puts(f->t, "]");
    free(rate);
    free(values);
}

/* The number of bits below the core in a thread's id. */
enum { TID_CORE = 20 };
/* A PD without a sample for this number of sampling intervals did not run. */
enum { GAP_STEPS = 2 };

static void put_note_label(void *self, const char *line)
{
    struct firefox_tables *f = self;

    mkperf_json(f->t, ",{'label':'note %u','format':'string','value':%s}", ++f->notes, line);
}

/* The categories of stacks, in the order of enum firefox_category. */
static const struct {
    const char *name, *colour;
} categories[] = {
    {"Other", "grey"},
    {"User", "blue"},
    {"Kernel", "orange"},
    {"Idle", "transparent"},
    {"Caller in another PD", "purple"},
    {"Protected call", "yellow"},
};

/* The kinds of markers that firefox_tables.c writes. */
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

static void put_meta(struct firefox_tables *f, const char *title)
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
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
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
    for (uint32_t i = 0; i < f->nthreads; i++) {
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
static void put_sample_columns(struct firefox_tables *f, uint64_t thread)
{
    const struct mkperf_profile_sample *sample = f->c->samples.map;
    struct points p = {.step_ns = (uint64_t)(interval_ms(f->c) * 1e6)};
    uint64_t last = f->c->first_ns;

    for (size_t i = 0; i <= f->c->samples.count; i++) {
        bool end = i == f->c->samples.count;
        uint64_t time = end ? f->c->last_ns : sample[i].time_ns;
        if (!end && firefox_thread_of(f->c, sample[i].chain) != thread) {
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

static void open_thread(struct firefox_tables *f, const char *name, const char *process,
                        uint32_t pid, uint32_t tid, bool is_main)
{
    mkperf_json(f->t,
                "{'processType':'default','processStartupTime':0,'processShutdownTime':null,"
                "'registerTime':0,'unregisterTime':null,'pausedRanges':[],'name':%s,"
                "'processName':%s,'isMainThread':%hhd,'pid':'%u','tid':%u,\n",
                name, process, is_main, pid, tid);
}

static void put_thread_samples(struct firefox_tables *f, uint64_t thread, bool is_main)
{
    struct mkperf_profile *c = f->c;
    uint32_t pd = firefox_thread_pd(thread), event = firefox_thread_event(thread);
    uint32_t core = firefox_thread_core(thread);
    const char *process = mkperf_places_pd_name(&c->places, pd);
    char room[32], on[24] = "", name[400];

    firefox_tables_reset(f, pd);
    for (uint32_t i = 0; i < c->chains.count; i++) {
        if (firefox_thread_of(c, i) == thread) {
            firefox_tables_add(f, i);
        }
    }
    if (c->cores_seen > 1) {
        snprintf(on, sizeof on, " core %u", core);
    }
    snprintf(name, sizeof name, c->nevents > 1 ? "%.255s%s (%.90s)" : "%.255s%s", process, on,
             mkperf_places_event_name(&c->places, event, room));
    open_thread(f, name, process, pd + 1,
                (core << TID_CORE) + (pd + 1) * MKPERF_MODEL_EVENTS + event, is_main);
    put_sample_columns(f, thread);
    firefox_markers_put(f, is_main ? pd : MKPERF_SCHED_NOBODY);
    firefox_tables_put(f);
    mkperf_textout_put(f->t, "}", 1);
}

/* Returns the threads with samples, and one for each PD that has only marks or scheduling events. */
static struct threads list_threads(const struct mkperf_profile *c)
{
    struct threads threads = {.n = 0};
    const struct mkperf_profile_mark *mark = c->marks.map;
    size_t n = 0;
    uint64_t *list = threads.list =
        mkperf_xcalloc(c->chains.count + c->marks.count + c->places.npds + 1, sizeof *threads.list);

    for (uint32_t i = 0; i < c->chains.count; i++) {
        list[n++] = firefox_thread_of(c, i);
    }
    for (size_t i = 0; i < c->marks.count; i++) {
        if (c->places.pd[mark[i].pd].samples == 0) {
            list[n++] = firefox_thread(mark[i].pd, 0, 0);
        }
    }
    for (uint32_t pd = 0; pd < c->places.npds; pd++) {
        if (c->places.pd[pd].samples == 0 && firefox_sched_known(c, pd)) {
            list[n++] = firefox_thread(pd, 0, 0);
        }
    }
    qsort(list, n, sizeof *list, compare_threads);
    for (size_t i = 0; i < n; i++) {
        if (threads.n == 0 || list[threads.n - 1] != list[i]) {
            list[threads.n++] = list[i];
        }
    }
    return threads;
}

enum mkperf_status mkperf_firefox_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                        struct mkperf_textout *t, struct mkperf_error *e)
{
    struct firefox_tables f;

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
    firefox_tables_open(&f, c, t);
    struct threads threads = list_threads(c);
    const uint64_t *list = threads.list;
    uint32_t n = threads.n;
    f.nthreads = n + (c->losses.count > 0);
    put_meta(&f, x->title);
    for (uint32_t i = 0; i < n; i++) {
        bool first = i == 0 || firefox_thread_pd(list[i - 1]) != firefox_thread_pd(list[i]);
        mkperf_textout_puts(t, i > 0 ? ",\n" : "");
        put_thread_samples(&f, list[i], first);
    }
    if (c->losses.count > 0) {
        mkperf_textout_puts(t, n > 0 ? ",\n" : "");
        /* Writes the thread of losses. It has no samples, and a marker for each report. */
        firefox_tables_reset(&f, 0);
        open_thread(&f, "lost samples", "lost samples", 0, 0, true);
        mkperf_json(t, "'samples':{'stack':[],'time':[],'weight':[],'weightType':'samples',"
                       "'length':0},\n");
        firefox_markers_put_lost(&f);
        firefox_tables_put(&f);
        mkperf_textout_put(t, "}", 1);
    }
    mkperf_textout_puts(t, "],\n");
    put_counters(&f, &threads);
    mkperf_textout_puts(t, "}\n");
    free(threads.list);
    firefox_tables_close(&f);
    return MKPERF_OK;
}
