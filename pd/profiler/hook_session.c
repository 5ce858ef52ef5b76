/* SPDX-License-Identifier: BSD-2-Clause */
/* A session of the kernel's hook: see hook_session.h. */
#include "hook_session.h"

#include "policy.h"
#include "probe.h"
#include "request.h"

enum {
    MAX_ROUNDS = 16,      /* most rounds of draining at one wake-up */
    ASKS_PER_SECOND = 20, /* how often the other cores are asked, at least */
    WAKE_SETTLING = 32,   /* samples to the next wake-up while a period settles */
};

/* ---- CONFIGURE ------------------------------------------------------------------------------- */

bool mkperf_session_plan(struct mkperf_hook_session *s, struct mkperf_plan *plan,
                         const struct mkperf_session_request *request, mkperf_Error *error)
{
    struct mkperf_kernel *k = s->kernel;

    if (k->missing != NULL) {
        return mkperf_refuse(error, k->missing_code, 0, "%s", k->missing);
    }
    if ((request->configure.cores & ~k->heard) != 0) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "the target does not sample all of these cores");
    }
    if (!mkperf_plan_make(plan, request, &k->cpu, error)) {
        return false;
    }
    bool beside = mkperf_plan_beside(plan);
    if ((beside || (plan->leaves_out && plan->counting)) && !mkperf_kernel_events(k)) {
        plan->events = 0;
        return mkperf_refuse(error, MKPERF_RESULT_NO_HOOK, 0,
                             "this kernel does not count by thread: %s",
                             beside ? "sampled events cannot be counted"
                                    : ":G and :H can be sampled, and not counted");
    }
    plan->cores = request->configure.cores != 0 ? (uint32_t)request->configure.cores : k->heard;
    return true;
}

/* ---- START ----------------------------------------------------------------------------------- */

/* Checks that the PMU accepts all events: sessions in which no counter is enabled. */
static bool try_events(struct mkperf_hook_session *s, mkperf_Error *error)
{
    for (unsigned i = 0; i < s->plan->events; i++) {
        const struct mkperf_plan_event *e = &s->plan->event[i];
        struct mkperf_configuration *want =
            mkperf_kernel_blank(s->kernel, s->drain->ring[s->kernel->here].size);
        want->counter_mask = mkperf_counter_bit(e->user_counter) |
                             mkperf_counter_bit(e->kernel_counter);
        mkperf_kernel_select(s->kernel, s->plan, i);
        if (want->counter_mask != 0 && !mkperf_kernel_request(s->kernel, MKPERF_REQUEST_APPLY)) {
            return mkperf_refuse(error, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
                                 "the PMU does not take this event's number");
        }
    }
    return true;
}

static void set_filters(const struct mkperf_plan *plan, struct mkperf_configuration *want)
{
    for (unsigned i = 0; i < plan->request.only_count; i++) {
        uint64_t thread = mkperf_thread_from_wire(plan->request.only[i]);
        bool child = (thread & MKPERF_THREAD_CHILD_BIT) && thread < MKPERF_THREAD_AMBIGUOUS;
        want->filter[i] = (struct mkperf_filter){
            .badge = child ? MKPERF_THREAD_CHILD_BIT | (thread & MKPERF_THREAD_CHILD_ID) : thread,
            .sc = child ? thread >> 8 & MKPERF_THREAD_SC : 0,
            .sc_mask = child ? MKPERF_THREAD_SC : 0,
        };
    }
    /* A count is of all threads. */
    want->filters = plan->counting ? 0 : plan->request.only_count;
}

/* Writes the session into the own core's configuration. False: the kernel lacks a part of it. */
static bool set_configuration(struct mkperf_hook_session *s, mkperf_Error *error)
{
    const struct mkperf_plan *plan = s->plan;
    uint32_t wake = plan->counting ? 1 : plan->wake_samples;
    struct mkperf_configuration *want = mkperf_kernel_blank(s->kernel, plan->core_bytes);

    want->max_frames = plan->session.max_frames;
    want->callers = plan->session.callers;
    /* With scheduling events, each wake-up is an event, too, and each request reads the words. The beat
     * wakes this PD. A condition that ends the recording is noticed at a wake-up. */
    want->watermark =
        mkperf_plan_follows(plan)
            ? plan->core_bytes / (plan->request.stop_if_count != 0 ? 16 : 4)
            : mkperf_watermark(mkperf_wake_samples(wake, 0, 0, 0), 0, plan->core_bytes);
    mkperf_multiplex_begin(s->multiplex);
    if (plan->counting || mkperf_plan_beside(plan)) {
        mkperf_counting_begin(s->counting);
    }
    set_filters(plan, want);
    if (want->counter_mask == 0) {
        want->counter_mask = 1; /* Software events only: a counter that is off. */
    }
    mkperf_latencies_begin(s->drain->latencies);
    return mkperf_soft_prepare(s->drain->soft, error) &&
           mkperf_sched_prepare(s->drain->sched, s->kernel, error);
}

