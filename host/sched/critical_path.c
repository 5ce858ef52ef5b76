/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see critical_path.h. */
#include "critical_path.h"

#include <stdlib.h>

#include "base/xalloc.h"

struct walk {
    struct mkperf_path *path;
    const struct mkperf_timeline *t;
    uint32_t pd;
    uint64_t now;
    unsigned jumps; /* since time went back */
};

/* Adds a step before those that are there (they are turned round at the end). */
static void add(struct walk *w, struct mkperf_interval what)
{
    struct mkperf_path *path = w->path;

    if (path->n > 0) {
        struct mkperf_path_step *later = &path->step[path->n - 1];

        if (later->entered == MKPERF_SCHED_SWITCH && !later->irq_known &&
            later->what.pd == what.pd && later->what.state == what.state &&
            later->what.by == what.by && later->what.serving == what.serving) {
            later->what.from = what.from;
            return;
        }
    }
    MKPERF_GROW(path->step, path->room, path->n + 1);
    path->step[path->n++] = (struct mkperf_path_step){.what = what};
}

/* What made w->pd ready at w->now; NULL: not known. */
static const struct mkperf_woken *wake_of(const struct walk *w)
{
    const struct mkperf_woken *arrow, *found = NULL;
    size_t n = mkperf_timeline_arrows(w->t, w->now, w->now + 1, &arrow);

    for (size_t i = 0; i < n; i++) {
        found = arrow[i].to == w->pd ? &arrow[i] : found;
    }
    return found;
}

/* Or maybe: before its first event. */
static bool blocked(enum mkperf_pd_state state)
{
    return state == MKPERF_PD_CALLING || state == MKPERF_PD_WAITING || state == MKPERF_PD_STOPPED ||
           state == MKPERF_PD_UNKNOWN;
}

/* The interval in which w->pd was just before w->now. */
static struct mkperf_interval before(const struct walk *w)
{
    const struct mkperf_interval *i;
    size_t n = mkperf_timeline_intervals(w->t, w->pd, w->now - 1, w->now, &i);
    struct mkperf_interval unknown = {.pd = w->pd,
                                      .by = MKPERF_SCHED_NOBODY,
                                      .serving = MKPERF_SCHED_NOBODY,
                                      .state = MKPERF_PD_UNKNOWN,
                                      .from = w->path->from,
                                      .to = w->now};

    return n > 0 && i->from < w->now ? *i : unknown;
}

static void step(struct walk *w)
{
    struct mkperf_interval i = before(w);
    const struct mkperf_woken *wake = blocked(i.state) && i.to == w->now ? wake_of(w) : NULL;
    bool by_pd = wake != NULL && wake->from < w->t->npds && wake->from != w->pd &&
                 w->t->lane[wake->from].n > 0;

    if (by_pd && w->jumps < w->t->npds) {
        if (w->path->n > 0) {
            w->path->step[w->path->n - 1].entered = wake->kind;
        }
        w->pd = wake->from;
        w->jumps++;
        return;
    }
    i.from = i.from > w->path->from ? i.from : w->path->from;
    i.to = w->now;
    add(w, i);
    if (wake != NULL && wake->kind == MKPERF_SCHED_IRQ) {
        w->path->step[w->path->n - 1].irq_known = true;
        w->path->step[w->path->n - 1].irq = wake->irq;
    }
    w->now = i.from;
    w->jumps = 0;
}

void mkperf_path_find(struct mkperf_path *path, const struct mkperf_timeline *t, uint32_t pd,
                      uint64_t from, uint64_t to)
{
    struct walk w = {.path = path, .t = t, .pd = pd, .now = to};

    *path = (struct mkperf_path){.from = from, .to = to};
    while (w.now > from) {
        step(&w);
    }
    for (size_t i = 0; i < path->n / 2; i++) {
        struct mkperf_path_step swap = path->step[i];

        path->step[i] = path->step[path->n - 1 - i];
        path->step[path->n - 1 - i] = swap;
    }
}

void mkperf_path_free(struct mkperf_path *path)
{
    free(path->step);
    *path = (struct mkperf_path){.n = 0};
}
