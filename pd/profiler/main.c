/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler PD: its entry points, the operations of session.h, and how its stages are connected.
 *
 * Owns: the session's number. No other file of the PD knows all stages.
 * Woken by the kernel hook (channel 0) and by a timer (channel 2), called by the client PD (channel
 * 1). It trusts neither the request page nor the label of a call. A PD has one thread, so nothing
 * is locked.
 *
 *   CONFIGURE -> plan -> START -> (wake-up: drain) .. -> STOP
 *
 * A session is the hook's (hook_session.h) or the timer's (timer/ticks.h), by its plan.
 */
#include <string.h>

#include <microkit.h>

#include "hook_session.h"
#include "timer/ticks.h"
#include "unwind_load.h"

#include "../lib/text.h"

uintptr_t mkperf_rings;  /* region of MKPERF_RINGS_REGION_BYTES, one large page (setvar_vaddr) */
uintptr_t mkperf_output; /* region of MKPERF_OUTPUT_REGION_BYTES, shared with the client */

static struct mkperf_session_page *client_page;
static uint32_t session_id; /* sessions started since boot */

void init(void)
{
    client_page = (struct mkperf_session_page *)mkperf_output;
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        mkperf_in.ring[i].ring = mkperf_core_ring(mkperf_rings, i);
        mkperf_in.ring[i].size = MKPERF_CORE_RING_BYTES;
    }
    mkperf_out.ring.ring = mkperf_output_ring(mkperf_output);
    mkperf_out.ring.size = MKPERF_OUTPUT_RING_BYTES;
    /* After a warm reset, memory may hold the last boot's positions. The client does not run
     * yet. */
    mkperf_out.ring.ring->head = 0;
    mkperf_out.ring.ring->tail = 0;
    mkperf_cpu.pmu = &MKPERF_PMU;
    mkperf_kernel.rings = mkperf_rings;
    enum mkperf_unwind_state state = mkperf_unwind_load(
        &mkperf_tables_in(mkperf_rings)->unwind, mkperf_unwind_tables, sizeof mkperf_unwind_tables);
    mkperf_cpu.unwinds = state == MKPERF_UNWIND_LOADED;
    if (state == MKPERF_UNWIND_INVALID) {
        microkit_dbg_puts("mkperf: the tables for unwinding are damaged, and are not used\n");
    }
    mkperf_kernel_init();
    mkperf_ticks_init();
    if (mkperf_kernel.missing != NULL) {
        microkit_dbg_puts(mkperf_ticks.no_timer != NULL ? "mkperf: no profiling: "
                                                        : "mkperf: `-e timer` only: ");
        microkit_dbg_puts(mkperf_kernel.missing);
        microkit_dbg_puts("\n");
    }
}

/* ---- a session ------------------------------------------------------------------------------- */

/* To the client a flight recording is a session while it is dumped. */
static bool client_sees_session(void)
{
    return mkperf_out.flight ? mkperf_out.dumping : mkperf_kernel.session;
}

/* Returns whether the client must be notified. */
static bool drain(void)
{
    bool fresh = mkperf_plan_timed() ? mkperf_drain().output : mkperf_session_drain();

    if (!mkperf_out.flight) {
        return fresh;
    }
    if (mkperf_status.trigger == mkperf_FlightTrigger_FLIGHT_STOP || !mkperf_kernel.session) {
        return false;
    }
    mkperf_session_stop();
    return true;
}

static void configure(void)
{
    static struct mkperf_session_request request; /* too large for a PD's stack, as is the next */
    static struct mkperf_plan before;

    if (!mkperf_request_take(&request, client_page)) {
        return;
    }
    before = mkperf_plan;
    if (mkperf_ticks_wanted(&request.configure) ? mkperf_ticks_plan(&request)
                                                : mkperf_session_plan(&request)) {
        mkperf_output_forget(); /* Its events are no longer known. */
        memset(&mkperf_status, 0, sizeof mkperf_status);
    } else {
        mkperf_plan = before;
    }
}

static void start_configured(void)
{
    if (mkperf_kernel.session) {
        mkperf_refuse(MKPERF_RESULT_STATE, 0, "a session is running already");
        return;
    }
    if (mkperf_plan.events == 0 && !mkperf_plan_follows()) {
        const char *missing = mkperf_kernel.missing;
        mkperf_refuse(missing != NULL ? mkperf_kernel.missing_code : MKPERF_RESULT_STATE, 0, "%s",
                      missing != NULL ? missing : "nothing is configured");
        return;
    }
    if (mkperf_plan_timed() ? mkperf_ticks_start() : mkperf_session_start()) {
        session_id++;
    }
}

