/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting and stopping: configuration, ring, the hook's session.
 *
 * Owns: the order of steps between this PD and the kernel hook. Called for START, STOP and INFO.
 * The hook has a session only while everything that it refers to is in place.
 */
#include <microkit.h>

#include "policy.h"
#include "profiler.h"

#include "../lib/text.h"

enum {
    PROBE_PERIOD = 1000,    /* cycles */
    PROBE_SPINS = 2000000,  /* some tens of milliseconds at most */
    QUIET_SPINS = 20000,    /* until the hook is ready after a storm: some milliseconds */
    NEVER_WAKE = INT32_MAX, /* a watermark that no ring reaches */
};

/* Empties a core's ring, as the hook expects it at the start of a session. Only without one. */
static void empty_ring(struct mkperf_core *c)
{
    struct mkperf_ring *r = c->ring.ring;

    r->head = 0;
    r->tail = 0;
    r->dropped_samples = 0;
    r->dropped_events = 0;
    r->late_events = 0;
    r->dropped_sched = 0;
    c->ring.tail = 0;
    c->dropped_samples = 0;
    c->dropped_events = 0;
    c->dropped_sched = 0;
}

/* This PD's core, on which is tried what all cores are to do. */
static struct mkperf_core *here(struct mkperf_profiler *p)
{
    return &p->core[p->here];
}

/* An event that every running program causes; -1 if the PMU has none. */
static int64_t probe_event(const struct mkperf_cpu *cpu)
{
    for (const struct mkperf_pmu_event *e = cpu->pmu->events; e->name != NULL; e++) {
        if ((mkperf_text_is(e->name, sizeof "cycles", "cycles") ||
             mkperf_text_is(e->name, sizeof "instructions", "instructions")) &&
            mkperf_cpu_supports(cpu, e->code)) {
            return e->code;
        }
    }
    return -1;
}

/* A session of counter 0 alone. */
static bool apply_one(struct mkperf_profiler *p, uint32_t first, bool kernel, uint32_t enable,
                      uint32_t watermark, uint32_t callers)
{
    struct mkperf_configuration *want = mkperf_kernel_blank(p, &here(p)->ring);
    uint32_t event = (uint32_t)probe_event(&p->cpu);

    want->counter_mask = 1;
    want->enable_mask = enable;
    want->watermark = watermark;
    want->callers = callers;
    want->max_frames = callers != 0;
    want->counter[0] = (struct mkperf_request_counter){
        .select = p->cpu.pmu->select(event, true, kernel),
        .left = first,
        .first = first,
        .period = MKPERF_MAX_PERIOD,
    };
    empty_ring(here(p));
    for (unsigned i = 0; i < QUIET_SPINS; i++) {
        if (mkperf_kernel_request(p, MKPERF_REQUEST_APPLY)) {
            return true;
        }
        if (mkperf_answered(&p->kernel)->status != MKPERF_REQUEST_BAD_TIME) {
            return false;
        }
    }
    return false;
}

/* The probe's own sample, which is not delivered, has the time. */
static uint64_t probe_time(struct mkperf_profiler *p)
{
    unsigned size;
    bool corrupt = false;
    const uint64_t *record = mkperf_ring_peek(&here(p)->ring, &size, &corrupt);

    return record != NULL && size > 8 * MKPERF_WORD_TIME ? record[MKPERF_WORD_TIME] : 0;
}

/* Mixes the few bits that differ from boot to boot into 64 bits (splitmix64's finalizer). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Lets counter 0 overflow once and waits, boundedly, for the hook to have seen it. */
bool mkperf_sampling_probe(struct mkperf_profiler *p, mkperf_Error *error)
{
    bool seen = false;

    if (probe_event(&p->cpu) < 0 || !apply_one(p, PROBE_PERIOD, false, 1, NEVER_WAKE, 0)) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_PMU, 0,
                                  "the PMU counts neither cycles nor instructions");
    }
    for (unsigned i = 0; i < PROBE_SPINS && !seen; i++) {
        seen = __atomic_load_n(&here(p)->ring.ring->head, __ATOMIC_ACQUIRE) != 0;
    }
    mkperf_kernel_request(p, MKPERF_REQUEST_WITHDRAW | MKPERF_REQUEST_SNAPSHOT);
    bool counted = mkperf_answered(&p->kernel)->counter[0].value != UINT32_C(0) - PROBE_PERIOD;
    if (p->boot_id == 0) {
        p->boot_id = mix(mix(probe_time(p)) ^ mkperf_answered(&p->kernel)->time) | 1;
    }
    empty_ring(here(p)); /* the probe's sample */
    if (seen) {
        return true;
    }
    if (!counted) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_PMU, 0,
                                  "the PMU's counters stand still in user mode: the kernel or the "
                                  "firmware forbids counting (MDCR_EL2, MDCR_EL3)");
    }
    return mkperf_plan_refuse(error, MKPERF_RESULT_NO_HOOK, 0,
                              "a counter overflowed and the hook saw no interrupt: it is off, or "
                              "another one than the kernel was built for (KernelMkperfIRQ)");
}

