/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see relay.h. */
#include "relay.h"

enum mkperf_status mkperf_relay_begin(void *self, const struct mkperf_session *session,
                                      struct mkperf_error *e)
{
    const struct mkperf_sink *to = self;

    if (mkperf_sink_suits(to, session, e) != MKPERF_OK) {
        return e->status;
    }
    return to->ops->begin != NULL ? to->ops->begin(to->self, session, e) : MKPERF_OK;
}

enum mkperf_status mkperf_relay_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    const struct mkperf_sink *to = self;

    return to->ops->pd != NULL ? to->ops->pd(to->self, pd, e) : MKPERF_OK;
}

enum mkperf_status mkperf_relay_events(void *self, const struct mkperf_session *session,
                                       struct mkperf_error *e)
{
    const struct mkperf_sink *to = self;

    if (to->ops->events == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "the event list changes mid-stream; this format cannot represent "
                                "that");
    }
    return to->ops->events(to->self, session, e);
}

enum mkperf_status mkperf_relay_mark(void *self, const struct mkperf_mark *m,
                                     struct mkperf_error *e)
{
    const struct mkperf_sink *to = self;

    return to->ops->mark != NULL ? to->ops->mark(to->self, m, e) : MKPERF_OK;
}

enum mkperf_status mkperf_relay_sched(void *self, const struct mkperf_sched *event,
                                      struct mkperf_error *e)
{
    const struct mkperf_sink *to = self;

    return to->ops->sched != NULL ? to->ops->sched(to->self, event, e) : MKPERF_OK;
}

enum mkperf_status mkperf_relay_lost(void *self, const struct mkperf_lost *l,
                                     struct mkperf_error *e)
{
    const struct mkperf_sink *to = self;

    return to->ops->lost != NULL ? to->ops->lost(to->self, l, e) : MKPERF_OK;
}

enum mkperf_status mkperf_relay_flush(void *self, struct mkperf_error *e)
{
    const struct mkperf_sink *to = self;

    return to->ops->flush != NULL ? to->ops->flush(to->self, e) : MKPERF_OK;
}

enum mkperf_status mkperf_relay_end(void *self, const struct mkperf_totals *totals,
                                    struct mkperf_error *e)
{
    const struct mkperf_sink *to = self;

    return to->ops->end != NULL ? to->ops->end(to->self, totals, e) : MKPERF_OK;
}

void mkperf_relay_abandon(void *self)
{
    const struct mkperf_sink *to = self;

    if (to->ops->abandon != NULL) {
        to->ops->abandon(to->self);
    }
}
