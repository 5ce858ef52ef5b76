/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a counter's overflow to a record in the core's sample ring.
 *
 * Owns: taking one sample, and reserving and publishing the ring's bytes. Called by the kernel's
 * interrupt path, by request.c for overflows that are pending, and by sched.c for threads that stop
 * to wait (hook.h). Everything that depends on the kernel is behind mkperf_port.h, which each port
 * fills in; docs/porting.md has the contract.
 *
 * Rules
 * 1. No policy, no allocation, no function pointer, and no loop without a constant bound.
 * 2. Of the memory that others can write, only the ring's tail and stack frames are read. The tail
 *    is read once for each record.
 * 3. The counter is armed last. A kernel counter therefore does not count the hook, and the
 *    interrupted thread gets on before the next overflow, whatever the period.
 *
 * What may be lost: a sample for which the ring has no room, or while the ring is not mapped. Both
 * are counted in the ring's header.
 */
#include <mkperf_port.h>

#include "hook.h"

enum {
    LOOK_WIDTH = 32,   /* Of at most this many captures, the time of one is measured. */
    LOOK_AFTER = 1024, /* After this many captures, mkperf_hook_look decides. */
    /*
     * A capture has a part whose time cannot be measured: the way from the interrupt to the port, and
     * from the port back to user mode. It takes UNSEEN_COST instructions at most. The measured part
     * takes SEEN_COST instructions at least, and SEEN_WORD_COST more for each word of the record. The
     * ratio of the two gives the time of the first part.
     */
    UNSEEN_COST = 80,
    SEEN_COST = 90,
    SEEN_WORD_COST = 10,
};

/* ---- the ring --------------------------------------------------------------------------------- */

/* An owner that is already behind was woken when the watermark was crossed, and is not woken again. */
inline __attribute__((always_inline)) void mkperf_hook_publish(struct mkperf_hook *s,
                                                               uint64_t bytes)
{
    struct mkperf_ring *ring = s->ring;
    uint64_t used = s->head - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

    s->head += bytes;
    s->wrote = bytes;
    __atomic_store_n(&ring->head, s->head, __ATOMIC_RELEASE);
    if (__builtin_expect(s->session.watermark - used - 1 < bytes, 0)) {
        mkperf_port_wake();
    }
}

/* Reserves bytes of the ring if it may be full, or if the record may need padding before it. */
MKPERF_NOINLINE uint64_t *reserve_slowly(struct mkperf_hook *s, uint64_t bytes)
{
    struct mkperf_ring_producer p = {
        .ring = s->ring, .size = s->session.ring_bytes, .head = s->head};
    uint64_t *w = mkperf_ring_reserve(&p, bytes);

    if (p.head != s->head) { /* padding */
        mkperf_hook_publish(s, p.head - s->head);
    }
    return w;
}

/* Does what mkperf_ring_reserve does, for the hook's ring, which is mapped. */
static inline uint64_t *reserve(struct mkperf_hook *s, uint64_t bytes)
{
    struct mkperf_ring *ring = s->ring;
    uint64_t used = s->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    uint64_t at = s->head & (s->session.ring_bytes - 1);
    uint64_t most = s->session.ring_bytes - bytes; /* the smallest ring is larger than a record */

    if (__builtin_expect((used > most) | (at > most), 0)) {
        return reserve_slowly(s, bytes);
    }
    return &ring->data[at / 8];
}

__attribute__((noinline)) void mkperf_hook_show_losses(struct mkperf_hook *s)
{
    struct mkperf_ring *ring = s->ring;

    if (ring != NULL) {
        ring->dropped_samples = s->dropped_samples;
        ring->dropped_events = s->dropped_events;
        ring->dropped_sched = s->sched.lost;
        ring->late_events = s->late_events;
    }
}

MKPERF_NOINLINE void drop(struct mkperf_hook *s, uint64_t weight)
{
    s->wrote = 0;
    s->dropped_samples++;
    s->dropped_events += weight;
    mkperf_hook_show_losses(s);
}

