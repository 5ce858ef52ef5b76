/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the stream itself and the dispatch of its messages, see wire_stream.h. Marks, gaps and software
 * events are decoded here; all other messages are decoded by the file of their name. */
#include "wire_stream.h"

#include "wire_internal.h"

enum { PAUSE_NS = 1000000 };

struct mkperf_stream *mkperf_stream_new(const struct mkperf_stream_config *config)
{
    struct mkperf_stream *s = mkperf_xcalloc(1, sizeof *s);

    s->config = *config;
    s->chains.generation = s->sched.generation = 1;
    s->totals.first_ns = UINT64_MAX;
    s->totals.complete = true;
    s->clock.pause_ns = PAUSE_NS;
    s->config.sink = mkperf_sink_in_order(config->sink, &s->sink_order);
    s->order.to = s->config.sink;
    s->order.off_cpu = (struct mkperf_off_cpu){
        .to = s->config.sink, .event = MKPERF_MODEL_EVENTS, .totals = &s->totals};
    memset(s->event_of, -1, sizeof s->event_of);
    return s;
}

void mkperf_stream_free(struct mkperf_stream *s)
{
    if (s != NULL) {
        mkperf_merge_free(s->order.merge);
        mkperf_off_cpu_free(&s->order.off_cpu);
        free(s->interactions);
        free(s->counts);
        free(s->names.table);
        for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
            free(s->sched.core[i]);
        }
    }
    free(s);
}

static enum mkperf_status on_mark(struct mkperf_stream *s, const mkperf_Mark *m,
                                  struct mkperf_error *e)
{
    const struct mkperf_sink *sink = &s->config.sink;

    if (!s->began || s->waiting || !stream_tick_hz_ok(m->tick_hz)) {
        return MKPERF_OK; /* the mark is outside this host's session */
    }
    /* The PD that set the mark is known by its identity. A mark without one has the name of its PD. */
    const struct mkperf_pd *named =
        m->thread == 0 ? mkperf_pds_named(s->config.pds, m->pd, strlen(m->pd)) : NULL;
    struct mkperf_mark mark = {
        .time_ns = stream_time(s, m->time_ticks, m->tick_hz),
        .pd = named != NULL ? named->id : mkperf_pds_find(s->config.pds, m->thread - 2),
        .kind = m->kind <= mkperf_MarkKind_MARK_END ? (enum mkperf_mark_kind)m->kind
                                                    : MKPERF_MARK_POINT,
        .id = m->id,
        .name = m->name,
    };
    s->totals.marks++;
    snprintf(s->last_mark, sizeof s->last_mark, "%s", m->name);
    MKPERF_TRY(stream_announce(s, e));
    return mkperf_sink_mark(sink, &mark, e);
}

static enum mkperf_status on_gap(struct mkperf_stream *s, const mkperf_Gap *m,
                                 struct mkperf_error *e)
{
    struct mkperf_lost lost = {
        .samples = m->samples, .where = MKPERF_LOST_LINK, .core = stream_lost_core(s)};

    if (!s->has_session || m->session != s->session_id) {
        return MKPERF_OK;
    }
    if (m->reason == mkperf_GapReason_GAP_SLOW) {
        if (s->numbered && m->first_sample == s->next_sample) {
            s->next_sample += m->samples;
            s->passed_over += m->samples;
            return stream_lost(s, &lost, e);
        }
    } else if (!s->numbered) {
        s->numbered = true;
        s->skipped = s->next_sample = m->first_sample + m->samples;
        s->from_start = s->skipped == 0;
    }
    return MKPERF_OK; /* any other gap is found by the number of the next batch */
}

static void name_of(struct mkperf_stream *s, uint64_t thread, char name[MKPERF_INTERACTION_NAME])
{
    uint32_t pd = mkperf_pds_find(s->config.pds, thread - 2);

    snprintf(name, MKPERF_INTERACTION_NAME, "%s", s->config.pds->pd[pd].name);
}

static void on_interactions(struct mkperf_stream *s, const mkperf_Interactions *m)
{
    if (m->part == 0) { /* it begins a new snapshot */
        free(s->interactions);
        s->interactions = mkperf_xcalloc(1, sizeof *s->interactions);
        s->totals.interactions = s->interactions;
        s->interaction_parts = 0;
        for (unsigned k = 0; k < m->total_count && k < MKPERF_SOFT_KINDS; k++) {
            s->interactions->total[k] = m->total[k];
        }
        s->interactions->records_dropped = m->records_dropped;
        if (stream_tick_hz_ok(m->tick_hz)) {
            s->interactions->ns = stream_ns(m->enabled_ticks, m->tick_hz);
        }
    }
    /* A part that was requested twice is added once. */
    if (s->interactions != NULL && m->part == s->interaction_parts) {
        for (unsigned i = 0; i < m->edges_count; i++) {
            struct mkperf_interaction edge = {.calls = m->edges[i].calls,
                                              .notifications = m->edges[i].notifications};
            name_of(s, m->edges[i].from, edge.from);
            name_of(s, m->edges[i].to, edge.to);
            mkperf_interactions_add(s->interactions, &edge);
        }
        for (unsigned i = 0; i < m->threads_count; i++) {
            const mkperf_ThreadEvents *t = &m->threads[i];
            struct mkperf_soft_counts pd = {
                .stack = {t->stack_least, t->stack_bottom, t->stack_top, t->stack_lowest}};
            for (unsigned k = 0; k < t->count_count && k < MKPERF_SOFT_KINDS; k++) {
                pd.count[k] = t->count[k];
            }
            name_of(s, t->thread, pd.pd);
            mkperf_interactions_add_pd(s->interactions, &pd);
        }
        s->interaction_parts++;
    }
}

