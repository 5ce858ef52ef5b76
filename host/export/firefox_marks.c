/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs' marks as the Firefox Profiler's markers: points, and phases from begin to end.
 *
 * Owns: the kinds of markers. A phase without its other half is a marker with one end.
 */
#include "base/xalloc.h"
#include "firefox.h"
#include "model/marks.h"

#define OPEN UINT64_MAX
#define SKIPPED (UINT64_MAX - 1) /* an end that its begin has taken */

static const struct mkperf_profile_mark *mark(const struct firefox_tables *f, size_t i)
{
    return (const struct mkperf_profile_mark *)f->c->marks.map + i;
}

void firefox_marks_pair(struct firefox_tables *f)
{
    size_t n = f->c->marks.count;
    struct mkperf_marks marks = {.nbegun = 0};

    f->mark_end = mkperf_xcalloc(n, sizeof *f->mark_end);
    for (size_t i = 0; i < n; i++) {
        const struct mkperf_profile_mark *m = mark(f, i);
        struct mkperf_phase phase = {.pd = m->pd, .id = m->id, .name = m->name};
        struct mkperf_phase_begin begin = {.time_ns = m->time_ns, .tag = i};
        f->mark_end[i] = OPEN;
        if (m->kind == MKPERF_MARK_BEGIN) {
            mkperf_marks_begin(&marks, &phase, &begin);
        } else if (m->kind == MKPERF_MARK_END && mkperf_marks_end(&marks, &phase, &begin)) {
            f->mark_end[begin.tag] = m->time_ns;
            f->mark_end[i] = SKIPPED;
        }
    }
    mkperf_marks_free(&marks);
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
