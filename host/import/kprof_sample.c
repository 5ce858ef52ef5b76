/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: a kpdata sample's path to the sink, and its info field's events; see kprof.h. */
#include <inttypes.h>

#include "kprof_internal.h"

enum { DOMAIN_TIMER = 1, DOMAIN_PMU = 2 };

void kprof_note_event(struct kprof *k, uint64_t info)
{
    uint32_t n = k->session.nevents;

    for (uint32_t i = 0; i < n; i++) {
        if (k->info[i] == info) {
            return;
        }
    }
    if (n < MKPERF_MODEL_EVENTS) {
        k->info[n] = info;
        k->session.nevents++;
    }
}

static uint32_t event_of(struct kprof *k, uint64_t info)
{
    for (uint32_t i = 0; i < k->session.nevents; i++) {
        if (k->info[i] == info) {
            return i;
        }
    }
    k->other_infos++;
    return k->session.nevents - 1;
}

/*
 * Era B names the event: a timer, whose period is known, or a PMU event. Era C has a number whose
 * meaning only its recorder had. A user-only file of B looks like one of C; a domain in all of its
 * infos shows which it is.
 */
static bool says_domain(const struct kprof *k)
{
    if (k->era == MKPERF_KPROF_A) {
        return false;
    }
    for (uint32_t i = 0; i < k->session.nevents; i++) {
        uint64_t domain = k->info[i] >> 60;
        if (k->info[i] != 0 && domain != DOMAIN_TIMER && domain != DOMAIN_PMU) {
            return false;
        }
    }
    return true;
}

void kprof_name_events(struct kprof *k)
{
    bool domains = says_domain(k);

    for (uint32_t i = 0; i < k->session.nevents; i++) {
        struct mkperf_event *event = &k->session.event[i];
        uint64_t info = k->info[i];
        *event = (struct mkperf_event){.user = true, .kernel = true, .period = 1};
        if (info == 0) {
            snprintf(event->name, sizeof event->name, "samples");
        } else if (domains && info >> 60 == DOMAIN_TIMER) {
            uint64_t period_us = info & ((UINT64_C(1) << 60) - 1);
            snprintf(event->name, sizeof event->name, "timer");
            event->period = period_us > 0 && period_us < UINT64_MAX / 1000 ? period_us * 1000 : 1;
        } else if (domains) {
            event->code = info & 0xffff;
            snprintf(event->name, sizeof event->name, "%s%04" PRIx32,
                     info >> 16 & 1 ? "fixed-r" : "r", event->code);
        } else {
            snprintf(event->name, sizeof event->name, "stream-%" PRIx64, info);
        }
    }
}

/* Callers, from the PC after the innermost on; one equal to the innermost is there twice. */
static enum mkperf_status take_callers(struct kprof *k, const struct kprof_sample *s, bool kernel,
                                       uint32_t pd)
{
    uint64_t innermost = mkperf_get64(s->pc);

    k->chain.n = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        uint64_t addr = mkperf_get64(s->pc + 8 * (size_t)i);
        int64_t in = pd;
        if (i == 1 && addr == innermost) {
            continue;
        }
        if (k->chain.n == MKPERF_MAX_FRAMES) {
            k->deep++;
            break;
        }
        if (!kernel && (in = kprof_code_at(k, (uint32_t)s->pid, s->time_ns, &addr)) < 0) {
            return k->e->status;
        }
        k->chain.caller[k->chain.n++] = (struct mkperf_caller){.addr = addr, .pd = (uint32_t)in};
    }
    return MKPERF_OK;
}

static void count(struct kprof *k, const struct kprof_sample *s)
{
    if (k->totals.samples++ == 0) {
        k->totals.first_ns = s->time_ns;
    }
    k->totals.last_ns = s->time_ns;
}

enum mkperf_status kprof_deliver(struct kprof *k, const struct kprof_sample *s, bool kernel)
{
    uint64_t pc = mkperf_get64(s->pc);
    int64_t pd = !kernel       ? kprof_code_at(k, (uint32_t)s->pid, s->time_ns, &pc)
                 : s->pid >= 0 ? kprof_process_pd(k, (uint32_t)s->pid, s->time_ns)
                               : kprof_kernel_pd(k);

    if (pd < 0 || take_callers(k, s, kernel, (uint32_t)pd) != MKPERF_OK) {
        return k->e->status;
    }
    uint32_t event = event_of(k, s->info);
    struct mkperf_sample sample = {
        .time_ns = s->time_ns,
        .period = k->session.event[event].period,
        .pd = (uint32_t)pd,
        .event = event,
        .core = s->cpu,
        .flags = kernel ? MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER : 0,
        .kernel_pc = kernel ? pc : 0,
        .pc = kernel ? 0 : pc,
        .callers = &k->chain,
    };
    count(k, s);
    return mkperf_sink_sample(k->sink, &sample, k->e);
}
