/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a change would bring: the work of a recording replayed through the schedule, with and without the change.
 *
 * Each PD gets the mean work that the recording shows: for a packet, for an activation, and in calls. Queues have their sizes, cores
 * run the PD of the highest priority, budgets are refilled every period, and PDs without queues run as often and as long as in
 * the recording. A source that never waits, and does not limit, has packets without any work. The replay without the change is
 * compared with the recording; its error is part of the interval.
 *
 * A driver ends one way of the packets and begins another: its device is between them. It is a PD that interrupts wake, and whose
 * packets come back to it through queues. Each way is a replay_pd of its own. If the load limits, packets arrive as often as in the
 * recording. Otherwise as many packets are in the system as in the recording: when some have left, others arrive.
 */

#include "flow.h"

#include <math.h>

enum { PACKETS = 20000, STEPS = 4000000, POLL_NS = 100000 };
/* Share of the time: a PD without queues that runs for less is left out. */
static const double NOTICED = 0.001;

enum step { REST, FIXED, WORK, CALL };

struct replay_pd {
    uint32_t pd;
    unsigned core, priority;
    double each, fixed, call; /* ns; each and call for a packet */
    double in_activation;     /* packets */
    uint32_t callee;          /* the callee of most of its calls */
    bool call_here;           /* the callee runs on the same core, with this priority: */
    unsigned call_priority;
    double every; /* ns between packets of a source or runs of a PD without queues; 0: at once */
    bool source, other;    /* other: a PD without queues */
    bool refills;          /* a source of which packets arrive when others have left */
    unsigned burst;        /* packets that arrive at once; 0: one */
    unsigned batch;        /* packets until it notifies */
    double budget, period; /* ns; 0: it may always run */
    /* state */
    enum step step;
    bool notified;
    double left, budget_left, refill_at, arrival_at;
    uint64_t backlog, packets;
    unsigned done;
    unsigned taken_from; /* the queue of the current packet */
};

struct replay_queue {
    int producer, consumer; /* numbers of replay_pd; MKPERF_FLOW_NONE */
    uint64_t capacity, entries;
    double ratio, due; /* entries for each packet of the producer */
};

struct replay {
    unsigned npds, nqueues, watched;
    double window, gap; /* packets in the system; how many must have left before others arrive */
    struct replay_pd *pd;
    struct replay_queue *queue;
    double now;
};

/* Returns the number of a PD; of a driver that of the way that packets leave by, or, as their source, arrive by. */
static int number_of(const struct replay *r, uint32_t pd, bool source)
{
    int found = MKPERF_FLOW_NONE;

    for (unsigned i = 0; i < r->npds; i++) {
        if (r->pd[i].pd == pd && !r->pd[i].other && (found < 0 || source)) {
            found = (int)i;
        }
    }
    return found;
}

/* Splits the running time of a PD's activations into a fixed part and a part for each packet, by least squares. */
static void fit_work(const struct mkperf_flow_stage *s, bool driver, struct replay_pd *p)
{
    double k = (double)s->packets.count, n = s->sum_n;
    double packets = (double)(driver ? s->in + s->out : mkperf_flow_packets(s));
    double spread = k * s->sum_nn - n * n,
           ran = (double)(s->in_state[MKPERF_PD_RUNNING] - s->running_full);

    p->in_activation = mkperf_per(n, k);
    p->each = packets > 0 ? ran / packets : 0;
    p->fixed = 0;
    if (k > 10 && spread > 0.01 * n * n) {
        double slope = (k * s->sum_n_ns - n * s->sum_ns) / spread;
        double fixed = (s->sum_ns - slope * n) / k;
        if (slope > 0 && fixed > 0) {
            p->fixed = fixed;
            p->each = fmax(0, (ran - fixed * (double)s->activations) / packets);
        }
    }
}

/* Adds the calls of a stage: the time of its callees for a packet. */
static void add_calls(const struct mkperf_flow *f, const struct mkperf_flow_stage *s,
                      struct replay_pd *p)
{
    const struct mkperf_analysis *a = f->analysis;
    uint64_t most = 0, packets = mkperf_flow_packets(s);

