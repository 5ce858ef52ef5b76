/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording that mkperf view shows.
 *
 * Owns: its profile, and the container that was made of it. The code of its functions, and scheduling in
 * a stretch of time if it is too much for a page, are asked for later.
 */
#ifndef MKPERF_HOST_VIEW_SHOWN_H
#define MKPERF_HOST_VIEW_SHOWN_H

#include "annotate/annotate.h"
#include "model/interactions.h"
#include "page/page_schedule.h"
#include "profile/frames.h"

struct view_shown {
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    struct mkperf_interactions *interactions; /* NULL: not recorded */
    struct annotate_sources sources;
    struct page_bytes data;
    struct page_schedule schedule; /* of data */
    uint64_t first_ns, last_ns;    /* the page's time */
};

/* Reads the recording at path. Free it in any case. */
enum mkperf_status view_shown_read(struct view_shown *s, const char *path,
                                   const struct mkperf_elf_search *elfs, bool speedscope,
                                   struct mkperf_error *e);
/* page_schedule_stretch of it; empty as well if the page has all of it, or from..to is not in it. */
struct page_bytes view_shown_stretch(const struct view_shown *s, uint64_t from, uint64_t to,
                                     uint64_t most);
void view_shown_free(struct view_shown *s);

#endif