void mkperf_hook_find_ring(struct mkperf_hook *s)
{
    if (s->ring != NULL) {
        return;
    }
    s->ring = mkperf_port_memory(s->owner, s->session.ring,
                                 (uint64_t)s->session.ring_bytes + MKPERF_RING_HEADER_BYTES);
    mkperf_hook_show_losses(s);
    if (s->ring != NULL) {
        __atomic_store_n(&s->ring->head, s->head, __ATOMIC_RELEASE);
    }
}

uint64_t *mkperf_hook_reserve(struct mkperf_hook *s, uint64_t bytes)
{
    mkperf_hook_find_ring(s);
    return s->ring != NULL ? reserve(s, bytes) : NULL;
}

void mkperf_hook_head(uint64_t *w, unsigned type, unsigned words, unsigned counter, uint64_t time)
{
    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(type, 8 * words, 0, counter, 0, mkperf_port_core());
    w[MKPERF_WORD_TIME] = time;
}

uint64_t *mkperf_hook_record(struct mkperf_hook *s, unsigned type, unsigned words, unsigned counter,
                             uint64_t time)
{
    uint64_t *w = mkperf_hook_reserve(s, UINT64_C(8) * words);

    if (w != NULL) {
        mkperf_hook_head(w, type, words, counter, time);
    }
    return w;
}

/* ---- counters --------------------------------------------------------------------------------- */

uint32_t mkperf_hook_interval(const struct mkperf_hook *s, unsigned i, uint64_t time)
{
    const struct mkperf_hook_counter *c = &s->counter[i];
    uint32_t interval = c->period;

    if (c->jitter_mask != 0) {
        uint32_t draw = mkperf_jitter_draw(time, i, s->mix);
        interval = (uint32_t)mkperf_jitter_interval(interval, c->jitter_mask, draw);
    }
    return interval < c->least ? c->least : interval;
}

/*
 * Returns the weight of counter i's sample, and stores the value to arm it with in *value. The
 * counter has continued since its overflow. No event is lost: the next interval ends `next` events
 * after this overflow. A counter that ran too far starts again, and what it ran is added to the
 * present weight. That happens if the period is shorter than the way through the kernel.
 */
MKPERF_INLINE uint64_t rearm(struct mkperf_hook *s, unsigned i, uint64_t now, uint32_t *value)
{
    struct mkperf_hook_counter *c = &s->counter[i];
    uint32_t ran = mkperf_pmu_read(i);
    uint64_t weight = c->armed;
    uint32_t next = mkperf_hook_interval(s, i, now);

    if (__builtin_expect(ran > next / 2, 0)) {
        weight += ran;
        s->late_events += ran;
        mkperf_hook_show_losses(s);
        ran = 0;
    }
    *value = ran - next;
    c->armed = next;
    return weight;
}

/* Returns the count of a counter of read_mask. It is 0 when the counter is armed, and continues over the
 * overflow. */
static uint32_t count_of(unsigned i)
{
    return mkperf_pmu_read(i) - MKPERF_COUNT_PERIOD;
}

/* Reads the counters of `mask` for a sample. Stores the number of values in w[words], and the values,
 * which are the events since the last reading, behind it. Returns the number of words stored. w NULL:
 * the sample was dropped, and its values with it. */
static unsigned read_counters(struct mkperf_hook *s, uint32_t mask, uint64_t *w, unsigned words)
{
    unsigned n = 0;

    MKPERF_EACH_BIT (i, mask) {
        uint32_t count = count_of(i);
        if (w != NULL && n < MKPERF_MAX_READS) {
            n++;
            w[words + n] = (uint64_t)i << MKPERF_READ_COUNTER_SHIFT |
                           ((count - s->read[i]) & MKPERF_READ_COUNT);
        }
        s->read[i] = count;
    }
    if (w == NULL) {
        return 0;
    }
    w[words] = n;
    return 1 + n;
}

/* ---- a sample --------------------------------------------------------------------------------- */

