/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format of speedscope. Each event has a profile of all PDs together, and then a profile of each PD, in the order of
 * time.
 *
 * Owns: the file. Called through the table of formats. Equal stacks in succession become one sample. Weights are
 * periods. The format has no fields for some figures, which are therefore profiles of their own:
 *   [lost]               lost samples, by place
 *   [marks]              the number of times that each mark was reached
 *   [interactions]       calls and notifications between PDs
 *   [cost of profiling]  events of the profiler itself
 *   [warnings]           a frame for each line (model/figures.h); their number is in the file's title
 * The sum of losses is also in the exporter's name.
 */
#include "parts.h"
#include <mkperf/version.h>

/* The profiles of figures that have no field in the format. Each event has a profile of its cost. */
enum { LOST, MARKS, PPCALLS, NOTIFICATIONS, COST, WARNINGS = COST + MKPERF_MODEL_EVENTS };

/* A figure: a sample of one frame, with the figure as its weight. */
struct figure {
    uint32_t profile, frame;
    uint64_t count;
};

struct speedscope {
    struct mkperf_profile *c;
    struct mkperf_textout *t;
    struct mkperf_profile_chain chain; /* the chain that is written */
    uint32_t frames;                   /* the number of frames that are written */
    bool comma;                        /* a comma must precede the next profile */
    struct figure *figure;
    uint32_t nfigures, figure_room;
    char **warning; /* a line for each warning, error and note */
    uint32_t nwarnings, warning_room;
    uint32_t alarms; /* the number of warnings and errors, without notes */
};

static void put_frame_name(struct speedscope *s, const char *name, const char *note, uint32_t file)
{
    struct mkperf_textout *t = s->t;
    char label[1200];

    snprintf(label, sizeof label, "%s%s", name, note);
    mkperf_textout_puts(t, s->frames++ > 0 ? ",\n" : "");
    mkperf_json(t, "{'name':%s", label);
    if (file != 0) {
        mkperf_json(t, ",'file':%s", mkperf_places_text(&s->c->places, file));
    }
    mkperf_textout_put(t, "}", 1);
}

static void keep_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    struct speedscope *s = self;

    MKPERF_GROW(s->warning, s->warning_room, (size_t)s->nwarnings + 1);
    s->warning[s->nwarnings++] = mkperf_xprintf("%s: %s", mkperf_warning_names[level], text);
    s->alarms += level != MKPERF_NOTE;
}

/* Adds a figure to a profile. Its frame is the one that was written last. */
static void add_figure(struct speedscope *s, uint32_t profile, uint64_t count)
{
    if (count != 0) {
        MKPERF_GROW(s->figure, s->figure_room, (size_t)s->nfigures + 1);
        s->figure[s->nfigures++] = (struct figure){profile, s->frames - 1, count};
    }
}

static void open_profile(struct speedscope *s, const char *name, const char *event)
{
    char label[400];

    snprintf(label, sizeof label, "%.255s (%.128s)", name, event);
    mkperf_textout_puts(s->t, s->comma ? ",\n" : "");
    s->comma = true;
    mkperf_json(s->t, "{'type':'sampled','unit':'none','name':%s,'startValue':0,'samples':[",
                label);
}

static void close_profile(struct speedscope *s, uint64_t sum)
{
    mkperf_json(s->t, "],'endValue':%" PRIu64 "}", sum);
}

/* Writes an element of an array of numbers. */
static void put_list_number(struct speedscope *s, uint64_t number)
{
    mkperf_textout_put(s->t, ",", s->t->last != '[');
    mkperf_textout_u64(s->t, number);
}

/* The PD in the number of the thread that has the samples of all PDs. */
static const uint32_t ALL_PDS = UINT32_MAX;

