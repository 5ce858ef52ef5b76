/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: decoding of scheduling events: their codes, numbers and gaps, see docs/protocol.md. Each core
 * has its own codes, numbers and running thread. Events that are missing or have an unknown code
 * become one gap before the next event of that core.
 */
#include "wire_internal.h"

enum { CODES = 1024, MAX_CODE_BITS = 16 };

struct code {
    uint64_t generation; /* the code is valid if this is the generation of its core */
    enum mkperf_sched_kind kind;
    enum mkperf_sched_reason reason;
    uint32_t pd, irq;
    bool reading; /* it is no event, but a reading of words */
};

struct mkperf_stream_core {
    uint64_t generation; /* the generation of the codes */
    uint64_t valid;      /* the stream's generation when the epoch began */
    uint32_t epoch;
    bool has_epoch, numbered;
    uint64_t next_event; /* the number that is expected next */
    uint64_t last_ns;
    bool gap;         /* events before the next known one are missing */
    uint64_t missing; /* how many, as far as it is known */
    uint32_t running; /* the PD that runs */
    uint32_t page;    /* the page that the guest of the next exit accessed */
    uint64_t known;   /* set of words with a known value */
    uint64_t word[MKPERF_MAX_WORDS];
    struct code code[CODES];
};

void stream_sched_begin(struct mkperf_stream *s)
{
    s->sched.generation++;
    s->sched.damaged = false;
    s->sched.arrived = s->sched.jumped = 0;
    for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
        struct mkperf_stream_core *c = s->sched.core[i];
        if (c != NULL) {
            c->has_epoch = c->numbered = false;
            c->running = MKPERF_SCHED_NOBODY;
            c->missing = c->known = 0;
            c->gap = true; /* events between two sessions are unknown */
        }
    }
}

void stream_sched_close(struct mkperf_stream *s)
{
    const mkperf_Status *t = &s->status;
    struct mkperf_totals *to = &s->totals;

    if (!s->has_status) {
        to->sched_lost[MKPERF_LOST_TRANSIT] += s->sched.jumped;
        return;
    }
    to->sched_lost[MKPERF_LOST_RING] += t->sched_lost_ring;
    to->sched_lost[MKPERF_LOST_OUTPUT] += t->sched_lost_output;
    to->sched_lost[MKPERF_LOST_LINK] += t->sched_lost_link;
    to->sched_overwritten += t->sched_overwritten;
    if (s->from_start && t->sched_sent > s->sched.arrived) {
        to->sched_lost[MKPERF_LOST_TRANSIT] += t->sched_sent - s->sched.arrived;
        s->sched.arrived = t->sched_sent;
    }
}

/* Reports the events that are missing before the next one of a core, if there are any. */
static enum mkperf_status pass_gap(struct mkperf_stream *s, struct mkperf_stream_core *c,
                                   uint32_t core, uint64_t ns, struct mkperf_error *e)
{
    const struct mkperf_sched gap = {
        .time_ns = ns,
        .core = core,
        .kind = MKPERF_SCHED_GAP,
        .from = MKPERF_SCHED_NOBODY,
        .to = MKPERF_SCHED_NOBODY,
        .lost = c->missing,
        .since_ns = c->last_ns,
    };

    if (!c->gap) {
        return MKPERF_OK;
    }
    c->gap = false;
    c->missing = 0;
    c->running = MKPERF_SCHED_NOBODY;
    c->page = 0;
    return s->session.sched ? mkperf_sink_sched(&s->order.to, &gap, e) : MKPERF_OK;
}

