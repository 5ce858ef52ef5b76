/* SPDX-License-Identifier: BSD-2-Clause */
/* What a profile takes from scheduling events, see scheduling.h. */
#include "scheduling.h"

/* The `wait` of a sample, from its highest bit: state, kind of the event that woke the PD, interrupt, other PD. */
enum { STATE_SHIFT = 56, KIND_SHIFT = 48, IRQ_SHIFT = 32, IRQS = 0xffff };

uint64_t mkperf_blocked_wait(enum mkperf_pd_state state, enum mkperf_sched_kind kind, uint32_t irq,
                             uint32_t pd)
{
    return (uint64_t)state << STATE_SHIFT | (uint64_t)kind << KIND_SHIFT |
           (uint64_t)(irq & IRQS) << IRQ_SHIFT | pd;
}

void mkperf_blocked_text(uint64_t wait, const char *(*name_of)(const void *self, uint32_t pd),
                         const void *self, char text[MKPERF_BLOCKED_TEXT])
{
    enum mkperf_pd_state state = (enum mkperf_pd_state)(wait >> STATE_SHIFT);
    enum mkperf_sched_kind kind = (enum mkperf_sched_kind)(wait >> KIND_SHIFT & 0xff);
    uint32_t pd = (uint32_t)wait;
    const char *format = state == MKPERF_PD_RUNNING     ? "[runs]"
                         : state == MKPERF_PD_CALLING   ? "[calls %s]"
                         : state == MKPERF_PD_THROTTLED ? "[budget used up]"
                         : state == MKPERF_PD_STOPPED   ? "[stopped]"
                         : kind == MKPERF_SCHED_NOTIFY  ? "[waits for a notification of %s]"
                         : kind == MKPERF_SCHED_CALL    ? "[waits for a call of %s]"
                                                        : "[waits]";

    if (kind == MKPERF_SCHED_IRQ) {
        snprintf(text, MKPERF_BLOCKED_TEXT, "[waits for interrupt %" PRIu64 "]",
                 wait >> IRQ_SHIFT & IRQS);
    } else {
        snprintf(text, MKPERF_BLOCKED_TEXT, format,
                 pd != MKPERF_SCHED_NOBODY ? name_of(self, pd) : "?");
    }
}

static uint64_t slice_key(uint32_t what, uint32_t slice)
{
    return what | (uint64_t)slice << 32;
}

static void utilisation_on_core(void *self, const struct mkperf_core_interval *i)
{
    struct mkperf_utilisation *u = self;
    const struct report_filter *f = u->filter;
    struct mkperf_core_interval run = *i;
    uint64_t quantum = u->slices->quantum_ns, to = i->to;
    uint32_t slice;

    if (!mkperf_cpu_list_has(&f->cores, i->core)) {
        return;
    }
    if (f->has_time) {
        run.from = run.from > f->from_ns ? run.from : f->from_ns;
        to = to <= f->to_ns ? to : f->to_ns + 1;
    }
    for (; run.from < to && u->failed->status == MKPERF_OK; run.from = run.to) {
        run.to = to;
        if (quantum != 0 && to - run.from > quantum - run.from % quantum) {
            run.to = run.from + quantum - run.from % quantum;
        }
        if (mkperf_time_slice(u->slices, run.from, &slice, u->failed) != MKPERF_OK) {
            return;
        }
        uint64_t core_key = slice_key(run.core, slice), pd_key = slice_key(run.pd, slice);
        uint64_t ns = run.to - run.from;
        uint32_t core = mkperf_hash_number(&u->cores, &core_key, 1);
        MKPERF_GROW(u->core, u->core_room, u->cores.count);
        if (run.pd == MKPERF_SCHED_NOBODY) {
            u->core[core].unknown_ns += ns;
            continue;
        }
        u->core[core].known_ns += ns;
        uint32_t pd = mkperf_hash_number(&u->pds, &pd_key, 1);
        MKPERF_GROW(u->ran_ns, u->ran_room, u->pds.count);
        u->ran_ns[pd] += ns;
        if (u->on_run != NULL) {
            (void)u->on_run(u->self, &run, u->failed);
        }
    }
}

