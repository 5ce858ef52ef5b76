/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the profiler PD (include/mkperf/descriptor.h).
 *
 * Owns: what a session is, in kernel memory, and what the PMU is programmed to. Called by the kernel
 * where the PMU's interrupt is acknowledged, and where an owner ends (hook.h).
 *
 * Rules
 * 1. The descriptor is read once. Only the copy is checked and used.
 * 2. Nothing is lost here: overflows whose interrupt is pending become samples first.
 * 3. The PMU is compared with what it was programmed to at each request of the owner.
 */
#include <mkperf_port.h>

#include "hook.h"

enum { PATIENCE = 2 }; /* periods that a counter may have left when its period was shortened */

/* ---- what the PMU holds ---------------------------------------------------------------------- */

/* Returns the number of events until counter i overflows. It is 0 if the counter has just overflowed, which a
 * counter of the kernel can do while the hook runs. */
static uint32_t left_of(unsigned i)
{
    uint32_t left = 0 - mkperf_pmu_read(i);

    return mkperf_pmu_overflow() >> i & 1 ? 0 : left;
}

/* Compares the session's counters with what they were programmed to, and corrects them. A value is
 * wrong if more events are left than the whole interval has. */
static void correct(struct mkperf_hook *s)
{
    uint32_t wrong = (mkperf_pmu_running() ^ s->session.enable_mask) & s->mask;

    MKPERF_EACH_BIT (i, s->mask) {
        uint32_t select = s->session.counter[i].select;
        uint32_t faults = wrong >> i & 1;
        if (mkperf_pmu_selected(i) != select) {
            faults++;
            mkperf_pmu_disable(UINT32_C(1) << i);
            mkperf_pmu_select(i, select);
        }
        if (left_of(i) > s->counter[i].armed) {
            faults++;
            mkperf_pmu_write(i, 0 - s->counter[i].armed);
        }
        wrong |= (uint32_t)(faults != 0) << i;
        s->answer.disturbed += faults;
    }
    if (wrong != 0) {
        mkperf_pmu_disable(s->mask & ~s->session.enable_mask);
        mkperf_pmu_enable(s->session.enable_mask);
    }
}

void mkperf_hook_end(struct mkperf_hook *s, bool here)
{
    if (s->mask != 0 && here) {
        mkperf_pmu_disable(s->mask);
        mkperf_pmu_clear(s->mask);
    }
    s->mask = 0;
    s->kernel_mask = 0;
    s->owner = NULL;
    s->reports = false;
    s->session = (struct mkperf_configuration){0};
    mkperf_hook_unmapped(s);
}

/* ---- a configuration ------------------------------------------------------------------------- */

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

/* Limits a configuration to what the CPU and the hook have. Returns false if it has no counters, or counters that
 * the CPU lacks. */
static bool check_counters(struct mkperf_configuration *want)
{
    if (want->counter_mask == 0 || (want->counter_mask & ~mkperf_pmu_counters()) != 0) {
        return false;
    }
    want->enable_mask &= want->counter_mask;
    want->read_mask &= want->counter_mask;
    want->slice_mask &= want->counter_mask;
    want->count_mask &= want->counter_mask;
    want->filters = at_most(want->filters, MKPERF_MAX_FILTERS);
    want->max_frames = at_most(want->max_frames, MKPERF_MAX_FRAMES);
    want->callers = at_most(want->callers, MKPERF_MAX_CALLERS);
    MKPERF_EACH_BIT (i, want->counter_mask) {
        want->counter[i].reads &= want->read_mask;
        want->counter[i].select &= MKPERF_SELECT_BITS;
        want->slot[i] %= MKPERF_COUNT_SLOTS;
    }
    return true;
}

/* Returns whether s->want may begin now: all memory that it names belongs to the caller, and the
 * time after a storm is over. */
static uint32_t check_session(const struct mkperf_hook *s, const void *caller)
{
    const struct mkperf_configuration *want = &s->want;
    struct mkperf_hook_memory memory;

    if (mkperf_hook_memory(caller, want, &memory) == NULL ||
        !mkperf_ring_size_ok(want->ring_bytes)) {
        return MKPERF_REQUEST_BAD_RING;
    }
    if ((want->counts != 0 && memory.counts == NULL) ||
        (want->soft_mask != 0 && memory.soft == NULL) ||
        (want->words != 0 && memory.words == NULL) ||
        (want->unwind != 0 && memory.unwind == NULL)) {
        return MKPERF_REQUEST_BAD_TABLE;
    }
    return s->answer.time < s->quiet ? MKPERF_REQUEST_BAD_TIME : MKPERF_REQUEST_OK;
}

