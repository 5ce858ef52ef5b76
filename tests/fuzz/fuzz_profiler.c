/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client PD that is hostile to the profiler PD: it writes any bytes into the session page and the
 * output ring, calls any operation at any time, and lets the machine run in between. The profiler PD
 * and the kernel's hook are the real ones, on the simulated machine of the unit tests.
 *
 * Owns: the input's meaning. Aborts if an answer lacks its reason, if a count in the page leaves its
 * array, or if the profiler PD does not serve a well-meaning client afterwards.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The machine asserts with cmocka; here a failed assertion ends the program. */
#define CMOCKA_H_
#define fail() abort()
#define assert_true(x) ((x) ? (void)0 : abort())
#define assert_false(x) assert_true(!(x))
#define assert_int_equal(a, b) assert_true((a) == (b))

#include "fixtures/sim_machine.c" // NOLINT(bugprone-suspicious-include)
#include "fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *rings, *output;
static unsigned calling;     /* observed PDs in a protected call, bit = child */
static uint64_t stacks[256]; /* stacks of other PDs, which the profiler PD can read */

static uint32_t word(void)
{
    uint32_t low = byte();

    return low | (uint32_t)byte() << 8;
}

static struct mkperf_session_page *page(void)
{
    return (struct mkperf_session_page *)mkperf_output;
}

/* Returns whether the string of at most `room` bytes has its NUL. */
static bool ends(const char *text, size_t room)
{
    return memchr(text, 0, room) != NULL;
}

static uint32_t call(uint64_t op)
{
    uint32_t result =
        (uint32_t) protected(MKPERF_CHANNEL_CLIENT, microkit_msginfo_new(op, 0)).label;
    const struct mkperf_session_page *p = page();

    assert_true(result == MKPERF_RESULT_OK || (uint32_t)p->error.code == result);
    assert_true(ends(p->error.text, sizeof p->error.text));
    assert_true(result == MKPERF_RESULT_OK || p->error.text[0] != '\0');
    assert_true(p->session.events_count <= MKPERF_MAX_EVENTS);
    assert_true(p->status.period_count <= MKPERF_MAX_EVENTS);
    assert_true(p->status.running_ticks_count <= MKPERF_MAX_EVENTS);
    for (unsigned i = 0; i < p->session.events_count; i++) {
        assert_true(ends(p->session.events[i].name, sizeof p->session.events[i].name));
    }
    if (op == MKPERF_OP_LIST) {
        assert_true(p->events.events_count <= MKPERF_LIST_EVENTS);
    }
    if (result == MKPERF_RESULT_OK && op == MKPERF_OP_COUNTS) {
        assert_true(p->counts.threads_count <= MKPERF_COUNT_PART);
    }
    if (result == MKPERF_RESULT_OK && op == MKPERF_OP_INTERACTIONS) {
        assert_true(p->interactions.edges_count <= MKPERF_EDGE_PART);
    }
    return result;
}

/* Writes n bytes of the input to any place of the memory that the client can write to. */
static void write_bytes(size_t at, size_t within)
{
    for (unsigned n = byte(); n != 0 && input.size != 0; n--, at++) {
        output[at % within] = byte();
    }
}

