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

/* A kernel that was interrupted in its own work has kernel callers, see model.h. */
static void put_kernel_chain(struct mkperf_put *c, const struct mkperf_sample *s)
{
    mkperf_put64(c, PERF_CONTEXT_KERNEL);
    mkperf_put64(c, kernel_address(s->kernel_pc));
    for (unsigned i = 0; s->flags & MKPERF_SAMPLE_NO_USER && i < s->callers->n; i++) {
        mkperf_put64(c, kernel_address(s->callers->caller[i].addr));
    }
}

static void put_user_chain(struct mkperf_put *c, const struct mkperf_sample *s)
{
    const struct mkperf_chain *callers = s->callers;

    mkperf_put64(c, PERF_CONTEXT_USER);
    mkperf_put64(c, mkperf_perfdata_slid(s->pd, s->pc));
    for (unsigned i = 0; i < callers->n; i++) {
        mkperf_put64(c, mkperf_perfdata_slid(callers->caller[i].pd, callers->caller[i].addr));
    }
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

static size_t sample_size(const struct mkperf_perfdata *w, const struct mkperf_sample *s,
                          unsigned group)
{
    size_t words = 1 + 6; /* header; identifier, ip, tid, time, cpu, period */

    words += group != 0 ? 1 + 2 * (size_t)group : 0;
    if (w->chains[s->event]) {
        words += 1 + (s->flags & MKPERF_SAMPLE_KERNEL ? 2 : 0) +
                 (s->flags & MKPERF_SAMPLE_NO_USER ? 0 : 2) +
                 (s->flags & MKPERF_SAMPLE_KERNEL || !(s->flags & MKPERF_SAMPLE_NO_USER)
                      ? s->callers->n
                      : 0);
    }
    return 8 * words;
}

enum mkperf_status perfdata_sample_add(struct mkperf_perfdata *w, const struct mkperf_sample *s,
                                       struct mkperf_error *e)
{
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL;
    unsigned group = group_size(w, s->event);
    size_t n = sample_size(w, s, group);
    struct mkperf_put c = {mkperf_outfile_reserve(&w->out, n, e)};

    if (c.p == NULL) {
        return e->status;
    }
    perfdata_record(&c, PERF_RECORD_SAMPLE,
                    kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, n);
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
        mkperf_put64(&c, n / 8 - 8 - (group != 0 ? 1 + 2 * (size_t)group : 0));
        if (kernel) {
            put_kernel_chain(&c, s);
        }
        if (!(s->flags & MKPERF_SAMPLE_NO_USER)) {
            put_user_chain(&c, s);
        }
    }
    mkperf_outfile_commit(&w->out, n);
    return MKPERF_OK;
}
