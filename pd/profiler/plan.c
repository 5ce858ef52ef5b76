/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks that turn a client's request into a plan: see plan.h.
 *
 * Owns no state. Called for CONFIGURE. Each event takes one counter for user mode and one for the
 * kernel. The CPU takes an overflow's interrupt only when the kernel is left, so that only the
 * counter shows whether the kernel caused the event.
 */
#include "plan.h"

#include "event_names.h"
#include "policy.h"
#include "request.h"

/* Plans a software event, which the kernel counts in all slices. */
static bool plan_soft_event(struct mkperf_plan_event *e, unsigned i, const mkperf_EventSpec *want,
                            uint32_t kind, mkperf_Error *error)
{
    e->soft = kind;
    e->code = MKPERF_SOFT_CODE + kind - 1;
    if (!want->count) {
        return mkperf_refuse_event(
            error, MKPERF_RESULT_RANGE, i, "'", e->name,
            "' is a software event: it can be counted (mkperf stat), not sampled");
    }
    if (want->user || want->kernel) {
        return mkperf_refuse_event(error, MKPERF_RESULT_RANGE, i, "'", e->name,
                                   "' is a software event: it has no user half and no kernel half");
    }
    return true;
}

bool mkperf_plan_named(struct mkperf_plan_event *e, unsigned i, const mkperf_EventSpec *want,
                       const struct mkperf_cpu *cpu, mkperf_Error *error)
{
    mkperf_text_copy(e->name, want->name, sizeof e->name);
    uint32_t soft = mkperf_soft_named(e->name);
    if (soft != 0) {
        return plan_soft_event(e, i, want, soft, error);
    }
    if (e->name[0] != '\0') {
        const struct mkperf_pmu_event *known = mkperf_event_named(cpu, e->name);
        if (known == NULL && want->raw == 0) {
            return mkperf_refuse_event(error, MKPERF_RESULT_EVENT_UNKNOWN, i,
                                       "no event is called '", e->name,
                                       "'; `mkperf list` shows the supported ones");
        }
        e->code = known != NULL ? known->code : want->raw;
    } else {
        struct mkperf_text t = mkperf_text_begin(e->name, sizeof e->name);
        mkperf_text_put(&t, "raw_");
        mkperf_text_hex(&t, want->raw);
        e->code = want->raw;
    }
    if (!mkperf_cpu_supports(cpu, e->code)) {
        return mkperf_refuse_event(error, MKPERF_RESULT_EVENT_UNSUPPORTED, i,
                                   "this CPU cannot count '", e->name,
                                   "': its PMU does not implement the event");
    }
    return true;
}

/* The greatest number of group reads in a sample of event i. */
static uint32_t reads_of(const mkperf_Configure *request, unsigned i)
{
    uint32_t group = request->events[i].group;
    uint32_t sum = 0;

    while (group != 0 && ++i < request->events_count && request->events[i].group == group) {
        sum += request->events[i].read;
    }
    return sum;
}

/* The number of events that sample user mode. */
static uint32_t sampling_user(const mkperf_Configure *request)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < request->events_count; i++) {
        const mkperf_EventSpec *want = &request->events[i];
        n += !want->count && !want->read && (want->user || !want->kernel);
    }
    return n;
}

/* Plans the period or the frequency of an event. */
static bool plan_period(const struct mkperf_plan *plan, struct mkperf_plan_event *e, unsigned i,
                        const mkperf_Configure *request, const struct mkperf_cpu *cpu,
                        mkperf_Error *error)
{
    const mkperf_EventSpec *want = &request->events[i];
    uint32_t frames = plan->max_frames;
    uint32_t reads = reads_of(request, i);
    unsigned rate = mkperf_event_rate(cpu, e->code);
    bool kernel = want->kernel && !want->user;

    e->minimum =
        mkperf_min_period(rate, kernel, frames, plan->callers, reads, sampling_user(request));
    if (want->period != 0) {
        if (want->period >= e->minimum && want->period <= MKPERF_MAX_PERIOD) {
            e->period = (uint32_t)want->period;
            return true;
        }
        struct mkperf_text t = mkperf_refusal(error, MKPERF_RESULT_RANGE, i + 1);
        mkperf_text_put(&t, "the period of '");
        mkperf_text_put(&t, e->name);
        mkperf_text_put(&t, "' must be from ");
        mkperf_text_dec(&t, e->minimum);
        mkperf_text_put(&t, " to 2147483647 events; a sample costs about ");
        mkperf_text_dec(&t, mkperf_sample_cost(frames, reads));
        mkperf_text_put(&t, sampling_user(request) > 1
                                ? " instructions, for each event that samples"
                                : " instructions");
        return false;
    }
    if (want->frequency == 0 || want->frequency > MKPERF_MAX_FREQUENCY) {
        return mkperf_refuse_event(error, MKPERF_RESULT_RANGE, i, "the frequency of '", e->name,
                                   "' must be from 1 to 100000 samples a second");
    }
    e->frequency = want->frequency;
    e->period = mkperf_first_period(want->frequency, e->minimum, rate);
    return true;
}