    for (unsigned i = 0; i < a->nedges && packets != 0; i++) {
        const struct mkperf_call_edge *edge = &a->edge[i];
        if (edge->from == s->pd) {
            p->call += (double)(edge->sum.own + edge->sum.nested) / (double)packets;
            if (edge->sum.own >= most) {
                most = edge->sum.own;
                p->callee = edge->to;
                p->call_here = a->pd[edge->to].core == p->core;
                p->call_priority = a->pd[edge->to].scheduling.priority;
            }
        }
    }
}

/*
 * Returns the number of packets for which a stage sends one notification. A stage that notifies once in an activation
 * does it at the end, after any number of packets. Otherwise it is the mean, which is a limit of the program's.
 */
static unsigned batch_of(const struct mkperf_flow *f, const struct mkperf_flow_stage *s)
{
    const struct mkperf_analysis *a = f->analysis;
    uint64_t sent = 0, back = 0; /* entries that went to consumers, and back to producers */

    for (unsigned i = 0; i < a->nwakes; i++) {
        uint64_t n = a->wake[i].busy + a->wake[i].delay.count;
        bool behind = false, before = false;
        for (unsigned k = 0; k < f->nqueues; k++) {
            const struct mkperf_flow_queue *q = &f->queue[k];
            behind |= q->producer == s->pd && q->consumer == a->wake[i].to;
            before |= q->consumer == s->pd && q->producer == a->wake[i].to;
        }
        if (a->wake[i].from == s->pd && a->wake[i].kind == MKPERF_SCHED_NOTIFY) {
            sent += behind ? n : 0;
            back += before ? n : 0;
        }
    }
    sent = sent != 0 ? sent : back;
    return (double)sent > 1.25 * (double)s->packets.count
               ? (unsigned)fmax(1, round((double)mkperf_flow_packets(s) / (double)sent))
               : UINT32_MAX;
}

static void place(const struct mkperf_analysis *a, struct replay_pd *p)
{
    const struct mkperf_sched_pd *from = &a->pd[p->pd];
    const struct mkperf_scheduling *s = &from->scheduling;

    p->core = from->core;
    p->priority = s->priority;
    if (mkperf_is_limited(s)) {
        p->budget = (double)s->budget_us * 1e3;
        p->period = (double)s->period_us * 1e3;
    }
}

static void build(struct replay *r, const struct mkperf_flow *f, const struct mkperf_flow_limit *l)
{
    const struct mkperf_analysis *a = f->analysis;
    double span = (double)(f->last_ns - f->first_ns);

    r->pd = mkperf_xcalloc(2 * f->nstages + a->npds + 1, sizeof *r->pd);
    r->queue = mkperf_xcalloc(f->nqueues + 1, sizeof *r->queue);
    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];

        if (s->pd >= a->npds || mkperf_flow_packets(s) == 0 || number_of(r, s->pd, false) >= 0) {
            /* A PD with queues of several classes is replayed with those of the first one. */
            continue;
        }
        struct replay_pd *p = &r->pd[r->npds++];
        r->watched = (int)i == l->stage ? r->npds - 1 : r->watched;
        p->pd = s->pd;
        place(a, p);
        bool driver = flow_is_driver(f, s);
        fit_work(s, driver, p);
        add_calls(f, s, p);
        p->batch = batch_of(f, s);
        p->source = !s->consumes || strcmp(s->kind, "counter") == 0;
        if (p->source &&
            (double)s->waited[MKPERF_FLOW_STARVED] > 0.03 * (double)mkperf_flow_known(s)) {
            p->every = span / (double)mkperf_flow_packets(s);
        }
        if (p->source && (int)i != l->stage && s->in_state[MKPERF_PD_WAITING] == 0) {
            /* It polls while the stages behind it hold it up: how much it could do is not known. It runs as far as it may. */
            struct replay_pd *polls = &r->pd[r->npds++];
            *polls = (struct replay_pd){.pd = p->pd, .other = true, .each = POLL_NS};
            place(a, polls);
            p->each = p->fixed = p->budget = 0;
        }
        if (driver) {
            struct replay_pd *in = &r->pd[r->npds++];
            *in = *p;
            in->source = true;
            in->refills = l->cause != MKPERF_FLOW_LOAD;
            r->gap = s->packets.count != 0 ? s->sum_n / (double)s->packets.count : 1;
            in->burst = (unsigned)fmax(1, round(r->gap));
            in->every = in->refills ? 0 : span * in->burst / (double)s->out;
        }
    }
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];
        int producer = number_of(r, q->producer, true);
        int consumer = number_of(r, q->consumer, false);

        if (q->about.returns || !q->began || producer < 0 || q->producer == q->consumer) {
            continue;
        }
        r->window += mkperf_per(q->area, (double)q->known_ns);
        struct replay_queue *to = &r->queue[r->nqueues++];
        *to = (struct replay_queue){
            .producer = producer, .consumer = consumer, .capacity = q->about.capacity};
        for (unsigned k = 0; k < f->nstages; k++) {
            const struct mkperf_flow_stage *s = &f->stage[k];
            if (s->pd == q->producer && mkperf_flow_packets(s) != 0 && to->ratio == 0) {
                uint64_t of = r->pd[producer].source ? s->out : mkperf_flow_packets(s);
                to->ratio = mkperf_per((double)q->produced, (double)of);
            }
        }
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        uint64_t own = a->pd[i].in[MKPERF_PD_RUNNING], calls = 0;

        /* It served calls of stages, which have that time. */
        for (unsigned k = 0; k < a->nedges; k++) {
            const struct mkperf_call_edge *edge = &a->edge[k];
            calls += edge->to == i && number_of(r, edge->from, false) >= 0 ? edge->sum.own : 0;
        }
        own = own > calls ? own - calls : 0;
        if (a->pd[i].name == NULL || a->pd[i].idle || number_of(r, i, false) >= 0 ||
            a->pd[i].runs == 0 || (double)own < NOTICED * span) {
            continue;
        }
        struct replay_pd *p = &r->pd[r->npds++];
        p->pd = i;
        p->other = true;
        place(a, p);
        p->each = (double)own / (double)a->pd[i].runs;
        p->every = span / (double)a->pd[i].runs;
    }
    r->window = fmax(1, r->window);
    r->gap = fmin(r->gap, r->window);
}

