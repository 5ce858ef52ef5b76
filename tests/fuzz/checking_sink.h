/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink for the fuzz targets of decoders. It aborts at an item that breaks a promise of the model: events and PDs are
 * announced before they are used, numbers are within their bounds, and chains within theirs.
 *
 * Owns: these checks, and the count of samples.
 */
#ifndef MKPERF_TESTS_FUZZ_CHECKING_SINK_H
#define MKPERF_TESTS_FUZZ_CHECKING_SINK_H

#include <stdlib.h>
#include <string.h>

#include "model/model.h"

struct checking_sink {
    unsigned cores;  /* each core is below this */
    uint32_t pds;    /* the id of each PD is below this */
    size_t mark_max; /* bytes of the longest name of a mark */
    bool
        may_be_empty; /* a session may have neither samples nor scheduling events: the target counts only latencies */
    bool began;
    unsigned nevents;
    uint32_t npds; /* the ids of announced PDs are below this */
    uint64_t samples;
};

static inline void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

static inline void check_sample(const struct checking_sink *c, const struct mkperf_sample *s)
{
    require(s->event < c->nevents && s->pd < c->npds && s->core < c->cores);
    require(s->callers->n <= MKPERF_MAX_FRAMES + 1);
    for (unsigned i = 0; i < s->callers->n; i++) {
        require(s->callers->caller[i].pd < c->npds);
    }
}

static inline void check_sched(const struct checking_sink *c, const struct mkperf_sched *s)
{
    require(s->core < c->cores && s->kind < MKPERF_SCHED_KINDS);
    require(s->reason < MKPERF_STOPPED_REASONS);
    require(s->from == MKPERF_SCHED_NOBODY || s->from < c->npds);
    require((s->kind == MKPERF_SCHED_GAP) == (s->to == MKPERF_SCHED_NOBODY));
    require(s->kind == MKPERF_SCHED_GAP || s->to < c->npds);
}

static inline enum mkperf_status check_item(void *self, const struct mkperf_item *item,
                                            struct mkperf_error *e)
{
    struct checking_sink *c = self;
    const struct mkperf_session *s = item->session;

    (void)e;
    require(c->began || item->kind == MKPERF_ITEM_BEGIN || item->kind == MKPERF_ITEM_ABANDON);
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        require(!c->began);
        require(s->nevents >= 1 || s->sched || c->may_be_empty);
        require(s->nevents <= MKPERF_MODEL_EVENTS);
        require(s->platform != NULL && s->cpu != NULL);
        c->began = true;
        c->nevents = s->nevents;
        break;
    case MKPERF_ITEM_EVENTS:
        require(s->nevents > c->nevents && s->nevents <= MKPERF_MODEL_EVENTS);
        c->nevents = s->nevents;
        break;
    case MKPERF_ITEM_PD:
        require(item->pd->name != NULL && item->pd->id < c->pds);
        c->npds = item->pd->id < c->npds ? c->npds : item->pd->id + 1;
        break;
    case MKPERF_ITEM_SAMPLE:
        check_sample(c, item->sample);
        c->samples++;
        break;
    case MKPERF_ITEM_MARK:
        require(item->mark->pd < c->npds && item->mark->kind <= MKPERF_MARK_END);
        require(strlen(item->mark->name) <= c->mark_max);
        break;
    case MKPERF_ITEM_SCHED:
        check_sched(c, item->sched);
        break;
    case MKPERF_ITEM_LOST:
        require(item->lost->where < MKPERF_LOST_PLACES);
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

#endif
