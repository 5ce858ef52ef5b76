/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording that mkperf view shows.
 *
 * Owns: its profile, and the container that was made of it. The code of its functions is asked for
 * later.
 */
#ifndef MKPERF_HOST_VIEW_SHOWN_H
#define MKPERF_HOST_VIEW_SHOWN_H

#include "annotate/source_text.h"
#include "model/interactions.h"
#include "page/container.h"
#include "profile/frames.h"

struct view_shown {
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    struct mkperf_interactions *interactions; /* NULL: not recorded */
    struct annotate_sources sources;
    struct page_bytes data;
};

/* Reads the recording at path. Free it in any case. */
enum mkperf_status view_shown_read(struct view_shown *s, const char *path,
                                   const struct mkperf_elf_search *elfs, bool speedscope,
                                   struct mkperf_error *e);
void view_shown_free(struct view_shown *s);

#endif