static uint32_t counters_of(const mkperf_EventSpec *want)
{
    if (mkperf_soft_named(want->name) != 0) {
        return 0;
    }
    return !want->user == !want->kernel ? 2 : 1;
}

/* The counters of the event, and a spare one if it samples user mode and the kernel needs that
 * (MKPERF_FEATURE_FOLLOWERS). */
static uint32_t counters_with_spare(const mkperf_EventSpec *want, const struct mkperf_cpu *cpu)
{
    bool samples = !want->count && !want->read;
    bool user = want->user || !want->kernel;

    return counters_of(want) + (cpu->followers && samples && user ? 1 : 0);
}

/* Assigns the event counters of its slice from `next` on, and numbers from `number` on. */
static void plan_counters(struct mkperf_plan *plan, unsigned i, const mkperf_EventSpec *want,
                          uint32_t next, uint32_t number)
{
    struct mkperf_plan_event *e = &plan->event[i];
    struct mkperf_plan_slice *slice = &plan->slice[e->slice];
    bool both = !want->user == !want->kernel;
    uint32_t mask = 0;

    if (e->soft != 0) {
        return;
    }
    if (both || want->user) {
        mask |= UINT32_C(1) << next;
        plan->event_of[number] = (uint8_t)i;
        e->user_counter = ++next;
        e->user_number = ++number;
    }
    if (both || want->kernel) {
        mask |= UINT32_C(1) << next;
        slice->kernel_mask |= UINT32_C(1) << next;
        plan->event_of[number] = (uint8_t)i;
        e->kernel_counter = ++next;
        e->kernel_number = ++number;
    }
    slice->counter_mask |= mask;
    slice->read_mask |= e->read ? mask : 0;
    plan->counter_mask |= mask;
}

/* The counters that the group of event i needs at one time, or the event if it has no group. */
static uint32_t group_counters(const mkperf_Configure *request, unsigned i,
                               const struct mkperf_cpu *cpu)
{
    uint32_t group = request->events[i].group;
    uint32_t sum = counters_with_spare(&request->events[i], cpu);

    while (group != 0 && ++i < request->events_count && request->events[i].group == group) {
        sum += counters_with_spare(&request->events[i], cpu);
    }
    return sum;
}

static bool refuse_group(mkperf_Error *error, unsigned i, uint32_t needed, uint32_t there)
{
    struct mkperf_text t = mkperf_refusal(error, MKPERF_RESULT_COUNTERS, i + 1);

    mkperf_text_put(&t, "the group that begins here needs ");
    mkperf_text_dec(&t, needed);
    mkperf_text_put(&t,
                    " counters at the same time, and with other events to share the counters with "
                    "there are ");
    mkperf_text_dec(&t, there);
    return false;
}

/*
 * Packs events into slices of at most `there` counters, each group into a single slice. The order
 * is that of the request, so that neighbours without a group often count together, too.
 */
