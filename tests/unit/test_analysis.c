/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The analysis of scheduling events: known stories with exactly known answers, and sums that hold
 * for any events.
 */
#include "sched_story.h"

#include "sched/analysis.h"

static struct story story;
static struct mkperf_analysis *a;

static int begin(void **state)
{
    struct mkperf_session session = {.cores = 1};

    (void)state;
    a = mkperf_analysis_new();
    story_begin(&story, mkperf_analysis_sink(a), &session);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mkperf_analysis_free(a);
    a = NULL;
    return 0;
}

static const struct mkperf_call_edge *edge(uint32_t from, uint32_t to)
{
    for (unsigned i = 0; i < a->nedges; i++) {
        if (a->edge[i].from == from && a->edge[i].to == to) {
            return &a->edge[i];
        }
    }
    fail_msg("no calls from %s to %s", story_names[from], story_names[to]);
    return NULL;
}

static const struct mkperf_wakeup *wakeup(enum mkperf_sched_kind kind, uint32_t to)
{
    for (unsigned i = 0; i < a->nwakes; i++) {
        if (a->wake[i].kind == kind && a->wake[i].to == to) {
            return &a->wake[i];
        }
    }
    fail_msg("no wake-ups of %s", story_names[to]);
    return NULL;
}

static uint64_t by(const struct mkperf_bys *b, uint32_t pd)
{
    for (unsigned i = 0; i < b->n; i++) {
        if (b->by[i].pd == pd) {
            return b->by[i].ns;
        }
    }
    return 0;
}

static void parts(const struct mkperf_call_parts *p, uint64_t wait, uint64_t own, uint64_t nested,
                  uint64_t preempted, uint64_t budget, uint64_t other)
{
    assert_int_equal(p->wait, wait);
    assert_int_equal(p->own, own);
    assert_int_equal(p->nested, nested);
    assert_int_equal(p->preempted, preempted);
    assert_int_equal(p->budget, budget);
    assert_int_equal(p->other, other);
    assert_int_equal(p->wall, wait + own + nested + preempted + budget + other);
}

/* Each nanosecond is in one sum. */
static void sums_hold(void)
{
    uint64_t span = a->last_ns - a->first_ns;

    for (uint32_t i = 0; i < a->npds; i++) {
        uint64_t sum = 0;

        for (unsigned k = 0; k < MKPERF_PD_STATES; k++) {
            sum += a->pd[i].in[k];
        }
        if (!a->pd[i].idle) {
            assert_int_equal(sum, span);
        }
    }
    for (uint32_t i = 0; i < a->ncores; i++) {
        const struct mkperf_sched_core *c = &a->core[i];
        if (c->seen) {
            assert_int_equal(c->busy + c->idle + c->unknown, span);
        }
    }
}

