/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulator of PDs with queues between them: priorities, cores, budgets, calls, batches. It sends what a target would send
 * (scheduling events, and readings of changed queues at switches) to a sink, and counts what happened.
 *
 * A PD runs `fixed` ns when it wakes, then `each` ns for each packet, which it takes first and passes on last. It goes on while it has
 * packets and space. Then it notifies the PDs before and behind it, and waits. A PD without a queue before it is a source.
 */
#ifndef MKPERF_TESTS_FLOW_PIPELINE_H
#define MKPERF_TESTS_FLOW_PIPELINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

enum { SIM_PDS = 16, SIM_QUEUES = 12, SIM_CORES = 4, SIM_RING = 4096, SIM_NONE = -1 };

enum sim_state { SIM_WAITS, SIM_READY, SIM_CALLS, SIM_THROTTLED };
enum sim_step { SIM_FIXED, SIM_PACKET, SIM_SERVE };

struct sim_pd {
    const char *name;
    unsigned core, priority;
    int in, out;             /* queues; SIM_NONE */
    uint64_t each, fixed;    /* ns */
    uint64_t random;         /* ns: up to this much is added to `each` */
    unsigned batch;          /* most packets until it notifies; 0: no limit */
    int callee;              /* PD that it calls for each packet; SIM_NONE */
    uint64_t budget, period; /* ns; 0: it may always run */
    uint64_t arrival,
        arrival_rand; /* of a source: ns between packets, 0: it always has one; what is added at most */
    uint64_t hog_every; /* ns: it works `each` ns at these times, without packets */
    /* state */
    enum sim_state state;
    enum sim_step step;
    bool notified, has_packet;
    uint64_t left, budget_left, next_arrival, next_refill, backlog;
    unsigned done;
    int caller;
    /* truth */
    uint64_t packets, activations, ran;
    uint64_t most_in_activation, in_activation;
};

struct sim_queue {
    const char *name, *kind;
    int producer, consumer;
    uint64_t capacity;
    unsigned bits;
    uint64_t head, tail; /* as in memory, without the mask */
    uint64_t sent_head, sent_tail;
    bool sent;
    /* truth */
    double area, stayed;
    uint64_t full_ns, empty_ns, left;
    uint64_t arrived[SIM_RING];
};

struct sim {
    struct mkperf_sink sink;
    struct mkperf_error e;
    unsigned npds, nqueues, ncores;
    struct sim_pd pd[SIM_PDS];
    struct sim_queue queue[SIM_QUEUES];
    int running[SIM_CORES];
    enum mkperf_sched_reason reason[SIM_CORES]; /* why the PD that ran stops */
    uint64_t now, begin, events, readings;
    bool sampled; /* the session has an event, for samples that the test sends */
    uint64_t seed;
};

static inline uint64_t sim_random(struct sim *s, uint64_t n)
{
    s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n != 0 ? (s->seed >> 33) % n : 0;
}

static inline struct sim_pd *sim_add(struct sim *s, const char *name, unsigned core,
                                     unsigned priority, uint64_t each)
{
    struct sim_pd *p = &s->pd[s->npds++];

    *p = (struct sim_pd){.name = name,
                         .core = core,
                         .priority = priority,
                         .each = each,
                         .in = SIM_NONE,
                         .out = SIM_NONE,
                         .callee = SIM_NONE,
                         .caller = SIM_NONE};
    s->ncores = core >= s->ncores ? core + 1 : s->ncores;
    return p;
}

/* Connects two PDs by their numbers. */
static inline struct sim_queue *sim_connect(struct sim *s, int producer, int consumer,
                                            uint64_t capacity)
{
    static const char *const names[SIM_QUEUES] = {"q0", "q1", "q2", "q3", "q4",  "q5",
                                                  "q6", "q7", "q8", "q9", "q10", "q11"};
    struct sim_queue *q = &s->queue[s->nqueues];

    *q = (struct sim_queue){.name = names[s->nqueues],
                            .kind = "ring",
                            .producer = producer,
                            .consumer = consumer,
                            .capacity = capacity,
                            .bits = 16};
    q->head = q->tail = sim_random(s, 70000);
    s->pd[producer].out = s->pd[consumer].in = (int)s->nqueues++;
    return q;
}

