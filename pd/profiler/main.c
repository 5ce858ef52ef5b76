/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler PD: its entry points and the operations of session.h.
 *
 * Owns: the one struct mkperf_profiler. Woken by the kernel hook (channel 0) and called by the
 * client PD (channel 1). It trusts neither the request page nor the label of a call.
 */
#include <microkit.h>

#include "fault.h"
#include "profiler.h"
#include "request.h"

#include "../lib/text.h"

/* What seL4's configuration in the SDK says: Microkit's loader starts as many cores. */
#ifndef CONFIG_MAX_NUM_NODES
#define CONFIG_MAX_NUM_NODES 1
#endif

uintptr_t mkperf_rings;  /* region of MKPERF_RINGS_REGION_BYTES, one large page (setvar_vaddr) */
uintptr_t mkperf_output; /* region of MKPERF_OUTPUT_REGION_BYTES, shared with the client */

static struct mkperf_profiler profiler;

void init(void)
{
    struct mkperf_profiler *p = &profiler;

    p->cpu.pmu = &MKPERF_PMU;
    p->page = (struct mkperf_session_page *)mkperf_output;
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        p->core[i].ring.ring = mkperf_core_ring(mkperf_rings, i);
        p->core[i].ring.size = MKPERF_CORE_RING_BYTES;
    }
    p->counts = mkperf_counts_table(mkperf_rings);
    p->soft = mkperf_soft_table(mkperf_rings);
    p->output.ring = mkperf_output_ring(mkperf_output);
    p->output.size = MKPERF_OUTPUT_RING_BYTES;
    /* After a warm reset, memory may hold the last boot's positions. The client does not run yet.
     */
    p->output.ring->head = 0;
    p->output.ring->tail = 0;
    mkperf_kernel_init(p);
    mkperf_ticks_init(p);
    if (p->no_pmu != NULL) {
        microkit_dbg_puts(p->ticks.no_timer != NULL ? "mkperf: no profiling: "
                                                    : "mkperf: `-e timer` only: ");
        microkit_dbg_puts(p->no_pmu);
        microkit_dbg_puts("\n");
    }
}

/* Returns whether the client must be notified. */
static bool drain(struct mkperf_profiler *p)
{
    bool delivered = mkperf_pace_drain(p);

    if (p->statistics.storm && p->running && !p->ticks.on) {
        mkperf_sampling_stop(p); /* the hook has switched the counters off */
        delivered = true;
    }
    return p->flight.on ? mkperf_flight_settle(p) : delivered;
}

void notified(microkit_channel ch)
{
    struct mkperf_profiler *p = &profiler;

    if (ch == MKPERF_CHANNEL_TIMER || (ch == MKPERF_CHANNEL_PMU && p->running && p->ticks.on)) {
        p->statistics.wakeups++;
        if (mkperf_ticks_interrupt(p, ch == MKPERF_CHANNEL_PMU)) {
            microkit_notify(MKPERF_CHANNEL_CLIENT);
        }
        mkperf_ticks_leave(p);
        return;
    }
    if (ch != MKPERF_CHANNEL_PMU) {
        return;
    }
    p->statistics.wakeups++;
    if (drain(p)) {
        microkit_notify(MKPERF_CHANNEL_CLIENT);
    }
    if (!p->running) {
        /* No session's: the kernel's own path took the interrupt, and has masked it. A session's
         * drain has made a request, which acknowledges it. */
        microkit_irq_ack(MKPERF_CHANNEL_PMU);
    }
}

/* To the client a flight recording is a session while it is dumped. */
static bool runs(const struct mkperf_profiler *p)
{
    return p->flight.on ? p->flight.dumping : p->running;
}

/* That the kernel was built for. */
static uint32_t kernel_cores(const struct mkperf_profiler *p)
{
    return p->kernel_cores != 0 ? p->kernel_cores : CONFIG_MAX_NUM_NODES;
}

