/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see streamed.h. */
#include "streamed.h"

#include <stdlib.h>

#include "base/xalloc.h"

enum mkperf_status mkperf_streamed_pd(void *self, const struct mkperf_pd *pd,
                                      struct mkperf_error *e)
{
    struct mkperf_streamed *s = self;

    return mkperf_places_pd(&s->places, pd, e);
}

uint32_t mkperf_streamed_sample(struct mkperf_streamed *s, const struct mkperf_sample *sample,
                                uint32_t place[MKPERF_PLACES_MAX])
{
    uint32_t n = mkperf_places_of(&s->places, sample, place);

    mkperf_cost_add(&s->cost, &s->places, sample->event, sample->pd, place[0], sample->period);
    for (unsigned i = 0; i < sample->nreads; i++) {
        mkperf_cost_add(&s->cost, &s->places, sample->reads[i].event, sample->pd, place[0],
                        sample->reads[i].count);
    }
    return n;
}

enum mkperf_status mkperf_streamed_status(const struct mkperf_streamed *s, struct mkperf_error *e)
{
    if (s->text.error.status == MKPERF_OK) {
        return MKPERF_OK;
    }
    *e = s->text.error;
    return e->status;
}

enum mkperf_status mkperf_streamed_finish(struct mkperf_streamed *s, struct mkperf_error *e)
{
    if (s->export.warnings != NULL) {
        mkperf_places_warn(&s->places, s->export.warnings, "mkperf");
    }
    return mkperf_textout_finish(&s->text, e);
}

void mkperf_streamed_abandon(void *self)
{
    struct mkperf_streamed *s = self;

    mkperf_textout_discard(&s->text);
}

static void streamed_free(void *self)
{
    struct mkperf_streamed *s = self;

    mkperf_textout_discard(&s->text);
    mkperf_places_free(&s->places);
    free(s);
}

enum mkperf_status mkperf_streamed_open(const struct mkperf_export *x, size_t size,
                                        const struct mkperf_sink_ops *ops,
                                        struct mkperf_output *out, struct mkperf_error *e)
{
    struct mkperf_streamed *s = mkperf_xcalloc(1, size);

    s->export = *x;
    s->places.search = x->elfs;
    s->places.inlined = !x->no_inlined;
    if (mkperf_textout_open(&s->text, x->path, e) != MKPERF_OK) {
        free(s);
        return e->status;
    }
    *out =
        (struct mkperf_output){.sink = {.ops = ops, .self = s}, .free = streamed_free, .self = s};
    return MKPERF_OK;
}
