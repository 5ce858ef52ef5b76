/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the profiler PD: see hook.h and include/mkperf/descriptor.h.
 *
 * Owns: what a session is, in kernel memory, and what the PMU is programmed to. Called by the
 * kernel where the PMU's interrupt is acknowledged and where an owner ends. The descriptor is read
 * once; what is checked here is the copy. Nothing can be lost here: overflows that no interrupt was
 * taken for yet become samples first.
 */
#include <mkperf_port.h>

#include "hook.h"

typedef uint64_t __attribute__((may_alias)) aliased;

enum { PATIENCE = 2 }; /* periods that a counter may have left when its period was shortened */

void mkperf_hook_boot(void)
{
    mkperf_pmu_boot();
}

/* ---- what the PMU holds ---------------------------------------------------------------------- */

/* How many bits are set; without the library that __builtin_popcount may want. */
static uint32_t bits(uint32_t mask)
{
    uint32_t n = 0;

    for (; mask != 0; mask &= mask - 1) {
        n++;
    }
    return n;
}

/* Events that counter i has left to its overflow; 0 if that was just now, for counters of the
 * kernel continue. */
static uint32_t left_of(unsigned i)
{
    uint32_t left = 0 - mkperf_pmu_read(i);

    return mkperf_pmu_overflow() >> i & 1 ? 0 : left;
}

/* Compares the session's counters with what they were programmed to, and puts them right. A value
 * is wrong if more is left than the whole interval. */
static void check(struct mkperf_hook *s)
{
    uint32_t wrong = (mkperf_pmu_running() ^ s->enabled) & s->mask;

    s->disturbed += bits(wrong);
    for (uint32_t rest = s->mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        bool other = mkperf_pmu_selected(i) != s->session.counter[i].select;
        bool moved = left_of(i) > s->counter[i].armed;
        if (other || moved) {
            s->disturbed += (uint64_t)other + moved;
            wrong |= UINT32_C(1) << i;
        }
        if (other) {
            mkperf_pmu_disable(UINT32_C(1) << i);
            mkperf_pmu_select(i, s->session.counter[i].select);
        }
        if (moved) {
            mkperf_pmu_write(i, 0 - s->counter[i].armed);
        }
    }
    if (wrong != 0) {
        mkperf_pmu_disable(s->mask & ~s->enabled);
        mkperf_pmu_enable(s->enabled);
    }
}

static void stop_counters(struct mkperf_hook *s)
{
    mkperf_pmu_disable(s->mask);
    s->enabled = 0;
}

/* Overflows whose interrupt the kernel has not taken yet, since it was not in user mode. */
static void take_pending(struct mkperf_hook *s)
{
    uint32_t hit = mkperf_pmu_overflow() & s->mask;

    if (hit != 0) {
        mkperf_hook_take(s, hit);
    }
}

void mkperf_hook_end(struct mkperf_hook *s, bool here)
{
    if (s->mask != 0 && here) {
        stop_counters(s);
        mkperf_pmu_clear(s->mask);
    }
    s->mask = 0;
    s->enabled = 0;
    s->owner = NULL;
    s->watches = false;
    s->tables = false;
    s->schedules = false;
    s->session.counts = 0;
    s->session.soft_mask = 0;
    s->session.sched = 0;
    mkperf_hook_unmapped(s);
}

/* ---- a configuration ------------------------------------------------------------------------- */

/* From memory that may change meanwhile: each word is loaded once. */
static void copy(struct mkperf_configuration *to, const struct mkperf_configuration *from)
{
    aliased *w = (aliased *)to;

    for (unsigned i = 0; i < sizeof *to / sizeof *w; i++) {
        w[i] = __atomic_load_n((const aliased *)from + i, __ATOMIC_RELAXED);
    }
}

