/* SPDX-License-Identifier: BSD-2-Clause */
/* Latencies between PDs: see latency.h for ownership and callers. */
#include "latency.h"

#include <stddef.h>

enum {
    NOWHERE = 0xffff, /* no index */
    CELL_PROBES = 32, /* places that are tried for a bucket */
};

#define LATENCY_HASH UINT64_C(0x9e3779b97f4a7c15)

/* Returns a key: bits 0-2 kind + 1, 3-15 index of `to`, 16-31 index of `from` or the interrupt,
 * 32-63 the reason of an exit. */
static uint64_t make_key(unsigned kind, unsigned from, unsigned to, uint32_t exit)
{
    return (uint64_t)(kind + 1) | (uint64_t)to << 3 | (uint64_t)from << 16 | (uint64_t)exit << 32;
}

static unsigned kind_of(uint64_t key)
{
    return (unsigned)(key & 7) - 1;
}

static unsigned to_of(uint64_t key)
{
    return key >> 3 & 0x1fff;
}

static unsigned from_of(uint64_t key)
{
    return key >> 16 & 0xffff;
}

void mkperf_latency_begin(struct mkperf_latency *l)
{
    *l = (struct mkperf_latency){.end = UINT64_MAX, .ready_least = UINT64_MAX};
}

static uint64_t ticks_of(const struct mkperf_latency *l, const mkperf_StopIf *limit)
{
    return limit->ns * l->tick_hz / 1000000000;
}

void mkperf_latency_limit(struct mkperf_latency *l, const mkperf_StopIf *limit, unsigned n,
                          uint64_t tick_hz, mkperf_Status *status)
{
    l->limit = limit;
    l->limits = n;
    l->tick_hz = tick_hz;
    l->status = status;
    for (unsigned i = 0; i < n; i++) {
        if (limit[i].kind == mkperf_StopKind_STOP_READY &&
            ticks_of(l, &limit[i]) < l->ready_least) {
            l->ready_least = ticks_of(l, &limit[i]);
        }
    }
}

/* Finds the index of a thread or adds it. NOWHERE: there is no room. */
static unsigned index_of(struct mkperf_latency *l, uint64_t identity)
{
    uint64_t at = identity * LATENCY_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_LATENCY_THREADS; i++, at++) {
        struct mkperf_latency_thread *t = &l->thread[at % MKPERF_LATENCY_THREADS];
        if (!t->used) {
            *t = (struct mkperf_latency_thread){.used = true, .identity = identity};
        }
        if (t->identity == identity) {
            return (unsigned)(at % MKPERF_LATENCY_THREADS);
        }
    }
    return NOWHERE;
}

/* The index of the cell with that key, or of the free one that it would have. NOWHERE: there is
 * neither. */
static unsigned cell_of(const struct mkperf_latency *l, uint64_t key)
{
    uint64_t at = key * LATENCY_HASH >> 32;

    for (unsigned i = 0; i < CELL_PROBES; i++, at++) {
        uint64_t cell = l->cell[at % MKPERF_LATENCY_CELLS];
        if (cell == 0 || cell >> 32 == key) {
            return at % MKPERF_LATENCY_CELLS;
        }
    }
    return NOWHERE;
}

static uint64_t cell_key(unsigned pair, unsigned bucket)
{
    return (uint64_t)(pair + 1) << 16 | bucket;
}

/* Counts one latency in a bucket of the pair with that index. False: there is no room. */
static bool count_bucket(struct mkperf_latency *l, unsigned pair, unsigned bucket)
{
    uint64_t key = cell_key(pair, bucket);
    unsigned at = cell_of(l, key);

    if (at != NOWHERE) {
        uint32_t count = (uint32_t)l->cell[at];
        l->cell[at] = key << 32 | (count + (count != UINT32_MAX));
    }
    return at != NOWHERE;
}

uint32_t mkperf_latency_count(const struct mkperf_latency *l, unsigned pair, unsigned bucket)
{
    unsigned at = cell_of(l, cell_key(pair, bucket));

    return at != NOWHERE ? (uint32_t)l->cell[at] : 0;
}