/* ---- the schedule ---- */

/* Returns how many packets are missing in the system. */
static double missing(const struct replay *r)
{
    double n = r->window;

    for (unsigned k = 0; k < r->nqueues; k++) {
        n -= (double)r->queue[k].entries;
    }
    for (unsigned i = 0; i < r->npds; i++) {
        n -= r->pd[i].step == WORK || r->pd[i].step == CALL;
    }
    return n;
}

static void wake(struct replay *r, int i)
{
    if (i >= 0 && r->pd[i].step == REST) {
        r->pd[i].step = FIXED;
        r->pd[i].left = r->pd[i].fixed;
    } else if (i >= 0) {
        r->pd[i].notified = true;
    }
}

static void notify(struct replay *r, unsigned i)
{
    for (unsigned k = 0; k < r->nqueues && r->pd[i].done != 0; k++) {
        if (r->queue[k].producer == (int)i) {
            wake(r, r->queue[k].consumer);
        } else if (r->queue[k].consumer == (int)i) {
            wake(r, r->queue[k].producer);
        }
    }
    r->pd[i].done = 0;
}

/* Begins the next packet of a PD, or lets it wait. */
static void begin_packet(struct replay *r, unsigned i)
{
    struct replay_pd *p = &r->pd[i];
    bool packet = p->refills              ? missing(r) > 0
                  : p->other || p->source ? p->every == 0 || p->backlog != 0
                                          : false,
         space = true;

    for (unsigned k = 0; k < r->nqueues; k++) {
        const struct replay_queue *q = &r->queue[k];
        packet |= q->consumer == (int)i && q->entries != 0;
        space &= q->producer != (int)i || q->consumer < 0 || q->due + q->ratio < 1 ||
                 (double)q->entries + floor(q->due + q->ratio) <= (double)q->capacity;
    }
    if (p->done >= p->batch) {
        notify(r, i);
    }
    if (!packet || !space) {
        notify(r, i);
        if (p->notified) {
            p->notified = false;
            p->step = FIXED;
            p->left = p->fixed;
        } else {
            p->step = REST;
        }
        return;
    }
    p->backlog -= p->backlog != 0;
    for (unsigned k = 0; k < r->nqueues; k++) { /* queues take turns */
        unsigned at = (p->taken_from + 1 + k) % r->nqueues;
        struct replay_queue *q = &r->queue[at];
        if (q->consumer == (int)i && q->entries != 0) {
            q->entries--;
            p->taken_from = at;
            break;
        }
    }
    p->step = WORK;
    p->left = p->each;
}

