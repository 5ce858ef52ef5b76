/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler PD: its entry points, the operations of session.h, and how its stages are connected.
 *
 * Owns: the one instance of each stage, and the session's number (profiler.h). No other file of the PD knows all of them.
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

#include "probe.h"
#include "profiler.h"
#include "request.h"
#include "unwind_load.h"

#include "../lib/text.h"

uintptr_t mkperf_rings;  /* region of MKPERF_RINGS_REGION_BYTES, one large page (setvar_vaddr) */
uintptr_t mkperf_output; /* region of MKPERF_OUTPUT_REGION_BYTES, shared with the client */

static struct mkperf_profiler profiler;

static void connect(struct mkperf_profiler *p)
{
    p->kernel.status = &p->status;
    p->output.status = &p->status;
    p->soft.plan = &p->plan;
    p->soft.kernel = &p->kernel;
    p->soft.output = &p->output;
    p->soft.table = mkperf_soft_table(mkperf_rings);
    p->sched.plan = &p->plan;
    p->sched.output = &p->output;
    p->latencies.plan = &p->plan;
    p->latencies.kernel = &p->kernel;
    p->pacer.plan = &p->plan;
    p->pacer.kernel = &p->kernel;
    p->drain.plan = &p->plan;
    p->drain.kernel = &p->kernel;
    p->drain.pacer = &p->pacer;
    p->drain.soft = &p->soft;
    p->drain.sched = &p->sched;
    p->drain.latencies = &p->latencies;
    p->drain.output = &p->output;
    p->counting.plan = &p->plan;
    p->counting.kernel = &p->kernel;
    p->counting.drain = &p->drain;
    p->counting.multiplex = &p->multiplex;
    p->counting.soft = p->soft.table;
    p->counting.table = mkperf_counts_table(mkperf_rings);
    p->multiplex.plan = &p->plan;
    p->multiplex.kernel = &p->kernel;
    p->multiplex.pacer = &p->pacer;
    p->multiplex.drain = &p->drain;
    p->session.plan = &p->plan;
    p->session.kernel = &p->kernel;
    p->session.drain = &p->drain;
    p->session.counting = &p->counting;
    p->session.multiplex = &p->multiplex;
    p->ticks.plan = &p->plan;
    p->ticks.kernel = &p->kernel;
    p->ticks.drain = &p->drain;
    p->ticks.reads.plan = &p->plan;
    p->ticks.reads.kernel = &p->kernel;
}

static void load_tables(struct mkperf_kernel *k)
{
    struct mkperf_unwind_tables *to = mkperf_unwind_region(mkperf_rings);
    enum mkperf_unwind_state state =
        mkperf_unwind_load(to, mkperf_unwind_tables, sizeof mkperf_unwind_tables);

    k->unwind = state == MKPERF_UNWIND_LOADED ? (uintptr_t)to : 0;
    k->cpu.unwinds = k->unwind != 0;
    if (state == MKPERF_UNWIND_INVALID) {
        microkit_dbg_puts("mkperf: the tables for unwinding are damaged, and are not used\n");
    }
}

void init(void)
{
    struct mkperf_profiler *p = &profiler;

    connect(p);
    p->page = (struct mkperf_session_page *)mkperf_output;
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        p->drain.ring[i].ring = mkperf_core_ring(mkperf_rings, i);
        p->drain.ring[i].size = MKPERF_CORE_RING_BYTES;
    }
    p->output.ring.ring = mkperf_output_ring(mkperf_output);
    p->output.ring.size = MKPERF_OUTPUT_RING_BYTES;
    /* After a warm reset, memory may hold the last boot's positions. The client does not run
     * yet. */
    p->output.ring.ring->head = 0;
    p->output.ring.ring->tail = 0;
    p->kernel.cpu.pmu = &MKPERF_PMU;
    p->kernel.rings = mkperf_rings;
    load_tables(&p->kernel);
    mkperf_kernel_init(&p->kernel);
    mkperf_ticks_init(&p->ticks);
    if (p->kernel.missing != NULL) {
        microkit_dbg_puts(p->ticks.no_timer != NULL ? "mkperf: no profiling: "
                                                    : "mkperf: `-e timer` only: ");
        microkit_dbg_puts(p->kernel.missing);
        microkit_dbg_puts("\n");
    }
}

/* ---- a session ------------------------------------------------------------------------------- */

static bool running(const struct mkperf_profiler *p)
{
    return p->timer ? p->ticks.running : p->session.running;
}

/* To the client a flight recording is a session while it is dumped. */
static bool runs(const struct mkperf_profiler *p)
{
    return p->output.flight ? p->output.dumping : running(p);
}