static void fill_session(const struct mkperf_profiler *p)
{
    mkperf_Session *s = &p->page->session;

    *s = (mkperf_Session){
        .id = p->id,
        .running = runs(p),
        .events_count = (pb_size_t)p->plan.events,
        .max_frames = p->plan.max_frames,
        .callers = p->plan.callers,
        .no_jitter = p->plan.no_jitter,
        .slices = p->plan.slices,
        .overwrite = p->flight.on,
        .sched = p->plan.sched && !p->ticks.on,
        .latency = p->plan.latency && !p->ticks.on,
        .off_cpu = p->plan.off_cpu && !p->ticks.on,
        .cores = p->cores > 1 ? p->plan.cores : 0,
        .selected = p->plan.filters != 0,
        .source = p->ticks.on ? mkperf_SampleSource_SOURCE_TIMER : mkperf_SampleSource_SOURCE_HOOK,
    };
    for (unsigned i = 0; i < p->plan.events; i++) {
        const struct mkperf_plan_event *e = &p->plan.event[i];
        mkperf_SessionEvent *to = &s->events[i];
        mkperf_text_copy(to->name, e->name, sizeof to->name);
        to->code = e->code;
        to->user_counter = e->user_number;
        to->kernel_counter = e->kernel_number;
        to->frequency = e->frequency;
        to->period = e->frequency != 0 || e->count || e->read ? 0 : e->period;
        to->count = e->count;
        to->group = e->group;
        to->read = e->read;
        to->all_cores = kernel_cores(p) > 1 && e->soft == 0 && p->cpu.pmu->machine_wide != NULL &&
                        p->cpu.pmu->machine_wide(p->cpu.id, e->code);
    }
    if (s->off_cpu) {
        mkperf_SessionEvent *to = &s->events[s->events_count++];
        mkperf_text_copy(to->name, "offcpu-time", sizeof to->name);
        to->user_counter = MKPERF_OFF_CPU_COUNTER + 1;
        to->period = 1;
    }
    p->page->tick_hz = p->tick_hz;
    p->page->output_bytes = (uint32_t)p->output.size;
}

static void fill_status(const struct mkperf_profiler *p)
{
    static mkperf_Status s; /* too large for a PD's stack */

    s = p->statistics;
    s.session = p->id;
    s.running = runs(p);
    s.tick_hz = p->tick_hz;
    if (p->flight.on) {
        s.captured = p->flight.dumped; /* of the session that its dump is */
        s.sched_captured = p->flight.events_dumped;
    }
    if (p->ticks.on) {
        s.late_events = p->ticks.late_us;
        s.has_attribution = true;
        s.attribution = p->ticks.statistics;
    }
    s.period_count = (pb_size_t)p->plan.events;
    for (unsigned i = 0; i < p->plan.events; i++) {
        s.period[i] = p->core[p->here].pace[i].period;
    }
    mkperf_cores_fill(p, &s);
    mkperf_multiplex_times(p, &s);
    mkperf_flight_fill(p, &s);
    p->page->status = s;
}

static uint32_t info(struct mkperf_profiler *p, mkperf_Error *error)
{
    mkperf_TargetHello *out = &p->page->hello;

    /* A probe that fails is no error here: starting a session reports it. */
    if (p->no_pmu == NULL && !p->running && p->boot_id == 0) {
        mkperf_sampling_probe(p, error);
    }
    out->boot_id = p->boot_id;
    out->counters = p->no_pmu == NULL ? p->cpu.counters : 0;
    if (p->no_pmu == NULL && !p->running) {
        mkperf_cores_probe(p);
    }
    out->cores = (uint32_t)__builtin_popcount(mkperf_cores_heard(p));
    out->target_cores = kernel_cores(p);
    mkperf_text_copy(out->pmu, p->cpu.pmu->name, sizeof out->pmu);
    out->cpu[0] = '\0';
    if (p->no_pmu == NULL) {
        p->cpu.pmu->cpu(p->cpu.id, out->cpu, sizeof out->cpu);
    }
    return MKPERF_RESULT_OK;
}

static void put_event(mkperf_EventInfo *to, const char *name, uint32_t code, bool supported,
                      const char *description)
{
    mkperf_text_copy(to->name, name, sizeof to->name);
    mkperf_text_copy(to->description, description, sizeof to->description);
    to->code = code;
    to->supported = supported;
}

/* Software events, then the PMU's, then the timer. */
static uint32_t list(struct mkperf_profiler *p)
{
    mkperf_Events *out = &p->page->events;
    uint32_t first = mkperf_request_part(p->page);
    const struct mkperf_pmu_event *e = p->cpu.pmu->events;
    uint32_t n = 0;

    for (uint32_t i = MKPERF_SOFT_KINDS; i < first && e->name != NULL; i++) {
        e++;
    }
    for (; n < MKPERF_LIST_EVENTS && first < MKPERF_SOFT_KINDS; n++, first++) {
        const struct mkperf_soft_name *s = &mkperf_soft_events[first];
        put_event(&out->events[n], s->name, MKPERF_SOFT_CODE + first, mkperf_soft_there(p),
                  s->description);
    }
    for (; n < MKPERF_LIST_EVENTS && e->name != NULL; n++, e++) {
        put_event(&out->events[n], e->name, e->code,
                  p->no_pmu == NULL && mkperf_cpu_supports(&p->cpu, e->code), e->description);
    }
    out->more = n == MKPERF_LIST_EVENTS;
    if (!out->more) {
        put_event(&out->events[n++], MKPERF_TIMER_EVENT, MKPERF_TIMER_CODE,
                  p->ticks.no_timer == NULL, "microseconds, by a timer; needs no kernel extension");
    }
    out->events_count = (pb_size_t)n;
    return MKPERF_RESULT_OK;
}

