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
 *    of the ring, the end of its free part, and the watermark. It is 0 after a loss, and in a session
 *    without events.
 * 3. The event of a delivery is held back until the next event, which may be the switch that reports
 *    both.
 * 4. What is counted belongs to s->running: the thread as it was when it began to run. A passive
 *    server has lost its scheduling context when it stops.
 *
 * What may be lost: events for which the ring has no room, or while it is not mapped. They are
 * counted in the ring's header, and a record before the next event has their number. The records of
 * faults that are lost so are counted in the table of software events.
 */
#include <mkperf_port.h>

#include "hook.h"

enum {
    SCHED_BYTES = 8 * MKPERF_SCHED_WORDS,
    SCHED_THREAD_BYTES = 8 * MKPERF_SCHED_THREAD_WORDS,
    SCHED_LOSS_BYTES = 8 * MKPERF_SCHED_LOSS_WORDS,
};

#define COUNTED \
    (UINT64_C(1) << 63) /* in `sampled`: each switch is counted; no reason has this bit */

#define ALL_REASONS ((UINT64_C(1) << MKPERF_STOPPED_REASONS) - 1)

/* Reasons for which a thread that stopped waits. */
enum {
    WAITS = 1 << MKPERF_STOPPED_CALLED | 1 << MKPERF_STOPPED_QUEUED | 1 << MKPERF_STOPPED_REPLIED |
            1 << MKPERF_STOPPED_WAIT_MESSAGE | 1 << MKPERF_STOPPED_WAIT_NOTIFICATION |
            1 << MKPERF_STOPPED_BUDGET | 1 << MKPERF_STOPPED_FAULTED |
            1 << MKPERF_STOPPED_SUSPENDED,
};

/* Whether the session has counts. */
static inline bool counted(const struct mkperf_hook *s)
{
    return (s->sched.sampled & COUNTED) != 0;
}

/* The reasons for which a thread that stops is sampled. */
static inline uint64_t waits(const struct mkperf_hook *s)
{
    return (s->session.sched & MKPERF_SCHED_OFF_CPU) != 0 ? WAITS : 0;
}

/* The position up to which events need no checks. */
static uint64_t sched_limit(const struct mkperf_hook *s)
{
    uint64_t tail = __atomic_load_n(&s->ring->tail, __ATOMIC_ACQUIRE);
    uint64_t end = (s->head | (s->ring_bytes - 1)) + 1; /* of the ring */
    uint64_t full = tail + s->ring_bytes;
    uint64_t limit = end < full ? end : full;

    /* Before the watermark: the event that reaches it wakes the owner. After it, the consumer is on
     * its way, and its position has to be read now and then. */
    uint64_t look = s->head - tail < s->watermark ? tail + s->watermark - 1
                                                  : s->head + s->watermark;
    return look < limit ? look : limit;
}

void mkperf_sched_lose(struct mkperf_hook *s, uint64_t time)
{
    struct mkperf_hook_sched *c = &s->sched;

    c->lost_from = c->lost == 0 ? time : c->lost_from;
    c->lost++;
    c->limit = 0;
    if (s->ring != NULL) {
        s->ring->dropped_sched = c->lost_before + c->lost;
    }
}

/* An event that needs a check, or a record before it. */
MKPERF_NOINLINE void put_sched_slowly(struct mkperf_hook *s, uint64_t header, unsigned slot,
                                      const void *thread, uint64_t time)
{
    struct mkperf_hook_sched *c = &s->sched;
    unsigned core = mkperf_port_core();
    bool known = c->slot[slot] == thread;
    unsigned bytes = SCHED_BYTES + (c->lost != 0 ? SCHED_LOSS_BYTES : 0) +
                     (known ? 0 : SCHED_THREAD_BYTES);

    if (s->session.sched == 0) {
        return;
    }
    uint64_t *w = mkperf_hook_reserve(s, bytes);
    if (w == NULL) {
        mkperf_sched_lose(s, time);
        return;
    }
    if (c->lost != 0) {
        w[MKPERF_WORD_HEADER] =
            mkperf_record_header(MKPERF_RECORD_SCHED_LOSS, SCHED_LOSS_BYTES, 0, 0, 0, core);
        w[MKPERF_WORD_TIME] = c->lost_from;
        w[MKPERF_SCHED_LOST] = c->lost;
        c->lost_before += c->lost;
        c->lost = 0;
        w += MKPERF_SCHED_LOSS_WORDS;
    }
    if (!known) {
        struct mkperf_identity id = mkperf_port_identity(thread);

        w[MKPERF_WORD_HEADER] =
            mkperf_record_header(MKPERF_RECORD_SCHED_THREAD, SCHED_THREAD_BYTES, 0, slot, 0, core);
        w[MKPERF_WORD_TIME] = time;
        w[MKPERF_WORD_THREAD] = id.badge;
        w[MKPERF_WORD_SC] = id.sc;
        c->slot[slot] = thread;
        w += MKPERF_SCHED_THREAD_WORDS;
    }
    w[MKPERF_WORD_HEADER] = header;
    w[MKPERF_WORD_TIME] = time;
    mkperf_hook_publish(s, bytes);
    c->limit = sched_limit(s);
}