/* Begins the configured session on all cores, on the own one last, or refuses with the hook's
 * reason. Another core may be late; it is in the session from when it answers
 * (mkperf_cores_collect). */
static bool apply_session(struct mkperf_hook_session *s, mkperf_Error *error)
{
    static const char *const why[] = {
        [MKPERF_REQUEST_BAD_CORE] = "the PMU's interrupt is another core's than the profiler PD's",
        [MKPERF_REQUEST_BAD_RING] = "the hook cannot use mkperf_rings: not one page, or not cached",
        [MKPERF_REQUEST_BAD_EVENT] = "the PMU does not take an event's number",
    };
    struct mkperf_kernel *k = s->kernel;
    uint32_t mask = s->plan->cores;

    mkperf_cores_share(k, mask);
    k->session = true;
    k->on = 0;
    if (mkperf_cores_request(k, mask, MKPERF_REQUEST_APPLY) >> k->here & 1 ||
        (k->on != 0 && !(mask >> k->here & 1))) {
        return true;
    }
    mkperf_cores_request(k, k->on, MKPERF_REQUEST_WITHDRAW);
    uint32_t status = mkperf_answered(k)->status;
    bool known = status < sizeof why / sizeof *why && why[status] != NULL;
    return mkperf_refuse(error, MKPERF_RESULT_NO_HOOK, 0, "%s",
                         known ? why[status] : "the hook refuses the session");
}

