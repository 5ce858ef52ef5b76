/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to the hook on this PD's core and on the others: see kernel.h. */
#include "kernel.h"

#include <string.h>

#include <microkit.h>

/* seL4's configuration in the SDK has the number of cores that Microkit's loader starts. */
#ifndef CONFIG_MAX_NUM_NODES
#define CONFIG_MAX_NUM_NODES 1
#endif

/* Where each PD has the capability by which it replies (libmicrokit/src/main.c: REPLY_CAP, from
 * Microkit 2.0.1 to 2.3.0). */
enum { MICROKIT_REPLY_CAP = 4 };

enum {
    SPINS_PER_LOOK = 256, /* between two looks at the time */
};

/* The kernel finds a descriptor through the IPC buffer, and only if it is within one page. */
static union {
    struct mkperf_descriptor descriptor;
    uint8_t page[4096];
} pages[MKPERF_TARGET_CORES] __attribute__((aligned(4096)));

struct mkperf_kernel mkperf_kernel;
mkperf_Status mkperf_status;

/* Takes the answer to a core's last request. What happened before the core began the session is not
 * counted. */
static void take_answer(unsigned core)
{
    struct mkperf_kernel_core *c = &mkperf_kernel.core[core];
    const struct mkperf_answer *a = &c->d->answer;
    mkperf_CoreStatus *to = &mkperf_status.cores[core];
    uint32_t op = c->d->op & MKPERF_REQUEST_OP;
    uint64_t disturbed = a->session != 0 ? a->disturbed : c->disturbed;

    mkperf_kernel.tick_hz = a->tick_hz;
    mkperf_kernel.self = op != MKPERF_REQUEST_PAGE ? mkperf_thread_of(a->badge, a->sc)
                                                   : mkperf_kernel.self;
    if (mkperf_kernel.session && op != MKPERF_REQUEST_APPLY) {
        mkperf_status.spurious += a->spurious - c->spurious;
        mkperf_status.guest_accesses += a->guest_accesses - c->guest_accesses;
        mkperf_status.disturbed += disturbed - c->disturbed;
        mkperf_status.storm |= a->storm != 0;
    }
    c->spurious = a->spurious;
    c->guest_accesses = a->guest_accesses;
    c->disturbed = disturbed;
    if (!mkperf_kernel.session || a->status != MKPERF_REQUEST_OK) {
        return;
    }
    if (op == MKPERF_REQUEST_APPLY) {
        mkperf_kernel.on |= UINT32_C(1) << core;
        to->started_ticks = a->time;
    } else if (op == MKPERF_REQUEST_STOP && to->stopped_ticks == 0) {
        to->stopped_ticks = a->time;
    } else if (op == MKPERF_REQUEST_CONTINUE) {
        to->stopped_ticks = 0;
    }
}

/* Acknowledges the PMU's interrupt with the core's descriptor. core: as the descriptor names it.
 * Returns the sequence of the request. */
static uint32_t acknowledge(struct mkperf_kernel_core *c, uint32_t core, uint32_t op)
{
    struct mkperf_descriptor *d = c->d;
    uint32_t sequence = ++c->sequence;

    d->magic = MKPERF_DESCRIPTOR_MAGIC;
    d->op = op;
    d->core = core;
    __atomic_store_n(&d->sequence, sequence, __ATOMIC_RELEASE);
    __sel4_ipc_buffer->userData = (uintptr_t)d;
    microkit_irq_ack(MKPERF_CHANNEL_PMU);
    return sequence;
}

bool mkperf_kernel_request(uint32_t op)
{
    struct mkperf_kernel_core *c = &mkperf_kernel.core[mkperf_kernel.here];
    uint32_t sequence = acknowledge(c, MKPERF_CORE_HERE, op);

    if (__atomic_load_n(&c->d->answered, __ATOMIC_ACQUIRE) != sequence) {
        return false;
    }
    take_answer(mkperf_kernel.here);
    return c->d->answer.status == MKPERF_REQUEST_OK;
}

uint64_t mkperf_kernel_time(void)
{
    mkperf_kernel_request(0);
    return mkperf_answered()->time;
}

uint64_t mkperf_kernel_answer_time(void)
{
    return mkperf_kernel.on >> mkperf_kernel.here & 1 ? mkperf_answered()->time
                                                      : mkperf_kernel_time();
}