static void end_step(struct replay *r, unsigned i)
{
    struct replay_pd *p = &r->pd[i];

    if (p->step == WORK && p->call > 0) {
        p->step = CALL;
        p->left = p->call;
        return;
    }
    if (p->step != FIXED) {
        p->packets++;
        p->done++;
        for (unsigned k = 0; k < r->nqueues; k++) {
            struct replay_queue *q = &r->queue[k];
            if (q->producer == (int)i) {
                q->due += q->ratio;
                double whole = floor(q->due + 1e-9);
                q->due -= whole;
                q->entries += q->consumer >= 0 ? (uint64_t)whole : 0;
            }
        }
    }
    begin_packet(r, i);
}

static unsigned priority_of(const struct replay_pd *p)
{
    return p->step == CALL ? p->call_priority : p->priority;
}

/* Runs until the watched PD has done its packets. Returns them per second. */
static double simulate(struct replay *r)
{
    uint64_t first = 0;
    double from = 0;

    for (unsigned i = 0; i < r->npds; i++) {
        struct replay_pd *p = &r->pd[i];
        p->budget_left = p->budget;
        p->refill_at = p->period;
        p->arrival_at = p->every * (double)(i + 1) / (double)(r->npds + 1);
        if ((p->source || p->other) && p->every == 0) {
            wake(r, (int)i);
        }
    }
    for (uint64_t steps = 0; steps < STEPS && r->pd[r->watched].packets < PACKETS; steps++) {
        int running[MKPERF_MAX_CORES];
        double next = INFINITY;

        for (unsigned c = 0; c < MKPERF_MAX_CORES; c++) {
            running[c] = MKPERF_FLOW_NONE;
        }
        for (unsigned i = 0; i < r->npds; i++) {
            struct replay_pd *p = &r->pd[i];
            int *now = &running[p->core % MKPERF_MAX_CORES];
            bool runs = p->step != REST && (p->step != CALL || p->call_here) &&
                        (p->budget == 0 || p->budget_left > 0);
            if (runs && (*now < 0 || priority_of(p) > priority_of(&r->pd[*now]))) {
                *now = (int)i;
            }
            next = p->every > 0 ? fmin(next, p->arrival_at) : next;
            next = p->budget > 0 ? fmin(next, p->refill_at) : next;
            next = p->step == CALL && !p->call_here ? fmin(next, r->now + p->left) : next;
        }
        for (unsigned c = 0; c < MKPERF_MAX_CORES; c++) {
            if (running[c] >= 0) {
                const struct replay_pd *p = &r->pd[running[c]];
                next = fmin(next, r->now + p->left);
                next = p->budget > 0 ? fmin(next, r->now + p->budget_left) : next;
            }
        }
        if (isinf(next)) {
            break; /* all wait for ever */
        }
        double ns = next - r->now;
        r->now = next;
        for (unsigned i = 0; i < r->npds; i++) {
            struct replay_pd *p = &r->pd[i];
            bool runs = running[p->core % MKPERF_MAX_CORES] == (int)i;
            if (runs || (p->step == CALL && !p->call_here)) {
                p->left -= ns;
                p->budget_left -= runs && p->budget > 0 ? ns : 0;
                p->budget_left = p->budget_left < 1e-3 ? 0 : p->budget_left;
                if (p->left < 1e-3) {
                    end_step(r, i);
                }
            }
        }
        for (unsigned i = 0; i < r->npds; i++) {
            struct replay_pd *p = &r->pd[i];
            if (p->refills && p->step == REST && missing(r) >= r->gap) {
                wake(r, (int)i);
            }
            if (p->every > 0 && p->arrival_at <= r->now) {
                p->arrival_at += p->every;
                p->backlog += p->backlog >= 256 ? 0 : p->burst != 0 ? p->burst : 1;
                wake(r, (int)i);
            }
            /* What a ready PD could not use is kept. */
            if (p->budget > 0 && p->refill_at <= r->now) {
                p->refill_at += p->period;
                p->budget_left = p->budget + (p->step != REST ? p->budget_left : 0);
            }
        }
        if (first == 0 && r->pd[r->watched].packets >= PACKETS / 10) {
            first = r->pd[r->watched].packets; /* the queues are as full as they will be */
            from = r->now;
        }
    }
    double ns = r->now - from;
    return ns > 0 ? (double)(r->pd[r->watched].packets - first) * 1e9 / ns : 0;
}

