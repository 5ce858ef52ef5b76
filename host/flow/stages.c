/* SPDX-License-Identifier: BSD-2-Clause */
/* The work of PDs at their queues, and the sink. See flow.h. */
#include <math.h>

#include "flow.h"

enum { SLICE_NS = 1000000 };

static const struct mkperf_shape_row queue_rows[] = {
    MKPERF_SHAPE_BYTES(struct mkperf_flow_queue, producer, now),
    MKPERF_SHAPE_ARRAY(struct mkperf_flow_queue, arrival, arrival_room, arrival_room, NULL),
    MKPERF_SHAPE_BYTES(struct mkperf_flow_queue, arrival_first, arrivals),
    MKPERF_SHAPE_BYTES(struct mkperf_flow_queue, unmatched, doubt),
    MKPERF_SHAPE_INSIDE(struct mkperf_flow_queue, filled, mkperf_log_rows),
    MKPERF_SHAPE_INSIDE(struct mkperf_flow_queue, stay, mkperf_log_rows),
    MKPERF_SHAPE_BYTES(struct mkperf_flow_queue, slice_area, slice_full),
    MKPERF_SHAPE_END};

static const struct mkperf_shape_row stage_rows[] = {
    MKPERF_SHAPE_BYTES(struct mkperf_flow_stage, consumes, empty),
    MKPERF_SHAPE_INSIDE(struct mkperf_flow_stage, packets, mkperf_log_rows),
    MKPERF_SHAPE_BYTES(struct mkperf_flow_stage, sum_n, slice_packets), MKPERF_SHAPE_END};

static const struct mkperf_shape_row flow_rows[] = {
    MKPERF_SHAPE_EACH(struct mkperf_flow, queue, nqueues, queue_rows),
    MKPERF_SHAPE_EACH(struct mkperf_flow, stage, nstages, stage_rows),
    MKPERF_SHAPE_BYTES(struct mkperf_flow, from_ns, slice_ns), MKPERF_SHAPE_END};

void mkperf_flow_init(struct mkperf_flow *f, struct mkperf_analysis *a)
{
    *f = (struct mkperf_flow){.to = mkperf_analysis_sink(a),
                              .analysis = a,
                              .to_ns = UINT64_MAX,
                              .slice_ns = SLICE_NS,
                              .cycles = MKPERF_MODEL_EVENTS};
}

void mkperf_flow_free(struct mkperf_flow *f)
{
    mkperf_shape_free(flow_rows, f);
    free(f->queue);
    free(f->stage);
    *f = (struct mkperf_flow){.nqueues = 0};
}

static void add_stage(struct mkperf_flow *f, const char *name, const char *kind, bool consumes)
{
    unsigned i = 0;

    if (name == NULL) {
        return; /* a device */
    }
    while (i < f->nstages &&
           (strcmp(f->stage[i].name, name) != 0 || strcmp(f->stage[i].kind, kind) != 0)) {
        i++;
    }
    if (i == f->nstages) {
        f->stage[f->nstages++] =
            (struct mkperf_flow_stage){.pd = MKPERF_SCHED_NOBODY, .name = name, .kind = kind};
    }
    f->stage[i].consumes |= consumes;
}

