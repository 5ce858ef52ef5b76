/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling as the Firefox Profiler's markers on each PD's track: what the PD did, and calls as flows
 * from the caller to the callee and back.
 *
 * Owns: what is a marker. A PD's states are intervals without a hole: what is between the others is one
 * of waiting. A call is an interval of the caller, one of the callee with the same flow from when it
 * ran with it, and the reply, which ends the flow.
 */
#include <inttypes.h>
#include <stdio.h>

#include "firefox.h"

enum { NAME = 32 };

static uint32_t text(struct mkperf_profile *c, const char *name)
{
    return mkperf_places_text_number(&c->places, name);
}

static void flow_name(char name[NAME], size_t call)
{
    snprintf(name, NAME, "call %zx", call + 1);
}

static const char *state_name(enum mkperf_pd_state state)
{
    return state == MKPERF_PD_CALLING ? "in a call" : mkperf_pd_state_names[state];
}

static uint32_t pd_text(const struct firefox_tables *f, uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? 0 : text(f->c, mkperf_places_pd_name(&f->c->places, pd));
}

void firefox_sched_texts(struct mkperf_profile *c)
{
    char name[NAME];

    if (!c->schedule.open) {
        return;
    }
    if (c->sched->events > 0) { /* times are relative to the first of all */
        bool other = c->samples.count + c->marks.count > 0;

        c->first_ns = other && c->first_ns < c->sched->first_ns ? c->first_ns : c->sched->first_ns;
        c->last_ns = c->last_ns > c->sched->last_ns ? c->last_ns : c->sched->last_ns;
    }
    for (unsigned i = 0; i < MKPERF_PD_STATES; i++) {
        text(c, state_name((enum mkperf_pd_state)i));
    }
    text(c, "call");
    text(c, "serve");
    text(c, "reply");
    for (uint32_t i = 0; i < c->places.npds; i++) {
        text(c, mkperf_places_pd_name(&c->places, i));
    }
    for (size_t i = 0; i < c->schedule.calls.count; i++) {
        flow_name(name, i);
        text(c, name);
    }
}

bool firefox_sched_known(const struct mkperf_profile *c, uint32_t pd)
{
    const struct mkperf_analysis *a = c->sched;

    return c->schedule.open && a->events > 0 && pd < a->npds && !a->pd[pd].idle &&
           a->pd[pd].in[MKPERF_PD_UNKNOWN] < a->last_ns - a->first_ns;
}

static void add_state(const struct firefox_tables *f, enum mkperf_pd_state state, uint64_t from,
                      uint64_t to, uint32_t by, struct firefox_markers *m)
{
    if (to > from) {
        firefox_markers_add(m, (struct firefox_marker){.phase = FIREFOX_INTERVAL,
                                                       .category = state == MKPERF_PD_RUNNING
                                                                       ? FIREFOX_USER
                                                                       : FIREFOX_OTHER,
                                                       .from_ns = from,
                                                       .to_ns = to,
                                                       .name = text(f->c, state_name(state)),
                                                       .type = "sched",
                                                       .other = pd_text(f, by)});
    }
}

static void add_states(const struct firefox_tables *f, uint32_t pd, struct firefox_markers *m)
{
    const struct mkperf_interval *i = f->c->schedule.intervals.map;
    uint64_t at = f->c->sched->first_ns;

    for (size_t k = 0; k < f->c->schedule.intervals.count; k++) {
        if (i[k].pd == pd && i[k].state != MKPERF_PD_WAITING) {
            add_state(f, MKPERF_PD_WAITING, at, i[k].from, MKPERF_SCHED_NOBODY, m);
            add_state(f, i[k].state, i[k].from, i[k].to, i[k].by, m);
            at = i[k].to;
        }
    }
    add_state(f, MKPERF_PD_WAITING, at, f->c->sched->last_ns, MKPERF_SCHED_NOBODY, m);
}

static void add_calls(const struct firefox_tables *f, uint32_t pd, struct firefox_markers *m)
{
    const struct mkperf_schedule_call *call = f->c->schedule.calls.map;
    char name[NAME];

    for (size_t k = 0; k < f->c->schedule.calls.count; k++) {
        struct firefox_marker marker = {
            .phase = FIREFOX_INTERVAL, .type = "call", .to_ns = call[k].to_ns};

        if (call[k].from != pd && call[k].to != pd) {
            continue;
        }
        flow_name(name, k);
        marker.flow = text(f->c, name);
        if (call[k].from == pd) {
            marker.from_ns = call[k].from_ns;
            marker.name = text(f->c, "call");
            marker.other = pd_text(f, call[k].to);
            firefox_markers_add(m, marker);
            marker.phase = FIREFOX_INSTANT;
            marker.type = "reply";
            marker.from_ns = call[k].to_ns;
            marker.name = text(f->c, "reply");
        } else {
            marker.from_ns = call[k].taken_ns;
            marker.name = text(f->c, "serve");
            marker.other = pd_text(f, call[k].from);
        }
        firefox_markers_add(m, marker);
    }
}

void firefox_sched_add(const struct firefox_tables *f, uint32_t pd, struct firefox_markers *m)
{
    if (firefox_sched_known(f->c, pd)) {
        add_states(f, pd, m);
        add_calls(f, pd, m);
    }
}