/* Whether one of the session's filters lets samples of this thread pass. */
static bool wanted(const struct mkperf_hook *s, struct mkperf_identity id)
{
    for (uint32_t i = 0; i < s->session.filters; i++) {
        const struct mkperf_filter *f = &s->session.filter[i];
        if (f->badge == id.badge && ((f->sc ^ id.sc) & f->sc_mask) == 0) {
            return true;
        }
    }
    return false;
}

/* Walks a thread's chain by the table of its PD. False: the session has no tables, or none for this PD. */
static inline bool by_table(struct mkperf_hook *s, const struct mkperf_port_context *c,
                            struct mkperf_identity id, unsigned level, uint64_t *w, unsigned max,
                            struct mkperf_walked *out)
{
    return s->session.unwind != 0 && max != 0 && c->guest == 0 &&
           mkperf_unwind(s, c, id, level, w, max, out);
}

/*
 * Stores the threads whose calls are being served at w, and the number of their words after them:
 * first `caller`, whose call the sample's thread is serving, then the thread whose call that one is
 * serving, and so on. They are blocked until they get their replies, so their registers and stacks do
 * not change. Bounded by max words, which have room for at least one caller without frames, and by the
 * session's number of callers, whatever the kernel's objects contain. Returns the words.
 */
MKPERF_INLINE unsigned put_callers(struct mkperf_hook *s, const void *caller, uint64_t *w,
                                   unsigned max, unsigned *flags, bool special)
{
    unsigned words = 0;
    unsigned level = 0;

    do {
        uint64_t *put = w + words;
        struct mkperf_identity id = mkperf_port_identity(caller);
        struct mkperf_walked walked = {0, 0};
        unsigned room = max - words - MKPERF_CALLER_WORDS - 1;
        struct mkperf_port_context c;

        room = room < s->session.max_frames ? room : s->session.max_frames;

        level++;
        mkperf_port_blocked(&c, caller);
        put[MKPERF_CALLER_THREAD] = id.badge;
        put[MKPERF_CALLER_SC] = id.sc;
        put[MKPERF_CALLER_LR] = c.lr;
        put[MKPERF_CALLER_PC] = c.pc;
        if (special && by_table(s, &c, id, level, put + MKPERF_CALLER_WORDS, room, &walked)) {
            put[MKPERF_CALLER_LR] = 0;
            *flags |= walked.flags & MKPERF_SAMPLE_BAD_FP;
        } else if (c.fp != 0) {
            walked = mkperf_walk(caller, level, c.fp, put + MKPERF_CALLER_WORDS, room);
        }
        put[MKPERF_CALLER_FRAMES] = walked.frames | (uint64_t)walked.flags << 8;
        words += MKPERF_CALLER_WORDS + walked.frames;
        caller = level < s->session.callers ? mkperf_port_caller(caller, s->session.reply) : NULL;
    } while (caller != NULL && words + MKPERF_CALLER_WORDS < max);
    w[words] = words;
    return words + 1;
}

/* Stores the chain of the sample's thread, whose identity is `id`, at sample[words], and the callers in
 * other threads behind it. Adds the flags of the walk to *flags. Returns the number of words stored.
 * special: the session may have tables for unwinding. */
MKPERF_INLINE unsigned put_chain(struct mkperf_hook *s, const struct mkperf_port_context *c,
                                 struct mkperf_identity id, uint64_t *sample, unsigned words,
                                 unsigned *flags, bool special)
{
    uint64_t *w = sample + words;
    unsigned frames = 0;
    struct mkperf_walked unwound;

    if (special && by_table(s, c, id, 0, w, s->session.max_frames, &unwound)) {
        sample[MKPERF_WORD_LR] = 0;
        frames = unwound.frames;
        *flags |= unwound.flags;
    } else if (c->fp != 0 && s->session.max_frames != 0) {
        struct mkperf_walked walked = mkperf_walk(c->thread, 0, c->fp, w, s->session.max_frames);
        frames = walked.frames;
        *flags |= walked.flags;
    } else if (c->fp != 0) {
        *flags |= MKPERF_SAMPLE_DEPTH_LIMIT;
    }
    const void *caller = s->session.callers != 0 ? mkperf_port_caller(c->thread, s->session.reply)
                                                 : NULL;
    if (__builtin_expect(caller != NULL, 0) && frames + MKPERF_CALLER_WORDS < MKPERF_MAX_FRAMES) {
        frames += put_callers(s, caller, w + frames, MKPERF_MAX_FRAMES - frames, flags, special);
        *flags |= MKPERF_SAMPLE_CALLERS;
    }
    return frames;
}