/* Finds the hook and the PMU. Returns why there can be no session of the hook, or NULL. */
static const char *find_hook(void)
{
    if (mkperf_cpu.pmu->none != NULL) {
        return mkperf_cpu.pmu->none;
    }
    if (!(microkit_irqs >> MKPERF_CHANNEL_PMU & 1)) {
        return "the profiler PD does not have the PMU's interrupt (channel 0)";
    }
    if (!mkperf_kernel_request(0)) {
        mkperf_kernel.missing_code = MKPERF_RESULT_NO_HOOK;
        return "the kernel lacks mkperf's extension (KernelMkperf), or the PMU's interrupt is not "
               "the profiler PD's channel 0";
    }
    unsigned here = mkperf_answered()->core;
    mkperf_cpu.cores = mkperf_answered()->cores;
    mkperf_kernel.cores = mkperf_cpu.cores < MKPERF_TARGET_CORES ? mkperf_cpu.cores
                                                                 : MKPERF_TARGET_CORES;
    if (here >= MKPERF_TARGET_CORES) {
        return "the profiler PD must run on one of the cores 0 to 3";
    }
    if (here != mkperf_kernel.here) {
        mkperf_kernel.here = here;
        mkperf_kernel.heard = UINT32_C(1) << here;
        mkperf_kernel_request(0); /* The answer has to be in this core's page. */
    }
    const struct mkperf_answer *a = mkperf_answered();
    for (unsigned i = 0; i < MKPERF_PMU_ID_WORDS; i++) {
        mkperf_cpu.id[i] = a->pmu[i];
    }
    mkperf_cpu.counters = (uint32_t)__builtin_popcount(a->counters);
    mkperf_cpu.followers = (a->features & MKPERF_FEATURE_FOLLOWERS) != 0;
    return mkperf_cpu.counters != 0
               ? NULL
               : "the PMU has no event counters for the kernel's exception level";
}

void mkperf_kernel_init(void)
{
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        mkperf_kernel.core[i].d = &pages[i].descriptor;
    }
    mkperf_kernel.cores = 1;
    mkperf_cpu.cores = CONFIG_MAX_NUM_NODES;
    mkperf_kernel.heard = UINT32_C(1) << mkperf_kernel.here;
    mkperf_kernel.missing_code = MKPERF_RESULT_NO_PMU;
    mkperf_kernel.missing = find_hook();
}

void mkperf_kernel_begin(void)
{
    memset(&mkperf_status, 0, sizeof mkperf_status);
    mkperf_kernel.on = UINT32_C(1) << mkperf_kernel.here;
    mkperf_kernel.stale = 0;
    mkperf_kernel.began = 0;
}

struct mkperf_configuration *mkperf_kernel_blank(uint64_t ring_bytes)
{
    struct mkperf_configuration *want = mkperf_wanted();

    *want = (struct mkperf_configuration){
        .ring_bytes = (uint32_t)ring_bytes,
        .ring = (uintptr_t)mkperf_core_ring(mkperf_kernel.rings, mkperf_kernel.here),
        .reply = MICROKIT_REPLY_CAP,
        .sc_if = MKPERF_THREAD_CHILD_BIT,
        .sc_mask = MKPERF_THREAD_SC,
        .tables = (uintptr_t)mkperf_tables_in(mkperf_kernel.rings),
        .unwind = mkperf_cpu.unwinds,
    };
    return want;
}

void mkperf_kernel_select(unsigned event)
{
    struct mkperf_configuration *want = mkperf_wanted();
    const struct mkperf_plan_event *e = &mkperf_plan.event[event];
    uint32_t user = mkperf_counter_bit(e->user_counter);
    /* For counts, counting.c leaves out what is to be left out. */
    uint32_t left_out = mkperf_plan.counting ? 0 : e->left_out;

    want->guest_mask &= ~user;
    want->guest_mask |= left_out == MKPERF_PMU_USER ? user : 0;
    want->host_mask &= ~user;
    want->host_mask |= left_out == MKPERF_PMU_GUEST ? user : 0;
    if (e->user_counter != 0) {
        want->counter[e->user_counter - 1].select = e->user_select;
    }
    if (e->kernel_counter != 0) {
        want->counter[e->kernel_counter - 1].select = e->kernel_select;
        want->kernel_mask |= mkperf_counter_bit(e->kernel_counter) & ~user; /* `user`: both modes */
    }
}

