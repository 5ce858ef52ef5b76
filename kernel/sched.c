/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events: see hook.h, which says who calls, and include/mkperf/sched.h, which has their
 * records.
 *
 * Owns: how an event gets into the core's ring. An event has two words and refers
 * to a thread by a slot. A record before the slot's first event names the thread. The port chooses the
 * slot; threads with the same slot replace each other, each time with a new record. The
 * plain case is a comparison of the slot and one of the position: `limit` lies before the end of the
 * ring, of its free part, and of what is below the watermark, whichever is next; 0 after a loss. The
 * event of a delivery is held back until the next event, which may be the switch that says the same.
 *
 * What may be lost: events for which the ring has no room, or while it is not mapped. They are
 * counted in the ring's header, and a record before the next event says how many are missing.
 */
#include <mkperf_port.h>

#include "hook.h"

#define SCHED_BYTES (UINT64_C(8) * MKPERF_SCHED_WORDS)
#define SCHED_THREAD_BYTES (UINT64_C(8) * MKPERF_SCHED_THREAD_WORDS)
#define SCHED_LOSS_BYTES (UINT64_C(8) * MKPERF_SCHED_LOSS_WORDS)

/* Reasons for which a thread that stopped waits. */
enum {
    WAITS = 1 << MKPERF_STOPPED_CALLED | 1 << MKPERF_STOPPED_QUEUED | 1 << MKPERF_STOPPED_REPLIED |
            1 << MKPERF_STOPPED_WAIT_MESSAGE | 1 << MKPERF_STOPPED_WAIT_NOTIFICATION |
            1 << MKPERF_STOPPED_BUDGET | 1 << MKPERF_STOPPED_FAULTED |
            1 << MKPERF_STOPPED_SUSPENDED,
};

static uint64_t sched_core(void)
{
    return (uint64_t)mkperf_port_core() << 56;
}

static void sched_lose(struct mkperf_hook *s, uint64_t time)
{
    struct mkperf_hook_sched *c = &s->sched;

    if (c->lost++ == 0) {
        c->lost_from = time;
    }
    c->limit = 0;
    if (s->ring != NULL) {
        s->ring->dropped_sched = c->lost_before + c->lost;
    }
}

/* The position up to which events need no look, from `head` on. */
static uint64_t sched_limit(const struct mkperf_hook *s, uint64_t head, uint64_t tail)
{
    uint64_t end = (head | (s->ring_bytes - 1)) + 1; /* of the ring */
    uint64_t full = tail + s->ring_bytes;
    uint64_t limit = end < full ? end : full;

    /* Before the watermark and not up to it: the event that reaches it wakes. Behind it, the
     * consumer is on its way, and where it is has to be looked up now and then. */
    uint64_t look = head - tail < s->watermark ? tail + s->watermark - 1 : head + s->watermark;
    return look < limit ? look : limit;
}

static uint64_t *put_sched_loss(struct mkperf_hook *s, uint64_t *w)
{
    struct mkperf_hook_sched *c = &s->sched;

    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(MKPERF_RECORD_SCHED_LOSS, (unsigned)SCHED_LOSS_BYTES, 0, 0, 0, 0) |
        sched_core();
    w[MKPERF_WORD_TIME] = c->lost_from;
    w[MKPERF_SCHED_LOST] = c->lost;
    c->lost_before += c->lost;
    c->lost = 0;
    return w + MKPERF_SCHED_LOSS_WORDS;
}

static uint64_t *put_sched_thread(struct mkperf_hook *s, uint64_t *w, unsigned slot,
                                  const void *thread, uint64_t time)
{
    struct mkperf_identity id = mkperf_port_identity(thread);

    w[MKPERF_WORD_HEADER] = mkperf_record_header(MKPERF_RECORD_SCHED_THREAD,
                                                 (unsigned)SCHED_THREAD_BYTES, 0, slot, 0, 0) |
                            sched_core();
    w[MKPERF_WORD_TIME] = time;
    w[MKPERF_WORD_THREAD] = id.badge;
    w[MKPERF_WORD_SC] = id.sc;
    s->sched.slot[slot] = thread;
    return w + MKPERF_SCHED_THREAD_WORDS;
}

/* An event before which something has to be looked at, or said. */
__attribute__((noinline)) static void put_sched_slowly(struct mkperf_hook *s, uint64_t header,
                                                       unsigned slot, const void *thread,
                                                       uint64_t time)
{
    struct mkperf_hook_sched *c = &s->sched;
    bool known = c->slot[slot] == thread;
    uint64_t bytes = SCHED_BYTES + (c->lost != 0 ? SCHED_LOSS_BYTES : 0) +
                     (known ? 0 : SCHED_THREAD_BYTES);

    mkperf_hook_find_ring(s);
    if (s->ring == NULL) {
        sched_lose(s, time);
        return;
    }
    struct mkperf_ring_producer p = {.ring = s->ring, .size = s->ring_bytes, .head = s->head};
    uint64_t *w = mkperf_ring_reserve(&p, bytes);

    if (w == NULL) {
        sched_lose(s, time);
        return;
    }
    if (c->lost != 0) {
        w = put_sched_loss(s, w);
    }
    if (!known) {
        w = put_sched_thread(s, w, slot, thread, time);
    }
    w[MKPERF_WORD_HEADER] = header;
    w[MKPERF_WORD_TIME] = time;
    mkperf_ring_commit(&p, bytes);
    uint64_t before = s->head - p.tail;
    s->head = p.head;
    c->limit = sched_limit(s, p.head, p.tail);
    if (before < s->watermark && p.head - p.tail >= s->watermark) {
        mkperf_port_wake();
    }
}

