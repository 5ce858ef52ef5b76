/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened to threads: scheduling events in the core's ring, and counts of them.
 *
 * Owns: how an event gets into the ring (include/mkperf/sched.h has the records), and what of it is
 * counted (counted.c). hook.h describes who calls.
 *
 * Rules
 * 1. An event has two words and refers to a thread by a slot. A record before the slot's first event
 *    names the thread. The port chooses the slot. Threads with the same slot replace each other, each
 *    time with a new record.
 * 2. The plain case compares the slot and one position, `plain`. It is 0 in a session that does more with an
 *    event than to write it, while a delivery waits, and where `limit` is. All else is in put_slowly.
 * 3. The event of a delivery waits for the next event, which may be the switch that reports both.
 * 4. What is counted belongs to s->running: the thread as it was when it began to run. A passive
 *    server has lost its scheduling context when it stops.
 *
 * What may be lost: events for which the ring has no room, or while it is not mapped. They are
 * counted in the ring's header, and a record before the next event has their number. The records of
 * faults that are lost so are counted in the table of software events.
 */
#include <mkperf_port.h>

#include "records.h"

enum {
    SCHED_BYTES = 8 * MKPERF_SCHED_WORDS,
    FAULT_BYTES = 8 * MKPERF_FAULT_WORDS,
    /* The set of reasons for which a thread stopped that does not wait. */
    DOES_NOT_WAIT = 1 << MKPERF_STOPPED_UNKNOWN | 1 << MKPERF_STOPPED_PREEMPTED |
                    1 << MKPERF_STOPPED_IDLE,
};

/* Returns the position up to which an event needs no other checks than that of its slot: the ring's end, the end
 * of its free part, or the watermark, whichever is next. */
static uint64_t sched_limit(const struct mkperf_hook *s)
{
    uint64_t tail = __atomic_load_n(&s->out.ring->tail, __ATOMIC_ACQUIRE);
    uint64_t end = (s->out.head | (s->out.size - 1)) + 1;
    uint64_t full = tail + s->out.size;
    uint64_t limit = end < full ? end : full;

    /* Before the watermark: the event that reaches it wakes the owner. After it, the consumer is on
     * its way, and its position has to be read now and then. */
    uint64_t look = s->out.head - tail < s->session.watermark ? tail + s->session.watermark - 1
                                                              : s->out.head + s->session.watermark;
    return look < limit ? look : limit;
}

/* Writes an event if it ends at `limit` or before, and the slot is its thread's. Otherwise returns false. */
MKPERF_INLINE bool write_within(struct mkperf_hook *s, uint64_t limit, uint64_t what,
                                const void *thread, uint64_t time)
{
    unsigned slot = mkperf_port_slot(thread) % MKPERF_SCHED_SLOTS;
    uint64_t head = s->out.head;

    if (__builtin_expect(head + SCHED_BYTES > limit || s->sched.slot[slot] != thread, 0)) {
        return false;
    }
    uint64_t *w = &s->out.ring->data[(head & (s->out.size - 1)) / 8];
    w[MKPERF_WORD_HEADER] = s->sched.header | what | (uint64_t)slot << 40;
    w[MKPERF_WORD_TIME] = time;
    mkperf_ring_commit(&s->out, SCHED_BYTES);
    return true;
}

/* Writes an event. Before it come the record of a loss that was not reported yet, and the record of the
 * thread if the slot means another one. */
static void write_event(struct mkperf_hook *s, uint64_t what, const void *thread, uint64_t time)
{
    struct mkperf_hook_sched *c = &s->sched;
    unsigned slot = mkperf_port_slot(thread) % MKPERF_SCHED_SLOTS;
    unsigned loss_words = s->lost.sched != c->reported ? MKPERF_SCHED_LOSS_WORDS : 0;
    unsigned thread_words = c->slot[slot] != thread ? MKPERF_SCHED_THREAD_WORDS : 0;
    unsigned bytes = 8 * (loss_words + thread_words) + SCHED_BYTES;

    if (s->session.sched == 0) {
        return;
    }
    uint64_t *w = mkperf_hook_reserve(s, bytes);
    if (w == NULL) {
        mkperf_hook_lose_event(s, time);
        return;
    }
    if (loss_words != 0) {
        mkperf_hook_head(w, MKPERF_RECORD_SCHED_LOSS, 8 * loss_words, 0, c->lost_from);
        w[MKPERF_SCHED_LOST] = s->lost.sched - c->reported;
        c->reported = s->lost.sched;
        w += MKPERF_SCHED_LOSS_WORDS;
    }
    if (thread_words != 0) {
        struct mkperf_identity id = mkperf_port_identity(thread);

        mkperf_hook_head(w, MKPERF_RECORD_SCHED_THREAD, 8 * thread_words, slot, time);
        w[MKPERF_WORD_THREAD] = id.badge;
        w[MKPERF_WORD_SC] = id.sc;
        c->slot[slot] = thread;
        w += MKPERF_SCHED_THREAD_WORDS;
    }
    w[MKPERF_WORD_HEADER] = c->header | what | (uint64_t)slot << 40;
    w[MKPERF_WORD_TIME] = time;
    mkperf_hook_publish(s, bytes);
    c->limit = sched_limit(s);
}