/* Writes an event. what: of mkperf_sched_what. */
MKPERF_INLINE void put_sched(struct mkperf_hook *s, uint64_t what, const void *thread,
                             uint64_t time)
{
    unsigned slot = mkperf_port_slot(thread) % MKPERF_SCHED_SLOTS;
    uint64_t header = s->sched.header | what | (uint64_t)slot << 40;
    uint64_t head = s->head;
    uint64_t next = head + SCHED_BYTES;

    if (__builtin_expect(next > s->sched.limit || s->sched.slot[slot] != thread, 0)) {
        put_sched_slowly(s, header, slot, thread, time);
        return;
    }
    struct mkperf_ring *ring = s->ring;
    uint64_t *w = &ring->data[(head & (s->ring_bytes - 1)) / 8];
    w[MKPERF_WORD_HEADER] = header;
    w[MKPERF_WORD_TIME] = time;
    s->head = next;
    __atomic_store_n(&ring->head, next, __ATOMIC_RELEASE);
}

__attribute__((noinline)) void mkperf_sched_flush(struct mkperf_hook *s)
{
    struct mkperf_hook_delivery d = s->sched.delivery;

    if (d.to != NULL) {
        s->sched.delivery.to = NULL;
        put_sched(s, mkperf_sched_what(d.kind, 0, 0), d.to, d.time);
    }
}

/* An event after that of a delivery. A function of its own, so that nothing is saved for it. */
MKPERF_NOINLINE void put_behind(struct mkperf_hook *s, uint64_t what, const void *thread,
                                uint64_t time)
{
    mkperf_sched_flush(s);
    put_sched(s, what, thread, time);
}

/* An event that is not the switch for which a delivery waits. */
MKPERF_INLINE void put_other(struct mkperf_hook *s, uint64_t what, const void *thread,
                             uint64_t time)
{
    if (__builtin_expect(s->sched.delivery.to != NULL, 0)) {
        put_behind(s, what, thread, time);
        return;
    }
    put_sched(s, what, thread, time);
}

/* A switch from a thread that is sampled, or after the event of a delivery, or in a session with words. */
MKPERF_NOINLINE void put_sampled(struct mkperf_hook *s, unsigned reason, const void *last,
                                 const void *thread, uint64_t time)
{
    mkperf_sched_flush(s);
    if (s->words.pairs != 0 && !mkperf_words_read(s, false, time)) {
        mkperf_sched_lose(s, time);
    }
    if (last != NULL && (waits(s) >> reason & 1) != 0) {
        mkperf_capture_waiting(s, last, time);
    }
    put_sched(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, reason, 0), thread, time);
}

/* A switch after a delivery: it reports that as well if it is to the same thread. */
MKPERF_NOINLINE void put_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                                const void *thread, uint64_t time)
{
    struct mkperf_hook_delivery *d = &s->sched.delivery;
    bool replies = d->kind == MKPERF_SCHED_REPLY;
    bool waits = reason == MKPERF_STOPPED_WAIT_MESSAGE ||
                 reason == MKPERF_STOPPED_WAIT_NOTIFICATION;

    if (d->to != NULL && d->to == thread && (replies ? waits : reason == MKPERF_STOPPED_CALLED)) {
        d->to = NULL;
        reason = replies ? MKPERF_STOPPED_REPLIED : reason;
    }
    if (__builtin_expect(d->to != NULL || (s->sched.sampled >> reason & 1) != 0, 0)) {
        put_sampled(s, reason, last, thread, time);
        return;
    }
    put_sched(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, reason, 0), thread, time);
}

/* A switch in a session with counts. They are taken first, as soon after the time at each switch: then
 * times and counts agree. A call was counted when it was delivered, except that of a fast path. */
MKPERF_NOINLINE void put_counted_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                                        const void *thread, uint64_t time)
{
    struct mkperf_identity next = mkperf_port_identity(thread);

    if (s->session.counts != 0) {
        mkperf_counts_take(s);
    }
    if (reason == MKPERF_STOPPED_CALLED && !s->sched.called) {
        mkperf_soft_event(s, MKPERF_SOFT_PPCALL, s->running, next);
    }
    mkperf_soft_event(s, MKPERF_SOFT_SWITCH, s->running, next);
    s->running = next;
    s->sched.called = false;
    put_switch(s, reason, last, thread, time);
}

void mkperf_sched_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                         const void *thread, uint64_t time)
{
    if (((uintptr_t)s->sched.delivery.to | s->sched.sampled) == 0) {
        put_sched(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, reason, 0), thread, time);
    } else if (counted(s)) {
        put_counted_switch(s, reason, last, thread, time);
    } else {
        put_switch(s, reason, last, thread, time);
    }
}

MKPERF_NOINLINE void deliver_behind(struct mkperf_hook *s, unsigned kind, const void *to,
                                    uint64_t time)
{
    mkperf_sched_flush(s);
    s->sched.delivery = (struct mkperf_hook_delivery){to, time, kind};
}

/* A call or a reply reached a thread. Its event is held back, unless the thread belongs to another
 * core: that one continues meanwhile. */
