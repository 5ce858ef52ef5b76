/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the target's sessions, its restarts, and the names of its PDs.
 *
 * A stream can have several sessions with other events, also after a restart of the target. Events
 * are numbered over all sessions, and time continues. Names come from the image's list of programs.
 * A Session that arrives before the list is held until names are settled, so that no PD has two names
 * in one profile.
 */
#include "wire_internal.h"

/* Returns the number of an event in the stream's list, to which it is added if necessary, or -1 if the list is full. A later
 * session that counts the same as an earlier one has its event. */
static int event_number(struct mkperf_session *all, const struct mkperf_event *event)
{
    for (unsigned i = 0; i < all->nevents; i++) {
        const struct mkperf_event *a = &all->event[i], *b = event;
        if (strcmp(a->name, b->name) == 0 && a->code == b->code && a->user == b->user &&
            a->kernel == b->kernel && a->guest == b->guest && a->host == b->host &&
            a->period == b->period && a->frequency == b->frequency && a->group == b->group &&
            a->read == b->read && a->all_cores == b->all_cores) {
            return (int)i;
        }
    }
    if (all->nevents == MKPERF_MODEL_EVENTS) {
        return -1;
    }
    all->event[all->nevents] = *event;
    return (int)all->nevents++;
}

void mkperf_wire_event(const mkperf_SessionEvent *from, struct mkperf_event *to)
{
    memset(to, 0, sizeof *to);
    if (from->name[0] != '\0') {
        snprintf(to->name, sizeof to->name, "%s", from->name);
    } else {
        snprintf(to->name, sizeof to->name, "r%" PRIx32, from->code);
    }
    to->code = from->code;
    to->user = from->user_counter != 0;
    to->kernel = from->kernel_counter != 0;
    if (from->only != 0) { /* the counters of such an event do not show its modes */
        to->user = (from->only & 3) != 2;
        to->kernel = (from->only & 3) != 1;
        to->guest = from->only & 4;
        to->host = !to->guest && from->only & 8;
    }
    to->period = from->period;
    to->frequency = from->frequency;
    to->group = from->group;
    to->read = from->read;
    to->all_cores = from->all_cores;
    if (strcmp(to->name, MKPERF_OFF_CPU_EVENT) == 0) { /* it has no counter and no mode */
        to->kernel = to->user = true;
    }
}

/* Adds a session's events to the stream's list, and maps its counters to them. */
static enum mkperf_status adopt_events(struct mkperf_stream *s, const mkperf_Session *m,
                                       struct mkperf_error *e)
{
    const struct mkperf_sink *sink = &s->config.sink;
    struct mkperf_session before = s->session;

    if (!s->began) { /* these are of this session, and not of one that did not run */
        s->session.selected = s->session.counts = s->session.turns = s->session.inferred = false;
        s->session.nevents = 0;
        s->session.sched = m->sched;
        s->session.aggregate_ms = m->aggregate_ms;
    }
    s->session.max_frames = m->max_frames;
    s->session.jitter = !m->no_jitter;
    s->session.selected |= m->selected;
    s->session.counts |= m->counts;
    s->session.turns |= m->turns;
    s->session.inferred |= m->inferred;
    s->session.core_mask = m->cores & ((1U << MKPERF_MAX_CORES) - 1);
    bool windows = m->aggregate_ms != 0 && s->session.aggregate_ms == 0;
    MKPERF_FAIL_IF(windows, e, MKPERF_ERR_INPUT,
                   "another session (%" PRIu32 ") counts samples in windows, but the recording "
                   "began without windows",
                   m->id);
    MKPERF_FAIL_IF(m->sched && !s->session.sched, e, MKPERF_ERR_INPUT,
                   "another session (%" PRIu32 ") with scheduling events begins here, but the "
                   "recording began without them",
                   m->id);
    s->sched.running = m->sched || m->words != 0;
    /* Words hold the indices of the queues that the image lists. The meaning of others, another program's, is not known. */
    const struct mkperf_image *image = s->config.pds->image;
    uint64_t word[MKPERF_MAX_WORDS];
    bool of_queues = m->words != 0 && image != NULL &&
                     mkperf_image_words(image, word, s->sched.place) == m->words;
    s->sched.words = of_queues ? m->words : 0;
    memset(s->event_of, -1, sizeof s->event_of);
    for (unsigned i = 0; i < m->events_count; i++) {
        struct mkperf_event event;
        mkperf_wire_event(&m->events[i], &event);
        int number = event_number(&s->session, &event);
        if (number < 0) {
            s->session = before;
            memset(s->event_of, -1, sizeof s->event_of);
            return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                    "another session (%" PRIu32 ") begins here: the recording "
                                    "would have more than %d events",
                                    m->id, MKPERF_MODEL_EVENTS);
        }
        const uint32_t counter[] = {m->events[i].user_counter, m->events[i].kernel_counter};
        for (unsigned k = 0; k < 2; k++) {
            if (counter[k] - 1 < MKPERF_MAX_COUNTERS) {
                s->event_of[counter[k] - 1] = (int8_t)number;
            }
        }
        s->number_of[i] = (uint8_t)number;
    }
    s->order.off_cpu.event = mkperf_off_cpu_event(&s->session);
    return s->began && s->session.nevents > before.nevents
               ? mkperf_sink_events(sink, &s->session, e)
               : MKPERF_OK;
}

