/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the calls to a sink (model.h). They pass relays, make texts printable, and give the counts of a group as samples to
 * sinks without reads. Also owns the names of scheduling events.
 */
#include "model.h"

enum { TEXT = 1024 }; /* an unprintable text is cut at this length */

const char *mkperf_exit_name(uint32_t exit, char text[static 64])
{
    static const char *const names[] = {
        [MKPERF_EXIT_WFX] = "WFI or WFE",
        [MKPERF_EXIT_HVC32] = "HVC",
        [MKPERF_EXIT_SMC32] = "SMC",
        [MKPERF_EXIT_HVC] = "HVC",
        [MKPERF_EXIT_SMC] = "SMC",
        [MKPERF_EXIT_REGISTER] = "system register",
        [MKPERF_EXIT_GIC] = "interrupt maintenance",
        [MKPERF_EXIT_TIMER] = "virtual timer",
        [MKPERF_EXIT_OTHER] = "other",
    };
    unsigned fault = exit & 0xff;

    if (fault == MKPERF_EXIT_ACCESS || fault == MKPERF_EXIT_FETCH) {
        snprintf(text, 64, "%s page 0x%x%s",
                 fault == MKPERF_EXIT_ACCESS ? "access to" : "fetch from", exit >> 8,
                 exit >> 8 == MKPERF_EXIT_PAGES - 1 ? " or above" : "");
    } else if (fault < sizeof names / sizeof *names && names[fault] != NULL) {
        snprintf(text, 64, "%s", names[fault]);
    } else {
        snprintf(text, 64, "exception class 0x%02x", fault - MKPERF_EXIT);
    }
    return text;
}

const char *const mkperf_sched_kind_names[MKPERF_SCHED_KINDS] = {
    [MKPERF_SCHED_SWITCH] = "switch", [MKPERF_SCHED_CALL] = "call",
    [MKPERF_SCHED_REPLY] = "reply",   [MKPERF_SCHED_NOTIFY] = "notify",
    [MKPERF_SCHED_IRQ] = "irq",       [MKPERF_SCHED_FAULT] = "fault",
    [MKPERF_SCHED_LOCK] = "lock",     [MKPERF_SCHED_LOCK_WAIT] = "lock-wait",
    [MKPERF_SCHED_WAKE] = "wake",     [MKPERF_SCHED_RECEIVE] = "receive",
    [MKPERF_SCHED_WINDOW] = "window", [MKPERF_SCHED_GAP] = "gap",
};

const char *const mkperf_sched_reason_names[MKPERF_STOPPED_REASONS] = {
    [MKPERF_STOPPED_UNKNOWN] = "unknown",
    [MKPERF_STOPPED_CALLED] = "called",
    [MKPERF_STOPPED_REPLIED] = "replied",
    [MKPERF_STOPPED_WAIT_MESSAGE] = "waits-message",
    [MKPERF_STOPPED_WAIT_NOTIFICATION] = "waits-notification",
    [MKPERF_STOPPED_PREEMPTED] = "preempted",
    [MKPERF_STOPPED_BUDGET] = "budget",
    [MKPERF_STOPPED_FAULTED] = "faulted",
    [MKPERF_STOPPED_SUSPENDED] = "suspended",
    [MKPERF_STOPPED_IDLE] = "idle",
    [MKPERF_STOPPED_QUEUED] = "queued",
};

/* Moves on to the sink that gets the calls of a function: relays without it pass them on. */
#define PASS_RELAYS(sink, function)                                    \
    while ((sink)->ops->function == NULL && (sink)->ops->relays) {     \
        (sink) = (sink)->self; /* its first member is the next sink */ \
    }

/* Returns whether a decoder may make this call now, for a PD (MKPERF_SCHED_NOBODY: for none). */
static inline bool is_in_order(const struct mkperf_sink *sink, uint32_t pd)
{
    const struct mkperf_order *o = sink->order;

    return o == NULL || (o->began && !o->ended && !o->abandoned &&
                         (pd == MKPERF_SCHED_NOBODY ||
                          (pd < MKPERF_MODEL_PDS && (o->pds[pd / 64] >> pd % 64 & 1) != 0)));
}

static inline bool are_callers_known(const struct mkperf_sink *sink,
                                     const struct mkperf_chain *callers)
{
    for (unsigned i = 0; i < callers->n; i++) {
        if (!is_in_order(sink, callers->caller[i].pd)) {
            return false;
        }
    }
    return true;
}

enum mkperf_status mkperf_no_samples(struct mkperf_error *e)
{
    return mkperf_error_set(
        e, MKPERF_ERR_INPUT,
        "a recording of only scheduling events has no samples: mkperf latency and "
        "mkperf report --util show what is in it, and mkperf diff --latency compares two of them");
}

