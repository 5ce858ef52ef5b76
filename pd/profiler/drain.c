/* SPDX-License-Identifier: BSD-2-Clause */
/* From the cores' sample rings to the stages: see pipeline.h. */
#include "pipeline.h"

enum {
    /* most bytes copied before their space is given back to the hook */
    RUN_BYTES = 16 * 1024,
    SMALLEST_SAMPLE = 8 * MKPERF_SAMPLE_FIXED_WORDS,
};

struct mkperf_input mkperf_in;

/* Reports a core's losses, those at each place in a record; false if there is no space for it
 * yet. */
static bool tell_losses(unsigned core)
{
    struct mkperf_input_core *c = &mkperf_in.core[core];

    for (unsigned where = 0; where < MKPERF_LOSS_LINK; where++) {
        if (c->lost[where].samples == 0) {
            continue;
        }
        const uint64_t record[MKPERF_LOSS_WORDS] = {
            [MKPERF_WORD_HEADER] =
                mkperf_record_header(MKPERF_RECORD_LOSS, sizeof record, 0, where, 0, core),
            [MKPERF_WORD_TIME] = c->now,
            [MKPERF_LOSS_SAMPLES] = c->lost[where].samples,
            [MKPERF_LOSS_EVENTS] = c->lost[where].events,
        };
        if (!mkperf_output_put(record, sizeof record, 0)) {
            return false;
        }
        c->lost[where] = (struct mkperf_lost){0};
    }
    c->unreported = false;
    return true;
}

/* Returns whether the record is a sample of the session. The hook is the kernel, so its records are
 * complete. The client uses the frames, and checks them itself. */
static inline bool sample_ok(uint64_t header)
{
    unsigned counter = mkperf_record_counter(header);

    return mkperf_record_type(header) == MKPERF_RECORD_SAMPLE && counter < MKPERF_MAX_COUNTERS &&
           (mkperf_plan.counter_mask >> counter & 1);
}

/* Counters change with the slices: in the output they have the numbers of the plan. */
static void renumber(uint64_t *w)
{
    const uint64_t counter_bits = UINT64_C(0xff) << 40;
    uint64_t header = w[MKPERF_WORD_HEADER];
    unsigned at = mkperf_sample_words(header);
    unsigned words = mkperf_record_size(header) / 8;

    w[MKPERF_WORD_HEADER] = (header & ~counter_bits) |
                            (uint64_t)mkperf_in.number[mkperf_record_counter(header)] << 40;
    if (!(mkperf_record_flags(header) & MKPERF_SAMPLE_READ) || at >= words) {
        return;
    }
    uint64_t n = w[at] <= MKPERF_MAX_READS ? w[at] : 0;
    for (uint64_t *v = w + at + 1; n > 0 && v < w + words; v++, n--) {
        uint64_t counter = *v >> MKPERF_READ_COUNTER_SHIFT;
        *v = (*v & MKPERF_READ_COUNT) | (uint64_t)mkperf_in.number[counter % MKPERF_MAX_COUNTERS]
                                            << MKPERF_READ_COUNTER_SHIFT;
    }
}

/* Notes successive samples of one counter for their event's pace. time: of the last one. */
static void note_pace(unsigned core, uint64_t header, uint32_t samples, uint64_t events,
                      uint64_t time)
{
    if (mkperf_plan.adaptive && samples != 0) {
        unsigned number = mkperf_in.number[mkperf_record_counter(header)];
        mkperf_pace_note(&mkperf_pace[core][mkperf_plan.event_of[number]], samples, events, time);
    }
}

/*
 * Takes samples from the next record on, as many as lie in one piece and have room in the output.
 * The identity of its thread takes the place of a badge, the event's pace is noted, and all are
 * copied at once. A sample without room is lost, and counted. Returns the bytes taken, and adds the
 * number of samples to *samples; 0: the next record is no sample of the session.
 */
