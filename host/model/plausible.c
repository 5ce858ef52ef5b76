/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the counts of doubtful samples by PD, and a cache of answers, because addresses recur. See relays.h. */
#include "relays.h"

enum { CACHE = 4096 }; /* entries, direct mapped; a power of two */

struct counts {
    uint64_t samples, doubtful, outside, no_call;
};

struct pd {
    char *name;
    struct mkperf_module *module; /* NULL: nothing can be checked */
    struct counts counts;
};

struct answer {
    const struct mkperf_module *module;
    uint64_t addr;
    bool is_return, good;
};

struct mkperf_plausible {
    struct mkperf_sink to; /* first: it relays */
    struct mkperf_symbols *symbols, *own;
    struct mkperf_module *kernel;
    struct counts kernel_counts;
    uint32_t npds, pd_room;
    struct pd *pd;
    struct answer cache[CACHE];
    unsigned nsuspects;
    struct mkperf_suspect suspect[MKPERF_SUSPECTS];
};

struct mkperf_plausible *mkperf_plausible_new(struct mkperf_sink to, struct mkperf_symbols *symbols)
{
    struct mkperf_plausible *p = mkperf_xcalloc(1, sizeof *p);

    p->to = to;
    p->own = symbols == NULL ? mkperf_symbols_new() : NULL;
    p->symbols = symbols != NULL ? symbols : p->own;
    return p;
}

void mkperf_plausible_free(struct mkperf_plausible *p)
{
    if (p == NULL) {
        return;
    }
    for (uint32_t i = 0; i < p->npds; i++) {
        free(p->pd[i].name);
    }
    free(p->pd);
    mkperf_symbols_free(p->own);
    free(p);
}

static struct mkperf_module *open_module(struct mkperf_plausible *p, const char *elf,
                                         const struct mkperf_build_id *id)
{
    struct mkperf_module *module = NULL;
    struct mkperf_error e;

    if (elf != NULL) { /* an error is reported where names are looked up */
        (void)mkperf_symbols_recorded(p->symbols, elf, id, &module, &e);
    }
    return module;
}

static enum mkperf_status on_begin(void *self, const struct mkperf_session *session,
                                   struct mkperf_error *e)
{
    struct mkperf_plausible *p = self;

    mkperf_symbols_expect(p->symbols, session->arch);
    p->kernel = open_module(p, session->kernel_elf, &session->kernel_build_id);
    return mkperf_sink_begin(&p->to, session, e);
}

static enum mkperf_status on_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_plausible *p = self;

    if (pd->id >= p->npds) {
        MKPERF_GROW(p->pd, p->pd_room, (size_t)pd->id + 1);
        p->npds = pd->id + 1;
    }
    if (p->pd[pd->id].name == NULL) {
        p->pd[pd->id].name = mkperf_xstrdup(pd->name);
        p->pd[pd->id].module = open_module(p, pd->elf, &pd->build_id);
    }
    return mkperf_sink_pd(&p->to, pd, e);
}

/* Whether the address can be what it should be: code, or the end of a call. A return address may be behind its function if
 * the last call of that never returns. */
static bool is_good(struct mkperf_plausible *p, struct mkperf_module *m, uint64_t addr,
                    bool is_return)
{
    struct answer *a = &p->cache[(addr >> 1 ^ addr >> 13 ^ (uintptr_t)m >> 6 ^ is_return) % CACHE];

    if (a->module != m || a->addr != addr || a->is_return != is_return) {
        bool answer = is_return ? mkperf_module_follows_call(m, addr)
                                : mkperf_module_is_code(m, addr);
        *a = (struct answer){.module = m, .addr = addr, .is_return = is_return, .good = answer};
    }
    return a->good;
}

/* Counts a sample with its pc, and with its callers if they belong to the same code. */
static void check_sample(struct mkperf_plausible *p, struct mkperf_module *m, struct counts *counts,
                         const struct mkperf_sample *s, uint64_t pc, bool callers)
{
    bool outside = !is_good(p, m, pc, false), no_call = false;

    for (unsigned i = 0; callers && i < s->callers->n && !no_call; i++) {
        const struct mkperf_caller *c = &s->callers->caller[i];
        bool again = i == 0 && c->addr == pc; /* the pc is in the chains of some tools, too */
        no_call = c->pd == s->pd && !again && !is_good(p, m, c->addr, true);
    }
    counts->samples++;
    counts->outside += outside;
    counts->no_call += no_call;
    counts->doubtful += outside || no_call;
}

