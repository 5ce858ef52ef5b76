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

#include "records.h"

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
    SLICE_BYTES = 8 * MKPERF_SLICE_WORDS,
};

/* ---- the ring --------------------------------------------------------------------------------- */

/* Stores the numbers of lost samples and events in the ring's header, if the ring is known. */
MKPERF_NOINLINE void show_losses(struct mkperf_hook *s)
{
    if (s->out.ring != NULL) {
        s->out.ring->lost = s->lost;
    }
}

MKPERF_NOINLINE void drop(struct mkperf_hook *s, uint64_t weight)
{
    s->wrote = 0;
    s->lost.samples++;
    s->lost.events += weight;
    show_losses(s);
}

void mkperf_hook_lose_event(struct mkperf_hook *s, uint64_t time)
{
    struct mkperf_hook_sched *c = &s->sched;

    c->lost_from = s->lost.sched == c->reported ? time : c->lost_from;
    s->lost.sched++;
    c->limit = 0;
    show_losses(s);
}

void mkperf_hook_look_up(struct mkperf_hook *s)
{
    const struct mkperf_configuration *c = &s->session;

    s->out.ring = mkperf_port_memory(s->owner, c->ring,
                                     UINT64_C(0) + c->ring_bytes + MKPERF_RING_HEADER_BYTES);
    s->tables = mkperf_port_memory(s->owner, c->tables, sizeof *s->tables);
    show_losses(s);
    if (s->out.ring != NULL) {
        __atomic_store_n(&s->out.ring->head, s->out.head, __ATOMIC_RELEASE);
    }
}

/* ---- counters --------------------------------------------------------------------------------- */

uint32_t mkperf_hook_interval(const struct mkperf_hook *s, unsigned i, uint64_t time)
{
    const struct mkperf_request_counter *c = &s->session.counter[i];
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
    struct mkperf_request_counter *c = &s->session.counter[i];
    uint32_t ran = mkperf_pmu_read(i);
    uint64_t weight = c->interval;
    uint32_t next = mkperf_hook_interval(s, i, now);

    if (__builtin_expect(ran > next / 2, 0)) {
        weight += ran;
        s->lost.late += ran;
        show_losses(s);
        ran = 0;
    }
    *value = ran - next;
    c->interval = next;
    return weight;
}

/* Returns the count of a counter of read_mask. It is 0 when the counter is armed, and continues over the
 * overflow. */
static uint32_t count_of(unsigned i)
{
    return mkperf_pmu_read(i) - MKPERF_COUNT_PERIOD;
}

/* Reads the counters of `mask` for a sample. Stores the number of values in w[0], and the values, which are
 * the events since the last reading, behind it. Returns the number of words stored. */
static unsigned read_counters(struct mkperf_hook *s, uint32_t mask, uint64_t *w)
{
    unsigned n = 0;

    MKPERF_EACH_BIT (i, mask) {
        uint32_t count = count_of(i);
        if (n < MKPERF_MAX_READS) {
            n++;
            w[n] = (uint64_t)i << MKPERF_READ_COUNTER_SHIFT |
                   ((count - s->session.counter[i].read) & MKPERF_READ_COUNT);
        }
        s->session.counter[i].read = count;
    }
    w[0] = n;
    return 1 + n;
}

/* ---- a sample --------------------------------------------------------------------------------- */

/* Returns whether the session wants samples of counter i from this thread. guest: the mode of its guest, an enum
 * mkperf_guest_mode. */
static bool wanted(const struct mkperf_hook *s, unsigned i, struct mkperf_identity id,
                   uint32_t guest)
{
    uint32_t others = guest != MKPERF_GUEST_NONE ? s->session.host_mask : s->session.guest_mask;
    bool passes = s->session.filters == 0;

    for (uint32_t k = 0; k < s->session.filters; k++) {
        const struct mkperf_filter *f = &s->session.filter[k];
        passes |= f->badge == id.badge && ((f->sc ^ id.sc) & f->sc_mask) == 0;
    }
    return passes && (others >> i & 1) == 0;
}

/* Walks a thread's chain into w[0 .. max): by the table of its PD, or over its frame records. A walk by a table
 * includes the return address of *lr, and its fault is added to the sample's *flags. level: as in mkperf_walk.
 * special: there may be tables. */
MKPERF_INLINE uint32_t walk_chain(const struct mkperf_hook *s, const struct mkperf_port_context *c,
                                  struct mkperf_identity id, unsigned level, uint64_t *w,
                                  unsigned max, uint64_t *lr, unsigned *flags, bool special)
{
    uint32_t walked = MKPERF_NO_TABLE;

    if (special && s->session.unwind != 0 && s->tables != NULL && max != 0 &&
        c->guest == MKPERF_GUEST_NONE) {
        walked = mkperf_unwind(s, c, id, level, w, max);
    }
    if (walked == MKPERF_NO_TABLE) {
        return c->fp != 0 ? mkperf_walk(c->thread, level, c->fp, w, max) : 0;
    }
    *lr = 0;
    *flags |= walked >> MKPERF_WALKED_FLAGS_SHIFT & MKPERF_SAMPLE_BAD_FP;
    return walked;
}