static inline uint64_t take_samples(unsigned core, const struct mkperf_ring_consumer *ring,
                                    uint64_t end, uint32_t *samples)
{
    /* What sample_ok looks at, the size's lowest bits, and what is between them. */
    const uint64_t kind = UINT64_C(0xffffff000007ffff);
    struct mkperf_input_core *c = &mkperf_in.core[core];
    bool renumbers = mkperf_plan.session.slices > 1;
    bool reported = !c->unreported || tell_losses(core);
    uint64_t room = reported ? mkperf_output_stretch() : 0;
    uint64_t left;
    uint64_t *from = mkperf_ring_stretch(ring, end, &left);
    uint64_t *w = from;
    uint64_t header = UINT64_MAX; /* header of the last sample */
    uint32_t same = 0;            /* samples of its counter that are not noted yet */
    uint64_t events = 0;          /* the sum of their periods */
    uint32_t taken = 0;
    uint64_t weight = 0;

    if (room < MKPERF_MAX_RECORD_BYTES) { /* The next sample may fit at the ring's other end. */
        room = left >= SMALLEST_SAMPLE ? mkperf_record_size(w[MKPERF_WORD_HEADER]) : 0;
    }
    left = left < room ? left : room;
    left = left < RUN_BYTES ? left : RUN_BYTES;
    while (left >= SMALLEST_SAMPLE) {
        uint64_t next = w[MKPERF_WORD_HEADER];
        unsigned size = mkperf_record_size(next);
        if (size < SMALLEST_SAMPLE || size > left) {
            break;
        }
        if (((next ^ header) & kind) != 0) {
            if (!sample_ok(next) || size % 8 != 0) {
                break;
            }
            note_pace(core, header, same, events, c->now);
            taken += same;
            weight += events;
            same = 0;
            events = 0;
            header = next;
        }
        if (w[MKPERF_WORD_THREAD] & MKPERF_THREAD_CHILD_BIT) {
            w[MKPERF_WORD_THREAD] = mkperf_thread_of(w[MKPERF_WORD_THREAD], w[MKPERF_WORD_SC]);
        }
        if (renumbers) {
            renumber(w);
        }
        c->now = w[MKPERF_WORD_TIME];
        events += w[MKPERF_WORD_PERIOD];
        same++;
        left -= size;
        w += size / 8;
    }
    uint64_t bytes = 8 * (uint64_t)(w - from);
    if (bytes == 0) {
        return 0;
    }
    note_pace(core, header, same, events, c->now);
    taken += same;
    *samples += taken;
    uint64_t *to = reported ? mkperf_output_room(bytes) : NULL;
    if (to != NULL) {
        memcpy(to, from, bytes);
        mkperf_output_commit(bytes, taken, 0);
    } else {
        mkperf_status.lost_output += taken;
        mkperf_status.cores[core].lost_output += taken;
        c->lost[MKPERF_LOSS_OUTPUT].samples += taken;
        c->lost[MKPERF_LOSS_OUTPUT].events += weight + events;
        c->unreported = true;
    }
    return bytes;
}

/* Gives a record that is no sample for the output to its stage. False: the record is invalid. */
static bool dispatch(unsigned core, const uint64_t *record, unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);
    unsigned counter = mkperf_record_counter(header);
    struct mkperf_tally *tally = &mkperf_in.tally;
    bool ok;

    if (size <= 8 * MKPERF_WORD_TIME) {
        return false;
    }
    switch (type) {
    case MKPERF_RECORD_SCHED_THREAD:
    case MKPERF_RECORD_SCHED_LOSS:
        return mkperf_sched_take(core, record, size);
    case MKPERF_RECORD_SCHED:
    case MKPERF_RECORD_WORDS:
        ok = mkperf_sched_take(core, record, size);
        break;
    case MKPERF_RECORD_FAULT:
        ok = mkperf_soft_take(record, size);
        break;
    case MKPERF_RECORD_SLICE: /* The beat has woken this PD. The clock ends the slice. */
        ok = size >= 8 * MKPERF_SLICE_WORDS &&
             (counter + 1 == mkperf_plan.beat || mkperf_plan.clock != 0);
        tally->expired |= ok && counter + 1 != mkperf_plan.beat;
        break;
    default: /* a sample that counts */
        ok = mkperf_plan.counting && size >= SMALLEST_SAMPLE && sample_ok(header);
        if (ok) {
            tally->last[core] = record[MKPERF_WORD_TIME];
        }
        if (ok && (tally->mask >> counter & 1)) {
            tally->total[core][tally->slot[counter]] += record[MKPERF_WORD_PERIOD];
        }
    }
    if (ok) {
        mkperf_in.core[core].now = record[MKPERF_WORD_TIME];
    }
    return ok;
}