/* Makes a request with a valid structure and any values. */
static void request(void)
{
    static const char *const names[] = {"cycles", "instructions", "timer", "context-switches",
                                        "",       "faults",       "nope",  "cache-misses"};
    struct mkperf_session_request *r = &page()->request;
    mkperf_Configure *c = &r->configure;
    unsigned flags = word();

    *r = MKPERF_SESSION_REQUEST_ZERO;
    c->events_count = byte() % (MKPERF_MAX_EVENTS + 1);
    c->max_frames = flags & 1 ? byte() : 0;
    c->no_jitter = flags & 2;
    c->per_pd = flags & 4;
    c->check = flags & 8;
    c->overwrite = flags & 16;
    c->interactions = flags & 32;
    c->only_count = flags & 64 ? byte() % (MKPERF_MAX_FILTERS + 1) : 0;
    c->dump_on_fault_count = flags & 128 ? byte() % (MKPERF_MAX_FAULTS + 1) : 0;
    c->stop_if_count = flags & 65536 ? byte() % (MKPERF_MAX_STOPS + 1) : 0;
    for (unsigned i = 0; i < c->stop_if_count; i++) {
        c->stop_if[i] = (mkperf_StopIf){
            .kind = (mkperf_StopKind)(byte() % 6), .from = byte(), .to = byte(), .ns = word()};
    }
    c->sched = flags & 2048;
    c->latency = flags & 4096;
    c->cores = flags & 8192 ? byte() : 0;
    c->off_cpu = flags & 32768;
    c->callers = flags & 16384 ? byte() % (MKPERF_MAX_CALLERS + 2) : 0;
    r->output_bytes = flags & 256 ? UINT32_C(1) << byte() % 32 : 0;
    r->core_bytes = flags & 512 ? UINT32_C(1) << byte() % 32 : 0;
    r->wake_samples = flags & 1024 ? byte() : 0;
    for (unsigned i = 0; i < c->events_count; i++) {
        mkperf_EventSpec *e = &c->events[i];
        unsigned kind = byte();
        snprintf(e->name, sizeof e->name, "%s", names[kind % 8]);
        e->user = kind & 8;
        e->kernel = kind & 16;
        e->count = kind & 32;
        e->read = kind & 64;
        e->group = byte() % 4;
        e->raw = byte();
        e->period = kind & 128 ? word() * UINT64_C(64) : 0;
        e->frequency = kind & 128 ? 0 : word();
    }
    call(MKPERF_OP_CONFIGURE);
}

static void observe(void)
{
    mkperf_Observe *o = &page()->observe;

    *o = (mkperf_Observe)mkperf_Observe_init_zero;
    o->part = byte() % 8;
    o->thread = byte();
    o->child = byte() % (2 * SIM_CHILDREN);
    o->priority = byte();
    o->slot = byte() % 4 == 0;
    o->site_count = byte() % (MKPERF_ROOM(mkperf_Observe, site) + 1);
    for (unsigned i = 0; i < o->site_count; i++) {
        o->site[i] = byte() % 4 == 0 ? word() << byte() % 24 : 1;
    }
    call(MKPERF_OP_OBSERVE);
}

/* Sends what a host sends before a session of the timer: all parts in order, valid except for their values. */
static void observe_all(void)
{
    mkperf_Observe *o = &page()->observe;
    unsigned parts = 1 + byte() % 6;

    for (unsigned part = 0; part < parts; part++) {
        unsigned flags = byte();
        *o = (mkperf_Observe)mkperf_Observe_init_zero;
        o->part = part;
        o->thread = 2 + byte();
        o->child = flags & 1 ? part / 2 : part;
        o->priority = byte();
        o->limited = flags & 2;
        o->slot = flags & 4 ? 3 : 0;
        o->site_count = flags >> 3 & 3;
        for (unsigned i = 0; i < o->site_count; i++) {
            o->site[i] = 1 + byte();
        }
        if (flags & 128) { /* is at its only system call, which may be a protected call */
            o->site_count = 1;
            o->site[0] = SIM_SITE / 4;
            o->call_count = 1;
            o->call[0] = (mkperf_ObservedCall){.channel = byte() % 4, .thread = 2 + byte() % 8};
        }
        o->stack_count = flags >> 5 & 1;
        o->stack[0] = (mkperf_StackWindow){.theirs = 0x1000,
                                           .ours = (uintptr_t)stacks + (flags & 64 ? 0 : byte()),
                                           .bytes = sizeof stacks - 256};
        call(MKPERF_OP_OBSERVE);
    }
}

/* Chooses which of the observed PDs runs, fills their stacks, mostly with ascending frame records,
 * and places each PD in its stack. */
static void fill_stacks(void)
{
    unsigned how = byte();

    sim_running = (int)(byte() % (SIM_CHILDREN + 1)) - 1;
    calling = how & 8 ? byte() : 0;
    for (unsigned i = 0; i + 1 < sizeof stacks / sizeof *stacks; i += 2) {
        stacks[i] = how & 1 ? byte() : 0x1000 + 8 * (i + 2);
        stacks[i + 1] = how & 2 ? byte() : 0x200000 + 4 * i;
    }
    for (unsigned i = 0; i < SIM_CHILDREN; i++) {
        sim_child[i].x29 = how & 4 ? byte() : 0x1000 + 16 * (uint64_t)(byte() % 64);
    }
}