static enum mkperf_status emit_event(struct mkperf_stream *s, struct mkperf_stream_core *c,
                                     uint32_t core, const struct code *code, uint64_t ns,
                                     struct mkperf_error *e)
{
    MKPERF_TRY(pass_gap(s, c, core, ns, e));
    c->last_ns = ns;
    s->totals.sched_events++;
    stream_note_time(&s->totals, ns);
    if (code->kind == (enum mkperf_sched_kind)MKPERF_SCHED_PAGE) {
        c->page = (c->page << 12 | (code->irq & 0xfff)) & (MKPERF_EXIT_PAGES - 1);
        return MKPERF_OK;
    }
    bool exits = (code->kind == MKPERF_SCHED_FAULT || code->kind == MKPERF_SCHED_RECEIVE) &&
                 mkperf_is_exit(code->irq);
    bool own = code->kind == MKPERF_SCHED_LOCK || code->kind == MKPERF_SCHED_LOCK_WAIT;
    const struct mkperf_sched event = {
        .time_ns = ns,
        .core = core,
        .kind = code->kind,
        .reason = code->reason,
        .from = own ? code->pd : c->running, /* a lock's PD is known even behind a gap */
        .to = code->pd,
        .irq = exits ? (code->irq & 0xff) | c->page << 8 : code->irq,
    };

    c->page = exits ? 0 : c->page;
    if (code->kind == MKPERF_SCHED_SWITCH) {
        c->running = code->pd;
    }
    return s->session.sched ? mkperf_sink_sched(&s->order.to, &event, e) : MKPERF_OK;
}

/* The numbers of readings in a message, in the order of their events. */
struct numbers {
    const uint64_t *at, *end;
};

static uint64_t next_number(struct numbers *n)
{
    return n->at < n->end ? *n->at++ : 0;
}

static uint64_t index_of(const struct mkperf_stream_core *c, struct mkperf_image_place place,
                         unsigned bits)
{
    return c->word[place.word] >> place.shift & UINT64_MAX >> (64 - bits);
}

static enum mkperf_status decode_reading(struct mkperf_stream *s, struct mkperf_stream_core *c,
                                         uint32_t core, struct numbers *n, uint64_t ns,
                                         struct mkperf_error *e)
{
    uint64_t head = next_number(n), set = 0;

    MKPERF_TRY(pass_gap(s, c, core, ns, e));
    if ((head & 1) != 0) {
        c->known &= next_number(n);
    }
    for (uint64_t left = head >> 1; left != 0 && n->at < n->end; left--) {
        uint64_t which = next_number(n), value = next_number(n);
        unsigned i = (unsigned)(which >> 1) % MKPERF_MAX_WORDS;
        if ((which & 1) != 0) {
            c->word[i] = value;
            c->known |= UINT64_C(1) << i;
        } else {
            c->word[i] += value >> 1 ^ (0 - (value & 1));
        }
        set |= UINT64_C(1) << i;
    }
    /* Without scheduling events, occupancy is estimated by all readings, those without a change as well. */
    set = (head & 1) != 0 && !s->session.sched ? UINT64_MAX : set;
    c->last_ns = ns;
    s->totals.sched_events += s->session.sched;
    stream_note_time(&s->totals, ns);
    /* Passes on each queue of which a word is in the set, if all its words are known. */
    const struct mkperf_image *image = s->config.pds->image;

    for (unsigned i = 0; i < s->session.nqueues && s->sched.words != 0; i++) {
        const struct mkperf_image_place *place = s->sched.place[i];
        uint64_t words = UINT64_C(1) << place[0].word | UINT64_C(1) << place[1].word;
        if (image->queue[i].head == 0 || (set & words) == 0 || (c->known & words) != words) {
            continue;
        }
        const struct mkperf_queue_reading reading = {
            .time_ns = ns,
            .core = core,
            .queue = i,
            .head = index_of(c, place[0], image->queue[i].bits),
            .tail = index_of(c, place[1], image->queue[i].bits),
        };
        s->totals.queue_readings++;
        MKPERF_TRY(mkperf_sink_queue_reading(&s->order.to, &reading, e));
    }
    return MKPERF_OK;
}

