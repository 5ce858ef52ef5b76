/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of a Firefox profile, which are drawn as tracks over time: the events that each PD's samples represent, lost
 * samples, and the fill level of the target's output ring. See parts.h.
 *
 * The recording is divided into steps of one length, and a counter has a value for each step.
 *   1. A sample's events are spread over the time that the sample represents (profile/profile.h).
 *   2. A hardware counter for kernel time pauses during user time, and the reverse. Its events may therefore be older
 *      than rule 1 assumes. If a step has more events than a core can count, the rest is moved to earlier steps.
 *   3. No rule changes the sum of a counter.
 *   4. The fill level is reported about once per second. A report is valid for the time since the previous one.
 */
#include "parts.h"

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

/* Writes a counter. is_ring: it is the fill of the output ring, in bytes, and not a number of events. */
static void put_counter(struct firefox *f, const struct steps *s, const uint64_t *value,
                        const char *name, const char *description, uint32_t pid, uint32_t thread,
                        bool is_ring)
{
    mkperf_json(f->t,
                "{'name':%s,'category':%s,'description':%s,'pid':'%u','mainThreadIndex':%u,"
                "'samples':{",
                name, is_ring ? "Memory" : "PMU", description, pid, thread);
    FIREFOX_COLUMN(f->t, "time", s->n, mkperf_textout_ms(f->t, i * s->step_ns));
    FIREFOX_COLUMN(f->t, "count", s->n, mkperf_json(f->t, "%" PRId64, (int64_t)value[i]));
    mkperf_json(f->t, "'length':%u}", s->n);
    if (is_ring) {
        mkperf_json(f->t,
                    ",'display':{'graphType':'line-accumulated','unit':'bytes','color':'orange',"
                    "'markerSchemaLocation':null,'sortWeight':60,'label':'output ring'}");
    }
    mkperf_textout_puts(f->t, "}");
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
static void level_all(const struct firefox *f, const struct steps *s, uint64_t *values,
                      const double *rate)
{
    const struct mkperf_profile *c = f->c;
    struct group g = {.value = mkperf_xcalloc((size_t)f->nthreads + 1, sizeof *g.value)};

    for (uint32_t k = 0; k < c->nevents * c->cores_seen; k++) {
        uint32_t event = k / c->cores_seen, core = k % c->cores_seen;
        uint64_t sum = 0;
        g.n = 0;
        g.most = (uint64_t)(rate[event] * (double)s->step_ns);
        for (uint32_t i = 0; i < f->nthreads && g.most > 0; i++) {
            if (f->thread[i].event == event && f->thread[i].core == core) {
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

/* Stores the changes of the fill level of the output ring: the Firefox Profiler adds up the values of its counter. */
static void add_fill(const struct mkperf_fill *fill, const struct steps *s, uint64_t *value)
{
    uint64_t before = 0;
    uint32_t at = 0;

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
        value[i] = now - before;
        before = now;
    }
}

void firefox_counters_put(struct firefox *f)
{
    struct mkperf_profile *c = f->c;
    /* The steps of the recording: at most STEPS, even if the last time is 2^64 - 1. */
    uint64_t before_last = c->last_ns - c->first_ns;
    struct steps s = {.first_ns = c->first_ns,
                      .step_ns = before_last / STEPS + (before_last % STEPS == STEPS - 1) + 1};
    s.n = (unsigned)(before_last / s.step_ns) + 1;
    uint32_t n = f->nthreads, main_thread = 0;
    uint64_t *values = mkperf_xcalloc(((size_t)n + 1) * s.n, sizeof *values);
    double *rate = mkperf_xcalloc((size_t)c->nevents + 1, sizeof *rate);
    char room[32], text[192], core[24] = "";

    /* Fills values[thread * steps + step] with sums of periods, and rate[event] as mkperf_profile_spans does. */
    const struct mkperf_profile_sample *sample = f->c->samples.map;
    uint64_t *span = mkperf_profile_spans(f->c, sample, f->c->samples.count, rate);
    for (size_t i = 0; i < f->c->samples.count; i++) {
        add_counter_sample(&s, sample[i].time_ns, span[i], sample[i].period,
                           &values[(size_t)f->thread_of[sample[i].chain] * s.n]);
    }
    free(span);
    level_all(f, &s, values, rate);
    mkperf_json(f->t, "'counters':[");
    for (uint32_t i = 0; i < n; i++) {
        const struct firefox_thread *thread = &f->thread[i];
        const char *name = mkperf_places_event_name(&c->places, thread->event, room);
        main_thread = firefox_is_main(f, i) ? i : main_thread;
        if (c->cores_seen > 1) {
            snprintf(core, sizeof core, " on core %u", thread->core);
        }
        snprintf(text, sizeof text, "Events of %.100s%s, as the PD's samples stand for them", name,
                 core);
        mkperf_textout_puts(f->t, i > 0 ? ",\n" : "");
        put_counter(f, &s, values + (size_t)i * s.n, name, text, thread->pd + 1, main_thread,
                    false);
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
        put_counter(f, &s, values, "lost samples", "Samples lost, at the time of the report", 0, n,
                    false);
    }
    if (c->totals.fill.n > 0 && n > 0) {
        mkperf_textout_puts(f->t, ",\n");
        snprintf(text, sizeof text,
                 "Bytes that waited for the link at most, of %" PRIu64
                 " in the target's output ring",
                 c->totals.fill.size);
        add_fill(&c->totals.fill, &s, values);
        /* A counter must have a thread, so this one has the first PD's. */
        put_counter(f, &s, values, "output ring", text, f->thread[0].pd + 1, 0, true);
    }
    mkperf_textout_puts(f->t, "]");
    free(rate);
    free(values);
}