static void run(unsigned ticks)
{
    while (ticks-- != 0) {
        tick();
        sim_children_tick();
        for (unsigned i = 0; i < SIM_CHILDREN; i++) {
            sim_child[i].x7 = calling >> i & 1 ? SYS_CALL : sim_child[i].x7;
            sim_child[i].x0 = BASE_ENDPOINT_CAP + i % 3;
        }
        if (sim_alarm != 0 && sim.ticks >= sim_alarm) {
            sim_alarm = 0;
            notified(MKPERF_CHANNEL_TIMER);
        }
        if (sim.woken) {
            sim.woken = false;
            notified(MKPERF_CHANNEL_PMU);
        }
    }
}

static void step(void)
{
    unsigned kind = byte();

    switch (kind >= 248 ? 11 : kind >= 234 ? 9 + kind % 2 : kind % 9) { /* 234 = 26 * 9 */
    case 0:
        write_bytes(word(), sizeof(struct mkperf_session_page));
        break;
    case 1: /* the ring's header and the first of its data */
        write_bytes(MKPERF_SESSION_PAGE_BYTES + word() % (MKPERF_RING_HEADER_BYTES + 256),
                    MKPERF_OUTPUT_REGION_BYTES);
        break;
    case 2:
        call(byte() % 40);
        break;
    case 3:
        request();
        break;
    case 4:
        call(MKPERF_OP_START);
        break;
    case 5:
        call(MKPERF_OP_STOP);
        break;
    case 6:
        run(word() % 2048);
        break;
    case 7:
        observe();
        break;
    case 9:
        observe_all();
        break;
    case 11:
        fill_stacks();
        break;
    case 10:
        (void)fault(byte(), microkit_msginfo_new(byte(), 0), NULL);
        break;
    default:
        notified(byte() % 4);
    }
}

static void boot(void)
{
    static uint8_t memory[MKPERF_RINGS_REGION_BYTES] __attribute__((aligned(4096)));
    static uint8_t shared[MKPERF_OUTPUT_REGION_BYTES] __attribute__((aligned(4096)));

    memset(&sim, 0, sizeof sim);
    sim_forget();
    memset(&ipc_buffer, 0, sizeof ipc_buffer);
    /* Headers and tables; what the rings held before is as good as anything. */
    memset(memory, 0, MKPERF_RING_HEADER_BYTES);
    memset(mkperf_tables_in((uintptr_t)memory), 0, sizeof(struct mkperf_tables));
    memset(shared, 0, MKPERF_SESSION_PAGE_BYTES + MKPERF_RING_HEADER_BYTES);
    rings = memory;
    output = shared;
    mkperf_rings = (uintptr_t)rings;
    mkperf_output = (uintptr_t)output;
    sim_alarm = 0;
    sim_running = -1;
    calling = 0;
    mkperf_stack1 = (uintptr_t)stacks;
    mkperf_stack1_bytes = sizeof stacks;
    unsigned flags = byte();
    sim.hook = !(flags & 1);
    sim.exported = flags & 16;
    sim.interrupts = sim.counts = true;
    mock_features = flags & 2 ? MKPERF_FEATURE_EVENTS : 0;
    sim.user_rate = 900;
    sim.kernel_rate = 100;
    microkit_irqs = flags & 8 ? 5 : 1;
    init();
}

/* Checks that an honest client still gets a session. */
static void serves_still(void)
{
    struct mkperf_session_request *r = &page()->request;

    call(MKPERF_OP_STOP);
    *r = MKPERF_SESSION_REQUEST_ZERO;
    r->configure.events_count = 1;
    strcpy(r->configure.events[0].name, "cycles");
    r->configure.events[0].period = 10000;
    if (!sim.hook) {
        assert_int_equal(call(MKPERF_OP_CONFIGURE), MKPERF_RESULT_NO_HOOK);
        return;
    }
    assert_int_equal(call(MKPERF_OP_CONFIGURE), MKPERF_RESULT_OK);
    assert_int_equal(call(MKPERF_OP_START), MKPERF_RESULT_OK);
    run(200);
    assert_int_equal(call(MKPERF_OP_STOP), MKPERF_RESULT_OK);
    assert_true(page()->status.captured != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input.data = data;
    input.size = size < 4096 ? size : 4096;
    boot();
    while (input.size != 0) {
        step();
    }
    serves_still();
    return 0;
}