/* Counts what an event says, in a session that counts. A call was counted when it was delivered, except that of a
 * fast path. */
static void count_event(struct mkperf_hook *s, uint64_t what, const void *last, const void *thread)
{
    unsigned kind = mkperf_sched_kind_of(what);
    struct mkperf_identity id = mkperf_port_identity(thread);

    if (kind == MKPERF_SCHED_SWITCH) {
        if (mkperf_sched_reason_of(what) == MKPERF_STOPPED_CALLED && !s->sched.called) {
            mkperf_soft_event(s, MKPERF_SOFT_PPCALL, s->running, id);
        }
        mkperf_soft_event(s, MKPERF_SOFT_SWITCH, s->running, id);
        if (last != NULL && (s->session.soft_mask & MKPERF_SOFT_STACKS) != 0) {
            mkperf_soft_stack(s, last, s->running);
        }
        s->running = id;
        s->sched.called = false;
    } else if (kind == MKPERF_SCHED_RECEIVE && mkperf_sched_number_of(what) == MKPERF_FAULT_NONE) {
        mkperf_soft_event(s, MKPERF_SOFT_PPCALL, id, s->running);
    } else if (kind == MKPERF_SCHED_NOTIFY) {
        mkperf_soft_event(s, MKPERF_SOFT_NOTIFICATION, s->running, id);
    }
}

void mkperf_sched_flush(struct mkperf_hook *s)
{
    const void *to = s->sched.delivered;

    s->sched.delivered = NULL;
    if (to != NULL) {
        write_event(s, mkperf_sched_what(s->sched.delivered_kind, 0, 0), to, s->sched.delivered_at);
    }
}

/* Reports an event with all that the plain case leaves out: a delivery that waits, counts, words, a sample of a thread
 * that stops to wait. */
MKPERF_NOINLINE void put_slowly(struct mkperf_hook *s, uint64_t what, const void *last,
                                const void *thread, uint64_t time)
{
    bool waits = last != NULL && !(DOES_NOT_WAIT >> mkperf_sched_reason_of(what) & 1);

    mkperf_hook_find(s);
    if (s->sched.counted) {
        count_event(s, what, last, thread);
    }
    mkperf_sched_flush(s);
    if (s->words.pairs != 0 && mkperf_sched_kind_of(what) == MKPERF_SCHED_SWITCH) {
        mkperf_words_read(s, false, time);
    }
    if (waits && (s->session.sched & MKPERF_SCHED_OFF_CPU) != 0) {
        mkperf_capture_waiting(s, last, time);
    }
    if (!write_within(s, s->sched.limit, what, thread, time)) {
        write_event(s, what, thread, time);
    }
    s->sched.plain = s->sched.counted ? 0 : s->sched.limit;
}

/* Reports an event, after that of a delivery that waits. what: of mkperf_sched_what. */
MKPERF_INLINE void put_event(struct mkperf_hook *s, uint64_t what, const void *thread,
                             uint64_t time)
{
    if (!write_within(s, s->sched.plain, what, thread, time)) {
        put_slowly(s, what, NULL, thread, time);
    }
}

/* Returns the reason that the event of a switch to `thread` has. If a delivery to that thread waits, it is
 * the delivery's reason, because the event reports both. */
MKPERF_INLINE unsigned reason_of(struct mkperf_hook *s, unsigned reason, const void *thread)
{
    bool replies = s->sched.delivered_kind == MKPERF_SCHED_REPLY;
    bool waits = reason == MKPERF_STOPPED_WAIT_MESSAGE ||
                 reason == MKPERF_STOPPED_WAIT_NOTIFICATION;

    if (s->sched.delivered != thread || !(replies ? waits : reason == MKPERF_STOPPED_CALLED)) {
        return reason;
    }
    s->sched.delivered = NULL;
    s->sched.plain = s->sched.counted ? 0 : s->sched.limit;
    return replies ? MKPERF_STOPPED_REPLIED : MKPERF_STOPPED_CALLED;
}

