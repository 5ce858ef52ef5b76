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
 * 2. The plain case compares the slot and one position. `limit` is the next of three places: the end
 *    of the ring, the end of its free part, and the watermark. It is 0 after a loss, while a delivery
 *    waits, and in a session without events.
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

/* Returns the position up to which events need no checks (rule 2). */
static uint64_t sched_limit(const struct mkperf_hook *s)
{
    uint64_t tail = __atomic_load_n(&s->out.ring->tail, __ATOMIC_ACQUIRE);
    uint64_t end = (s->out.head | (s->out.size - 1)) + 1; /* the next end of the ring */
    uint64_t full = tail + s->out.size;
    uint64_t limit = end < full ? end : full;

    /* Before the watermark: the event that reaches it wakes the owner. After it, the consumer is on
     * its way, and its position has to be read now and then. */
    uint64_t look = s->out.head - tail < s->session.watermark ? tail + s->session.watermark - 1
                                                              : s->out.head + s->session.watermark;
    return look < limit ? look : limit;
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

void mkperf_sched_flush(struct mkperf_hook *s)
{
    struct mkperf_hook_delivery *d = &s->sched.delivery;

    if (d->to != NULL) {
        write_event(s, mkperf_sched_what(d->kind, 0, 0), d->to, d->time);
        d->to = NULL;
    }
}

MKPERF_NOINLINE void put_slowly(struct mkperf_hook *s, uint64_t what, const void *thread,
                                uint64_t time)
{
    mkperf_sched_flush(s);
    write_event(s, what, thread, time);
}

/* Writes an event, after that of a delivery that waits. what: of mkperf_sched_what. */
MKPERF_INLINE void put_event(struct mkperf_hook *s, uint64_t what, const void *thread,
                             uint64_t time)
{
    unsigned slot = mkperf_port_slot(thread) % MKPERF_SCHED_SLOTS;
    uint64_t head = s->out.head;
    uint64_t next = head + SCHED_BYTES;

    if (__builtin_expect(next > s->sched.limit || s->sched.slot[slot] != thread, 0)) {
        put_slowly(s, what, thread, time);
        return;
    }
    uint64_t *w = &s->out.ring->data[(head & (s->out.size - 1)) / 8];
    w[MKPERF_WORD_HEADER] = s->sched.header | what | (uint64_t)slot << 40;
    w[MKPERF_WORD_TIME] = time;
    s->out.head = next; /* mkperf_ring_commit would load the position again */
    __atomic_store_n(&s->out.ring->head, next, __ATOMIC_RELEASE);
}

/* Returns the reason that the event of a switch to `thread` has. If a delivery to that thread waits, it is
 * the delivery's reason, because the event reports both. */
MKPERF_INLINE unsigned reason_of(struct mkperf_hook *s, unsigned reason, const void *thread)
{
    struct mkperf_hook_delivery *d = &s->sched.delivery;
    bool replies = d->kind == MKPERF_SCHED_REPLY;
    bool waits = reason == MKPERF_STOPPED_WAIT_MESSAGE ||
                 reason == MKPERF_STOPPED_WAIT_NOTIFICATION;

    if (d->to != thread || !(replies ? waits : reason == MKPERF_STOPPED_CALLED)) {
        return reason;
    }
    d->to = NULL;
    s->sched.limit = d->limit;
    return replies ? MKPERF_STOPPED_REPLIED : MKPERF_STOPPED_CALLED;
}

/* A switch in a session with counts, words, or samples of threads that stop to wait. Counts are taken first, as
 * soon after the time at each switch: then times and counts agree. A call was counted when it was delivered,
 * except that of a fast path. */
MKPERF_NOINLINE void special_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                                    const void *thread, uint64_t time)
{
    if (s->sched.counted) {
        struct mkperf_identity next = mkperf_port_identity(thread);

        mkperf_hook_find(s);
        mkperf_counts_take(s);
        if (reason == MKPERF_STOPPED_CALLED && !s->sched.called) {
            mkperf_soft_event(s, MKPERF_SOFT_PPCALL, s->running, next);
        }
        mkperf_soft_event(s, MKPERF_SOFT_SWITCH, s->running, next);
        if (last != NULL && (s->session.soft_mask & MKPERF_SOFT_STACKS) != 0) {
            mkperf_soft_stack(s, last, s->running);
        }
        s->running = next;
        s->sched.called = false;
    }
    reason = reason_of(s, reason, thread);
    mkperf_sched_flush(s);
    if (s->words.pairs != 0) {
        mkperf_words_read(s, false, time);
    }
    if (last != NULL && (s->session.sched & MKPERF_SCHED_OFF_CPU) != 0 &&
        !(DOES_NOT_WAIT >> reason & 1)) {
        mkperf_capture_waiting(s, last, time);
    }
    put_event(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, reason, 0), thread, time);
}

