/* SPDX-License-Identifier: BSD-2-Clause */
/* The analysis as a sink. Owns: its memory, its listeners, and the order of its results; see analysis.h. */
#include "analysis_internal.h"

const char *const mkperf_pd_state_names[MKPERF_PD_STATES] = {
    [MKPERF_PD_UNKNOWN] = "unknown", [MKPERF_PD_RUNNING] = "running",
    [MKPERF_PD_READY] = "ready",     [MKPERF_PD_CALLING] = "calling",
    [MKPERF_PD_WAITING] = "waiting", [MKPERF_PD_THROTTLED] = "throttled",
    [MKPERF_PD_STOPPED] = "stopped",
};

static const struct mkperf_shape_row bys_rows[] = {
    MKPERF_SHAPE_ARRAY(struct mkperf_bys, by, n, room, NULL), MKPERF_SHAPE_END};

static const struct mkperf_shape_row pd_rows[] = {
    MKPERF_SHAPE_TEXT(struct mkperf_sched_pd, name),
    MKPERF_SHAPE_ARRAY(struct mkperf_sched_pd, slice, slices, slice_room, NULL),
    MKPERF_SHAPE_INSIDE(struct mkperf_sched_pd, ready_by, bys_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_sched_pd, blocked_on, bys_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_sched_pd, call.nested_by, bys_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_sched_pd, call.preempted_by, bys_rows),
    MKPERF_SHAPE_END};

static const struct mkperf_shape_row edge_rows[] = {
    MKPERF_SHAPE_INSIDE(struct mkperf_call_edge, nested_by, bys_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_call_edge, preempted_by, bys_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_call_edge, wall, mkperf_log_rows), MKPERF_SHAPE_END};

static const struct mkperf_shape_row wake_rows[] = {
    MKPERF_SHAPE_INSIDE(struct mkperf_wakeup, delay, mkperf_log_rows), MKPERF_SHAPE_END};

const struct mkperf_shape_row mkperf_analysis_rows[] = {
    MKPERF_SHAPE_BYTES(struct mkperf_analysis, began, last_ns),
    MKPERF_SHAPE_ARRAY(struct mkperf_analysis, pd, npds, pd_room, pd_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_analysis, core, ncores, core_room, NULL),
    MKPERF_SHAPE_ARRAY(struct mkperf_analysis, edge, nedges, edge_room, edge_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_analysis, wake, nwakes, wake_room, wake_rows),
    MKPERF_SHAPE_ARRAY(struct mkperf_analysis, inversion, ninversions, inversion_room, NULL),
    MKPERF_SHAPE_BYTES(struct mkperf_analysis, events, calls_open),
    MKPERF_SHAPE_END};

void *sched_item(void **array, unsigned *n, unsigned *room, size_t size, const uint32_t *key,
                 size_t words)
{
    char *at = *array;

    for (unsigned i = 0; i < *n; i++, at += size) {
        const uint32_t *word = (const uint32_t *)(const void *)at;
        size_t same = 0;
        while (same < words && word[same] == key[same]) {
            same++;
        }
        if (same == words) {
            return at;
        }
    }
    if (*n == *room) {
        *room = (unsigned)mkperf_room(*room, (size_t)*n + 1);
        *array = mkperf_xrealloc(*array, *room, size);
    }
    at = (char *)*array + (*n)++ * size;
    memset(at, 0, size);
    return memcpy(at, key, words * sizeof *key);
}

const char *mkperf_analysis_name(const struct mkperf_analysis *a, uint32_t pd)
{
    return pd < a->npds && a->pd[pd].name != NULL ? a->pd[pd].name : "?";
}

uint32_t mkperf_analysis_find(const struct mkperf_analysis *a, const char *name, size_t n)
{
    for (uint32_t pd = 0; pd < a->npds; pd++) {
        const char *its = a->pd[pd].name;

        if (its != NULL && strlen(its) == n && memcmp(its, name, n) == 0) {
            return pd;
        }
    }
    return MKPERF_SCHED_NOBODY;
}

struct mkperf_analysis *mkperf_analysis_new(void)
{
    return mkperf_xcalloc(1, sizeof(struct mkperf_analysis));
}

void mkperf_analysis_free(struct mkperf_analysis *a)
{
    if (a != NULL) {
        mkperf_shape_free(mkperf_analysis_rows, a);
        mkperf_session_free(&a->session);
        free(a);
    }
}

void mkperf_analysis_listen(struct mkperf_analysis *a, struct mkperf_analysis_listener l)
{
    a->listener[a->nlisteners++] = l;
}

