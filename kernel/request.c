/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the profiler PD (include/mkperf/descriptor.h).
 *
 * Owns: what a session is, in kernel memory, and what the PMU is programmed to. Called by the kernel
 * where the PMU's interrupt is acknowledged, and where an owner ends (hook.h).
 *
 * Rules
 * 1. Each word of the descriptor is read once. Only the copy is checked and used.
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

/* Compares the session's counters with what they were programmed to, and programs those again that differ. A
 * value is wrong if more events are left than the whole interval has. */
static void correct(struct mkperf_hook *s)
{
    uint32_t wrong = (mkperf_pmu_running() ^ s->session.enable_mask) & s->mask;

    MKPERF_EACH_BIT (i, s->mask) {
        const struct mkperf_request_counter *c = &s->session.counter[i];
        if (mkperf_pmu_selected(i) != c->select || left_of(i) > c->interval) {
            wrong |= UINT32_C(1) << i;
            mkperf_pmu_disable(UINT32_C(1) << i);
            mkperf_pmu_select(i, c->select);
            mkperf_pmu_write(i, 0 - c->interval);
        }
        s->answer.disturbed += wrong >> i & 1;
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

/* Returns whether the numbers of a configuration are within their limits, and its counters those of the CPU. */
static bool within_limits(const struct mkperf_configuration *c)
{
    uint32_t parts = c->enable_mask | c->read_mask | c->slice_mask | c->count_mask | c->kernel_mask;

    return c->counter_mask != 0 && (c->counter_mask & ~mkperf_pmu_counters()) == 0 &&
           (parts & ~c->counter_mask) == 0 && c->filters <= MKPERF_MAX_FILTERS &&
           c->max_frames <= MKPERF_MAX_FRAMES && c->callers <= MKPERF_MAX_CALLERS &&
           c->words <= MKPERF_MAX_WORDS;
}

static uint32_t at_least(uint32_t value, uint32_t least)
{
    return value < least ? least : value;
}

/* Checks the counters of s->session and starts them. */
static uint32_t start_counters(struct mkperf_hook *s)
{
    struct mkperf_configuration *session = &s->session;

    if (!within_limits(session)) {
        return MKPERF_REQUEST_BAD_COUNTERS;
    }
    s->mask = session->counter_mask;
    s->kernel_mask = session->kernel_mask;
    s->special = session->filters | session->read_mask | session->slice_mask | session->guest_mask |
                 session->host_mask | session->count_mask |
                 (session->soft_mask & MKPERF_SOFT_STACKS) |
                 (session->unwind != 0 && session->max_frames != 0);
    MKPERF_EACH_BIT (i, s->mask) {
        struct mkperf_request_counter *c = &session->counter[i];
        c->reads &= session->read_mask;
        c->least = at_least(c->least, MKPERF_HOOK_MIN_PERIOD);
        /* An interval that is too short ends later, and its sample weighs more. */
        uint32_t left = at_least(c->left, c->least);
        c->interval = at_least(c->interval, c->left) + (left - c->left);
        c->left = left;
        mkperf_pmu_select(i, c->select);
        mkperf_pmu_write(i, 0 - left);
        if (mkperf_pmu_selected(i) != c->select) {
            s->answer.what = i;
            return MKPERF_REQUEST_BAD_EVENT;
        }
    }
    mkperf_pmu_clear(s->mask); /* the values are set, so no old flag is left after this */
    s->reports = (session->sched | session->count_mask | session->soft_mask) != 0;
    uint32_t enabled = session->enable_mask;
    uint64_t time = mkperf_port_time();
    mkperf_pmu_enable(enabled); /* as soon after the time as it can be */
    s->answer.time = time;
    return MKPERF_REQUEST_OK;
}

/* Begins a session of the caller. All memory that it names must be the caller's. */
static uint32_t apply(struct mkperf_hook *s, const struct mkperf_configuration *want,
                      const void *caller)
{
    struct mkperf_configuration *session = &s->session;

    mkperf_hook_end(s, true);
    mkperf_hook_copy(session, want, sizeof *session);
    s->owner = caller;
    uint32_t frames = session->callers != 0 ? MKPERF_MAX_FRAMES : session->max_frames;
    s->room = 8 * (MKPERF_SAMPLE_FIXED_WORDS + 1 + frames);
    s->out = (struct mkperf_ring_producer){.size = session->ring_bytes};
    s->mix = MKPERF_JITTER_MIX;
    s->lost = (struct mkperf_losses){0};
    s->answer.disturbed = 0;
    if (s->answer.time < s->quiet) {
        return MKPERF_REQUEST_BAD_TIME;
    }
    s->answer.storm = 0;
    /* A core that was late may have written to the ring for an earlier session. This empties it. */
    mkperf_hook_find(s);
    if (s->out.ring == NULL || !mkperf_ring_size_ok(s->out.size)) {
        return MKPERF_REQUEST_BAD_RING;
    }
    if (session->tables != 0 && s->tables == NULL) {
        return MKPERF_REQUEST_BAD_TABLE;
    }
    uint32_t status = start_counters(s);
    if (status == MKPERF_REQUEST_OK) {
        mkperf_sched_begin(s);
        mkperf_words_read(s, true, s->answer.time);
    }
    return status;
}

/* Changes periods. A counter that has far too many events left gets a new interval. */
static void update(struct mkperf_hook *s, const struct mkperf_configuration *want)
{
    uint64_t now = mkperf_port_time();

    s->session.watermark = __atomic_load_n(&want->watermark, __ATOMIC_RELAXED);
    MKPERF_EACH_BIT (i, s->mask & ~s->session.read_mask) {
        struct mkperf_request_counter *c = &s->session.counter[i];
        c->period = __atomic_load_n(&want->counter[i].period, __ATOMIC_RELAXED);
        c->jitter_mask = __atomic_load_n(&want->counter[i].jitter_mask, __ATOMIC_RELAXED);
        uint32_t left = left_of(i);
        uint32_t next = mkperf_hook_interval(s, i, now);
        if (left > (uint64_t)PATIENCE * c->period && left > next) {
            mkperf_pmu_write(i, 0 - next);
            c->interval -= left - next;
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

/* Carries out an operation, and returns its status. own: the session is the caller's. */
static uint32_t carry_out(struct mkperf_hook *s, struct mkperf_descriptor *d, uint32_t op,
                          const void *caller, bool own)
{
    uint32_t status = MKPERF_REQUEST_OK;

    if (op > MKPERF_REQUEST_PAGE) {
        return MKPERF_REQUEST_BAD_OP;
    }
    if (op > MKPERF_REQUEST_APPLY && (!own || (op == MKPERF_REQUEST_CONTINUE && s->answer.storm))) {
        return MKPERF_REQUEST_BAD_STATE;
    }
    switch (op) {
    case MKPERF_REQUEST_APPLY:
        status = apply(s, &d->want, caller);
        break;
    case MKPERF_REQUEST_CONTINUE:
        mkperf_hook_copy(&s->session, &d->want, MKPERF_CONTINUED_BYTES);
        status = start_counters(s);
        break;
    case MKPERF_REQUEST_PAGE:
        return mkperf_soft_page(s, d);
    case MKPERF_REQUEST_UPDATE:
        update(s, &d->want);
        break;
    case MKPERF_REQUEST_WITHDRAW:
        mkperf_hook_end(s, true);
        break;
    default: /* STOP was carried out before the snapshot, and 0 is no operation. */
        break;
    }
    if (status != MKPERF_REQUEST_OK) {
        mkperf_hook_end(s, true);
    }
    return status;
}

void mkperf_hook_request(struct mkperf_hook *s, struct mkperf_descriptor *d, const void *caller,
                         bool here)
{
    uint32_t sequence = __atomic_load_n(&d->sequence, __ATOMIC_RELAXED);
    uint32_t word = __atomic_load_n(&d->op, __ATOMIC_RELAXED);
    uint32_t op = word & MKPERF_REQUEST_OP;
    struct mkperf_answer *a = &s->answer;
    struct mkperf_identity self = mkperf_port_identity(caller);
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
    a->badge = self.badge;
    a->sc = self.sc;
    MKPERF_EACH_BIT (i, own && (word & MKPERF_REQUEST_SNAPSHOT) != 0 ? s->mask : 0) {
        d->answer.counter[i].value = mkperf_pmu_read(i);
        d->answer.counter[i].interval = s->session.counter[i].interval;
        d->answer.counter[i].read = s->session.counter[i].read;
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
