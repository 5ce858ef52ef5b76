/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: how an item reaches a sink (model.h): with printable texts, and with the counts of a group as samples of their own
 * if the sink wants them so. Also owns the names of scheduling events.
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

enum mkperf_status mkperf_no_samples(struct mkperf_error *e)
{
    return mkperf_error_set(
        e, MKPERF_ERR_INPUT,
        "a recording of only scheduling events has no samples: mkperf latency and "
        "mkperf report --util show what is in it, and mkperf diff --latency compares two of them");
}

enum mkperf_status mkperf_take_nothing(void *self, const struct mkperf_item *item,
                                       struct mkperf_error *e)
{
    (void)self, (void)item, (void)e;
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

/* Returns whether the PD of an item was announced. */
static inline bool is_announced(const struct mkperf_order *o, uint32_t pd)
{
    return pd < MKPERF_MODEL_PDS && (o->pds[pd / 64] >> pd % 64 & 1) != 0;
}

/* Asserts that a decoder may pass an item now, and that the item is as the invariants say. */
static void check_order(struct mkperf_order *o, const struct mkperf_item *item)
{
    assert(item->kind == MKPERF_ITEM_ABANDON ? !o->abandoned
           : item->kind == MKPERF_ITEM_BEGIN ? !o->began && !o->abandoned
                                             : o->began && !o->ended && !o->abandoned);
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
    case MKPERF_ITEM_EVENTS:
        assert(item->session->nevents >= o->nevents);
        assert(item->session->nevents <= MKPERF_MODEL_EVENTS);
        o->began = true;
        o->nevents = item->session->nevents;
        break;
    case MKPERF_ITEM_PD:
        assert(item->pd->name != NULL && item->pd->id < MKPERF_MODEL_PDS);
        assert(!is_announced(o, item->pd->id));
        o->pds[item->pd->id / 64] |= UINT64_C(1) << item->pd->id % 64;
        break;
    case MKPERF_ITEM_SAMPLE:
        assert(item->sample->callers->n <= MKPERF_MAX_FRAMES + 1);
        assert(item->sample->event < o->nevents && item->sample->core < MKPERF_MODEL_CORES);
        assert(item->sample->nreads == 0 || item->sample->reads != NULL);
        assert(is_announced(o, item->sample->pd));
        for (unsigned i = 0; i < item->sample->callers->n; i++) {
            assert(is_announced(o, item->sample->callers->caller[i].pd));
        }
        break;
    case MKPERF_ITEM_MARK:
        assert(item->mark->name != NULL && is_announced(o, item->mark->pd));
        break;
    case MKPERF_ITEM_SCHED:
        assert(item->sched->kind < MKPERF_SCHED_KINDS);
        assert(item->sched->reason < MKPERF_STOPPED_REASONS);
        assert(item->sched->from == MKPERF_SCHED_NOBODY || is_announced(o, item->sched->from));
        assert(item->sched->to == MKPERF_SCHED_NOBODY || is_announced(o, item->sched->to));
        break;
    case MKPERF_ITEM_LOST:
        assert(item->lost->where < MKPERF_LOST_PLACES);
        break;
    case MKPERF_ITEM_END:
        o->ended = true;
        break;
    case MKPERF_ITEM_ABANDON:
        o->abandoned = true;
        break;
    default:
        break;
    }
}

/* Passes on a copy of a session with printable texts. The path of an ELF stays as it is. */
static enum mkperf_status put_session(const struct mkperf_sink *sink,
                                      const struct mkperf_item *item, struct mkperf_error *e)
{
    struct mkperf_session s;

    mkperf_session_keep(&s, item->session);
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
    const struct mkperf_item copy = {.kind = item->kind, .session = &s};
    e->status = MKPERF_OK;
    enum mkperf_status status = sink->take(sink->self, &copy, e);
    mkperf_session_free(&s);
    return status;
}

enum mkperf_status mkperf_sink_prepare(const struct mkperf_sink *sink,
                                       const struct mkperf_item *item, struct mkperf_error *e)
{
    if (sink->order != NULL) {
        struct mkperf_sink behind = *sink;

        check_order(sink->order, item);
        behind.order = NULL;
        return mkperf_sink_put(&behind, item, e);
    }
    if (item->kind == MKPERF_ITEM_BEGIN || item->kind == MKPERF_ITEM_EVENTS) {
        return put_session(sink, item, e);
    }
    char name[TEXT], parent[TEXT], unnamed[TEXT];
    if (item->kind == MKPERF_ITEM_PD) {
        struct mkperf_pd pd = *item->pd;

        pd.name = mkperf_printable_copy(pd.name, name, sizeof name);
        pd.unnamed = mkperf_printable_copy(pd.unnamed, unnamed, sizeof unnamed);
        pd.parent = mkperf_printable_copy(pd.parent, parent, sizeof parent);
        return sink->take(sink->self, MKPERF_ITEM(PD, pd, &pd), e);
    }
    if (item->kind == MKPERF_ITEM_MARK) {
        struct mkperf_mark mark = *item->mark;

        mark.name = mkperf_printable_copy(mark.name, name, sizeof name);
        return sink->take(sink->self, MKPERF_ITEM(MARK, mark, &mark), e);
    }
    enum mkperf_status status = sink->take(sink->self, item, e);
    unsigned nreads = sink->splits && item->kind == MKPERF_ITEM_SAMPLE ? item->sample->nreads : 0;
    for (unsigned i = 0; status == MKPERF_OK && i < nreads; i++) {
        struct mkperf_sample one = *item->sample;

        one.event = item->sample->reads[i].event;
        one.period = item->sample->reads[i].count;
        one.nreads = 0;
        one.reads = NULL;
        if (one.period != 0) {
            status = sink->take(sink->self, MKPERF_ITEM(SAMPLE, sample, &one), e);
        }
    }
    return status;
}

void mkperf_sink_abandon(const struct mkperf_sink *sink)
{
    struct mkperf_error e;

    (void)mkperf_sink_put(sink, MKPERF_ITEM(ABANDON, session, NULL), &e);
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