static bool plan_slices(struct mkperf_plan *plan, const mkperf_Configure *request,
                        const struct mkperf_cpu *cpu, uint32_t there, mkperf_Error *error)
{
    uint32_t next = 0;
    uint32_t taken = 0; /* counters of the slice, with the spare ones */
    uint32_t number = 0;
    uint32_t group = 0;

    plan->slices = 1;
    for (unsigned i = 0; i < plan->events; i++) {
        const mkperf_EventSpec *want = &request->events[i];
        if (want->group == 0 || want->group != group) {
            uint32_t needed = group_counters(request, i, cpu);
            if (needed > there) {
                return refuse_group(error, i, needed, there);
            }
            if (taken + needed > there) {
                plan->slices++;
                next = 0;
                taken = 0;
            }
        }
        group = want->group;
        plan->event[i].slice = plan->slices - 1;
        plan_counters(plan, i, want, next, number);
        next += counters_of(want);
        taken += counters_with_spare(want, cpu);
        number += counters_of(want);
    }
    plan->kernel_mask = plan->slice[0].kernel_mask;
    return true;
}

/* A scheduling event cannot wake this PD, because the scheduler is at work. A counter of cycles
 * that no event needs therefore wakes it regularly. If all counters are in use, samples wake it. */
static void plan_beat(struct mkperf_plan *plan, const struct mkperf_cpu *cpu, uint32_t needed)
{
    const struct mkperf_pmu_event *cycles = mkperf_event_named(cpu, "cycles");

    if (mkperf_plan_schedules(plan) && needed < cpu->counters && cycles != NULL &&
        mkperf_cpu_supports(cpu, cycles->code)) {
        plan->beat = (uint32_t)__builtin_popcount(plan->counter_mask) + 1;
        plan->clock_code = cycles->code;
        plan->counter_mask |= UINT32_C(1) << (plan->beat - 1);
    }
}

/* Reserves the last counter as the clock of the slices, because there are more events than
 * counters. */
static bool plan_clock(struct mkperf_plan *plan, const struct mkperf_cpu *cpu, mkperf_Error *error)
{
    const struct mkperf_pmu_event *cycles = mkperf_event_named(cpu, "cycles");

    if (cycles == NULL || !mkperf_cpu_supports(cpu, cycles->code)) {
        return mkperf_refuse(error, MKPERF_RESULT_COUNTERS, 0,
                             "more events than counters, and no cycles to multiplex by");
    }
    plan->clock = cpu->counters;
    plan->clock_code = cycles->code;
    plan->counter_mask |= UINT32_C(1) << (plan->clock - 1);
    return true;
}

static bool plan_all_counters(struct mkperf_plan *plan, const mkperf_Configure *request,
                              const struct mkperf_cpu *cpu, mkperf_Error *error)
{
    uint32_t most = MKPERF_MAX_COUNTERS - (plan->off_cpu ? 1 : 0);
    uint32_t there = cpu->counters < most ? cpu->counters : most;
    uint32_t numbers = 0;
    uint32_t needed = 0;

    for (unsigned i = 0; i < plan->events; i++) {
        numbers += counters_of(&request->events[i]);
        needed += counters_with_spare(&request->events[i], cpu);
    }
    if (numbers > most) {
        return mkperf_refuse(error, MKPERF_RESULT_COUNTERS, 0,
                             "these events need more than 31 counters, even when multiplexed; an "
                             "event takes two, user and kernel: :u or :k halves the need");
    }
    if (plan->counting && mkperf_plan_schedules(plan) && needed >= there) {
        return mkperf_refuse(error, MKPERF_RESULT_COUNTERS, 0,
                             "scheduling events beside events that count need a counter that "
                             "is left over, and these events take all");
    }
    if (needed <= there) {
        if (!plan_slices(plan, request, cpu, there, error)) {
            return false;
        }
        plan_beat(plan, cpu, needed);
        return true;
    }
    return plan_slices(plan, request, cpu, there - 1, error) && plan_clock(plan, cpu, error);
}

uint32_t mkperf_plan_reads(const struct mkperf_plan *plan, uint32_t event, uint32_t counter)
{
    const struct mkperf_plan_event *leader = &plan->event[event];
    bool is_user = counter + 1 == leader->user_counter;
    bool is_kernel = counter + 1 == leader->kernel_counter;
    /* Each mode is read with the leader's counter of that mode, or with the leader's only
     * counter. */
    bool user = is_user || (is_kernel && leader->user_counter == 0);
    bool kernel = is_kernel || (is_user && leader->kernel_counter == 0);
    uint32_t mask = 0;

    for (unsigned i = 0; i < plan->events; i++) {
        const struct mkperf_plan_event *e = &plan->event[i];
        if (e->read && e->leader == event) {
            mask |= user && e->user_counter != 0 ? UINT32_C(1) << (e->user_counter - 1) : 0;
            mask |= kernel && e->kernel_counter != 0 ? UINT32_C(1) << (e->kernel_counter - 1) : 0;
        }
    }
    return mask;
}

