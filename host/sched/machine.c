/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine of the analysis: the state of each PD and of each core, from event to event.
 *
 * Owns: mkperf_analysis_event and the changes of state, see the figure in analysis.h. An interval is counted
 * when it ends, in charge. An interval of a ready PD also ends when its core switches, because another
 * PD is the reason from then on.
 */
#include "analysis_internal.h"

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

uint32_t mkperf_analysis_payer(const struct mkperf_analysis *a, uint32_t pd)
{
    for (uint32_t i = 0; i < a->npds && a->pd[pd].scheduling.passive && a->pd[pd].serving < a->npds;
         i++) {
        pd = a->pd[pd].serving;
    }
    return pd;
}

/* Counts an interval of a PD that has ended. */
static void count_interval(struct mkperf_analysis *a, struct mkperf_interval *i)
{
    i->serving = a->pd[i->pd].serving;
    a->pd[i->pd].in[i->state] += i->to - i->from;
    if (i->state == MKPERF_PD_RUNNING) {
        a->pd[mkperf_analysis_payer(a, i->pd)].consumed += i->to - i->from;
    }
    sched_call_charge(a, i);
    SCHED_REPORT(a, interval, i);
}

/* Counts the kept slices of a PD as time for which it was ready. */
static void charge_ready(struct mkperf_analysis *a, uint32_t pd)
{
    struct mkperf_sched_pd *p = &a->pd[pd];

    for (uint32_t k = 0; k < p->slices; k++) {
        struct mkperf_interval *i = &p->slice[k];

        mkperf_bys_add(&p->ready_by, i->by, i->to - i->from);
        sched_inversion(a, i);
        count_interval(a, i);
        p->ready[p->readies++ % MKPERF_READY_KEPT] = *i;
    }
    p->slices = 0;
}

/* Counts the time of a PD until now. */
static void charge(struct mkperf_analysis *a, uint32_t pd, uint64_t now)
{
    struct mkperf_sched_pd *p = &a->pd[pd];
    struct mkperf_interval i = {.pd = pd,
                                .by = MKPERF_SCHED_NOBODY,
                                .core = p->core,
                                .state = p->state,
                                .from = p->since,
                                .to = now};

    if (now <= p->since) {
        return;
    }
    p->since = now;
    if (p->name == NULL) {
        return; /* the number is below another's, but the stream has no such PD */
    }
    if (p->state == MKPERF_PD_READY) {
        const struct mkperf_sched_core *c = p->core < a->ncores ? &a->core[p->core] : NULL;
        bool called = p->serving < a->npds && a->pd[p->serving].call.start == i.from;
        i.by = c != NULL ? c->running : MKPERF_SCHED_NOBODY;
        /* Whoever it serves waits for `by`. Time from a wake-up to the next switch is the kernel's. */
        i.serving = called || (c != NULL && i.from <= c->since) ? p->serving : MKPERF_SCHED_NOBODY;
        if (p->slices == MKPERF_READY_SLICES) {
            charge_ready(a, pd);
        }
        MKPERF_GROW(p->slice, p->slice_room, (size_t)p->slices + 1);
        p->slice[p->slices++] = i;
        return;
    }
    if (p->state == MKPERF_PD_CALLING) {
        i.by = p->call.active ? p->call.to : MKPERF_SCHED_NOBODY;
        mkperf_bys_add(&p->blocked_on, i.by, now - i.from);
    }
    count_interval(a, &i);
}

/* Counts all time of a PD until now, because its later time belongs to another call or state. */
static void settle(struct mkperf_analysis *a, uint32_t pd, uint64_t now)
{
    charge(a, pd, now);
    charge_ready(a, pd);
}

static void enter_state(struct mkperf_analysis *a, uint32_t pd, enum mkperf_pd_state state,
                        uint64_t now)
{
    settle(a, pd, now);
    a->pd[pd].state = state;
}

static struct mkperf_woken delivery_of(const struct mkperf_sched *s, enum mkperf_sched_kind kind)
{
    bool sent = kind != MKPERF_SCHED_IRQ && kind != MKPERF_SCHED_WAKE;

