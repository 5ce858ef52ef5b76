/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshots of other threads' registers: see ticks.h.
 *
 * The host's data are trusted in one respect: the meaning of each thread's registers. Memory is
 * read only within the regions that the system description gives this PD for that.
 */
#include "ticks.h"

/* seL4's system call numbers on its MCS kernels (libsel4, sel4/arch/syscall.h). */
#define SYS_CALL UINT64_C(-1)
#define SYS_REPLY_RECV UINT64_C(-2)
#define SYS_NB_SEND_RECV UINT64_C(-3)
#define SYS_NB_SEND_WAIT UINT64_C(-4)
#define SYS_RECV UINT64_C(-7)
#define SYS_WAIT UINT64_C(-9)

struct mkperf_observation mkperf_seen;

enum { CONTEXT_WORDS = sizeof(seL4_UserContext) / sizeof(seL4_Word) };

/* Memory regions with other PDs' stacks, mapped readable: mkperf_stack1 and mkperf_stack1_bytes to
 * mkperf_stack8 and mkperf_stack8_bytes (setvar_vaddr, setvar_size). 0: none. */
#define STACKS(x) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8)
#define STACK_VARIABLES(n)     \
    uintptr_t mkperf_stack##n; \
    uintptr_t mkperf_stack##n##_bytes;
STACKS(STACK_VARIABLES)

struct region {
    const volatile uintptr_t *vaddr;
    const volatile uintptr_t *bytes;
};

#define STACK_REGION(n) {&mkperf_stack##n, &mkperf_stack##n##_bytes},
static const struct region regions[] = {STACKS(STACK_REGION)};

/* Returns whether these bytes are within a region with stacks, and aligned to words. */
static bool is_stack(uint64_t ours, uint64_t bytes)
{
    for (unsigned i = 0; ours % 8 == 0 && i < sizeof regions / sizeof *regions; i++) {
        uint64_t offset = ours - *regions[i].vaddr;
        uint64_t size = *regions[i].bytes;
        if (offset <= size && bytes <= size - offset) {
            return true;
        }
    }
    return false;
}

static bool read_registers(const struct mkperf_observed *t, seL4_UserContext *regs)
{
    seL4_CPtr tcb = BASE_TCB_CAP + t->child;

    if (t->slot != 0) {
#ifdef MICROKIT_MAX_USER_CAPS
        tcb = microkit_cspace_root_slot_to_cptr(t->slot);
#else
        return false; /* This Microkit gives PDs only their children's capabilities. */
#endif
    }
    return seL4_TCB_ReadRegisters(tcb, seL4_False, 0, CONTEXT_WORDS, regs) == 0;
}

/* Takes the lists of a part, which is about that PD. False: mkperf_refusal has the reason. */
static bool take_lists(struct mkperf_observed *t, const mkperf_Observe *part)
{
    uint64_t site = 0;

    if (part->site_count > MKPERF_ALL_SITES - mkperf_seen.all_sites) {
        return mkperf_refuse(MKPERF_RESULT_RANGE, 0, "too many system call instructions");
    }
    if (part->call_count > MKPERF_ALL_CALLS - mkperf_seen.all_calls) {
        return mkperf_refuse(MKPERF_RESULT_RANGE, 0, "too many protected calls");
    }
    for (unsigned i = 0; i < part->site_count; i++) {
        site += part->site[i];
        if (site > UINT32_MAX ||
            (t->sites != 0 && site <= mkperf_seen.site[mkperf_seen.all_sites - 1])) {
            return mkperf_refuse(MKPERF_RESULT_MALFORMED, 0,
                                 "addresses of system calls are not ascending");
        }
        mkperf_seen.site[mkperf_seen.all_sites++] = (uint32_t)site;
        t->sites++;
    }
    for (unsigned i = 0; i < part->call_count; i++) {
        mkperf_seen.call[mkperf_seen.all_calls++] = (struct mkperf_observed_call){
            .callee = mkperf_thread_from_wire(part->call[i].thread),
            .channel = part->call[i].channel,
        };
        t->calls++;
    }
    for (unsigned i = 0; i < part->stack_count; i++) {
        if (t->windows == MKPERF_OBSERVE_WINDOWS) {
            return mkperf_refuse(MKPERF_RESULT_RANGE, 0,
                                 "a PD's stacks can be in at most 2 memory regions");
        }
        if (!is_stack(part->stack[i].ours, part->stack[i].bytes)) {
            continue; /* another region that both map */
        }
        if (!MKPERF_HAS_LR) { /* The caller of a function that has no frame yet would be left out. */
            return mkperf_refuse(
                MKPERF_RESULT_RANGE, 0,
                "chains from stacks need a link register, which this architecture lacks");
        }
        t->window[t->windows++] = part->stack[i];
    }
    return true;
}