static bool is_named(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Called when the analysis has a copy of the session. */
static void begin(struct mkperf_flow *f, const struct mkperf_session *session)
{
    f->queue = mkperf_xcalloc(session->nqueues + 1, sizeof *f->queue);
    f->stage = mkperf_xcalloc(2 * session->nqueues + 1, sizeof *f->stage);
    f->nqueues = session->nqueues;
    for (unsigned i = 0; i < f->nqueues; i++) {
        struct mkperf_flow_queue *q = &f->queue[i];
        q->about = f->analysis->session.queue[i];
        /* A counter of packets is a queue of a PD with itself. It is another class than the queues of that PD. */
        if (is_named(q->about.producer, q->about.consumer)) {
            q->about.kind = "counter";
        }
        q->producer = q->consumer = MKPERF_SCHED_NOBODY;
        add_stage(f, q->about.producer, q->about.kind, q->about.returns);
        add_stage(f, q->about.consumer, q->about.kind, !q->about.returns);
    }
    for (unsigned i = 0; i < session->nevents; i++) {
        if (strcmp(session->event[i].name, "cycles") == 0) {
            f->cycles = i;
        }
    }
}

static void add_pd(struct mkperf_flow *f, const struct mkperf_pd *pd)
{
    for (unsigned i = 0; i < f->nqueues; i++) {
        struct mkperf_flow_queue *q = &f->queue[i];
        q->producer = is_named(q->about.producer, pd->name) ? pd->id : q->producer;
        q->consumer = is_named(q->about.consumer, pd->name) ? pd->id : q->consumer;
    }
    for (unsigned i = 0; i < f->nstages; i++) {
        struct mkperf_flow_stage *s = &f->stage[i];
        s->pd = is_named(s->name, pd->name) ? pd->id : s->pd;
    }
}

/* What the queues of a stage allow now. */
struct chance {
    bool work;      /* a queue that it consumes has packets */
    bool full;      /* a queue that it produces for is full */
    bool no_buffer; /* a queue that returns buffers to it is empty */
};

static struct chance chance_of(const struct mkperf_flow *f, const struct mkperf_flow_stage *s)
{
    struct chance c = {.work = false};

    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];
        if (!q->began) {
            continue;
        }
        if (q->consumer == s->pd && q->about.returns) {
            c.no_buffer |= q->now == 0;
        } else if (q->consumer == s->pd) {
            c.work |= q->now != 0;
        } else if (q->producer == s->pd && !q->about.returns) {
            c.full |= q->now >= q->about.capacity;
        }
    }
    return c;
}

/* Adds the time since the last event or reading to each stage, in the state that it has had since. */
static void advance(struct mkperf_flow *f, uint64_t time)
{
    if (!f->began) {
        f->began = true;
        f->first_ns = f->last_ns = f->read_ns = time;
    }
    if (time <= f->last_ns) {
        return;
    }
    uint64_t ns = time - f->last_ns;
    flow_slices_reach(f, time);
    for (unsigned i = 0; i < f->nstages; i++) {
        struct mkperf_flow_stage *s = &f->stage[i];
        bool busy = s->state != MKPERF_PD_UNKNOWN && s->state != MKPERF_PD_WAITING;

        s->in_state[s->state] += ns;
        if (s->state == MKPERF_PD_WAITING) {
            s->waited[s->wait] += ns;
            busy = s->wait == MKPERF_FLOW_ASLEEP;
        } else if (s->state == MKPERF_PD_RUNNING) {
            struct chance c = chance_of(f, s);
            s->running_full += c.full ? ns : 0;
            s->running_empty += !c.full && !c.work ? ns : 0;
            busy = !c.full;
        }
        if (busy) {
            flow_slices_add(f, s->slice_busy, f->last_ns, time, 1);
        }
    }
    f->last_ns = time;
}

uint64_t mkperf_flow_packets(const struct mkperf_flow_stage *s)
{
    return s->in > s->out ? s->in : s->out;
}

/* Returns whether packets of the PD `from` reach the PD `to` through queues. followed[i]: queue i was looked at. */
static bool reaches(const struct mkperf_flow *f, uint32_t from, uint32_t to, bool *followed)
{
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];

        if (q->producer == from && !q->about.returns && !followed[i]) {
            followed[i] = true;
            if (q->consumer == to || reaches(f, q->consumer, to, followed)) {
                return true;
            }
        }
    }
    return false;
}

bool flow_is_driver(const struct mkperf_flow *f, const struct mkperf_flow_stage *s)
{
    const struct mkperf_analysis *a = f->analysis;
    bool woken = false;

    for (unsigned i = 0; i < a->nwakes; i++) {
        woken |= a->wake[i].kind == MKPERF_SCHED_IRQ && a->wake[i].to == s->pd;
    }
    if (!woken || s->in == 0 || s->out == 0) {
        return false;
    }
    bool *followed = mkperf_xcalloc(f->nqueues + 1, sizeof *followed);
    bool back = reaches(f, s->pd, s->pd, followed);
    free(followed);
    return back;
}

