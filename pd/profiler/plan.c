/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks that turn a client's request into a plan: see plan.h.
 *
 * Owns: mkperf_plan. Called for CONFIGURE. Each event takes one counter for user mode and one for the
 * kernel. The CPU takes an overflow's interrupt only when the kernel is left, so that only the
 * counter shows whether the kernel caused the event. Where counters cannot be limited to modes, an
 * event takes one counter, and the hook infers the mode of each sample (struct mkperf_pmu,
 * infers_modes).
 */
#include "plan.h"

#include <mkperf/descriptor.h>

#include "policy.h"

struct mkperf_plan mkperf_plan;

/* Of an event that leaves samples out, the hook has at most so many times the interrupts that were
 * requested. A guest that runs seldom would otherwise cost the PDs much. */
enum { LEFT_OUT_MOST = 8 };

/* Returns the requested modes: bit 0 user, bit 1 kernel. */
static unsigned requested(const mkperf_EventSpec *want)
{
    return !want->user == !want->kernel ? 3 : want->user ? 1 : 2;
}

static bool guests_alone(const mkperf_EventSpec *want)
{
    return want->guest && !want->host;
}

/* Returns the modes of its counters, in the same bits. Both modes of guests are user mode. */
static unsigned modes_of(const mkperf_EventSpec *want)
{
    return guests_alone(want) ? 1 : requested(want);
}

/*
 * Returns the event that measures time for multiplexing and for wake-ups: cycles. On a CPU that can
 * count an event with one counter only, it is instructions if the session itself counts cycles. NULL:
 * the CPU has no such event.
 */
static const struct mkperf_pmu_event *cycles_of(void)
{
    static const char *const names[] = {"cycles", "instructions"};

    for (unsigned k = 0; k < (mkperf_cpu_infers_modes(&mkperf_cpu) ? 2 : 1); k++) {
        const struct mkperf_pmu_event *e = mkperf_event_there(names[k]);
        bool taken = false;
        for (unsigned i = 0; e != NULL && i < mkperf_plan.events; i++) {
            taken |= mkperf_cpu_infers_modes(&mkperf_cpu) &&
                     mkperf_plan.session.events[i].code == e->code;
        }
        if (e != NULL && !taken) {
            return e;
        }
    }
    return NULL;
}

/* ---- one event ------------------------------------------------------------------------------- */

bool mkperf_plan_named(unsigned i)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[i];
    mkperf_SessionEvent *e = &mkperf_plan.session.events[i];
    uint32_t soft = mkperf_soft_named(want->name);
    const struct mkperf_pmu_event *known = mkperf_event_named(want->name);
    bool halves = want->user || want->kernel || want->guest || want->host;

    mkperf_text_copy(e->name, want->name, sizeof e->name);
    mkperf_plan.event[i].soft = soft;
    e->code = soft != 0 ? MKPERF_SOFT_CODE + soft - 1 : known != NULL ? known->code : want->raw;
    if (e->name[0] == '\0') {
        struct mkperf_text t = mkperf_text_begin(e->name, sizeof e->name);
        mkperf_text_print(&t, "raw_0x%x", want->raw);
    }
    const struct mkperf_rule rules[] = {
        {soft != 0 && !want->count, MKPERF_RESULT_RANGE, i + 1,
         "'%s' is a software event: it can be counted (mkperf stat), not sampled"},
        {soft != 0 && halves, MKPERF_RESULT_RANGE, i + 1,
         "'%s' is a software event: it has no user half and no kernel half"},
        {soft == 0 && known == NULL && want->name[0] != '\0' && want->raw == 0,
         MKPERF_RESULT_EVENT_UNKNOWN, i + 1,
         "no event is called '%s'; `mkperf list` shows the supported ones"},
        {soft == 0 && !mkperf_cpu_supports(&mkperf_cpu, e->code), MKPERF_RESULT_EVENT_UNSUPPORTED,
         i + 1, "this CPU cannot count '%s': its PMU does not implement the event"},
    };
    return mkperf_check_rules(rules, sizeof rules / sizeof *rules, e->name);
}

