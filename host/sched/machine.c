/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the state of each PD and of each core, from event to event; see analysis.h.
 *
 * An interval is counted when it ends, in sched_charge. That of a ready PD also ends when its core
 * switches, because another PD is the reason from then on.
 */
#include "analysis_internal.h"
#include "base/xalloc.h"

static const enum mkperf_pd_state state_after[MKPERF_STOPPED_REASONS] = {
    [MKPERF_STOPPED_UNKNOWN] = MKPERF_PD_UNKNOWN,
    [MKPERF_STOPPED_CALLED] = MKPERF_PD_CALLING,
    [MKPERF_STOPPED_REPLIED] = MKPERF_PD_WAITING,
    [MKPERF_STOPPED_WAIT_MESSAGE] = MKPERF_PD_WAITING,
    [MKPERF_STOPPED_WAIT_NOTIFICATION] = MKPERF_PD_WAITING,
    [MKPERF_STOPPED_PREEMPTED] = MKPERF_PD_READY,
    [MKPERF_STOPPED_BUDGET] = MKPERF_PD_THROTTLED,
    [MKPERF_STOPPED_FAULTED] = MKPERF_PD_STOPPED,
    [MKPERF_STOPPED_SUSPENDED] = MKPERF_PD_STOPPED,
    [MKPERF_STOPPED_IDLE] = MKPERF_PD_WAITING,
    [MKPERF_STOPPED_QUEUED] = MKPERF_PD_CALLING,
};

static uint32_t runner(const struct mkperf_analysis *a, uint32_t core)
{
    return core < a->ncores ? a->core[core].running : MKPERF_SCHED_NOBODY;
}

static void keep_ready(struct mkperf_sched_pd *p, const struct mkperf_ready_slice *slice)
{
    unsigned i = p->readies++ % MKPERF_READY_KEPT;

    p->ready[i].by = slice->by;
    p->ready[i].from = slice->from;
    p->ready[i].to = slice->to;
}

/* The PD on whose budget a PD runs. */
static struct mkperf_sched_pd *payer(struct mkperf_analysis *a, uint32_t pd)
{
    struct mkperf_sched_pd *p = &a->pd[pd];

    for (uint32_t i = 0; i < a->npds && p->scheduling.passive && p->serving < a->npds; i++) {
        p = &a->pd[p->serving];
    }
    return p;
}

/* Counts an interval of a PD that is over. */
static void count(struct mkperf_analysis *a, uint32_t pd, enum mkperf_pd_state state,
                  const struct mkperf_ready_slice *slice)
{
    struct mkperf_sched_pd *p = &a->pd[pd];
    uint64_t ns = slice->to - slice->from;

    p->in[state] += ns;
    if (state == MKPERF_PD_RUNNING) {
        payer(a, pd)->consumed += ns;
    }
    sched_call_charge(a, pd, state, slice->by, ns);
    const struct mkperf_interval i = {.pd = pd,
                                      .by = slice->by,
                                      .core = slice->core,
                                      .serving = p->serving,
                                      .state = state,
                                      .from = slice->from,
                                      .to = slice->to};
    SCHED_REPORT(a, interval, &i);
}

void sched_charge_ready(struct mkperf_analysis *a, uint32_t pd)
{
    struct mkperf_sched_pd *p = &a->pd[pd];

    for (uint32_t i = 0; i < p->slices; i++) {
        mkperf_bys_add(&p->ready_by, p->slice[i].by, p->slice[i].to - p->slice[i].from);
        keep_ready(p, &p->slice[i]);
        count(a, pd, MKPERF_PD_READY, &p->slice[i]);
    }
    p->slices = 0;
}

/* Its budget is refilled while it is ready: it was throttled since it became ready. */
static void charge_throttled(struct mkperf_analysis *a, uint32_t pd)
{
    struct mkperf_sched_pd *p = &a->pd[pd];

    if (p->slices > 0) {
        struct mkperf_ready_slice all = p->slice[0];

        all.by = MKPERF_SCHED_NOBODY;
        all.to = p->since;
        p->slices = 0;
        count(a, pd, MKPERF_PD_THROTTLED, &all);
    }
}

