/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data reader on any bytes. Its sink checks that the model's promises hold: events and PDs
 * are announced, chains are within their bound.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/reader.h"

struct seen {
    unsigned nevents;
    uint32_t npds;
    bool began;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

static enum mkperf_status begin(void *self, const struct mkperf_session *s, struct mkperf_error *e)
{
    struct seen *seen = self;

    (void)e;
    require(!seen->began && s->nevents >= 1 && s->nevents <= MKPERF_MODEL_EVENTS);
    require(s->platform && s->cpu);
    seen->began = true;
    seen->nevents = s->nevents;
    return MKPERF_OK;
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct seen *seen = self;

    (void)e;
    require(seen->began && pd->name);
    if (pd->id >= seen->npds) {
        seen->npds = pd->id + 1;
    }
    return MKPERF_OK;
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct seen *seen = self;

    (void)e;
    require(s->event < seen->nevents && s->pd < seen->npds);
    require(s->callers->n <= MKPERF_MAX_FRAMES + 1);
    for (unsigned i = 0; i < s->callers->n; i++) {
        require(s->callers->caller[i].pd < seen->npds);
    }
    return MKPERF_OK;
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *s,
                                     struct mkperf_error *e)
{
    struct seen *seen = self;

    (void)e;
    require(seen->began && s->nevents > seen->nevents && s->nevents <= MKPERF_MODEL_EVENTS);
    seen->nevents = s->nevents;
    return MKPERF_OK;
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct seen *seen = self;

    (void)e;
    require(seen->began && m->pd < seen->npds && m->kind <= MKPERF_MARK_END);
    require(strlen(m->name) < 256);
    return MKPERF_OK;
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    (void)e;
    require(((struct seen *)self)->began && l->where < MKPERF_LOST_PLACES);
    return MKPERF_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mkperf_sink_ops ops = {.name = "fuzz",
                                               .begin = begin,
                                               .pd = add_pd,
                                               .events = add_events,
                                               .sample = add_sample,
                                               .mark = add_mark,
                                               .lost = add_lost};
    struct seen seen = {.began = false};
    struct mkperf_sink sink = {.ops = &ops, .self = &seen};
    struct mkperf_error e = {.status = MKPERF_OK};
    enum mkperf_status status = mkperf_perfdata_read_memory("fuzz", data, size, &sink, &e);

    require(status == MKPERF_OK || (status == MKPERF_ERR_INPUT && strstr(e.text, "offset")));
    return 0;
}
