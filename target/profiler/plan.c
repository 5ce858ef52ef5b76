/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a client's request to a plan.
 *
 * Owns: the checks. Called by the profiler PD for CONFIGURE. Each event takes one counter for user
 * mode and one for the kernel, because an overflow's interrupt is taken when the kernel is left, so
 * only the counter itself tells where the event happened.
 */
#include "plan.h"

#include "../lib/text.h"
#include "policy.h"

bool mkperf_plan_refuse(struct mkperf_session_error *error, uint32_t code, uint32_t event,
                        const char *text)
{
    struct mkperf_text t = mkperf_text_begin(error->text, sizeof error->text);

    error->code = code;
    error->event = event;
    mkperf_text_put(&t, text);
    return false;
}

/* Refuses with `before`, the event's name, and `after`. */
static bool refuse_event(struct mkperf_session_error *error, uint32_t code, uint32_t event,
                         const char *before, const char *name, const char *after)
{
    struct mkperf_text t = mkperf_text_begin(error->text, sizeof error->text);

    error->code = code;
    error->event = event + 1;
    mkperf_text_put(&t, before);
    mkperf_text_put(&t, name);
    mkperf_text_put(&t, after);
    return false;
}

/* The table's entry for a name: the first that the CPU has, else the first, else NULL. */
static const struct mkperf_pmu_event *find_name(const struct mkperf_pmu *pmu, const char *name)
{
    const struct mkperf_pmu_event *found = NULL;

    for (const struct mkperf_pmu_event *e = pmu->events; e->name != NULL; e++) {
        if (mkperf_text_is(name, MKPERF_NAME_BYTES, e->name)) {
            if (pmu->supported(e->code)) {
                return e;
            }
            found = found == NULL ? e : found;
        }
    }
    return found;
}

static unsigned rate_of_code(const struct mkperf_pmu *pmu, uint32_t code)
{
    for (const struct mkperf_pmu_event *e = pmu->events; e->name != NULL; e++) {
        if (e->code == code) {
            return e->rate;
        }
    }
    return MKPERF_RATE_BUSY;
}

/* What to count. */
static bool plan_event(struct mkperf_plan_event *e, unsigned i,
                       const struct mkperf_session_want *want, const struct mkperf_pmu *pmu,
                       struct mkperf_session_error *error)
{
    mkperf_text_copy(e->name, want->name, sizeof e->name);
    if (e->name[0] != '\0') {
        const struct mkperf_pmu_event *known = find_name(pmu, e->name);
        if (known == NULL && want->raw == 0) {
            return refuse_event(error, MKPERF_RESULT_EVENT_UNKNOWN, i, "no event is called '",
                                e->name, "'; `mkperf list` shows those that there are");
        }
        e->code = known != NULL ? known->code : want->raw;
    } else {
        struct mkperf_text t = mkperf_text_begin(e->name, sizeof e->name);
        mkperf_text_put(&t, "raw_");
        mkperf_text_hex(&t, want->raw);
        e->code = want->raw;
    }
    if (!pmu->supported(e->code)) {
        return refuse_event(error, MKPERF_RESULT_EVENT_UNSUPPORTED, i, "this CPU cannot count '",
                            e->name, "': its PMU does not implement the event");
    }
    return true;
}

/* How often to sample it. */
static bool plan_period(struct mkperf_plan_event *e, unsigned i,
                        const struct mkperf_session_want *want, const struct mkperf_pmu *pmu,
                        struct mkperf_session_error *error)
{
    unsigned rate = rate_of_code(pmu, e->code);