/* s->want: nothing in it may name a missing counter, or lead anywhere else. */
static uint32_t check_counters(struct mkperf_hook *s)
{
    struct mkperf_configuration *want = &s->want;

    if (want->counter_mask == 0 || (want->counter_mask & ~mkperf_pmu_counters()) != 0) {
        return MKPERF_REQUEST_BAD_COUNTERS;
    }
    want->enable_mask &= want->counter_mask;
    want->read_mask &= want->counter_mask;
    want->slice_mask &= want->counter_mask;
    want->count_mask &= want->counter_mask;
    want->filters = want->filters < MKPERF_MAX_FILTERS ? want->filters : MKPERF_MAX_FILTERS;
    for (uint32_t rest = want->counter_mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        want->counter[i].reads &= want->read_mask;
        want->counter[i].select &= MKPERF_SELECT_BITS;
        want->slot[i] %= MKPERF_COUNT_SLOTS;
    }
    return MKPERF_REQUEST_OK;
}

/* Memory of a new session: all that it names is the caller's. */
static uint32_t check_memory(struct mkperf_hook *s, const void *caller)
{
    const struct mkperf_configuration *want = &s->want;

    if (!mkperf_ring_size_ok(want->ring_bytes) ||
        mkperf_port_memory(caller, want->ring,
                           (uint64_t)want->ring_bytes + MKPERF_RING_HEADER_BYTES) == NULL) {
        return MKPERF_REQUEST_BAD_RING;
    }
    if ((want->counts != 0 && !(MKPERF_PORT_FEATURES & MKPERF_FEATURE_COUNTS)) ||
        (want->soft_mask != 0 && !(MKPERF_PORT_FEATURES & MKPERF_FEATURE_SOFT)) ||
        (want->sched != 0 && !(MKPERF_PORT_FEATURES & MKPERF_FEATURE_SCHED))) {
        return MKPERF_REQUEST_BAD_FEATURE;
    }
    if ((want->counts != 0 &&
         mkperf_port_memory(caller, want->counts, sizeof(struct mkperf_counts)) == NULL) ||
        (want->soft_mask != 0 &&
         mkperf_port_memory(caller, want->soft, sizeof(struct mkperf_soft)) == NULL)) {
        return MKPERF_REQUEST_BAD_TABLE;
    }
    return MKPERF_REQUEST_OK;
}

/* Periods, which any request may change: with counter[] the session's. */
static void take_period(struct mkperf_hook *s, unsigned i,
                        const struct mkperf_request_counter *from)
{
    struct mkperf_hook_counter *c = &s->counter[i];
    uint32_t select = s->session.counter[i].select;
    uint32_t reads = bits(s->session.counter[i].reads);

    c->period = from->period;
    c->jitter_mask = from->jitter_mask;
    c->least =
        mkperf_least_interval(s->max_frames, s->callers, reads, mkperf_pmu_counts_kernel(select));
}

/* Programs and arms the counters of the session. Returns false, with *what the counter, if the PMU
 * does not take an event; then none of them counts. */
static bool program_all(struct mkperf_hook *s, uint32_t *what)
{
    s->kernel_mask = 0;
    for (uint32_t rest = s->mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        const struct mkperf_request_counter *c = &s->session.counter[i];
        take_period(s, i, c);
        /* An interval that is too short ends later, and its sample weighs more. */
        uint32_t add = c->left < s->counter[i].least ? s->counter[i].least - c->left : 0;
        s->counter[i].armed = (c->first > c->left ? c->first : c->left) + add;
        s->read[i] = c->read;
        s->kernel_mask |= (uint32_t)mkperf_pmu_kernel_alone(c->select) << i;
        mkperf_pmu_select(i, c->select);
        mkperf_pmu_write(i, 0 - (c->left + add));
    }
    mkperf_pmu_clear(s->mask); /* not before the values are set; what was written takes effect */
    for (uint32_t rest = s->mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        if (mkperf_pmu_selected(i) != s->session.counter[i].select) {
            *what = i;
            return false;
        }
    }
    return true;
}

