/* SPDX-License-Identifier: BSD-2-Clause */
/* A session of the kernel's hook: see hook_session.h. */
#include "hook_session.h"

#include "policy.h"

enum {
    MAX_ROUNDS = 16,      /* most rounds of draining at one wake-up */
    ASKS_PER_SECOND = 20, /* how often the other cores are asked, at least */
    WAKE_SETTLING = 32,   /* samples to the next wake-up while a period settles */
};

static uint64_t silent_from; /* ticks: time of the last STATUS; 0: there were samples since */
static uint64_t last_asked;  /* ticks: time of the last request to all cores */

/* ---- CONFIGURE ------------------------------------------------------------------------------- */

bool mkperf_session_plan(const struct mkperf_session_request *request)
{
    if (mkperf_kernel.missing != NULL) {
        return mkperf_refuse(mkperf_kernel.missing_code, 0, "%s", mkperf_kernel.missing);
    }
    if ((request->configure.cores & ~mkperf_kernel.heard) != 0) {
        return mkperf_refuse(MKPERF_RESULT_RANGE, 0,
                             "the target does not sample all of these cores");
    }
    if (!mkperf_plan_make(request)) {
        return false;
    }
    bool beside = mkperf_plan_beside();
    if ((beside || (mkperf_plan.leaves_out && mkperf_plan.counting)) && !mkperf_kernel_events()) {
        return mkperf_refuse(MKPERF_RESULT_NO_HOOK, 0, "this kernel does not count by thread: %s",
                             beside ? "sampled events cannot be counted"
                                    : ":G and :H can be sampled, and not counted");
    }
    mkperf_plan.cores = request->configure.cores != 0 ? (uint32_t)request->configure.cores
                                                      : mkperf_kernel.heard;
    return true;
}

/* ---- START ----------------------------------------------------------------------------------- */

/* Checks that the PMU accepts all events: sessions in which no counter is enabled. */
static bool try_events(void)
{
    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        const struct mkperf_plan_event *e = &mkperf_plan.event[i];
        struct mkperf_configuration *want =
            mkperf_kernel_blank(mkperf_in.ring[mkperf_kernel.here].size);
        want->counter_mask = mkperf_counter_bit(e->user_counter) |
                             mkperf_counter_bit(e->kernel_counter);
        mkperf_kernel_select(i);
        if (want->counter_mask != 0 && !mkperf_kernel_request(MKPERF_REQUEST_APPLY)) {
            return mkperf_refuse(MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
                                 "the PMU does not take this event's number");
        }
    }
    return true;
}

/* Writes the session into the own core's configuration. False: the kernel lacks a part of it. */
static bool set_configuration(void)
{
    struct mkperf_configuration *want = mkperf_kernel_blank(mkperf_plan.core_bytes);

    *mkperf_counts_table() = (struct mkperf_counts){0};
    want->max_frames = mkperf_plan.session.max_frames;
    want->callers = mkperf_plan.session.callers;
    /* With scheduling events, each wake-up is an event, too, and each request reads the words. The beat
     * wakes this PD. A condition that ends the recording is noticed at a wake-up. */
    want->watermark =
        mkperf_plan_follows()
            ? mkperf_plan.core_bytes / (mkperf_plan.request.stop_if_count != 0 ? 16 : 4)
            : mkperf_watermark(
                  mkperf_plan.counting ? 1 : mkperf_wake_samples(mkperf_plan.wake_samples, 0, 0, 0),
                  0, mkperf_plan.core_bytes);
    mkperf_multiplex_begin();
    if (mkperf_plan.counting || mkperf_plan_beside()) {
        mkperf_counting_begin();
    }
    for (unsigned i = 0; i < mkperf_plan.request.only_count; i++) {
        uint64_t thread = mkperf_thread_from_wire(mkperf_plan.request.only[i]);
        bool child = (thread & MKPERF_THREAD_CHILD_BIT) && thread < MKPERF_THREAD_AMBIGUOUS;
        want->filter[i] = (struct mkperf_filter){
            .badge = child ? MKPERF_THREAD_CHILD_BIT | (thread & MKPERF_THREAD_CHILD_ID) : thread,
            .sc = child ? thread >> 8 & MKPERF_THREAD_SC : 0,
            .sc_mask = child ? MKPERF_THREAD_SC : 0,
        };
    }
    /* A count is of all threads. */
    want->filters = mkperf_plan.counting ? 0 : mkperf_plan.request.only_count;
    if (want->counter_mask == 0) {
        /* Software events only: a counter that is off. With it, each thread that runs gets a row of counts. */
        want->counter_mask = 1;
        want->count_mask = mkperf_counts_by_thread();
    }
    return mkperf_soft_prepare() && mkperf_sched_prepare();
}

