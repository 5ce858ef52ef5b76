/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs' marks as the Firefox Profiler's markers: points, and phases from begin to end.
 *
 * Owns: which end belongs to which begin. A phase without its other half is a marker with one end.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "firefox.h"

#define OPEN UINT64_MAX
#define SKIPPED (UINT64_MAX - 1) /* an end that its begin has taken */

static const struct mkperf_profile_mark *mark(const struct firefox_tables *f, size_t i)
{
    return (const struct mkperf_profile_mark *)f->c->marks.map + i;
}

void firefox_marks_pair(struct firefox_tables *f)
{
    size_t n = f->c->marks.count;
    struct mkperf_hash phases = {.count = 0};
    uint64_t *open = mkperf_xcalloc(n, sizeof *open), *outer = mkperf_xcalloc(n, sizeof *outer);

    f->mark_end = mkperf_xcalloc(n, sizeof *f->mark_end);
    for (size_t i = 0; i < n; i++) {
        const struct mkperf_profile_mark *m = mark(f, i);
        uint64_t key[2] = {m->pd | (uint64_t)m->id << 32, m->name};
        uint32_t phase = mkperf_hash_number(&phases, key, 2);
        f->mark_end[i] = OPEN;
        if (m->kind == MKPERF_MARK_BEGIN) {
            outer[i] = open[phase]; /* the begun ones are a list, the last first; 0 ends it */
            open[phase] = i + 1;
        } else if (m->kind == MKPERF_MARK_END && open[phase] != 0) {
            size_t begin = open[phase] - 1;
            f->mark_end[begin] = m->time_ns;
            f->mark_end[i] = SKIPPED;
            open[phase] = outer[begin];
        }
    }
    mkperf_hash_free(&phases);
    free(open);
    free(outer);
}

static enum firefox_phase phase_of(const struct firefox_tables *f, size_t i)
{
    if (mark(f, i)->kind == MKPERF_MARK_POINT) {
        return FIREFOX_INSTANT;
    }
    if (f->mark_end[i] != OPEN) {
        return FIREFOX_INTERVAL;
    }
    return mark(f, i)->kind == MKPERF_MARK_BEGIN ? FIREFOX_START : FIREFOX_END;
}

void firefox_marks_add(const struct firefox_tables *f, uint32_t pd, struct firefox_markers *m)
{
    for (size_t i = 0; i < f->c->marks.count; i++) {
        if (mark(f, i)->pd == pd && f->mark_end[i] != SKIPPED) {
            enum firefox_phase phase = phase_of(f, i);

            firefox_markers_add(m, (struct firefox_marker){.phase = phase,
                                                           .from_ns = mark(f, i)->time_ns,
                                                           .to_ns = phase == FIREFOX_INTERVAL
                                                                        ? f->mark_end[i]
                                                                        : mark(f, i)->time_ns,
                                                           .name = mark(f, i)->name,
                                                           .type = "mark",
                                                           .number = mark(f, i)->id});
        }
    }
}