/*
 * Stores the threads whose calls are being served at w, and the number of their words after them:
 * first `caller`, whose call the sample's thread is serving, then the thread whose call that one is
 * serving, and so on. They are blocked until they get their replies, so their registers and stacks do
 * not change. Bounded by `end`, before which there is room for at least one caller without frames, and by the
 * session's number of callers, whatever the kernel's objects contain. Returns the end of what was stored.
 */
MKPERF_INLINE uint64_t *put_callers(const struct mkperf_hook *s, const void *caller, uint64_t *w,
                                    const uint64_t *end, unsigned *flags, bool special)
{
    uint64_t *put = w;
    unsigned level = 0;

    do {
        unsigned room = (unsigned)(end - put) - MKPERF_CALLER_WORDS - 1;
        unsigned frames = room < s->session.max_frames ? room : s->session.max_frames;
        struct mkperf_identity id = mkperf_port_identity(caller);
        struct mkperf_port_context c;

        level++;
        mkperf_port_blocked(&c, caller);
        put[MKPERF_CALLER_THREAD] = id.badge;
        put[MKPERF_CALLER_SC] = id.sc;
        put[MKPERF_CALLER_LR] = c.lr;
        put[MKPERF_CALLER_PC] = c.pc;
        uint32_t walked = walk_chain(s, &c, id, level, put + MKPERF_CALLER_WORDS, frames,
                                     &put[MKPERF_CALLER_LR], flags, special);
        put[MKPERF_CALLER_FRAMES] = walked;
        put += MKPERF_CALLER_WORDS + (walked & MKPERF_WALKED_FRAMES);
        caller = level < s->session.callers ? mkperf_port_caller(caller, s->session.reply) : NULL;
    } while (caller != NULL && put + MKPERF_CALLER_WORDS < end);
    *put = (uint64_t)(put - w);
    return put + 1;
}

/*
 * Writes one sample of counter i and returns true. Without room for it, counts it as dropped. waiting: the thread
 * that the sample is of, which stops to wait; NULL: it is of the running thread. weight: the events that the sample stands for. reads: the
 * counters whose values are in the sample. special: the session may have filters, reads or tables, or
 * its ring is not mapped. Inlined with a constant `special`, so that the plain case has none of that.
 */
MKPERF_INLINE bool take(struct mkperf_hook *s, unsigned i, const void *waiting, bool kernel,
                        uint64_t now, uint64_t weight, bool special, uint32_t reads)
{
    unsigned flags = kernel ? MKPERF_SAMPLE_KERNEL : 0;
    struct mkperf_port_context c;
    uint64_t *w = NULL;

    if (waiting != NULL) {
        mkperf_port_blocked(&c, waiting);
    } else if (!mkperf_port_context(&c, kernel)) {
        flags |= MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
    }
    struct mkperf_identity thread = mkperf_port_identity(c.thread);
    if (mkperf_port_guest(&c) != MKPERF_GUEST_NONE) {
        flags |= c.guest;
    }
    bool unwanted = special && !wanted(s, i, thread, c.guest);

    if (special && (flags & MKPERF_SAMPLE_NO_USER) == 0 &&
        (s->session.soft_mask & MKPERF_SOFT_STACKS) != 0) {
        mkperf_soft_stack(s, c.thread, thread);
    }
    if (!unwanted && (!special || s->out.ring != NULL)) {
        w = mkperf_ring_reserve(&s->out, s->room + (reads != 0 ? 8 * (1 + MKPERF_MAX_READS) : 0));
    }
    if (__builtin_expect(w == NULL, 0)) {
        if (!unwanted) {
            drop(s, weight);
        }
        return false;
    }
    w[MKPERF_WORD_TIME] = now;
    w[MKPERF_WORD_THREAD] = thread.badge;
    w[MKPERF_WORD_SC] = thread.sc;
    w[MKPERF_WORD_PERIOD] = weight;
    w[MKPERF_WORD_PC] = c.pc;
    w[MKPERF_WORD_LR] = c.lr;
    uint64_t *put = w + MKPERF_SAMPLE_FIXED_WORDS;
    if ((flags & MKPERF_SAMPLE_KERNEL) != 0) {
        *put = mkperf_port_kernel_pc();
        put++;
    }
    const uint64_t *chain = put;
    const uint64_t *end = chain + MKPERF_MAX_FRAMES;
    if ((flags & MKPERF_SAMPLE_NO_USER) == 0) {
        uint32_t walked = walk_chain(s, &c, thread, 0, put, s->session.max_frames,
                                     &w[MKPERF_WORD_LR], &flags, special);
        const void *caller =
            s->session.callers != 0 ? mkperf_port_caller(c.thread, s->session.reply) : NULL;

        put += walked & MKPERF_WALKED_FRAMES;
        flags |= walked >> MKPERF_WALKED_FLAGS_SHIFT;
        if (__builtin_expect(caller != NULL, 0) && put + MKPERF_CALLER_WORDS < end) {
            put = put_callers(s, caller, put, end, &flags, special);
            flags |= MKPERF_SAMPLE_CALLERS;
        }
    }
    unsigned frames = (unsigned)(put - chain);
    if (reads != 0) {
        flags |= MKPERF_SAMPLE_READ;
        put += read_counters(s, reads, put);
    }
    unsigned bytes = 8 * (unsigned)(put - w);
    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(MKPERF_RECORD_SAMPLE, bytes, frames, i, flags, mkperf_port_core());
    mkperf_hook_publish(s, bytes);
    return true;
}

