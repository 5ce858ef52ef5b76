/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: what the target must know for `-e timer`: which PDs the profiler PD can observe, and the addresses
 * of their system calls, stacks and channels. docs/stock.md describes their use.
 */
#include "recorder.h"

struct observing {
    struct mkperf_recorder *r;
    const struct mkperf_system *system;
    const struct mkperf_system_pd *profiler;
    unsigned index; /* index of the profiler PD */
    uint32_t part;
};

bool mkperf_observe_wanted(const mkperf_Configure *c)
{
    for (unsigned i = 0; i < c->events_count; i++) {
        if (strcmp(c->events[i].name, "timer") == 0) {
            return true;
        }
    }
    return false;
}

/* Returns the slot in the profiler PD's CSpace with the TCB of a PD, or 0 if there is none. */
static unsigned slot_of(const struct observing *t, unsigned pd)
{
    for (unsigned i = 0; i < t->profiler->ntcbs; i++) {
        if (t->profiler->tcb[i].pd == pd) {
            return t->profiler->tcb[i].slot;
        }
    }
    return 0;
}

/* Returns whether a PD runs on another core than the profiler PD, which is the one that the timer samples. */
static bool is_elsewhere(const struct observing *t, unsigned i)
{
    return t->system->pd[i].scheduling.cpu != t->profiler->scheduling.cpu;
}

/* Returns whether a PD has readable registers, and an ELF with the addresses of its system calls. */
static bool observable(const struct observing *t, unsigned i)
{
    const struct mkperf_system_pd *pd = &t->system->pd[i];

    return i != t->index && !is_elsewhere(t, i) &&
           (pd->parent == (int)t->index || slot_of(t, i) != 0) && t->r->pds->module[i] != NULL;
}

/* Returns whether a PD runs whenever it can: on the profiler's core, with an unlimited budget, and no PD other than the profiler
 * may stop it: its parent, which handles its faults, too, or one with its TCB. */
static bool steady(const struct observing *t, unsigned i)
{
    const struct mkperf_system_pd *pd = &t->system->pd[i];
    bool stops = pd->virtual_machine || (pd->parent >= 0 && pd->parent != (int)t->index);

    for (unsigned k = 0; k < t->system->npds; k++) {
        const struct mkperf_system_pd *other = &t->system->pd[k];
        for (unsigned c = 0; k != t->index && c < other->ntcbs; c++) {
            stops |= other->tcb[c].pd == i;
        }
    }
    return !mkperf_is_limited(&pd->scheduling) &&
           pd->scheduling.cpu == t->profiler->scheduling.cpu && !stops;
}

/* Returns end i of all channels; the other end of its channel is i ^ 1. */
static const struct mkperf_system_end *end_of(const struct observing *t, unsigned i)
{
    return &t->system->channel[i / 2].end[i % 2];
}

/* Returns whether registers prove which PD's call that PD is serving: it takes calls at once, and the PDs that may call it are
 * observed and make a call whenever they are at one. It takes calls at once if it and all that it calls, directly or not, are
 * steady: then it waits for nothing but messages. */
static bool callers_provable(const struct observing *t, unsigned pd)
{
    uint64_t reached = UINT64_C(1) << pd, before;
    bool provable = pd != t->index;

    do {
        before = reached;
        for (unsigned i = 0; i < 2 * t->system->nchannels; i++) {
            const struct mkperf_system_end *caller = end_of(t, i);
            if (caller->pp && (reached >> caller->pd & 1) != 0) {
                reached |= UINT64_C(1) << end_of(t, i ^ 1)->pd;
            }
        }
    } while (reached != before);
    for (unsigned i = 0; i < t->system->npds && provable; i++) {
        provable = (reached >> i & 1) == 0 || steady(t, i);
    }
    for (unsigned i = 0; i < 2 * t->system->nchannels && provable; i++) {
        const struct mkperf_system_end *caller = end_of(t, i);
        provable = !caller->pp || end_of(t, i ^ 1)->pd != pd ||
                   (observable(t, caller->pd) && steady(t, caller->pd));
    }
    return provable;
}