/*
 * Writes one sample of counter i, or counts it as dropped. waiting: a thread that stops to wait; NULL:
 * the sample is of the running thread. weight: the events that the sample stands for. reads: the
 * counters whose values are in the sample. special: the session may have filters, reads or tables, or
 * its ring is not mapped. Inlined with a constant `special`, so that the plain case has none of that.
 */
MKPERF_INLINE void take(struct mkperf_hook *s, unsigned i, const void *waiting, bool kernel,
                        uint64_t now, uint64_t weight, bool special, uint32_t reads)
{
    unsigned flags = kernel ? MKPERF_SAMPLE_KERNEL : 0;
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS;
    unsigned frames = 0;
    struct mkperf_port_context c;
    uint64_t *w = NULL;

    if (waiting != NULL) {
        mkperf_port_blocked(&c, waiting);
    } else if (!mkperf_port_context(&c, kernel)) {
        flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
    }
    struct mkperf_identity thread = mkperf_port_identity(c.thread);
    if (__builtin_expect(mkperf_port_guest(&c) != MKPERF_GUEST_NONE, 0)) {
        flags |= c.guest;
    }
    uint32_t others = c.guest != 0 ? s->session.host_mask : s->session.guest_mask;
    bool unwanted = special &&
                    ((others >> i & 1) != 0 || (s->session.filters != 0 && !wanted(s, thread)));

    if ((MKPERF_PORT_FEATURES & MKPERF_FEATURE_EVENTS) && special &&
        (flags & MKPERF_SAMPLE_NO_USER) == 0 && (s->session.soft_mask & MKPERF_SOFT_STACKS) != 0) {
        mkperf_soft_stack(s, &c, thread);
    }
    if (!unwanted && (!special || s->ring != NULL)) {
        w = reserve(s, s->room + (reads != 0 ? 8 * (1 + MKPERF_MAX_READS) : 0));
    }
    if (__builtin_expect(w == NULL, 0)) {
        if (reads != 0) {
            read_counters(s, reads, NULL, 0);
        }
        if (!unwanted) {
            drop(s, weight);
        }
        return;
    }
    w[MKPERF_WORD_TIME] = now;
    w[MKPERF_WORD_THREAD] = thread.badge;
    w[MKPERF_WORD_SC] = thread.sc;
    w[MKPERF_WORD_PERIOD] = weight;
    w[MKPERF_WORD_PC] = c.pc;
    w[MKPERF_WORD_LR] = c.lr;
    if ((flags & MKPERF_SAMPLE_KERNEL) != 0) {
        w[words] = mkperf_port_kernel_pc();
        words++;
    }
    if ((flags & MKPERF_SAMPLE_NO_USER) == 0) {
        frames = put_chain(s, &c, thread, w, words, &flags, special);
    }
    words += frames;
    if (reads != 0) {
        flags |= MKPERF_SAMPLE_READ;
        words += read_counters(s, reads, w, words);
    }
    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, frames, i, flags, mkperf_port_core());
    mkperf_hook_publish(s, 8 * (uint64_t)words);
}

/* Does what the overflow of counter i requires, and arms the counter again. special: as in `take`, or
 * the session has slices. */