enum mkperf_status mkperf_ignore_events(void *self, const struct mkperf_session *session,
                                        struct mkperf_error *e)
{
    (void)self, (void)session, (void)e;
    return MKPERF_OK;
}

enum mkperf_status mkperf_ignore_sched(void *self, const struct mkperf_sched *event,
                                       struct mkperf_error *e)
{
    (void)self, (void)event, (void)e;
    return MKPERF_OK;
}

const struct mkperf_shape_row mkperf_pd_rows[] = {
    MKPERF_SHAPE_TEXT(struct mkperf_pd, name), MKPERF_SHAPE_TEXT(struct mkperf_pd, elf),
    MKPERF_SHAPE_TEXT(struct mkperf_pd, parent), MKPERF_SHAPE_TEXT(struct mkperf_pd, unnamed),
    MKPERF_SHAPE_END};

static const struct mkperf_shape_row queue_rows[] = {
    MKPERF_SHAPE_TEXT(struct mkperf_queue, name), MKPERF_SHAPE_TEXT(struct mkperf_queue, kind),
    MKPERF_SHAPE_TEXT(struct mkperf_queue, producer),
    MKPERF_SHAPE_TEXT(struct mkperf_queue, consumer), MKPERF_SHAPE_END};

const struct mkperf_shape_row mkperf_session_rows[] = {
    MKPERF_SHAPE_TEXT(struct mkperf_session, platform),
    MKPERF_SHAPE_TEXT(struct mkperf_session, cpu),
    MKPERF_SHAPE_TEXT(struct mkperf_session, kernel_elf),
    MKPERF_SHAPE_TEXT(struct mkperf_session, kernel_unnamed),
    MKPERF_SHAPE_TEXT(struct mkperf_session, image),
    MKPERF_SHAPE_TEXT(struct mkperf_session, unverified),
    MKPERF_SHAPE_TEXT(struct mkperf_session, pd_names),
    MKPERF_SHAPE_TEXT(struct mkperf_session, windows),
    MKPERF_SHAPE_TEXT(struct mkperf_session, command),
    MKPERF_SHAPE_ARRAY(struct mkperf_session, queue, nqueues, nqueues, queue_rows),
    MKPERF_SHAPE_END};

void mkperf_session_keep(struct mkperf_session *to, const struct mkperf_session *from)
{
    *to = *from;
    mkperf_shape_own(mkperf_session_rows, to);
}

void mkperf_session_free(struct mkperf_session *s)
{
    mkperf_shape_free(mkperf_session_rows, s);
}

/* Makes a text of a copy printable. */
static void make_printable(const char *text)
{
    if (text != NULL) {
        mkperf_printable((char *)(uintptr_t)text);
    }
}

enum mkperf_status mkperf_sink_begin(const struct mkperf_sink *sink,
                                     const struct mkperf_session *session, struct mkperf_error *e)
{
    struct mkperf_session s = *session;

    assert(s.nevents <= MKPERF_MODEL_EVENTS);
    if (sink->order != NULL) {
        assert(!sink->order->began && !sink->order->abandoned);
        sink->order->began = true;
        sink->order->nevents = s.nevents;
    }
    e->status = MKPERF_OK;
    const struct mkperf_sink *last = sink;
    PASS_RELAYS(last, sched);
    if (s.nevents == 0 && last->ops->sched == NULL) {
        return mkperf_no_samples(e);
    }
    PASS_RELAYS(sink, begin);
    if (sink->ops->begin == NULL) {
        return MKPERF_OK;
    }
    mkperf_session_keep(&s, session); /* all texts except the path of an ELF become printable */
    const char *const texts[] = {s.platform,       s.cpu,    s.command, s.image, s.unverified,
                                 s.kernel_unnamed, s.windows};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        make_printable(texts[i]);
    }
    if (s.pd_names != NULL) {
        mkperf_printable_lines((char *)(uintptr_t)s.pd_names);
    }
    for (unsigned i = 0; i < s.nqueues; i++) {
        make_printable(s.queue[i].name);
        make_printable(s.queue[i].kind);
        make_printable(s.queue[i].producer);
        make_printable(s.queue[i].consumer);
    }
    for (unsigned i = 0; i < s.nevents; i++) {
        mkperf_printable(s.event[i].name);
    }
    enum mkperf_status status = sink->ops->begin(sink->self, &s, e);
    mkperf_session_free(&s);
    return status;
}