static inline void sim_event(struct sim *s, unsigned core, enum mkperf_sched_kind kind,
                             enum mkperf_sched_reason reason, int from, int to)
{
    const struct mkperf_sched event = {.time_ns = s->now,
                                       .core = core,
                                       .kind = kind,
                                       .reason = reason,
                                       .from = from >= 0 ? (uint32_t)from : s->npds,
                                       .to = to >= 0 ? (uint32_t)to : s->npds};

    s->events++;
    assert_int_equal(mkperf_sink_sched(&s->sink, &event, &s->e), MKPERF_OK);
}

/* Sends the queues that changed since they were sent. */
static inline void sim_read(struct sim *s, unsigned core)
{
    for (unsigned i = 0; i < s->nqueues; i++) {
        struct sim_queue *q = &s->queue[i];
        uint64_t mask = UINT64_MAX >> (64 - q->bits);
        const struct mkperf_queue_reading r = {.time_ns = s->now,
                                               .core = core,
                                               .queue = i,
                                               .head = q->head & mask,
                                               .tail = q->tail & mask};

        if (!q->sent || q->sent_head != q->head || q->sent_tail != q->tail) {
            q->sent = true;
            q->sent_head = q->head;
            q->sent_tail = q->tail;
            s->readings++;
            assert_int_equal(mkperf_sink_queue_reading(&s->sink, &r, &s->e), MKPERF_OK);
        }
    }
}