void sched_charge(struct mkperf_analysis *a, uint32_t pd, uint64_t now)
{
    struct mkperf_sched_pd *p = &a->pd[pd];
    struct mkperf_ready_slice slice = {
        .by = MKPERF_SCHED_NOBODY, .core = p->core, .from = p->since, .to = now};

    if (now <= p->since) {
        return;
    }
    p->since = now;
    if (p->state == MKPERF_PD_READY) {
        slice.by = runner(a, p->core);
        if (p->slices == MKPERF_READY_SLICES) {
            sched_charge_ready(a, pd);
        }
        MKPERF_GROW(p->slice, p->slice_room, (size_t)p->slices + 1);
        p->slice[p->slices++] = slice;
        return;
    }
    if (p->state == MKPERF_PD_CALLING) {
        slice.by = p->call.active ? p->call.to : MKPERF_SCHED_NOBODY;
        mkperf_bys_add(&p->blocked_on, slice.by, now - slice.from);
    }
    count(a, pd, p->state, &slice);
}

/* Counts all of a PD's time until now: what follows is another call's, or another state's. */
static void settle(struct mkperf_analysis *a, uint32_t pd, uint64_t now)
{
    sched_charge(a, pd, now);
    sched_charge_ready(a, pd);
}

static void enter(struct mkperf_analysis *a, uint32_t pd, enum mkperf_pd_state state, uint64_t now)
{
    settle(a, pd, now);
    a->pd[pd].state = state;
    a->pd[pd].since = now > a->pd[pd].since ? now : a->pd[pd].since;
}

/* s->to becomes ready, because of `kind`. */
static void make_ready(struct mkperf_analysis *a, const struct mkperf_sched *s,
                       enum mkperf_sched_kind kind)
{
    struct mkperf_sched_pd *p = &a->pd[s->to];
    bool sent = kind != MKPERF_SCHED_IRQ && kind != MKPERF_SCHED_WAKE;
    const struct mkperf_woken w = {.time = s->time_ns,
                                   .kind = kind,
                                   .from = sent ? s->from : MKPERF_SCHED_NOBODY,
                                   .to = s->to,
                                   .irq = s->irq};

    SCHED_REPORT(a, woken, &w);
    enter(a, s->to, MKPERF_PD_READY, s->time_ns);
    if (!p->has_core) {
        p->core = s->core;
        p->has_core = true;
    }
}

/* A call reaches a callee that was waiting. */
static void deliver(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    sched_call_begin(a, s->from, s->to, s->time_ns);
    make_ready(a, s, MKPERF_SCHED_CALL);
    a->pd[s->to].serving = s->from;
}

static void reply(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    if (s->from != MKPERF_SCHED_NOBODY && sched_is_pd(a, s->from)) {
        settle(a, s->from, s->time_ns);
    }
    if (!sched_is_pd(a, s->to)) {
        return;
    }
    settle(a, s->to, s->time_ns);
    sched_call_end(a, s->to, s->from, s->time_ns);
    make_ready(a, s, MKPERF_SCHED_REPLY);
}

static unsigned wake_of(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    unsigned i = 0;
    uint32_t from = s->kind == MKPERF_SCHED_IRQ ? MKPERF_SCHED_NOBODY : s->from;

    while (i < a->nwakes && (a->wake[i].kind != s->kind || a->wake[i].from != from ||
                             a->wake[i].to != s->to || a->wake[i].irq != s->irq)) {
        i++;
    }
    if (i == a->nwakes) {
        MKPERF_GROW(a->wake, a->wake_room, a->nwakes + 1);
        a->wake[a->nwakes++] =
            (struct mkperf_wakeup){.kind = s->kind, .from = from, .to = s->to, .irq = s->irq};
    }
    return i;
}

/* A PD that `from` had notified notifies it: `from` may have waited for that. */
static void answer(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_pd *from = &a->pd[s->from], *to = &a->pd[s->to];

    if (from->asked_by == s->to && to->state == MKPERF_PD_WAITING) {
        settle(a, s->from, s->time_ns);
        sched_inversions_past(a, s->to, s->from,
                              from->asked_at > to->since ? from->asked_at : to->since, s->time_ns);
        from->asked_by = MKPERF_SCHED_NOBODY;
    }
    to->asked_by = s->from;
    to->asked_at = s->time_ns;
}