/* Adds a PD. NULL: mkperf_refusal has the reason. */
static struct mkperf_observed *add_pd(const mkperf_Observe *part)
{
    if (mkperf_seen.n == MKPERF_OBSERVED || part->child > MKPERF_MAX_CHILD_ID) {
        mkperf_refuse(MKPERF_RESULT_RANGE, 0, "child ids are 0 to 61");
        return NULL;
    }
    struct mkperf_observed *t = &mkperf_seen.thread[mkperf_seen.n];
    *t = (struct mkperf_observed){.thread = mkperf_thread_from_wire(part->thread),
                                  .child = part->child,
                                  .slot = part->slot,
                                  .first_site = mkperf_seen.all_sites,
                                  .first_call = mkperf_seen.all_calls};
    if (!read_registers(t, &t->regs)) {
        mkperf_refuse(MKPERF_RESULT_RANGE, 0,
                      "the profiler PD has no child of that id, or no such capability: is "
                      "--system this target's?");
        return NULL;
    }
    /* Only children of this PD report their faults here. Another PD may stop at any instruction
     * without this PD's knowledge, as one without a budget does. */
    mkperf_seen.evidence[mkperf_seen.n++] = (struct mkperf_evidence){
        .priority = (int32_t)part->priority, .limited = part->limited || part->slot != 0};
    return t;
}

bool mkperf_observe_reported(const mkperf_Observe *part)
{
    if (part->part == 0) {
        mkperf_seen.reported = true;
        mkperf_seen.part = 0;
        mkperf_seen.self = mkperf_thread_from_wire(part->thread);
        mkperf_seen.unobserved = (int32_t)part->priority - 1;
        mkperf_seen.n = 0;
        mkperf_seen.all_sites = 0;
        mkperf_seen.all_calls = 0;
        return true;
    }
    if (!mkperf_seen.reported) {
        return mkperf_refuse(MKPERF_RESULT_STATE, 0, "part 0 of Observe must be first");
    }
    if (part->part == mkperf_seen.part) {
        return true; /* repeated, since the answer was lost */
    }
    if (part->part != mkperf_seen.part + 1) {
        return mkperf_refuse(MKPERF_RESULT_MALFORMED, 0, "a part of Observe is missing");
    }
    mkperf_seen.part = part->part;
    struct mkperf_observed *t = mkperf_seen.n != 0 ? &mkperf_seen.thread[mkperf_seen.n - 1] : NULL;
    if (t == NULL || t->child != part->child || t->slot != part->slot) {
        t = add_pd(part);
    }
    mkperf_seen.reported = t != NULL && take_lists(t, part);
    return mkperf_seen.reported;
}

/* Returns whether one of the thread's system call instructions is at pc. */
static bool at_site(const struct mkperf_observed *t, uint64_t pc)
{
    const uint32_t *site = mkperf_seen.site + t->first_site;
    uint32_t from = 0;
    uint32_t to = t->sites;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (site[middle] < pc / MKPERF_CODE_UNIT) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < t->sites && site[from] == pc / MKPERF_CODE_UNIT;
}

static bool same_registers(const seL4_UserContext *a, const seL4_UserContext *b)
{
    const seL4_Word *x = (const seL4_Word *)a;
    const seL4_Word *y = (const seL4_Word *)b;

    for (unsigned i = 0; i < CONTEXT_WORDS; i++) {
        if (x[i] != y[i]) {
            return false;
        }
    }
    return true;
}