/* Announces the session and its PDs; then the cores are idle. */
static inline void sim_begin(struct sim *s, struct mkperf_sink sink)
{
    struct mkperf_queue queue[SIM_QUEUES];
    struct mkperf_session session = {
        .cores = s->ncores, .sched = true, .nqueues = s->nqueues, .queue = queue};

    s->sink = sink;
    s->now = s->begin = 1000000;
    if (s->sampled) {
        session.nevents = 1;
        session.event[0] = (struct mkperf_event){
            .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    }
    for (unsigned i = 0; i < s->nqueues; i++) {
        struct sim_queue *q = &s->queue[i];
        queue[i] = (struct mkperf_queue){.name = q->name,
                                         .kind = q->kind,
                                         .producer = s->pd[q->producer].name,
                                         .consumer = s->pd[q->consumer].name,
                                         .capacity = q->capacity,
                                         .index_bits = q->bits,
                                         .seen = true};
    }
    assert_int_equal(mkperf_sink_begin(&sink, &session, &s->e), MKPERF_OK);
    for (unsigned i = 0; i <= s->npds; i++) {
        const struct sim_pd *p = &s->pd[i];
        bool idle = i == s->npds;
        const struct mkperf_pd pd = {
            .thread = idle ? MKPERF_THREAD_IDLE : i + 1,
            .id = i,
            .name = idle ? "idle" : p->name,
            .scheduling = {.known = !idle,
                           .priority = p->priority,
                           .cpu = p->core,
                           .budget_us = p->budget != 0 ? p->budget / 1000 : 1000,
                           .period_us = p->budget != 0 ? p->period / 1000 : 1000},
        };
        assert_int_equal(mkperf_sink_pd(&sink, &pd, &s->e), MKPERF_OK);
    }
    for (unsigned c = 0; c < s->ncores; c++) {
        s->running[c] = SIM_NONE;
        sim_event(s, c, MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, SIM_NONE, SIM_NONE);
    }
    for (unsigned i = 0; i < s->npds; i++) {
        struct sim_pd *p = &s->pd[i];
        p->budget_left = p->budget;
        p->next_refill = s->now + p->period;
        p->next_arrival = s->now + p->arrival + p->hog_every + 1000 * (i + 1);
    }
}

static inline bool sim_has_work(const struct sim *s, const struct sim_pd *p)
{
    bool space = p->out == SIM_NONE ||
                 s->queue[p->out].tail - s->queue[p->out].head < s->queue[p->out].capacity;
    bool packet = p->in != SIM_NONE    ? s->queue[p->in].tail != s->queue[p->in].head
                  : p->hog_every != 0  ? p->backlog != 0
                  : p->out == SIM_NONE ? false
                  : p->arrival != 0    ? p->backlog != 0
                                       : true;
    return space && packet;
}

/* PD `to` is notified by PD `from`, or by an interrupt. */
static inline void sim_notify(struct sim *s, int from, int to)
{
    struct sim_pd *p = &s->pd[to];

    sim_event(s, from >= 0 ? s->pd[from].core : p->core,
              from >= 0 ? MKPERF_SCHED_NOTIFY : MKPERF_SCHED_IRQ, MKPERF_STOPPED_UNKNOWN,
              from >= 0 ? from : s->running[p->core], to);
    if (p->state == SIM_WAITS) {
        p->state = SIM_READY;
        p->step = SIM_FIXED;
        p->left = p->fixed;
        p->done = 0;
        if (s->running[p->core] != to) { /* otherwise it has not left its core yet, and goes on */
            p->activations++;
            p->in_activation = 0;
        }
    } else {
        p->notified = true;
    }
}

static inline void sim_count(struct sim *s, struct sim_queue *q, uint64_t to)
{
    uint64_t n = q->tail - q->head;

    q->area += (double)n * (double)(to - s->now);
    q->empty_ns += n == 0 ? to - s->now : 0;
    q->full_ns += n == q->capacity ? to - s->now : 0;
}

/* The PD begins its next packet, or notifies and waits. */
static inline void sim_next(struct sim *s, int number)
{
    struct sim_pd *p = &s->pd[number];
    bool more = sim_has_work(s, p) && (p->batch == 0 || p->done < p->batch);

    if (more) {
        if (p->in != SIM_NONE) {
            struct sim_queue *q = &s->queue[p->in];
            q->stayed += (double)(s->now - q->arrived[q->head % SIM_RING]);
            q->left++;
            q->head++;
        }
        p->backlog -= p->backlog != 0;
        p->has_packet = true;
        p->step = SIM_PACKET;
        p->left = p->each + sim_random(s, p->random);
        return;
    }
    if (p->done != 0 && p->out != SIM_NONE) {
        sim_notify(s, number, s->queue[p->out].consumer);
    }
    if (p->done != 0 && p->in != SIM_NONE) {
        sim_notify(s, number, s->queue[p->in].producer);
    }
    p->done = 0;
    if (p->notified || sim_has_work(s, p)) {
        p->notified = false;
        p->step = SIM_FIXED;
        p->left = p->fixed;
        return;
    }
    p->state = SIM_WAITS;
    s->reason[p->core] = MKPERF_STOPPED_WAIT_NOTIFICATION;
}

static inline void sim_packet_done(struct sim *s, int number)
{
    struct sim_pd *p = &s->pd[number];

    p->has_packet = false;
    p->done++;
    p->packets++;
    p->in_activation++;
    p->most_in_activation = p->in_activation > p->most_in_activation ? p->in_activation
                                                                     : p->most_in_activation;
    if (p->out != SIM_NONE) {
        struct sim_queue *q = &s->queue[p->out];
        q->arrived[q->tail % SIM_RING] = s->now;
        q->tail++;
    }
    sim_next(s, number);
}

/* The PD that runs has finished its step. */
static inline void sim_step_done(struct sim *s, int number)
{
    struct sim_pd *p = &s->pd[number];

    if (p->step == SIM_FIXED) {
        sim_next(s, number);
    } else if (p->step == SIM_SERVE) {
        sim_event(s, p->core, MKPERF_SCHED_REPLY, MKPERF_STOPPED_UNKNOWN, number, p->caller);
        p->packets++;
        s->pd[p->caller].state = SIM_READY;
        p->state = SIM_WAITS;
        s->reason[p->core] = MKPERF_STOPPED_WAIT_MESSAGE;
        sim_packet_done(s, p->caller);
    } else if (p->callee != SIM_NONE) {
        struct sim_pd *server = &s->pd[p->callee];
        assert_int_equal(server->state, SIM_WAITS);
        assert_int_equal(server->core, p->core);
        sim_event(s, p->core, MKPERF_SCHED_CALL, MKPERF_STOPPED_UNKNOWN, number, p->callee);
        p->state = SIM_CALLS;
        server->state = SIM_READY;
        server->step = SIM_SERVE;
        server->left = server->each;
        server->caller = number;
        server->activations++;
        s->reason[p->core] = MKPERF_STOPPED_CALLED;
    } else {
        sim_packet_done(s, number);
    }
}

static inline void sim_schedule(struct sim *s)
{
    for (unsigned c = 0; c < s->ncores; c++) {
        int best = SIM_NONE, old = s->running[c];
        for (int i = 0; i < (int)s->npds; i++) {
            const struct sim_pd *p = &s->pd[i];
            if (p->core == c && p->state == SIM_READY &&
                (best == SIM_NONE || p->priority > s->pd[best].priority)) {
                best = i;
            }
        }
        if (best != old) {
            enum mkperf_sched_reason reason = old == SIM_NONE ? MKPERF_STOPPED_IDLE
                                              : s->pd[old].state == SIM_READY
                                                  ? MKPERF_STOPPED_PREEMPTED
                                                  : s->reason[c];
            sim_read(s, c);
            sim_event(s, c, MKPERF_SCHED_SWITCH, reason, old, best);
            s->running[c] = best;
        }
    }
}

/* Runs for `ns`. */
static inline void sim_run(struct sim *s, uint64_t ns)
{
    uint64_t end = s->now + ns;

    while (s->now < end) {
        uint64_t next = end;
        sim_schedule(s);
        for (unsigned i = 0; i < s->npds; i++) {
            struct sim_pd *p = &s->pd[i];
            bool runs = s->running[p->core] == (int)i;
            uint64_t at = UINT64_MAX;
            at = runs ? s->now + p->left : at;
            at = runs && p->budget != 0 && p->budget_left < p->left ? s->now + p->budget_left : at;
            at = (p->arrival != 0 || p->hog_every != 0) && p->next_arrival < at ? p->next_arrival
                                                                                : at;
            at = p->budget != 0 && p->next_refill < at ? p->next_refill : at;
            next = at < next ? at : next;
        }
        uint64_t dt = next - s->now;
        for (unsigned i = 0; i < s->nqueues; i++) {
            sim_count(s, &s->queue[i], next);
        }
        s->now = next;
        for (unsigned c = 0; c < s->ncores; c++) {
            struct sim_pd *p = s->running[c] != SIM_NONE ? &s->pd[s->running[c]] : NULL;
            if (p != NULL) {
                p->ran += dt;
                p->left -= dt;
                p->budget_left -= p->budget != 0 ? dt : 0;
            }
        }
        for (unsigned c = 0; c < s->ncores; c++) {
            struct sim_pd *p = s->running[c] != SIM_NONE ? &s->pd[s->running[c]] : NULL;
            if (p != NULL && p->left == 0 && p->state == SIM_READY) {
                sim_step_done(s, s->running[c]);
            }
        }
        for (int i = 0; i < (int)s->npds; i++) {
            struct sim_pd *p = &s->pd[i];
            if ((p->arrival != 0 || p->hog_every != 0) && p->next_arrival <= s->now) {
                p->next_arrival += p->arrival + p->hog_every + sim_random(s, p->arrival_rand);
                p->backlog += p->backlog < 256;
                sim_notify(s, SIM_NONE, i);
            }
            if (p->budget != 0 && p->next_refill <= s->now) {
                p->next_refill += p->period;
                p->budget_left = p->budget;
                if (p->state == SIM_THROTTLED) {
                    p->state = SIM_READY;
                    sim_event(s, p->core, MKPERF_SCHED_WAKE, MKPERF_STOPPED_UNKNOWN, SIM_NONE, i);
                }
            }
            if (p->budget != 0 && p->budget_left == 0 && p->state == SIM_READY) {
                p->state = SIM_THROTTLED;
                if (s->running[p->core] == i) {
                    s->reason[p->core] = MKPERF_STOPPED_BUDGET;
                }
            }
        }
    }
}

/* A source that always has packets needs a first notification. */
static inline void sim_start(struct sim *s)
{
    for (int i = 0; i < (int)s->npds; i++) {
        if (s->pd[i].in == SIM_NONE && s->pd[i].out != SIM_NONE && s->pd[i].arrival == 0) {
            sim_notify(s, SIM_NONE, i);
        }
    }
}

static inline void sim_end(struct sim *s)
{
    for (unsigned c = 0; c < s->ncores;
         c++) { /* one more switch each, so that the last counts arrive */
        sim_read(s, c);
        sim_event(s, c, MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, s->running[c], SIM_NONE);
    }
    const struct mkperf_totals t = {.first_ns = s->begin,
                                    .last_ns = s->now,
                                    .sched_events = s->events,
                                    .queue_readings = s->readings,
                                    .complete = true};
    assert_int_equal(mkperf_sink_end(&s->sink, &t, &s->e), MKPERF_OK);
}

#endif