void mkperf_utilisation_attach(struct mkperf_utilisation *u, struct mkperf_analysis *a)
{
    mkperf_analysis_listen(
        a, (struct mkperf_analysis_listener){.core = utilisation_on_core, .self = u});
}

void mkperf_utilisation_end(struct mkperf_utilisation *u)
{
    u->slice = mkperf_xcalloc((size_t)u->slices->numbers.count + 1, sizeof *u->slice);
    for (uint32_t i = 0; i < u->cores.count; i++) {
        struct mkperf_core_time *to = &u->slice[*mkperf_hash_key(&u->cores, i) >> 32];

        to->known_ns = u->core[i].known_ns > to->known_ns ? u->core[i].known_ns : to->known_ns;
        to->unknown_ns += u->core[i].unknown_ns;
    }
}

void mkperf_utilisation_free(struct mkperf_utilisation *u)
{
    mkperf_hash_free(&u->pds);
    mkperf_hash_free(&u->cores);
    free(u->ran_ns);
    free(u->core);
    free(u->slice);
}

bool mkperf_utilisation_of(const struct mkperf_utilisation *u, uint32_t pd, uint32_t slice,
                           double *percent, uint64_t *unknown_ns)
{
    uint64_t key = slice_key(pd, slice);
    int64_t at = mkperf_hash_find(&u->pds, &key, 1);

    if (u->slice == NULL || u->slice[slice].known_ns == 0) {
        return false;
    }
    *percent = mkperf_percent(at >= 0 ? u->ran_ns[at] : 0, u->slice[slice].known_ns);
    *unknown_ns = u->slice[slice].unknown_ns;
    return true;
}

static void keep_record(struct mkperf_schedule *s, struct mkperf_spool *spool, const void *record)
{
    if (s->failed->status == MKPERF_OK) {
        mkperf_spool_add(spool, record, s->failed);
    }
}

static void schedule_on_interval(void *self, const struct mkperf_interval *i)
{
    struct mkperf_schedule *s = self;

    if (s->intervals.count % MKPERF_SCHEDULE_BLOCK == 0) {
        MKPERF_GROW(s->block, s->block_room, s->blocks + 1);
        s->block[s->blocks++] = (struct mkperf_schedule_block){.from = i->from, .to = i->to};
    }
    struct mkperf_schedule_block *b = &s->block[s->blocks - 1];
    b->from = i->from < b->from ? i->from : b->from;
    b->to = i->to > b->to ? i->to : b->to;
    keep_record(s, &s->intervals, i);
}

static void schedule_on_woken(void *self, const struct mkperf_woken *w)
{
    struct mkperf_schedule *s = self;

    keep_record(s, &s->wakings, w);
}

static void schedule_on_call(void *self, uint32_t from, const struct mkperf_call *call,
                             uint64_t end)
{
    struct mkperf_schedule *s = self;
    const struct mkperf_schedule_call kept = {.from_ns = call->start,
                                              .taken_ns = call->start + call->parts.wait,
                                              .to_ns = end,
                                              .from = from,
                                              .to = call->to,
                                              .exit = call->exit};

    keep_record(s, &s->calls, &kept);
}

static void schedule_on_core(void *self, const struct mkperf_core_interval *i)
{
    struct mkperf_schedule *s = self;

    if (i->pd == MKPERF_SCHED_NOBODY) {
        keep_record(s, &s->gaps, i);
    }
}

