/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see schedule.h. */
#include "schedule.h"

#include <stdlib.h>

#include "base/xalloc.h"

static void add(struct mkperf_schedule *s, struct mkperf_spool *spool, const void *record)
{
    if (s->failed->status == MKPERF_OK) {
        mkperf_spool_add(spool, record, s->failed);
    }
}

static void on_interval(void *self, const struct mkperf_interval *i)
{
    struct mkperf_schedule *s = self;

    if (s->intervals.count % MKPERF_SCHEDULE_BLOCK == 0) {
        MKPERF_GROW(s->block, s->block_room, s->blocks + 1);
        s->block[s->blocks++] = (struct mkperf_schedule_block){.from = i->from, .to = i->to};
    }
    struct mkperf_schedule_block *b = &s->block[s->blocks - 1];
    b->from = i->from < b->from ? i->from : b->from;
    b->to = i->to > b->to ? i->to : b->to;
    add(s, &s->intervals, i);
}

static void on_woken(void *self, const struct mkperf_woken *w)
{
    struct mkperf_schedule *s = self;

    add(s, &s->wakings, w);
}

static void on_call(void *self, uint32_t from, const struct mkperf_call *call, uint64_t end)
{
    struct mkperf_schedule *s = self;
    const struct mkperf_schedule_call kept = {.from_ns = call->start,
                                              .taken_ns = call->start + call->parts.wait,
                                              .to_ns = end,
                                              .from = from,
                                              .to = call->to};

    add(s, &s->calls, &kept);
}

static void on_core(void *self, const struct mkperf_core_interval *i)
{
    struct mkperf_schedule *s = self;

    if (i->pd == MKPERF_SCHED_NOBODY) {
        add(s, &s->gaps, i);
    }
}

enum mkperf_status mkperf_schedule_open(struct mkperf_schedule *s, struct mkperf_analysis *analysis,
                                        struct mkperf_error *failed, struct mkperf_error *e)
{
    s->open = true;
    s->failed = failed;
    mkperf_analysis_listen(analysis, (struct mkperf_analysis_listener){.interval = on_interval,
                                                                       .call = on_call,
                                                                       .woken = on_woken,
                                                                       .core = on_core,
                                                                       .self = s});
    if (mkperf_spool_open(&s->intervals, sizeof(struct mkperf_interval), e) != MKPERF_OK ||
        mkperf_spool_open(&s->calls, sizeof(struct mkperf_schedule_call), e) != MKPERF_OK ||
        mkperf_spool_open(&s->wakings, sizeof(struct mkperf_woken), e) != MKPERF_OK) {
        return e->status;
    }
    return mkperf_spool_open(&s->gaps, sizeof(struct mkperf_core_interval), e);
}

enum mkperf_status mkperf_schedule_map(struct mkperf_schedule *s, struct mkperf_error *e)
{
    if (!s->open) {
        return MKPERF_OK;
    }
    if (mkperf_spool_map(&s->intervals, e) != MKPERF_OK ||
        mkperf_spool_map(&s->calls, e) != MKPERF_OK ||
        mkperf_spool_map(&s->wakings, e) != MKPERF_OK) {
        return e->status;
    }
    return mkperf_spool_map(&s->gaps, e);
}

void mkperf_schedule_close(struct mkperf_schedule *s)
{
    mkperf_spool_close(&s->intervals);
    mkperf_spool_close(&s->calls);
    mkperf_spool_close(&s->gaps);
    mkperf_spool_close(&s->wakings);
    free(s->block);
    s->block = NULL;
    s->blocks = s->block_room = 0;
}