/* Begins the configured session on all cores, on the own one last, or refuses with the hook's
 * reason. Another core may be late; it is in the session from when it answers
 * (mkperf_cores_collect). */
static bool apply_session(void)
{
    static const char *const why[] = {
        [MKPERF_REQUEST_BAD_CORE] = "the PMU's interrupt is another core's than the profiler PD's",
        [MKPERF_REQUEST_BAD_RING] = "the hook cannot use mkperf_rings: not one page, or not cached",
        [MKPERF_REQUEST_BAD_EVENT] = "the PMU does not take an event's number",
    };
    uint32_t mask = mkperf_plan.cores;

    mkperf_cores_share(mask);
    mkperf_kernel.session = true;
    mkperf_kernel.on = 0;
    if (mkperf_cores_request(mask, MKPERF_REQUEST_APPLY) >> mkperf_kernel.here & 1 ||
        (mkperf_kernel.on != 0 && !(mask >> mkperf_kernel.here & 1))) {
        return true;
    }
    mkperf_cores_request(mkperf_kernel.on, MKPERF_REQUEST_WITHDRAW);
    uint32_t status = mkperf_answered()->status;
    bool known = status < sizeof why / sizeof *why && why[status] != NULL;
    return mkperf_refuse(MKPERF_RESULT_NO_HOOK, 0, "%s",
                         known ? why[status] : "the hook refuses the session");
}