static void stop_running(void)
{
    if (!mkperf_kernel.session) {
        mkperf_refuse(MKPERF_RESULT_STATE, 0, "no session is running");
    } else if (mkperf_plan_timed()) {
        mkperf_ticks_stop();
    } else {
        mkperf_session_stop();
    }
}

static void hold_recording(void)
{
    if (!mkperf_out.flight || !mkperf_kernel.session) {
        mkperf_refuse(MKPERF_RESULT_STATE, 0, "no flight recording runs");
        return;
    }
    mkperf_status.trigger = mkperf_FlightTrigger_FLIGHT_MARK;
    mkperf_session_stop();
}

static void dump_flight(void)
{
    if (mkperf_out.flight && mkperf_output_open()) {
        drain();
    }
    if (mkperf_output_dump()) {
        session_id++; /* Each dump is a session of its own for its receiver. */
    }
}

/* ---- the session page ------------------------------------------------------------------------ */

static uint64_t tick_hz(void)
{
    bool timer = mkperf_plan_timed() || mkperf_kernel.tick_hz == 0;

    return timer && mkperf_ticks.no_timer == NULL ? mkperf_ticks.timer->hz()
                                                  : mkperf_kernel.tick_hz;
}

/* Called at the end of each call. */
static void fill_session_and_status(void)
{
    mkperf_Session *session = &client_page->session;
    mkperf_Status *status = &mkperf_status;

    *session = mkperf_plan.session;
    session->id = session_id;
    session->running = client_sees_session();
    session->overwrite = mkperf_out.flight;
    session->cores = mkperf_kernel.cores > 1 ? mkperf_plan.cores : 0;
    client_page->tick_hz = tick_hz();
    client_page->output_bytes = (uint32_t)mkperf_out.ring.size;

    status->session = session_id;
    status->running = client_sees_session(); /* The client can write to the page. */
    status->tick_hz = tick_hz();
    status->period_count = (pb_size_t)mkperf_plan.events;
    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        status->period[i] = mkperf_pace[mkperf_kernel.here][i].period;
    }
    mkperf_kernel_status();
    status->has_attribution = mkperf_plan_timed();
    if (status->has_attribution) {
        mkperf_ticks_status();
    } else {
        mkperf_multiplex_status();
    }
    client_page->status = *status;
    mkperf_output_status(&client_page->status);
}

static void fill_hello(void)
{
    mkperf_TargetHello *out = &client_page->hello;

    if (mkperf_kernel.missing == NULL && !mkperf_kernel.session) {
        if (mkperf_kernel.boot_id == 0) {
            mkperf_probe(&mkperf_in.ring[mkperf_kernel.here]);
            mkperf_refusal =
                (mkperf_Error)mkperf_Error_init_zero; /* START reports what is wrong. */
        }
        mkperf_cores_probe();
    }
    out->boot_id = mkperf_kernel.boot_id;
    out->counters = mkperf_kernel.missing == NULL ? mkperf_cpu.counters : 0;
    out->cores = (uint32_t)__builtin_popcount(mkperf_kernel.heard);
    out->target_cores = mkperf_cpu.cores;
    mkperf_text_copy(out->pmu, mkperf_cpu.pmu->name, sizeof out->pmu);
    out->cpu[0] = '\0';
    if (mkperf_kernel.missing == NULL) {
        mkperf_cpu.pmu->cpu(mkperf_cpu.id, out->cpu, sizeof out->cpu);
    }
}

/* Long answers are put together here, since the client can write to the page at any time. They are
 * too large for a PD's stack. */
static union {
    mkperf_Events events;
    mkperf_Counts counts;
    mkperf_Interactions interactions;
    mkperf_Latency latency;
} long_answer;

