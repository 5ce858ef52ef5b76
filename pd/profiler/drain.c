/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the cores' sample rings to the output ring.
 *
 * Owns: the copy, and its statistics. Called on each wake-up by the hook and on the client's
 * request. This is the profiler PD's part of the sampling path: samples that only need to be copied
 * are checked one by one and copied in one piece.
 *
 * What may be lost: samples that do not fit into the output ring, and those that the hook dropped.
 * Both are counted, and reported by a LOSS record before the core's next delivered sample: captured =
 * delivered + lost, always.
 */
#include "profiler.h"

enum {
    RUN_BYTES = 16 *
                1024, /* the most that are copied before their space is given back to the hook */
    SMALLEST_SAMPLE = 8 * MKPERF_SAMPLE_FIXED_WORDS,
};

#define LOSS_BYTES (UINT64_C(8) * MKPERF_LOSS_WORDS)

/* Four words. Without restrict, so that the loads come before the stores and become pairs. */
static inline void copy_four(uint64_t *to, const uint64_t *from)
{
    uint64_t a = from[0];
    uint64_t b = from[1];
    uint64_t c = from[2];
    uint64_t d = from[3];

    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
}

/* bytes: a multiple of 8. */
static inline void copy_words(uint64_t *to, const uint64_t *from, uint64_t bytes)
{
    for (; bytes >= 128; bytes -= 128, from += 16, to += 16) {
        copy_four(to, from);
        copy_four(to + 4, from + 4);
        copy_four(to + 8, from + 8);
        copy_four(to + 12, from + 12);
    }
    for (; bytes >= 32; bytes -= 32) {
        copy_four(to, from);
        from += 4;
        to += 4;
    }
    if (bytes & 16) {
        uint64_t a = from[0];
        uint64_t b = from[1];
        to[0] = a;
        to[1] = b;
        from += 2;
        to += 2;
    }
    if (bytes & 8) {
        *to = *from;
    }
}

/* Reports the losses at a place in the stream; false if there is no space for it yet. */
static bool tell_loss(struct mkperf_profiler *p, struct mkperf_core *c, unsigned where)
{
    uint64_t *w = mkperf_output_room(p, &p->output, LOSS_BYTES);

    if (w == NULL) {
        return false;
    }
    w[0] = mkperf_record_header(MKPERF_RECORD_LOSS, (unsigned)LOSS_BYTES, 0, where, 0,
                                (unsigned)(c - p->core));
    w[MKPERF_WORD_TIME] = c->now;
    w[MKPERF_LOSS_SAMPLES] = c->lost[where].samples;
    w[MKPERF_LOSS_EVENTS] = c->lost[where].events;
    mkperf_output_commit(p, &p->output, LOSS_BYTES);
    c->lost[where] = (struct mkperf_lost){0};
    return true;
}

static bool tell_losses(struct mkperf_profiler *p, struct mkperf_core *c)
{
    for (unsigned where = 0; where < MKPERF_LOSS_LINK; where++) {
        if (c->lost[where].samples != 0 && !tell_loss(p, c, where)) {
            return false;
        }
    }
    c->unreported = false;
    return true;
}

/* Whether it is a sample of the session. The hook is the kernel, so its records are whole; the
 * client, which uses the frames, checks that itself. */
static inline bool sample_ok(const struct mkperf_profiler *p, uint64_t header)
{
    unsigned counter = mkperf_record_counter(header);

    return mkperf_record_type(header) == MKPERF_RECORD_SAMPLE && counter < MKPERF_MAX_COUNTERS &&
           (p->plan.counter_mask >> counter & 1);
}

/* Counters change with the slices: in the output they have the numbers of the plan. */
static void renumber(const struct mkperf_profiler *p, uint64_t *w)
{
    const uint64_t counter_bits = UINT64_C(0xff) << 40;
    uint64_t header = w[MKPERF_WORD_HEADER];
    unsigned at = MKPERF_SAMPLE_FIXED_WORDS + mkperf_record_nframes(header) +
                  (mkperf_record_flags(header) & MKPERF_SAMPLE_KERNEL ? 1 : 0);

    w[MKPERF_WORD_HEADER] = (header & ~counter_bits) |
                            (uint64_t)p->number[mkperf_record_counter(header)] << 40;
    if (!(mkperf_record_flags(header) & MKPERF_SAMPLE_READ)) {
        return;
    }
    uint64_t n = w[at] <= MKPERF_MAX_READS ? w[at] : 0;
    for (uint64_t *v = w + at + 1; n > 0 && v < w + mkperf_record_size(header) / 8; v++, n--) {
        uint64_t counter = *v >> MKPERF_READ_COUNTER_SHIFT;
        *v = (*v & MKPERF_READ_COUNT) | (uint64_t)p->number[counter % MKPERF_MAX_COUNTERS]
                                            << MKPERF_READ_COUNTER_SHIFT;
    }
}