unsigned mkperf_stream_sampled_event(const struct mkperf_stream *s, unsigned event)
{
    unsigned first = UINT_MAX;

    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS && first != event; i++) {
        unsigned number = (unsigned)s->event_of[i]; /* UINT_MAX: no event */
        first = number < first || number == event ? number : first;
    }
    return first;
}

/* Adds the counters of a session that only its Status has. */
static void add_status(struct mkperf_totals *totals, const mkperf_Status *t)
{
    totals->late_events += t->late_events;
    totals->spurious += t->spurious;
    totals->disturbed += t->disturbed;
    totals->guest_accesses += t->guest_accesses;
    totals->storms += t->storm;
    totals->snapshots_us += t->has_attribution ? t->attribution.spent_us : 0;
    totals->unread += t->has_attribution ? t->attribution.unread : 0;
}

void mkperf_stream_totals(const struct mkperf_stream *s, struct mkperf_totals *t)
{
    *t = s->totals;
    if (s->has_status && !s->closed) {
        add_status(t, &s->status);
    }
}

/*
 * Adds the current session to the totals. over: no more of it will arrive, even if it was running in
 * the last Status.
 */
static enum mkperf_status close_session(struct mkperf_stream *s, bool over, struct mkperf_error *e)
{
    const mkperf_Status *t = &s->status;

    MKPERF_TRY(s->order.merge != NULL ? mkperf_merge_release(s->order.merge, true, e) : MKPERF_OK);
    mkperf_off_cpu_close(&s->order.off_cpu);
    if (!s->has_session || (!s->has_status && !s->numbered)) {
        return MKPERF_OK; /* nothing was sampled */
    }
    if (!s->has_status) {
        stream_sched_close(s);
        s->totals.complete = false;
        return MKPERF_OK;
    }
    MKPERF_TRY(s->from_start ? stream_cores_close(s, e) : MKPERF_OK);
    /* Reports the losses in the last Status that no received Loss record reported. */
    const uint64_t total[MKPERF_LOSS_PLACES] = {t->lost_ring, t->lost_output, t->lost_link};
    uint64_t got = s->next_sample - s->passed_over;
    struct mkperf_lost lost = {.core = stream_lost_core(s)};
    for (unsigned i = 0; i < MKPERF_LOSS_PLACES && s->from_start; i++) {
        lost.where = (enum mkperf_lost_where)i;
        lost.samples = total[i] > s->seen[i] ? total[i] - s->seen[i] : 0;
        MKPERF_TRY(stream_lost(s, &lost, e));
    }
    /* If no message of the session is in transit, what is missing is lost. */
    bool ended = over || !t->running;
    lost.where = MKPERF_LOST_TRANSIT;
    lost.samples = ended && s->numbered && t->sent > got ? t->sent - got : 0;
    s->next_sample += lost.samples;
    MKPERF_TRY(stream_lost(s, &lost, e));
    s->booked = s->closed = true;
    stream_sched_close(s);
    add_status(&s->totals, t);
    /* Adds how long each multiplexed event was enabled, and how long it was counted. */
    for (unsigned i = 0; i < t->running_ticks_count && stream_tick_hz_ok(t->tick_hz); i++) {
        uint64_t running = t->running_ticks[i] < t->enabled_ticks ? t->running_ticks[i]
                                                                  : t->enabled_ticks;
        s->totals.enabled_ns[s->number_of[i]] += stream_ns(t->enabled_ticks, t->tick_hz);
        s->totals.running_ns[s->number_of[i]] += stream_ns(running, t->tick_hz);
    }
    s->totals.complete = s->totals.complete && s->from_start && !t->running &&
                         s->next_sample - s->passed_over == t->sent &&
                         t->captured == t->sent + t->lost_output + t->lost_link &&
                         s->sched.arrived == t->sched_sent;
    return MKPERF_OK;
}

