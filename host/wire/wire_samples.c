/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: chain slots, and the samples of batches. This is the part of the stream decoder that is run
 * for every sample. All that is equal for the samples of a chain is calculated when the chain is
 * defined.
 */
#include "wire_internal.h"

static enum mkperf_lr decide_lr(const struct mkperf_pds *pds, uint32_t pd, uint64_t pc)
{
    return mkperf_lr_is_caller(pds->module[pd], pc);
}

/*
 * Defines the chains that are valid from sample i on. *next: the first that is not yet, which is in
 * s->chains.definition if *next < *decoded. False: an invalid chain.
 */
static bool define_until(struct mkperf_stream *s, unsigned i, unsigned *next, unsigned *decoded)
{
    const struct mkperf_chain_lookup lookup = {mkperf_pds_find, decide_lr, s->config.pds};
    const struct mkperf_batch *b = &s->batch;
    mkperf_Chain *c = &s->chains.definition;

    for (; *next < b->nchains; ++*next) {
        if (*decoded == *next) {
            if (!mkperf_batch_chain_decode(c, b->chain[*next].p, b->chain[*next].n)) {
                return false;
            }
            ++*decoded;
        }
        if (c->at > i) {
            break;
        }
        struct mkperf_stream_slot *slot = &s->chains.slot[c->slot];
        int event = c->counter < MKPERF_MAX_COUNTERS ? s->event_of[c->counter] : -1;
        bool known = event >= 0;
        for (uint32_t left = c->reads; left != 0; left &= left - 1) {
            unsigned counter = (unsigned)__builtin_ctz(left);
            known = known && counter < MKPERF_MAX_COUNTERS && s->event_of[counter] >= 0;
        }
        slot->generation = known ? s->chains.generation : 0;
        if (!known) { /* the sample is of an unknown session */
            continue;
        }
        slot->event = (uint32_t)event;
        slot->counter = c->counter;
        /* The two bits show how a thread was found in samples of the timer, and where in a guest it was in others. */
        bool timer = s->session.event[event].code == MKPERF_TIMER_CODE;
        slot->flags = timer ? c->flags & ~(uint32_t)MKPERF_GUEST_MASK : c->flags;
        slot->confidence = timer ? mkperf_confidence(c->flags) : MKPERF_KNOWN;
        slot->reads = c->reads;
        slot->pc = c->pc;
        slot->kernel_pc = c->kernel_pc;
        slot->pd = mkperf_pds_find(s->config.pds, c->thread);
        slot->module = s->config.pds->module[slot->pd];
        mkperf_chain_prepare(&slot->chain, slot->pd, c->lr, (const uint64_t *)c->frames,
                             c->frames_count, &lookup);
    }
    return true;
}

/* Chooses the chain of a sample. count: the samples that have it. */
static const struct mkperf_chain *choose_chain(struct mkperf_stream *s,
                                               const struct mkperf_stream_slot *slot, uint64_t pc,
                                               uint64_t count)
{
    if (s->session.max_frames == 0 || slot->flags & MKPERF_SAMPLE_NO_USER ||
        slot->confidence == MKPERF_AMBIGUOUS) {
        return &slot->chain.plain;
    }
    if (slot->flags & MKPERF_GUEST_MASK) {
        /* The chain of a guest is two deep: the link register holds the caller if it is an address in another function than pc. In
         * the same function it is where an earlier call returned to, and without names nothing is known. */
        const struct mkperf_chain *with = &slot->chain.repaired;
        struct mkperf_symbol at, caller;
        bool known = slot->module != NULL && with->n == 1 && with->caller[0].addr != 0 &&
                     mkperf_symbol_at(slot->module, pc, &at) &&
                     mkperf_symbol_at(slot->module, with->caller[0].addr - 1, &caller);
        return known && at.start != caller.start ? with : &slot->chain.plain;
    }
    s->totals.unrepaired += slot->chain.unrepaired ? count : 0;
    s->totals.cut_chains += slot->flags & MKPERF_SAMPLE_BAD_FP ? count : 0;
    /* Without a link register, the target has added it, or there is none. */
    if (slot->chain.repaired.n == slot->chain.plain.n) {
        return &slot->chain.plain;
    }
    enum mkperf_lr lr = mkperf_lr_is_caller(slot->module, pc);
    s->totals.unrepaired += lr == MKPERF_LR_UNKNOWN && !slot->chain.unrepaired ? count : 0;
    return lr == MKPERF_LR_YES ? &slot->chain.repaired : &slot->chain.plain;
}