static void serve_call(uint64_t op)
{
    uint32_t part = __atomic_load_n(&client_page->part, __ATOMIC_RELAXED);

    if ((op == MKPERF_OP_CONFIGURE || op == MKPERF_OP_OBSERVE) && mkperf_kernel.session) {
        mkperf_refuse(MKPERF_RESULT_STATE, 0, "a session is running: stop it first");
        return;
    }
    switch (op) {
    case MKPERF_OP_INFO:
        fill_hello();
        break;
    case MKPERF_OP_CONFIGURE:
        configure();
        break;
    case MKPERF_OP_START:
        start_configured();
        break;
    case MKPERF_OP_STOP:
        stop_running();
        break;
    case MKPERF_OP_STATUS:
        drain();
        mkperf_session_quiet();
        break;
    case MKPERF_OP_DRAIN:
        drain();
        break;
    case MKPERF_OP_DUMP:
        dump_flight();
        break;
    case MKPERF_OP_HOLD:
        hold_recording();
        break;
    case MKPERF_OP_INTERACTIONS:
        if (mkperf_soft_answer(part, &long_answer.interactions)) {
            long_answer.interactions.session = session_id;
            long_answer.interactions.tick_hz = tick_hz();
            client_page->interactions = long_answer.interactions;
        }
        break;
    case MKPERF_OP_LATENCY:
        drain();
        if (mkperf_latencies_answer(part, &long_answer.latency)) {
            long_answer.latency.session = session_id;
            long_answer.latency.tick_hz = tick_hz();
            client_page->latency = long_answer.latency;
        }
        break;
    case MKPERF_OP_LIST:
        mkperf_events_list(mkperf_kernel_events(), mkperf_ticks.no_timer == NULL, part,
                           &long_answer.events);
        client_page->events = long_answer.events;
        break;
    case MKPERF_OP_COUNTS:
        if (mkperf_counting_answer(part, &long_answer.counts)) {
            long_answer.counts.session = session_id;
            long_answer.counts.running = mkperf_kernel.session;
            long_answer.counts.tick_hz = tick_hz();
            client_page->counts = long_answer.counts;
        }
        break;
    case MKPERF_OP_OBSERVE:
        mkperf_ticks_observe(client_page);
        break;
    default:
        mkperf_refuse(MKPERF_RESULT_MALFORMED, 0, "no such operation");
    }
}

/* ---- entry points ---------------------------------------------------------------------------- */

void notified(microkit_channel ch)
{
    bool timer = ch == MKPERF_CHANNEL_TIMER || (ch == MKPERF_CHANNEL_PMU && mkperf_ticks_running());

    if (!timer && ch != MKPERF_CHANNEL_PMU) {
        return;
    }
    mkperf_status.wakeups++;
    if (timer ? mkperf_ticks_interrupt(ch == MKPERF_CHANNEL_PMU) : drain()) {
        microkit_notify(MKPERF_CHANNEL_CLIENT);
    }
    if (timer) {
        mkperf_ticks_leave();
    } else if (!mkperf_kernel.session) {
        /* No session's: the kernel's own path took the interrupt, and has masked it. A session's
         * drain has made a request, which acknowledges it. */
        microkit_irq_ack(MKPERF_CHANNEL_PMU);
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    if (ch != MKPERF_CHANNEL_CLIENT) {
        return microkit_msginfo_new(MKPERF_RESULT_MALFORMED, 0);
    }
    mkperf_refusal = (mkperf_Error)mkperf_Error_init_zero;
    serve_call(microkit_msginfo_get_label(msginfo));
    fill_session_and_status();
    client_page->error = mkperf_refusal;
    mkperf_ticks_leave();
    return microkit_msginfo_new(mkperf_refusal.code, 0);
}

/* Does what Microkit's monitor does for PDs without a parent: it prints on the console what
 * happened, and the PD stays stopped. */
seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply_msginfo)
{
    char text[160];
    struct mkperf_text t = mkperf_text_begin(text, sizeof text);
    uint64_t label = microkit_msginfo_get_label(msginfo);

    (void)reply_msginfo;
    mkperf_ticks_fault(child);
    mkperf_text_print(&t, "mkperf: child %u of the profiler PD stopped: %s, pc 0x%lx", child,
                      label == seL4_Fault_VMFault         ? "a memory fault"
                      : label == seL4_Fault_UserException ? "a user exception"
                                                          : "a fault",
                      seL4_GetMR(0)); /* this register has the address for all kinds of faults */
    if (label == seL4_Fault_VMFault) {
        mkperf_text_print(&t, ", address 0x%lx", seL4_GetMR(seL4_VMFault_Addr));
    }
    mkperf_text_put(&t, "\n");
    microkit_dbg_puts(text);
    mkperf_ticks_leave();
    return seL4_False;
}