bool mkperf_session_start(void)
{
    if (!mkperf_probe(&mkperf_in.ring[mkperf_kernel.here]) || !try_events() ||
        !mkperf_output_begin()) {
        return false;
    }
    mkperf_kernel_begin();
    mkperf_drain_begin();
    mkperf_pace_begin();
    last_asked = 0;
    silent_from = 0;
    if (!set_configuration() || !apply_session()) {
        mkperf_kernel.session = false;
        mkperf_output_forget();
        return false;
    }
    mkperf_kernel.began = mkperf_kernel_answer_time();
    mkperf_latencies_begin();
    return true;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* Sends what was changed to the own core's hook, and hears from it. This detects, too, whether
 * something else has changed the counters. */
static void tell_hook(void)
{
    uint32_t here = UINT32_C(1) << mkperf_kernel.here;

    mkperf_kernel_request(mkperf_kernel.stale & mkperf_kernel.on & here ? MKPERF_REQUEST_UPDATE
                                                                        : 0);
    mkperf_kernel.stale &= ~here;
}

/* Sends changes to the other cores. This interrupts each of them. Cores without changes are asked
 * ASKS_PER_SECOND times a second. */
static void tell_others(void)
{
    uint64_t now = mkperf_in.now;
    bool all = now - last_asked >= mkperf_kernel.tick_hz / ASKS_PER_SECOND;
    uint32_t mask =
        mkperf_cores_others(all ? mkperf_kernel.on : mkperf_kernel.on & mkperf_kernel.stale);

    mkperf_kernel.stale &= UINT32_C(1) << mkperf_kernel.here;
    last_asked = all ? now : last_asked;
    if (mask != 0) {
        mkperf_cores_request(mask, MKPERF_REQUEST_UPDATE);
    }
}

/* Sets the watermarks for `bytes` a sample. Another core gets a new one only if it differs much. */
static void set_watermarks(uint32_t wake, uint64_t bytes)
{
    MKPERF_EACH_BIT (i, mkperf_kernel.on) {
        struct mkperf_configuration *want = &mkperf_kernel.core[i].d->want;
        uint32_t next = mkperf_watermark(wake, bytes, (uint32_t)mkperf_in.ring[i].size);
        uint32_t tolerated = want->watermark / (i == mkperf_kernel.here ? 16 : 2);
        if (next + tolerated < want->watermark || next > want->watermark + tolerated) {
            want->watermark = next;
            mkperf_kernel.stale |= UINT32_C(1) << i;
        }
    }
}

/* Returns whether each ring is below its watermark: the hook wakes only when it crosses that. */
static bool below(void)
{
    MKPERF_EACH_BIT (i, mkperf_kernel.on) {
        const struct mkperf_ring_consumer *ring = &mkperf_in.ring[i];
        uint64_t head = __atomic_load_n(&ring->ring->head, __ATOMIC_ACQUIRE);
        if (head - ring->tail >= mkperf_kernel.core[i].d->want.watermark) {
            return false;
        }
    }
    return true;
}

bool mkperf_session_drain(void)
{
    uint64_t before = mkperf_in.now;
    uint64_t head = mkperf_out.ring.head;
    uint64_t lost = mkperf_status.lost_ring;
    struct mkperf_drained drained = mkperf_drain();

    if (!mkperf_kernel.session) {
        return drained.output;
    }
    mkperf_multiplex_rotate();
    bool settling =
        mkperf_pace_adapt(mkperf_in.slice, mkperf_in.now, mkperf_status.lost_ring != lost, 0);
    silent_from = drained.samples == 0 ? silent_from : 0;
    if (drained.samples != 0 && !mkperf_plan_follows()) {
        uint64_t ticks = before != 0 ? mkperf_in.now - before : 0;
        uint32_t wake = mkperf_wake_samples(mkperf_plan.wake_samples, drained.most, ticks,
                                            mkperf_kernel.tick_hz);
        if (settling && mkperf_plan.wake_samples == 0 && wake > WAKE_SETTLING) {
            wake = WAKE_SETTLING;
        }
        set_watermarks(wake, drained.bytes / drained.samples);
    }
    tell_hook();
    if (mkperf_kernel.cores > 1) {
        mkperf_cores_collect();
        tell_others();
    }
    for (unsigned i = 0; i < MAX_ROUNDS && !below(); i++) {
        mkperf_drain();
    }
    if (mkperf_status.storm) {
        mkperf_session_stop(); /* The hook has switched the counters off. */
        return true;
    }
    return mkperf_out.ring.head != head;
}

void mkperf_session_quiet(void)
{
    uint64_t now = mkperf_answered()->time; /* The drain before has asked the kernel. */

    /* Two hosts may ask at nearly the same time. Therefore the time in between counts. */
    if (mkperf_kernel.session && silent_from != 0 && mkperf_plan.adaptive) {
        mkperf_pace_adapt(mkperf_in.slice, mkperf_in.now, false, now - silent_from);
        tell_hook();
        tell_others();
    }
    silent_from = now;
    last_asked = 0; /* The next drain asks all cores. */
}

void mkperf_session_stop(void)
{
    mkperf_cores_request(mkperf_kernel.on, MKPERF_REQUEST_STOP);
    uint64_t stopped = mkperf_status.cores[mkperf_kernel.here].stopped_ticks;
    if (mkperf_plan.counting && stopped != 0) {
        /* Latencies end when the counters stop. */
        mkperf_latencies_end(stopped);
    }
    mkperf_drain(); /* Nothing is added to the rings any more. */
    if (mkperf_plan.counting) {
        mkperf_counting_snapshot(MKPERF_REQUEST_STOP);
    } else {
        mkperf_multiplex_end();
    }
    mkperf_soft_ended();
    mkperf_cores_request(mkperf_kernel.on, MKPERF_REQUEST_WITHDRAW);
    mkperf_cores_give_up(mkperf_plan.cores);
    if (mkperf_plan_follows()) {
        mkperf_latencies_end(mkperf_answered()->time);
        mkperf_drain(); /* The rings have events since the counters were stopped. */
    }
    mkperf_kernel.session = false;
}