static void a_chain_of_calls(void **state)
{
    enum { N = 40 };
    const struct mkperf_call_edge *e;

    (void)state;
    story_rounds(&story, N);
    story_end(&story);
    sums_hold();
    assert_int_equal(a->nedges, 2);
    e = edge(CLIENT, SERVER);
    assert_int_equal(e->wall.count, N);
    parts(&e->sum, 0, N * 13000, N * 25000, 0, 0, 0);
    parts(&e->worst, 0, 13000, 25000, 0, 0, 0);
    assert_int_equal(by(&e->nested_by, STORE), N * 25000);
    assert_int_equal(mkperf_log_quantile(&e->wall, 500), 38000);
    assert_int_equal(e->worst_at, 1046000); /* the first of equal ones */
    e = edge(SERVER, STORE);
    assert_int_equal(e->wall.count, N);
    parts(&e->sum, 0, N * 20000, 0, N * 5000, 0, 0);
    assert_int_equal(by(&e->preempted_by, DRIVER), N * 5000);

    const struct mkperf_sched_pd *p = &a->pd[CLIENT];
    assert_int_equal(p->in[MKPERF_PD_RUNNING], N * 9000);
    assert_int_equal(p->in[MKPERF_PD_CALLING], N * 38000);
    assert_int_equal(by(&p->blocked_on, SERVER), N * 38000);
    assert_int_equal(p->in[MKPERF_PD_UNKNOWN], 1000); /* before its first event */
    assert_int_equal(p->in[MKPERF_PD_READY], 0);
    p = &a->pd[STORE];
    assert_int_equal(p->in[MKPERF_PD_RUNNING], N * 20000);
    assert_int_equal(p->in[MKPERF_PD_READY], N * 5000);
    assert_int_equal(by(&p->ready_by, DRIVER), N * 5000);
    assert_int_equal(p->preemptions, N);
    assert_int_equal(p->runs, 2 * N);
    p = &a->pd[DRIVER];
    assert_int_equal(p->in[MKPERF_PD_RUNNING], N * 5000);
    assert_int_equal(p->in[MKPERF_PD_READY], (N - 1) * 1000);
    assert_int_equal(by(&p->ready_by, STORE), (N - 1) * 1000);

    /* What waited before the first event is not known to have waited. */
    const struct mkperf_wakeup *w = wakeup(MKPERF_SCHED_IRQ, DRIVER);
    assert_int_equal(w->irq, 33);
    assert_int_equal(w->delay.count, N - 1);
    assert_int_equal(w->delay.total, (N - 1) * 1000);
    assert_int_equal(w->worst_at, 1128000);
    w = wakeup(MKPERF_SCHED_NOTIFY, CLIENT);
    assert_int_equal(w->from, IDLE);
    assert_int_equal(w->delay.count, N - 1);
    assert_int_equal(w->delay.total, 0);
    assert_int_equal(w->busy, 0);

    assert_int_equal(a->core[0].busy, N * 47000);
    assert_int_equal(a->core[0].idle, 1000 + (N - 1) * 53000);
    assert_int_equal(a->switches, N * 8);
    assert_int_equal(a->calls_void + a->calls_open + a->gaps + a->ninversions, 0);
}

/* 100,000 calls of known lengths, none missing, each right to its bucket. */
static void many_calls(void **state)
{
    enum { N = 100000 };
    uint64_t t = 1000, longest = 0, total = 0;

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        uint64_t ns = 1000 + i % 1000 * 10;

        story.events = 0;
        run(&story, t, CLIENT, MKPERF_STOPPED_PREEMPTED);
        run(&story, t += 100, SERVER, MKPERF_STOPPED_CALLED);
        run(&story, t += ns, CLIENT, MKPERF_STOPPED_REPLIED);
        t += 50;
        total += ns;
        longest = ns > longest ? ns : longest;
    }
    story_end(&story);
    const struct mkperf_call_edge *e = edge(CLIENT, SERVER);
    assert_int_equal(e->wall.count, N);
    assert_int_equal(e->wall.total, total);
    assert_int_equal(e->wall.max, longest);
    parts(&e->sum, 0, total, 0, 0, 0, 0);
    static const struct {
        unsigned per_mille;
        uint64_t exact;
    } quantiles[] = {{500, 5990}, {900, 9990}, {990, 10890}, {999, 10980}};
    for (unsigned i = 0; i < 4; i++) {
        uint64_t q = mkperf_log_quantile(&e->wall, quantiles[i].per_mille);
        assert_true(q >= quantiles[i].exact && q * 16 <= quantiles[i].exact * 17);
    }
    sums_hold();
}