/* The session's configuration is checked and in s->session: it begins, or continues, at *time. */
static uint32_t begin_session(struct mkperf_hook *s, uint32_t *what, uint64_t *time)
{
    s->mask = s->session.counter_mask;
    s->special = s->session.filters | s->session.read_mask | s->session.slice_mask;
    s->watermark = s->session.watermark;
    s->count_known = false;
    if (!program_all(s, what)) {
        mkperf_hook_end(s, true);
        return MKPERF_REQUEST_BAD_EVENT;
    }
    s->watches = s->tables || s->schedules || (s->mask & s->kernel_mask) != 0;
    s->enabled = s->session.enable_mask;
    *time = mkperf_port_time();
    mkperf_pmu_enable(s->enabled);
    return MKPERF_REQUEST_OK;
}

static uint32_t apply(struct mkperf_hook *s, const void *caller, uint32_t *what, uint64_t *time)
{
    uint32_t status = check_counters(s);

    if (status == MKPERF_REQUEST_OK) {
        status = check_memory(s, caller);
    }
    if (status == MKPERF_REQUEST_OK && *time < s->quiet) {
        status = MKPERF_REQUEST_BAD_TIME;
    }
    if (status != MKPERF_REQUEST_OK) {
        return status;
    }
    mkperf_hook_end(s, true);
    copy(&s->session, &s->want);
    s->owner = caller;
    s->schedules = s->session.sched != 0;
    s->tables = (s->session.counts | s->session.soft_mask) != 0;
    s->ring_bytes = s->session.ring_bytes;
    s->max_frames = s->session.max_frames < MKPERF_MAX_FRAMES ? s->session.max_frames
                                                              : MKPERF_MAX_FRAMES;
    s->callers = s->session.callers < MKPERF_MAX_CALLERS ? s->session.callers : MKPERF_MAX_CALLERS;
    s->room =
        8 * (MKPERF_SAMPLE_FIXED_WORDS + 1 + (s->callers != 0 ? MKPERF_MAX_FRAMES : s->max_frames));
    s->head = 0;
    s->mix = MKPERF_JITTER_MIX;
    s->dropped_samples = 0;
    s->dropped_events = 0;
    s->late_events = 0;
    s->disturbed = 0;
    s->storm = 0;
    mkperf_hook_find_ring(
        s); /* a core that is late may have written for an earlier session: void */
    status = begin_session(s, what, time);
    if ((MKPERF_PORT_FEATURES & MKPERF_FEATURE_SCHED) && s->schedules) {
        mkperf_sched_begin(s, *time);
    }
    return status;
}

/* Other counters, when those before stand still: what belongs to the session's memory stays as it
 * was. */
static uint32_t go_on(struct mkperf_hook *s, uint32_t *what, uint64_t *time)
{
    uint32_t status = s->storm ? MKPERF_REQUEST_BAD_STATE : check_counters(s);

    if (status != MKPERF_REQUEST_OK) {
        return status;
    }
    s->want.ring = s->session.ring;
    s->want.counts = s->session.counts;
    s->want.soft = s->session.soft;
    s->want.soft_mask = s->session.soft_mask;
    s->want.sched = s->session.sched;
    copy(&s->session, &s->want);
    return begin_session(s, what, time);
}

static uint32_t update(struct mkperf_hook *s)
{
    uint64_t now = mkperf_port_time();

    s->watermark = s->want.watermark;
    for (uint32_t rest = s->mask & ~s->session.read_mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        take_period(s, i, &s->want.counter[i]);
        uint32_t left = left_of(i);
        uint32_t next = mkperf_hook_interval(s, i, now);
        if (left > (uint64_t)PATIENCE * s->counter[i].period && left > next) {
            mkperf_pmu_write(i, 0 - next);
            s->counter[i].armed -= left - next;
        }
    }
    return MKPERF_REQUEST_OK;
}

/* ---- the request ----------------------------------------------------------------------------- */