/* Checks that the PMU accepts all events: sessions in which no counter is enabled. */
static bool try_events(struct mkperf_profiler *p, mkperf_Error *error)
{
    for (unsigned i = 0; i < p->plan.events; i++) {
        const struct mkperf_plan_event *e = &p->plan.event[i];
        struct mkperf_configuration *want = mkperf_kernel_blank(p, &here(p)->ring);
        want->counter_mask = mkperf_counter_bit(e->user_counter) |
                             mkperf_counter_bit(e->kernel_counter);
        mkperf_kernel_select(p, e);
        if (want->counter_mask != 0 && !mkperf_kernel_request(p, MKPERF_REQUEST_APPLY)) {
            return mkperf_plan_refuse(error, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
                                      "the PMU does not take this event's number");
        }
    }
    return true;
}

static uint32_t first_watermark(struct mkperf_profiler *p)
{
    uint32_t wake = p->plan.counting ? 1 : p->plan.wake_samples;

    if (mkperf_plan_schedules(&p->plan)) {
        return (uint32_t)here(p)->ring.size / 4; /* each wake-up is events, too */
    }
    return mkperf_watermark(mkperf_wake_samples(wake, 0, 0, p->tick_hz), 0,
                            (uint32_t)here(p)->ring.size);
}

static void set_filters(struct mkperf_profiler *p)
{
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);

    for (unsigned i = 0; i < p->plan.filters; i++) {
        uint64_t thread = p->plan.filter[i];
        bool child = (thread & MKPERF_THREAD_CHILD_BIT) && thread < MKPERF_THREAD_AMBIGUOUS;
        want->filter[i] = (struct mkperf_filter){
            .badge = child ? MKPERF_THREAD_CHILD_BIT | (thread & MKPERF_THREAD_CHILD_ID) : thread,
            .sc = child ? thread >> 8 & MKPERF_THREAD_SC : 0,
            .sc_mask = child ? MKPERF_THREAD_SC : 0,
        };
    }
    /* A count is of all threads. */
    want->filters = p->plan.counting ? 0 : p->plan.filters;
}

void mkperf_sampling_reset(struct mkperf_profiler *p)
{
    if (mkperf_ring_used(&p->output) == 0) {
        p->output.size = p->plan.output_bytes; /* positions fit any size while nothing is in it */
    }
    for (unsigned i = 0; i < p->cores; i++) {
        struct mkperf_core *c = &p->core[i];
        c->ring.size = p->plan.core_bytes;
        empty_ring(c);
        for (unsigned where = 0; where < MKPERF_LOSS_LINK; where++) {
            c->lost[where] = (struct mkperf_lost){0};
        }
        c->unreported = false;
        c->stale = false;
        c->now = 0;
        c->spurious = 0;
        c->disturbed = 0;
        c->statistics = (mkperf_CoreStatus)mkperf_CoreStatus_init_zero;
    }
    p->id++;
    p->now = 0;
    p->asked = 0;
    p->on = UINT32_C(1) << p->here;
    p->statistics = (mkperf_Status)mkperf_Status_init_zero;
}

bool mkperf_sampling_check_begin(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (!mkperf_sampling_probe(p, error)) {
        return false;
    }
    return apply_one(p, MKPERF_MAX_PERIOD, true, 0, 8, p->plan.callers) || /* each sample wakes */
           mkperf_plan_refuse(error, MKPERF_RESULT_INTERNAL, 0, "the hook refuses a session");
}

void mkperf_sampling_check_arm(struct mkperf_profiler *p, uint32_t cycles)
{
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);

    want->enable_mask = 1;
    want->counter[0].left = cycles;
    want->counter[0].first = cycles;
    mkperf_kernel_request(p, MKPERF_REQUEST_CONTINUE);
}