/* Stores the values of a sample, from *at on in the batch: one for each event. Returns false if
 * they are not there. */
static bool take_reads(const struct mkperf_stream *s, uint32_t mask, unsigned *at,
                       struct mkperf_read out[MKPERF_MAX_COUNTERS], unsigned *n)
{
    for (; mask != 0; mask &= mask - 1) {
        uint32_t event = (uint32_t)s->event_of[__builtin_ctz(mask)];
        unsigned i = 0;
        if (*at == s->batch.nreads) {
            return false;
        }
        while (i < *n && out[i].event != event) {
            i++;
        }
        if (i == *n) { /* an event may have a counter for each mode */
            out[(*n)++] = (struct mkperf_read){.event = event};
        }
        out[i].count += s->batch.read[(*at)++];
    }
    return true;
}

static void note_invalid(struct mkperf_stream *s)
{
    s->malformed++;
    s->damaged = true;
    stream_void_chains(s);
}

/*
 * Decodes the samples of a batch. *unknown: the number of samples that could not be read. Without a
 * sample's chain nothing is known of its counter, and so of those after it. The rows of a window do
 * not depend on one another.
 */
static enum mkperf_status decode_samples(struct mkperf_stream *s, uint64_t *unknown,
                                         struct mkperf_error *e)
{
    const struct mkperf_batch *b = &s->batch;
    struct mkperf_columns c;
    uint64_t period, last = s->core_ns[b->m.core];
    unsigned next = 0, decoded = 0, read = 0;

    *unknown = 0;
    columns_begin(&c, b);
    if (b->m.count_count != 0) {
        s->window_ns = stream_time(s, b->m.time_ticks, b->m.tick_hz);
        stream_note_time(&s->totals, s->window_ns);
    }
    for (unsigned i = 0; i < b->m.pc_count; i++) {
        if (next < b->nchains && !define_until(s, i, &next, &decoded)) {
            note_invalid(s);
            next = b->nchains;
        }
        const struct mkperf_stream_slot *slot = &s->chains.slot[columns_slot(&c)];
        if (slot->generation != s->chains.generation && b->m.count_count != 0) {
            *unknown += (uint64_t)b->m.count[c.i++] + 1;
            continue;
        }
        if (slot->generation != s->chains.generation) {
            break;
        }
        uint64_t away = columns_pc(&c); /* the distance of the sample's pc from that of its chain */
        if (!columns_next(&c, slot->counter, &period)) {
            note_invalid(s);
            break;
        }
        MKPERF_TRY(stream_announce(s, e));
        uint64_t ns = stream_time(s, c.time, b->m.tick_hz);
        last = ns > last ? ns : last;
        stream_note_time(&s->totals, last);
        struct mkperf_read reads[MKPERF_MAX_COUNTERS];
        struct mkperf_sample sample = {
            .time_ns = last,
            .period = period,
            .more = b->m.count_count != 0 ? b->m.count[i] : 0,
            .pd = slot->pd,
            .event = slot->event,
            .core = s->batch.m.core,
            .flags = slot->flags,
            .kernel_pc = slot->kernel_pc,
        };
        if (slot->flags & MKPERF_SAMPLE_NO_USER) {
            sample.kernel_pc += away;
        } else {
            sample.pc = slot->pc + away;
        }
        if (slot->reads != 0 && !take_reads(s, slot->reads, &read, reads, &sample.nreads)) {
            s->malformed++; /* not a batch that a target makes */
            sample.nreads = 0;
        }
        sample.reads = reads;
        uint64_t count = mkperf_sample_count(&sample);
        sample.callers = choose_chain(s, slot, sample.pc, count);
        s->totals.samples += count;
        s->totals.confidence[slot->confidence] += count;
        bool inferred = (slot->flags & MKPERF_SAMPLE_CALLERS) != 0 &&
                        (slot->confidence == MKPERF_PROVED || slot->confidence == MKPERF_INFERRED);
        s->totals.inferred_callers += inferred ? count : 0;
        MKPERF_TRY(mkperf_sink_sample(&s->order.to, &sample, e));
    }
    *unknown += b->m.pc_count - c.i;
    if (next < b->nchains && !define_until(s, UINT32_MAX, &next, &decoded)) {
        note_invalid(s);
    }
    s->core_ns[b->m.core] = last;
    return MKPERF_OK;
}