/* Returns the event after the last one of the group of event i, or after event i if that has no
 * group. */
static unsigned group_end(unsigned i)
{
    const mkperf_Configure *request = &mkperf_plan.request;
    uint32_t group = request->events[i].group;
    unsigned end = i + 1;

    while (group != 0 && end < request->events_count && request->events[end].group == group) {
        end++;
    }
    return end;
}

/*
 * Plans what the event counts of PDs and of guests. The programs of both are at EL0, so that one
 * counter counts both. The hook leaves out the samples of PDs or those of guests, and counting.c
 * their counts.
 */
static bool plan_guests(unsigned i)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[i];
    struct mkperf_plan_event *e = &mkperf_plan.event[i];
    bool guest = guests_alone(want), host = want->host && !want->guest;
    bool there = mkperf_cpu_guests(&mkperf_cpu);

    e->threads = MKPERF_PMU_THREADS;
    if (guest || host) {
        mkperf_plan.session.events[i].only = want->user | (uint32_t)want->kernel << 1 |
                                             (uint32_t)guest << 2 | (uint32_t)host << 3;
        e->threads = host ? MKPERF_PMU_USER
                          : (requested(want) & 1 ? MKPERF_PMU_USER : 0U) |
                                (requested(want) & 2 ? MKPERF_PMU_GUEST : 0U);
        if (there && (modes_of(want) & 1) && (e->threads & MKPERF_PMU_USER)) {
            e->left_out = guest ? MKPERF_PMU_USER : MKPERF_PMU_GUEST;
            mkperf_plan.leaves_out = true;
        }
    }
    const struct mkperf_rule rules[] = {
        {guest && !there, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
         ":G: there are no guests, because the kernel was built without support for them"},
        {e->left_out != 0 && want->read, MKPERF_RESULT_RANGE, i + 1,
         "a group read has the counts of PDs and guests together: it can have neither :G nor :H"},
    };
    return mkperf_check_rules(rules, sizeof rules / sizeof *rules, want->name);
}

/* Plans the period or the frequency of an event. */
static bool plan_period(unsigned i)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[i];
    mkperf_SessionEvent *s = &mkperf_plan.session.events[i];
    struct mkperf_plan_event *e = &mkperf_plan.event[i];
    unsigned rate = mkperf_event_rate(s->code);
    uint32_t frames = mkperf_plan.session.max_frames *
                      (mkperf_cpu.unwinds ? MKPERF_HOOK_UNWIND_FRAMES : 1);
    uint32_t reads = 0; /* most group reads in a sample of the event */
    uint32_t users = 0; /* events that sample user mode */

    for (unsigned other = i + 1; other < group_end(i); other++) {
        reads += mkperf_plan.request.events[other].read;
    }
    for (unsigned other = 0; other < mkperf_plan.request.events_count; other++) {
        const mkperf_EventSpec *o = &mkperf_plan.request.events[other];
        users += !o->count && !o->read && (modes_of(o) & 1);
    }
    e->least = mkperf_least_interval(frames, mkperf_plan.session.callers, reads, false);
    e->minimum = mkperf_min_period(rate, modes_of(want) == 2, frames, mkperf_plan.session.callers,
                                   reads, users);
    if (want->period != 0) {
        e->period = (uint32_t)want->period;
        s->period = want->period;
        return (want->period >= e->minimum && want->period <= MKPERF_MAX_PERIOD) ||
               mkperf_refuse(MKPERF_RESULT_RANGE, i + 1,
                             "the period of '%s' must be from %u to 2147483647 events; a sample "
                             "costs about %u instructions%s",
                             s->name, e->minimum, mkperf_sample_cost(frames, reads),
                             users > 1 ? ", for each event that samples" : "");
    }
    if (want->frequency == 0 || want->frequency > MKPERF_MAX_FREQUENCY) {
        return mkperf_refuse(MKPERF_RESULT_RANGE, i + 1,
                             "the frequency of '%s' must be from 1 to 100000 samples/s", s->name);
    }
    s->frequency = want->frequency;
    e->period = mkperf_first_period(want->frequency, e->minimum, rate);
    if (e->left_out != 0 && e->minimum < e->period / LEFT_OUT_MOST) {
        e->minimum = e->period / LEFT_OUT_MOST;
    }
    return true;
}

