/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample's record in perf.data: fields, counts of its group, callchain.
 *
 * Owns: its layout. Called by the writer, when everything that the sample names is in the file.
 */
#include "writer_internal.h"

static uint64_t kernel_address(uint64_t addr)
{
    return addr >= (uint64_t)-4096 ? 0 : addr; /* would be taken for a context marker */
}

/* The number of words of the callchain, then these. */
static void put_chain(struct mkperf_put *c, const struct mkperf_sample *s)
{
    const struct mkperf_chain *callers = s->callers;
    bool user = !(s->flags & MKPERF_SAMPLE_NO_USER);
    struct mkperf_put count = *c;

    c->p += 8;
    if (s->flags & MKPERF_SAMPLE_KERNEL) {
        mkperf_put64(c, PERF_CONTEXT_KERNEL);
        mkperf_put64(c, kernel_address(s->kernel_pc));
        /* A kernel that was interrupted in its own work has kernel callers, see model.h. */
        for (unsigned i = 0; !user && i < callers->n; i++) {
            mkperf_put64(c, kernel_address(callers->caller[i].addr));
        }
    }
    if (user) {
        mkperf_put64(c, PERF_CONTEXT_USER);
        mkperf_put64(c, mkperf_perfdata_slid(s->pd, s->pc));
        for (unsigned i = 0; i < callers->n; i++) {
            mkperf_put64(c, mkperf_perfdata_slid(callers->caller[i].pd, callers->caller[i].addr));
        }
    }
    mkperf_put64(&count, (uint64_t)(c->p - count.p) / 8 - 1);
}

/* Events of the sample's group, 0 if they are not read in its samples. */
static unsigned group_size(const struct mkperf_perfdata *w, unsigned event)
{
    unsigned leader, n = 0;

    for (unsigned i = event;
         i < w->session.nevents && perfdata_is_read(&w->session, i, &leader) && leader == event;
         i++) {
        n++;
    }
    return n;
}

/* The group's counts until now, from the first sample on: perf takes the differences. */
static void put_group(struct mkperf_perfdata *w, struct mkperf_put *c,
                      const struct mkperf_sample *s, unsigned n)
{
    w->count[s->event] += s->period;
    for (unsigned i = 0; i < s->nreads; i++) {
        w->count[s->reads[i].event] += s->reads[i].count;
    }
    mkperf_put64(c, n);
    for (unsigned i = s->event; i < s->event + n; i++) {
        mkperf_put64(c, w->count[i]);
        mkperf_put64(c, i + 1);
    }
}

enum mkperf_status perfdata_sample_add(struct mkperf_perfdata *w, const struct mkperf_sample *s,
                                       struct mkperf_error *e)
{
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL;
    unsigned group = group_size(w, s->event);
    struct mkperf_put c = perfdata_begin(
        &w->out, PERF_RECORD_SAMPLE, kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, e);

    if (c.p == NULL) {
        return e->status;
    }
    mkperf_put64(&c, s->event + 1);
    mkperf_put64(&c, kernel ? kernel_address(s->kernel_pc) : mkperf_perfdata_slid(s->pd, s->pc));
    mkperf_put32(&c, s->pd + 1);
    mkperf_put32(&c, s->pd + 1);
    mkperf_put64(&c, s->time_ns);
    mkperf_put64(&c, s->core);
    mkperf_put64(&c, s->period);
    if (group != 0) {
        put_group(w, &c, s, group);
    }
    if (w->chains[s->event]) {
        put_chain(&c, s);
    }
    return perfdata_end(&w->out, c);
}