/* Space for a sample after the losses that must be reported first, or NULL. */
static uint64_t *room_behind_losses(struct mkperf_profiler *p, struct mkperf_core *c,
                                    struct mkperf_ring_producer *output, unsigned size)
{
    p->output = *output;
    bool reported = tell_losses(p, c);
    *output = p->output;
    return reported ? mkperf_output_room(p, output, size) : NULL;
}

static inline void deliver(struct mkperf_profiler *p, struct mkperf_core *c,
                           struct mkperf_ring_producer *output, const uint64_t *record,
                           unsigned size)
{
    unsigned counter = mkperf_record_counter(record[MKPERF_WORD_HEADER]);
    uint64_t weight = record[MKPERF_WORD_PERIOD];
    uint64_t *w;

    c->now = record[MKPERF_WORD_TIME];
    if (p->plan.adaptive) {
        struct mkperf_pace *pace = &c->pace[p->plan.event_of[p->number[counter]]];
        pace->samples++;
        pace->events += weight;
        pace->last = c->now;
    }
    w = c->unreported ? room_behind_losses(p, c, output, size)
                      : mkperf_output_room(p, output, size);
    if (w == NULL) {
        p->statistics.lost_output++;
        c->statistics.lost_output++;
        c->lost[MKPERF_LOSS_OUTPUT].samples++;
        c->lost[MKPERF_LOSS_OUTPUT].events += weight;
        c->unreported = true;
        return;
    }
    copy_words(w, record, size);
    w[MKPERF_WORD_THREAD] = mkperf_thread_of(w[MKPERF_WORD_THREAD], w[MKPERF_WORD_SC]);
    if (p->plan.slices > 1) {
        renumber(p, w);
    }
    mkperf_output_commit(p, output, size);
    if (p->flight.on) {
        p->flight.samples++;
    }
}

/* Whether samples only need to be copied, apart from the checks of deliver_run. */
static inline bool plain(const struct mkperf_profiler *p, const struct mkperf_core *c)
{
    return !p->plan.counting && !p->flight.on && !c->unreported && p->plan.slices <= 1;
}

/* Adds `samples` of one of its counters to an event's pace. */
static void pace(const struct mkperf_profiler *p, struct mkperf_core *c, unsigned counter,
                 uint32_t samples, uint64_t events)
{
    if (p->plan.adaptive && samples != 0) {
        struct mkperf_pace *pace = &c->pace[p->plan.event_of[p->number[counter]]];
        pace->samples += samples;
        pace->events += events;
        pace->last = c->now;
    }
}

/*
 * Copies contiguous samples from the next record on that fit contiguously and need nothing else.
 * Returns their bytes and adds their number to *samples; 0: the next record is no such sample.
 */
static inline uint64_t deliver_run(struct mkperf_profiler *p, struct mkperf_core *c,
                                   const struct mkperf_ring_consumer *core, uint64_t end,
                                   struct mkperf_ring_producer *output, uint32_t *samples)
{
    /* What sample_ok looks at, the size's lowest bits, and what is between them. */
    const uint64_t kind = UINT64_C(0xffffff000007ffff);
    uint64_t left;
    uint64_t room;
    uint64_t *from = mkperf_ring_stretch(core, end, &left);
    uint64_t *to = mkperf_ring_room(output, &room);
    uint64_t *w = from;
    uint64_t now = c->now;
    uint64_t header = UINT64_MAX; /* of the last sample; not yet added to its counter's pace: */
    uint32_t unreported = 0;
    uint64_t events = 0;

    left = left < room ? left : room;
    left = left < RUN_BYTES ? left : RUN_BYTES;
    while (left >= SMALLEST_SAMPLE) {
        uint64_t next = w[MKPERF_WORD_HEADER];
        unsigned size = mkperf_record_size(next);
        if (size < SMALLEST_SAMPLE || size > left) {
            break;
        }
        if (((next ^ header) & kind) != 0) {
            if (!sample_ok(p, next) || size % 8 != 0) {
                break;
            }
            c->now = now;
            pace(p, c, mkperf_record_counter(header), unreported, events);
            *samples += unreported;
            header = next;
            unreported = 0;
            events = 0;
        }
        if (w[MKPERF_WORD_THREAD] & MKPERF_THREAD_CHILD_BIT) {
            w[MKPERF_WORD_THREAD] = mkperf_thread_of(w[MKPERF_WORD_THREAD], w[MKPERF_WORD_SC]);
        }
        now = w[MKPERF_WORD_TIME];
        events += w[MKPERF_WORD_PERIOD];
        unreported++;
        left -= size;
        w += size / 8;
    }
    c->now = now;
    pace(p, c, mkperf_record_counter(header), unreported, events);
    *samples += unreported;
    uint64_t bytes = 8 * (uint64_t)(w - from);
    copy_words(to, from, bytes);
    mkperf_ring_commit(output, bytes);
    return bytes;
}

/* A fault that the kernel recorded. If the output ring is full, its record is dropped; the count of
 * faults includes it. */