/* Refuses what contradicts the other events, what a CPU cannot do whose counters count in all modes, and each
 * event once at a time, and what cannot be counted beside its samples. Such counts are of user mode and of
 * all threads: which thread the kernel works for is not the same to samples and to counts, and only counts
 * contain the work of the hook. */
static bool check_event(unsigned i)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[i];
    const mkperf_SessionEvent *e = &mkperf_plan.session.events[i];
    uint32_t leader = mkperf_plan.event[i].leader;
    bool samples = !want->count && !want->read;
    bool infers = mkperf_cpu_infers_modes(&mkperf_cpu) && mkperf_plan.event[i].soft == 0;
    bool beside = mkperf_plan.request.per_pd && samples;
    bool again = false; /* An event before it is the same. */
    bool loses = false; /* QEMU loses its overflows. */

    if (MKPERF_PERIOD_STEP != 1 && !mkperf_cpu.followers && modes_of(want) != 2) {
        /* Only QEMU without the kernel's help has steps. There, cycles overflow correctly because of the steps, and
         * events of the kernel because the hook checks their counters when the kernel is left. */
        const struct mkperf_pmu_event *cycles = mkperf_event_named("cycles");
        loses = cycles == NULL || e->code != cycles->code;
    }
    for (unsigned other = 0; other < i; other++) {
        again |= mkperf_plan.event[other].soft == 0 &&
                 mkperf_plan.session.events[other].code == e->code;
    }
    const struct mkperf_rule rules[] = {
        {want->count != mkperf_plan.counting, MKPERF_RESULT_RANGE, i + 1,
         "a session samples or counts: '%s' is not like the first event"},
        {want->read &&
             (leader == i || mkperf_plan.request.events[leader].read || mkperf_plan.counting),
         MKPERF_RESULT_RANGE, i + 1,
         "'%s' must be in a group of which the first event samples, and is in none"},
        {infers && !samples && modes_of(want) != 3, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
         "this CPU counts '%s' in all modes: one mode can be sampled, where it is inferred, and "
         "not "
         "counted"},
        {infers && again, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
         "this CPU counts '%s' with one counter at a time"},
        {beside && (!(modes_of(want) & 1) || e->only != 0), MKPERF_RESULT_RANGE, i + 1,
         "counts of sampled events are of user mode and of all threads, and this event is not"},
        {beside && infers, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
         "this CPU counts an event with one counter at a time: it is sampled or counted"},
        {beside && mkperf_plan.request.overwrite, MKPERF_RESULT_RANGE, i + 1,
         "a flight recording keeps the newest samples, and counts would be of the whole session"},
        {samples && loses, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
         "QEMU loses overflows of '%s', so its shares would be wrong: build the kernel with "
         "KernelMkperfQEMU=ON"},
    };

    return mkperf_check_rules(rules, sizeof rules / sizeof *rules, e->name);
}

static bool plan_event(unsigned i)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[i];
    mkperf_SessionEvent *s = &mkperf_plan.session.events[i];
    struct mkperf_plan_event *e = &mkperf_plan.event[i];
    const struct mkperf_pmu *pmu = mkperf_cpu.pmu;

    if (!mkperf_plan_named(i) || !plan_guests(i)) {
        return false;
    }
    s->group = want->group;
    s->count = want->count;
    s->read = want->read;
    s->all_cores = mkperf_cpu.cores > 1 && e->soft == 0 && pmu->machine_wide != NULL &&
                   pmu->machine_wide(mkperf_cpu.id, s->code);
    e->leader = i;
    while (s->group != 0 && e->leader > 0 &&
           mkperf_plan.request.events[e->leader - 1].group == s->group) {
        e->leader--;
    }
    mkperf_plan.soft_mask |= mkperf_counter_bit(e->soft);
    if (want->count || want->read) {
        e->period = MKPERF_COUNT_PERIOD;
        return check_event(i);
    }
    mkperf_plan.adaptive |= want->period == 0;
    return check_event(i) && plan_period(i);
}

