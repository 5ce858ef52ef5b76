/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of scheduling events and of readings of queues, see tracepoints.h.
 *
 * Owns: these records, and those that are derived for perf: wake-ups of threads that slept, how long a
 * thread ran, and waiting for the kernel's lock. Called by the writer, when everything that an event
 * names is in the file.
 */
#include "perfdata_internal.h"

enum { PRIO_UNKNOWN = 0 };

/* Whether a PD sleeps, and what it waits for: struct perfdata_pd, `sleep`. */
enum {
    AWAKE_UNKNOWN,
    AWAKE,
    WAITS = AWAKE + MKPERF_PREV_WAITS,
    CALLS = AWAKE + MKPERF_PREV_CALLS,
};

static const struct perfdata_pd *pd_of(const struct mkperf_perfdata *w, uint32_t pd)
{
    return pd < w->npds ? &w->pd[pd] : NULL;
}

/* Returns the pid of a PD in tracepoints. The idle thread, and no thread, are 0. */
static uint32_t pid_of(const struct mkperf_perfdata *w, uint32_t pd)
{
    const struct perfdata_pd *p = pd_of(w, pd);

    return p == NULL || p->idle ? 0 : pd + 1;
}

/* Puts the name and the pid of a PD; the second function also its priority. */
static void put_comm(struct mkperf_put *c, const struct mkperf_perfdata *w, uint32_t pd)
{
    const struct perfdata_pd *p = pd_of(w, pd);
    const char *name = p != NULL ? p->name : "unknown";

    mkperf_put_padded(c, name, strnlen(name, TRACE_COMM_BYTES - 1), TRACE_COMM_BYTES);
    mkperf_put32(c, pid_of(w, pd));
}

static void put_comm_and_prio(struct mkperf_put *c, const struct mkperf_perfdata *w, uint32_t pd)
{
    const struct perfdata_pd *p = pd_of(w, pd);

    put_comm(c, w, pd);
    mkperf_put32(c, p != NULL ? p->priority : PRIO_UNKNOWN);
}

/* Returns the function that takes the kernel's lock, in kernels that mkperf knows, or 0 if it is
 * not known. */
static uint64_t lock_function(struct mkperf_perfdata *w)
{
    static const char *const names[] = {"mkperf_lock", "take_lock"};

    for (size_t i = 0; !w->lock_known && i < sizeof names / sizeof *names && w->kernel != NULL;
         i++) {
        uint64_t at = mkperf_symbol_address(w->kernel, names[i]);
        w->lock = w->lock != 0 ? w->lock : at;
    }
    w->lock_known = true;
    return w->lock;
}

/* Begins a sample with `bytes` of raw data. The caller puts the fields of its tracepoint. Those of the lock have a callchain:
 * perf adds them up by its fourth function, because on Linux the first three belong to the lock and to the tracepoint. */
static struct mkperf_put begin_tracepoint(struct mkperf_perfdata *w, enum mkperf_trace_point point,
                                          uint32_t pd, const struct mkperf_sched *s, size_t bytes)
{
    enum { CHAIN = 5 };
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

    mkperf_put64(&c, MKPERF_TRACE_ID + point);
    mkperf_put32(&c, pid_of(w, pd));
    mkperf_put32(&c, pid_of(w, pd));
    mkperf_put64(&c, s->time_ns);
    mkperf_put64(&c, s->core);
    if (point == MKPERF_TRACE_LOCK_BEGIN || point == MKPERF_TRACE_LOCK_END) {
        mkperf_put64(&c, CHAIN);
        mkperf_put64(&c, PERF_CONTEXT_KERNEL);
        for (unsigned i = 1; i < CHAIN; i++) {
            mkperf_put64(&c, lock_function(w));
        }
    }
    /* The size of the raw data with the record's padding, and the fields that all tracepoints have. */
    mkperf_put32(&c, (uint32_t)((4 + bytes + 7) / 8 * 8 - 4));
    mkperf_put16(&c, (uint16_t)mkperf_trace_number(point));
    mkperf_put16(&c, 0);
    mkperf_put32(&c, pid_of(w, pd));
    return c;
}

static void put_wakeup(struct mkperf_perfdata *w, const struct mkperf_sched *s)
{
    w->pd[s->to].sleep = AWAKE;
    if (pid_of(w, s->to) == 0) {
        return;
    }
    struct mkperf_put c = begin_tracepoint(w, MKPERF_TRACE_WAKEUP, s->from, s, TRACE_WAKEUP_BYTES);
    put_comm_and_prio(&c, w, s->to);
    mkperf_put32(&c, s->core);
    perfdata_end(&w->out, c);
}

void perfdata_sched_runtimes(struct mkperf_perfdata *w)
{
    for (uint32_t i = 0; i < w->npds; i++) {
        if (w->pd[i].ran_ns > w->pd[i].written_ns) {
            /* Writes how long a PD ran since the last such record. perf adds them up, so no switch needs its own. */
            struct perfdata_pd *p = &w->pd[i];
            const struct mkperf_sched s = {.time_ns = w->last_ns, .core = p->core};
            struct mkperf_put c =
                begin_tracepoint(w, MKPERF_TRACE_RUNTIME, i, &s, TRACE_RUNTIME_BYTES);
            put_comm(&c, w, i);
            mkperf_put32(&c, 0);
            mkperf_put64(&c, p->ran_ns - p->written_ns);
            mkperf_put64(&c, p->ran_ns);
            p->written_ns = p->ran_ns;
            perfdata_end(&w->out, c);
        }
    }
}

