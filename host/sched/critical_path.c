/* SPDX-License-Identifier: BSD-2-Clause */
/* The critical path: the choice of a time, the timeline of it, and the walk; see critical_path.h. */
#include "critical_path.h"

static const struct mkperf_shape_row lane_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_lane, interval, n, room, NULL), MKPERF_SHAPE_END};

static const struct mkperf_shape_row timeline_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_timeline, lane, npds, pd_room, lane_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_timeline, arrow, narrows, arrow_room, NULL), MKPERF_SHAPE_END};

static const struct mkperf_shape_row choice_rows[] = {
    MKPERF_SHAPE_BYTES(struct mkperf_path_choice, candidates, to_ns), MKPERF_SHAPE_END};

/* tables show times rounded to this, and the user may copy a time from there */
enum { ROUNDED_NS = 1000 };

enum mkperf_status mkperf_path_choice_parse(struct mkperf_path_choice *c, const char *text,
                                            struct mkperf_error *e)
{
    c->kind = MKPERF_PATH_CALL;
    if (text == NULL) {
        return MKPERF_OK;
    }
    const char *dots = strstr(text, ".."), *end = dots != NULL ? dots : strchrnul(text, ':');
    const char *second = end + (dots != NULL ? 2 : *end == ':');
    int n = (int)(end - text);
    c->kind = dots != NULL ? MKPERF_PATH_MARKS : *end == ':' ? MKPERF_PATH_CALL : MKPERF_PATH_PHASE;
    snprintf(c->first, sizeof c->first, "%.*s", n, text);
    snprintf(c->second, sizeof c->second, "%s", second);
    return n != 0 && n < MKPERF_MODEL_NAME && strlen(second) < MKPERF_MODEL_NAME &&
                   (*end == '\0' || *second != '\0')
               ? MKPERF_OK
               : mkperf_error_set(e, MKPERF_ERR_USAGE,
                                  "--critical-path: '%s' is neither FROM:TO (PDs) nor "
                                  "MARK..MARK nor the name of a phase",
                                  text);
}

static void offer(struct mkperf_path_choice *c, uint32_t pd, uint32_t caller, uint64_t from,
                  uint64_t to)
{
    bool fits = !c->has_at || (from <= c->at_ns + ROUNDED_NS && c->at_ns <= to + ROUNDED_NS);

    c->candidates++;
    if (to > from && fits && (!c->found || to - from > c->to_ns - c->from_ns)) {
        c->found = true;
        c->pd = pd;
        c->caller = caller;
        c->from_ns = from;
        c->to_ns = to;
    }
}

static void on_path_call(void *self, uint32_t from, const struct mkperf_call *call, uint64_t end)
{
    struct mkperf_path_choice *c = self;

    if (c->first[0] == '\0' ||
        (strcmp(mkperf_analysis_name(c->analysis, from), c->first) == 0 &&
         strcmp(mkperf_analysis_name(c->analysis, call->to), c->second) == 0)) {
        offer(c, call->to, from, call->start, end);
    }
}

static void on_mark(struct mkperf_path_choice *c, const struct mkperf_mark *m)
{
    if (c->kind == MKPERF_PATH_PHASE && strcmp(m->name, c->first) == 0) {
        struct mkperf_phase phase = {.pd = m->pd, .id = m->id};
        struct mkperf_phase_begin begin = {.time_ns = m->time_ns};
        if (mkperf_marks_add(&c->phases, m->kind, &phase, &begin)) {
            offer(c, m->pd, MKPERF_SCHED_NOBODY, begin.time_ns, m->time_ns);
        }
    } else if (c->kind == MKPERF_PATH_MARKS && c->marked && strcmp(m->name, c->second) == 0 &&
               m->time_ns > c->mark_ns) {
        offer(c, m->pd, MKPERF_SCHED_NOBODY, c->mark_ns, m->time_ns);
        c->marked = false;
    }
    if (c->kind == MKPERF_PATH_MARKS && strcmp(m->name, c->first) == 0) {
        c->marked = true;
        c->mark_ns = m->time_ns;
    }
}

static enum mkperf_status choose(void *self, const struct mkperf_item *item, struct mkperf_error *e)
{
    struct mkperf_path_choice *c = self;

    if (item->kind == MKPERF_ITEM_MARK) {
        on_mark(c, item->mark);
    }
    return mkperf_analysis_take(c->analysis, item, e);
}

struct mkperf_sink mkperf_path_choice_sink(struct mkperf_path_choice *c)
{
    if (c->kind == MKPERF_PATH_CALL) {
        mkperf_analysis_listen(c->analysis,
                               (struct mkperf_analysis_listener){.call = on_path_call, .self = c});
    }
    return (struct mkperf_sink){.take = choose, .self = c, .leaves_only = true};
}

enum mkperf_status mkperf_path_choice_read(struct mkperf_path_choice *c, const char *path,
                                           struct mkperf_error *e)
{
    const struct mkperf_question question = {
        .text = mkperf_xprintf("choice %d at %d %" PRIu64 " '%s' '%s'", c->kind, c->has_at,
                               c->at_ns, c->first, c->second),
        .kept = {{c, choice_rows}}};