enum mkperf_status stream_sched(struct mkperf_stream *s, const mkperf_Sched *m,
                                struct mkperf_error *e)
{
    if (!stream_tick_hz_ok(m->tick_hz) || m->core >= MKPERF_MAX_CORES ||
        m->code_bits > MAX_CODE_BITS) {
        s->malformed++;
        return MKPERF_OK;
    }
    if (s->waiting || !s->has_session || m->session != s->session_id || !s->sched.running) {
        s->sched.damaged = s->sched.running;
        return MKPERF_OK; /* it is another host's; if only its Session was lost, the numbers show the loss */
    }
    if (s->sched.core[m->core] == NULL) {
        s->sched.core[m->core] = mkperf_xcalloc(1, sizeof *s->sched.core[m->core]);
        s->sched.core[m->core]->running = MKPERF_SCHED_NOBODY;
    }
    struct mkperf_stream_core *c = s->sched.core[m->core];
    /* Compares a message's epoch and number with those that its core expects. */
    bool new_epoch = !c->has_epoch || m->epoch != c->epoch;
    if (new_epoch || c->valid != s->sched.generation) { /* or a message of this epoch was lost */
        c->generation++;
        c->valid = s->sched.generation;
        c->known = 0;
        s->sched.damaged = s->sched.damaged && !new_epoch;
    }
    c->has_epoch = true;
    c->epoch = m->epoch;
    if (!c->numbered) {
        c->numbered = true;
        c->gap = c->gap || m->first_event != 0;
        if (s->from_start) {
            c->missing += m->first_event;
            s->sched.jumped += m->first_event;
        }
    } else if (m->first_event != c->next_event) {
        uint64_t jump = m->first_event > c->next_event ? m->first_event - c->next_event : 0;
        c->gap = true;
        c->known = 0;
        c->missing += jump;
        s->sched.jumped += jump;
    }
    c->next_event = m->first_event + m->event_count;
    s->sched.arrived += m->event_count;
    for (unsigned i = 0; i < m->codes_count; i++) {
        const mkperf_SchedCode *from = &m->codes[i];
        bool known = (unsigned)from->kind < MKPERF_SCHED_GAP ||
                     from->kind == mkperf_SchedKind_SCHED_READING ||
                     from->kind == mkperf_SchedKind_SCHED_PAGE;
        if (from->code < CODES && (!known || (unsigned)from->reason >= MKPERF_STOPPED_REASONS)) {
            c->code[from->code].generation = 0; /* a newer target has more kinds */
        } else if (from->code < CODES) {
            c->code[from->code] = (struct code){
                .generation = c->generation,
                .kind = (enum mkperf_sched_kind)from->kind,
                .reason = (enum mkperf_sched_reason)from->reason,
                .pd = mkperf_pds_find(s->config.pds, from->thread - 2),
                .irq = from->irq,
                .reading = from->kind == mkperf_SchedKind_SCHED_READING,
            };
        }
    }
    MKPERF_TRY(stream_begin(s, e));
    MKPERF_TRY(stream_announce(s, e));
    stream_cores_begin(s, m->core);
    uint64_t ticks = m->time_ticks, mask = (UINT64_C(1) << m->code_bits) - 1;
    struct numbers numbers = {m->reading, m->reading + m->reading_count};
    for (unsigned i = 0; i < m->event_count; i++) {
        uint64_t code = m->event[i] & mask;

        ticks += m->event[i] >> m->code_bits;
        if (code >= CODES || c->code[code].generation != c->generation) {
            s->totals.sched_lost[MKPERF_LOST_CHAIN]++;
            c->missing++;
            c->gap = true;
            s->sched.damaged = true;
            c->known =
                0; /* Perhaps it was a reading. The numbers of those that follow are not found. */
            numbers.at = numbers.end;
            continue;
        }
        const struct code *known = &c->code[code];
        uint64_t ns = stream_time(s, ticks, m->tick_hz);
        ns = ns > c->last_ns ? ns : c->last_ns;
        MKPERF_TRY(known->reading ? decode_reading(s, c, m->core, &numbers, ns, e)
                                  : emit_event(s, c, m->core, known, ns, e));
    }
    return mkperf_sink_flush(&s->order.to, e);
}