/* ---- counters -------------------------------------------------------------------------------- */

static uint32_t counters_of(unsigned i)
{
    uint32_t modes = (uint32_t)__builtin_popcount(modes_of(&mkperf_plan.request.events[i]));

    return mkperf_plan.event[i].soft != 0 ? 0 : mkperf_cpu_infers_modes(&mkperf_cpu) ? 1 : modes;
}

/* Returns the counters of the event, and a spare one if it samples user mode and the kernel needs
 * that (MKPERF_FEATURE_FOLLOWERS). */
static uint32_t counters_with_spare(unsigned i)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[i];
    bool samples = !want->count && !want->read;

    return counters_of(i) + (mkperf_cpu.followers && samples && (modes_of(want) & 1) ? 1 : 0);
}

void mkperf_plan_select(unsigned i, unsigned user, unsigned kernel)
{
    uint32_t code = mkperf_plan.session.events[i].code;

    mkperf_plan.event[i].user_select = mkperf_cpu.pmu->select(mkperf_cpu.id, code, user);
    mkperf_plan.event[i].kernel_select = mkperf_cpu.pmu->select(mkperf_cpu.id, code, kernel);
}

/* Assigns event i the next counters of its slice. */
static void plan_counters(unsigned i)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[i];
    mkperf_SessionEvent *s = &mkperf_plan.session.events[i];
    struct mkperf_plan_event *e = &mkperf_plan.event[i];
    struct mkperf_plan_slice *slice = &mkperf_plan.slice[e->slice];
    unsigned modes = e->soft == 0 ? modes_of(want) : 0;
    bool one = modes == 3 && mkperf_cpu_infers_modes(&mkperf_cpu);

    if (modes & 1) {
        mkperf_plan.event_of[slice->end++] = (uint8_t)i;
        e->user_counter = slice->end - slice->first;
        s->user_counter = slice->end;
    }
    if (modes & 2) {
        slice->end += !one;
        mkperf_plan.event_of[slice->end - 1] = (uint8_t)i;
        e->kernel_counter = slice->end - slice->first;
        s->kernel_counter = slice->end;
    }
    mkperf_plan_select(i, one ? MKPERF_PMU_ALL : e->threads,
                       one ? MKPERF_PMU_ALL : MKPERF_PMU_KERNEL);
    uint32_t mask = mkperf_counter_bit(e->user_counter) | mkperf_counter_bit(e->kernel_counter);
    slice->counter_mask |= mask;
    slice->read_mask |= want->read ? mask : 0;
    mkperf_plan.counter_mask |= mask;
}

/*
 * Packs events into slices of at most `there` counters, each group into a single slice. The order
 * is that of the request, so that neighbours without a group often count together, too.
 */
static bool plan_slices(uint32_t there)
{
    unsigned group = 0; /* the end of the current group */
    uint32_t taken = 0; /* counters of the slice, with the spare ones */

    mkperf_plan.session.slices = 1;
    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        if (i >= group) {
            uint32_t needed = 0;
            group = group_end(i);
            for (unsigned other = i; other < group; other++) {
                needed += counters_with_spare(other);
            }
            if (needed > there) {
                return mkperf_refuse(MKPERF_RESULT_COUNTERS, i + 1,
                                     "the group that begins here needs %u counters at the same "
                                     "time, and with other events to share the counters with there "
                                     "are %u",
                                     needed, there);
            }
            if (taken + needed > there) {
                uint32_t end = mkperf_plan.slice[mkperf_plan.session.slices - 1].end;
                mkperf_plan.slice[mkperf_plan.session.slices++] =
                    (struct mkperf_plan_slice){.first = end, .end = end};
                taken = 0;
            }
        }
        mkperf_plan.event[i].slice = mkperf_plan.session.slices - 1;
        plan_counters(i);
        taken += counters_with_spare(i);
    }
    return true;
}