/* Finds the pair with that key or adds it. NULL: there is no room. */
static struct mkperf_latency_pair *pair_of(struct mkperf_latency *l, uint64_t key)
{
    uint64_t at = key * LATENCY_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_LATENCY_PAIRS; i++, at++) {
        struct mkperf_latency_pair *p = &l->pair[at % MKPERF_LATENCY_PAIRS];
        if (p->key == 0) {
            p->key = key;
        }
        if (p->key == key) {
            return p;
        }
    }
    l->dropped++;
    return NULL;
}

/* Compares a latency with the limits. from: index of a thread, or the interrupt; to: index. */
static __attribute__((noinline)) void check_limits(struct mkperf_latency *l, unsigned kind,
                                                   unsigned from, unsigned to, uint64_t ticks,
                                                   uint64_t at)
{
    bool irq = kind == MKPERF_LATENCY_IRQ;
    uint64_t waker = irq ? from : mkperf_thread_to_wire(l->thread[from].identity);
    uint64_t woken = mkperf_thread_to_wire(l->thread[to].identity);

    for (unsigned i = 0; i < l->limits; i++) {
        const mkperf_StopIf *limit = &l->limit[i];
        mkperf_Status *s = l->status;
        if ((unsigned)limit->kind == kind && ticks >= ticks_of(l, limit) &&
            (limit->to == 0 || limit->to == woken) &&
            (limit->from == 0 || limit->from == waker + irq) &&
            s->trigger == mkperf_FlightTrigger_FLIGHT_STOP) {
            s->trigger = mkperf_FlightTrigger_FLIGHT_CONDITION;
            s->trigger_kind = limit->kind;
            s->trigger_from = waker;
            s->trigger_thread = woken;
            s->trigger_ticks = ticks;
            s->trigger_at = at;
        }
    }
}

/* Offers a latency that may be the first to reach a limit. The rest is as for check_limits. */
static inline void offer(struct mkperf_latency *l, unsigned kind, unsigned from, unsigned to,
                         uint64_t ticks, uint64_t at)
{
    if (l->limits != 0) {
        check_limits(l, kind, from, to, ticks, at);
    }
}

static void record_latency(struct mkperf_latency *l, uint64_t key, uint64_t from, uint64_t until)
{
    uint64_t ticks = until > from ? until - from : 0;
    struct mkperf_latency_pair *p = pair_of(l, key);

    /* The first latency of a pair that reaches a limit is its longest so far. */
    if (p == NULL || ticks > p->max || p->count == 0) {
        offer(l, kind_of(key), from_of(key), to_of(key), ticks, until);
    }
    if (p == NULL) {
        return;
    }
    if (!count_bucket(l, (unsigned)(p - l->pair), mkperf_log_bucket(ticks))) {
        l->dropped++;
        return;
    }
    p->count++;
    p->total += ticks;
    if (ticks > p->max || p->count == 1) {
        p->max = ticks;
        p->max_at = until;
    }
}

/* Notes that the thread can run, and does not run yet. */
static void make_ready(struct mkperf_latency_thread *t, uint64_t time)
{
    t->ready_at = t->ready ? t->ready_at : time;
    t->ready = true;
}

/* Notes that the thread stopped waiting, and can run. */
static void end_wait(struct mkperf_latency_thread *t, uint64_t time)
{
    t->known = true;
    t->waits = false;
    make_ready(t, time);
}

/* Notes that the running thread makes a protected call. callee: NOWHERE if the callee is busy. */
static void begin_call(struct mkperf_latency_thread *t, unsigned callee, uint64_t time)
{
    t->calls = true;
    t->called_at = time;
    t->answered = callee != NOWHERE;
    t->callee = (uint16_t)callee;
    t->exit = 0;
}

/* Notes that the reply to thread `to` was delivered, or that the guest of thread `to` runs
 * again. */
static void finish_call(struct mkperf_latency *l, unsigned to, uint64_t time)
{
    struct mkperf_latency_thread *t = &l->thread[to];
    unsigned kind = t->exit != 0 ? MKPERF_LATENCY_EXIT : MKPERF_LATENCY_CALL;

    if (t->calls && t->answered) {
        record_latency(l, make_key(kind, to, t->callee, t->exit), t->called_at, time);
    }
    t->calls = false;
    t->known = true;
}