static enum mkperf_status ask_part(struct observing *t, mkperf_Observe *o, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_observe_tag};

    o->part = t->part++;
    m.msg.observe = *o;
    return mkperf_recorder_request_alone(t->r, &m, "Observe", e);
}

static enum mkperf_status send_pd(struct observing *t, unsigned i, struct mkperf_error *e)
{
    const struct mkperf_system_pd *pd = &t->system->pd[i];
    const size_t max = sizeof((mkperf_Observe *)0)->site / sizeof(uint32_t);
    const unsigned ends = 2 * t->system->nchannels;
    unsigned ends_done = 0;
    size_t n, done = 0;
    const struct mkperf_module *module = t->r->pds->module[i];
    uint64_t *site = mkperf_module_system_calls(module, &n);

    do {
        mkperf_Observe o = mkperf_Observe_init_zero;
        uint64_t before = 0;
        o.thread = pd->thread + 2;
        if (pd->parent == (int)t->index) {
            o.child = pd->child_id;
        } else {
            o.slot = slot_of(t, i);
        }
        o.priority = pd->scheduling.priority;
        o.limited = mkperf_is_limited(&pd->scheduling);
        /* The regions that the PD may write and the profiler PD maps too: its stack may be in one. */
        const pb_size_t most = sizeof o.stack / sizeof *o.stack;
        for (unsigned k = 0; done == 0 && k < pd->nmaps * t->profiler->nmaps; k++) {
            const struct mkperf_system_map *theirs = &pd->map[k / t->profiler->nmaps],
                                           *ours = &t->profiler->map[k % t->profiler->nmaps];
            if (theirs->region == ours->region && theirs->write && ours->read &&
                o.stack_count < most) {
                o.stack[o.stack_count++] = (mkperf_StackWindow){
                    .theirs = theirs->vaddr,
                    .ours = ours->vaddr,
                    .bytes = t->system->region[theirs->region].size,
                };
            }
        }
        for (; done < n && o.site_count < max; done++) {
            o.site[o.site_count++] = (uint32_t)((site[done] - before) / mkperf_module_unit(module));
            before = site[done];
        }
        const pb_size_t calls = sizeof o.call / sizeof *o.call;
        for (; ends_done < ends && o.call_count < calls; ends_done++) {
            const struct mkperf_system_end *caller = end_of(t, ends_done);
            unsigned callee = end_of(t, ends_done ^ 1)->pd;
            if (caller->pp && caller->pd == i && callers_provable(t, callee)) {
                o.call[o.call_count++] = (mkperf_ObservedCall){
                    .channel = caller->id, .thread = t->system->pd[callee].thread + 2};
            }
        }
        if (ask_part(t, &o, e) != MKPERF_OK) {
            break;
        }
    } while (done < n || ends_done < ends);
    free(site);
    return e->status;
}

enum mkperf_status mkperf_observe(struct mkperf_recorder *r, struct mkperf_error *e)
{
    struct observing t = {.r = r, .system = mkperf_pds_system(r->pds)};
    mkperf_Observe o = mkperf_Observe_init_zero;
    const mkperf_ToHost *answer = &r->link.answer;