static void deliver_fault(struct mkperf_profiler *p, struct mkperf_core *c,
                          struct mkperf_ring_producer *output, const uint64_t *record,
                          unsigned size)
{
    c->now = record[MKPERF_WORD_TIME];
    if (p->plan.counting || size != 8 * MKPERF_FAULT_WORDS) {
        p->statistics.corrupt++;
        return;
    }
    uint64_t thread = mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
    mkperf_flight_fault(p, thread);
    uint64_t *w = mkperf_output_room(p, output, size);
    if (w == NULL) {
        p->soft->records_dropped++;
        return;
    }
    copy_words(w, record, size);
    w[MKPERF_WORD_THREAD] = thread;
    mkperf_output_commit(p, output, size);
}

static void other(struct mkperf_profiler *p, struct mkperf_core *c,
                  struct mkperf_ring_producer *output, const uint64_t *record, unsigned size)
{
    unsigned type = mkperf_record_type(record[MKPERF_WORD_HEADER]);

    if (type == MKPERF_RECORD_FAULT) {
        deliver_fault(p, c, output, record, size);
    } else if (type == MKPERF_RECORD_SLICE) {
        mkperf_multiplex_take(p, c, record, size);
    } else if (type >= MKPERF_RECORD_SCHED && type <= MKPERF_RECORD_SCHED_LOSS) {
        mkperf_sched_take(p, output, record, size);
    } else {
        p->statistics.corrupt++;
    }
}

/* Adds what the hook counted in the ring's header since the last call. */
static void read_statistics(struct mkperf_profiler *p, struct mkperf_core *c)
{
    const struct mkperf_ring *ring = c->ring.ring;
    uint64_t samples = __atomic_load_n(&ring->dropped_samples, __ATOMIC_RELAXED);
    uint64_t events = __atomic_load_n(&ring->dropped_events, __ATOMIC_RELAXED);
    uint64_t late = __atomic_load_n(&ring->late_events, __ATOMIC_RELAXED);

    c->lost[MKPERF_LOSS_RING].samples += samples - c->dropped_samples;
    c->lost[MKPERF_LOSS_RING].events += events - c->dropped_events;
    p->statistics.lost_ring += samples - c->dropped_samples;
    c->statistics.lost_ring += samples - c->dropped_samples;
    c->unreported |= samples != c->dropped_samples;
    c->dropped_samples = samples;
    c->dropped_events = events;
    p->statistics.late_events += late - c->statistics.late_events;
    c->statistics.late_events = late;
}

/* Up to `end` of the core's ring. Positions are in registers during the copy, and written back at the
 * end. Returns the samples. */
static uint32_t drain_core(struct mkperf_profiler *p, struct mkperf_core *c, uint64_t end,
                           uint64_t *bytes)
{
    struct mkperf_ring_consumer ring = c->ring;
    struct mkperf_ring_producer output = p->output;
    uint32_t samples = 0;
    uint64_t copied = 0;
    bool corrupt = false;
    unsigned size;
    const uint64_t *record;

    /* Signed: a corrupt ring may put the tail anywhere. */
    while ((int64_t)(end - ring.tail) > 0) {
        uint64_t run = plain(p, c) ? deliver_run(p, c, &ring, end, &output, &samples) : 0;
        if (run != 0) {
            copied += run;
            mkperf_ring_release(&ring, (unsigned)run);
            continue;
        }
        record = mkperf_ring_peek(&ring, &size, &corrupt);
        if (record == NULL) {
            break;
        }
        if (!sample_ok(p, record[MKPERF_WORD_HEADER])) {
            other(p, c, &output, record, size);
        } else if (p->plan.counting) {
            mkperf_counting_take(p, c, record);
        } else {
            deliver(p, c, &output, record, size);
            samples++;
            copied += size;
        }
        mkperf_ring_release(&ring, size);
    }
    c->ring = ring;
    p->output = output;
    p->now = c->now > p->now ? c->now : p->now;
    p->statistics.corrupt += corrupt;
    p->statistics.captured += samples;
    c->statistics.captured += samples;
    *bytes += copied;
    read_statistics(p, c);
    if (c->unreported) {
        tell_losses(p, c);
    }
    return samples;
}

uint32_t mkperf_drain_ring(struct mkperf_profiler *p, uint64_t *bytes)
{
    uint64_t end[MKPERF_TARGET_CORES];
    uint32_t samples = 0;

    if (!mkperf_flight_may_drain(p)) {
        return 0;
    }
    if (p->plan.latency && !p->ticks.on) {
        mkperf_sched_merge(p, end);
    }
    for (uint32_t rest = p->on; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        struct mkperf_core *c = &p->core[i];
        if (!p->plan.latency || p->ticks.on) {
            end[i] = __atomic_load_n(&c->ring.ring->head, __ATOMIC_ACQUIRE);
        }
        c->drained = drain_core(p, c, end[i], bytes);
        samples += c->drained;
    }
    if (mkperf_plan_schedules(&p->plan)) {
        mkperf_sched_drained(p);
    }
    return samples;
}