/* Sets the period of counter i, which any request may change. */
static void take_period(struct mkperf_hook *s, unsigned i,
                        const struct mkperf_request_counter *from)
{
    struct mkperf_hook_counter *c = &s->counter[i];
    uint32_t frames = s->session.max_frames *
                      (s->session.unwind != 0 ? MKPERF_HOOK_UNWIND_FRAMES : 1);
    uint32_t reads = 0;

    for (uint32_t rest = s->session.counter[i].reads; rest != 0; rest &= rest - 1) {
        reads++;
    }
    c->period = from->period;
    c->jitter_mask = from->jitter_mask;
    c->least = mkperf_least_interval(frames, s->session.callers, reads,
                                     mkperf_pmu_counts_kernel(s->session.counter[i].select));
}

/* Starts the counters of s->session, which is checked. If the PMU does not take a counter's event, the
 * session ends. */
static uint32_t start_counters(struct mkperf_hook *s)
{
    const struct mkperf_configuration *session = &s->session;

    s->mask = session->counter_mask;
    s->special = session->filters | session->read_mask | session->slice_mask | session->guest_mask |
                 session->host_mask | (session->soft_mask & MKPERF_SOFT_STACKS) |
                 (session->counts != 0 || (session->unwind != 0 && session->max_frames != 0));
    s->kernel_mask = 0;
    MKPERF_EACH_BIT (i, s->mask) {
        const struct mkperf_request_counter *c = &session->counter[i];
        take_period(s, i, c);
        /* An interval that is too short ends later, and its sample weighs more. */
        uint32_t add = c->left < s->counter[i].least ? s->counter[i].least - c->left : 0;
        s->counter[i].armed = (c->first > c->left ? c->first : c->left) + add;
        s->read[i] = c->read;
        s->kernel_mask |= (uint32_t)mkperf_pmu_kernel_alone(c->select) << i;
        s->count_last[i] = 0 - (c->left + add);
        mkperf_pmu_select(i, c->select);
        mkperf_pmu_write(i, s->count_last[i]);
        if (mkperf_pmu_selected(i) != c->select) {
            s->answer.what = i;
            mkperf_hook_end(s, true);
            return MKPERF_REQUEST_BAD_EVENT;
        }
    }
    mkperf_pmu_clear(s->mask); /* the values are set, so no old flag is left after this */
    s->reports = session->sched != 0 || session->counts != 0 || session->soft_mask != 0;
    uint32_t enabled = session->enable_mask;
    uint64_t time = mkperf_port_time();
    mkperf_pmu_enable(enabled); /* as soon after the time as it can be */
    s->answer.time = time;
    return MKPERF_REQUEST_OK;
}

/* Begins a session of the caller with the configuration s->want. */
static uint32_t apply(struct mkperf_hook *s, const void *caller)
{
    uint32_t status = check_session(s, caller);

    if (status != MKPERF_REQUEST_OK) {
        return status;
    }
    mkperf_hook_end(s, true);
    s->session = s->want;
    s->owner = caller;
    uint32_t frames = s->session.callers != 0 ? MKPERF_MAX_FRAMES : s->session.max_frames;
    s->room = 8 * (MKPERF_SAMPLE_FIXED_WORDS + 1 + frames);
    s->out = (struct mkperf_ring_producer){.size = s->want.ring_bytes};
    s->mix = MKPERF_JITTER_MIX;
    s->lost = (struct mkperf_losses){0};
    s->answer.disturbed = 0;
    s->answer.storm = 0;
    /* A core that was late may have written to the ring for an earlier session. This empties it. */
    mkperf_hook_find(s);
    status = start_counters(s);
    mkperf_sched_begin(s);
    mkperf_words_read(s, true, s->answer.time);
    return status;
}

/* Changes periods. A counter that has far too many events left gets a new interval. */
static void update(struct mkperf_hook *s)
{
    uint64_t now = mkperf_port_time();

    s->session.watermark = s->want.watermark;
    MKPERF_EACH_BIT (i, s->mask & ~s->session.read_mask) {
        take_period(s, i, &s->want.counter[i]);
        uint32_t left = left_of(i);
        uint32_t next = mkperf_hook_interval(s, i, now);
        if (left > (uint64_t)PATIENCE * s->counter[i].period && left > next) {
            mkperf_pmu_write(i, 0 - next);
            s->counter[i].armed -= left - next;
        }
    }
}

/* ---- the request ----------------------------------------------------------------------------- */

/* Brings samples, counts and events up to date before a request of the owner, so that the request loses
 * nothing. Stops the counters if the operation does. */
