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

enum phase { PHASE_INSTANT, PHASE_INTERVAL, PHASE_START, PHASE_END };

/* One column of a PD's markers. */
struct column {
    const char *name;
    void (*put)(struct firefox_tables *f, size_t i);
};

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

static enum phase phase_of(const struct firefox_tables *f, size_t i)
{
    if (mark(f, i)->kind == MKPERF_MARK_POINT) {
        return PHASE_INSTANT;
    }
    if (f->mark_end[i] != OPEN) {
        return PHASE_INTERVAL;
    }
    return mark(f, i)->kind == MKPERF_MARK_BEGIN ? PHASE_START : PHASE_END;
}

static void put_data(struct firefox_tables *f, size_t i)
{
    mkperf_textout_printf(f->t, "{\"type\":\"mark\",\"id\":%u}", mark(f, i)->id);
}

static void put_name(struct firefox_tables *f, size_t i)
{
    mkperf_textout_u64(f->t, firefox_tables_text(f, mark(f, i)->name));
}

static void put_time(struct firefox_tables *f, uint64_t ns)
{
    mkperf_textout_ms(f->t, ns - f->c->first_ns);
}

static void put_start(struct firefox_tables *f, size_t i)
{
    if (phase_of(f, i) == PHASE_END) {
        mkperf_textout_puts(f->t, "null");
    } else {
        put_time(f, mark(f, i)->time_ns);
    }
}

static void put_end(struct firefox_tables *f, size_t i)
{
    enum phase phase = phase_of(f, i);

    if (phase == PHASE_INTERVAL) {
        put_time(f, f->mark_end[i]);
    } else if (phase == PHASE_END) {
        put_time(f, mark(f, i)->time_ns);
    } else {
        mkperf_textout_puts(f->t, "null");
    }
}

static void put_phase(struct firefox_tables *f, size_t i)
{
    mkperf_textout_u64(f->t, phase_of(f, i));
}

static void put_category(struct firefox_tables *f, size_t i)
{
    (void)i;
    mkperf_textout_put(f->t, "0", 1);
}

void firefox_marks_put(struct firefox_tables *f, uint32_t pd)
{
    static const struct column columns[] = {
        {"data", put_data},   {"name", put_name},   {"startTime", put_start},
        {"endTime", put_end}, {"phase", put_phase}, {"category", put_category},
    };
    unsigned n = 0;

    mkperf_textout_puts(f->t, "\"markers\":{");
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        mkperf_textout_printf(f->t, "\"%s\":[", columns[k].name);
        n = 0;
        for (size_t i = 0; i < f->c->marks.count; i++) {
            if (mark(f, i)->pd == pd && f->mark_end[i] != SKIPPED) {
                mkperf_textout_put(f->t, ",", n++ > 0);
                columns[k].put(f, i);
            }
        }
        mkperf_textout_puts(f->t, "],");
    }
    mkperf_textout_printf(f->t, "\"length\":%u},\n", n);
}