/* ---- changes ---- */

static void apply(struct replay *r, const struct mkperf_flow *f, const struct mkperf_flow_change *c)
{
    for (unsigned i = 0; i < r->npds; i++) {
        struct replay_pd *p = &r->pd[i];

        if (p->call > 0 && c->what == MKPERF_FLOW_CHANGE_OWN) {
            /* ns of work in its calls: of the PD that changes, and of all callees */
            uint64_t part = 0, all = 0;

            for (unsigned k = 0; k < f->analysis->nedges; k++) {
                const struct mkperf_call_edge *edge = &f->analysis->edge[k];
                part += edge->from == p->pd && edge->to == c->pd ? edge->sum.own : 0;
                all += edge->from == p->pd ? edge->sum.own + edge->sum.nested : 0;
            }
            p->call *= 1 - mkperf_per((double)part, (double)all) * (1 - c->factor);
        } else if (p->call > 0 && p->callee == c->pd && c->what == MKPERF_FLOW_CHANGE_PRIORITY) {
            p->call_priority = (unsigned)c->value;
        } else if (p->call > 0 && p->callee == c->pd && c->what == MKPERF_FLOW_CHANGE_CORE) {
            p->call_here = p->core == c->value;
        }
        if (p->pd != c->pd) {
            continue;
        }
        switch (c->what) {
        case MKPERF_FLOW_CHANGE_OWN:
            p->each *= c->factor;
            p->fixed *= c->factor;
            break;
        case MKPERF_FLOW_CHANGE_CALLS:
            p->call *= c->factor;
            break;
        case MKPERF_FLOW_CHANGE_PRIORITY:
            p->priority = (unsigned)c->value;
            break;
        case MKPERF_FLOW_CHANGE_CORE:
            p->call_here &= p->core == c->value;
            p->core = (unsigned)c->value;
            break;
        case MKPERF_FLOW_CHANGE_BUDGET:
            p->budget = (double)c->value * 1e3;
            p->period = c->period != 0 ? (double)c->period * 1e3 : p->period != 0 ? p->period : 1e7;
            p->budget = p->budget < p->period ? p->budget : 0;
            break;
        case MKPERF_FLOW_CHANGE_BATCH:
            p->batch = (unsigned)c->value;
            break;
        }
    }
}

/*
 * What is not in the recording. How often PDs notify after a change: as the recording shows, for each packet, or when they wait. And
 * what a wake-up costs a PD that wakes up for each packet: as much as the recording shows, or all of its work.
 */
enum habit { AS_RECORDED, EACH_PACKET, AT_REST, WORK_AT_WAKE_UP, HABITS };

static double replay_rate(const struct mkperf_flow *f, const struct mkperf_flow_limit *l,
                          enum habit habit, const struct mkperf_flow_change *change, unsigned n)
{
    struct replay r = {.npds = 0};

