/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording (recording.h) of scheduling events (sched_story.h). */
#ifndef MKPERF_TESTS_STORY_RECORDING_H
#define MKPERF_TESTS_STORY_RECORDING_H

#include "recording.h"
#include "sched_story.h"

/* s writes to the recording, whose platform and CPU are filled in. The test ends the story, then calls
 * recording_free. */
static inline void story_record(struct story *s, struct recording *r, const char *name,
                                struct mkperf_session *session)
{
    session->platform = "pocket";
    session->cpu = "cortex-a53";
    recording_new(r, name);
    story_begin(s, r->sink, session);
}

static inline void mark(struct story *s, uint64_t ns, enum mkperf_mark_kind kind, const char *name)
{
    const struct mkperf_mark m = {.time_ns = ns, .pd = CLIENT, .kind = kind, .name = name};

    assert_int_equal(mkperf_sink_mark(&s->sink, &m, &s->e), MKPERF_OK);
}

#endif