/* Adds what the hook counted in the ring's header since the last call. */
static void read_ring_counts(unsigned core)
{
    struct mkperf_input_core *c = &mkperf_in.core[core];
    mkperf_CoreStatus *to = &mkperf_status.cores[core];
    const struct mkperf_ring *ring = mkperf_in.ring[core].ring;
    uint64_t lost = __atomic_load_n(&ring->lost.samples, __ATOMIC_RELAXED) - to->lost_ring;
    uint64_t events = __atomic_load_n(&ring->lost.events, __ATOMIC_RELAXED);
    uint64_t late = __atomic_load_n(&ring->lost.late, __ATOMIC_RELAXED) - to->late_events;

    c->lost[MKPERF_LOSS_RING].samples += lost;
    c->lost[MKPERF_LOSS_RING].events += events - c->lost_events;
    c->lost_events = events;
    c->unreported |= lost != 0;
    to->lost_ring += lost;
    mkperf_status.lost_ring += lost;
    to->late_events += late;
    mkperf_status.late_events += late;
    if (mkperf_plan_follows()) {
        mkperf_sched_drained(core, __atomic_load_n(&ring->lost.sched, __ATOMIC_RELAXED));
    }
}

/* Empties a core's ring up to `end`. Returns the bytes of its samples. */
static uint64_t drain_core(unsigned core, uint64_t end)
{
    struct mkperf_input_core *c = &mkperf_in.core[core];
    struct mkperf_ring_consumer ring = mkperf_in.ring[core]; /* a copy that stays in registers */
    uint64_t copied = 0;
    bool corrupt = false;

    c->samples = 0;
    while ((int64_t)(end - ring.tail) > 0) { /* Signed: a corrupt ring may put the tail anywhere. */
        uint64_t bytes = mkperf_plan.counting ? 0 : take_samples(core, &ring, end, &c->samples);
        copied += bytes;
        if (bytes == 0) {
            unsigned size = 0;
            uint64_t tail = ring.tail;
            const uint64_t *record = mkperf_ring_peek(&ring, &size, &corrupt);
            if (record == NULL) {
                break;
            }
            if (ring.tail != tail) {
                continue; /* Padding was skipped. Samples may follow it. */
            }
            mkperf_status.corrupt += !dispatch(core, record, size);
            bytes = size;
        }
        mkperf_ring_release(&ring, (unsigned)bytes);
    }
    mkperf_in.ring[core] = ring;
    mkperf_in.now = c->now > mkperf_in.now ? c->now : mkperf_in.now;
    mkperf_status.corrupt += corrupt;
    mkperf_status.captured += c->samples;
    mkperf_status.cores[core].captured += c->samples;
    read_ring_counts(core);
    if (c->unreported) {
        tell_losses(core);
    }
    return copied;
}

struct mkperf_drained mkperf_drain(void)
{
    struct mkperf_drained result = {0};
    uint64_t end[MKPERF_TARGET_CORES];
    uint64_t head = mkperf_out.ring.head;

    if (!mkperf_output_open()) {
        return result;
    }
    if (mkperf_plan.latency) {
        uint64_t now = mkperf_kernel_time();
        mkperf_latencies_merge(mkperf_kernel.on, mkperf_in.ring, now, end);
    }
    MKPERF_EACH_BIT (i, mkperf_kernel.on) {
        if (!mkperf_plan.latency) {
            end[i] = __atomic_load_n(&mkperf_in.ring[i].ring->head, __ATOMIC_ACQUIRE);
        }
        result.bytes += drain_core(i, end[i]);
        result.samples += mkperf_in.core[i].samples;
        result.most = mkperf_in.core[i].samples > result.most ? mkperf_in.core[i].samples
                                                              : result.most;
    }
    result.output = mkperf_out.ring.head != head;
    return result;
}

void mkperf_ring_clear(struct mkperf_ring_consumer *c)
{
    *c->ring = (struct mkperf_ring){0};
    c->tail = 0;
}

void mkperf_drain_begin(void)
{
    for (unsigned i = 0; i < mkperf_kernel.cores; i++) {
        mkperf_in.ring[i].size = mkperf_plan.core_bytes;
        mkperf_ring_clear(&mkperf_in.ring[i]);
        mkperf_in.core[i] = (struct mkperf_input_core){0};
    }
    mkperf_in.now = 0;
    mkperf_in.tally = (struct mkperf_tally){0};
}