static void settle(struct mkperf_hook *s, uint32_t op)
{
    mkperf_hook_find(s);
    mkperf_hook_take(s, mkperf_pmu_overflow() & s->mask);
    correct(s);
    if (s->reports) {
        mkperf_sched_flush(s);
        mkperf_counts_take(s);
    }
    s->answer.time = mkperf_port_time();
    mkperf_words_read(s, true, s->answer.time);
    s->sched.limit = 0; /* The owner may have emptied the ring, or may change the watermark. */
    /* The counters are stopped last, so that the time of the stop follows at once. */
    if (op == MKPERF_REQUEST_STOP || op == MKPERF_REQUEST_WITHDRAW ||
        op == MKPERF_REQUEST_CONTINUE) {
        mkperf_pmu_disable(s->mask);
        s->session.enable_mask = 0;
        mkperf_hook_take(s, mkperf_pmu_overflow() & s->mask); /* No overflow can follow now. */
    }
}

/* Carries out an operation with the configuration s->want, and returns its status. own: the session is the
 * caller's. */
static uint32_t carry_out(struct mkperf_hook *s, struct mkperf_descriptor *d, uint32_t op,
                          const void *caller, bool own)
{
    if (op > MKPERF_REQUEST_PAGE) {
        return MKPERF_REQUEST_BAD_OP;
    }
    if (op > MKPERF_REQUEST_APPLY && (!own || (op == MKPERF_REQUEST_CONTINUE && s->answer.storm))) {
        return MKPERF_REQUEST_BAD_STATE;
    }
    if ((op == MKPERF_REQUEST_APPLY || op == MKPERF_REQUEST_CONTINUE) &&
        !check_counters(&s->want)) {
        return MKPERF_REQUEST_BAD_COUNTERS;
    }
    switch (op) {
    case MKPERF_REQUEST_APPLY:
        return apply(s, caller);
    case MKPERF_REQUEST_CONTINUE:
        mkperf_hook_copy(&s->session.counter_mask, &s->want.counter_mask,
                         sizeof s->want - MKPERF_KEPT_BYTES);
        return start_counters(s);
    case MKPERF_REQUEST_PAGE:
        return mkperf_soft_page(s, d);
    case MKPERF_REQUEST_UPDATE:
        update(s);
        break;
    case MKPERF_REQUEST_WITHDRAW:
        mkperf_hook_end(s, true);
        break;
    default: /* STOP was carried out before the snapshot, and 0 is no operation. */
        break;
    }
    return MKPERF_REQUEST_OK;
}

void mkperf_hook_request(struct mkperf_hook *s, struct mkperf_descriptor *d, const void *caller,
                         bool here)
{
    uint32_t sequence = __atomic_load_n(&d->sequence, __ATOMIC_RELAXED);
    uint32_t word = __atomic_load_n(&d->op, __ATOMIC_RELAXED);
    uint32_t op = word & MKPERF_REQUEST_OP;
    struct mkperf_answer *a = &s->answer;
    bool own = here && s->mask != 0 && s->owner == caller;

    if (__atomic_load_n(&d->magic, __ATOMIC_RELAXED) != MKPERF_DESCRIPTOR_MAGIC ||
        __atomic_load_n(&d->answered, __ATOMIC_RELAXED) == sequence) {
        return;
    }
    if (own) {
        settle(s, op);
    }
    a->time = mkperf_port_time();
    a->what = 0; /* of an earlier request */
    MKPERF_EACH_BIT (i, own && (word & MKPERF_REQUEST_SNAPSHOT) != 0 ? s->mask : 0) {
        d->answer.counter[i].value = mkperf_pmu_read(i);
        d->answer.counter[i].interval = s->counter[i].armed;
        d->answer.counter[i].read = s->read[i];
    }
    if (op >= MKPERF_REQUEST_APPLY && op <= MKPERF_REQUEST_UPDATE) {
        mkperf_hook_copy(&s->want, &d->want, sizeof s->want);
    }
    a->status = here ? carry_out(s, d, op, caller, own) : MKPERF_REQUEST_BAD_CORE;
    a->features = MKPERF_PORT_FEATURES;
    a->counters = mkperf_pmu_counters();
    a->session = s->mask;
    a->cores = MKPERF_PORT_CORES;
    a->core = mkperf_port_core();
    mkperf_pmu_describe(a->pmu);
    a->tick_hz = mkperf_port_tick_hz();
    a->head = s->out.head;
    mkperf_hook_copy(&d->answer, a, __builtin_offsetof(struct mkperf_answer, counter));
    __atomic_store_n(&d->answered, sequence, __ATOMIC_RELEASE);
}