    return (struct mkperf_woken){.time = s->time_ns,
                                 .kind = kind,
                                 .from = sent ? s->from : MKPERF_SCHED_NOBODY,
                                 .to = s->to,
                                 .irq = kind == MKPERF_SCHED_IRQ ? s->irq : 0};
}

/* Makes the PD s->to ready; `kind` is the kind of the event that caused it. */
static void make_ready(struct mkperf_analysis *a, const struct mkperf_sched *s,
                       enum mkperf_sched_kind kind)
{
    struct mkperf_sched_pd *p = &a->pd[s->to];
    const struct mkperf_woken w = delivery_of(s, kind);

    SCHED_REPORT(a, woken, &w);
    enter_state(a, s->to, MKPERF_PD_READY, s->time_ns);
    if (!p->has_core) {
        p->core = s->core;
        p->has_core = true;
    }
}

/* Delivers a call, or a guest's exit, to a callee that was waiting. exit: 0 for a call. */
static void deliver_call(struct mkperf_analysis *a, const struct mkperf_sched *s, uint32_t exit)
{
    sched_call_begin(a, s->from, s->to, exit, s->time_ns);
    make_ready(a, s, exit != 0 ? MKPERF_SCHED_FAULT : MKPERF_SCHED_CALL);
    a->pd[s->to].serving = s->from;
}

static void end_call(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    if (sched_is_pd(a, s->from)) {
        settle(a, s->from, s->time_ns);
    }
    if (!sched_is_pd(a, s->to)) {
        return;
    }
    settle(a, s->to, s->time_ns);
    sched_call_end(a, s->to, s->from, s->time_ns);
    make_ready(a, s, MKPERF_SCHED_REPLY);
}

/* Delivers a notification or an interrupt to a PD that waits. */
static void wake_waiting(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_pd *p = &a->pd[s->to];
    uint32_t by = s->kind == MKPERF_SCHED_IRQ ? MKPERF_SCHED_NOBODY : s->from;
    struct mkperf_wakeup *wake =
        SCHED_ITEM(a->wake, a->nwakes, a->wake_room, s->kind, by, s->to, s->irq);

    if (s->kind == MKPERF_SCHED_NOTIFY && sched_is_pd(a, s->from)) {
        struct mkperf_sched_pd *from = &a->pd[s->from];

        if (from->asked_by == s->to && p->state == MKPERF_PD_WAITING) {
            /* `to` notified `from` before and waits: this is the answer that it waited for. */
            settle(a, s->from, s->time_ns);
            sched_inversions_past(a, s->to, s->from,
                                  from->asked_at > p->since ? from->asked_at : p->since,
                                  s->time_ns);
            from->asked_by = MKPERF_SCHED_NOBODY;
        }
        p->asked_by = s->from;
        p->asked_at = s->time_ns;
    }
    if (p->state == MKPERF_PD_UNKNOWN) {
        return;
    }
    if (p->state != MKPERF_PD_WAITING) {
        const struct mkperf_woken w = delivery_of(s, s->kind);

        wake->busy++;
        SCHED_REPORT(a, busy, &w);
        return;
    }
    make_ready(a, s, s->kind);
    p->woken = true;
    p->wake = (unsigned)(wake - a->wake);
    p->woken_at = s->time_ns;
}

static void start_running(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_pd *p = &a->pd[s->to];

    charge(a, s->to, s->time_ns);
    if (p->call.active && p->call.exit != 0) { /* the kernel reports no reply to a fault */
        sched_call_end(a, s->to, MKPERF_SCHED_NOBODY, s->time_ns);
    } else if (p->call.active) { /* the caller runs again, although no reply was recorded */
        sched_call_void(a, s->to);
    }
    if (p->woken) {
        struct mkperf_wakeup *w = &a->wake[p->wake];
        uint64_t delay = s->time_ns - p->woken_at;

        w->worst_at = w->delay.count == 0 || delay > w->delay.max ? s->time_ns : w->worst_at;
        mkperf_log_add(&w->delay, delay, 1);
        p->woken = false;
    }
    enter_state(a, s->to, MKPERF_PD_RUNNING, s->time_ns);
    p->core = s->core;
    p->has_core = true;
    p->runs++;
    if (p->serving != MKPERF_SCHED_NOBODY) {
        sched_call_taken(a, p->serving, s->time_ns);
    }
}