/* Returns whether the client must be notified. */
static bool drain(struct mkperf_profiler *p)
{
    bool fresh = p->timer ? mkperf_drain(&p->drain).output : mkperf_session_drain(&p->session);

    if (!p->output.flight) {
        return fresh;
    }
    if (p->status.trigger == mkperf_FlightTrigger_FLIGHT_STOP || !running(p)) {
        return false;
    }
    mkperf_session_stop(&p->session);
    return true;
}

static void configure(struct mkperf_profiler *p, mkperf_Error *error)
{
    static struct mkperf_session_request request; /* too large for a PD's stack */

    if (!mkperf_request_take(&request, p->page, error)) {
        return;
    }
    bool timer = mkperf_ticks_wanted(&request.configure);
    if (timer ? mkperf_ticks_plan(&p->ticks, &p->plan, &request, error)
              : mkperf_session_plan(&p->session, &p->plan, &request, error)) {
        p->timer = timer;
        mkperf_output_forget(&p->output); /* Its events are no longer known. */
        memset(&p->status, 0, sizeof p->status);
    }
}

static void start_configured(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (running(p)) {
        mkperf_refuse(error, MKPERF_RESULT_STATE, 0, "a session is running already");
        return;
    }
    if (p->plan.events == 0 && !mkperf_plan_follows(&p->plan)) {
        const char *missing = p->kernel.missing;
        mkperf_refuse(error, missing != NULL ? p->kernel.missing_code : MKPERF_RESULT_STATE, 0,
                      "%s", missing != NULL ? missing : "nothing is configured");
        return;
    }
    if (p->timer ? mkperf_ticks_start(&p->ticks, error)
                 : mkperf_session_start(&p->session, error)) {
        p->id++;
    }
}

static void stop_running(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (!running(p)) {
        mkperf_refuse(error, MKPERF_RESULT_STATE, 0, "no session is running");
    } else if (p->timer) {
        mkperf_ticks_stop(&p->ticks);
    } else {
        mkperf_session_stop(&p->session);
    }
}

static void hold_recording(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (!p->output.flight || !running(p)) {
        mkperf_refuse(error, MKPERF_RESULT_STATE, 0, "no flight recording runs");
        return;
    }
    p->status.trigger = mkperf_FlightTrigger_FLIGHT_MARK;
    mkperf_session_stop(&p->session);
}

static void dump_flight(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (p->output.flight && mkperf_output_open(&p->output)) {
        drain(p);
    }
    if (mkperf_output_dump(&p->output, error)) {
        p->id++; /* Each dump is a session of its own for its receiver. */
    }
}

/* ---- the session page ------------------------------------------------------------------------ */

static uint64_t tick_hz(const struct mkperf_profiler *p)
{
    bool timer = p->timer || p->kernel.tick_hz == 0;

    return timer && p->ticks.no_timer == NULL ? p->ticks.timer->hz() : p->kernel.tick_hz;
}

static void fill_session(const struct mkperf_profiler *p)
{
    mkperf_Session *s = &p->page->session;

    *s = p->plan.session;
    s->id = p->id;
    s->running = runs(p);
    s->overwrite = p->output.flight;
    s->cores = p->kernel.cores > 1 ? p->plan.cores : 0;
    p->page->tick_hz = tick_hz(p);
    p->page->output_bytes = (uint32_t)p->output.ring.size;
}

static void fill_status(struct mkperf_profiler *p)
{
    mkperf_Status *s = &p->status;

    s->session = p->id;
    s->running = runs(p);
    s->tick_hz = tick_hz(p);
    s->period_count = (pb_size_t)p->plan.events;
    for (unsigned i = 0; i < p->plan.events; i++) {
        s->period[i] = p->pacer.core[p->kernel.here][i].period;
    }
    mkperf_kernel_status(&p->kernel);
    s->has_attribution = p->timer;
    if (p->timer) {
        mkperf_ticks_status(&p->ticks);
    } else {
        mkperf_multiplex_status(&p->multiplex, running(p));
    }
    p->page->status = *s;
    mkperf_output_status(&p->output, running(p), &p->page->status);
}