/* Checks that no sample has more values than its record can hold. */
static bool check_reads(const struct mkperf_plan *plan, mkperf_Error *error)
{
    for (unsigned i = 0; i < plan->events; i++) {
        const struct mkperf_plan_event *e = &plan->event[i];
        uint32_t user = e->user_counter != 0 ? mkperf_plan_reads(plan, i, e->user_counter - 1) : 0;
        uint32_t kernel = e->kernel_counter != 0 ? mkperf_plan_reads(plan, i, e->kernel_counter - 1)
                                                 : 0;
        if (__builtin_popcount(user) > MKPERF_MAX_READS ||
            __builtin_popcount(kernel) > MKPERF_MAX_READS) {
            return mkperf_refuse(error, MKPERF_RESULT_COUNTERS, i + 1,
                                 "a sample holds the values of at most 12 counters");
        }
    }
    return true;
}

/* A group read needs a leader that samples. */
static bool plan_read(struct mkperf_plan *plan, unsigned i, const mkperf_Configure *request,
                      mkperf_Error *error)
{
    struct mkperf_plan_event *e = &plan->event[i];
    unsigned first = i;

    while (e->group != 0 && first > 0 && request->events[first - 1].group == e->group) {
        first--;
    }
    e->leader = first;
    e->read = request->events[i].read;
    if (e->read && (first == i || plan->event[first].read || plan->counting)) {
        return mkperf_refuse_event(
            error, MKPERF_RESULT_RANGE, i, "'", e->name,
            "' is to be read with a group whose first event samples, and is in "
            "none");
    }
    return true;
}

/* Whether QEMU loses overflows of the event. Only QEMU without the kernel's help has steps. There,
 * cycles overflow correctly because of the steps, and events of the kernel because the hook checks
 * their counters when the kernel is left. */
static bool loses_overflows(const struct mkperf_plan_event *e, const mkperf_EventSpec *want,
                            const struct mkperf_cpu *cpu)
{
    if (MKPERF_PERIOD_STEP == 1 || cpu->followers || (want->kernel && !want->user)) {
        return false;
    }
    const struct mkperf_pmu_event *cycles = mkperf_event_named(cpu, "cycles");
    return cycles == NULL || e->code != cycles->code;
}

static bool plan_one(struct mkperf_plan *plan, unsigned i, const mkperf_Configure *request,
                     const struct mkperf_cpu *cpu, mkperf_Error *error)
{
    const mkperf_EventSpec *want = &request->events[i];
    struct mkperf_plan_event *e = &plan->event[i];

    if (!mkperf_plan_named(e, i, want, cpu, error)) {
        return false;
    }
    e->group = want->group;
    e->count = want->count;
    if (e->count != plan->counting) {
        return mkperf_refuse_event(error, MKPERF_RESULT_RANGE, i, "a session samples or counts: '",
                                   e->name, "' is not like the first event");
    }
    plan->soft_only &= e->soft != 0;
    plan->soft_mask |= e->soft != 0 ? UINT32_C(1) << (e->soft - 1) : 0;
    if (!plan_read(plan, i, request, error)) {
        return false;
    }
    if (e->count || e->read) {
        e->period = MKPERF_COUNT_PERIOD;
        return true;
    }
    if (!plan_period(plan, e, i, request, cpu, error)) {
        return false;
    }
    if (loses_overflows(e, want, cpu)) {
        return mkperf_refuse_event(error, MKPERF_RESULT_EVENT_UNSUPPORTED, i,
                                   "QEMU loses overflows of '", e->name,
                                   "', so its shares would be wrong: build the kernel with "
                                   "KernelMkperfQEMU=ON");
    }
    plan->adaptive |= e->frequency != 0;
    return true;
}