void mkperf_observe_look(void)
{
    static seL4_UserContext regs;

    mkperf_seen.partial = false;
    for (unsigned i = 0; i < mkperf_seen.n; i++) {
        struct mkperf_observed *t = &mkperf_seen.thread[i];
        struct mkperf_evidence *e = &mkperf_seen.evidence[i];
        if (!read_registers(t, &regs)) {
            mkperf_seen.partial = true;
            continue;
        }
        e->ran = !same_registers(&regs, &t->regs);
        e->at_call = at_site(t, regs.MKPERF_REG_PC);
        e->calls = e->at_call && regs.MKPERF_REG_CALL == SYS_CALL;
        e->waits = e->at_call &&
                   (regs.MKPERF_REG_CALL == SYS_REPLY_RECV ||
                    regs.MKPERF_REG_CALL == SYS_NB_SEND_RECV ||
                    regs.MKPERF_REG_CALL == SYS_NB_SEND_WAIT || regs.MKPERF_REG_CALL == SYS_RECV ||
                    regs.MKPERF_REG_CALL == SYS_WAIT);
        e->stopped = t->slot == 0 && (mkperf_seen.stopped >> t->child & 1);
        t->regs = regs;
    }
}

/* Returns whether the thread waits in a protected call to `callee`. Its first argument is the
 * channel's endpoint until the reply, whose badge takes its place. */
static bool calls_thread(unsigned i, uint64_t callee)
{
    const struct mkperf_observed *t = &mkperf_seen.thread[i];
    const struct mkperf_observed_call *call = mkperf_seen.call + t->first_call;

    if (!mkperf_seen.evidence[i].calls || mkperf_seen.evidence[i].stopped) {
        return false;
    }
    for (uint32_t k = 0; k < t->calls; k++) {
        if (t->regs.MKPERF_REG_CAP == BASE_ENDPOINT_CAP + (uint64_t)call[k].channel) {
            return call[k].callee == callee;
        }
    }
    return false;
}

int mkperf_observe_caller(uint64_t callee)
{
    int found = -1;

    for (unsigned i = 0; i < mkperf_seen.n && !mkperf_seen.partial; i++) {
        if (!calls_thread(i, callee)) {
            continue;
        }
        if (found >= 0) {
            return -1; /* two PDs are at calls: one is served, the other waits */
        }
        found = (int)i;
    }
    return found;
}

/* Returns the frame record at fp as this PD sees it, or NULL. */
static const volatile uint64_t *frame_record(const struct mkperf_observed *t, uint64_t fp)
{
    for (unsigned i = 0; i < t->windows; i++) {
        const mkperf_StackWindow *w = &t->window[i];
        uint64_t offset = fp - w->theirs;
        if (offset % 8 == 0 && w->bytes >= 16 && offset <= w->bytes - 16) {
            return (const volatile uint64_t *)(uintptr_t)(w->ours + offset);
        }
    }
    return NULL;
}

unsigned mkperf_observe_walk(unsigned i, uint64_t *frame, unsigned max, unsigned *flags)
{
    const struct mkperf_observed *t = &mkperf_seen.thread[i];
    uint64_t fp = t->regs.MKPERF_REG_FP;
    unsigned n = 0;

    *flags = 0;
    while (n < max && fp != 0) {
        const volatile uint64_t *record = frame_record(t, fp);
        if (record == NULL) {
            *flags = t->windows != 0 ? MKPERF_SAMPLE_BAD_FP : 0;
            return n;
        }
        uint64_t caller = record[0];
        uint64_t return_address = record[1];
        if (return_address == 0) {
            return n; /* start code: the outermost frame */
        }
        frame[n++] = return_address;
        if (caller != 0 && caller <= fp) {
            *flags = MKPERF_SAMPLE_BAD_FP;
            return n;
        }
        fp = caller;
    }
    *flags = fp != 0 ? MKPERF_SAMPLE_DEPTH_LIMIT : 0;
    return n;
}