/* Thread `to` was notified. from: index of the waker, or the interrupt. */
static void wake_thread(struct mkperf_latency *l, unsigned to, unsigned kind, unsigned from,
                        uint64_t time)
{
    struct mkperf_latency_thread *t = &l->thread[to];
    bool waited = t->waits;

    t->waits = false;
    if (kind == MKPERF_LATENCY_NOTIFY && from == NOWHERE) {
        return; /* the waker is unknown */
    }
    if (!waited) {
        struct mkperf_latency_pair *p = t->known ? pair_of(l, make_key(kind, from, to, 0)) : NULL;
        if (p != NULL) {
            p->busy++;
        }
        return;
    }
    make_ready(t, time);
    t->woken = true;
    t->wake_kind = (uint8_t)kind;
    t->waker = (uint16_t)from;
    t->woken_at = time;
}

/* Thread `now` stops, and thread `to` runs. */
static void stop_thread(struct mkperf_latency *l, unsigned now, unsigned reason, unsigned to,
                        uint64_t time)
{
    struct mkperf_latency_thread *t = &l->thread[now];

    t->known = true;
    t->ready = reason == MKPERF_STOPPED_PREEMPTED;
    t->ready_at = time;
    if (reason == MKPERF_STOPPED_BUDGET) {
        offer(l, MKPERF_LATENCY_THROTTLED, now, now, 0, time);
    }
    t->waits = reason == MKPERF_STOPPED_WAIT_MESSAGE ||
               reason == MKPERF_STOPPED_WAIT_NOTIFICATION || reason == MKPERF_STOPPED_REPLIED;
    if (reason == MKPERF_STOPPED_QUEUED) {
        begin_call(t, NOWHERE, time);
    } else if (reason == MKPERF_STOPPED_CALLED && !t->calls) {
        begin_call(t, to, time);
    }
}

/* Returns the run time until `time` of the thread that runs on a core. */
static uint64_t present_run(const struct mkperf_latency *l, unsigned core, uint64_t time)
{
    uint64_t until = time < l->end ? time : l->end;

    return l->running[core] != 0 && until > l->since[core] ? until - l->since[core] : 0;
}

unsigned mkperf_latency_runs(const struct mkperf_latency *l, uint64_t time,
                             mkperf_LatencyThread *out)
{
    unsigned n = 0;

    for (unsigned i = 0; i < MKPERF_LATENCY_THREADS; i++) {
        const struct mkperf_latency_thread *t = &l->thread[i];
        if (!t->used) {
            continue;
        }
        out[n] = (mkperf_LatencyThread){mkperf_thread_to_wire(t->identity), t->run_ticks, t->runs};
        for (unsigned core = 0; core < MKPERF_MAX_CORES; core++) {
            out[n].run_ticks += l->running[core] == i + 1 ? present_run(l, core, time) : 0;
        }
        n++;
    }
    return n;
}

static void begin_run(struct mkperf_latency *l, unsigned core, unsigned to, uint64_t time)
{
    struct mkperf_latency_thread *t = &l->thread[to];

    if (l->running[core] != 0) {
        l->thread[l->running[core] - 1].run_ticks += present_run(l, core, time);
    }
    l->since[core] = time;
    l->running[core] = (uint16_t)(to + 1);
    if (t->calls && t->exit != 0) { /* the kernel reports no reply to a fault */
        finish_call(l, to, time);
    }
    t->known = true;
    t->waits = false;
    if (t->ready && time - t->ready_at >= l->ready_least) {
        offer(l, MKPERF_LATENCY_READY, to, to, time - t->ready_at, time);
    }
    t->ready = false;
    if (t->woken) {
        t->woken = false;
        record_latency(l, make_key(t->wake_kind, t->waker, to, 0), t->woken_at, time);
    }
}

/* Returns the reason of an exit, with the page that the guest accessed; 0: it is no exit. */
static uint32_t take_exit(struct mkperf_latency *l, unsigned core, uint64_t header)
{
    unsigned number = mkperf_sched_number_of(header);
    uint32_t page = l->page[core];

    if (number < MKPERF_EXIT || number >= MKPERF_EXITS) {
        return 0;
    }
    l->page[core] = 0;
    return number | page << 8;
}

