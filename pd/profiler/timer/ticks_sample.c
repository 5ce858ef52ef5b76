/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sample from two snapshots: its attribution (attribute.c), its record, its statistics: see
 * ticks.h.
 *
 * What may be lost: a sample that does not fit into the ring. The ring's header counts it, as it does
 * for the hook.
 */
#include "ticks.h"

/* The sample that is being made. */
static struct {
    struct mkperf_verdict v;
    uint64_t thread;
    /* The PDs that wait for the sample's PD in protected calls, innermost first. */
    unsigned callers;
    uint8_t caller[MKPERF_MAX_CALLERS];
    /* The words of mkperf_timer_reads_take. */
    unsigned values;
    uint64_t value[1 + MKPERF_MAX_READS];
} sample;

/* Returns whether the host has selected the thread. */
static bool selected(uint64_t thread)
{
    bool found = false;

    for (unsigned i = 0; i < mkperf_plan.request.only_count; i++) {
        found |= mkperf_thread_from_wire(mkperf_plan.request.only[i]) == thread;
    }
    return found;
}

/* Puts the chain after a sample's fixed words. Returns its words. */
static unsigned put_frames(uint64_t *w, unsigned *flags)
{
    unsigned n = 0;

    if (sample.v.confidence != MKPERF_AMBIGUOUS) {
        return sample.v.who < 0 ? 0
                                : mkperf_observe_walk((unsigned)sample.v.who, w,
                                                      mkperf_plan.session.max_frames, flags);
    }
    for (unsigned i = 0; i < sample.v.candidates && n + 3 <= mkperf_plan.session.max_frames; i++) {
        const struct mkperf_observed *c = &mkperf_seen.thread[sample.v.candidate[i]];
        w[n++] = MKPERF_FRAME_PD;
        w[n++] = c->thread;
        w[n++] = c->regs.MKPERF_REG_PC + MKPERF_CODE_UNIT; /* in the form of a return address */
    }
    return n;
}

/* Finds the callers that registers prove, at most the session's number. */
static void find_callers(void)
{
    int who = sample.v.confidence != MKPERF_AMBIGUOUS ? sample.v.who : -1;

    sample.callers = 0;
    while (who >= 0 && sample.callers < mkperf_plan.session.callers &&
           sample.callers < MKPERF_MAX_CALLERS) {
        who = mkperf_observe_caller(mkperf_seen.thread[who].thread);
        if (who >= 0) {
            sample.caller[sample.callers++] = (uint8_t)who;
        }
    }
}

/* Puts the callers' words in the hook's form (record.h), and a last word with their number. Returns
 * all words, at most max. */
static unsigned put_inferred(uint64_t *w, unsigned max)
{
    unsigned words = 0;

    for (unsigned i = 0; i < sample.callers && words + MKPERF_CALLER_WORDS < max; i++) {
        const struct mkperf_observed *c = &mkperf_seen.thread[sample.caller[i]];
        uint64_t *put = w + words;
        unsigned room = max - words - MKPERF_CALLER_WORDS - 1;
        unsigned flags = 0;
        unsigned frames = mkperf_observe_walk(
            sample.caller[i], put + MKPERF_CALLER_WORDS,
            room < mkperf_plan.session.max_frames ? room : mkperf_plan.session.max_frames, &flags);

        put[MKPERF_CALLER_FRAMES] = frames | (uint64_t)flags << 8;
        put[MKPERF_CALLER_THREAD] = c->thread;
        put[MKPERF_CALLER_SC] = c->thread >> 8; /* mkperf_thread_of takes it from here */
        put[MKPERF_CALLER_LR] = mkperf_link_register(&c->regs);
        put[MKPERF_CALLER_PC] = c->regs.MKPERF_REG_PC + MKPERF_CALL_BYTES;
        words += MKPERF_CALLER_WORDS + frames;
    }
    if (words != 0) {
        w[words] = words;
        words++;
    }
    return words;
}

