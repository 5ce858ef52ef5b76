/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to the hook on this PD's core and on the others: see kernel.h. */
#include "kernel.h"

#include <string.h>

#include <microkit.h>

#include <mkperf/jitter.h>

/* seL4's configuration in the SDK has the number of cores that Microkit's loader starts. */
#ifndef CONFIG_MAX_NUM_NODES
#define CONFIG_MAX_NUM_NODES 1
#endif

/* Where each PD has the capability by which it replies (libmicrokit/src/main.c: REPLY_CAP, from
 * Microkit 2.0.1 to 2.3.0). */
enum { MICROKIT_REPLY_CAP = 4 };

enum {
    SPINS_PER_LOOK = 256,  /* between two looks at the time */
    BEAT_CYCLES = 4000000, /* Scheduling events in 4 ms at 1 GHz fit the core's ring by far. */
};

/* The kernel finds a descriptor through the IPC buffer, and only if it is within one page. */
static union {
    struct mkperf_descriptor descriptor;
    uint8_t page[4096];
} pages[MKPERF_TARGET_CORES] __attribute__((aligned(4096)));

/* Takes the answer to a core's last request. What happened before the core began the session is not
 * counted. */
static void take_answer(struct mkperf_kernel *k, unsigned core)
{
    struct mkperf_kernel_core *c = &k->core[core];
    const struct mkperf_answer *a = &c->d->answer;
    mkperf_CoreStatus *to = &k->status->cores[core];
    uint32_t op = c->d->op & MKPERF_REQUEST_OP;
    uint64_t disturbed = a->session != 0 ? a->disturbed : c->disturbed;

    k->tick_hz = a->tick_hz;
    if (k->session && op != MKPERF_REQUEST_APPLY) {
        k->status->spurious += a->spurious - c->spurious;
        k->status->guest_accesses += a->guest_accesses - c->guest_accesses;
        k->status->disturbed += disturbed - c->disturbed;
        k->status->storm |= a->storm != 0;
    }
    c->spurious = a->spurious;
    c->guest_accesses = a->guest_accesses;
    c->disturbed = disturbed;
    if (!k->session || a->status != MKPERF_REQUEST_OK) {
        return;
    }
    if (op == MKPERF_REQUEST_APPLY) {
        k->on |= UINT32_C(1) << core;
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

bool mkperf_kernel_request(struct mkperf_kernel *k, uint32_t op)
{
    struct mkperf_kernel_core *c = &k->core[k->here];
    uint32_t sequence = acknowledge(c, MKPERF_CORE_HERE, op);

    k->hook = __atomic_load_n(&c->d->answered, __ATOMIC_ACQUIRE) == sequence;
    if (k->hook) {
        take_answer(k, k->here);
    }
    return k->hook && c->d->answer.status == MKPERF_REQUEST_OK;
}

uint64_t mkperf_kernel_time(struct mkperf_kernel *k)
{
    mkperf_kernel_request(k, 0);
    return mkperf_answered(k)->time;
}

uint64_t mkperf_kernel_answer_time(struct mkperf_kernel *k)
{
    return k->on >> k->here & 1 ? mkperf_answered(k)->time : mkperf_kernel_time(k);
}

void mkperf_kernel_init(struct mkperf_kernel *k)
{
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        k->core[i].d = &pages[i].descriptor;
    }
    k->cores = 1;
    k->cpu.cores = CONFIG_MAX_NUM_NODES;
    k->heard = UINT32_C(1) << k->here;
    k->missing_code = MKPERF_RESULT_NO_PMU;
    if (!(microkit_irqs >> MKPERF_CHANNEL_PMU & 1)) {
        k->missing = "the profiler PD does not have the PMU's interrupt (channel 0)";
        return;
    }
    mkperf_kernel_request(k, 0);
    if (!k->hook) {
        k->missing_code = MKPERF_RESULT_NO_HOOK;
        k->missing = "the kernel lacks mkperf's extension (KernelMkperf), or the PMU's interrupt "
                     "is not the profiler PD's channel 0";
        return;
    }
    unsigned here = mkperf_answered(k)->core;
    k->cpu.cores = mkperf_answered(k)->cores;
    k->cores = k->cpu.cores < MKPERF_TARGET_CORES ? k->cpu.cores : MKPERF_TARGET_CORES;
    if (here >= MKPERF_TARGET_CORES) {
        k->missing = "the profiler PD must run on one of the cores 0 to 3";
        return;
    }
    if (here != k->here) {
        k->here = here;
        k->heard = UINT32_C(1) << here;
        mkperf_kernel_request(k, 0); /* The answer has to be in this core's page. */
    }
    const struct mkperf_answer *a = mkperf_answered(k);
    for (unsigned i = 0; i < MKPERF_PMU_ID_WORDS; i++) {
        k->cpu.id[i] = a->pmu[i];
    }
    k->cpu.counters = (uint32_t)__builtin_popcount(a->counters);
    k->cpu.followers = (a->features & MKPERF_FEATURE_FOLLOWERS) != 0;
    if (k->cpu.counters == 0) {
        k->missing = "the PMU has no event counters for the kernel's exception level";
    }
}

void mkperf_kernel_begin(struct mkperf_kernel *k)
{
    memset(k->status, 0, sizeof *k->status);
    k->on = UINT32_C(1) << k->here;
    k->stale = 0;
    k->began = 0;
}

struct mkperf_configuration *mkperf_kernel_blank(struct mkperf_kernel *k, uint64_t ring_bytes)
{
    struct mkperf_configuration *want = mkperf_wanted(k);

    *want = (struct mkperf_configuration){
        .ring_bytes = (uint32_t)ring_bytes,
        .ring = (uintptr_t)mkperf_core_ring(k->rings, k->here),
        .reply = MICROKIT_REPLY_CAP,
        .sc_if = MKPERF_THREAD_CHILD_BIT,
        .sc_mask = MKPERF_THREAD_SC,
        .unwind = k->unwind,
    };
    return want;
}

void mkperf_kernel_select(struct mkperf_kernel *k, const struct mkperf_plan *plan, unsigned event)
{
    struct mkperf_configuration *want = mkperf_wanted(k);
    const struct mkperf_plan_event *e = &plan->event[event];
    uint32_t user = mkperf_counter_bit(e->user_counter);
    /* For counts, counting.c leaves out what is to be left out. */
    uint32_t left_out = plan->counting ? 0 : e->left_out;

    want->guest_mask &= ~user;
    want->guest_mask |= left_out == MKPERF_PMU_USER ? user : 0;
    want->host_mask &= ~user;
    want->host_mask |= left_out == MKPERF_PMU_GUEST ? user : 0;
    if (e->user_counter != 0) {
        want->counter[e->user_counter - 1].select = e->user_select;
    }
    if (e->kernel_counter != 0) {
        want->counter[e->kernel_counter - 1].select = e->kernel_select;
    }
}

void mkperf_kernel_set_clocks(struct mkperf_kernel *k, const struct mkperf_plan *plan,
                              uint32_t slice_cycles)
{
    const uint32_t counter[] = {plan->clock, plan->beat};
    const uint32_t cycles[] = {slice_cycles, BEAT_CYCLES};

    for (unsigned i = 0; i < 2; i++) {
        if (counter[i] != 0) {
            mkperf_wanted(k)->counter[counter[i] - 1] = (struct mkperf_request_counter){
                .select = plan->clock_select,
                .left = cycles[i],
                .first = cycles[i],
                .period = cycles[i],
                .jitter_mask = mkperf_jitter_mask(cycles[i]),
            };
        }
    }
}

/* ---- all cores ------------------------------------------------------------------------------- */

void mkperf_cores_collect(struct mkperf_kernel *k)
{
    MKPERF_EACH_BIT (i, k->pending) {
        struct mkperf_kernel_core *c = &k->core[i];
        if (__atomic_load_n(&c->d->answered, __ATOMIC_ACQUIRE) == c->sequence) {
            k->pending &= ~(UINT32_C(1) << i);
            k->heard |= UINT32_C(1) << i;
            take_answer(k, i);
        }
    }
}

/* Waits for the answers of other cores. The time is the kernel's, by requests to the own core. */
static void wait_for(struct mkperf_kernel *k, uint32_t mask)
{
    uint64_t begin = 0;
    uint64_t now = 0;

    while (now - begin <= k->tick_hz * MKPERF_CORES_PATIENCE_MS / 1000) {
        for (unsigned i = 0; i < SPINS_PER_LOOK; i++) {
            mkperf_cores_collect(k);
            if ((k->pending & mask) == 0) {
                return;
            }
#ifdef __aarch64__ /* A CPU with several threads, and QEMU, may let others run. */
            __asm__ volatile("yield" : : : "memory");
#endif
        }
        now = mkperf_kernel_time(k);
        begin = begin != 0 ? begin : now;
    }
}

static void send_request(struct mkperf_kernel *k, unsigned core, uint32_t op)
{
    k->pending |= UINT32_C(1) << core;
    acknowledge(&k->core[core], core, op);
    __sel4_ipc_buffer->userData = (uintptr_t)k->core[k->here].d;
}

uint32_t mkperf_cores_request(struct mkperf_kernel *k, uint32_t mask, uint32_t op)
{
    bool applies = (op & MKPERF_REQUEST_OP) == MKPERF_REQUEST_APPLY;
    uint32_t asked = mkperf_cores_others(k, mask) & (applies ? mask : ~k->pending);
    uint32_t done = 0;

    MKPERF_EACH_BIT (i, asked) {
        send_request(k, i, op);
    }
    if (asked != 0) {
        wait_for(k, asked);
    }
    MKPERF_EACH_BIT (i, asked) {
        bool late = k->pending >> i & 1;
        k->status->cores[i].late_answers += late;
        if (!late && k->core[i].d->answer.status == MKPERF_REQUEST_OK) {
            done |= UINT32_C(1) << i;
        }
    }
    if (mask >> k->here & 1 && mkperf_kernel_request(k, op)) {
        done |= UINT32_C(1) << k->here;
    }
    return done;
}

void mkperf_cores_give_up(struct mkperf_kernel *k, uint32_t mask)
{
    MKPERF_EACH_BIT (i, mkperf_cores_others(k, mask) & k->pending) {
        send_request(k, i, MKPERF_REQUEST_WITHDRAW);
    }
}

void mkperf_cores_share(struct mkperf_kernel *k, uint32_t mask)
{
    MKPERF_EACH_BIT (i, mkperf_cores_others(k, mask)) {
        k->core[i].d->want = *mkperf_wanted(k);
        k->core[i].d->want.ring = (uintptr_t)mkperf_core_ring(k->rings, i);
    }
}

void mkperf_cores_probe(struct mkperf_kernel *k)
{
    mkperf_cores_collect(k);
    mkperf_cores_request(k, ((UINT32_C(1) << k->cores) - 1) & ~k->heard, 0);
}

void mkperf_kernel_status(struct mkperf_kernel *k)
{
    for (unsigned i = 0; i < k->cores; i++) {
        k->status->cores[i].core = i;
        k->status->cores[i].state = !(k->heard >> i & 1)  ? mkperf_CoreState_CORE_ABSENT
                                    : k->pending >> i & 1 ? mkperf_CoreState_CORE_LATE
                                                          : mkperf_CoreState_CORE_RUNS;
    }
    k->status->cores_count = (pb_size_t)(k->cores > 1 ? k->cores : 0);
}