/* ---- all cores ------------------------------------------------------------------------------- */

void mkperf_cores_collect(void)
{
    MKPERF_EACH_BIT (i, mkperf_kernel.pending) {
        struct mkperf_kernel_core *c = &mkperf_kernel.core[i];
        if (__atomic_load_n(&c->d->answered, __ATOMIC_ACQUIRE) == c->sequence) {
            mkperf_kernel.pending &= ~(UINT32_C(1) << i);
            mkperf_kernel.heard |= UINT32_C(1) << i;
            take_answer(i);
        }
    }
}

/* Waits for the answers of other cores. The time is the kernel's, by requests to the own core. */
static void wait_for(uint32_t mask)
{
    uint64_t begin = 0;
    uint64_t now = 0;

    while (now - begin <= mkperf_kernel.tick_hz * MKPERF_CORES_PATIENCE_MS / 1000) {
        for (unsigned i = 0; i < SPINS_PER_LOOK; i++) {
            mkperf_cores_collect();
            if ((mkperf_kernel.pending & mask) == 0) {
                return;
            }
#ifdef __aarch64__ /* A CPU with several threads, and QEMU, may let others run. */
            __asm__ volatile("yield" : : : "memory");
#endif
        }
        now = mkperf_kernel_time();
        begin = begin != 0 ? begin : now;
    }
}

static void send_request(unsigned core, uint32_t op)
{
    mkperf_kernel.pending |= UINT32_C(1) << core;
    acknowledge(&mkperf_kernel.core[core], core, op);
    __sel4_ipc_buffer->userData = (uintptr_t)mkperf_kernel.core[mkperf_kernel.here].d;
}

uint32_t mkperf_cores_request(uint32_t mask, uint32_t op)
{
    bool applies = (op & MKPERF_REQUEST_OP) == MKPERF_REQUEST_APPLY;
    uint32_t asked = mkperf_cores_others(mask) & (applies ? mask : ~mkperf_kernel.pending);
    uint32_t done = 0;

    MKPERF_EACH_BIT (i, asked) {
        send_request(i, op);
    }
    if (asked != 0) {
        wait_for(asked);
    }
    MKPERF_EACH_BIT (i, asked) {
        bool late = mkperf_kernel.pending >> i & 1;
        mkperf_status.cores[i].late_answers += late;
        if (!late && mkperf_kernel.core[i].d->answer.status == MKPERF_REQUEST_OK) {
            done |= UINT32_C(1) << i;
        }
    }
    if (mask >> mkperf_kernel.here & 1 && mkperf_kernel_request(op)) {
        done |= UINT32_C(1) << mkperf_kernel.here;
    }
    return done;
}

void mkperf_cores_give_up(uint32_t mask)
{
    MKPERF_EACH_BIT (i, mkperf_cores_others(mask) & mkperf_kernel.pending) {
        send_request(i, MKPERF_REQUEST_WITHDRAW);
    }
}

void mkperf_cores_share(uint32_t mask)
{
    MKPERF_EACH_BIT (i, mkperf_cores_others(mask)) {
        mkperf_kernel.core[i].d->want = *mkperf_wanted();
        mkperf_kernel.core[i].d->want.ring = (uintptr_t)mkperf_core_ring(mkperf_kernel.rings, i);
    }
}

void mkperf_cores_probe(void)
{
    mkperf_cores_collect();
    mkperf_cores_request(((UINT32_C(1) << mkperf_kernel.cores) - 1) & ~mkperf_kernel.heard, 0);
}

void mkperf_kernel_status(void)
{
    for (unsigned i = 0; i < mkperf_kernel.cores; i++) {
        mkperf_status.cores[i].core = i;
        mkperf_status.cores[i].state = !(mkperf_kernel.heard >> i & 1)
                                           ? mkperf_CoreState_CORE_ABSENT
                                       : mkperf_kernel.pending >> i & 1
                                           ? mkperf_CoreState_CORE_LATE
                                           : mkperf_CoreState_CORE_RUNS;
    }
    mkperf_status.cores_count = (pb_size_t)(mkperf_kernel.cores > 1 ? mkperf_kernel.cores : 0);
}
