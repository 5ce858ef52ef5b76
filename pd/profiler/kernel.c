/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests: see kernel.h for ownership and callers. */
#include "kernel.h"

#include <microkit.h>

#include "profiler.h"

/* Where each PD has the capability by which it replies (libmicrokit/src/main.c: REPLY_CAP, from
 * Microkit 2.0.1 to 2.3.0). */
enum { MICROKIT_REPLY_CAP = 4 };

/* The kernel finds one through the IPC buffer, and only if it is within one page. */
static union {
    struct mkperf_descriptor descriptor;
    uint8_t page[4096];
} pages[MKPERF_TARGET_CORES] __attribute__((aligned(4096)));

/* What an answer says about the core's session. */
static void take_answer(struct mkperf_profiler *p, unsigned core)
{
    const struct mkperf_answer *a = &p->kernel.d[core]->answer;
    struct mkperf_core *c = &p->core[core];

    p->tick_hz = a->tick_hz;
    if (!p->running) {
        c->spurious_before = a->spurious;
        return;
    }
    c->spurious = a->spurious - c->spurious_before;
    c->disturbed = a->session != 0 ? a->disturbed : c->disturbed;
    p->statistics.spurious = 0;
    p->statistics.disturbed = 0;
    for (unsigned i = 0; i < p->cores; i++) {
        p->statistics.spurious += p->core[i].spurious;
        p->statistics.disturbed += p->core[i].disturbed;
    }
    p->statistics.storm |= a->storm != 0;
}

/* Acknowledges the PMU's interrupt with the descriptor. Returns its sequence. */
static uint32_t acknowledge(struct mkperf_profiler *p, struct mkperf_descriptor *d, unsigned slot,
                            uint32_t core, uint32_t op)
{
    uint32_t sequence = ++p->kernel.sequence[slot];

    d->magic = MKPERF_DESCRIPTOR_MAGIC;
    d->op = op;
    d->core = core;
    __atomic_store_n(&d->sequence, sequence, __ATOMIC_RELEASE);
    __sel4_ipc_buffer->userData = (uintptr_t)d;
    microkit_irq_ack(MKPERF_CHANNEL_PMU);
    return sequence;
}

bool mkperf_kernel_request(struct mkperf_profiler *p, uint32_t op)
{
    struct mkperf_kernel *r = &p->kernel;
    uint32_t sequence = acknowledge(p, r->here, p->here, MKPERF_CORE_HERE, op);

    r->hook = __atomic_load_n(&r->here->answered, __ATOMIC_ACQUIRE) == sequence;
    if (r->hook) {
        take_answer(p, p->here);
    }
    return r->hook && r->here->answer.status == MKPERF_REQUEST_OK;
}

void mkperf_kernel_ask(struct mkperf_profiler *p, unsigned core, uint32_t op)
{
    acknowledge(p, p->kernel.d[core], core, core, op);
    __sel4_ipc_buffer->userData = (uintptr_t)p->kernel.here;
}

bool mkperf_kernel_answered(struct mkperf_profiler *p, unsigned core)
{
    const struct mkperf_descriptor *d = p->kernel.d[core];

    if (__atomic_load_n(&d->answered, __ATOMIC_ACQUIRE) != p->kernel.sequence[core]) {
        return false;
    }
    take_answer(p, core);
    return true;
}

/* Which core this is, and how many there are. */
static void find_cores(struct mkperf_profiler *p)
{
    struct mkperf_answer first = p->kernel.here->answer;

    p->kernel_cores = first.cores;
    p->cores = first.cores < MKPERF_TARGET_CORES ? first.cores : MKPERF_TARGET_CORES;
    if (first.core < MKPERF_TARGET_CORES && first.core != p->here) {
        p->core[p->here].spurious_before = 0;
        p->here = first.core;
        p->kernel.here = p->kernel.d[p->here];
        mkperf_kernel_request(p, 0); /* its own page has the answer */
    }
    p->core[p->here].heard = true;
}

void mkperf_kernel_init(struct mkperf_profiler *p)
{
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        p->kernel.d[i] = &pages[i].descriptor;
    }
    p->kernel.here = p->kernel.d[0];
    p->cores = 1;
    p->no_pmu_code = MKPERF_RESULT_NO_PMU;
    if (!(microkit_irqs >> MKPERF_CHANNEL_PMU & 1)) {
        p->no_pmu = "the profiler PD does not have the PMU's interrupt (channel 0)";
        return;
    }
    mkperf_kernel_request(p, 0);
    if (!p->kernel.hook) {
        p->no_pmu_code = MKPERF_RESULT_NO_HOOK;
        p->no_pmu = "the kernel lacks mkperf's extension (KernelMkperf), or the PMU's interrupt "
                    "is not the profiler PD's channel 0";
        return;
    }
    find_cores(p);
    const struct mkperf_answer *a = mkperf_answered(&p->kernel);
    if (a->core >= MKPERF_TARGET_CORES) {
        p->no_pmu = "the profiler PD must run on one of the cores 0 to 3";
        return;
    }
    for (unsigned i = 0; i < MKPERF_PMU_ID_WORDS; i++) {
        p->cpu.id[i] = a->pmu[i];
    }
    p->cpu.counters = (uint32_t)__builtin_popcount(a->counters);
    p->cpu.followers = (a->features & MKPERF_FEATURE_FOLLOWERS) != 0;
    if (p->cpu.counters == 0) {
        p->no_pmu = "the PMU has no event counters for the kernel's exception level";
    }
}

struct mkperf_configuration *mkperf_kernel_blank(struct mkperf_profiler *p,
                                                 const struct mkperf_ring_consumer *core)
{
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);

    *want = (struct mkperf_configuration){
        .ring_bytes = (uint32_t)core->size,
        .ring = (uintptr_t)core->ring,
        .reply = MICROKIT_REPLY_CAP,
        .sc_if = MKPERF_THREAD_CHILD_BIT,
        .sc_mask = MKPERF_THREAD_SC,
    };
    return want;
}

void mkperf_kernel_select(struct mkperf_profiler *p, const struct mkperf_plan_event *e)
{
    struct mkperf_request_counter *c = mkperf_wanted(&p->kernel)->counter;

    if (e->user_counter != 0) {
        c[e->user_counter - 1].select = p->cpu.pmu->select(e->code, true, false);
    }
    if (e->kernel_counter != 0) {
        c[e->kernel_counter - 1].select = p->cpu.pmu->select(e->code, false, true);
    }
}
