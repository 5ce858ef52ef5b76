/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events of known stories, into any sink: for tests of perf.data, of the analysis, of
 * exports and of commands.
 */
#ifndef MKPERF_TESTS_SCHED_STORY_H
#define MKPERF_TESTS_SCHED_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

enum { CLIENT, SERVER, STORE, DRIVER, IDLE, STORY_PDS, STORY_EVENTS = 4096, STORY_CORES = 2 };

static const char *const story_names[STORY_PDS] = {"client", "server", "store", "driver", "idle"};
static const uint32_t story_priority[STORY_PDS] = {50, 100, 101, 200, 0};

struct story {
    struct mkperf_sink sink;
    struct mkperf_error e;
    uint32_t running[STORY_CORES];
    uint64_t first, last, events;
    struct mkperf_sched kept[STORY_EVENTS];
};

/* The session and its PDs, which all are announced. */
static inline void story_begin(struct story *s, struct mkperf_sink sink,
                               struct mkperf_session *session)
{
    session->sched = true;
    session->cores = session->cores != 0 ? session->cores : 1;
    memset(s, 0, sizeof *s);
    s->sink = sink;
    for (unsigned i = 0; i < STORY_CORES; i++) {
        s->running[i] = MKPERF_SCHED_NOBODY;
    }
    assert_int_equal(mkperf_sink_begin(&sink, session, &s->e), MKPERF_OK);
    for (uint32_t i = 0; i < STORY_PDS; i++) {
        struct mkperf_pd pd = {
            .thread = i == IDLE ? MKPERF_THREAD_IDLE : i + 1,
            .id = i,
            .name = story_names[i],
            .scheduling = {.known = i != IDLE, .priority = story_priority[i]},
        };
        if (i == DRIVER) {
            pd.scheduling.budget_us = 2000;
            pd.scheduling.period_us = 10000;
        }
        assert_int_equal(mkperf_sink_pd(&sink, &pd, &s->e), MKPERF_OK);
    }
}

static inline void story_pass(struct story *s, struct mkperf_sched event)
{
    s->first = s->events == 0 ? event.time_ns : s->first;
    s->last = event.time_ns > s->last ? event.time_ns : s->last;
    assert_true(s->events < STORY_EVENTS);
    s->kept[s->events++] = event;
    if (mkperf_sink_sched(&s->sink, &event, &s->e) != MKPERF_OK) {
        fail_msg("%s", s->e.text);
    }
}

static inline void on_core(struct story *s, uint32_t core, uint64_t ns, uint32_t to,
                           enum mkperf_sched_reason reason)
{
    story_pass(s, (struct mkperf_sched){.time_ns = ns,
                                        .core = core,
                                        .kind = MKPERF_SCHED_SWITCH,
                                        .reason = reason,
                                        .from = s->running[core],
                                        .to = to});
    s->running[core] = to;
}

/* `to` runs from now on. */
static inline void run(struct story *s, uint64_t ns, uint32_t to, enum mkperf_sched_reason reason)
{
    on_core(s, 0, ns, to, reason);
}

static inline void event(struct story *s, uint64_t ns, enum mkperf_sched_kind kind, uint32_t to)
{
    story_pass(s,
               (struct mkperf_sched){.time_ns = ns, .kind = kind, .from = s->running[0], .to = to});
}

static inline void irq(struct story *s, uint64_t ns, uint32_t number, uint32_t to)
{
    story_pass(s, (struct mkperf_sched){.time_ns = ns,
                                        .kind = MKPERF_SCHED_IRQ,
                                        .from = s->running[0],
                                        .to = to,
                                        .irq = number});
}

static inline void gap(struct story *s, uint64_t since, uint64_t ns, uint64_t lost)
{
    story_pass(s, (struct mkperf_sched){.time_ns = ns,
                                        .kind = MKPERF_SCHED_GAP,
                                        .from = MKPERF_SCHED_NOBODY,
                                        .to = MKPERF_SCHED_NOBODY,
                                        .lost = lost,
                                        .since_ns = since});
    s->running[0] = MKPERF_SCHED_NOBODY;
}

static inline void story_end(struct story *s)
{
    struct mkperf_totals t = {.first_ns = s->first, .last_ns = s->last, .complete = true};

    for (unsigned i = 0; i < s->events; i++) {
        t.sched_events += s->kept[i].kind != MKPERF_SCHED_GAP;
    }
    if (mkperf_sink_end(&s->sink, &t, &s->e) != MKPERF_OK) {
        fail_msg("%s", s->e.text);
    }
}

static inline unsigned story_draw(uint32_t *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed / 65536 % n;
}

/* n events from 1000 ns on, also those that no kernel sends. */
static inline void story_any(struct story *s, uint32_t seed, unsigned n)
{
    uint64_t t = 1000;
    uint32_t caller[STORY_PDS]; /* that switched to it by a call */

    memset(caller, 0xff, sizeof caller);
    for (unsigned i = 0; i < n; i++) {
        unsigned what = story_draw(&seed, 40), to = story_draw(&seed, STORY_PDS);
        uint32_t now = s->running[0];

        t += story_draw(&seed, 50);
        if (what < 10 && now < STORY_PDS && caller[now] < STORY_PDS) {
            run(s, t, caller[now], MKPERF_STOPPED_REPLIED);
        } else if (what < 20) {
            caller[to] = now;
            run(s, t, to, MKPERF_STOPPED_CALLED);
        } else if (what < 30) {
            run(s, t, to, (enum mkperf_sched_reason)story_draw(&seed, MKPERF_STOPPED_REASONS));
        } else if (what < 39) {
            event(s, t, (enum mkperf_sched_kind)story_draw(&seed, MKPERF_SCHED_GAP), to);
        } else if (story_draw(&seed, 10) == 0) {
            gap(s, t - story_draw(&seed, 20), t, 1);
        }
    }
}

/*
 * n rounds of 100 us: the client calls the server (fast), which runs 10 us, calls the store (20 us,
 * preempted by the driver for 5 us, whose interrupt arrived 1 us earlier), and replies after another
 * 3 us. The client runs 7 us before and 2 us after the call, then waits for a notification; idle.
 */
static inline void story_rounds(struct story *s, unsigned n)
{
    uint64_t t = 1000000;

    run(s, t, IDLE, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < n; i++, t += 100000) {
        event(s, t + 1000, MKPERF_SCHED_NOTIFY, CLIENT);
        run(s, t + 1000, CLIENT, MKPERF_STOPPED_IDLE);
        run(s, t + 8000, SERVER, MKPERF_STOPPED_CALLED);
        run(s, t + 18000, STORE, MKPERF_STOPPED_CALLED);
        irq(s, t + 27000, 33, DRIVER);
        run(s, t + 28000, DRIVER, MKPERF_STOPPED_PREEMPTED);
        run(s, t + 33000, STORE, MKPERF_STOPPED_WAIT_NOTIFICATION);
        run(s, t + 43000, SERVER, MKPERF_STOPPED_REPLIED);
        run(s, t + 46000, CLIENT, MKPERF_STOPPED_REPLIED);
        run(s, t + 48000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    }
}

#endif