/* Counts the time of a core until now. */
static void charge_core(struct mkperf_analysis *a, uint32_t core, uint64_t now)
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

void mkperf_analysis_charge(struct mkperf_analysis *a)
{
    for (uint32_t core = 0; core < a->ncores; core++) {
        if (a->core[core].seen) {
            charge_core(a, core, a->last_ns);
        }
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        if (!a->pd[i].idle) {
            settle(a, i, a->last_ns);
        }
    }
}

/* Forgets, when events of a core are missing, what PDs did on it and what they sent from it. */
static void forget_gap(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    struct mkperf_sched_core *c = &a->core[s->core];
    uint64_t since = s->since_ns > a->first_ns ? s->since_ns : a->first_ns;

    a->gaps++;
    a->gap_ns += s->time_ns - since;
    for (uint32_t i = 0; i < a->npds; i++) {
        if (a->pd[i].state == MKPERF_PD_READY) { /* while it is known whom each PD serves */
            settle(a, i, since);
        }
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        struct mkperf_sched_pd *p = &a->pd[i];
        bool elsewhere = p->state == MKPERF_PD_RUNNING && p->core != s->core;

        if (!p->idle && !elsewhere) {
            enter_state(a, i, MKPERF_PD_UNKNOWN, since);
        }
        if (p->call.active) {
            sched_call_void(a, i);
        }
        p->serving = p->asked_by = MKPERF_SCHED_NOBODY;
        p->woken = false;
    }
    charge_core(a, s->core, since);
    c->running = MKPERF_SCHED_NOBODY;
}

static void change_state(struct mkperf_analysis *a, const struct mkperf_sched *s)
{
    bool by_pd = sched_is_pd(a, s->from);

    switch (s->kind) {
    case MKPERF_SCHED_CALL:
        if (by_pd) {
            deliver_call(a, s, 0);
        } else {
            make_ready(a, s, s->kind);
        }
        break;
    case MKPERF_SCHED_REPLY:
        end_call(a, s);
        break;
    case MKPERF_SCHED_NOTIFY:
    case MKPERF_SCHED_IRQ:
        wake_waiting(a, s);
        break;
    case MKPERF_SCHED_FAULT:
        if (by_pd && mkperf_is_exit(s->irq)) {
            deliver_call(a, s, s->irq);
        } else if (a->pd[s->to].state == MKPERF_PD_WAITING) {
            make_ready(a, s, s->kind);
        }
        break;
    case MKPERF_SCHED_WAKE:
        if (a->pd[s->to].state == MKPERF_PD_READY) {
            struct mkperf_sched_pd *p = &a->pd[s->to];
            charge(a, s->to, s->time_ns);
            /* The refill of its budget shows that it was throttled since it became ready. */
            if (p->slices > 0) {
                struct mkperf_interval all = p->slice[0];

                all.by = MKPERF_SCHED_NOBODY;
                all.state = MKPERF_PD_THROTTLED;
                all.to = p->since;
                p->slices = 0;
                count_interval(a, &all);
            }
        } else if (a->pd[s->to].state != MKPERF_PD_RUNNING) {
            make_ready(a, s, s->kind);
        }
        break;
    case MKPERF_SCHED_RECEIVE:
        if (by_pd && mkperf_is_exit(s->irq) && a->pd[s->to].state == MKPERF_PD_STOPPED) {
            sched_call_begin(a, s->to, MKPERF_SCHED_NOBODY, s->irq, a->pd[s->to].since);
        }
        if (by_pd) { /* the running callee takes a call that had waited in its queue */
            struct mkperf_call *call = &a->pd[s->to].call;

            settle(a, s->from, s->time_ns);
            if (call->active && call->to == MKPERF_SCHED_NOBODY) { /* else its begin is not known */
                call->to = s->from;
                a->pd[s->from].serving = s->to;
                sched_call_taken(a, s->to, s->time_ns);
                sched_inversions_past(a, s->to, s->from, call->start, s->time_ns);
            }
        }
        break;
    default:
        break;
    }
}