/* Takes the counts in addition to the session's samples, in user mode. */
static void on_counts(struct mkperf_stream *s, const mkperf_Counts *m)
{
    struct mkperf_pds *pds = s->config.pds;

    if (!s->session.counts || !s->has_session || m->session != s->session_id || m->running) {
        return;
    }
    if (m->part == 0) {
        free(s->counts);
        s->totals.counts = s->counts = mkperf_xcalloc(1, sizeof *s->counts);
        s->count_parts = 0;
    }
    if (s->counts == NULL || m->part != s->count_parts) {
        return; /* a part that was requested twice is added once */
    }
    s->count_parts++;
    for (unsigned i = 0; i < m->threads_count; i++) {
        const mkperf_ThreadCount *t = &m->threads[i];
        uint32_t pd = mkperf_pds_find(pds, t->thread - 2);
        for (unsigned k = 0; k < t->user_count && k < MKPERF_MAX_EVENTS; k++) {
            struct mkperf_pd_count count = {.own = mkperf_module_is_profiler(pds->module[pd]),
                                            .event = s->number_of[k],
                                            .user = t->user[k]};
            snprintf(count.pd, sizeof count.pd, "%s", pds->pd[pd].name);
            mkperf_pd_counts_add(s->counts, &count);
        }
    }
}

static void on_status(struct mkperf_stream *s, const mkperf_Status *m)
{
    if (!s->has_marks_lost) { /* the target counts them since boot */
        s->has_marks_lost = true;
        s->marks_lost = m->marks_lost;
    }
    if (s->has_session && m->session == s->session_id) {
        s->status = *m;
        s->has_status = true;
        struct mkperf_core now;
        for (unsigned i = 0, core; s->order.merge != NULL && mkperf_stream_core(s, i, &core, &now);
             i++) {
            if (core < MKPERF_MAX_CORES) {
                s->totals.core[core].state = now.state;
            }
        }
        s->totals.marks_lost = m->marks_lost - s->marks_lost;
        if (s->began && s->totals.samples != 0) {
            mkperf_fill_add(&s->totals.fill, s->totals.last_ns, m->ring_peak, m->ring_bytes);
        }
    }
}

static enum mkperf_status on_control(struct mkperf_stream *s, struct mkperf_error *e)
{
    const mkperf_ToHost *m = &s->message;
    enum mkperf_status status = MKPERF_OK;
    pb_size_t which = m->which_msg;
    bool drop = false;

    if (which == mkperf_ToHost_hello_tag) {
        status = stream_hello(s, &m->msg.hello, e);
    } else if (which == mkperf_ToHost_stamp_tag) {
        status = stream_stamp(s, &m->msg.stamp, e);
    } else if (which == mkperf_ToHost_session_tag) {
        status = stream_session(s, &m->msg.session, m->request != 0, e);
    } else if (which == mkperf_ToHost_status_tag) {
        on_status(s, &m->msg.status);
    } else if (which == mkperf_ToHost_mark_tag || which == mkperf_ToHost_gap_tag ||
               which == mkperf_ToHost_interactions_tag || which == mkperf_ToHost_counts_tag ||
               which == mkperf_ToHost_sched_tag) { /* these have identities, which need names */
        status = stream_need_names(s, &drop, e);
        which = status == MKPERF_OK && !drop ? which : 0;
        if (which == mkperf_ToHost_mark_tag) {
            status = on_mark(s, &m->msg.mark, e);
        } else if (which == mkperf_ToHost_gap_tag) {
            status = on_gap(s, &m->msg.gap, e);
        } else if (which == mkperf_ToHost_sched_tag) {
            status = stream_sched(s, &m->msg.sched, e);
        } else if (which == mkperf_ToHost_counts_tag) {
            on_counts(s, &m->msg.counts);
        } else if (which == mkperf_ToHost_interactions_tag) {
            on_interactions(s, &m->msg.interactions);
        }
    }
    s->control = status == MKPERF_OK ? m : NULL;
    return status;
}

void mkperf_stream_damaged(struct mkperf_stream *s)
{
    /* A session that has only scheduling events has no epochs of chains, which would end the damage. */
    s->damaged = !s->sched.running || s->session.nevents != 0;
    stream_void_chains(s);
    s->sched.generation++; /* a missing message may have defined codes */
    s->sched.damaged = s->sched.running;
}

enum mkperf_status mkperf_stream_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                         struct mkperf_error *e)
{
    struct mkperf_stream *s = self;
    size_t length;
    const uint8_t *batch = mkperf_batch_find(p, n, &length);

    s->control = NULL;
    if (gap != 0) {
        s->gaps += gap <= MKPERF_WIRE_MAX_GAP ? gap : 0;
        mkperf_stream_damaged(s);
    }
    if (batch != NULL && mkperf_batch_decode(&s->batch, batch, length)) {
        return stream_batch(s, e);
    }
    if (batch == NULL && mkperf_wire_decode(p, n, &s->message)) {
        return on_control(s, e);
    }
    s->malformed++;
    mkperf_stream_damaged(s);
    return MKPERF_OK;
}