enum mkperf_status mkperf_stream_restarted(struct mkperf_stream *s, struct mkperf_error *e)
{
    MKPERF_TRY(close_session(s, true, e));
    s->totals.complete = false;
    s->totals.restarts++;
    s->has_session = s->numbered = s->running = s->has_status = s->has_marks_lost = s->closed =
        false;
    s->names.dropped = false;
    s->epoch = 0;
    s->clock.rebase = true;
    stream_void_chains(s);
    stream_sched_begin(s);
    return MKPERF_OK;
}

bool mkperf_stream_stamp_whole(const struct mkperf_stream *s)
{
    return s->names.bytes != 0 && s->names.have == s->names.bytes;
}

enum mkperf_status stream_session(struct mkperf_stream *s, const mkperf_Session *m, bool answer,
                                  struct mkperf_error *e)
{
    if ((m->events_count == 0 && !m->sched && !m->latency) || s->waiting) {
        return MKPERF_OK; /* it is not configured, or it is another host's */
    }
    /* A Session is held until names are settled, if the image's list can still arrive. */
    bool comes = s->config.asks || (s->has_hello && s->hello.stamp_bytes != 0);
    if (!s->config.pds->settled && comes) {
        s->names.held = *m;
        s->names.held_answer = answer;
        s->names.holds = true;
        return MKPERF_OK;
    }
    MKPERF_TRY(mkperf_stream_settle(s, e));
    if (!s->has_session || m->id != s->session_id) {
        MKPERF_TRY(s->began ? close_session(s, true, e) : MKPERF_OK);
        s->session_id = m->id;
        s->numbered = s->from_start = s->has_status = s->closed = false;
        s->skipped = s->passed_over = 0;
        memset(s->seen, 0, sizeof s->seen);
        memset(s->core_seen, 0, sizeof s->core_seen);
        stream_void_chains(s);
        stream_sched_begin(s);
    }
    s->has_session = true;
    s->running = m->running;
    if (!m->running && s->began) {
        return MKPERF_OK; /* the events may still change before the session runs */
    }
    MKPERF_TRY(adopt_events(s, m, e));
    if ((answer || s->starting) && m->running && !s->numbered) { /* this host has just started it */
        s->starting = false;
        s->numbered = s->from_start = true;
        s->next_sample = 0;
    }
    return m->running ? stream_begin(s, e) : MKPERF_OK;
}

enum mkperf_status mkperf_stream_settle(struct mkperf_stream *s, struct mkperf_error *e)
{
    struct mkperf_image *image = NULL;
    struct mkperf_error invalid = {.status = MKPERF_OK};
    const char *why = "the image's list of programs did not arrive whole";