/* The callee is busy: the call waits until it is received. */
static void queued(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    event(&story, 3000, MKPERF_SCHED_WAKE, DRIVER);
    run(&story, 3000, DRIVER, MKPERF_STOPPED_PREEMPTED);
    run(&story, 4000, SERVER, MKPERF_STOPPED_QUEUED);
    event(&story, 6000, MKPERF_SCHED_REPLY, CLIENT);
    event(&story, 6000, MKPERF_SCHED_RECEIVE, DRIVER);
    event(&story, 9000, MKPERF_SCHED_REPLY, DRIVER);
    run(&story, 9500, DRIVER, MKPERF_STOPPED_WAIT_MESSAGE);
    run(&story, 10000, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    story_end(&story);
    sums_hold();
    const struct mkperf_call_edge *e = edge(CLIENT, SERVER);
    parts(&e->sum, 0, 3000, 0, 1000, 0, 0);
    e = edge(DRIVER, SERVER);
    parts(&e->sum, 2000, 3000, 0, 0, 0, 0);
    assert_int_equal(by(&a->pd[DRIVER].blocked_on, SERVER), 5000);
    assert_int_equal(by(&a->pd[CLIENT].ready_by, SERVER), 3500);
    assert_int_equal(by(&a->pd[CLIENT].ready_by, DRIVER), 500);
    assert_int_equal(a->ninversions, 0);
}

static void exits(uint64_t ns, enum mkperf_sched_kind kind, uint32_t to, uint32_t exit)
{
    story_pass(&story,
               (struct mkperf_sched){
                   .time_ns = ns, .kind = kind, .from = story.running[0], .to = to, .irq = exit});
}

/* A guest (CLIENT) exits to its monitor (SERVER), which calls another PD. The exit ends when the guest runs again. */
static void exits_of_a_guest(void **state)
{
    const uint32_t page = 0x8000 << 8 | MKPERF_EXIT_ACCESS;

    (void)state;
    run(&story, 1000, SERVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 1100, CLIENT, MKPERF_STOPPED_WAIT_MESSAGE);
    exits(2000, MKPERF_SCHED_FAULT, SERVER, page);
    run(&story, 2200, SERVER, MKPERF_STOPPED_FAULTED);
    run(&story, 3000, STORE, MKPERF_STOPPED_CALLED);
    run(&story, 3500, SERVER, MKPERF_STOPPED_REPLIED);
    run(&story, 4000, DRIVER, MKPERF_STOPPED_WAIT_MESSAGE);
    run(&story, 4700, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    exits(5000, MKPERF_SCHED_FAULT, SERVER, MKPERF_EXIT_WFX);
    run(&story, 5000, SERVER, MKPERF_STOPPED_FAULTED);
    run(&story, 6000, CLIENT, MKPERF_STOPPED_WAIT_MESSAGE);
    story_end(&story);
    sums_hold();
    assert_int_equal(a->nedges, 3);
    for (unsigned i = 0; i < a->nedges; i++) {
        const struct mkperf_call_edge *e = &a->edge[i];
        if (e->exit == page) {
            parts(&e->sum, 200, 1300, 500, 0, 0, 700);
        } else {
            parts(&e->sum, 0, e->exit == MKPERF_EXIT_WFX ? 1000 : 500, 0, 0, 0, 0);
        }
    }
    assert_int_equal(a->pd[CLIENT].in[MKPERF_PD_CALLING], 2500 + 1000);
    assert_int_equal(a->pd[CLIENT].in[MKPERF_PD_STOPPED], 0);
}

/* The monitor runs on another core, and is busy when the guest exits: it receives the exit later. */
static void received_exit(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 1, 1000, SERVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, IDLE, MKPERF_STOPPED_FAULTED);
    story_pass(&story, (struct mkperf_sched){.time_ns = 2600,
                                             .core = 1,
                                             .kind = MKPERF_SCHED_RECEIVE,
                                             .from = SERVER,
                                             .to = CLIENT,
                                             .irq = MKPERF_EXIT_SMC});
    on_core(&story, 1, 3000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    run(&story, 3100, CLIENT, MKPERF_STOPPED_IDLE);
    story_end(&story);
    sums_hold();
    const struct mkperf_call_edge *e = edge(CLIENT, SERVER);
    parts(&e->sum, 600, 400, 0, 0, 0, 100);
    assert_int_equal(e->exit, MKPERF_EXIT_SMC);
}

/* Delivered, but another one runs first. */
static void delivered_and_late(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    event(&story, 2000, MKPERF_SCHED_CALL, SERVER);
    run(&story, 2000, DRIVER, MKPERF_STOPPED_CALLED);
    run(&story, 5000, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 6000, CLIENT, MKPERF_STOPPED_REPLIED);
    story_end(&story);
    parts(&edge(CLIENT, SERVER)->sum, 3000, 1000, 0, 0, 0, 0);
    assert_int_equal(by(&a->pd[SERVER].ready_by, DRIVER), 3000);
    assert_int_equal(a->nedges, 1); /* the switch to the driver was no call */
    sums_hold();
}

/* 2 ms of 10 ms, spinning: throttled 80 %. Its callers wait for the budget. */
static void budget(void **state)
{
    uint64_t ms = 1000000, t = ms;

    (void)state;
    run(&story, t, DRIVER, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < 10; i++, t += 10 * ms) {
        run(&story, t + 2 * ms, IDLE, MKPERF_STOPPED_BUDGET);
        event(&story, t + 10 * ms, MKPERF_SCHED_WAKE, DRIVER);
        run(&story, t + 10 * ms, DRIVER, MKPERF_STOPPED_IDLE);
    }
    story_end(&story);
    sums_hold();
    assert_int_equal(a->pd[DRIVER].exhausted, 10);
    assert_int_equal(a->pd[DRIVER].in[MKPERF_PD_THROTTLED], 80 * ms);
    assert_int_equal(a->pd[DRIVER].in[MKPERF_PD_RUNNING], 20 * ms);
    assert_int_equal(a->pd[DRIVER].scheduling.budget_us, 2000);
}

/* Passive PDs run on the budget of the PD that called, over several calls. */
static void budget_of_the_caller(void **state)
{
    (void)state;
    a->pd[SERVER].scheduling.passive = a->pd[STORE].scheduling.passive = true;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 4000, STORE, MKPERF_STOPPED_CALLED);
    run(&story, 8000, DRIVER, MKPERF_STOPPED_PREEMPTED);
    run(&story, 9000, STORE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 10000, SERVER, MKPERF_STOPPED_REPLIED);
    run(&story, 12000, CLIENT, MKPERF_STOPPED_REPLIED);
    run(&story, 13000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    story_end(&story);
    sums_hold();
    assert_int_equal(a->pd[CLIENT].consumed, 2000 + 4000 + 5000);
    assert_int_equal(a->pd[DRIVER].consumed, 1000);
    assert_int_equal(a->pd[SERVER].consumed + a->pd[STORE].consumed, 0);
    assert_int_equal(a->pd[CLIENT].in[MKPERF_PD_RUNNING], 2000);
}

/* Woken while its budget is used up: it gets ready at once and is throttled until the refill. */
static void woken_without_budget(void **state)
{
    (void)state;
    run(&story, 1000, DRIVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    event(&story, 3000, MKPERF_SCHED_NOTIFY, DRIVER);
    run(&story, 4000, STORE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    event(&story, 6000, MKPERF_SCHED_WAKE, DRIVER);
    run(&story, 6500, DRIVER, MKPERF_STOPPED_PREEMPTED);
    run(&story, 7000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    story_end(&story);
    sums_hold();
    const struct mkperf_sched_pd *p = &a->pd[DRIVER];
    assert_int_equal(p->in[MKPERF_PD_THROTTLED], 3000);
    assert_int_equal(p->in[MKPERF_PD_READY], 500);
    assert_int_equal(by(&p->ready_by, STORE), 500);
    assert_int_equal(by(&p->ready_by, CLIENT), 0);
    assert_int_equal(wakeup(MKPERF_SCHED_NOTIFY, DRIVER)->delay.total, 3500);
}

static void budget_of_a_call(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 3000, IDLE, MKPERF_STOPPED_BUDGET);
    event(&story, 9000, MKPERF_SCHED_WAKE, SERVER);
    run(&story, 9000, SERVER, MKPERF_STOPPED_IDLE);
    run(&story, 10000, CLIENT, MKPERF_STOPPED_REPLIED);
    story_end(&story);
    parts(&edge(CLIENT, SERVER)->sum, 0, 2000, 0, 0, 6000, 0);
    sums_hold();
}

/* The driver (200) waits for the server, and the client (50) runs. */
static void inversion(void **state)
{
    (void)state;
    run(&story, 1000, DRIVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 3000, CLIENT, MKPERF_STOPPED_PREEMPTED);
    run(&story, 7000, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 8000, STORE, MKPERF_STOPPED_CALLED);
    run(&story, 9000, CLIENT, MKPERF_STOPPED_PREEMPTED);
    run(&story, 10000, STORE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 11000, SERVER, MKPERF_STOPPED_REPLIED);
    run(&story, 12000, DRIVER, MKPERF_STOPPED_REPLIED);
    story_end(&story);
    assert_int_equal(a->ninversions, 2);
    const struct mkperf_inversion *v = &a->inversion[0];
    assert_int_equal(v->high, DRIVER);
    assert_int_equal(v->holder, SERVER);
    assert_int_equal(v->runner, CLIENT);
    assert_int_equal(v->count, 1);
    assert_int_equal(v->total, 4000);
    assert_int_equal(v->worst_from, 3000);
    assert_int_equal(a->inversion[1].holder, STORE); /* the holder is two calls away */
    assert_int_equal(a->inversion[1].high, DRIVER);
    assert_int_equal(a->inversion[1].total, 1000);
    sums_hold();
}

/* The driver's call waits while the busy server is preempted: known when it is received. */
static void inversion_of_a_queued_call(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 3000, DRIVER, MKPERF_STOPPED_PREEMPTED);
    run(&story, 4000, STORE, MKPERF_STOPPED_QUEUED);
    run(&story, 6500, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    event(&story, 7000, MKPERF_SCHED_REPLY, CLIENT);
    event(&story, 7000, MKPERF_SCHED_RECEIVE, DRIVER);
    run(&story, 8000, DRIVER, MKPERF_STOPPED_REPLIED);
    story_end(&story);
    assert_int_equal(a->ninversions, 1);
    assert_int_equal(a->inversion[0].high, DRIVER);
    assert_int_equal(a->inversion[0].holder, SERVER);
    assert_int_equal(a->inversion[0].runner, STORE);
    assert_int_equal(a->inversion[0].total, 2500);
    assert_int_equal(a->inversion[0].worst_from, 4000);
}

/* The driver (200) notifies the client (50) and waits for its notification; the server (100) runs. */
static void inversion_of_an_answer(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 1500, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 2000, DRIVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    event(&story, 3000, MKPERF_SCHED_NOTIFY, CLIENT);
    run(&story, 4000, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    event(&story, 5000, MKPERF_SCHED_NOTIFY, SERVER);
    run(&story, 5000, SERVER, MKPERF_STOPPED_PREEMPTED);
    run(&story, 7000, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    event(&story, 8000, MKPERF_SCHED_NOTIFY, DRIVER);
    run(&story, 8000, DRIVER, MKPERF_STOPPED_PREEMPTED);
    run(&story, 9000, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    /* the driver answers nothing: it had not been asked */
    event(&story, 9500, MKPERF_SCHED_NOTIFY, DRIVER);
    story_end(&story);
    sums_hold();
    assert_int_equal(a->ninversions, 1);
    const struct mkperf_inversion *v = &a->inversion[0];
    assert_int_equal(v->high, DRIVER);
    assert_int_equal(v->holder, CLIENT);
    assert_int_equal(v->runner, SERVER);
    assert_int_equal(v->count, 1);
    assert_int_equal(v->total, 2000);
    assert_int_equal(v->worst_from, 5000);
}

/* What a gap cuts is in no statistic, and its time is unknown. */
static void gaps(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    gap(&story, 2500, 8000, 5);
    run(&story, 8000, CLIENT, MKPERF_STOPPED_REPLIED);
    run(&story, 9000, SERVER, MKPERF_STOPPED_CALLED);
    run(&story, 9500, CLIENT, MKPERF_STOPPED_REPLIED);
    story_end(&story);
    sums_hold();
    assert_int_equal(a->gaps, 1);
    assert_int_equal(a->gap_ns, 5500);
    assert_int_equal(a->calls_void, 1);
    const struct mkperf_call_edge *e = edge(CLIENT, SERVER);
    assert_int_equal(e->wall.count, 1);
    assert_int_equal(e->sum.wall, 500);
    assert_int_equal(a->pd[SERVER].in[MKPERF_PD_RUNNING], 500 + 500);
    assert_int_equal(a->core[0].unknown, 5500);
}

/* Two cores: a call from one to the other, and its reply. */
static void two_cores(void **state)
{
    struct mkperf_sched call = {
        .time_ns = 3000, .kind = MKPERF_SCHED_CALL, .from = CLIENT, .to = SERVER};

    (void)state;
    on_core(&story, 1, 1000, IDLE, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 0, 2000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    story_pass(&story, call);
    on_core(&story, 0, 3000, IDLE, MKPERF_STOPPED_CALLED);
    on_core(&story, 1, 4000, SERVER, MKPERF_STOPPED_IDLE);
    story_pass(
        &story,
        (struct mkperf_sched){
            .time_ns = 6000, .core = 1, .kind = MKPERF_SCHED_REPLY, .from = SERVER, .to = CLIENT});
    on_core(&story, 1, 6500, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    on_core(&story, 0, 7000, CLIENT, MKPERF_STOPPED_IDLE);
    story_end(&story);
    assert_int_equal(a->late_events, 0);
    parts(&edge(CLIENT, SERVER)->sum, 1000, 2000, 0, 0, 0, 0);
    assert_int_equal(a->pd[CLIENT].in[MKPERF_PD_READY], 1000);
    assert_int_equal(a->core[1].busy, 2500);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(a->core[i].busy + a->core[i].idle + a->core[i].unknown, 6000);
    }
}

/* An event that is earlier than the one before it is counted, and time does not run backwards. */
static void late_event(void **state)
{
    (void)state;
    on_core(&story, 0, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 1, 5000, SERVER, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 0, 3000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    on_core(&story, 1, 6000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    story_end(&story);
    assert_int_equal(a->late_events, 1);
    assert_int_equal(a->pd[CLIENT].in[MKPERF_PD_RUNNING], 4000);
    assert_int_equal(a->pd[SERVER].in[MKPERF_PD_RUNNING], 1000);
    assert_int_equal(a->last_ns, 6000);
    sums_hold();
}

static void call_adds_up(void *self, uint32_t from, const struct mkperf_call *call, uint64_t now)
{
    const struct mkperf_call_parts *p = &call->parts;
    uint64_t nested = 0, preempted = 0;

    (void)from;
    ++*(unsigned *)self;
    assert_int_equal(p->wall, now - call->start);
    assert_true(p->wait <= p->wall && p->other <= p->wall);
    assert_int_equal(p->wall, p->wait + p->own + p->nested + p->preempted + p->budget + p->other);
    for (unsigned i = 0; i < call->nested_by.n; i++) {
        nested += call->nested_by.by[i].ns;
    }
    for (unsigned i = 0; i < call->preempted_by.n; i++) {
        preempted += call->preempted_by.by[i].ns;
    }
    assert_int_equal(nested, p->nested);
    assert_int_equal(preempted, p->preempted);
}

/* Any events, also those that no kernel sends: every sum holds. */
static void any_events(void **state)
{
    unsigned calls = 0;

    for (unsigned round = 0; round < 200; round++) {
        end(state);
        begin(state);
        mkperf_analysis_listen(
            a, (struct mkperf_analysis_listener){.call = call_adds_up, .self = &calls});
        story_any(&story, round, 2000);
        story_end(&story);
        sums_hold();
        for (unsigned i = 0; i < a->nedges; i++) {
            const struct mkperf_call_parts *p = &a->edge[i].sum;
            parts(p, p->wait, p->own, p->nested, p->preempted, p->budget, p->other);
            assert_int_equal(a->edge[i].wall.total, p->wall);
        }
    }
    assert_true(calls > 1000);
}

static void buckets(void **state)
{
    (void)state;
    for (unsigned i = 0; i + 1 < MKPERF_LOG_BUCKETS; i++) {
        uint64_t from = mkperf_log_bucket_from(i), to = mkperf_log_bucket_from(i + 1);

        assert_true(from < to);
        assert_int_equal(mkperf_log_bucket(from), i);
        assert_int_equal(mkperf_log_bucket(to - 1), i);
        assert_true(i < 16 || (to - from) * 16 <= from);
    }
    assert_int_equal(mkperf_log_bucket(UINT64_MAX), MKPERF_LOG_BUCKETS - 1);
    assert_int_equal(mkperf_log_bucket(16), 16);
    assert_int_equal(mkperf_log_bucket(33), 32);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_chain_of_calls),
        TEST(many_calls),
        TEST(queued),
        TEST(exits_of_a_guest),
        TEST(received_exit),
        TEST(delivered_and_late),
        TEST(budget),
        TEST(budget_of_a_call),
        TEST(woken_without_budget),
        TEST(budget_of_the_caller),
        TEST(inversion),
        TEST(inversion_of_a_queued_call),
        TEST(inversion_of_an_answer),
        TEST(gaps),
        TEST(two_cores),
        TEST(late_event),
        TEST(any_events),
        cmocka_unit_test(buckets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