static void schedule_on_event(void *self, const struct mkperf_sched *event)
{
    struct mkperf_schedule *s = self;
    bool gap = event->kind == MKPERF_SCHED_GAP;
    const struct mkperf_schedule_window kept = {
        .from = gap ? event->since_ns : event->time_ns,
        .number = gap ? 0 : UINT64_C(1) + event->irq,
    };

    if (event->kind == MKPERF_SCHED_WINDOW || (gap && s->windows.count != 0)) {
        keep_record(s, &s->windows, &kept);
    }
}

void mkperf_schedule_attach(struct mkperf_schedule *s, struct mkperf_analysis *analysis,
                            struct mkperf_error *failed)
{
    s->open = true;
    s->failed = failed;
    mkperf_analysis_listen(analysis,
                           (struct mkperf_analysis_listener){.interval = schedule_on_interval,
                                                             .call = schedule_on_call,
                                                             .woken = schedule_on_woken,
                                                             .core = schedule_on_core,
                                                             .event = schedule_on_event,
                                                             .self = s});
}

uint64_t mkperf_parallel_weight(const struct mkperf_analysis *a, const struct mkperf_sample *s,
                                bool idle, unsigned cores, uint64_t *unsure)
{
    unsigned known = 0, others = 0; /* cores of which is known what they do; other ones that work */

    for (uint32_t core = 0; core < a->ncores; core++) {
        uint32_t pd = a->core[core].running;
        known += pd != MKPERF_SCHED_NOBODY;
        /* Around a switch, the sample and the event may be of different PDs: the sample counts. */
        others += core != s->core && pd != MKPERF_SCHED_NOBODY && !a->pd[pd].idle;
    }
    unsigned divisor = idle && cores != 0 ? cores : others + 1;
    *unsure += known < cores;
    return idle && others != 0 ? 0 : (s->period + divisor / 2) / divisor;
}

/*
 * How full queues were, for the page. Owns: the queues of the session, and the entries at each reading. Called by profile.c.
 *
 * Memory is bounded: of MKPERF_FILLS readings every second one of each queue is discarded, and from then on every second one is
 * not kept. flow/queues.c has the exact figures.
 */

enum { MKPERF_FILLS = 1 << 19 };

void mkperf_fills_begin(struct mkperf_fills *f, const struct mkperf_session *session)
{
    mkperf_fills_free(f);
    f->nqueues = session->nqueues;
    f->queue = session->queue;
    f->read = mkperf_xcalloc(f->nqueues + 1, sizeof *f->read);
    f->step = 1;
}

void mkperf_fills_free(struct mkperf_fills *f)
{
    free(f->read);
    free(f->fill);
    *f = (struct mkperf_fills){.nqueues = 0};
}

void mkperf_fills_add(struct mkperf_fills *f, const struct mkperf_queue_reading *r)
{
    if (r->queue >= f->nqueues || f->read[r->queue]++ % f->step != 0) {
        return;
    }
    const struct mkperf_queue *q = &f->queue[r->queue];
    unsigned bits = q->index_bits - 1 < 64 ? q->index_bits : 64;
    uint64_t entries = (r->tail - r->head) & UINT64_MAX >> (64 - bits);
    if (f->fills == MKPERF_FILLS) {
        size_t kept = 0;

        memset(f->read, 0, f->nqueues * sizeof *f->read);
        for (size_t i = 0; i < f->fills; i++) {
            if (f->read[f->fill[i].queue]++ % 2 == 0) {
                f->fill[kept++] = f->fill[i];
            }
        }
        f->fills = kept;
        f->step *= 2;
    }
    MKPERF_GROW(f->fill, f->room, f->fills + 1);
    uint64_t last = f->fills > 0 ? f->fill[f->fills - 1].time_ns : 0;
    f->fill[f->fills++] = (struct mkperf_queue_fill){
        .time_ns = r->time_ns > last ? r->time_ns : last,
        .queue = r->queue,
        .entries = entries <= q->capacity && entries < MKPERF_FILL_UNKNOWN ? (uint32_t)entries
                                                                           : MKPERF_FILL_UNKNOWN};
}