    return mkperf_analysis_read(c->analysis, mkperf_path_choice_sink(c), path, &question, e);
}

enum mkperf_status mkperf_path_choice_check(const struct mkperf_path_choice *c,
                                            struct mkperf_error *e)
{
    const struct mkperf_analysis *a = c->analysis;
    char what[160];

    if (c->found) {
        return MKPERF_OK;
    }
    for (unsigned i = 0; c->kind == MKPERF_PATH_CALL && c->first[0] != '\0' && i < 2; i++) {
        const char *name = i == 0 ? c->first : c->second;

        MKPERF_FAIL_IF(mkperf_analysis_find(a, name, strlen(name)) == MKPERF_SCHED_NOBODY, e,
                       MKPERF_ERR_USAGE, "--critical-path: no PD '%s' is recorded", name);
    }
    if (c->kind == MKPERF_PATH_CALL) {
        snprintf(what, sizeof what,
                 c->first[0] != '\0' ? "no whole call %s -> %s" : "no whole call", c->first,
                 c->second);
    } else if (c->kind == MKPERF_PATH_MARKS) {
        snprintf(what, sizeof what, "no mark '%s' with a later mark '%s'", c->first, c->second);
    } else {
        snprintf(what, sizeof what, "no whole phase '%s'", c->first);
    }
    return mkperf_error_set(e, MKPERF_ERR_INPUT, "--critical-path: %s is recorded%s", what,
                            c->candidates > 0 ? " at that time"
                            : c->kind == MKPERF_PATH_MARKS
                                ? ""
                                : ": its begin may precede the recording");
}

void mkperf_path_choice_title(const struct mkperf_path_choice *c, char *text, size_t n)
{
    const char *which = c->has_at ? "the one at that time" : "the longest";

    if (c->kind == MKPERF_PATH_CALL) {
        snprintf(text, n, "%s of %" PRIu64 " calls%s, %s -> %s", which, c->candidates,
                 c->first[0] == '\0' ? " of all" : "", mkperf_analysis_name(c->analysis, c->caller),
                 mkperf_analysis_name(c->analysis, c->pd));
    } else {
        snprintf(text, n, "%s of %" PRIu64 " times %s%s%s", which, c->candidates, c->first,
                 c->second[0] != '\0' ? " .. " : "", c->second);
    }
}

static void add_path_interval(void *self, const struct mkperf_interval *i)
{
    struct mkperf_timeline *t = self;

    if (i->to <= t->from_ns || i->from >= t->to_ns) {
        return;
    }
    MKPERF_GROW(t->lane, t->pd_room, (size_t)i->pd + 1);
    t->npds = i->pd >= t->npds ? i->pd + 1 : t->npds;
    struct mkperf_lane *lane = &t->lane[i->pd];
    struct mkperf_interval *last = lane->n > 0 ? &lane->interval[lane->n - 1] : NULL;
    if (last != NULL && last->to == i->from && last->state == i->state && last->by == i->by &&
        last->serving == i->serving && last->core == i->core) {
        last->to = i->to; /* `i` continues it */
        return;
    }
    MKPERF_GROW(lane->interval, lane->room, lane->n + 1);
    assert(lane->interval != NULL);
    lane->interval[lane->n++] = *i;
}

static void add_arrow(void *self, const struct mkperf_woken *w)
{
    struct mkperf_timeline *t = self;

    if (w->time >= t->from_ns && w->time <= t->to_ns) {
        MKPERF_GROW(t->arrow, t->arrow_room, t->narrows + 1);
        t->arrow[t->narrows++] = *w;
    }
}

void mkperf_timeline_attach(struct mkperf_timeline *t, struct mkperf_analysis *a, uint64_t from_ns,
                            uint64_t to_ns)
{
    *t = (struct mkperf_timeline){.from_ns = from_ns, .to_ns = to_ns};
    mkperf_analysis_listen(a, (struct mkperf_analysis_listener){
                                  .interval = add_path_interval, .woken = add_arrow, .self = t});
}

void mkperf_timeline_free(struct mkperf_timeline *t)
{
    mkperf_shape_free(timeline_rows, t);
}

size_t mkperf_timeline_intervals(const struct mkperf_timeline *t, uint32_t pd, uint64_t from,
                                 uint64_t to, const struct mkperf_interval **first)
{
    const struct mkperf_lane *lane = pd < t->npds ? &t->lane[pd] : NULL;

    *first = NULL;
    if (lane == NULL || lane->n == 0 || to <= from) {
        return 0;
    }
    const size_t size = sizeof *lane->interval;
    size_t begin = mkperf_first_behind(&lane->interval->to, lane->n, size, from);
    /* This one has the last ns of the time, or is behind it. */
    size_t end = mkperf_first_behind(&lane->interval->to, lane->n, size, to - 1);
    end += end < lane->n && lane->interval[end].from < to;
    *first = lane->interval + begin;
    return end > begin ? end - begin : 0;
}