void mkperf_sched_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                         const void *thread, uint64_t time)
{
    if (__builtin_expect(s->sched.special, 0)) {
        special_switch(s, reason, last, thread, time);
        return;
    }
    reason = reason_of(s, reason, thread);
    put_event(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, reason, 0), thread, time);
}

/* A call or a reply reached a thread. Its event waits, unless the thread belongs to another core, which
 * continues meanwhile, or another delivery waits already. */
MKPERF_INLINE void deliver(struct mkperf_hook *s, unsigned kind, const void *to, bool here)
{
    struct mkperf_hook_delivery *d = &s->sched.delivery;
    uint64_t time = mkperf_port_time();

    if (here && d->to == NULL) {
        *d = (struct mkperf_hook_delivery){to, time, s->sched.limit, kind};
        s->sched.limit = 0;
    } else {
        put_event(s, mkperf_sched_what(kind, 0, 0), to, time);
    }
}

/* A message that is counted, that the running thread receives after it was sent, or of a fault. This
 * is a separate function, because the plain case would otherwise save registers for it. */
MKPERF_NOINLINE void message_slowly(struct mkperf_hook *s, const void *from, const void *to,
                                    unsigned fault, bool here)
{
    bool received = to == mkperf_port_running();

    if (s->sched.counted && fault == MKPERF_FAULT_NONE) {
        s->sched.called |= !received;
        mkperf_hook_find(s);
        mkperf_soft_event(s, MKPERF_SOFT_PPCALL, received ? mkperf_port_identity(from) : s->running,
                          received ? s->running : mkperf_port_identity(to));
    }
    if (received || fault != MKPERF_FAULT_NONE) {
        mkperf_sched_event(s, received ? MKPERF_SCHED_RECEIVE : MKPERF_SCHED_FAULT, fault,
                           received ? from : to, mkperf_port_time());
    } else {
        deliver(s, MKPERF_SCHED_CALL, to, here);
    }
}

void mkperf_sched_message(struct mkperf_hook *s, const void *from, const void *to, unsigned fault,
                          bool here)
{
    if (s->sched.counted || fault != MKPERF_FAULT_NONE || to == mkperf_port_running()) {
        message_slowly(s, from, to, fault, here);
    } else {
        deliver(s, MKPERF_SCHED_CALL, to, here);
    }
}

void mkperf_sched_reply(struct mkperf_hook *s, const void *to, bool here)
{
    deliver(s, MKPERF_SCHED_REPLY, to, here);
}

MKPERF_NOINLINE void notify_counted(struct mkperf_hook *s, const void *thread, uint64_t time)
{
    mkperf_hook_find(s);
    mkperf_soft_event(s, MKPERF_SOFT_NOTIFICATION, s->running, mkperf_port_identity(thread));
    put_event(s, mkperf_sched_what(MKPERF_SCHED_NOTIFY, 0, 0), thread, time);
}

void mkperf_sched_event(struct mkperf_hook *s, unsigned kind, unsigned number, const void *thread,
                        uint64_t time)
{
    if (kind == MKPERF_SCHED_NOTIFY && s->sched.counted) {
        notify_counted(s, thread, time);
    } else {
        put_event(s, mkperf_sched_what(kind, 0, number), thread, time);
    }
}

void mkperf_soft_fault(struct mkperf_hook *s, struct mkperf_identity thread, uint64_t pc,
                       uint64_t address)
{
    mkperf_hook_find(s);
    mkperf_soft_event(s, MKPERF_SOFT_FAULT, thread, thread);
    if (s->tables == NULL || (s->session.soft_mask & MKPERF_SOFT_FAULT_RECORDS) == 0) {
        return;
    }
    uint64_t *w = mkperf_hook_reserve(s, FAULT_BYTES);
    if (w == NULL) {
        s->tables->counts.records_dropped++;
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
    if (s->sched.delivery.to == thread) {
        s->sched.delivery.to = NULL;
    }
}

void mkperf_sched_begin(struct mkperf_hook *s)
{
    const void *running = mkperf_port_running();
    struct mkperf_hook_sched *c = &s->sched;

    *c = (struct mkperf_hook_sched){
        .header = mkperf_sched_header(0, 0, 0) | (uint64_t)mkperf_port_core() << 56,
        .counted = (s->session.count_mask | s->session.soft_mask) != 0,
    };
    c->special = c->counted || s->session.words != 0 ||
                 (s->session.sched & MKPERF_SCHED_OFF_CPU) != 0;
    s->running = mkperf_port_identity(running);
    put_event(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 0), running,
              s->answer.time);
}
