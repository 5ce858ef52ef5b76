/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests: see kernel.h for ownership and callers. */
#include "kernel.h"

#include <microkit.h>

#include "profiler.h"

/* Where each PD has the capability by which it replies (libmicrokit/src/main.c: REPLY_CAP, from
 * Microkit 2.0.1 to 2.3.0). */
enum { MICROKIT_REPLY_CAP = 4 };

/* The kernel finds it through the IPC buffer, and only if it is within one page. */
static struct mkperf_descriptor descriptor __attribute__((aligned(4096)));

static void take_answer(struct mkperf_profiler *p)
{
    const struct mkperf_answer *a = &p->kernel.d->answer;

    p->tick_hz = a->tick_hz;
    if (!p->running) {
        p->kernel.spurious = a->spurious;
        return;
    }
    p->books.spurious = a->spurious - p->kernel.spurious;
    p->books.disturbed = a->session != 0 ? a->disturbed : p->books.disturbed;
    p->books.storm |= a->storm != 0;
}

bool mkperf_kernel_request(struct mkperf_profiler *p, uint32_t op)
{
    struct mkperf_kernel *r = &p->kernel;
    struct mkperf_descriptor *d = r->d;

    r->sequence++;
    d->magic = MKPERF_DESCRIPTOR_MAGIC;
    d->op = op;
    __atomic_store_n(&d->sequence, r->sequence, __ATOMIC_RELEASE);
    microkit_irq_ack(MKPERF_CHANNEL_PMU);
    r->hook = __atomic_load_n(&d->answered, __ATOMIC_ACQUIRE) == r->sequence;
    if (r->hook) {
        take_answer(p);
    }
    return r->hook && d->answer.status == MKPERF_REQUEST_OK;
}

void mkperf_kernel_init(struct mkperf_profiler *p)
{
    const struct mkperf_answer *a = &descriptor.answer;

    p->kernel.d = &descriptor;
    p->no_pmu_code = MKPERF_RESULT_NO_PMU;
    __sel4_ipc_buffer->userData = (uintptr_t)&descriptor;
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
    struct mkperf_configuration *want = &p->kernel.d->want;

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
    struct mkperf_request_counter *c = p->kernel.d->want.counter;

    if (e->user_counter != 0) {
        c[e->user_counter - 1].select = p->cpu.pmu->select(e->code, true, false);
    }
    if (e->kernel_counter != 0) {
        c[e->kernel_counter - 1].select = p->cpu.pmu->select(e->code, false, true);
    }
}