void mkperf_sched_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                         const void *thread, uint64_t time)
{
    /* Counters are read first, as soon after the time at each switch: then times and counts agree. */
    if (__builtin_expect(s->sched.special, 0)) {
        mkperf_hook_find(s);
        mkperf_counts_take(s);
    }
    uint64_t what = mkperf_sched_what(MKPERF_SCHED_SWITCH, reason_of(s, reason, thread), 0);
    if (__builtin_expect(s->sched.special, 0)) {
        put_slowly(s, what, last, thread, time);
    } else {
        put_event(s, what, thread, time);
    }
}

/* A call or a reply reached a thread. Its event waits, unless the thread belongs to another core, which
 * continues meanwhile, or another delivery waits already. */
MKPERF_INLINE void deliver(struct mkperf_hook *s, unsigned kind, const void *to, bool here)
{
    uint64_t time = mkperf_port_time();

    if (here && s->sched.delivered == NULL) {
        s->sched.delivered = to;
        s->sched.delivered_at = time;
        s->sched.delivered_kind = kind;
        s->sched.plain = 0;
    } else {
        put_event(s, mkperf_sched_what(kind, 0, 0), to, time);
    }
}

/* A call in a session that counts. Its count is the caller's work, so it comes before the switch. */
MKPERF_NOINLINE void deliver_counted(struct mkperf_hook *s, const void *to, bool here)
{
    mkperf_hook_find(s);
    s->sched.called = true;
    mkperf_soft_event(s, MKPERF_SOFT_PPCALL, s->running, mkperf_port_identity(to));
    deliver(s, MKPERF_SCHED_CALL, to, here);
}

void mkperf_sched_message(struct mkperf_hook *s, const void *from, const void *to, unsigned fault,
                          bool here)
{
    bool received = to == mkperf_port_running();

    if (received || fault != MKPERF_FAULT_NONE) {
        mkperf_sched_event(s, received ? MKPERF_SCHED_RECEIVE : MKPERF_SCHED_FAULT, fault,
                           received ? from : to, mkperf_port_time());
    } else if (s->sched.counted) {
        deliver_counted(s, to, here);
    } else {
        deliver(s, MKPERF_SCHED_CALL, to, here);
    }
}

void mkperf_sched_reply(struct mkperf_hook *s, const void *to, bool here)
{
    deliver(s, MKPERF_SCHED_REPLY, to, here);
}

void mkperf_sched_event(struct mkperf_hook *s, unsigned kind, unsigned number, const void *thread,
                        uint64_t time)
{
    put_event(s, mkperf_sched_what(kind, 0, number), thread, time);
}

void mkperf_soft_fault(struct mkperf_hook *s, struct mkperf_identity thread, uint64_t pc,
                       uint64_t address)
{
    mkperf_hook_find(s);
    mkperf_soft_event(s, MKPERF_SOFT_FAULT, thread, thread);
    if (s->memory.soft == NULL || (s->session.soft_mask & MKPERF_SOFT_FAULT_RECORDS) == 0) {
        return;
    }
    uint64_t *w = mkperf_hook_reserve(s, FAULT_BYTES);
    if (w == NULL) {
        s->memory.soft->records_dropped++;
    } else {
        mkperf_hook_head(w, MKPERF_RECORD_FAULT, FAULT_BYTES, 0, mkperf_port_time());
        w[MKPERF_WORD_THREAD] = thread.badge;
        w[MKPERF_WORD_SC] = thread.sc;
        w[MKPERF_FAULT_PC] = pc;
        w[MKPERF_FAULT_ADDRESS] = address;
        mkperf_hook_publish(s, FAULT_BYTES);
    }
    mkperf_port_wake();
}

void mkperf_sched_forget(struct mkperf_hook *s, const void *thread)
{
    unsigned slot = mkperf_port_slot(thread) % MKPERF_SCHED_SLOTS;

    if (s->sched.slot[slot] == thread) {
        s->sched.slot[slot] = NULL;
    }
    if (s->sched.delivered == thread) {
        s->sched.delivered = NULL;
    }
}

void mkperf_sched_begin(struct mkperf_hook *s)
{
    const void *running = mkperf_port_running();
    struct mkperf_hook_sched *c = &s->sched;

    *c = (struct mkperf_hook_sched){
        .header = mkperf_sched_header(0, 0, 0) | (uint64_t)mkperf_port_core() << 56,
        .counted = s->session.counts != 0 || s->session.soft_mask != 0,
    };
    c->special = c->counted || s->session.words != 0 ||
                 (s->session.sched & MKPERF_SCHED_OFF_CPU) != 0;
    s->running = mkperf_port_identity(running);
    if (s->memory.counts != NULL) {
        struct mkperf_identity owner = mkperf_port_identity(s->owner);

        s->memory.counts->self = mkperf_counts_key(owner.badge);
        s->memory.counts->self_sc = mkperf_hook_sc(s, owner);
    }
    write_event(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 0), running,
                s->answer.time);
    c->plain = c->counted ? 0 : c->limit;
}