/*
 * Plans the counters of all events, and one counter of cycles in addition:
 *   - If there are more events than counters, the last counter is the clock of the slices.
 *   - Otherwise, a counter that no event needs is the beat of a session with scheduling events. Such
 *     an event cannot wake this PD, because the scheduler is at work. Without a beat, samples do.
 *     Words without scheduling events are read at each beat (docs/flow.md), so there has to be one.
 *   - Counts beside samples have a second counter of each event that samples. All count all the time.
 */
static bool plan_all_counters(void)
{
    const struct mkperf_pmu_event *cycles = cycles_of();
    uint32_t most = MKPERF_MAX_COUNTERS - (mkperf_plan.session.off_cpu ? 1 : 0);
    uint32_t there = mkperf_cpu.counters < most ? mkperf_cpu.counters : most;
    uint32_t numbers = 0; /* the counters of all events */
    uint32_t needed = 0;  /* counters that are needed, spare ones included */
    uint32_t beside = 0;

    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        numbers += counters_of(i);
        needed += counters_with_spare(i);
    }
    for (unsigned i = 0; i < mkperf_plan.events && mkperf_plan_beside(); i++) {
        mkperf_plan.event[i].beside = mkperf_plan.request.events[i].read ? 0 : numbers + ++beside;
    }
    const struct mkperf_rule rules[] = {
        {numbers > most, MKPERF_RESULT_COUNTERS, 0,
         "these events need more than 31 counters, even when multiplexed; an event takes two, user "
         "and kernel: :u or :k halves the need"},
        {mkperf_plan.counting && mkperf_plan_schedules() && needed >= there, MKPERF_RESULT_COUNTERS,
         0,
         "scheduling events with events that count need an unused counter, and these "
         "events take all"},
        {mkperf_plan.session.words != 0 && !mkperf_plan.session.sched && needed >= there,
         MKPERF_RESULT_COUNTERS, 0,
         "queues without scheduling events need an unused counter, and these events take all"},
        {needed > there && cycles == NULL, MKPERF_RESULT_COUNTERS, 0,
         "more events than counters, and no cycles to multiplex by"},
    };
    if (!mkperf_check_rules(rules, sizeof rules / sizeof *rules, "") ||
        !plan_slices(needed <= there ? there : there - 1)) {
        return false;
    }
    numbers += beside;
    needed += beside;
    if (beside != 0 && needed > there) {
        return mkperf_refuse(MKPERF_RESULT_COUNTERS, 0,
                             "counts of sampled events need %u counters, with those of the "
                             "samples, and there are %u",
                             needed, there);
    }
    if (needed > there) {
        mkperf_plan.clock = mkperf_cpu.counters;
    } else if (mkperf_plan_follows() && needed < mkperf_cpu.counters && cycles != NULL) {
        mkperf_plan.beat = numbers + 1;
    }
    mkperf_plan.clock_select =
        mkperf_cpu.pmu->select(mkperf_cpu.id, cycles != NULL ? cycles->code : 0, MKPERF_PMU_ALL);
    mkperf_plan.counter_mask |= mkperf_counter_bit(mkperf_plan.clock) |
                                mkperf_counter_bit(mkperf_plan.beat);
    return true;
}

uint32_t mkperf_plan_reads(uint32_t event, uint32_t counter)
{
    const struct mkperf_plan_event *leader = &mkperf_plan.event[event];
    bool is_user = counter + 1 == leader->user_counter;
    bool is_kernel = counter + 1 == leader->kernel_counter;
    /* Each mode is read with the leader's counter of that mode, or with the leader's only
     * counter. */
    bool user = is_user || (is_kernel && leader->user_counter == 0);
    bool kernel = is_kernel || (is_user && leader->kernel_counter == 0);
    uint32_t mask = 0;

    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        const struct mkperf_plan_event *e = &mkperf_plan.event[i];
        if (mkperf_plan.session.events[i].read && e->leader == event) {
            mask |= user ? mkperf_counter_bit(e->user_counter) : 0;
            mask |= kernel ? mkperf_counter_bit(e->kernel_counter) : 0;
        }
    }
    return mask;
}