double mkperf_flow_drops(const struct mkperf_flow *f, const struct mkperf_flow_stage *s)
{
    bool known = f->analysis->session.sched && s->in != 0 && s->out != 0 && !flow_is_driver(f, s);

    return !known ? NAN : s->in > s->out ? (double)(s->in - s->out) : 0;
}

/* Follows the states of stages after an event. */
static void follow(struct mkperf_flow *f)
{
    for (unsigned i = 0; i < f->nstages; i++) {
        struct mkperf_flow_stage *s = &f->stage[i];
        const struct mkperf_sched_pd *p = s->pd < f->analysis->npds ? &f->analysis->pd[s->pd]
                                                                    : NULL;
        enum mkperf_pd_state before = s->state;

        if (p == NULL || p->state == before) {
            continue;
        }
        s->state = p->state;
        if (s->state == MKPERF_PD_WAITING) {
            struct chance c = chance_of(f, s);
            s->wait = c.full || (c.work && c.no_buffer) ? MKPERF_FLOW_BLOCKED
                      : c.work                          ? MKPERF_FLOW_ASLEEP
                                                        : MKPERF_FLOW_STARVED;
            uint64_t in = s->in - s->in0, out = s->out - s->out0, packets = in > out ? in : out;
            double n = (double)packets, ns = (double)(p->in[MKPERF_PD_RUNNING] - s->ran0);
            s->activations += s->active;
            s->empty += s->active && packets == 0;
            if (s->active && packets != 0) {
                mkperf_log_add(&s->packets, packets, 1);
                s->sum_n += n;
                s->sum_ns += ns;
                s->sum_nn += n * n;
                s->sum_n_ns += n * ns;
            }
            s->active = false;
        } else if (s->state == MKPERF_PD_UNKNOWN) {
            s->active = false; /* events of this stage are missing */
        } else if (before == MKPERF_PD_WAITING) {
            s->active = true;
            s->in0 = s->in;
            s->out0 = s->out;
            s->ran0 = p->in[MKPERF_PD_RUNNING];
        }
    }
}

/* Starts all counts again: the time that the user asked for begins now. Activations that have begun are not whole, and
 * are not counted. */
static void restart(struct mkperf_flow *f)
{
    f->from_ns = 0;
    f->first_ns = f->last_ns;
    f->slice_ns = SLICE_NS;
    mkperf_analysis_restart(f->analysis);
    for (unsigned i = 0; i < f->nqueues; i++) {
        flow_queue_restart(f, &f->queue[i]);
    }
    for (unsigned i = 0; i < f->nstages; i++) {
        struct mkperf_flow_stage *s = &f->stage[i];

        mkperf_log_free(&s->packets);
        memset(&s->in, 0, sizeof *s - offsetof(struct mkperf_flow_stage, in));
    }
}

static enum mkperf_status add_event(struct mkperf_flow *f, const struct mkperf_sched *event,
                                    struct mkperf_error *e)
{
    bool gap = event->kind == MKPERF_SCHED_GAP;

    if (event->time_ns > f->to_ns) {
        return MKPERF_OK;
    }
    /* What happened in a gap is unknown from its begin on, so that time is not charged to the states before it. */
    advance(f, gap && f->began ? event->since_ns : event->time_ns);
    enum mkperf_status status = mkperf_sink_sched(&f->to, event, e);
    follow(f);
    advance(f, event->time_ns);
    if (event->kind == MKPERF_SCHED_SWITCH && event->time_ns > f->read_ns) {
        f->read_ns = event->time_ns;
    }
    if (event->kind == MKPERF_SCHED_SWITCH && f->from_ns != 0 && event->time_ns >= f->from_ns) {
        restart(f);
    }
    return status;
}

static void add_packets(struct mkperf_flow *f, uint32_t pd, const char *kind, uint64_t n, bool in,
                        uint64_t time)
{
    for (unsigned i = 0; i < f->nstages && pd != MKPERF_SCHED_NOBODY; i++) {
        struct mkperf_flow_stage *s = &f->stage[i];
        if (s->pd == pd && strcmp(s->kind, kind) == 0) {
            *(in ? &s->in : &s->out) += n;
            uint64_t slice = (time - f->first_ns) / f->slice_ns;
            s->slice_packets[slice] += in == s->consumes ? (double)n : 0;
        }
    }
}