    e->minimum = mkperf_min_period(rate);
    if (want->period != 0) {
        if (want->period >= e->minimum && want->period <= MKPERF_MAX_PERIOD) {
            e->period = (uint32_t)want->period;
            return true;
        }
        struct mkperf_text t = mkperf_text_begin(error->text, sizeof error->text);
        error->code = MKPERF_RESULT_RANGE;
        error->event = i + 1;
        mkperf_text_put(&t, "the period of '");
        mkperf_text_put(&t, e->name);
        mkperf_text_put(&t, "' must be from ");
        mkperf_text_dec(&t, e->minimum);
        mkperf_text_put(&t, " to 2147483647 events");
        return false;
    }
    if (want->frequency == 0 || want->frequency > MKPERF_MAX_FREQUENCY) {
        return refuse_event(error, MKPERF_RESULT_RANGE, i, "the frequency of '", e->name,
                            "' must be from 1 to 100000 samples a second");
    }
    e->frequency = want->frequency;
    e->period = mkperf_first_period(want->frequency, rate);
    return true;
}

/* Gives the event its counters, whose numbers may be too high: the caller compares. */
static uint32_t plan_counters(struct mkperf_plan *plan, unsigned i,
                              const struct mkperf_session_want *want, uint32_t next)
{
    struct mkperf_plan_event *e = &plan->event[i];
    bool both = !want->user == !want->kernel;

    if (both || want->user) {
        e->user_counter = ++next;
    }
    if (both || want->kernel) {
        e->kernel_counter = ++next;
    }
    for (uint32_t c = 0; c < MKPERF_MAX_COUNTERS; c++) {
        if (c + 1 == e->user_counter || c + 1 == e->kernel_counter) {
            plan->event_of[c] = (uint8_t)i;
            plan->counter_mask |= UINT32_C(1) << c;
        }
        if (c + 1 == e->kernel_counter) {
            plan->kernel_mask |= UINT32_C(1) << c;
        }
    }
    return next;
}

static bool refuse_counters(struct mkperf_session_error *error, uint32_t needed, uint32_t there)
{
    struct mkperf_text t = mkperf_text_begin(error->text, sizeof error->text);

    error->code = MKPERF_RESULT_COUNTERS;
    error->event = 0;
    mkperf_text_put(&t, "these events need ");
    mkperf_text_dec(&t, needed);
    mkperf_text_put(&t, " counters, the PMU has ");
    mkperf_text_dec(&t, there);
    mkperf_text_put(&t, "; an event takes two, user and kernel: :u or :k halves the need");
    return false;
}

bool mkperf_plan_make(struct mkperf_plan *plan, const struct mkperf_session_request *request,
                      const struct mkperf_pmu *pmu, struct mkperf_session_error *error)
{
    struct mkperf_plan made = {
        .events = request->events,
        .max_frames = request->max_frames,
        .no_jitter = request->no_jitter != 0,
        .wake_samples = request->wake_samples,
        .core_bytes = request->core_bytes != 0 ? request->core_bytes : MKPERF_CORE_RING_BYTES,
        .output_bytes = request->output_bytes != 0 ? request->output_bytes
                                                   : MKPERF_OUTPUT_RING_BYTES,
    };
    uint32_t needed = 0;

    if (made.events == 0 || made.events > MKPERF_MAX_EVENTS) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0,
                                  "a session has from 1 to 16 events");
    }
    if (made.max_frames > MKPERF_MAX_FRAMES) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0,
                                  "the call chain's depth must be from 0 to 64");
    }
    if (!mkperf_ring_size_ok(made.core_bytes) || made.core_bytes > MKPERF_CORE_RING_BYTES ||
        !mkperf_ring_size_ok(made.output_bytes) || made.output_bytes > MKPERF_OUTPUT_RING_BYTES) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0,
                                  "a ring's size must be a power of two, from 4096 bytes to what "
                                  "the target has");
    }
    for (unsigned i = 0; i < made.events; i++) {
        if (!plan_event(&made.event[i], i, &request->event[i], pmu, error) ||
            !plan_period(&made.event[i], i, &request->event[i], pmu, error)) {
            return false;
        }
        needed = plan_counters(&made, i, &request->event[i], needed);
        made.adaptive |= made.event[i].frequency != 0;
    }
    if (needed > pmu->counters()) {
        return refuse_counters(error, needed, pmu->counters());
    }
    *plan = made;
    return true;
}