/* A notification or an interrupt. */
static void notify(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_pd *p = &a->pd[s->to];
    unsigned wake = wake_of(a, s);

    if (s->kind == MKPERF_SCHED_NOTIFY && s->from < a->npds && sched_is_pd(a, s->from)) {
        answer(a, s);
    }
    if (p->state != MKPERF_PD_WAITING) {
        a->wake[wake].busy += p->state != MKPERF_PD_UNKNOWN;
        return;
    }
    make_ready(a, s, s->kind);
    p->woken = true;
    p->wake = wake;
    p->woken_at = s->time_ns;
}

/* The running thread takes a call that had waited. */
static void receive(struct mkperf_analysis *a, uint32_t callee, uint32_t from, uint64_t now)
{
    struct mkperf_call *call = &a->pd[from].call;

    settle(a, callee, now);
    if (!call->active || call->to != MKPERF_SCHED_NOBODY) {
        return; /* its beginning is not known */
    }
    call->to = callee;
    a->pd[callee].serving = from;
    sched_call_taken(a, from, now);
    sched_inversions_past(a, from, callee, call->start, now);
}

/* Those that are ready on a core, until now because of the one that ran. */
static void charge_ready(struct mkperf_analysis *a, uint32_t core, uint64_t now)
{
    for (uint32_t i = 0; i < a->npds; i++) {
        if (a->pd[i].state == MKPERF_PD_READY && a->pd[i].core == core) {
            sched_charge(a, i, now);
        }
    }
}

static void stop(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_pd *p = &a->pd[s->from];
    uint64_t now = s->time_ns;

    enter(a, s->from, state_after[s->reason], now);
    p->core = s->core;
    p->has_core = true;
    p->preemptions += s->reason == MKPERF_STOPPED_PREEMPTED;
    p->exhausted += s->reason == MKPERF_STOPPED_BUDGET;
    if (s->reason == MKPERF_STOPPED_QUEUED) {
        sched_call_begin(a, s->from, MKPERF_SCHED_NOBODY, now);
    } else if (s->reason == MKPERF_STOPPED_CALLED && !p->call.active && sched_is_pd(a, s->to)) {
        deliver(a, s);
    } else if (s->reason == MKPERF_STOPPED_REPLIED) {
        reply(a, s);
    }
}

static void start(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_pd *p = &a->pd[s->to];

    sched_charge(a, s->to, s->time_ns);
    if (p->call.active) { /* it runs again without a reply */
        sched_call_void(a, s->to);
    }
    if (p->woken) {
        struct mkperf_wakeup *w = &a->wake[p->wake];
        uint64_t delay = s->time_ns - p->woken_at;

        w->worst_at = w->delay.count == 0 || delay > w->delay.max ? s->time_ns : w->worst_at;
        mkperf_log_add(&w->delay, delay);
        p->woken = false;
    }
    enter(a, s->to, MKPERF_PD_RUNNING, s->time_ns);
    p->core = s->core;
    p->has_core = true;
    p->runs++;
    p->inverted = false;
    if (p->serving != MKPERF_SCHED_NOBODY) {
        sched_call_taken(a, p->serving, s->time_ns);
    }
}

void sched_charge_core(struct mkperf_analysis *a, uint32_t core, uint64_t now)
{
    struct mkperf_sched_core *c = &a->core[core];
    uint64_t *in = c->running == MKPERF_SCHED_NOBODY ? &c->unknown
                   : sched_is_pd(a, c->running)      ? &c->busy
                                                     : &c->idle;

    if (now > c->since) {
        *in += now - c->since;
        const struct mkperf_core_interval i = {
            .pd = c->running, .core = core, .from = c->since, .to = now};
        SCHED_REPORT(a, core, &i);
        c->since = now;
    }
}

