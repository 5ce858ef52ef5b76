/* SPDX-License-Identifier: BSD-2-Clause */
/* The cores: see percore.h for ownership and callers. */
#include "percore.h"

#include "profiler.h"

enum { SPINS_PER_LOOK = 256 }; /* between two looks at the time */

static uint32_t but_here(const struct mkperf_profiler *p, uint32_t mask)
{
    return mask & ~(UINT32_C(1) << p->here);
}

/* A core's answer has come. */
static void answered(struct mkperf_profiler *p, unsigned core)
{
    struct mkperf_core *c = &p->core[core];
    uint32_t op = c->op & MKPERF_REQUEST_OP;

    c->pending = false;
    c->heard = true;
    if (p->kernel.d[core]->answer.status != MKPERF_REQUEST_OK) {
        return;
    }
    if (op == MKPERF_REQUEST_APPLY) {
        p->on |= UINT32_C(1) << core;
        c->spurious_before = p->kernel.d[core]->answer.spurious;
        c->spurious = 0;
        c->statistics.started_ticks = p->kernel.d[core]->answer.time;
    } else if (op == MKPERF_REQUEST_STOP && c->statistics.stopped_ticks == 0) {
        c->statistics.stopped_ticks = p->kernel.d[core]->answer.time;
    } else if (op == MKPERF_REQUEST_CONTINUE) {
        c->statistics.stopped_ticks = 0;
    }
}

void mkperf_cores_collect(struct mkperf_profiler *p)
{
    for (unsigned i = 0; i < p->cores; i++) {
        if (p->core[i].pending && mkperf_kernel_answered(p, i)) {
            answered(p, i);
        }
    }
}

static bool any_pending(const struct mkperf_profiler *p, uint32_t mask)
{
    for (; mask != 0; mask &= mask - 1) {
        if (p->core[__builtin_ctz(mask)].pending) {
            return true;
        }
    }
    return false;
}

/* To a CPU with several threads, and to QEMU, the hint that others may run. */
static void pause(void)
{
#ifdef __aarch64__
    __asm__ volatile("yield" : : : "memory");
#endif
}

/* Waits for the answers of other cores. The time is the kernel's, by requests to the own core. */
static void wait_for(struct mkperf_profiler *p, uint32_t mask)
{
    uint64_t begin = 0;
    uint64_t now = 0;

    while (now - begin <= p->tick_hz * MKPERF_CORES_PATIENCE_MS / 1000) {
        for (unsigned i = 0; i < SPINS_PER_LOOK; i++) {
            mkperf_cores_collect(p);
            if (!any_pending(p, mask)) {
                return;
            }
            pause();
        }
        mkperf_kernel_request(p, 0);
        now = mkperf_answered(&p->kernel)->time;
        begin = begin != 0 ? begin : now;
    }
}

static void send_request(struct mkperf_profiler *p, unsigned core, uint32_t op)
{
    p->core[core].op = op;
    p->core[core].pending = true;
    mkperf_kernel_ask(p, core, op);
}

uint32_t mkperf_cores_request(struct mkperf_profiler *p, uint32_t mask, uint32_t op)
{
    uint32_t done = 0;
    uint32_t asked = 0;

    for (uint32_t rest = but_here(p, mask); rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        if (!p->core[i].pending || (op & MKPERF_REQUEST_OP) == MKPERF_REQUEST_APPLY) {
            send_request(p, i, op);
            asked |= UINT32_C(1) << i;
        }
    }
    if (asked != 0) {
        wait_for(p, asked);
    }
    for (uint32_t rest = asked; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        p->core[i].statistics.late_answers += p->core[i].pending;
        if (!p->core[i].pending && p->kernel.d[i]->answer.status == MKPERF_REQUEST_OK) {
            done |= UINT32_C(1) << i;
        }
    }
    if (mask >> p->here & 1) {
        p->core[p->here].op = op;
        if (mkperf_kernel_request(p, op)) {
            answered(p, p->here);
            done |= UINT32_C(1) << p->here;
        }
    }
    return done;
}

void mkperf_cores_give_up(struct mkperf_profiler *p, uint32_t mask)
{
    for (uint32_t rest = but_here(p, mask); rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        if (p->core[i].pending) {
            send_request(p, i, MKPERF_REQUEST_WITHDRAW);
        }
    }
}

void mkperf_cores_share(struct mkperf_profiler *p, uint32_t mask)
{
    for (uint32_t rest = but_here(p, mask); rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        p->kernel.d[i]->want = *mkperf_wanted(&p->kernel);
        p->kernel.d[i]->want.ring = (uintptr_t)p->core[i].ring.ring;
    }
}

uint32_t mkperf_cores_heard(const struct mkperf_profiler *p)
{
    uint32_t mask = UINT32_C(1) << p->here;

    for (unsigned i = 0; i < p->cores; i++) {
        mask |= (uint32_t)p->core[i].heard << i;
    }
    return mask;
}

void mkperf_cores_probe(struct mkperf_profiler *p)
{
    uint32_t all = (UINT32_C(1) << p->cores) - 1;

    mkperf_cores_collect(p); /* since the last time */
    mkperf_cores_request(p, all & ~mkperf_cores_heard(p), 0);
}

void mkperf_cores_fill(const struct mkperf_profiler *p, mkperf_Status *out)
{
    out->cores_count = 0;
    for (unsigned i = 0; p->cores > 1 && i < p->cores && !p->ticks.on; i++) {
        const struct mkperf_core *c = &p->core[i];
        mkperf_CoreStatus *to = &out->cores[out->cores_count++];
        *to = c->statistics;
        to->core = i;
        to->state = i != p->here && !c->heard ? mkperf_CoreState_CORE_ABSENT
                    : c->pending              ? mkperf_CoreState_CORE_LATE
                                              : mkperf_CoreState_CORE_RUNS;
    }
}