MKPERF_INLINE void take_one(struct mkperf_hook *s, unsigned i, uint64_t now, bool special)
{
    uint32_t value;
    bool kernel = s->kernel_mask >> i & 1;
    uint64_t weight = rearm(s, i, now, &value);
    uint32_t reads = special ? s->session.counter[i].reads : 0;

    if (special && (s->session.slice_mask >> i & 1)) {
        /* A slice of the counters' time has ended. Without room, the next overflow reports it. */
        if (mkperf_hook_record(s, MKPERF_RECORD_SLICE, MKPERF_SLICE_WORDS, i, now) != NULL) {
            mkperf_hook_publish(s, UINT64_C(8) * MKPERF_SLICE_WORDS);
        }
        mkperf_port_wake();
    } else if (special && (s->session.read_mask >> i & 1)) {
        s->read[i] -= weight; /* the counter begins again */
    } else if (mkperf_pmu_wants(s->session.counter[i].select, kernel)) {
        take(s, i, NULL, kernel, now, weight, special, reads);
    }
    /* What kernel counters have counted in this sample belongs to no thread, and to no later sample. */
    MKPERF_EACH_BIT (k, reads & s->kernel_mask) {
        s->read[k] = count_of(k);
    }
    mkperf_pmu_write(i, value);
}

void mkperf_capture_waiting(struct mkperf_hook *s, const void *thread, uint64_t now)
{
    mkperf_hook_find_ring(s);
    take(s, MKPERF_OFF_CPU_COUNTER, thread, false, now, 1, true, 0);
}

/*
 * Whether the hook takes more than half of the time. Counters whose intervals are long enough one
 * by one may together be too many, and the time of a sample depends on the CPU and on the kernel.
 * Some captures are measured, from the time that the port read to mkperf_captured. They are chosen
 * at random, because counters that overflow in a fixed pattern could otherwise hide expensive
 * captures between the measured ones. The measurement continues over sessions, so that a new session
 * does not reset it. After a storm, no session starts for as long as the storm lasted.
 */
void mkperf_hook_look(struct mkperf_hook *s, uint64_t entered)
{
    uint64_t now = mkperf_port_time();
    uint64_t captures = s->captures - s->first;

    s->spent += now - entered;
    s->seen += SEEN_COST + SEEN_WORD_COST * (s->wrote / 8);
    s->looks++;
    s->look_at = s->captures + 1 + mkperf_jitter_draw(now, 0, s->mix) % LOOK_WIDTH;
    if (captures < LOOK_AFTER) {
        return;
    }

    uint64_t whole = s->spent + s->spent * s->looks * UNSEEN_COST / s->seen;
    uint64_t passed = now - s->since;

    s->since = now;
    if (whole * captures > passed / 2 * s->looks) {
        mkperf_pmu_disable(s->mask);
        s->enabled = 0;
        s->storm = 1;
        s->quiet = now + passed;
        s->since = s->quiet; /* what passes until then is no time without samples */
        mkperf_port_wake();
    }
    s->first = s->captures;
    s->looks = 0;
    s->spent = 0;
    s->seen = 0;
}

/* Takes samples in all cases but one: only counter 0 has overflowed, and the session is not special. */
MKPERF_NOINLINE void capture_any(struct mkperf_hook *s, uint32_t hit, uint64_t now)
{
    s->wrote = 0;
    mkperf_hook_find_ring(s);
    MKPERF_EACH_BIT (i, hit) {
        take_one(s, i, now, s->special != 0 || s->ring == NULL);
    }
    if ((MKPERF_PORT_FEATURES & MKPERF_FEATURE_EVENTS) && s->session.counts != 0) {
        mkperf_counts_take(s);
    }
}

void mkperf_capture(struct mkperf_hook *s, uint32_t hit, uint64_t now)
{
    mkperf_pmu_clear(hit);
    s->captures++;
    /* Counter 0 is often the only one, and a known number saves much. */
    if (__builtin_expect(hit == 1 && s->ring != NULL && s->special == 0, 1)) {
        take_one(s, 0, now, false);
    } else {
        capture_any(s, hit, now);
    }
}

void mkperf_hook_take(struct mkperf_hook *s, uint32_t hit)
{
    if (hit != 0) {
        uint64_t now = mkperf_port_time();

        mkperf_capture(s, hit, now);
        mkperf_captured(s, now);
    }
}