MKPERF_INLINE void deliver(struct mkperf_hook *s, unsigned kind, const void *to, bool here)
{
    uint64_t time = mkperf_port_time();

    if (!here) {
        put_other(s, mkperf_sched_what(kind, 0, 0), to, time);
    } else if (__builtin_expect(s->sched.delivery.to != NULL, 0)) {
        deliver_behind(s, kind, to, time);
    } else {
        s->sched.delivery = (struct mkperf_hook_delivery){to, time, kind};
    }
}

/* A message that is counted, received after it was sent, or of a fault. */
MKPERF_NOINLINE void message_slowly(struct mkperf_hook *s, const void *from, const void *to,
                                    bool fault, bool here)
{
    bool received = to == mkperf_port_running();

    if (counted(s) && !fault) {
        s->sched.called = s->sched.called || !received;
        mkperf_soft_event(s, MKPERF_SOFT_PPCALL, received ? mkperf_port_identity(from) : s->running,
                          received ? s->running : mkperf_port_identity(to));
    }
    if (received || fault) {
        mkperf_sched_event(s, received ? MKPERF_SCHED_RECEIVE : MKPERF_SCHED_FAULT,
                           received ? from : to);
    } else {
        deliver(s, MKPERF_SCHED_CALL, to, here);
    }
}

void mkperf_sched_message(struct mkperf_hook *s, const void *from, const void *to, bool fault,
                          bool here)
{
    if (counted(s) || fault || to == mkperf_port_running()) {
        message_slowly(s, from, to, fault, here);
    } else {
        deliver(s, MKPERF_SCHED_CALL, to, here);
    }
}

void mkperf_sched_reply(struct mkperf_hook *s, const void *to, bool here)
{
    deliver(s, MKPERF_SCHED_REPLY, to, here);
}

/* The running thread's notification, in a session with counts. */
MKPERF_NOINLINE void count_notification(struct mkperf_hook *s, const void *thread)
{
    mkperf_soft_event(s, MKPERF_SOFT_NOTIFICATION, s->running, mkperf_port_identity(thread));
    put_other(s, mkperf_sched_what(MKPERF_SCHED_NOTIFY, 0, 0), thread, mkperf_port_time());
}

void mkperf_sched_event(struct mkperf_hook *s, unsigned kind, const void *thread)
{
    if (counted(s) && kind == MKPERF_SCHED_NOTIFY) {
        count_notification(s, thread);
        return;
    }
    put_other(s, mkperf_sched_what(kind, 0, 0), thread, mkperf_port_time());
}

void mkperf_sched_irq(struct mkperf_hook *s, unsigned irq, const void *thread)
{
    put_other(s, mkperf_sched_what(MKPERF_SCHED_IRQ, 0, irq), thread, mkperf_port_time());
}

void mkperf_sched_lock(struct mkperf_hook *s, const void *thread, uint64_t began, uint64_t got)
{
    put_other(s, mkperf_sched_what(MKPERF_SCHED_LOCK_WAIT, 0, 0), thread, began);
    put_other(s, mkperf_sched_what(MKPERF_SCHED_LOCK, 0, 0), thread, got);
}

void mkperf_soft_fault(struct mkperf_hook *s, struct mkperf_identity thread, uint64_t pc,
                       uint64_t address)
{
    mkperf_soft_event(s, MKPERF_SOFT_FAULT, thread, thread);
    if (s->soft == NULL || (s->session.soft_mask & MKPERF_SOFT_FAULT_RECORDS) == 0) {
        return;
    }
    uint64_t *w =
        mkperf_hook_record(s, MKPERF_RECORD_FAULT, MKPERF_FAULT_WORDS, 0, mkperf_port_time());
    if (w == NULL) {
        s->soft->records_dropped++;
    } else {
        w[MKPERF_WORD_THREAD] = thread.badge;
        w[MKPERF_WORD_SC] = thread.sc;
        w[MKPERF_FAULT_PC] = pc;
        w[MKPERF_FAULT_ADDRESS] = address;
        mkperf_hook_publish(s, UINT64_C(8) * MKPERF_FAULT_WORDS);
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

void mkperf_sched_begin(struct mkperf_hook *s, uint64_t time)
{
    const void *running = mkperf_port_running();
    struct mkperf_hook_sched *c = &s->sched;

    c->header = mkperf_sched_header(0, 0, 0) | (uint64_t)mkperf_port_core() << 56;
    c->limit = 0;
    c->lost = 0;
    c->lost_before = 0;
    c->delivery.to = NULL;
    c->called = false;
    for (unsigned i = 0; i < MKPERF_SCHED_SLOTS; i++) {
        c->slot[i] = NULL;
    }
    c->sampled = (s->session.words != 0 ? ALL_REASONS : waits(s)) |
                 (s->session.counts != 0 || s->session.soft_mask != 0 ? COUNTED : 0);
    s->running = mkperf_port_identity(running);
    put_sched(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 0), running, time);
    if (s->session.counts != 0) {
        mkperf_counts_take(
            s); /* looks the table up: the first switch then costs what others cost */
    }
}
