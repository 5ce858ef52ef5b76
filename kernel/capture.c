/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook: from a counter's overflow to a record in the core's sample ring.
 *
 * Owns: taking one sample. Called by the kernel's interrupt path, by request.c and, for threads that
 * stop to wait, by sched.c (see hook.h).
 * Everything that depends on the kernel is behind mkperf_port.h, which each port fills in; the
 * contract stands in docs/porting.md. No policy, no allocation, bounded work, no function pointers.
 * Of the memory that others can write to, the ring's tail is read, once for each record, and stack
 * frames.
 *
 * What may be lost: a sample for which the ring has no room, or while the ring is not mapped; it
 * is counted in the ring's header.
 */
#include <mkperf_port.h>

#include "hook.h"

enum {
    LOOK_WIDTH = 32,   /* captures whose time is measured: one within so many after the last, */
    LOOK_AFTER = 1024, /* and after so many it is decided */
    /*
     * What cannot be measured, the way from the interrupt to the port and from the port back to user
     * mode, is taken for so many instructions, rounded up; and what is measured for at least so many,
     * and so many for each word of its record. Their ratio gives the former's time.
     */
    UNSEEN_COST = 80,
    SEEN_COST = 90,
    SEEN_WORD_COST = 10,
};

/* The next interval of counter i, which begins at a sample of this time: with jitter as jitter.h
 * defines it. */
static inline uint32_t next_interval(const struct mkperf_hook *s, unsigned i, uint64_t time)
{
    const struct mkperf_hook_counter *c = &s->counter[i];
    uint32_t interval = c->period;

    if (c->jitter_mask != 0) {
        uint32_t draw = mkperf_jitter_draw(time, i, s->mix);
        interval = (uint32_t)mkperf_jitter_interval(interval, c->jitter_mask, draw);
    }
    return interval < c->least ? c->least : interval;
}

uint32_t mkperf_hook_interval(const struct mkperf_hook *s, unsigned i, uint64_t time)
{
    return next_interval(s, i, time);
}

/*
 * Counter i, which has counted on since its overflow, is to be armed with the value that is left in
 * *value, so that no event is lost: the next interval ends `next` events after this overflow. A
 * counter that ran too far (its period is shorter than the way through the kernel) starts afresh,
 * and what it ran goes into the weight of the present sample. Returns that weight.
 */
static inline __attribute__((always_inline)) uint64_t rearm(struct mkperf_hook *s, unsigned i,
                                                            uint64_t now, uint32_t *value)
{
    struct mkperf_hook_counter *c = &s->counter[i];
    uint32_t ran = mkperf_pmu_read(i);
    uint64_t weight = c->armed;
    uint32_t next = next_interval(s, i, now);

    if (__builtin_expect(ran > next / 2, 0)) {
        weight += ran;
        s->late_events += ran;
        s->ring->late_events = s->late_events;
        ran = 0;
    }
    *value = ran - next;
    c->armed = next;
    return weight;
}

/* Whether the session wants samples of this thread. Only with filters. */
static bool wants_thread(const struct mkperf_hook *s, struct mkperf_identity id)
{
    for (uint32_t i = 0; i < s->session.filters; i++) {
        const struct mkperf_filter *f = &s->session.filter[i];
        if (f->badge == id.badge && ((f->sc ^ id.sc) & f->sc_mask) == 0) {
            return true;
        }
    }
    return false;
}

/* The same of the thread that a sample would be about. */
__attribute__((noinline)) static bool wanted(const struct mkperf_hook *s, bool kernel)
{
    struct mkperf_port_context c;

    mkperf_port_context(&c, kernel);
    return wants_thread(s, mkperf_port_identity(c.thread));
}

/* What a counter of read_mask has counted: 0 when armed, and on over its overflow. */
static uint32_t count_of(unsigned i)
{
    return mkperf_pmu_read(i) - MKPERF_COUNT_PERIOD;
}

/* Puts what the counters of `mask` counted since the last time behind w[words], and the number of
 * them there; at most MKPERF_MAX_READS. w NULL: nowhere. Returns the words. */