static void add_pd(struct mkperf_analysis *a, const struct mkperf_pd *pd)
{
    MKPERF_GROW(a->pd, a->pd_room, (size_t)pd->id + 1);
    for (uint32_t i = a->npds; i <= pd->id; i++) {
        a->pd[i].serving = a->pd[i].asked_by = MKPERF_SCHED_NOBODY;
        a->pd[i].since = a->first_ns;
    }
    a->npds = pd->id >= a->npds ? pd->id + 1 : a->npds;
    struct mkperf_sched_pd *to = &a->pd[pd->id];
    free(to->name);
    to->name = mkperf_xstrdup(pd->name);
    to->idle = pd->thread == MKPERF_THREAD_IDLE;
    to->profiler = pd->profiler;
    to->scheduling = pd->scheduling;
    if (pd->scheduling.known) {
        to->has_core = true;
        to->core = pd->scheduling.cpu;
    }
}

void mkperf_analysis_restart(struct mkperf_analysis *a)
{
    mkperf_analysis_charge(a);
    for (unsigned i = 0; i < a->nedges; i++) {
        mkperf_shape_free(edge_rows, &a->edge[i]);
    }
    a->nedges = a->ninversions = 0;
    for (unsigned i = 0; i < a->nwakes; i++) { /* PDs that have not run yet refer to them */
        mkperf_log_free(&a->wake[i].delay);
        a->wake[i].busy = 0;
        a->wake[i].delay = (struct mkperf_log_histogram){.count = 0};
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        struct mkperf_sched_pd *p = &a->pd[i];

        memset(p->in, 0, sizeof p->in);
        p->consumed = p->runs = p->preemptions = p->exhausted = 0;
        p->ready_by.n = p->blocked_on.n = 0;
    }
    for (uint32_t i = 0; i < a->ncores; i++) {
        a->core[i].busy = a->core[i].idle = a->core[i].unknown = 0;
    }
    a->events = a->gaps = a->gap_ns = a->switches = a->late_events = a->calls_void = 0;
    a->first_ns = a->last_ns;
}

static void end(struct mkperf_analysis *a, const struct mkperf_totals *totals)
{
    a->totals = *totals;
    a->totals.interactions = NULL;
    a->totals.counts = NULL;
    mkperf_analysis_charge(a);
    for (uint32_t i = 0; i < a->npds; i++) {
        a->calls_open += !a->pd[i].idle && a->pd[i].call.active;
    }
    MKPERF_SORT(a->edge, a->nedges, MKPERF_DOWN(a->edge, sum.wall));
    MKPERF_SORT(a->wake, a->nwakes, MKPERF_DOWN(a->wake, delay.total));
    MKPERF_SORT(a->inversion, a->ninversions, MKPERF_DOWN(a->inversion, total));
}

enum mkperf_status mkperf_analysis_take(void *self, const struct mkperf_item *item,
                                        struct mkperf_error *e)
{
    struct mkperf_analysis *a = self;

    (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        mkperf_session_free(&a->session);
        mkperf_session_keep(&a->session, item->session);
        a->nwindows = mkperf_windows_read(item->session->windows, a->window);
        break;
    case MKPERF_ITEM_PD:
        add_pd(a, item->pd);
        break;
    case MKPERF_ITEM_SCHED:
        mkperf_analysis_event(a, item->sched);
        break;
    case MKPERF_ITEM_END:
        end(a, item->totals);
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

struct mkperf_sink mkperf_analysis_sink(struct mkperf_analysis *a)
{
    return (struct mkperf_sink){.take = mkperf_analysis_take, .self = a};
}

enum mkperf_status mkperf_analysis_read(struct mkperf_analysis *a, struct mkperf_sink sink,
                                        const char *path, const struct mkperf_question *question,
                                        struct mkperf_error *e)
{
    const struct mkperf_input in = {.from = NULL};
    struct mkperf_question q = question != NULL ? *question
                                                : (struct mkperf_question){.text = NULL};
    unsigned n = 0;

    while (q.kept[n].rows != NULL) {
        n++;
    }
    q.kept[n] = (struct mkperf_shaped){a, mkperf_analysis_rows};
    sink.leaves_only = true;
    enum mkperf_status status = mkperf_input_ask(path, &in, &sink, &q, e);
    free((char *)(uintptr_t)q.text);
    return status != MKPERF_OK || a->events != 0
               ? status
               : mkperf_error_set(e, MKPERF_ERR_INPUT,
                                  "%s: no scheduling events were recorded (mkperf record --sched)",
                                  path);
}