    if (s->config.pds->settled) {
        return MKPERF_OK;
    }
    if (mkperf_stream_stamp_whole(s)) {
        image = mkperf_xcalloc(1, sizeof *image);
        if (mkperf_image_read(s->names.table, s->names.bytes, image, &invalid) != MKPERF_OK) {
            free(image);
            image = NULL;
            why = invalid.text;
        }
    }
    if (!s->has_hello) {
        why = "the target's first message is missing";
    } else if (s->hello.stamp_bytes == 0) {
        why = "the image does not list its programs (mkperf stamp)";
    }
    enum mkperf_status status = mkperf_pds_settle(s->config.pds, image, why, e);
    free(image);
    if (status != MKPERF_OK || !s->names.holds) {
        return status;
    }
    s->names.holds = false;
    return stream_session(s, &s->names.held, s->names.held_answer, e);
}

enum mkperf_status stream_stamp(struct mkperf_stream *s, const mkperf_Stamp *m,
                                struct mkperf_error *e)
{
    if (s->config.pds->settled) {
        return MKPERF_OK;
    }
    if (m->size > MKPERF_STAMP_BYTES || m->offset > m->size ||
        m->table.size > m->size - m->offset) {
        s->malformed++;
        return MKPERF_OK;
    }
    if (m->size != s->names.bytes) {
        s->names.bytes = m->size;
        s->names.have = 0;
    }
    if (m->offset != s->names.have) {
        /* A repeated part, or the part before it was lost and is requested again. */
        return MKPERF_OK;
    }
    s->names.table = s->names.table != NULL ? s->names.table
                                            : mkperf_xcalloc(1, MKPERF_STAMP_BYTES);
    memcpy(s->names.table + m->offset, m->table.bytes, m->table.size);
    s->names.have += m->table.size;
    /* With config.asks, the caller settles names when it has the last answer. */
    return mkperf_stream_stamp_whole(s) && !s->config.asks ? mkperf_stream_settle(s, e) : MKPERF_OK;
}

enum mkperf_status stream_need_names(struct mkperf_stream *s, bool *drop, struct mkperf_error *e)
{
    *drop = s->config.asks && !s->config.pds->settled;
    return *drop ? MKPERF_OK : mkperf_stream_settle(s, e);
}

enum mkperf_status stream_hello(struct mkperf_stream *s, const mkperf_TargetHello *hello,
                                struct mkperf_error *e)
{
    MKPERF_FAIL_IF(hello->protocol != MKPERF_PROTOCOL, e, MKPERF_ERR_PROTOCOL,
                   "the target speaks protocol %" PRIu32
                   ", this mkperf %d: use the mkperf of the target's build",
                   hello->protocol, MKPERF_PROTOCOL);
    const mkperf_TargetHello *first = &s->hello;
    MKPERF_FAIL_IF(s->has_hello && s->config.pds->settled &&
                       (hello->image.size != first->image.size ||
                        memcmp(hello->image.bytes, first->image.bytes, first->image.size) != 0),
                   e, MKPERF_ERR_FAILED,
                   "the target was restarted with another image: the recording ends before it, "
                   "since its names are those of the first image");
    if (s->began && s->has_hello && hello->boot_id != s->hello.boot_id) {
        MKPERF_TRY(mkperf_stream_restarted(s, e));
    }
    if (s->began) { /* the sink refers to the texts of the first Hello */
        s->hello.boot_id = hello->boot_id;
    } else {
        s->hello = *hello;
    }
    s->has_hello = true;
    return MKPERF_OK;
}

enum mkperf_status mkperf_stream_finish(struct mkperf_stream *s, struct mkperf_error *e)
{
    MKPERF_TRY(mkperf_stream_settle(s, e));
    MKPERF_FAIL_IF(!s->has_session && !s->began, e, MKPERF_ERR_INPUT,
                   "the received data have no session");
    MKPERF_TRY(stream_begin(s, e));
    MKPERF_TRY(close_session(s, false, e));
    s->totals.complete = s->totals.complete && s->booked;
    s->totals.unordered = s->order.merge != NULL ? mkperf_merge_unordered(s->order.merge) : 0;
    if (s->totals.samples == 0 && s->totals.sched_events == 0) {
        s->totals.first_ns = 0;
    }
    return MKPERF_OK;
}