static void info(struct mkperf_profiler *p)
{
    struct mkperf_kernel *k = &p->kernel;
    mkperf_TargetHello *out = &p->page->hello;
    mkperf_Error none = mkperf_Error_init_zero; /* Starting a session reports what is wrong. */

    if (k->missing == NULL && !running(p)) {
        if (k->boot_id == 0) {
            mkperf_probe(k, &p->drain.ring[k->here], &none);
        }
        mkperf_cores_probe(k);
    }
    out->boot_id = k->boot_id;
    out->counters = k->missing == NULL ? k->cpu.counters : 0;
    out->cores = (uint32_t)__builtin_popcount(k->heard);
    out->target_cores = k->cpu.cores;
    mkperf_text_copy(out->pmu, k->cpu.pmu->name, sizeof out->pmu);
    out->cpu[0] = '\0';
    if (k->missing == NULL) {
        k->cpu.pmu->cpu(k->cpu.id, out->cpu, sizeof out->cpu);
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

static void operation(struct mkperf_profiler *p, uint64_t op, mkperf_Error *error)
{
    uint32_t part = __atomic_load_n(&p->page->part, __ATOMIC_RELAXED);

    if ((op == MKPERF_OP_CONFIGURE || op == MKPERF_OP_OBSERVE) && running(p)) {
        mkperf_refuse(error, MKPERF_RESULT_STATE, 0, "a session is running: stop it first");
        return;
    }
    switch (op) {
    case MKPERF_OP_INFO:
        info(p);
        break;
    case MKPERF_OP_CONFIGURE:
        configure(p, error);
        break;
    case MKPERF_OP_START:
        start_configured(p, error);
        break;
    case MKPERF_OP_STOP:
        stop_running(p, error);
        break;
    case MKPERF_OP_STATUS:
        drain(p);
        mkperf_session_quiet(&p->session);
        break;
    case MKPERF_OP_DRAIN:
        drain(p);
        break;
    case MKPERF_OP_DUMP:
        dump_flight(p, error);
        break;
    case MKPERF_OP_HOLD:
        hold_recording(p, error);
        break;
    case MKPERF_OP_INTERACTIONS:
        if (mkperf_soft_answer(&p->soft, part, &long_answer.interactions, error)) {
            long_answer.interactions.session = p->id;
            long_answer.interactions.tick_hz = tick_hz(p);
            p->page->interactions = long_answer.interactions;
        }
        break;
    case MKPERF_OP_LATENCY:
        drain(p);
        if (mkperf_latencies_answer(&p->latencies, part, &long_answer.latency, error)) {
            long_answer.latency.session = p->id;
            long_answer.latency.tick_hz = tick_hz(p);
            p->page->latency = long_answer.latency;
        }
        break;
    case MKPERF_OP_LIST:
        mkperf_events_list(&p->kernel.cpu, mkperf_kernel_events(&p->kernel),
                           p->ticks.no_timer == NULL, part, &long_answer.events);
        p->page->events = long_answer.events;
        break;
    case MKPERF_OP_COUNTS:
        if (mkperf_counting_answer(&p->counting, part, running(p), &long_answer.counts, error)) {
            long_answer.counts.session = p->id;
            long_answer.counts.running = running(p);
            long_answer.counts.tick_hz = tick_hz(p);
            p->page->counts = long_answer.counts;
        }
        break;
    case MKPERF_OP_OBSERVE:
        mkperf_ticks_observe(&p->ticks, p->page, error);
        break;
    default:
        mkperf_refuse(error, MKPERF_RESULT_MALFORMED, 0, "no such operation");
    }
}

/* ---- entry points ---------------------------------------------------------------------------- */

void notified(microkit_channel ch)
{
    struct mkperf_profiler *p = &profiler;
    bool timer = ch == MKPERF_CHANNEL_TIMER ||
                 (ch == MKPERF_CHANNEL_PMU && p->timer && p->ticks.running);

    if (!timer && ch != MKPERF_CHANNEL_PMU) {
        return;
    }
    p->status.wakeups++;
    if (timer ? mkperf_ticks_interrupt(&p->ticks, ch == MKPERF_CHANNEL_PMU) : drain(p)) {
        microkit_notify(MKPERF_CHANNEL_CLIENT);
    }
    if (timer) {
        mkperf_ticks_leave(&p->ticks);
    } else if (!p->session.running) {
        /* No session's: the kernel's own path took the interrupt, and has masked it. A session's
         * drain has made a request, which acknowledges it. */
        microkit_irq_ack(MKPERF_CHANNEL_PMU);
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    struct mkperf_profiler *p = &profiler;
    mkperf_Error error = mkperf_Error_init_zero;

    if (ch != MKPERF_CHANNEL_CLIENT) {
        return microkit_msginfo_new(MKPERF_RESULT_MALFORMED, 0);
    }
    operation(p, microkit_msginfo_get_label(msginfo), &error);
    fill_session(p);
    fill_status(p);
    p->page->error = error;
    mkperf_ticks_leave(&p->ticks);
    return microkit_msginfo_new(error.code, 0);
}

/* Does what Microkit's monitor does for PDs without a parent: it prints on the console what
 * happened, and the PD stays stopped. */
seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply_msginfo)
{
    char text[160];
    struct mkperf_text t = mkperf_text_begin(text, sizeof text);
    uint64_t label = microkit_msginfo_get_label(msginfo);

    (void)reply_msginfo;
    mkperf_ticks_fault(&profiler.ticks, child);
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
    mkperf_ticks_leave(&profiler.ticks);
    return seL4_False;
}