static unsigned read_counters(struct mkperf_hook *s, uint32_t mask, uint64_t *w, unsigned words)
{
    unsigned n = 0;

    for (; mask != 0; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctz(mask);
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

/* Publishes what was written to the ring. Only the crossing of the watermark wakes: a consumer that is
 * already behind has been reported. */
static inline void publish(struct mkperf_hook *s, uint64_t bytes)
{
    struct mkperf_ring *ring = s->ring;
    uint64_t used = s->head - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

    s->head += bytes;
    s->wrote = bytes;
    __atomic_store_n(&ring->head, s->head, __ATOMIC_RELEASE);
    if (__builtin_expect(s->watermark - used - 1 < bytes, 0)) {
        mkperf_port_wake();
    }
}

/* Where the ring may be full, or its end is near. */
__attribute__((noinline)) static uint64_t *reserve_slowly(struct mkperf_hook *s, uint64_t bytes)
{
    struct mkperf_ring_producer p = {.ring = s->ring, .size = s->ring_bytes, .head = s->head};
    uint64_t *w = mkperf_ring_reserve(&p, bytes);

    if (p.head != s->head) { /* padding */
        publish(s, p.head - s->head);
    }
    return w;
}

/* As mkperf_ring_reserve: so many contiguous bytes of the ring, or NULL. */
static inline uint64_t *reserve(struct mkperf_hook *s, uint64_t bytes)
{
    struct mkperf_ring *ring = s->ring;
    uint64_t used = s->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    uint64_t at = s->head & (s->ring_bytes - 1);
    uint64_t most = s->ring_bytes - bytes; /* the smallest ring is larger than a record */

    if (__builtin_expect((used > most) | (at > most), 0)) {
        return reserve_slowly(s, bytes);
    }
    return &ring->data[at / 8];
}

__attribute__((noinline)) static void drop(struct mkperf_hook *s, uint64_t weight)
{
    s->wrote = 0;
    s->dropped_samples++;
    s->dropped_events += weight;
    s->ring->dropped_samples = s->dropped_samples; // NOLINT(clang-analyzer-core.NullDereference)
    s->ring->dropped_events = s->dropped_events;
}

/*
 * Puts the threads whose calls are being served to w, and behind them the number of their words:
 * `caller`, whose call the sample's thread is serving, the one whose call that is serving, and so on.
 * They are blocked until they get their replies, so their registers and stacks stand still. Bounded
 * by max words, of which there must be room for one caller without frames, and by the session's number
 * of callers, whatever the kernel's objects say. Returns the words.
 */
static inline __attribute__((always_inline)) unsigned
put_callers(const struct mkperf_hook *s, const void *caller, uint64_t *w, unsigned max)
{
    unsigned words = 0;
    unsigned level = 0;

    do {
        uint64_t *put = w + words;
        struct mkperf_identity id = mkperf_port_identity(caller);
        struct mkperf_walked walked = {0, 0};
        unsigned room = max - words - MKPERF_CALLER_WORDS - 1;
        struct mkperf_port_context c;

        level++;
        mkperf_port_blocked(&c, caller);
        put[MKPERF_CALLER_THREAD] = id.badge;
        put[MKPERF_CALLER_SC] = id.sc;
        put[MKPERF_CALLER_LR] = c.lr;
        put[MKPERF_CALLER_PC] = c.pc;
        if (c.fp != 0) {
            walked = mkperf_walk(caller, level, c.fp, put + MKPERF_CALLER_WORDS,
                                 room < s->max_frames ? room : s->max_frames);
        }
        put[MKPERF_CALLER_FRAMES] = walked.frames | (uint64_t)walked.flags << 8;
        words += MKPERF_CALLER_WORDS + walked.frames;
        caller = level < s->callers ? mkperf_port_caller(caller, s->session.reply) : NULL;
    } while (caller != NULL && words + MKPERF_CALLER_WORDS < max);
    w[words] = words;
    return words + 1;
}

/* Puts the chain of the thread that a sample is about to w, and who called it, and sets their flags.
 * Returns the words. */
static inline __attribute__((always_inline)) unsigned put_chain(const struct mkperf_hook *s,
                                                                const struct mkperf_port_context *c,
                                                                uint64_t *w, unsigned *flags)
{
    unsigned frames = 0;

    if (c->fp != 0 && s->max_frames != 0) {
        struct mkperf_walked walked = mkperf_walk(c->thread, 0, c->fp, w, s->max_frames);
        frames = walked.frames;
        *flags |= walked.flags;
    } else if (c->fp != 0) {
        *flags |= MKPERF_SAMPLE_DEPTH_LIMIT;
    }
    const void *caller = s->callers != 0 ? mkperf_port_caller(c->thread, s->session.reply) : NULL;
    if (__builtin_expect(caller != NULL, 0) && frames + MKPERF_CALLER_WORDS < MKPERF_MAX_FRAMES) {
        frames += put_callers(s, caller, w + frames, MKPERF_MAX_FRAMES - frames);
        *flags |= MKPERF_SAMPLE_CALLERS;
    }
    return frames;
}

/*
 * Writes one sample for counter i into the ring, or counts it as dropped. reads: counters whose
 * values ride in it. Inlined for the plain case (none), in which nothing of them is left.
 */
static inline __attribute__((always_inline)) void
take(struct mkperf_hook *s, unsigned i, bool kernel, uint64_t now, uint64_t weight, uint32_t reads)
{
    uint64_t *w = reserve(s, s->room + (reads != 0 ? 8 * (1 + MKPERF_MAX_READS) : 0));

    if (__builtin_expect(w == NULL, 0)) {
        if (reads != 0) {
            read_counters(s, reads, NULL, 0);
        }
        drop(s, weight);
        return;
    }

    unsigned flags = kernel ? MKPERF_SAMPLE_KERNEL : 0;
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS;
    unsigned frames = 0;
    struct mkperf_port_context c;
    bool user = mkperf_port_context(&c, kernel);
    struct mkperf_identity thread = mkperf_port_identity(c.thread);

    w[MKPERF_WORD_TIME] = now;
    w[MKPERF_WORD_THREAD] = thread.badge;
    w[MKPERF_WORD_SC] = thread.sc;
    w[MKPERF_WORD_PERIOD] = weight;
    w[MKPERF_WORD_PC] = c.pc;
    w[MKPERF_WORD_LR] = c.lr;
    if (kernel || !user) {
        w[words] = mkperf_port_kernel_pc();
        words++;
    }
    if (user) {
        frames = put_chain(s, &c, w + words, &flags);
    } else {
        flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
    }
    words += frames;
    if (reads != 0) {
        flags |= MKPERF_SAMPLE_READ;
        words += read_counters(s, reads, w, words);
    }
    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, frames, i, flags, mkperf_port_core());
    publish(s, 8 * (uint64_t)words);
}

/* A slice of the counters' time ended. Without space in the ring, the next overflow reports it. */
static void report_slice(struct mkperf_hook *s, unsigned i, uint64_t now)
{
    uint64_t bytes = UINT64_C(8) * MKPERF_SLICE_WORDS;
    uint64_t *w = reserve(s, bytes);

    if (w != NULL) {
        w[MKPERF_WORD_TIME] = now;
        w[MKPERF_WORD_HEADER] =
            mkperf_record_header(MKPERF_RECORD_SLICE, (unsigned)bytes, 0, i, 0, mkperf_port_core());
        publish(s, bytes);
    }
    mkperf_port_wake();
}

/* An overflow in a session that has filters, group reads, or multiplexing. */
static inline void take_special(struct mkperf_hook *s, unsigned i, bool kernel, uint64_t now,
                                uint64_t weight)
{
    uint32_t reads = s->session.counter[i].reads;

    if (s->session.slice_mask >> i & 1) {
        report_slice(s, i, now);
    } else if (s->session.read_mask >> i & 1) {
        s->read[i] -= weight; /* it begins again */
    } else if (s->session.filters == 0 || wanted(s, kernel)) {
        take(s, i, kernel, now, weight, reads);
    } else {
        read_counters(s, reads, NULL, 0);
    }
    /* What kernel counters counted of this belongs to no thread, as for the one that overflowed. */
    for (reads &= s->kernel_mask; reads != 0; reads &= reads - 1) {
        unsigned k = (unsigned)__builtin_ctz(reads);
        s->read[k] = count_of(k);
    }
}

/* Counter i has overflowed. special: whether the session has anything special. */
static inline __attribute__((always_inline)) void take_one(struct mkperf_hook *s, unsigned i,
                                                           uint64_t now, bool special)
{
    uint32_t value;
    bool kernel = s->kernel_mask >> i & 1;
    uint64_t weight = rearm(s, i, now, &value);

    if (special) {
        take_special(s, i, kernel, now, weight);
    } else {
        take(s, i, kernel, now, weight, 0);
    }
    /* Last, so that a kernel counter does not count the hook, and the interrupted thread gets on
     * before the next overflow, whatever the period. */
    mkperf_pmu_write(i, value);
}

/* The ring is not mapped as it was: counters continue, and what they counted is reported when it is there
 * again. */
__attribute__((noinline)) static void take_nowhere(struct mkperf_hook *s, uint32_t hit,
                                                   uint64_t now)
{
    for (; hit != 0; hit &= hit - 1) {
        unsigned i = (unsigned)__builtin_ctz(hit);
        s->dropped_samples++;
        s->dropped_events += s->counter[i].armed;
        s->counter[i].armed = next_interval(s, i, now);
        s->read[i] = 0;
        mkperf_pmu_write(i, 0 - s->counter[i].armed);
    }
}

void mkperf_hook_find_ring(struct mkperf_hook *s)
{
    if (s->ring != NULL) {
        return;
    }
    s->ring = mkperf_port_memory(s->owner, s->session.ring,
                                 (uint64_t)s->ring_bytes + MKPERF_RING_HEADER_BYTES);
    if (s->ring != NULL) {
        s->ring->dropped_samples = s->dropped_samples;
        s->ring->dropped_events = s->dropped_events;
        s->ring->dropped_sched = s->sched.lost_before + s->sched.lost;
        s->ring->late_events = s->late_events;
        __atomic_store_n(&s->ring->head, s->head, __ATOMIC_RELEASE);
    }
}

void mkperf_capture_waiting(struct mkperf_hook *s, const void *thread, uint64_t now)
{
    struct mkperf_port_context c;
    struct mkperf_identity id = mkperf_port_identity(thread);
    unsigned flags = 0;
    uint64_t *w;

    if (s->session.filters != 0 && !wants_thread(s, id)) {
        return;
    }
    mkperf_hook_find_ring(s);
    if (s->ring == NULL) {
        s->dropped_samples++;
        s->dropped_events++;
        return;
    }
    w = reserve(s, s->room);
    if (w == NULL) {
        drop(s, 1);
        return;
    }
    mkperf_port_blocked(&c, thread);
    w[MKPERF_WORD_TIME] = now;
    w[MKPERF_WORD_THREAD] = id.badge;
    w[MKPERF_WORD_SC] = id.sc;
    w[MKPERF_WORD_PERIOD] = 1;
    w[MKPERF_WORD_PC] = c.pc;
    w[MKPERF_WORD_LR] = c.lr;
    unsigned frames = put_chain(s, &c, w + MKPERF_SAMPLE_FIXED_WORDS, &flags);
    unsigned bytes = 8 * (MKPERF_SAMPLE_FIXED_WORDS + frames);
    w[MKPERF_WORD_HEADER] = mkperf_record_header(MKPERF_RECORD_SAMPLE, bytes, frames,
                                                 MKPERF_OFF_CPU_COUNTER, flags, mkperf_port_core());
    publish(s, bytes);
}

/*
 * Whether the hook takes more than half of the time: counters whose intervals are long enough one
 * by one may together still be too many, and how long a sample takes depends on the CPU and on the
 * kernel. Some captures are measured, from the time that the port read to mkperf_captured. They are
 * chosen at random, because counters that overflow in a fixed pattern could otherwise hide expensive
 * captures between the measured ones. The measurement continues over sessions, so starting a new
 * session does not reset it. After a storm, no session starts for as long as the storm lasted.
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
        s->since = s->quiet; /* what then passes is no time without samples */
        mkperf_port_wake();
    }
    s->first = s->captures;
    s->looks = 0;
    s->spent = 0;
    s->seen = 0;
}

/* All that is not the commonest case. */
__attribute__((noinline)) static void capture_any(struct mkperf_hook *s, uint32_t hit, uint64_t now)
{
    s->wrote = 0;
    mkperf_hook_find_ring(s);
    if (s->ring == NULL) {
        take_nowhere(s, hit, now);
        hit = 0;
    }
    for (; hit != 0; hit &= hit - 1) {
        unsigned i = (unsigned)__builtin_ctz(hit);
        take_one(s, i, now, s->special != 0);
    }
}

void mkperf_capture(struct mkperf_hook *s, uint32_t hit, uint64_t now)
{
    mkperf_pmu_clear(hit);
    s->captures++;
    /* Counter 0 is often the only one, and with its number known much is spared. */
    if (__builtin_expect(hit == 1 && s->ring != NULL && s->special == 0, 1)) {
        take_one(s, 0, now, false);
    } else {
        capture_any(s, hit, now);
    }
}

void mkperf_hook_take(struct mkperf_hook *s, uint32_t hit)
{
    uint64_t now = mkperf_port_time();

    mkperf_capture(s, hit, now);
    mkperf_captured(s, now);
}