static void put_sample(uint64_t now, uint64_t weight)
{
    bool idle = sample.thread == MKPERF_THREAD_IDLE;
    uint64_t *w = mkperf_ring_reserve(&mkperf_ticks.ring, MKPERF_MAX_RECORD_BYTES);

    if (w == NULL) {
        struct mkperf_ring *ring = mkperf_core_ring(mkperf_kernel.rings, MKPERF_TARGET_CORES);
        ring->lost.samples++;
        ring->lost.events += weight;
        return;
    }
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS;
    unsigned flags = 0;
    w[MKPERF_WORD_TIME] = now;
    w[MKPERF_WORD_THREAD] = sample.thread;
    w[MKPERF_WORD_SC] = sample.thread >> 8; /* as the hook writes it, because drain.c reads it */
    w[MKPERF_WORD_PERIOD] = weight;
    w[MKPERF_WORD_PC] = 0;
    w[MKPERF_WORD_LR] = 0;
    if (idle) {
        flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
        w[words++] = 0;
    } else if (sample.thread == mkperf_seen.self) {
        /* The entry of the PD's protected function represents its work. */
        w[MKPERF_WORD_PC] = (uintptr_t) protected;
    } else if (sample.v.who >= 0) {
        w[MKPERF_WORD_PC] = mkperf_seen.thread[sample.v.who].regs.MKPERF_REG_PC;
        w[MKPERF_WORD_LR] = mkperf_link_register(&mkperf_seen.thread[sample.v.who].regs);
    }
    unsigned frames = put_frames(w + words, &flags);
    if (sample.callers != 0 && frames + MKPERF_CALLER_WORDS < MKPERF_MAX_FRAMES) {
        unsigned more = put_inferred(w + words + frames, MKPERF_MAX_FRAMES - frames);
        flags |= more != 0 ? MKPERF_SAMPLE_CALLERS : 0;
        frames += more;
    }
    words += frames;
    for (unsigned i = 0; i < sample.values; i++) {
        w[words++] = sample.value[i];
        flags |= MKPERF_SAMPLE_READ;
    }
    flags |= (unsigned)sample.v.confidence << MKPERF_CONFIDENCE_SHIFT;
    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, frames, 0, flags, mkperf_kernel.here);
    mkperf_ring_commit(&mkperf_ticks.ring, UINT64_C(8) * words);
}

/* The hook identifies a child on another scheduling context differently (record.h). */
static bool same_thread(uint64_t a, uint64_t b)
{
    uint64_t child = MKPERF_THREAD_CHILD_BIT | 0xff;
    bool special = a >= MKPERF_THREAD_AMBIGUOUS || b >= MKPERF_THREAD_AMBIGUOUS;

    return a == b ||
           (!special && (a & b & MKPERF_THREAD_CHILD_BIT) != 0 && (a & child) == (b & child));
}

/* Counts whether the sample has the hook's thread, and if so, whether it has the hook's callers. */
static void compare(const struct mkperf_ticks_truth *truth)
{
    mkperf_Attribution *s = &mkperf_status.attribution;
    unsigned same = 0; /* callers that are the hook's, too */

    if (sample.v.confidence == MKPERF_AMBIGUOUS) {
        s->marked++;
        return;
    }
    if (!same_thread(sample.thread, truth->thread)) {
        s->wrong++;
        return;
    }
    s->right++;
    while (same < sample.callers && same < truth->callers &&
           same_thread(mkperf_seen.thread[sample.caller[same]].thread, truth->caller[same])) {
        same++;
    }
    if (same < sample.callers) {
        s->callers_wrong++;
    } else if (same < truth->callers) {
        s->callers_missed++;
    } else if (same != 0) {
        s->callers_right++;
    }
}

void mkperf_ticks_take(uint64_t now, const struct mkperf_ticks_truth *truth)
{
    mkperf_Attribution *s = &mkperf_status.attribution;
    struct mkperf_verdict *v = &sample.v;
    uint64_t hz = mkperf_ticks.timer->hz();

    sample.values = mkperf_timer_reads_take(hz, now, sample.value);
    mkperf_observe_look();
    if (truth != NULL || (int64_t)(mkperf_ticks.left - mkperf_ticks.due) < 0) {
        *v = mkperf_attribute(mkperf_seen.evidence, mkperf_seen.n, mkperf_seen.unobserved);
        sample.thread = v->confidence == MKPERF_AMBIGUOUS ? MKPERF_THREAD_AMBIGUOUS
                        : v->who >= 0                     ? mkperf_seen.thread[v->who].thread
                                                          : MKPERF_THREAD_IDLE;
    } else { /* This PD has worked at the time of the sample. */
        *v = (struct mkperf_verdict){.confidence = MKPERF_PROVED, .who = MKPERF_WHO_IDLE};
        sample.thread = mkperf_seen.self;
    }
    s->proved += v->confidence == MKPERF_PROVED;
    s->inferred += v->confidence == MKPERF_INFERRED;
    s->ambiguous += v->confidence == MKPERF_AMBIGUOUS;
    find_callers();
    if (truth != NULL) {
        compare(truth);
    }
    /* The remainder of a microsecond is part of the next sample's weight. */
    uint64_t weight = (mkperf_ticks.due - mkperf_ticks.from) * MKPERF_TICKS_US_PER_S +
                      mkperf_ticks.rest;
    mkperf_ticks.from = mkperf_ticks.due;
    mkperf_ticks.rest = weight % hz;
    /* With selected PDs, a sample that is certainly of another PD is left out. */
    bool wanted = mkperf_plan.request.only_count == 0 || selected(sample.thread);
    for (unsigned i = 0; i < v->candidates; i++) {
        wanted |= selected(mkperf_seen.thread[v->candidate[i]].thread);
    }
    if (wanted) {
        put_sample(now, weight / hz);
    }
}