static enum mkperf_status on_sample(void *self, const struct mkperf_sample *s,
                                    struct mkperf_error *e)
{
    struct mkperf_plausible *p = self;
    struct pd *pd = s->pd < p->npds ? &p->pd[s->pd] : NULL;
    bool no_user = s->flags & MKPERF_SAMPLE_NO_USER;

    if (p->kernel != NULL && s->flags & MKPERF_SAMPLE_KERNEL && s->kernel_pc != 0) {
        check_sample(p, p->kernel, &p->kernel_counts, s, s->kernel_pc, no_user);
    }
    if (pd != NULL && pd->module != NULL && !no_user && !(s->flags & MKPERF_GUEST_MASK)) {
        check_sample(p, pd->module, &pd->counts, s, s->pc, true);
    }
    return mkperf_sink_sample(&p->to, s, e);
}

/* Adds a suspect in the order of doubtful samples. If there are too many, those with the fewest are dropped. */
static void add_suspect(struct mkperf_plausible *p, uint32_t pd, const struct counts *c)
{
    struct mkperf_suspect new = {.pd = pd,
                                 .samples = c->samples,
                                 .doubtful = c->doubtful,
                                 .outside = c->outside,
                                 .no_call = c->no_call};
    unsigned at = p->nsuspects;

    if (c->doubtful < MKPERF_SUSPECT_LEAST || c->doubtful <= c->samples / 100) {
        return;
    }
    if (p->nsuspects < MKPERF_SUSPECTS) {
        p->nsuspects++;
    } else if (p->suspect[--at].doubtful >= new.doubtful) {
        return;
    }
    for (; at > 0 && p->suspect[at - 1].doubtful < new.doubtful; at--) {
        p->suspect[at] = p->suspect[at - 1];
    }
    p->suspect[at] = new;
}

static enum mkperf_status on_end(void *self, const struct mkperf_totals *totals,
                                 struct mkperf_error *e)
{
    struct mkperf_plausible *p = self;
    struct mkperf_totals more = *totals;

    for (uint32_t i = 0; i < p->npds; i++) {
        add_suspect(p, i, &p->pd[i].counts);
    }
    add_suspect(p, MKPERF_SUSPECT_KERNEL, &p->kernel_counts);
    more.nsuspects = p->nsuspects;
    memcpy(more.suspect, p->suspect, sizeof more.suspect);
    return mkperf_sink_end(&p->to, &more, e);
}

struct mkperf_sink mkperf_plausible_sink(struct mkperf_plausible *p)
{
    static const struct mkperf_sink_ops ops = {
        .name = "plausible",
        .reads = true,
        .relays = true,
        .begin = on_begin,
        .pd = on_pd,
        .sample = on_sample,
        .end = on_end,
    };

    return (struct mkperf_sink){.ops = &ops, .self = p, .leaves_only = p->to.leaves_only};
}

unsigned mkperf_plausible_suspects(const struct mkperf_plausible *p)
{
    return p->nsuspects;
}

const char *mkperf_suspect_text(const struct mkperf_suspect *s, const char *name, char *text,
                                size_t n)
{
    snprintf(text, n,
             "%s: %" PRIu64 " of %" PRIu64 " samples cannot be of its ELF (%" PRIu64
             " where it has no code, %" PRIu64 " with a return address that follows no call)%s",
             name, s->doubtful, s->samples, s->outside, s->no_call,
             s->no_call > s->outside ? ": another program or build ran, or it has no frame pointers"
                                     : ": another program or build ran");
    return text;
}

const char *mkperf_plausible_text(const struct mkperf_plausible *p, unsigned i, char *text,
                                  size_t n)
{
    const struct mkperf_suspect *s = &p->suspect[i];
    const char *name = s->pd < p->npds ? p->pd[s->pd].name : NULL;

    return mkperf_suspect_text(s,
                               s->pd == MKPERF_SUSPECT_KERNEL ? "kernel"
                               : name != NULL                 ? name
                                                              : "?",
                               text, n);
}
