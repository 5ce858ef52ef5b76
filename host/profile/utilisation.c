/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see utilisation.h. */
#include "utilisation.h"

#include <stdlib.h>

#include "base/percent.h"
#include "base/xalloc.h"

static uint64_t key_of(uint32_t what, uint32_t slice)
{
    return what | (uint64_t)slice << 32;
}

static void add(struct mkperf_utilisation *u, const struct mkperf_core_interval *run,
                uint32_t slice)
{
    uint64_t core_key = key_of(run->core, slice), pd_key = key_of(run->pd, slice);
    uint64_t ns = run->to - run->from;
    uint32_t core = mkperf_hash_number(&u->cores, &core_key, 1);

    MKPERF_GROW(u->core, u->core_room, u->cores.count);
    if (run->pd == MKPERF_SCHED_NOBODY) {
        u->core[core].unknown_ns += ns;
        return;
    }
    u->core[core].known_ns += ns;
    uint32_t pd = mkperf_hash_number(&u->pds, &pd_key, 1);
    MKPERF_GROW(u->ran_ns, u->ran_room, u->pds.count);
    u->ran_ns[pd] += ns;
    if (u->on_run != NULL) {
        (void)u->on_run(u->self, run, u->failed);
    }
}

static void on_core(void *self, const struct mkperf_core_interval *i)
{
    struct mkperf_utilisation *u = self;
    const struct report_filter *f = u->filter;
    struct mkperf_core_interval run = *i;
    uint64_t quantum = u->slices->quantum_ns, to = i->to;
    uint32_t slice;

    if (!mkperf_cpu_list_has(&f->cores, i->core)) {
        return;
    }
    if (f->has_time) {
        run.from = run.from > f->from_ns ? run.from : f->from_ns;
        to = to <= f->to_ns ? to : f->to_ns + 1;
    }
    for (; run.from < to && u->failed->status == MKPERF_OK; run.from = run.to) {
        run.to = to;
        if (quantum != 0 && to - run.from > quantum - run.from % quantum) {
            run.to = run.from + quantum - run.from % quantum;
        }
        if (mkperf_time_slice(u->slices, run.from, &slice, u->failed) == MKPERF_OK) {
            add(u, &run, slice);
        }
    }
}

void mkperf_utilisation_attach(struct mkperf_utilisation *u, struct mkperf_analysis *a)
{
    mkperf_analysis_listen(a, (struct mkperf_analysis_listener){.core = on_core, .self = u});
}

void mkperf_utilisation_end(struct mkperf_utilisation *u)
{
    u->slice = mkperf_xcalloc((size_t)u->slices->numbers.count + 1, sizeof *u->slice);
    for (uint32_t i = 0; i < u->cores.count; i++) {
        uint32_t words;
        struct mkperf_core_time *to = &u->slice[*mkperf_hash_key(&u->cores, i, &words) >> 32];

        to->known_ns = u->core[i].known_ns > to->known_ns ? u->core[i].known_ns : to->known_ns;
        to->unknown_ns += u->core[i].unknown_ns;
    }
}

void mkperf_utilisation_free(struct mkperf_utilisation *u)
{
    mkperf_hash_free(&u->pds);
    mkperf_hash_free(&u->cores);
    free(u->ran_ns);
    free(u->core);
    free(u->slice);
}

bool mkperf_utilisation_of(const struct mkperf_utilisation *u, uint32_t pd, uint32_t slice,
                           double *percent, uint64_t *unknown_ns)
{
    uint64_t key = key_of(pd, slice);
    int64_t at = mkperf_hash_find(&u->pds, &key, 1);

    if (u->slice == NULL || u->slice[slice].known_ns == 0) {
        return false;
    }
    *percent = mkperf_percent(at >= 0 ? u->ran_ns[at] : 0, u->slice[slice].known_ns);
    *unknown_ns = u->slice[slice].unknown_ns;
    return true;
}
