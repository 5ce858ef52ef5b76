/* SPDX-License-Identifier: BSD-2-Clause */
/* The counts of queues by their readings, and time by slices. See flow.h. */
#include <math.h>

#include "flow.h"

/* No queue is assumed to have more entries per second. Gigabit Ethernet has 1,488,095 packets. */
enum { FASTEST_PER_S = 1500000, ARRIVALS_MAX = 1 << 16, ONE_BY_ONE = 1024 };

static void fold(double *slice)
{
    for (size_t i = 0; i < MKPERF_FLOW_SLICES; i++) {
        slice[i] = 2 * i + 1 < MKPERF_FLOW_SLICES ? slice[2 * i] + slice[2 * i + 1] : 0;
    }
}

/* Makes slices longer until they reach to a time. */
void flow_slices_reach(struct mkperf_flow *f, uint64_t time)
{
    while ((time - f->first_ns) / f->slice_ns >= MKPERF_FLOW_SLICES) {
        for (unsigned i = 0; i < f->nqueues; i++) {
            fold(f->queue[i].slice_area);
            fold(f->queue[i].slice_full);
        }
        for (unsigned i = 0; i < f->nstages; i++) {
            fold(f->stage[i].slice_busy);
            fold(f->stage[i].slice_packets);
        }
        f->slice_ns *= 2;
    }
}

void flow_slices_add(const struct mkperf_flow *f, double *slice, uint64_t from, uint64_t to,
                     double per_ns)
{
    while (from < to) {
        uint64_t i = (from - f->first_ns) / f->slice_ns;
        uint64_t end = f->first_ns + (i + 1) * f->slice_ns;
        end = end < to ? end : to;
        slice[i] += (double)(end - from) * per_ns;
        from = end;
    }
}

/* Adds time in which the occupancy had each value from `low` to `high` for an equal part. */
static void add_time(const struct mkperf_flow *f, struct mkperf_flow_queue *q, uint64_t from,
                     uint64_t to, uint64_t low, uint64_t high)
{
    uint64_t ns = to - from, rest = ns, levels = high - low + 1;
    double mean = ((double)low + (double)high) / 2;

    q->most = high > q->most ? high : q->most;
    q->filled.max = q->most;
    if (ns == 0) {
        return;
    }
    q->area += mean * (double)ns;
    q->known_ns += ns;
    for (uint64_t v = low; v <= high;) {
        unsigned bucket = mkperf_log_bucket(v);
        uint64_t next = mkperf_log_bucket_from(bucket + 1);
        uint64_t n = (next <= high ? next : high + 1) - v;
        uint64_t part = next > high ? rest : (uint64_t)((double)ns * (double)n / (double)levels);

        part = part < rest ? part : rest;
        (void)mkperf_log_add_bucket(&q->filled, bucket, part);
        rest -= part;
        v += n;
    }
    uint64_t full = high >= q->about.capacity ? ns / levels : 0;
    q->empty_ns += low == 0 ? ns / levels : 0;
    q->full_ns += full;
    flow_slices_add(f, q->slice_area, from, to, mean);
    flow_slices_add(f, q->slice_full, from, to, (double)full / (double)ns);
}

double flow_interval(const struct mkperf_flow *f, const double *slice)
{
    uint64_t n = (f->last_ns - f->first_ns) / f->slice_ns;
    double sum = 0, squares = 0;

    for (uint64_t i = 0; i < n; i++) {
        double mean = slice[i] / (double)f->slice_ns;
        sum += mean;
        squares += mean * mean;
    }
    return n > 1
               ? 1.96 * sqrt(fmax(0, squares * (double)n - sum * sum) / (double)(n - 1)) / (double)n
               : 0;
}

double mkperf_flow_doubt(const struct mkperf_flow *f, const struct mkperf_flow_queue *q)
{
    return f->analysis->session.sched ? mkperf_per(q->doubt, (double)q->known_ns)
                                      : flow_interval(f, q->slice_area);
}

double mkperf_flow_stay(const struct mkperf_flow *f, const struct mkperf_flow_queue *q)
{
    return f->analysis->session.sched ? mkperf_per((double)q->stay.total, (double)q->stay.count)
                                      : mkperf_per(q->area, (double)q->consumed);
}

static void add_stay(struct mkperf_flow_queue *q, double ns, uint64_t n)
{
    mkperf_log_add(&q->stay, ns > 0 ? (uint64_t)(ns + 0.5) : 0, n);
}

/* Takes the oldest n entries, and counts how long they stayed. The first one departs at `first`. */
static void take_arrivals(struct mkperf_flow_queue *q, double first, double step, uint64_t n)
{
    uint64_t skipped = n < q->unmatched ? n : q->unmatched;

    q->unmatched -= skipped;
    first += (double)skipped * step;
    for (n -= skipped; n != 0 && q->arrivals != 0;) {
        struct mkperf_flow_arrival *a = &q->arrival[q->arrival_first];
        uint64_t k = n < a->n ? n : a->n;

        if (k > ONE_BY_ONE) {
            add_stay(q, first - a->first + (double)(k - 1) / 2 * (step - a->step), k);
        }
        for (uint64_t i = 0; i < k && k <= ONE_BY_ONE; i++) {
            add_stay(q, first - a->first + (double)i * (step - a->step), 1);
        }
        first += (double)k * step;
        a->first += (double)k * a->step;
        a->n -= k;
        n -= k;
        if (a->n == 0) {
            q->arrival_first = --q->arrivals == 0 ? 0 : q->arrival_first + 1;
        }
    }
}