enum mkperf_status mkperf_sink_events(const struct mkperf_sink *sink,
                                      const struct mkperf_session *session, struct mkperf_error *e)
{
    struct mkperf_session s = *session;

    assert(s.nevents <= MKPERF_MODEL_EVENTS && is_in_order(sink, MKPERF_SCHED_NOBODY));
    if (sink->order != NULL) {
        assert(s.nevents >= sink->order->nevents);
        sink->order->nevents = s.nevents;
    }
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

    assert(p.name != NULL && p.id != UINT32_MAX && is_in_order(sink, MKPERF_SCHED_NOBODY));
    if (sink->order != NULL) {
        assert(p.id < MKPERF_MODEL_PDS && !is_in_order(sink, p.id)); /* it has no PD yet */
        sink->order->pds[p.id / 64] |= UINT64_C(1) << p.id % 64;
    }
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

    assert(m.name != NULL && is_in_order(sink, m.pd));
    PASS_RELAYS(sink, mark);
    if (sink->ops->mark == NULL) {
        return MKPERF_OK;
    }
    m.name = mkperf_printable_copy(m.name, name, sizeof name);
    return sink->ops->mark(sink->self, &m, e);
}

enum mkperf_status mkperf_sink_sample(const struct mkperf_sink *sink,
                                      const struct mkperf_sample *sample, struct mkperf_error *e)
{
    assert(sample->callers != NULL && sample->callers->n <= MKPERF_MAX_FRAMES + 1);
    assert(sample->event < MKPERF_MODEL_EVENTS && sample->core < MKPERF_MODEL_CORES);
    assert(sample->nreads == 0 || sample->reads != NULL);
    assert(is_in_order(sink, sample->pd) && are_callers_known(sink, sample->callers));
    assert(sink->order == NULL || sample->event < sink->order->nevents);
    PASS_RELAYS(sink, sample);
    if (sink->ops->sample == NULL) {
        return MKPERF_OK;
    }
    enum mkperf_status status = sink->ops->sample(sink->self, sample, e);
    for (unsigned i = 0; status == MKPERF_OK && !sink->ops->reads && i < sample->nreads; i++) {
        struct mkperf_sample one = *sample; /* the counts become samples of their own */
        one.event = sample->reads[i].event;
        one.period = sample->reads[i].count;
        one.nreads = 0;
        one.reads = NULL;
        if (one.period != 0) {
            status = sink->ops->sample(sink->self, &one, e);
        }
    }
    return status;
}

enum mkperf_status mkperf_sink_sched(const struct mkperf_sink *sink,
                                     const struct mkperf_sched *event, struct mkperf_error *e)
{
    assert(event->kind < MKPERF_SCHED_KINDS && event->reason < MKPERF_STOPPED_REASONS);
    assert(is_in_order(sink, event->from) && is_in_order(sink, event->to));
    PASS_RELAYS(sink, sched);
    return sink->ops->sched != NULL ? sink->ops->sched(sink->self, event, e) : MKPERF_OK;
}

enum mkperf_status mkperf_sink_queue_reading(const struct mkperf_sink *sink,
                                             const struct mkperf_queue_reading *reading,
                                             struct mkperf_error *e)
{
    assert(is_in_order(sink, MKPERF_SCHED_NOBODY));
    PASS_RELAYS(sink, queue_reading);
    return sink->ops->queue_reading != NULL ? sink->ops->queue_reading(sink->self, reading, e)
                                            : MKPERF_OK;
}

enum mkperf_status mkperf_sink_lost(const struct mkperf_sink *sink, const struct mkperf_lost *lost,
                                    struct mkperf_error *e)
{
    assert(lost->where < MKPERF_LOST_PLACES && is_in_order(sink, MKPERF_SCHED_NOBODY));
    PASS_RELAYS(sink, lost);
    return sink->ops->lost != NULL ? sink->ops->lost(sink->self, lost, e) : MKPERF_OK;
}

enum mkperf_status mkperf_sink_flush(const struct mkperf_sink *sink, struct mkperf_error *e)
{
    assert(is_in_order(sink, MKPERF_SCHED_NOBODY));
    PASS_RELAYS(sink, flush);
    return sink->ops->flush != NULL ? sink->ops->flush(sink->self, e) : MKPERF_OK;
}

enum mkperf_status mkperf_sink_end(const struct mkperf_sink *sink,
                                   const struct mkperf_totals *totals, struct mkperf_error *e)
{
    assert(is_in_order(sink, MKPERF_SCHED_NOBODY));
    if (sink->order != NULL) {
        sink->order->ended = true;
    }
    PASS_RELAYS(sink, end);
    return sink->ops->end != NULL ? sink->ops->end(sink->self, totals, e) : MKPERF_OK;
}

void mkperf_sink_abandon(const struct mkperf_sink *sink)
{
    if (sink->order != NULL) {
        assert(!sink->order->abandoned);
        sink->order->abandoned = true;
    }
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