void mkperf_sampling_check_stop(struct mkperf_profiler *p)
{
    mkperf_kernel_request(p, MKPERF_REQUEST_STOP);
}

void mkperf_sampling_check_end(struct mkperf_profiler *p)
{
    mkperf_kernel_request(p, MKPERF_REQUEST_WITHDRAW);
}

/* The session's tables in memory, as far as the kernel supports them. */
static bool set_tables(struct mkperf_profiler *p, mkperf_Error *error)
{
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);

    if (p->plan.counting && p->plan.per_thread && mkperf_counting_by_thread(p)) {
        want->counts = (uintptr_t)p->counts;
    }
    return mkperf_soft_prepare(p, error) && mkperf_sched_prepare(p, error);
}

/* Begins the configured session on all cores, on the own one last, or refuses with the hook's reason.
 * Another core may be late; it is in the session from when it answers (mkperf_cores_collect). */
static bool apply_session(struct mkperf_profiler *p, mkperf_Error *error)
{
    static const char *const why[] = {
        [MKPERF_REQUEST_BAD_CORE] = "the PMU's interrupt is another core's than the profiler PD's",
        [MKPERF_REQUEST_BAD_RING] = "the hook cannot use mkperf_rings: not one page, or not cached",
        [MKPERF_REQUEST_BAD_EVENT] = "the PMU does not take an event's number",
    };

    uint32_t mask = p->plan.cores;

    mkperf_cores_share(p, mask);
    p->running = true; /* answers are the session's */
    p->on = 0;
    if (mkperf_cores_request(p, mask, MKPERF_REQUEST_APPLY) >> p->here & 1 ||
        (p->on != 0 && !(mask >> p->here & 1))) {
        return true;
    }
    mkperf_cores_request(p, p->on, MKPERF_REQUEST_WITHDRAW);
    uint32_t status = mkperf_answered(&p->kernel)->status;
    const char *text = status < sizeof why / sizeof *why && why[status] != NULL
                           ? why[status]
                           : "the hook refuses the session";
    return mkperf_plan_refuse(error, MKPERF_RESULT_NO_HOOK, 0, text);
}

uint32_t mkperf_sampling_start(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (!mkperf_sampling_probe(p, error) || !try_events(p, error) ||
        !mkperf_flight_begin(p, error)) {
        return error->code;
    }
    mkperf_sampling_reset(p);
    mkperf_pace_begin(p);
    mkperf_kernel_blank(p, &here(p)->ring);
    mkperf_wanted(&p->kernel)->max_frames = p->plan.max_frames;
    mkperf_wanted(&p->kernel)->callers = p->plan.callers;
    mkperf_wanted(&p->kernel)->watermark = first_watermark(p);
    if (p->plan.counting) {
        mkperf_counting_begin(p);
    } else {
        mkperf_multiplex_begin(p);
    }
    set_filters(p);
    if (mkperf_wanted(&p->kernel)->counter_mask == 0) {
        mkperf_wanted(&p->kernel)->counter_mask = 1; /* software events alone: one that is off */
    }
    p->running = set_tables(p, error) && apply_session(p, error);
    if (!p->running) {
        mkperf_flight_forget(p);
        return error->code;
    }
    mkperf_soft_started(p);
    mkperf_sched_started(p);
    if (p->plan.counting) {
        mkperf_counting_started(p);
    } else {
        mkperf_multiplex_started(p);
    }
    return MKPERF_RESULT_OK;
}

void mkperf_sampling_stop(struct mkperf_profiler *p)
{
    uint64_t bytes = 0;

    mkperf_cores_request(p, p->on, MKPERF_REQUEST_STOP);
    mkperf_sched_stopped(p);
    mkperf_drain_ring(p, &bytes); /* all of it: nothing is added any more */
    if (p->plan.counting) {
        mkperf_counting_end(p);
    } else {
        mkperf_multiplex_end(p);
    }
    mkperf_soft_ended(p);
    mkperf_cores_request(p, p->on, MKPERF_REQUEST_WITHDRAW);
    mkperf_cores_give_up(p, p->plan.cores);
    if (mkperf_plan_schedules(&p->plan)) {
        mkperf_sched_ended(p);
        mkperf_drain_ring(p, &bytes); /* what happened since counters were stopped */
    }
    p->running = false;
}
