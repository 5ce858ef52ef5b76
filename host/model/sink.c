/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the calls to a sink, see model.h: the way through relays, printable texts, and samples with
 * group reads for sinks without reads.
 */
#include "model.h"

#include <stdlib.h>

#include "base/printable.h"
#include "base/xalloc.h"

enum { TEXT = 1024 }; /* the stored part of an unprintable text */

/* The sink that gets calls of a function: relays without it pass them on. */
#define PASS_RELAYS(sink, function)                                    \
    while ((sink)->ops->function == NULL && (sink)->ops->relays) {     \
        (sink) = (sink)->self; /* its first member is the next sink */ \
    }

enum mkperf_status mkperf_no_samples(struct mkperf_error *e)
{
    return mkperf_error_set(
        e, MKPERF_ERR_INPUT,
        "a recording of scheduling events alone has no samples: mkperf latency and "
        "mkperf report --util show what is in it");
}

enum mkperf_status mkperf_ignore_events(void *self, const struct mkperf_session *session,
                                        struct mkperf_error *e)
{
    (void)self, (void)session, (void)e;
    return MKPERF_OK;
}

static enum mkperf_status suits(const struct mkperf_sink *sink,
                                const struct mkperf_session *session, struct mkperf_error *e)
{
    PASS_RELAYS(sink, sched);
    return session->nevents != 0 || sink->ops->sched != NULL ? MKPERF_OK : mkperf_no_samples(e);
}

enum mkperf_status mkperf_sink_begin(const struct mkperf_sink *sink,
                                     const struct mkperf_session *session, struct mkperf_error *e)
{
    char platform[TEXT], cpu[TEXT], command[TEXT], image[TEXT], unverified[TEXT], kernel[TEXT];
    struct mkperf_session s = *session;

    e->status = MKPERF_OK;
    if (suits(sink, session, e) != MKPERF_OK) {
        return e->status;
    }
    PASS_RELAYS(sink, begin);
    if (sink->ops->begin == NULL) {
        return MKPERF_OK;
    }
    s.platform = mkperf_printable_copy(s.platform, platform, sizeof platform);
    s.cpu = mkperf_printable_copy(s.cpu, cpu, sizeof cpu);
    s.command = mkperf_printable_copy(s.command, command, sizeof command);
    s.image = mkperf_printable_copy(s.image, image, sizeof image);
    s.unverified = mkperf_printable_copy(s.unverified, unverified, sizeof unverified);
    s.kernel_unnamed = mkperf_printable_copy(s.kernel_unnamed, kernel, sizeof kernel);
    char *names = mkperf_xstrdup(s.pd_names);
    if (names != NULL) {
        mkperf_printable_lines(names);
    }
    s.pd_names = names;
    for (unsigned i = 0; i < s.nevents; i++) {
        mkperf_printable(s.event[i].name);
    }
    enum mkperf_status status = sink->ops->begin(sink->self, &s, e);
    free(names);
    return status;
}

enum mkperf_status mkperf_sink_events(const struct mkperf_sink *sink,
                                      const struct mkperf_session *session, struct mkperf_error *e)
{
    struct mkperf_session s = *session;

    PASS_RELAYS(sink, events);
    if (sink->ops->events == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "the event list changes mid-stream; this format cannot represent "
                                "that");
    }
    for (unsigned i = 0; i < s.nevents; i++) {
        mkperf_printable(s.event[i].name);
    }
    return sink->ops->events(sink->self, &s, e);
}

enum mkperf_status mkperf_sink_pd(const struct mkperf_sink *sink, const struct mkperf_pd *pd,
                                  struct mkperf_error *e)
{
    char name[TEXT], parent[TEXT], unnamed[TEXT];
    struct mkperf_pd p = *pd;

    PASS_RELAYS(sink, pd);
    if (sink->ops->pd == NULL) {
        return MKPERF_OK;
    }
    p.name = mkperf_printable_copy(p.name, name, sizeof name);
    p.unnamed = mkperf_printable_copy(p.unnamed, unnamed, sizeof unnamed);
    p.parent = mkperf_printable_copy(p.parent, parent, sizeof parent);
    return sink->ops->pd(sink->self, &p, e);
}

enum mkperf_status mkperf_sink_mark(const struct mkperf_sink *sink, const struct mkperf_mark *mark,
                                    struct mkperf_error *e)
{
    char name[TEXT];
    struct mkperf_mark m = *mark;

    PASS_RELAYS(sink, mark);
    if (sink->ops->mark == NULL) {
        return MKPERF_OK;
    }
    m.name = mkperf_printable_copy(m.name, name, sizeof name);
    return sink->ops->mark(sink->self, &m, e);
}

/* The events that are read, as samples of their own. */
static enum mkperf_status spread(const struct mkperf_sink *sink, const struct mkperf_sample *sample,
                                 struct mkperf_error *e)
{
    struct mkperf_sample one = *sample;

    one.nreads = 0;
    one.reads = NULL;
    for (unsigned i = 0; i < sample->nreads; i++) {
        one.event = sample->reads[i].event;
        one.period = sample->reads[i].count;
        if (one.period != 0 && sink->ops->sample(sink->self, &one, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_sink_sample(const struct mkperf_sink *sink,
                                      const struct mkperf_sample *sample, struct mkperf_error *e)
{
    PASS_RELAYS(sink, sample);
    if (sink->ops->sample == NULL) {
        return MKPERF_OK;
    }
    if (sink->ops->sample(sink->self, sample, e) != MKPERF_OK) {
        return e->status;
    }
    return sample->nreads == 0 || sink->ops->reads ? MKPERF_OK : spread(sink, sample, e);
}

enum mkperf_status mkperf_sink_sched(const struct mkperf_sink *sink,
                                     const struct mkperf_sched *event, struct mkperf_error *e)
{
    PASS_RELAYS(sink, sched);
    return sink->ops->sched != NULL ? sink->ops->sched(sink->self, event, e) : MKPERF_OK;
}

enum mkperf_status mkperf_sink_lost(const struct mkperf_sink *sink, const struct mkperf_lost *lost,
                                    struct mkperf_error *e)
{
    PASS_RELAYS(sink, lost);
    return sink->ops->lost != NULL ? sink->ops->lost(sink->self, lost, e) : MKPERF_OK;
}

enum mkperf_status mkperf_sink_flush(const struct mkperf_sink *sink, struct mkperf_error *e)
{
    PASS_RELAYS(sink, flush);
    return sink->ops->flush != NULL ? sink->ops->flush(sink->self, e) : MKPERF_OK;
}

enum mkperf_status mkperf_sink_end(const struct mkperf_sink *sink,
                                   const struct mkperf_totals *totals, struct mkperf_error *e)
{
    PASS_RELAYS(sink, end);
    return sink->ops->end != NULL ? sink->ops->end(sink->self, totals, e) : MKPERF_OK;
}

void mkperf_sink_abandon(const struct mkperf_sink *sink)
{
    PASS_RELAYS(sink, abandon);
    if (sink->ops->abandon != NULL) {
        sink->ops->abandon(sink->self);
    }
}

enum mkperf_status mkperf_sink_finish(const struct mkperf_sink *sink, enum mkperf_status status,
                                      const struct mkperf_totals *totals, struct mkperf_error *e)
{
    if (status == MKPERF_OK) {
        status = mkperf_sink_end(sink, totals, e);
    }
    if (status != MKPERF_OK) {
        mkperf_sink_abandon(sink);
    }
    return status;
}