static void switched(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_core *c = &a->core[s->core];

    sched_inversions_end(a, s->core, s->time_ns);
    charge_ready(a, s->core, s->time_ns);
    sched_charge_core(a, s->core, s->time_ns);
    a->switches += s->reason != MKPERF_STOPPED_UNKNOWN;
    if (s->from != MKPERF_SCHED_NOBODY && s->from != s->to && sched_is_pd(a, s->from)) {
        stop(a, s);
    }
    if (sched_is_pd(a, s->to)) {
        start(a, s);
    }
    c->running = s->to;
    sched_inversions_begin(a, s->core, s->time_ns);
}

/* What every PD did on this core, and what others sent from it, is unknown in between. */
static void gap(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_core *c = &a->core[s->core];
    uint64_t since = s->since_ns > a->first_ns ? s->since_ns : a->first_ns;

    a->gaps++;
    a->gap_ns += s->time_ns - since;
    sched_inversions_end(a, s->core, since);
    for (uint32_t i = 0; i < a->npds; i++) {
        struct mkperf_sched_pd *p = &a->pd[i];
        bool elsewhere = p->state == MKPERF_PD_RUNNING && p->core != s->core;

        if (!p->idle && !elsewhere) {
            enter(a, i, MKPERF_PD_UNKNOWN, since);
        }
        if (p->call.active) {
            sched_call_void(a, i);
        }
        p->serving = p->asked_by = MKPERF_SCHED_NOBODY;
        p->woken = p->inverted = false;
    }
    sched_charge_core(a, s->core, since);
    c->running = MKPERF_SCHED_NOBODY;
}

static void other(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    bool by_pd = s->from != MKPERF_SCHED_NOBODY && sched_is_pd(a, s->from);

    switch (s->kind) {
    case MKPERF_SCHED_CALL:
        if (by_pd) {
            deliver(a, s);
            sched_inversions_begin(a, a->pd[s->to].core, s->time_ns);
        } else {
            make_ready(a, s, s->kind);
        }
        break;
    case MKPERF_SCHED_REPLY:
        reply(a, s);
        break;
    case MKPERF_SCHED_NOTIFY:
    case MKPERF_SCHED_IRQ:
        notify(a, s);
        break;
    case MKPERF_SCHED_FAULT:
        if (a->pd[s->to].state == MKPERF_PD_WAITING) {
            make_ready(a, s, s->kind);
        }
        break;
    case MKPERF_SCHED_WAKE:
        if (a->pd[s->to].state == MKPERF_PD_READY) {
            sched_charge(a, s->to, s->time_ns);
            charge_throttled(a, s->to);
        } else if (a->pd[s->to].state != MKPERF_PD_RUNNING) {
            make_ready(a, s, s->kind);
        }
        break;
    case MKPERF_SCHED_RECEIVE:
        if (by_pd) {
            receive(a, s->from, s->to, s->time_ns);
        }
        break;
    default:
        break;
    }
}

static void begin(struct mkperf_analysis *a, uint64_t now)
{
    a->began = true;
    a->first_ns = a->last_ns = now;
    for (uint32_t i = 0; i < a->npds; i++) {
        a->pd[i].since = now;
    }
}

void sched_machine(void *self, const struct mkperf_sched *event)
{
    struct mkperf_analysis *a = self;
    bool is_gap = event->kind == MKPERF_SCHED_GAP;

    if ((!is_gap && event->to >= a->npds) ||
        (event->from != MKPERF_SCHED_NOBODY && event->from >= a->npds)) {
        return; /* not announced: the decoder's mistake */
    }
    if (!a->began) {
        begin(a, event->time_ns);
    }
    MKPERF_GROW(a->core, a->core_room, (size_t)event->core + 1);
    for (; a->ncores <= event->core; a->ncores++) {
        a->core[a->ncores] =
            (struct mkperf_sched_core){.running = MKPERF_SCHED_NOBODY, .since = a->first_ns};
    }
    a->core[event->core].seen = true;
    a->events += !is_gap;
    if (is_gap) {
        gap(a, event);
    } else if (event->kind == MKPERF_SCHED_SWITCH) {
        switched(a, event);
    } else if (sched_is_pd(a, event->to)) {
        other(a, event);
    }
    a->last_ns = event->time_ns > a->last_ns ? event->time_ns : a->last_ns;
}