void mkperf_latency_event(struct mkperf_latency *l, unsigned core, uint64_t header,
                          uint64_t identity, uint64_t time)
{
    unsigned now = l->running[core] != 0 ? l->running[core] - 1U : NOWHERE;
    unsigned about = index_of(l, identity);
    unsigned reason = mkperf_sched_reason_of(header);

    if (about == NOWHERE) {
        mkperf_latency_gap(l); /* the thread's state would be wrong from now on */
        l->dropped++;
        return;
    }
    struct mkperf_latency_thread *t = &l->thread[about];
    uint32_t exit;

    switch (mkperf_sched_kind_of(header)) {
    case MKPERF_SCHED_SWITCH:
        if (now != NOWHERE) {
            stop_thread(l, now, reason, about, time);
        }
        if (reason == MKPERF_STOPPED_REPLIED) {
            finish_call(l, about, time);
        }
        begin_run(l, core, about, time);
        t->runs += reason != MKPERF_STOPPED_UNKNOWN;
        break;
    case MKPERF_SCHED_CALL:
        if (now != NOWHERE) {
            begin_call(&l->thread[now], about, time);
        }
        end_wait(t, time);
        break;
    case MKPERF_SCHED_REPLY:
        finish_call(l, about, time);
        make_ready(t, time);
        break;
    case MKPERF_SCHED_NOTIFY:
        wake_thread(l, about, MKPERF_LATENCY_NOTIFY, now, time);
        break;
    case MKPERF_SCHED_IRQ:
        wake_thread(l, about, MKPERF_LATENCY_IRQ, mkperf_sched_number_of(header), time);
        break;
    case MKPERF_SCHED_RECEIVE:
        exit = take_exit(l, core, header);
        if (exit != 0 && t->known && !t->ready && !t->calls) { /* the monitor was busy then */
            begin_call(t, now, t->ready_at);
            t->exit = exit;
        }
        t->answered = now != NOWHERE;
        t->callee = (uint16_t)now;
        break;
    case MKPERF_SCHED_WAKE:
        end_wait(t, time);
        break;
    case MKPERF_SCHED_FAULT:
        t->waits = false;
        exit = take_exit(l, core, header);
        if (exit != 0) {
            t->known = true;
            make_ready(t, time);
        }
        if (exit != 0 && now != NOWHERE) {
            begin_call(&l->thread[now], about, time);
            l->thread[now].exit = exit;
        }
        break;
    case MKPERF_SCHED_PAGE:
        l->page[core] = (l->page[core] << 12 | mkperf_sched_number_of(header)) &
                        (MKPERF_EXIT_PAGES - 1);
        break;
    default: /* locks change no thread's state */
        break;
    }
}

void mkperf_latency_gap(struct mkperf_latency *l)
{
    for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
        l->running[i] = 0;
        l->page[i] = 0;
    }
    for (unsigned i = 0; i < MKPERF_LATENCY_THREADS; i++) {
        l->thread[i].known = false;
        l->thread[i].waits = false;
        l->thread[i].woken = false;
        l->thread[i].ready = false;
        l->thread[i].calls = false;
    }
}

void mkperf_latency_ends(const struct mkperf_latency *l, const struct mkperf_latency_pair *pair,
                         mkperf_LatencyPair *out)
{
    unsigned kind = kind_of(pair->key);
    unsigned from = from_of(pair->key);
    unsigned to = to_of(pair->key);
    bool irq = kind == MKPERF_LATENCY_IRQ;

    *out = (mkperf_LatencyPair){
        .kind = kind == MKPERF_LATENCY_EXIT ? mkperf_LatencyKind_LATENCY_EXIT
                                            : (mkperf_LatencyKind)kind,
        .from = irq ? 0 : mkperf_thread_to_wire(l->thread[from % MKPERF_LATENCY_THREADS].identity),
        .to = mkperf_thread_to_wire(l->thread[to % MKPERF_LATENCY_THREADS].identity),
        .irq = irq ? from : (uint32_t)(pair->key >> 32),
    };
}