/* Writes the profile of a thread in the order of time, because speedscope shows this order first. */
static void put_thread_profile(struct speedscope *s, uint64_t thread, const char *event)
{
    const struct mkperf_places *stack = &s->c->places;
    const struct mkperf_profile_sample *sample = s->c->samples.map;
    uint64_t *weight = NULL, sum = 0; /* weight: of each run of equal chains */
    size_t runs = 0, room = 0;
    uint32_t chain = 0, pd = (uint32_t)thread;

    open_profile(s, pd == ALL_PDS ? "all" : mkperf_places_pd_name(&s->c->places, pd), event);
    for (size_t i = 0; i < s->c->samples.count; i++) {
        uint64_t of = mkperf_profile_thread(s->c, sample[i].chain);
        if (of != thread && (pd != ALL_PDS || of >> 32 != thread >> 32)) {
            continue;
        }
        sum += sample[i].period;
        if (runs > 0 && sample[i].chain == chain) {
            weight[runs - 1] += sample[i].period;
            continue;
        }
        chain = sample[i].chain;
        MKPERF_GROW(weight, room, runs + 1);
        weight[runs++] = sample[i].period;
        /* The chain's functions, outermost first. A PD precedes its functions, except the PD of the thread. */
        mkperf_profile_chain(s->c, chain, &s->chain);
        mkperf_textout_puts(s->t, s->t->last == '[' ? "[" : ",[");
        bool ambiguous = mkperf_places_ambiguous(stack, s->chain.pd);
        uint32_t owner = pd == ALL_PDS ? UINT32_MAX : s->chain.pd;
        for (uint32_t k = s->chain.n; k-- > 0;) {
            uint32_t n;
            const struct mkperf_frame *frame = mkperf_places_frames(stack, s->chain.place[k], &n);
            uint32_t in = ambiguous ? s->chain.pd : stack->place[s->chain.place[k]].pd;
            if (in != owner) {
                owner = in;
                put_list_number(s, stack->functions.count + in);
            }
            while (n-- > 0) {
                put_list_number(s, frame[n].function);
            }
        }
        mkperf_textout_put(s->t, "]", 1);
    }
    mkperf_json(s->t, "],'weights':[");
    for (size_t i = 0; i < runs; i++) {
        put_list_number(s, weight[i]);
    }
    close_profile(s, sum);
    free(weight);
}

static void put_figures(struct speedscope *s)
{
    static const char *const names[][2] = {[LOST] = {"[lost]", "samples"},
                                           [MARKS] = {"[marks]", "times"},
                                           [PPCALLS] = {"[interactions]", "ppcalls"},
                                           [NOTIFICATIONS] = {"[interactions]", "notifications"},
                                           [WARNINGS] = {"[warnings]", "lines"}};
    const struct figure *f = s->figure;
    char room[32];

    MKPERF_SORT(s->figure, s->nfigures, MKPERF_UP(f, profile), MKPERF_UP(f, frame));
    for (uint32_t first = 0, end = 0; first < s->nfigures; first = end) {
        uint32_t profile = f[first].profile;
        bool cost = names[profile][0] == NULL;
        uint64_t sum = 0;

        open_profile(s, cost ? "[cost of profiling]" : names[profile][0],
                     cost ? mkperf_places_event_name(&s->c->places, profile - COST, room)
                          : names[profile][1]);
        for (; end < s->nfigures && f[end].profile == profile; end++) {
            mkperf_json(s->t, ",[%u]", f[end].frame);
            sum += f[end].count;
        }
        mkperf_json(s->t, "],'weights':[");
        for (uint32_t i = first; i < end; i++) {
            put_list_number(s, f[i].count);
        }
        close_profile(s, sum);
    }
}

enum mkperf_status mkperf_speedscope_write(const struct mkperf_export *x, struct mkperf_profile *c,
                                           struct mkperf_textout *t, struct mkperf_error *e)
{
    struct speedscope s = {.c = c, .t = t};

