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
    struct mkperf_sink to;
    unsigned left; /* calls until it fails; 0: it has failed */
    bool abandoned;
};

static inline enum mkperf_status failing_now(struct failing_sink *f, struct mkperf_error *e)
{
    if (f->left == 0) {
        abort();
    }
    return --f->left == 0 ? mkperf_error_set(e, MKPERF_ERR_OUTPUT, "full") : MKPERF_OK;
}

static inline enum mkperf_status take_or_fail(void *self, const struct mkperf_item *item,
                                              struct mkperf_error *e)
{
    struct failing_sink *f = self;

    if (item->kind == MKPERF_ITEM_ABANDON) {
        f->abandoned = true;
    } else if (failing_now(f, e) != MKPERF_OK) {
        return e->status;
    }
    return mkperf_sink_put(&f->to, item, e);
}

/* Fails at call number `at`, from 1 on. */
static inline struct mkperf_sink failing_sink(struct failing_sink *f, struct mkperf_sink to,
                                              unsigned at)
{
    *f = (struct failing_sink){.to = to, .left = at};
    return (struct mkperf_sink){.take = take_or_fail, .self = f};
}

#endif
