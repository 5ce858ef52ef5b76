/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see live_schedule.h. */
#include "live_schedule.h"

#include <stdlib.h>

#include "base/xalloc.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* When the newest n intervals begin to be all there are. They are in the order in which they became
 * known: at their ends, but those of a ready PD when it ran. */
static uint64_t complete_since(const struct mkperf_interval *i, size_t n)
{
    size_t first = 0;

    while (first < n && i[first].state == MKPERF_PD_READY) {
        first++;
    }
    return first < n ? i[first].to : UINT64_MAX;
}

/* Keeps what ends later than `since`, from then on. Returns how many. */
static size_t cut_intervals(struct mkperf_interval *i, size_t n, uint64_t since)
{
    size_t kept = 0;

    for (size_t k = 0; k < n; k++) {
        if (i[k].to > since) {
            i[kept] = i[k];
            i[kept].from = later(i[kept].from, since);
            kept++;
        }
    }
    return kept;
}

/* What a PD does now, which is no interval yet. */
static size_t add_now(struct mkperf_interval *to, const struct mkperf_analysis *a, uint32_t pd,
                      uint64_t since)
{
    const struct mkperf_sched_pd *of = &a->pd[pd];
    uint64_t began = of->slices > 0 ? of->slice[0].from : of->since;
    bool calls = of->state == MKPERF_PD_CALLING && of->call.active;

    if (of->idle || a->last_ns <= later(began, since)) {
        return 0;
    }
    *to = (struct mkperf_interval){.from = later(began, since),
                                   .to = a->last_ns,
                                   .pd = pd,
                                   .core = of->core,
                                   .by = calls ? of->call.to : MKPERF_SCHED_NOBODY,
                                   .serving = of->serving,
                                   .state = of->state};
    return 1;
}

/* The newest records of each kind, and the time from which on the records of all kinds are complete. */
static void take_newest(struct view_live_schedule *s, struct mkperf_profile *p, size_t most)
{
    struct mkperf_schedule *from = &p->schedule;
    struct page_schedule *shown = &s->shown;

    s->interval = mkperf_xcalloc(most + 2 * (size_t)p->sched->npds + 1, sizeof *s->interval);
    s->gap = mkperf_xcalloc(most + (size_t)p->sched->ncores + 1, sizeof *s->gap);
    s->call = mkperf_xcalloc(most, sizeof *s->call);
    s->woken = mkperf_xcalloc(most, sizeof *s->woken);
    shown->intervals = mkperf_spool_last(&from->intervals, s->interval + p->sched->npds, most);
    shown->gaps = mkperf_spool_last(&from->gaps, s->gap + p->sched->ncores, most);
    shown->calls = mkperf_spool_last(&from->calls, s->call, most);
    shown->wokens = mkperf_spool_last(&from->wakings, s->woken, most);
    if (shown->intervals < from->intervals.count) {
        shown->since_ns = complete_since(s->interval + p->sched->npds, shown->intervals);
    }
    if (shown->gaps > 0 && shown->gaps < from->gaps.count) {
        shown->since_ns = later(shown->since_ns, s->gap[p->sched->ncores].to);
    }
    if (shown->calls > 0 && shown->calls < from->calls.count) {
        shown->since_ns = later(shown->since_ns, s->call[0].to_ns);
    }
    if (shown->wokens > 0 &&
        shown->wokens < from->wakings.count) { /* another one of the same time may be missing */
        shown->since_ns = later(shown->since_ns, s->woken[0].time + 1);
    }
}

static void cut_and_complete(struct view_live_schedule *s, const struct mkperf_analysis *a,
                             uint64_t from_ns)
{
    uint64_t begin = later(a->first_ns, from_ns), since = s->shown.since_ns;
    struct mkperf_interval *newest = s->interval + a->npds;
    size_t n = 0, got = cut_intervals(newest, s->shown.intervals, since);

    for (uint32_t pd = 0; pd < a->npds; pd++) {
        if (!a->pd[pd].idle && since > begin) {
            s->interval[n++] = (struct mkperf_interval){.from = begin,
                                                        .to = since,
                                                        .pd = pd,
                                                        .by = MKPERF_SCHED_NOBODY,
                                                        .serving = MKPERF_SCHED_NOBODY,
                                                        .state = MKPERF_PD_UNKNOWN};
        }
    }
    for (size_t i = 0; i < got; i++) {
        s->interval[n++] = newest[i];
    }
    for (uint32_t pd = 0; pd < a->npds; pd++) {
        n += add_now(&s->interval[n], a, pd, since);
    }
    s->shown.interval = s->interval;
    s->shown.intervals = n;
}

static void cut_gaps(struct view_live_schedule *s, const struct mkperf_analysis *a,
                     uint64_t from_ns)
{
    uint64_t begin = later(a->first_ns, from_ns), since = s->shown.since_ns;
    const struct mkperf_core_interval *newest = s->gap + a->ncores;
    size_t n = 0;

    for (uint32_t core = 0; core < a->ncores && since > begin; core++) {
        s->gap[n++] = (struct mkperf_core_interval){
            .pd = MKPERF_SCHED_NOBODY, .core = core, .from = begin, .to = since};
    }
    for (size_t i = 0; i < s->shown.gaps; i++) {
        if (newest[i].to > since) {
            s->gap[n] = newest[i];
            s->gap[n].from = later(s->gap[n].from, since);
            n++;
        }
    }
    s->shown.gap = s->gap;
    s->shown.gaps = n;
}

/* Leaves out the calls and wake-ups before that time: their lists would be incomplete. */
static void cut_others(struct view_live_schedule *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->shown.calls; i++) {
        if (s->call[i].from_ns >= s->shown.since_ns) {
            s->call[kept++] = s->call[i];
        }
    }
    s->shown.call = s->call;
    s->shown.calls = kept;
    kept = 0;
    for (size_t i = 0; i < s->shown.wokens; i++) {
        if (s->woken[i].time >= s->shown.since_ns) {
            s->woken[kept++] = s->woken[i];
        }
    }
    s->shown.woken = s->woken;
    s->shown.wokens = kept;
}

void view_live_schedule_take(struct view_live_schedule *s, struct mkperf_profile *p, size_t most,
                             uint64_t from_ns)
{
    *s = (struct view_live_schedule){.shown = {.analysis = p->sched, .lost = p->schedule.lost}};
    if (!p->schedule.open) {
        return;
    }
    take_newest(s, p, most);
    cut_and_complete(s, p->sched, from_ns);
    cut_gaps(s, p->sched, from_ns);
    cut_others(s);
}

void view_live_schedule_free(struct view_live_schedule *s)
{
    free(s->interval);
    free(s->call);
    free(s->gap);
    free(s->woken);
    *s = (struct view_live_schedule){.shown = {.intervals = 0}};
}