bool mkperf_session_start(struct mkperf_hook_session *s, mkperf_Error *error)
{
    struct mkperf_kernel *k = s->kernel;
    struct mkperf_drain *d = s->drain;

    if (k->missing != NULL) {
        return mkperf_refuse(error, k->missing_code, 0, "%s", k->missing);
    }
    if (!mkperf_probe(k, &d->ring[k->here], error) || !try_events(s, error) ||
        !mkperf_output_begin(d->output, s->plan, error)) {
        return false;
    }
    mkperf_kernel_begin(k);
    mkperf_drain_begin(d);
    mkperf_pace_begin(d->pacer);
    s->asked = 0;
    s->silent_from = 0;
    s->running = set_configuration(s, error) && apply_session(s, error);
    if (!s->running) {
        k->session = false;
        s->drain->latencies->on = false;
        mkperf_output_forget(d->output);
        return false;
    }
    k->began = mkperf_kernel_answer_time(k);
    s->multiplex->resumed = k->began;
    return true;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* Sends what was changed to the own core's hook, and hears from it. This detects, too, whether
 * something else has changed the counters. */
static void tell_hook(struct mkperf_kernel *k)
{
    uint32_t here = UINT32_C(1) << k->here;

    mkperf_kernel_request(k, k->stale & k->on & here ? MKPERF_REQUEST_UPDATE : 0);
    k->stale &= ~here;
}

/* Sends changes to the other cores. This interrupts each of them. Cores without changes are asked
 * ASKS_PER_SECOND times a second. */
static void tell_others(struct mkperf_hook_session *s)
{
    struct mkperf_kernel *k = s->kernel;
    uint64_t now = s->drain->now;
    bool all = now - s->asked >= k->tick_hz / ASKS_PER_SECOND;
    uint32_t mask = mkperf_cores_others(k, all ? k->on : k->on & k->stale);

    k->stale &= UINT32_C(1) << k->here;
    s->asked = all ? now : s->asked;
    if (mask != 0) {
        mkperf_cores_request(k, mask, MKPERF_REQUEST_UPDATE);
    }
}

/* Sets the watermarks for `bytes` a sample. Another core gets a new one only if it differs much. */
static void set_watermarks(struct mkperf_hook_session *s, uint32_t wake, uint64_t bytes)
{
    struct mkperf_kernel *k = s->kernel;

    MKPERF_EACH_BIT (i, k->on) {
        struct mkperf_configuration *want = &k->core[i].d->want;
        uint32_t next = mkperf_watermark(wake, bytes, (uint32_t)s->drain->ring[i].size);
        uint32_t tolerated = want->watermark / (i == k->here ? 16 : 2);
        if (next + tolerated < want->watermark || next > want->watermark + tolerated) {
            want->watermark = next;
            k->stale |= UINT32_C(1) << i;
        }
    }
}

/* Returns whether each ring is below its watermark: the hook wakes only when it crosses that. */
static bool below(const struct mkperf_hook_session *s)
{
    MKPERF_EACH_BIT (i, s->kernel->on) {
        const struct mkperf_ring_consumer *ring = &s->drain->ring[i];
        uint64_t head = __atomic_load_n(&ring->ring->head, __ATOMIC_ACQUIRE);
        if (head - ring->tail >= s->kernel->core[i].d->want.watermark) {
            return false;
        }
    }
    return true;
}

bool mkperf_session_drain(struct mkperf_hook_session *s)
{
    struct mkperf_kernel *k = s->kernel;
    struct mkperf_drain *d = s->drain;
    uint64_t before = d->now;
    uint64_t head = d->output->ring.head;
    uint64_t lost = k->status->lost_ring;
    struct mkperf_drained drained = mkperf_drain(d);

    if (!s->running) {
        return drained.output;
    }
    mkperf_multiplex_rotate(s->multiplex);
    bool settling =
        mkperf_pace_adapt(d->pacer, s->multiplex->slice, d->now, k->status->lost_ring != lost, 0);
    s->silent_from = drained.samples == 0 ? s->silent_from : 0;
    if (drained.samples != 0 && !mkperf_plan_follows(s->plan)) {
        uint64_t ticks = before != 0 ? d->now - before : 0;
        uint32_t wake = mkperf_wake_samples(s->plan->wake_samples, drained.most, ticks, k->tick_hz);
        if (settling && s->plan->wake_samples == 0 && wake > WAKE_SETTLING) {
            wake = WAKE_SETTLING;
        }
        set_watermarks(s, wake, drained.bytes / drained.samples);
    }
    tell_hook(k);
    if (k->cores > 1) {
        mkperf_cores_collect(k);
        tell_others(s);
    }
    for (unsigned i = 0; i < MAX_ROUNDS && !below(s); i++) {
        mkperf_drain(d);
    }
    if (k->status->storm) {
        mkperf_session_stop(s); /* The hook has switched the counters off. */
        return true;
    }
    return d->output->ring.head != head;
}

void mkperf_session_quiet(struct mkperf_hook_session *s)
{
    uint64_t now = mkperf_answered(s->kernel)->time; /* The drain before has asked the kernel. */

    /* Two hosts may ask at nearly the same time. Therefore the time in between counts. */
    if (s->running && s->silent_from != 0 && s->plan->adaptive) {
        mkperf_pace_adapt(s->drain->pacer, s->multiplex->slice, s->drain->now, false,
                          now - s->silent_from);
        tell_hook(s->kernel);
        tell_others(s);
    }
    s->silent_from = now;
    s->asked = 0; /* The next drain asks all cores. */
}

void mkperf_session_stop(struct mkperf_hook_session *s)
{
    struct mkperf_kernel *k = s->kernel;

    mkperf_cores_request(k, k->on, MKPERF_REQUEST_STOP);
    uint64_t stopped = k->status->cores[k->here].stopped_ticks;
    if (s->plan->counting && stopped != 0) {
        /* Latencies end when the counters stop. */
        mkperf_latencies_end(s->drain->latencies, stopped);
    }
    mkperf_drain(s->drain); /* Nothing is added to the rings any more. */
    if (s->plan->counting) {
        mkperf_counting_snapshot(s->counting, MKPERF_REQUEST_STOP);
    } else {
        mkperf_multiplex_end(s->multiplex);
    }
    mkperf_soft_ended(s->drain->soft);
    mkperf_cores_request(k, k->on, MKPERF_REQUEST_WITHDRAW);
    mkperf_cores_give_up(k, s->plan->cores);
    if (mkperf_plan_follows(s->plan)) {
        mkperf_latencies_end(s->drain->latencies, mkperf_answered(k)->time);
        mkperf_drain(s->drain); /* The rings have events since the counters were stopped. */
    }
    s->running = false;
    k->session = false;
}