/* *time is the present time at the call. If counters are started, it becomes the time of that. */
static uint32_t carry_out(struct mkperf_hook *s, uint32_t op, const void *caller, uint32_t *what,
                          uint64_t *time)
{
    switch (op) {
    case 0:
        return MKPERF_REQUEST_OK;
    case MKPERF_REQUEST_APPLY:
        return apply(s, caller, what, time);
    case MKPERF_REQUEST_CONTINUE:
    case MKPERF_REQUEST_UPDATE:
    case MKPERF_REQUEST_STOP:
    case MKPERF_REQUEST_WITHDRAW:
        break;
    default:
        return MKPERF_REQUEST_BAD_OP;
    }
    if (s->mask == 0 || s->owner != caller) {
        return MKPERF_REQUEST_BAD_STATE;
    }
    if (op == MKPERF_REQUEST_CONTINUE) {
        return go_on(s, what, time);
    }
    if (op == MKPERF_REQUEST_UPDATE) {
        return update(s);
    }
    if (op == MKPERF_REQUEST_WITHDRAW) {
        mkperf_hook_end(s, true);
    }
    return MKPERF_REQUEST_OK; /* STOP: it was done before the snapshot */
}

static void answer_counters(const struct mkperf_hook *s, struct mkperf_answer *a)
{
    for (uint32_t rest = s->mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        a->counter[i].value = mkperf_pmu_read(i);
        a->counter[i].interval = s->counter[i].armed;
        a->counter[i].read = s->read[i];
    }
}

static void answer(const struct mkperf_hook *s, struct mkperf_answer *a, uint32_t status,
                   uint32_t what, uint64_t time)
{
    a->status = status;
    a->what = what;
    a->features = MKPERF_PORT_FEATURES;
    a->counters = mkperf_pmu_counters();
    a->session = s->mask;
    a->storm = s->storm;
    a->cores = MKPERF_PORT_CORES;
    a->core = mkperf_port_core();
    mkperf_pmu_describe(a->pmu);
    a->time = time;
    a->tick_hz = mkperf_port_tick_hz();
    a->head = s->head;
    a->captures = s->captures;
    a->spurious = s->spurious;
    a->disturbed = s->disturbed;
}

void mkperf_hook_request(struct mkperf_hook *s, struct mkperf_descriptor *d, const void *caller,
                         bool here)
{
    uint32_t sequence = __atomic_load_n(&d->sequence, __ATOMIC_RELAXED);
    uint32_t word = __atomic_load_n(&d->op, __ATOMIC_RELAXED);
    uint32_t op = word & MKPERF_REQUEST_OP;
    uint32_t status = MKPERF_REQUEST_BAD_CORE;
    uint32_t what = 0;
    uint64_t time = mkperf_port_time();

    if (__atomic_load_n(&d->magic, __ATOMIC_RELAXED) != MKPERF_DESCRIPTOR_MAGIC ||
        __atomic_load_n(&d->answered, __ATOMIC_RELAXED) == sequence) {
        return;
    }
    if (here) {
        bool own = s->mask != 0 && s->owner == caller;
        if (own) {
            mkperf_hook_find_ring(s);
            take_pending(s);
            check(s);
            s->sched.limit = 0; /* the owner may have emptied the ring, or ask for a watermark */
            if ((MKPERF_PORT_FEATURES & MKPERF_FEATURE_SCHED) && s->schedules) {
                mkperf_sched_flush(s);
            }
            if (op == MKPERF_REQUEST_STOP || op == MKPERF_REQUEST_WITHDRAW ||
                op == MKPERF_REQUEST_CONTINUE) {
                stop_counters(s);
                take_pending(s); /* none can follow it now */
            }
        }
        time = mkperf_port_time();
        if ((word & MKPERF_REQUEST_SNAPSHOT) != 0 && own) {
            answer_counters(s, &d->answer);
        }
        if (op == MKPERF_REQUEST_APPLY || op == MKPERF_REQUEST_CONTINUE ||
            op == MKPERF_REQUEST_UPDATE) {
            copy(&s->want, &d->want);
        }
        status = carry_out(s, op, caller, &what, &time);
    }
    answer(s, &d->answer, status, what, time);
    __atomic_store_n(&d->answered, sequence, __ATOMIC_RELEASE);
}