/* Writes a sample in a special session, or of a thread that waits. It is a function of its own because its code is
 * long. */
MKPERF_NOINLINE bool take_special(struct mkperf_hook *s, unsigned i, const void *waiting,
                                  bool kernel, uint64_t now, uint64_t weight, uint32_t reads)
{
    return take(s, i, waiting, kernel, now, weight, true, reads);
}

/* Does what the overflow of counter i requires, and arms the counter again. special: as in `take`, or
 * the session has slices. */
MKPERF_INLINE void take_one(struct mkperf_hook *s, unsigned i, uint64_t now, bool special)
{
    uint32_t value;
    bool kernel = s->kernel_mask >> i & 1;
    uint64_t weight = rearm(s, i, now, &value);
    uint32_t reads = special ? s->session.counter[i].reads : 0;
    /* The counters whose events until now are in no later sample: what kernel counters have counted in this
     * sample belongs to no thread, and the values of a sample that is dropped are dropped with it. */
    uint32_t past = reads & s->kernel_mask;

    if (special && (s->session.slice_mask >> i & 1)) {
        /* A slice of the counters' time has ended. Without room, the next overflow reports it. */
        uint64_t *w = mkperf_hook_reserve(s, SLICE_BYTES);
        if (w != NULL) {
            mkperf_hook_head(w, MKPERF_RECORD_SLICE, SLICE_BYTES, i, now);
            mkperf_hook_publish(s, SLICE_BYTES);
        }
        mkperf_port_wake();
    } else if (special && (s->session.read_mask >> i & 1)) {
        s->session.counter[i].read -= weight; /* the counter begins again */
    } else if (mkperf_pmu_wants(s->session.counter[i].select, kernel)) {
        bool taken = special ? take_special(s, i, NULL, kernel, now, weight, reads)
                             : take(s, i, NULL, kernel, now, weight, false, 0);
        past = taken ? past : reads;
    }
    MKPERF_EACH_BIT (k, past) {
        s->session.counter[k].read = count_of(k);
    }
    mkperf_pmu_write(i, value);
}

void mkperf_capture_waiting(struct mkperf_hook *s, const void *thread, uint64_t now)
{
    mkperf_hook_find(s);
    take_special(s, MKPERF_OFF_CPU_COUNTER, thread, false, now, 1, 0);
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
    uint64_t captures = s->answer.captures - s->first;

    s->spent += now - entered;
    s->seen += SEEN_COST + SEEN_WORD_COST * (s->wrote / 8);
    s->looks++;
    s->look_at = s->answer.captures + 1 + mkperf_jitter_draw(now, 0, s->mix) % LOOK_WIDTH;
    if (captures < LOOK_AFTER) {
        return;
    }

    uint64_t whole = s->spent + s->spent * s->looks * UNSEEN_COST / s->seen;
    uint64_t passed = now - s->since;

    s->since = now;
    if (whole * captures > passed / 2 * s->looks) {
        mkperf_pmu_disable(s->mask);
        s->session.enable_mask = 0;
        s->answer.storm = 1;
        s->quiet = now + passed;
        s->since = s->quiet; /* what passes until then is no time without samples */
        mkperf_port_wake();
    }
    s->first = s->answer.captures;
    s->looks = 0;
    s->spent = 0;
    s->seen = 0;
}

/* Takes samples in all cases but one: only counter 0 has overflowed, and the session is not special. */
MKPERF_NOINLINE void capture_any(struct mkperf_hook *s, uint32_t hit, uint64_t now)
{
    s->wrote = 0;
    mkperf_hook_find(s);
    MKPERF_EACH_BIT (i, hit) {
        take_one(s, i, now, s->special != 0 || s->out.ring == NULL);
    }
    mkperf_counts_take(s);
}

void mkperf_capture(struct mkperf_hook *s, uint32_t hit, uint64_t now)
{
    mkperf_pmu_clear(hit);
    s->answer.captures++;
    /* Counter 0 is often the only one, and a known number saves much. */
    if (__builtin_expect(hit == 1 && s->out.ring != NULL && s->special == 0, 1)) {
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