/* Which cores the session is about. */
static bool plan_cores(struct mkperf_profiler *p, const mkperf_Configure *configure,
                       mkperf_Error *error)
{
    uint32_t all = mkperf_cores_heard(p);

    if ((configure->cores & ~all) != 0) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0,
                                  "the target does not sample all of these cores");
    }
    p->plan.cores = configure->cores != 0 ? (uint32_t)configure->cores : all;
    return true;
}

static uint32_t configure(struct mkperf_profiler *p, mkperf_Error *error)
{
    static struct mkperf_session_request request; /* too large for a PD's stack */

    if (!mkperf_request_take(&request, p->page, error)) {
        return error->code;
    }
    if (p->running) {
        mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0, "a session is running: stop it first");
    } else if (mkperf_ticks_wanted(&request.configure) &&
               (request.configure.sched || request.configure.latency)) {
        mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0,
                           "scheduling events come from the kernel's extension, and a session of "
                           "'timer' does without it");
    } else if (mkperf_ticks_wanted(&request.configure)) {
        mkperf_ticks_plan(p, &request.configure, request.wake_samples, error);
    } else if (p->no_pmu != NULL) {
        mkperf_plan_refuse(error, p->no_pmu_code, 0, p->no_pmu);
    } else if (mkperf_plan_make(&p->plan, &request, &p->cpu, error) &&
               plan_cores(p, &request.configure, error)) {
        mkperf_flight_forget(p); /* its events are no longer known */
        p->ticks.on = false;
    }
    return error->code;
}

static uint32_t start(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (p->no_pmu != NULL && !p->ticks.on) {
        mkperf_plan_refuse(error, p->no_pmu_code, 0, p->no_pmu);
    } else if (p->running) {
        mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0, "a session is running already");
    } else if (p->plan.events == 0 && !mkperf_plan_schedules(&p->plan)) {
        mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0, "nothing is configured");
    } else if (p->ticks.on) {
        mkperf_ticks_start(p, error);
    } else {
        mkperf_sampling_start(p, error);
    }
    return error->code;
}

static uint32_t stop(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (!p->running) {
        mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0, "no session is running");
        return error->code;
    }
    if (p->ticks.on) {
        mkperf_ticks_stop(p);
    } else {
        mkperf_sampling_stop(p);
    }
    return MKPERF_RESULT_OK;
}

static uint32_t operation(struct mkperf_profiler *p, uint64_t op, mkperf_Error *error)
{
    switch (op) {
    case MKPERF_OP_INFO:
        return info(p, error);
    case MKPERF_OP_CONFIGURE:
        return configure(p, error);
    case MKPERF_OP_START:
        return start(p, error);
    case MKPERF_OP_STOP:
        return stop(p, error);
    case MKPERF_OP_STATUS:
        drain(p);
        mkperf_pace_status(p);
        return MKPERF_RESULT_OK;
    case MKPERF_OP_DRAIN:
        drain(p);
        return MKPERF_RESULT_OK;
    case MKPERF_OP_DUMP:
        mkperf_flight_dump(p, error);
        return error->code;
    case MKPERF_OP_HOLD:
        mkperf_flight_hold(p, MKPERF_FLIGHT_MARK, 0, error);
        return error->code;
    case MKPERF_OP_INTERACTIONS:
        mkperf_soft_answer(p, mkperf_request_part(p->page), error);
        return error->code;
    case MKPERF_OP_LATENCY:
        drain(p);
        mkperf_sched_answer(p, mkperf_request_part(p->page), error);
        return error->code;
    case MKPERF_OP_LIST:
        return list(p);
    case MKPERF_OP_COUNTS:
        mkperf_counting_answer(p, mkperf_request_part(p->page), error);
        return error->code;
    case MKPERF_OP_OBSERVE:
        mkperf_ticks_observe(p, error);
        return error->code;
    default:
        mkperf_plan_refuse(error, MKPERF_RESULT_MALFORMED, 0, "no such operation");
        return error->code;
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    struct mkperf_profiler *p = &profiler;
    mkperf_Error error = mkperf_Error_init_zero;
    uint32_t result = MKPERF_RESULT_MALFORMED;

    if (ch == MKPERF_CHANNEL_CLIENT) {
        result = operation(p, microkit_msginfo_get_label(msginfo), &error);
        fill_session(p);
        fill_status(p);
        p->page->error = error;
        mkperf_ticks_leave(p);
    }
    return microkit_msginfo_new(result, 0);
}

/* Stays stopped, like a PD without a parent. The fault is remembered, since the PD looks like one
 * that was interrupted. */
seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply_msginfo)
{
    struct mkperf_ticks *t = &profiler.ticks;

    (void)reply_msginfo;
    t->observation.stopped |= child <= MKPERF_MAX_CHILD_ID ? UINT64_C(1) << child : 0;
    t->statistics.faults++;
    mkperf_fault_tell(child, msginfo);
    mkperf_ticks_leave(&profiler);
    return seL4_False;
}