bool mkperf_plan_samples(struct mkperf_plan *plan, const mkperf_Configure *request,
                         mkperf_Error *error)
{
    if (request->max_frames > MKPERF_MAX_FRAMES) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "the call chain's depth must be from 0 to 64");
    }
    if (request->callers > MKPERF_MAX_CALLERS) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "a call chain continues in 8 other PDs at most");
    }
    plan->max_frames = request->max_frames;
    plan->callers = request->max_frames != 0 ? request->callers : 0;
    plan->no_jitter = request->no_jitter;
    plan->filters = request->only_count;
    for (unsigned i = 0; i < plan->filters; i++) {
        plan->filter[i] = mkperf_thread_from_wire(request->only[i]);
    }
    return true;
}

static bool plan_limits(const struct mkperf_plan *plan, mkperf_Error *error)
{
    if (plan->events == 0 && !mkperf_plan_schedules(plan)) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0, "a session has from 1 to 16 events");
    }
    if (!mkperf_ring_size_ok(plan->core_bytes) || plan->core_bytes > MKPERF_CORE_RING_BYTES ||
        !mkperf_ring_size_ok(plan->output_bytes) || plan->output_bytes > MKPERF_OUTPUT_RING_BYTES) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "a ring's size must be a power of two, from 4096 bytes to what "
                             "the target has");
    }
    return true;
}

/* Plans software events, off-CPU samples and the flight recording. */
static bool plan_soft(struct mkperf_plan *plan, const mkperf_Configure *request,
                      mkperf_Error *error)
{
    plan->overwrite = request->overwrite;
    plan->soft_mask = request->interactions ? MKPERF_SOFT_ALL : 0;
    plan->faults = request->dump_on_fault_count;
    if (plan->off_cpu && (!plan->sched || plan->counting)) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "threads that wait are sampled with scheduling events, and not "
                             "with events that count");
    }
    if (plan->off_cpu && plan->events == MKPERF_MAX_EVENTS) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "a session has at most 16 events, off-CPU samples being one");
    }
    if (plan->overwrite && plan->counting) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "a flight recording samples: events that count have no place "
                             "in it");
    }
    if (plan->faults != 0 && !plan->overwrite) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "a fault can end a flight recording, and nothing else");
    }
    for (unsigned i = 0; i < plan->faults; i++) {
        plan->fault[i] = mkperf_thread_from_wire(request->dump_on_fault[i]);
    }
    if (plan->faults != 0) {
        plan->soft_mask |= UINT32_C(1) << MKPERF_SOFT_FAULT;
    }
    if (plan->soft_mask != 0 && !plan->counting) {
        plan->soft_mask |= MKPERF_SOFT_FAULT_RECORDS;
    }
    return true;
}

bool mkperf_plan_make(struct mkperf_plan *plan, const struct mkperf_session_request *request,
                      const struct mkperf_cpu *cpu, mkperf_Error *error)
{
    const mkperf_Configure *configure = &request->configure;
    struct mkperf_plan made = {
        .events = configure->events_count,
        .counting = configure->events_count != 0 && configure->events[0].count,
        .per_thread = configure->per_pd,
        .soft_only = true,
        .wake_samples = request->wake_samples,
        .core_bytes = request->core_bytes != 0 ? request->core_bytes : MKPERF_CORE_RING_BYTES,
        .output_bytes = request->output_bytes != 0 ? request->output_bytes
                                                   : MKPERF_OUTPUT_RING_BYTES,
        .sched = configure->sched,
        .latency = configure->latency,
        .off_cpu = configure->off_cpu,
    };

    if (!plan_limits(&made, error) || !mkperf_plan_samples(&made, configure, error) ||
        !plan_soft(&made, configure, error)) {
        return false;
    }
    for (unsigned i = 0; i < made.events; i++) {
        if (!plan_one(&made, i, configure, cpu, error)) {
            return false;
        }
    }
    if (!plan_all_counters(&made, configure, cpu, error) || !check_reads(&made, error)) {
        return false;
    }
    if (made.off_cpu) {
        made.counter_mask |= UINT32_C(1) << MKPERF_OFF_CPU_COUNTER;
        made.event_of[MKPERF_OFF_CPU_COUNTER] = (uint8_t)made.events;
    }
    *plan = made;
    return true;
}