enum mkperf_status stream_batch(struct mkperf_stream *s, struct mkperf_error *e)
{
    const struct mkperf_batch *b = &s->batch;
    struct mkperf_lost lost = {.where = MKPERF_LOST_CHAIN, .core = b->m.core};

    if (!stream_tick_hz_ok(b->m.tick_hz)) {
        s->malformed++;
        return MKPERF_OK;
    }
    if (s->waiting) {
        s->others += b->weight;
        return MKPERF_OK;
    }
    bool drop;
    enum mkperf_status named = stream_need_names(s, &drop, e);
    if (named != MKPERF_OK || drop) {
        s->names.dropped = drop;
        s->names.dropped_epoch = b->m.epoch;
        return named;
    }
    /* The Session of this batch follows, or was lost. */
    if (!s->has_session || b->m.session != s->session_id) {
        s->damaged = true;
        s->totals.lost[MKPERF_LOST_CHAIN] += b->weight;
        return MKPERF_OK;
    }
    if (s->names.dropped && b->m.epoch == s->names.dropped_epoch) {
        /* The batch's chains came before names were settled, so it is read from the next
         * epoch on. */
        s->damaged = true;
        return MKPERF_OK;
    }
    bool first_of_epoch = s->names.dropped; /* we have seen the one before it */
    s->names.dropped = false;
    if (b->m.epoch != s->epoch) {
        s->epoch = b->m.epoch;
        s->damaged = false;
        stream_void_chains(s);
    }
    uint64_t before = s->totals.samples + s->totals.off_cpu_unpaired; /* those were samples */
    MKPERF_TRY(stream_begin(s, e));
    stream_cores_begin(s, b->m.core);
    /* A gap in the numbers of samples between the last batch and this one was lost in transit. */
    struct mkperf_lost transit = {.time_ns = s->core_ns[b->m.core],
                                  .where = MKPERF_LOST_TRANSIT,
                                  .core = stream_lost_core(s)};
    if (!s->numbered) {
        s->numbered = true;
        s->from_start = b->m.first_sample == 0;
        s->skipped = b->m.first_sample;
        s->damaged = !s->from_start;
    } else if (b->m.first_sample != s->next_sample) {
        transit.samples = b->m.first_sample > s->next_sample ? b->m.first_sample - s->next_sample
                                                             : 0;
        s->damaged = true;
        stream_void_chains(s);
    }
    s->next_sample = b->m.first_sample + b->weight;
    MKPERF_TRY(stream_lost(s, &transit, e));
    MKPERF_TRY(decode_samples(s, &lost.samples, e));
    s->damaged = s->damaged && !first_of_epoch;
    s->totals.core[b->m.core].samples += s->totals.samples + s->totals.off_cpu_unpaired - before;
    s->core_seen[b->m.core].arrived += b->weight;
    lost.time_ns = s->core_ns[b->m.core];
    MKPERF_TRY(stream_lost(s, &lost, e));
    for (unsigned i = 0; i < b->m.losses_count; i++) { /* losses on the target */
        struct mkperf_lost theirs = {
            .time_ns = stream_time(s, b->m.losses[i].time_ticks, b->m.tick_hz),
            .samples = b->m.losses[i].samples,
            .events = b->m.losses[i].events,
            .where = (enum mkperf_lost_where)b->m.losses[i].where,
            .core = b->m.core,
        };
        MKPERF_TRY(stream_lost(s, &theirs, e));
    }
    return mkperf_sink_flush(&s->order.to, e);
}