/* Checks that no sample has more values than its record can hold. */
static bool check_reads(void)
{
    for (uint32_t n = 0; n < mkperf_plan.slice[mkperf_plan.session.slices - 1].end; n++) {
        uint32_t event = mkperf_plan.event_of[n];
        uint32_t first = mkperf_plan.slice[mkperf_plan.event[event].slice].first;
        if (__builtin_popcount(mkperf_plan_reads(event, n - first)) > MKPERF_MAX_READS) {
            return mkperf_refuse(MKPERF_RESULT_COUNTERS, event + 1,
                                 "a sample holds the values of at most 12 counters");
        }
    }
    return true;
}

/* ---- the session ----------------------------------------------------------------------------- */

bool mkperf_plan_samples(void)
{
    const mkperf_Configure *request = &mkperf_plan.request;
    mkperf_Session *s = &mkperf_plan.session;

    const struct mkperf_rule rules[] = {
        {request->max_frames > MKPERF_MAX_FRAMES, MKPERF_RESULT_RANGE, 0,
         "the call chain's depth must be from 0 to 64"},
        {request->callers > MKPERF_MAX_CALLERS, MKPERF_RESULT_RANGE, 0,
         "a call chain continues in 8 other PDs at most"},
    };

    s->max_frames = request->max_frames;
    s->callers = request->max_frames != 0 ? request->callers : 0;
    s->no_jitter = request->no_jitter;
    s->selected = request->only_count != 0;
    s->turns = mkperf_cpu.cores > 1 && mkperf_cpu.pmu->in_turns != NULL &&
               mkperf_cpu.pmu->in_turns(mkperf_cpu.id);
    return mkperf_check_rules(rules, sizeof rules / sizeof *rules, "");
}

static bool ring_ok(uint32_t bytes, uint32_t most)
{
    return mkperf_ring_size_ok(bytes) && bytes <= most;
}

/* The longest time of a condition that ends a flight recording. */
static const uint64_t STOP_NS_MAX = 10000000000;

/* Refuses requests with parts that contradict each other. */
static bool check_session(void)
{
    const mkperf_Configure *c = &mkperf_plan.request;
    bool reads = false;
    bool stops_ok = true;

    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        reads |= c->events[i].read;
    }
    for (unsigned i = 0; i < c->stop_if_count; i++) {
        stops_ok &= (unsigned)c->stop_if[i].kind <= mkperf_StopKind_STOP_THROTTLED &&
                    c->stop_if[i].ns <= STOP_NS_MAX;
    }
    const struct mkperf_rule rules[] = {
        {mkperf_plan.events == 0 && !mkperf_plan_follows(), MKPERF_RESULT_RANGE, 0,
         "a session has from 1 to 16 events"},
        {!ring_ok(mkperf_plan.core_bytes, MKPERF_CORE_RING_BYTES) ||
             !ring_ok(mkperf_plan.output_bytes, MKPERF_OUTPUT_RING_BYTES),
         MKPERF_RESULT_RANGE, 0,
         "a ring's size must be a power of two, from 4096 bytes to what the target has"},
        {c->off_cpu && (!c->sched || mkperf_plan.counting), MKPERF_RESULT_RANGE, 0,
         "threads that wait are sampled with scheduling events, and not with events that count"},
        {c->off_cpu && mkperf_plan.events == MKPERF_MAX_EVENTS, MKPERF_RESULT_RANGE, 0,
         "a session has at most 16 events, off-CPU samples being one"},
        {c->words_count != 0 && mkperf_plan.counting, MKPERF_RESULT_RANGE, 0,
         "queues are read in sessions with samples or scheduling events"},
        {c->overwrite && mkperf_plan.counting, MKPERF_RESULT_RANGE, 0,
         "a flight recording samples: events that count have no place in it"},
        {c->dump_on_fault_count != 0 && !c->overwrite, MKPERF_RESULT_RANGE, 0,
         "a fault can end a flight recording, and nothing else"},
        {c->stop_if_count != 0 && (!c->overwrite || !c->sched), MKPERF_RESULT_RANGE, 0,
         "a condition on latencies ends flight recordings with scheduling events, and no others"},
        {c->aggregate_ms != 0 && (c->aggregate_ms < MKPERF_LEAST_AGGREGATE_MS ||
                                  c->aggregate_ms > MKPERF_MOST_AGGREGATE_MS),
         MKPERF_RESULT_RANGE, 0, "a window of counted samples is from 0.1 to 60 s long"},
        {c->aggregate_ms != 0 &&
             (mkperf_plan.events == 0 || mkperf_plan.counting || c->sched || c->overwrite || reads),
         MKPERF_RESULT_RANGE, 0,
         "windows count samples (--aggregate): they have no scheduling events, no group reads, and "
         "no flight recording"},
        {!stops_ok, MKPERF_RESULT_RANGE, 0,
         "a condition that ends a flight recording is of another kind, or longer than 10 s"},
    };

    return mkperf_check_rules(rules, sizeof rules / sizeof *rules, "");
}

