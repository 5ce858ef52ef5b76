/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the profile and the container of a recording. See view.h. */
#include "view.h"

#include "page/page.h"

/* Copies the interactions at the end of the recording, because the reader frees them afterwards. */
static enum mkperf_status keep_interactions(void *self, struct mkperf_error *e)
{
    struct view_shown *s = self;

    (void)e;
    if (s->profile.totals.interactions != NULL) {
        s->interactions = mkperf_xcalloc(1, sizeof *s->interactions);
        *s->interactions = *s->profile.totals.interactions;
    }
    return MKPERF_OK;
}

enum mkperf_status view_shown_read(struct view_shown *s, const char *path,
                                   const struct mkperf_elf_search *elfs, bool speedscope,
                                   struct mkperf_error *e)
{
    struct page_input in;

    *s = (struct view_shown){.profile = {.cores = true,
                                         .times = true,
                                         .keep_schedule = true,
                                         .whole = keep_interactions,
                                         .self = s,
                                         .places = {.search = *elfs, .inlined = true}}};
    MKPERF_TRY(mkperf_frames_read(&s->frames, &s->profile, path, false, NULL, e));
    MKPERF_TRY(mkperf_profile_order(&s->profile, e));
    mkperf_profile_cost(&s->profile);
    in = page_input_of(&s->frames, path);
    in.interactions = s->interactions;
    in.speedscope = speedscope;
    if (in.schedule.intervals > PAGE_INTERVALS) {
        in.schedule.intervals = in.schedule.wokens = 0;
        in.schedule.kept = &s->profile.schedule;
    }
    s->schedule = in.schedule;
    page_data_span(&in, &s->first_ns, &s->last_ns);
    s->data = page_data_make(&in);
    return s->data.n > 0 ? MKPERF_OK
                         : mkperf_error_set(e, MKPERF_ERR_OUTPUT,
                                            "temporary file: cannot be read (TMPDIR names its "
                                            "directory)");
}

struct page_bytes view_shown_stretch(const struct view_shown *s, uint64_t from, uint64_t to,
                                     uint64_t most)
{
    if (s->schedule.kept == NULL || from >= to || to - 1 > s->last_ns - s->first_ns) {
        return (struct page_bytes){.n = 0};
    }
    return page_schedule_stretch(&s->schedule, s->first_ns, from, to, most);
}

void view_shown_free(struct view_shown *s)
{
    mkperf_frames_close(&s->frames);
    mkperf_profile_free(&s->profile);
    annotate_sources_free(&s->sources);
    page_bytes_free(&s->data);
    free(s->interactions);
}