    build(&r, f, l);
    for (unsigned i = 0; i < r.npds; i++) {
        struct replay_pd *p = &r.pd[i];
        if (habit == WORK_AT_WAKE_UP && p->in_activation > 0 && p->in_activation < 2) {
            p->fixed += p->each * p->in_activation;
            p->each = 0;
        } else if (habit != WORK_AT_WAKE_UP && habit != AS_RECORDED) {
            p->batch = habit == EACH_PACKET ? 1 : UINT32_MAX;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        apply(&r, f, &change[i]);
    }
    double rate = simulate(&r);
    free(r.pd);
    free(r.queue);
    return rate;
}

struct mkperf_flow_prediction mkperf_flow_predict(const struct mkperf_flow *f,
                                                  const struct mkperf_flow_limit *l,
                                                  const struct mkperf_flow_change *change,
                                                  unsigned n)
{
    struct mkperf_flow_prediction p = {.recorded = l->rate};
    bool batch = false; /* how often a PD wakes up changes */

    for (unsigned i = 0; i < n; i++) {
        batch |= change[i].what == MKPERF_FLOW_CHANGE_BATCH;
    }
    for (unsigned habit = 0; habit < (batch ? HABITS : WORK_AT_WAKE_UP); habit++) {
        double before = replay_rate(f, l, (enum habit)habit, NULL, 0);
        double after = replay_rate(f, l, (enum habit)habit, change, n);
        double gain = before > 0 ? 100 * (after / before - 1) : 0;

        if (habit == AS_RECORDED) {
            p.replayed = before;
            p.gain = p.least = p.most = gain;
        } else if (fabs(before / p.replayed - 1) < 0.5) {
            /* Other habits would have been another recording. */
            p.least = fmin(p.least, gain);
            p.most = fmax(p.most, gain);
        }
    }
    p.error = l->rate > 0 ? 100 * fabs(p.replayed / l->rate - 1) + 100 * l->error / l->rate : 100;
    p.least -= p.error;
    p.most += p.error;
    p.after = l->rate * (1 + p.gain / 100);
    return p;
}

enum mkperf_status mkperf_flow_parse(const struct mkperf_flow *f, const char *text,
                                     struct mkperf_flow_change *c, struct mkperf_error *e)
{
    static const struct {
        const char *name;
        uint64_t least, most; /* most 0: a change in per cent */
    } kinds[] = {
        [MKPERF_FLOW_CHANGE_OWN] = {"own", 0, 0},
        [MKPERF_FLOW_CHANGE_CALLS] = {"calls", 0, 0},
        [MKPERF_FLOW_CHANGE_PRIORITY] = {"priority", 0, 255},
        [MKPERF_FLOW_CHANGE_CORE] = {"core", 0, MKPERF_MAX_CORES - 1},
        [MKPERF_FLOW_CHANGE_BUDGET] = {"budget", 1, UINT32_MAX},
        [MKPERF_FLOW_CHANGE_BATCH] = {"batch", 1, UINT32_MAX},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    char name[MKPERF_MODEL_NAME], what[16], value[32], range[80], *end;
    int used = 0;

    *c = (struct mkperf_flow_change){.factor = 1};
    int words = sscanf(text, "%63s %15s %31s %n", name, what, value, &used);
    MKPERF_FAIL_IF(words != 3 || text[used] != '\0', e, MKPERF_ERR_USAGE,
                   "--what-if '%s': three words are needed, such as 'echo own -20%%', and commas "
                   "between changes",
                   text);
    size_t kind = mkperf_named(kinds, KINDS, sizeof *kinds, what);
    c->pd = mkperf_analysis_find(f->analysis, name, strlen(name));
    c->what = (enum mkperf_flow_what)kind;
    const char *wrong = c->pd == MKPERF_SCHED_NOBODY ? "the recording has no PD of this name"
                        : kind == KINDS ? "changes are own, calls, priority, core, budget and batch"
                                        : NULL;
    if (wrong == NULL && kinds[kind].most == 0) {
        c->factor = 1 + strtod(value, &end) / 100;
        wrong = strcmp(end, "%") == 0 && c->factor >= 0 && c->factor <= 100
                    ? NULL
                    : "the change is in per cent, from -100% on";
    } else if (wrong == NULL) {
        bool budget = c->what == MKPERF_FLOW_CHANGE_BUDGET, periodic = false;
        c->value = strtoull(value, &end, 10);
        if (budget && *end == '/') {
            periodic = true;
            c->period = strtoull(end + 1, &end, 10);
        }
        if (*end != '\0' || strchr(value, '-') != NULL || c->value > kinds[kind].most ||
            c->value < kinds[kind].least ||
            (periodic && (c->period < 1 || c->period > UINT32_MAX))) {
            snprintf(range, sizeof range, "a number from %" PRIu64 " to %" PRIu64 " is needed",
                     kinds[kind].least, kinds[kind].most);
            wrong = range;
        } else if (periodic && c->value > c->period) {
            wrong = "the budget is above the period";
        }
    }
    return wrong == NULL ? MKPERF_OK
                         : mkperf_error_set(e, MKPERF_ERR_USAGE, "--what-if '%s': %s", text, wrong);
}