bool mkperf_plan_make(const struct mkperf_session_request *request)
{
    const mkperf_Configure *c = &request->configure;

    mkperf_plan = (struct mkperf_plan){
        .session = {.sched = c->sched,
                    .latency = c->latency && c->stop_if_count == 0,
                    .off_cpu = c->off_cpu,
                    .aggregate_ms = c->aggregate_ms,
                    .words = c->words_count,
                    .inferred = c->events_count != 0 && mkperf_cpu_infers_modes(&mkperf_cpu)},
        .events = c->events_count,
        .counting = c->events_count != 0 && c->events[0].count,
        .latency = c->latency || c->stop_if_count != 0,
        .wake_samples = request->wake_samples,
        .core_bytes = request->core_bytes != 0 ? request->core_bytes : MKPERF_CORE_RING_BYTES,
        .output_bytes = request->output_bytes != 0 ? request->output_bytes
                                                   : MKPERF_OUTPUT_RING_BYTES,
        .soft_mask = c->interactions ? MKPERF_SOFT_ALL | (c->stacks != 0 ? MKPERF_SOFT_STACKS : 0)
                                     : 0,
    };
    mkperf_plan.request = *c;

    if (!check_session() || !mkperf_plan_samples()) {
        return false;
    }
    mkperf_plan.soft_mask |= c->dump_on_fault_count != 0 ? UINT32_C(1) << MKPERF_SOFT_FAULT : 0;
    if (mkperf_plan.soft_mask != 0 && !mkperf_plan.counting) {
        mkperf_plan.soft_mask |= MKPERF_SOFT_FAULT_RECORDS;
    }
    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        if (!plan_event(i)) {
            return false;
        }
    }
    if (!plan_all_counters() || !check_reads()) {
        return false;
    }
    mkperf_plan.session.events_count = c->events_count;
    mkperf_plan.session.counts = mkperf_plan_beside();
    if (c->off_cpu) {
        mkperf_SessionEvent *off = &mkperf_plan.session.events[mkperf_plan.session.events_count++];
        mkperf_text_copy(off->name, "offcpu-time", sizeof off->name);
        off->user_counter = MKPERF_OFF_CPU_COUNTER + 1;
        off->period = 1;
        mkperf_plan.counter_mask |= UINT32_C(1) << MKPERF_OFF_CPU_COUNTER;
        mkperf_plan.event_of[MKPERF_OFF_CPU_COUNTER] = (uint8_t)mkperf_plan.events;
    }
    return true;
}