void mkperf_analysis_event(struct mkperf_analysis *a, const struct mkperf_sched *event)
{
    struct mkperf_sched s = *event;
    bool is_gap = s.kind == MKPERF_SCHED_GAP;

    if ((!is_gap && s.to >= a->npds) || (s.from != MKPERF_SCHED_NOBODY && s.from >= a->npds)) {
        return; /* the decoder did not announce this PD */
    }
    if (!a->began) {
        a->began = true;
        a->first_ns = a->last_ns = s.time_ns;
        for (uint32_t i = 0; i < a->npds; i++) {
            a->pd[i].since = s.time_ns;
        }
    }
    if (s.time_ns < a->last_ns) {
        a->late_events++;
        s.time_ns = a->last_ns;
    }
    a->last_ns = s.time_ns;
    MKPERF_GROW(a->core, a->core_room, (size_t)s.core + 1);
    for (; a->ncores <= s.core; a->ncores++) {
        a->core[a->ncores] =
            (struct mkperf_sched_core){.running = MKPERF_SCHED_NOBODY, .since = a->first_ns};
    }
    a->core[s.core].seen = true;
    a->events += !is_gap;
    if (is_gap) {
        forget_gap(a, &s);
    } else if (s.kind == MKPERF_SCHED_SWITCH) {
        struct mkperf_sched_core *c = &a->core[s.core];
        for (uint32_t i = 0; i < a->npds; i++) { /* the PD that ran is the reason */
            if (a->pd[i].state == MKPERF_PD_READY && a->pd[i].core == s.core) {
                charge(a, i, s.time_ns);
            }
        }
        charge_core(a, s.core, s.time_ns);
        a->switches += s.reason != MKPERF_STOPPED_UNKNOWN;
        if (s.from != s.to && sched_is_pd(a, s.from)) {
            struct mkperf_sched_pd *p = &a->pd[s.from];
            uint64_t now = s.time_ns;
            bool exits = s.reason == MKPERF_STOPPED_FAULTED && p->call.active;
            enter_state(a, s.from, exits ? MKPERF_PD_CALLING : state_after[s.reason], now);
            p->core = s.core;
            p->has_core = true;
            p->preemptions += s.reason == MKPERF_STOPPED_PREEMPTED;
            p->exhausted += s.reason == MKPERF_STOPPED_BUDGET;
            if (s.reason == MKPERF_STOPPED_QUEUED) {
                sched_call_begin(a, s.from, MKPERF_SCHED_NOBODY, 0, now);
            } else if (s.reason == MKPERF_STOPPED_CALLED && !p->call.active &&
                       sched_is_pd(a, s.to)) {
                deliver_call(a, &s, 0);
            } else if (s.reason == MKPERF_STOPPED_REPLIED) {
                end_call(a, &s);
            }
        }
        if (sched_is_pd(a, s.to)) {
            start_running(a, &s);
        }
        c->running = s.to;
        a->pd[s.to].domain = c->domain;
    } else if (s.kind == MKPERF_SCHED_WINDOW) {
        charge_core(a, s.core, s.time_ns);
        const struct mkperf_schedule_entry *w = a->window;
        uint32_t at = 0, first = 0; /* a domain is the number of its first window, counted from 1 */
        while (at < a->nwindows && w[at].number != s.irq) {
            at++;
        }
        while (at < a->nwindows && strcmp(w[first].domain, w[at].domain) != 0) {
            first++;
        }
        a->core[s.core].domain = at < a->nwindows ? first + 1 : 0;
    } else if (sched_is_pd(a, s.to)) {
        change_state(a, &s);
    }
    SCHED_REPORT(a, event, &s);
}
