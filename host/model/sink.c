/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: what a sink sees of a sample whose group rides in it, see model.h. */
#include "model.h"

/* The events that are read, as samples of their own. */
static enum mkperf_status spread(const struct mkperf_sink *sink, const struct mkperf_sample *sample,
                                 struct mkperf_error *e)
{
    struct mkperf_sample one = *sample;

    one.nreads = 0;
    one.reads = NULL;
    for (unsigned i = 0; i < sample->nreads; i++) {
        one.event = sample->reads[i].event;
        one.period = sample->reads[i].count;
        if (one.period != 0 && sink->ops->sample(sink->self, &one, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_sink_sample(const struct mkperf_sink *sink,
                                      const struct mkperf_sample *sample, struct mkperf_error *e)
{
    if (sink->ops->sample == NULL) {
        return MKPERF_OK;
    }
    if (sink->ops->sample(sink->self, sample, e) != MKPERF_OK) {
        return e->status;
    }
    return sample->nreads == 0 || sink->ops->reads ? MKPERF_OK : spread(sink, sample, e);
}