/* Returns what made a PD ready at a time: the last arrow to it. Returns NULL if there is no arrow. */
static const struct mkperf_woken *woken_at(const struct mkperf_timeline *t, uint32_t pd,
                                           uint64_t ns)
{
    size_t n = mkperf_first_behind(t->arrow, t->narrows, sizeof *t->arrow, ns);

    while (n > 0 && t->arrow[n - 1].time == ns && t->arrow[n - 1].to != pd) {
        n--;
    }
    return n > 0 && t->arrow[n - 1].time == ns ? &t->arrow[n - 1] : NULL;
}

/*
 * Returns the arrow by which the path continues at a PD before: what ended the PD's wait. Or its call, if the PD is
 * ready because its caller has not yet stopped: that time is the caller's own, as in the parts of calls. A call with
 * which the path begins is left as it is. Returns NULL if there is no such arrow.
 */
static const struct mkperf_woken *arrow_before(const struct mkperf_timeline *t,
                                               const struct mkperf_interval *i, uint64_t now,
                                               uint64_t path_from)
{
    /* Whether the PD may have waited. Its state is unknown before its first event. */
    bool blocked = i->state == MKPERF_PD_CALLING || i->state == MKPERF_PD_WAITING ||
                   i->state == MKPERF_PD_STOPPED || i->state == MKPERF_PD_UNKNOWN;

    if (i->to != now) {
        return NULL;
    }
    if (blocked) {
        return woken_at(t, i->pd, now);
    }
    bool called = i->state == MKPERF_PD_READY && i->from > path_from;
    const struct mkperf_woken *call = called ? woken_at(t, i->pd, i->from) : NULL;
    return call != NULL && call->kind == MKPERF_SCHED_CALL && call->from == i->by ? call : NULL;
}

void mkperf_path_find(struct mkperf_path *path, const struct mkperf_timeline *t, uint32_t pd,
                      uint64_t from, uint64_t to)
{
    unsigned jumps = 0; /* steps from PD to PD at the same time; bounded by the number of PDs */

    *path = (struct mkperf_path){.from = from, .to = to};
    for (uint64_t now = to; now > from;) {
        /* The interval in which the PD was just before now. */
        struct mkperf_interval i = {.pd = pd,
                                    .by = MKPERF_SCHED_NOBODY,
                                    .serving = MKPERF_SCHED_NOBODY,
                                    .state = MKPERF_PD_UNKNOWN,
                                    .from = from,
                                    .to = now};
        const struct mkperf_interval *known;
        if (mkperf_timeline_intervals(t, pd, now - 1, now, &known) > 0 && known->from < now) {
            i = *known;
        }
        const struct mkperf_woken *wake = arrow_before(t, &i, now, from);
        /* The array is reversed until the end of the walk: this is the step behind the next one. */
        struct mkperf_path_step *later = path->n > 0 ? &path->step[path->n - 1] : NULL;
        if (wake != NULL && wake->from < t->npds && wake->from != pd && t->lane[wake->from].n > 0 &&
            jumps < t->npds) {
            if (later != NULL) {
                later->entered = wake->kind;
            }
            pd = wake->from;
            jumps++;
            continue;
        }
        i.from = i.from > from ? i.from : from;
        i.to = now;
        if (later != NULL && later->entered == MKPERF_SCHED_SWITCH && !later->irq_known &&
            later->what.pd == pd && later->what.state == i.state && later->what.by == i.by &&
            later->what.serving == i.serving) {
            later->what.from = i.from;
        } else {
            MKPERF_GROW(path->step, path->room, path->n + 1);
            assert(path->step != NULL);
            later = &path->step[path->n++];
            *later = (struct mkperf_path_step){.what = i};
        }
        if (wake != NULL && wake->kind == MKPERF_SCHED_IRQ) {
            later->irq_known = true;
            later->irq = wake->irq;
        }
        now = i.from;
        jumps = 0;
    }
    MKPERF_SORT(path->step, path->n, MKPERF_UP(path->step, what.from));
}

enum mkperf_status mkperf_path_read(struct mkperf_path *path, struct mkperf_analysis *a,
                                    uint32_t pd, uint64_t from, uint64_t to, const char *recording,
                                    struct mkperf_error *e)
{
    struct mkperf_timeline t;
    const struct mkperf_question question = {
        .text = mkperf_xprintf("timeline %" PRIu64 " %" PRIu64, from, to),
        .kept = {{&t, timeline_rows}}};

    mkperf_timeline_attach(&t, a, from, to);
    if (mkperf_analysis_read(a, mkperf_analysis_sink(a), recording, &question, e) == MKPERF_OK) {
        mkperf_path_find(path, &t, pd, from, to);
    }
    mkperf_timeline_free(&t);
    return e->status;
}

void mkperf_path_free(struct mkperf_path *path)
{
    free(path->step);
    *path = (struct mkperf_path){.n = 0};
}