    MKPERF_FAIL_IF(t.system == NULL, e, MKPERF_ERR_USAGE, "-e timer: %s",
                   r->options.system != NULL
                       ? "--system is not of the image that runs"
                       : "needs --system, for the PDs with registers to read");
    /* Finds the profiler PD. Part 0 is sent twice, because the answer to the first one names that PD. */
    MKPERF_TRY(ask_part(&t, &o, e));
    MKPERF_FAIL_IF(answer->which_msg != mkperf_ToHost_observer_tag, e, MKPERF_ERR_PROTOCOL,
                   "the target does not know -e timer");
    int index = mkperf_system_pd_named(t.system, answer->msg.observer.pd);
    MKPERF_FAIL_IF(
        index < 0, e, MKPERF_ERR_USAGE,
        "--system describes another system: the target's profiler PD is \"%s\", which is not in it",
        answer->msg.observer.pd);
    t.index = (unsigned)index;
    t.profiler = &t.system->pd[index];
    t.part = 0;
    o.thread = t.profiler->thread + 2;
    /* Sends the highest priority of PDs that cannot be observed, + 1, or 0 if there is none. A virtual machine's priority is not
     * known: it may be any. */
    char text[1024] = "";
    size_t n = 0;
    for (unsigned i = 0; i < t.system->npds; i++) {
        const struct mkperf_system_pd *pd = &t.system->pd[i];
        uint32_t priority = pd->virtual_machine ? MKPERF_SYSTEM_MAX_PRIORITY
                                                : pd->scheduling.priority;
        bool hidden = i != t.index && !is_elsewhere(&t, i) && !observable(&t, i);
        if (hidden && n < sizeof text) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n != 0 ? ", " : "", pd->name);
        }
        hidden |= pd->virtual_machine && !is_elsewhere(&t, i);
        o.priority = hidden && priority + 1 > o.priority ? priority + 1 : o.priority;
    }
    MKPERF_TRY(ask_part(&t, &o, e));
    if (n != 0) {
        mkperf_peer_say(&r->link,
                        "not observed, since neither children of %s nor in its <cspace>, or "
                        "without an ELF: %s. Samples that may be theirs are marked ambiguous "
                        "(docs/stock.md)",
                        t.profiler->name, text);
    }
    for (unsigned i = 0; i < t.system->npds; i++) {
        MKPERF_TRY(observable(&t, i) ? send_pd(&t, i, e) : MKPERF_OK);
    }
    return MKPERF_OK;
}

void mkperf_observe_summary(const struct mkperf_stream *s, FILE *out)
{
    const mkperf_Attribution *a = &s->status.attribution;
    const uint64_t *n = s->totals.confidence;
    uint64_t all = n[MKPERF_PROVED] + n[MKPERF_INFERRED] + n[MKPERF_AMBIGUOUS];
    uint64_t checked = a->right + a->wrong + a->marked;

    if (all == 0) {
        return;
    }
    fprintf(out,
            "  threads %.2f %% proved, %.2f %% by priority, %.2f %% ambiguous; no kernel time, no "
            "kernel addresses\n",
            mkperf_percent(n[MKPERF_PROVED], all), mkperf_percent(n[MKPERF_INFERRED], all),
            mkperf_percent(n[MKPERF_AMBIGUOUS], all));
    if (s->has_status && checked != 0) {
        fprintf(out,
                "  checked %" PRIu64 " against the kernel: %.2f %% right, %.2f %% wrong, %.2f %% "
                "ambiguous\n",
                checked, mkperf_percent(a->right, checked), mkperf_percent(a->wrong, checked),
                mkperf_percent(a->marked, checked));
    }
    uint64_t callers = a->callers_right + a->callers_wrong + a->callers_missed;
    if (s->has_status && callers != 0) {
        fprintf(
            out,
            "  callers checked in %" PRIu64 " samples: %.2f %% right, %.2f %% wrong, %.2f %% not "
            "all inferred\n",
            callers, mkperf_percent(a->callers_right, callers),
            mkperf_percent(a->callers_wrong, callers), mkperf_percent(a->callers_missed, callers));
    }
    if (s->has_status && s->status.has_attribution) {
        double span = (double)(s->totals.last_ns - s->totals.first_ns) / 1000;
        fprintf(
            out,
            "  snapshots take the target up to %.1f us each; its profiler PD took %.2f %% of the "
            "time, which no sample shows\n",
            (double)a->cost_ns / 1000, span > 0 ? 100.0 * (double)a->spent_us / span : 0);
    }
    if (s->has_status && a->unread != 0) {
        fprintf(out,
                "  unread  %" PRIu64
                " samples without their events' counts: too long an interval\n",
                a->unread);
    }
    if (s->has_status && a->faults != 0) {
        fprintf(out, "  %" PRIu32 " children of the profiler PD faulted, and are stopped\n",
                a->faults);
    }
}