/* what: of mkperf_sched_header, without what all events of a core have in common. */
static inline __attribute__((always_inline)) void put_sched(struct mkperf_hook *s, uint64_t what,
                                                            const void *thread, uint64_t time)
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
    uint64_t *w = (uint64_t *)(void *)((uint8_t *)ring + MKPERF_RING_HEADER_BYTES +
                                       (head & (s->ring_bytes - 1)));
    w[MKPERF_WORD_HEADER] = header;
    w[MKPERF_WORD_TIME] = time;
    s->head = next;
    __atomic_store_n(&ring->head, next, __ATOMIC_RELEASE);
}

/* The same behind the event of a delivery. Apart, so that nothing is saved for it. */
__attribute__((noinline)) static void put_behind(struct mkperf_hook *s, uint64_t what,
                                                 const void *thread, uint64_t time)
{
    mkperf_sched_flush(s);
    put_sched(s, what, thread, time);
}

/* The same of an event that is not the switch which a delivery waits for. */
static inline __attribute__((always_inline)) void put_other(struct mkperf_hook *s, uint64_t what,
                                                            const void *thread, uint64_t time)
{
    if (__builtin_expect(s->sched.delivered != NULL, 0)) {
        put_behind(s, what, thread, time);
        return;
    }
    put_sched(s, what, thread, time);
}

__attribute__((noinline)) void mkperf_sched_flush(struct mkperf_hook *s)
{
    struct mkperf_hook_sched *c = &s->sched;
    const void *thread = c->delivered;

    if (thread != NULL) {
        c->delivered = NULL;
        put_sched(s, mkperf_sched_what(c->kind, 0, 0), thread, c->time);
    }
}

/* A switch behind the event of a delivery, or with a sample of the thread that stops. */
__attribute__((noinline)) static void put_sampled(struct mkperf_hook *s, unsigned reason,
                                                  const void *last, const void *thread,
                                                  uint64_t time)
{
    mkperf_sched_flush(s);
    if (s->sched.sampled >> reason & 1) {
        mkperf_capture_waiting(s, last, time);
    }
    put_sched(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, reason, 0), thread, time);
}

/* A switch after a delivery, which it says as well if it is to that thread. */
__attribute__((noinline)) static void put_switch(struct mkperf_hook *s, unsigned reason,
                                                 const void *last, const void *thread,
                                                 uint64_t time)
{
    struct mkperf_hook_sched *c = &s->sched;
    bool replies = c->kind == MKPERF_SCHED_REPLY;
    bool waits = reason == MKPERF_STOPPED_WAIT_MESSAGE ||
                 reason == MKPERF_STOPPED_WAIT_NOTIFICATION;

    if (c->delivered != NULL && c->delivered == thread &&
        (replies ? waits : reason == MKPERF_STOPPED_CALLED)) {
        c->delivered = NULL;
        reason = replies ? MKPERF_STOPPED_REPLIED : reason;
    }
    if (__builtin_expect(c->delivered != NULL || (c->sampled >> reason & 1) != 0, 0)) {
        put_sampled(s, reason, last, thread, time);
        return;
    }
    put_sched(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, reason, 0), thread, time);
}

void mkperf_sched_switch(struct mkperf_hook *s, unsigned reason, const void *last,
                         const void *thread, uint64_t time)
{
    if (((uintptr_t)s->sched.delivered | s->sched.sampled) != 0) {
        put_switch(s, reason, last, thread, time);
        return;
    }
    put_sched(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, reason, 0), thread, time);
}

void mkperf_sched_deliver_next(struct mkperf_hook *s, unsigned kind, const void *thread,
                               uint64_t time)
{
    mkperf_sched_flush(s);
    mkperf_sched_delivered(s, kind, thread, time);
}

void mkperf_sched_event(struct mkperf_hook *s, unsigned kind, const void *thread)
{
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

void mkperf_sched_begin(struct mkperf_hook *s, uint64_t time)
{
    struct mkperf_hook_sched *c = &s->sched;

    c->limit = 0;
    c->header = mkperf_sched_header(0, 0, 0) | sched_core();
    c->sampled = (s->session.sched & MKPERF_SCHED_OFF_CPU) != 0 ? WAITS : 0;
    c->lost = 0;
    c->lost_before = 0;
    c->delivered = NULL;
    for (unsigned i = 0; i < MKPERF_SCHED_SLOTS; i++) {
        c->slot[i] = NULL;
    }
    put_sched(s, mkperf_sched_what(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 0),
              mkperf_port_running(), time);
}