/*
 * Adds what happened between two times at which the indices are known. A PD takes an entry before it works on it, and adds one
 * after its work; the work of all entries is assumed to be equal. If both indices have changed, their order is not known, and
 * each is assumed to have grown evenly.
 */
static void add_change(const struct mkperf_flow *f, struct mkperf_flow_queue *q, uint64_t from,
                       uint64_t to, uint64_t made, uint64_t took)
{
    double ns = (double)(to - from), in = made != 0 ? ns / (double)made : 0,
           out = took != 0 ? ns / (double)took : 0;
    bool both = made != 0 && took != 0;
    uint64_t after = q->now + made - took;
    uint64_t low = q->now < after ? q->now : after, high = q->now < after ? after : q->now;

    /* A count that only grew, or only fell, had its greatest value for no time. */
    add_time(f, q, from, to, low, high - (!both && low != high));
    q->most = after > q->most ? after : q->most;
    q->doubt += (double)(made + took) * ns / (both ? 2 : 1);
    if (made != 0 && q->arrivals == ARRIVALS_MAX) {
        /* Only a queue of more entries than this has so many. */
        q->arrival[q->arrival_first + q->arrivals - 1].n += made;
    } else if (made != 0) {
        if (q->arrival_first > q->arrivals) {
            memmove(q->arrival, q->arrival + q->arrival_first, q->arrivals * sizeof *q->arrival);
            q->arrival_first = 0;
        }
        MKPERF_GROW(q->arrival, q->arrival_room, q->arrival_first + q->arrivals + 1);
        q->arrival[q->arrival_first + q->arrivals++] = (struct mkperf_flow_arrival){
            .first = (double)from + (both ? in / 2 : in), .step = in, .n = made};
    }
    if (took != 0) {
        take_arrivals(q, (double)from + (both ? out / 2 : 0), out, took);
    }
    q->now = after;
}

bool flow_queue_read(struct mkperf_flow *f, const struct mkperf_queue_reading *r, uint64_t *made,
                     uint64_t *took)
{
    struct mkperf_flow_queue *q = &f->queue[r->queue];
    uint64_t mask = UINT64_MAX >> (64 - q->about.index_bits);
    uint64_t head = r->head & mask, tail = r->tail & mask, entries = (tail - head) & mask;
    uint64_t back = q->about.capacity <= mask / 2 ? mask - q->about.capacity : mask / 2;
    bool sampled = !f->analysis->session.sched;
    uint64_t read_ns = sampled ? q->since_ns : f->read_ns;
    uint64_t from = read_ns < r->time_ns ? read_ns : r->time_ns;
    /* All indices were read at read_ns; since_ns may be later, when the queue was settled. */
    bool may_have_wrapped = (double)(r->time_ns - from) > (double)back / FASTEST_PER_S * 1e9;

    q->readings++;
    *made = (tail - q->tail) & mask;
    *took = (head - q->head) & mask;
    if (entries > q->about.capacity) {
        q->implausible++;
        return false;
    }
    q->head = head;
    q->tail = tail;
    from = from < q->since_ns ? q->since_ns : from;
    bool implausible = *made > back || *took > back || q->now + *made != entries + *took;
    if (!q->began || may_have_wrapped || implausible) {
        /* The queue's counts cannot be continued. Only the occupancy of the reading is kept. */
        q->unknown += q->began && may_have_wrapped;
        q->implausible += q->began && !may_have_wrapped;
        q->unknown_ns += q->began ? r->time_ns - q->since_ns : 0;
        q->arrivals = q->arrival_first = 0;
        q->unmatched = entries;
        q->first_ns = q->began ? q->first_ns : r->time_ns;
        q->first = q->began ? q->first + entries - q->now : entries; /* invariant 2 */
        q->now = entries;
        q->since_ns = r->time_ns;
        q->began = true;
        return false;
    }
    if (sampled) { /* the time since the last reading has the occupancy of this one: an estimate without a bias */
        add_time(f, q, from, r->time_ns, entries, entries);
        q->now = entries;
    } else {
        add_time(f, q, q->since_ns, from, q->now, q->now);
        add_change(f, q, from, r->time_ns, *made, *took);
    }
    q->produced += *made;
    q->consumed += *took;
    q->since_ns = r->time_ns;
    return true;
}

void flow_queue_restart(const struct mkperf_flow *f, struct mkperf_flow_queue *q)
{
    mkperf_log_free(&q->filled);
    mkperf_log_free(&q->stay);
    memset(&q->first, 0, sizeof *q - offsetof(struct mkperf_flow_queue, first));
    q->first = q->most = q->now;
    q->first_ns = q->since_ns = f->last_ns;
}

void flow_queue_end(const struct mkperf_flow *f, struct mkperf_flow_queue *q)
{
    if (q->began && f->last_ns > q->since_ns) {
        add_time(f, q, q->since_ns, f->last_ns, q->now, q->now);
        q->since_ns = f->last_ns;
    }
}