static enum mkperf_status add_reading(struct mkperf_flow *f, const struct mkperf_queue_reading *r,
                                      struct mkperf_error *e)
{
    struct mkperf_queue_reading now = *r;
    uint64_t made, took;

    MKPERF_FAIL_IF(r->queue >= f->nqueues, e, MKPERF_ERR_INPUT,
                   "a reading of queue %" PRIu32 " of %u", r->queue, f->nqueues);
    if (r->time_ns > f->to_ns) {
        return MKPERF_OK;
    }
    advance(f, r->time_ns);
    now.time_ns = r->time_ns < f->last_ns ? f->last_ns : r->time_ns;
    flow_slices_reach(f, now.time_ns);
    const struct mkperf_flow_queue *q = &f->queue[r->queue];
    if (flow_queue_read(f, &now, &made, &took) && !q->about.returns) {
        add_packets(f, q->producer, q->about.kind, made, false, now.time_ns);
        add_packets(f, q->consumer, q->about.kind, took, true, now.time_ns);
    }
    if (!f->analysis->session.sched && f->from_ns != 0 && now.time_ns >= f->from_ns) {
        restart(f);
    }
    return MKPERF_OK;
}

static void add_sample(struct mkperf_flow *f, const struct mkperf_sample *sample)
{
    if (sample->event == f->cycles && sample->time_ns <= f->to_ns) {
        for (unsigned i = 0; i < f->nstages; i++) {
            struct mkperf_flow_stage *s = &f->stage[i];
            bool calls = false;

            for (unsigned k = 0; k < sample->callers->n && sample->pd != s->pd; k++) {
                calls |= sample->callers->caller[k].pd == s->pd;
            }
            *(sample->pd != s->pd ? &s->cycles_calls
              : sample->flags & MKPERF_SAMPLE_KERNEL
                  ? &s->cycles_kernel
                  : &s->cycles_own) += sample->pd == s->pd || calls ? sample->period : 0;
        }
    }
}

void mkperf_flow_settle(struct mkperf_flow *f)
{
    mkperf_analysis_charge(f->analysis);
    for (unsigned i = 0; i < f->nqueues; i++) {
        flow_queue_end(f, &f->queue[i]);
    }
}

static enum mkperf_status follow_item(void *self, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    struct mkperf_flow *f = self;

    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        MKPERF_TRY(mkperf_sink_put(&f->to, item, e));
        begin(f, item->session);
        return MKPERF_OK;
    case MKPERF_ITEM_PD:
        add_pd(f, item->pd);
        break;
    case MKPERF_ITEM_SAMPLE:
        add_sample(f, item->sample);
        break;
    case MKPERF_ITEM_SCHED:
        return add_event(f, item->sched, e);
    case MKPERF_ITEM_READING:
        return add_reading(f, item->reading, e);
    case MKPERF_ITEM_END:
        mkperf_flow_settle(f);
        break;
    default:
        break;
    }
    return mkperf_sink_put(&f->to, item, e);
}

struct mkperf_sink mkperf_flow_sink(struct mkperf_flow *f)
{
    return (struct mkperf_sink){.take = follow_item, .self = f, .every_pd = true};
}

enum mkperf_status mkperf_flow_read(struct mkperf_flow *f, const char *path, struct mkperf_error *e)
{
    char *text = mkperf_xprintf("flow %" PRIu64 " %" PRIu64, f->from_ns, f->to_ns);
    const struct mkperf_question question = {
        .text = text, .kept = {{f, flow_rows}, {f->analysis, mkperf_analysis_rows}}};
    const struct mkperf_input in = {.from = NULL};
    const struct mkperf_sink sink = mkperf_flow_sink(f);

    (void)mkperf_input_ask(path, &in, &sink, &question, e);
    free(text);
    return e->status;
}
