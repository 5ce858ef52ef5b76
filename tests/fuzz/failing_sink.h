/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink that hands everything on to another, and fails once, as one whose disk is full: a decoder
 * must then stop, with that error, and abandon it.
 *
 * Owns: the count of calls, and the check that none follows the error but `abandon`.
 */
#ifndef MKPERF_TESTS_FUZZ_FAILING_SINK_H
#define MKPERF_TESTS_FUZZ_FAILING_SINK_H

#include <stdlib.h>

#include "model/model.h"

struct failing_sink {
    struct mkperf_sink to; /* first: it relays */
    unsigned left;         /* calls until it fails; 0: it has failed */
    bool abandoned;
};

static inline enum mkperf_status failing_now(struct failing_sink *f, struct mkperf_error *e)
{
    if (f->left == 0) {
        abort();
    }
    return --f->left == 0 ? mkperf_error_set(e, MKPERF_ERR_OUTPUT, "full") : MKPERF_OK;
}

#define FAILING(op, type)                                                                   \
    static enum mkperf_status failing_##op(void *self, const struct type *x,                \
                                           struct mkperf_error *e)                          \
    {                                                                                       \
        struct failing_sink *f = self;                                                      \
                                                                                            \
        return failing_now(f, e) != MKPERF_OK ? e->status : mkperf_sink_##op(&f->to, x, e); \
    }
FAILING(begin, mkperf_session)
FAILING(pd, mkperf_pd)
FAILING(events, mkperf_session)
FAILING(sample, mkperf_sample)
FAILING(mark, mkperf_mark)
FAILING(sched, mkperf_sched)
FAILING(lost, mkperf_lost)
FAILING(end, mkperf_totals)
#undef FAILING

static inline enum mkperf_status failing_flush(void *self, struct mkperf_error *e)
{
    struct failing_sink *f = self;

    return failing_now(f, e) != MKPERF_OK ? e->status : mkperf_sink_flush(&f->to, e);
}

static inline void failing_abandon(void *self)
{
    struct failing_sink *f = self;

    f->abandoned = true;
    mkperf_sink_abandon(&f->to);
}

/* Fails at call number `at`, from 1 on. */
static inline struct mkperf_sink failing_sink(struct failing_sink *f, struct mkperf_sink to,
                                              unsigned at)
{
    static const struct mkperf_sink_ops ops = {.reads = true,
                                               .begin = failing_begin,
                                               .pd = failing_pd,
                                               .events = failing_events,
                                               .sample = failing_sample,
                                               .mark = failing_mark,
                                               .sched = failing_sched,
                                               .lost = failing_lost,
                                               .flush = failing_flush,
                                               .end = failing_end,
                                               .abandon = failing_abandon};

    *f = (struct failing_sink){.to = to, .left = at};
    return (struct mkperf_sink){.ops = &ops, .self = f};
}

#endif
