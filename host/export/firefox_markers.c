/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's markers in the Firefox Profiler's format.
 *
 * Owns: their columns. What they are is firefox_marks.c's and firefox_sched.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "firefox.h"
#include "model/figures.h"

struct column {
    const char *name;
    void (*put)(struct firefox_tables *f, const struct firefox_marker *m);
};

void firefox_markers_add(struct firefox_markers *m, struct firefox_marker marker)
{
    MKPERF_GROW(m->marker, m->room, m->n + 1);
    m->marker[m->n++] = marker;
}

static void put_lost(struct firefox_tables *f, const struct mkperf_lost *lost)
{
    mkperf_textout_printf(f->t, ",\"where\":\"%s\"", mkperf_loss_places[lost->where].key);
    if (lost->core != MKPERF_CORE_UNKNOWN) {
        mkperf_textout_printf(f->t, ",\"core\":%u", lost->core);
    }
    mkperf_textout_puts(f->t, ",\"samples\":");
    mkperf_textout_u64(f->t, lost->samples);
    mkperf_textout_puts(f->t, ",\"events\":");
    mkperf_textout_u64(f->t, lost->events);
}

static void put_data(struct firefox_tables *f, const struct firefox_marker *m)
{
    mkperf_textout_printf(f->t, "{\"type\":\"%s\"", m->type);
    if (m->lost != NULL) {
        put_lost(f, m->lost);
    } else if (strcmp(m->type, "mark") == 0) {
        mkperf_textout_printf(f->t, ",\"id\":%u", m->number);
    } else {
        mkperf_textout_puts(f->t, strcmp(m->type, "sched") == 0 ? ",\"by\":" : ",\"pd\":");
        mkperf_textout_u64(f->t, firefox_tables_text(f, m->other));
    }
    if (m->flow != 0) {
        mkperf_textout_puts(f->t, ",\"flow\":");
        mkperf_textout_u64(f->t, firefox_tables_text(f, m->flow));
    }
    mkperf_textout_put(f->t, "}", 1);
}

static void put_name(struct firefox_tables *f, const struct firefox_marker *m)
{
    mkperf_textout_u64(f->t, firefox_tables_text(f, m->name));
}

static void put_time(struct firefox_tables *f, uint64_t ns)
{
    mkperf_textout_ms(f->t, ns - f->c->first_ns);
}

static void put_start(struct firefox_tables *f, const struct firefox_marker *m)
{
    if (m->phase == FIREFOX_END) {
        mkperf_textout_puts(f->t, "null");
    } else {
        put_time(f, m->from_ns);
    }
}

static void put_end(struct firefox_tables *f, const struct firefox_marker *m)
{
    if (m->phase == FIREFOX_INTERVAL || m->phase == FIREFOX_END) {
        put_time(f, m->to_ns);
    } else {
        mkperf_textout_puts(f->t, "null");
    }
}

static void put_phase(struct firefox_tables *f, const struct firefox_marker *m)
{
    mkperf_textout_u64(f->t, m->phase);
}

static void put_category(struct firefox_tables *f, const struct firefox_marker *m)
{
    mkperf_textout_u64(f->t, m->category);
}

static void put_all(struct firefox_tables *f, struct firefox_markers *m)
{
    static const struct column columns[] = {
        {"data", put_data},   {"name", put_name},   {"startTime", put_start},
        {"endTime", put_end}, {"phase", put_phase}, {"category", put_category},
    };

    mkperf_textout_puts(f->t, "\"markers\":{");
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        mkperf_textout_printf(f->t, "\"%s\":[", columns[k].name);
        for (size_t i = 0; i < m->n; i++) {
            mkperf_textout_put(f->t, ",", i > 0);
            columns[k].put(f, &m->marker[i]);
        }
        mkperf_textout_puts(f->t, "],");
    }
    mkperf_textout_printf(f->t, "\"length\":%zu},\n", m->n);
    free(m->marker);
}

void firefox_markers_put(struct firefox_tables *f, uint32_t pd)
{
    struct firefox_markers m = {.n = 0};

    firefox_marks_add(f, pd, &m);
    firefox_sched_add(f, pd, &m);
    put_all(f, &m);
}

void firefox_markers_put_lost(struct firefox_tables *f)
{
    const struct mkperf_lost *lost = f->c->losses.map;
    struct firefox_markers m = {.n = 0};

    for (size_t i = 0; i < f->c->losses.count; i++) {
        uint64_t at = lost[i].time_ns > f->c->first_ns ? lost[i].time_ns : f->c->first_ns;

        firefox_markers_add(&m, (struct firefox_marker){
                                    .phase = FIREFOX_INSTANT,
                                    .from_ns = at,
                                    .name = mkperf_places_text_number(&f->c->places, FIREFOX_LOST),
                                    .type = "lost",
                                    .lost = &lost[i]});
    }
    put_all(f, &m);
}