static void add_switch(struct mkperf_perfdata *w, const struct mkperf_sched *s)
{
    struct perfdata_core *core = &w->cores[s->core];
    uint64_t ran = core->runs ? s->time_ns - core->since_ns : 0;
    struct perfdata_pd *to = &w->pd[s->to];

    if (s->from != MKPERF_SCHED_NOBODY) {
        w->pd[s->from].sleep = s->reason == MKPERF_STOPPED_UNKNOWN
                                   ? AWAKE_UNKNOWN
                                   : (uint8_t)(AWAKE + mkperf_trace_prev_state(s->reason));
        w->pd[s->from].core = s->core;
        w->pd[s->from].ran_ns += pid_of(w, s->from) != 0 ? ran : 0;
    }
    core->runs = true;
    core->since_ns = s->time_ns;
    if (to->sleep != AWAKE) {
        put_wakeup(w, s);
    }
    bool known = s->from != MKPERF_SCHED_NOBODY;
    struct mkperf_put c = begin_tracepoint(w, MKPERF_TRACE_SWITCH, s->from, s, TRACE_SWITCH_BYTES);
    put_comm_and_prio(&c, w, s->from);
    mkperf_put64(&c, mkperf_trace_prev_state(s->reason));
    put_comm_and_prio(&c, w, s->to);
    mkperf_put32(&c, s->reason);
    mkperf_put32(&c, known);
    perfdata_end(&w->out, c);
}

struct perfdata_core *perfdata_core_at(struct mkperf_perfdata *w, uint32_t core, uint64_t time_ns)
{
    MKPERF_GROW(w->cores, w->cores_room, (size_t)core + 1);
    w->ncores = core < w->ncores ? w->ncores : core + 1;
    w->unordered |= time_ns < w->last_ns;
    w->last_ns = time_ns > w->last_ns ? time_ns : w->last_ns;
    return &w->cores[core];
}

void perfdata_queue_add(struct mkperf_perfdata *w, const struct mkperf_queue_reading *r)
{
    const struct mkperf_sched at = {.time_ns = r->time_ns, .core = r->core};

    perfdata_core_at(w, r->core, r->time_ns)->event_ns = r->time_ns;
    struct mkperf_put c =
        begin_tracepoint(w, MKPERF_TRACE_QUEUE, MKPERF_SCHED_NOBODY, &at, TRACE_QUEUE_BYTES);
    mkperf_put32(&c, r->queue);
    mkperf_put32(&c, 0);
    mkperf_put64(&c, r->head);
    mkperf_put64(&c, r->tail);
    perfdata_end(&w->out, c);
}

/* Returns whether the event ends the sleep of its thread. */
static bool wakes(const struct mkperf_sched *s, unsigned sleep)
{
    switch (s->kind) {
    case MKPERF_SCHED_REPLY:
        return sleep == CALLS;
    case MKPERF_SCHED_CALL:
    case MKPERF_SCHED_NOTIFY:
    case MKPERF_SCHED_IRQ:
    case MKPERF_SCHED_FAULT:
        return sleep == WAITS;
    case MKPERF_SCHED_WAKE:
        return sleep != AWAKE && sleep != AWAKE_UNKNOWN;
    default:
        return false;
    }
}

void perfdata_sched_add(struct mkperf_perfdata *w, const struct mkperf_sched *s)
{
    perfdata_core_at(w, s->core, s->time_ns)->event_ns = s->time_ns;
    if (s->kind == MKPERF_SCHED_GAP) {
        struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_LOST, 0);
        mkperf_put64(&c, MKPERF_TRACE_ID);
        mkperf_put64(&c, s->lost);
        perfdata_end_with_id(&w->out, c, 0, MKPERF_TRACE_GAP, s->time_ns, s->core);
        for (uint32_t i = 0; i < w->npds; i++) {
            w->pd[i].sleep = AWAKE_UNKNOWN;
        }
        w->cores[s->core].runs = false;
        return;
    }
    if (s->kind == MKPERF_SCHED_SWITCH) {
        add_switch(w, s);
        return;
    }
    struct mkperf_put c = begin_tracepoint(w, MKPERF_TRACE_SCHED, s->from, s, TRACE_SCHED_BYTES);
    put_comm(&c, w, s->to);
    mkperf_put32(&c, s->kind);
    mkperf_put32(&c, s->irq);
    mkperf_put32(&c, s->from != MKPERF_SCHED_NOBODY);
    perfdata_end(&w->out, c);
    if ((s->kind == MKPERF_SCHED_LOCK || s->kind == MKPERF_SCHED_LOCK_WAIT) &&
        perfdata_trace_points(w) > MKPERF_TRACE_ONE_CORE) {
        /* Writes a record for `perf lock contention`, which pairs them by thread. */
        enum { SPIN = 1 };
        bool waits = s->kind == MKPERF_SCHED_LOCK_WAIT;
        c = begin_tracepoint(w, waits ? MKPERF_TRACE_LOCK_BEGIN : MKPERF_TRACE_LOCK_END, s->from, s,
                             TRACE_LOCK_BYTES);
        mkperf_put64(&c, lock_function(w));
        mkperf_put32(&c, waits ? SPIN : 0);
        perfdata_end(&w->out, c);
    } else if (wakes(s, w->pd[s->to].sleep)) {
        put_wakeup(w, s);
    }
}