    MKPERF_TRY(mkperf_profile_order(c, e));
    mkperf_profile_warnings(c, keep_warning, &s);
    const char *title = x->title != NULL ? x->title : "mkperf"; /* the title of speedscope's page */
    char name[512];
    snprintf(name, sizeof name, "%.400s (%u warning%s: see the profile [warnings])", title,
             s.alarms, s.alarms == 1 ? "" : "s");
    mkperf_json(t,
                "{'$schema':'https://www.speedscope.app/file-format-schema.json',\n"
                "'exporter':'mkperf " MKPERF_VERSION " (lost samples: %" PRIu64
                ")',\n'activeProfileIndex':0,'name':%s,\n",
                mkperf_lost_sum(c->lost), s.alarms != 0 ? name : title);
    /* Writes all frames. Their order is functions, PDs, places of loss, marks, pairs of PDs, the profiler's two parts, warnings. */
    const struct mkperf_places *stack = &s.c->places;
    char note[300];
    mkperf_json(t, "'shared':{'frames':[");
    for (uint32_t i = 0; i < stack->functions.count; i++) {
        const struct mkperf_function *f = &stack->function[i];
        const char *pd = f->kernel ? NULL : mkperf_places_one_of_several(stack, i);
        snprintf(note, sizeof note, " {%.255s}", pd != NULL ? pd : "");
        put_frame_name(&s, mkperf_places_name(stack, i),
                       f->kernel    ? " [kernel]"
                       : pd != NULL ? note
                                    : "",
                       f->file);
    }
    for (uint32_t i = 0; i < stack->npds; i++) {
        put_frame_name(&s, mkperf_places_pd_name(stack, i), "", 0);
    }
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        put_frame_name(&s, mkperf_loss_places[i].key, " [lost]", 0);
        add_figure(&s, LOST, c->lost[i]);
    }
    for (uint32_t i = 0; i < s.c->mark_keys.count; i++) {
        const uint64_t *key = mkperf_hash_key(&s.c->mark_keys, i);
        snprintf(note, sizeof note, " [mark of %.255s]",
                 mkperf_places_pd_name(stack, (uint32_t)key[0]));
        put_frame_name(&s, mkperf_places_text(stack, (uint32_t)key[1]), note, 0);
        add_figure(&s, MARKS, c->mark_sum[i].points + c->mark_sum[i].phases + c->mark_sum[i].open);
    }
    const struct mkperf_interactions *a = c->totals.interactions;
    for (uint32_t i = 0; a != NULL && i < a->nedges; i++) {
        const struct mkperf_interaction *edge = &a->edge[i];
        snprintf(note, sizeof note, " -> %s", edge->to);
        put_frame_name(&s, edge->from, note, 0);
        add_figure(&s, PPCALLS, edge->calls);
        add_figure(&s, NOTIFICATIONS, edge->notifications);
    }
    for (unsigned part = 0; part < 2; part++) {
        put_frame_name(&s, part == 0 ? "mkperf_capture [kernel]" : "profiler's PDs", "", 0);
        for (uint32_t k = 0; k < c->nevents; k++) {
            add_figure(&s, COST + k, part == 0 ? c->cost.kernel[k] : c->cost.pds[k]);
        }
    }
    for (uint32_t i = 0; i < s.nwarnings; i++) {
        put_frame_name(&s, s.warning[i], "", 0);
        add_figure(&s, WARNINGS, 1);
    }
    mkperf_json(t, "]},\n'profiles':[");
    for (uint32_t event = 0; event < c->nevents; event++) {
        const char *of = mkperf_places_event_name(stack, event, note);
        bool *seen = mkperf_xcalloc(stack->npds, sizeof *seen);
        put_thread_profile(&s, (uint64_t)event << 32 | ALL_PDS, of);
        for (uint32_t i = 0; i < c->chains.count; i++) {
            uint64_t thread = mkperf_profile_thread(c, i);
            uint32_t pd = (uint32_t)thread;
            if (thread >> 32 == event && pd < stack->npds && !seen[pd]) {
                seen[pd] = true;
                put_thread_profile(&s, thread, of);
            }
        }
        free(seen);
    }
    put_figures(&s);
    mkperf_textout_puts(t, "]}\n");
    for (uint32_t i = 0; i < s.nwarnings; i++) {
        free(s.warning[i]);
    }
    free(s.warning);
    free(s.figure);
    return MKPERF_OK;
}
