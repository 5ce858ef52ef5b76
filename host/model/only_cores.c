/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see only_cores.h. */
#include "only_cores.h"

#include "cores.h"

static enum mkperf_status begin(void *self, const struct mkperf_session *session,
                                struct mkperf_error *e)
{
    const struct mkperf_only_cores *o = self;
    struct mkperf_session s = *session;

    s.core_mask = mkperf_session_cores(session) & (uint32_t)o->cores.bits[0];
    return mkperf_sink_begin(&o->to, &s, e);
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct mkperf_only_cores *o = self;

    if (!mkperf_cpu_list_has(&o->cores, s->core)) {
        return MKPERF_OK;
    }
    o->samples++;
    return mkperf_sink_sample(&o->to, s, e);
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    struct mkperf_only_cores *o = self;

    if (l->core != MKPERF_CORE_UNKNOWN && !mkperf_cpu_list_has(&o->cores, l->core)) {
        o->dropped_lost[l->where] += l->samples;
        return MKPERF_OK;
    }
    return mkperf_sink_lost(&o->to, l, e);
}

static enum mkperf_status add_sched(void *self, const struct mkperf_sched *s,
                                    struct mkperf_error *e)
{
    const struct mkperf_only_cores *o = self;

    return mkperf_cpu_list_has(&o->cores, s->core) ? mkperf_sink_sched(&o->to, s, e) : MKPERF_OK;
}

static enum mkperf_status end(void *self, const struct mkperf_totals *totals,
                              struct mkperf_error *e)
{
    const struct mkperf_only_cores *o = self;
    struct mkperf_totals t = *totals;

    t.samples = o->samples;
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        t.lost[i] -= o->dropped_lost[i] < t.lost[i] ? o->dropped_lost[i] : t.lost[i];
    }
    for (unsigned i = 0; i < t.ncores; i++) {
        if (!mkperf_cpu_list_has(&o->cores, i)) {
            t.core[i] = (struct mkperf_core){.samples = 0};
        }
    }
    return mkperf_sink_end(&o->to, &t, e);
}

struct mkperf_sink mkperf_only_cores_sink(struct mkperf_only_cores *o)
{
    static const struct mkperf_sink_ops ops = {
        .name = "cores",
        .reads = true,
        .relays = true,
        .begin = begin,
        .sample = add_sample,
        .sched = add_sched,
        .lost = add_lost,
        .end = end,
    };

    return o->cores.given ? (struct mkperf_sink){.ops = &ops, .self = o, .every_pd = o->to.every_pd}
                          : o->to;
}
