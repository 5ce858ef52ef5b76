/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: whether a recording has the PD, event, core and time that a user asks for. */
#include <stdio.h>
#include <string.h>

#include "base/guess.h"
#include "profile.h"

/* --cpu and --time that let no sample through, where there are samples. */
static enum mkperf_status check_filter(const struct mkperf_profile *p, const char *path,
                                       struct mkperf_error *e)
{
    const struct report_filter *f = &p->filter;
    uint64_t passed = 0;
    char list[MKPERF_CPU_LIST_TEXT], core[sizeof list + 4] = "", time[128] = "";

    for (unsigned i = 0; i < p->places.session.nevents; i++) {
        passed += p->total[i].samples;
    }
    if (passed != 0 || p->totals.samples == 0 || (!f->cores.given && !f->has_time)) {
        return MKPERF_OK;
    }
    if (f->cores.given) {
        snprintf(core, sizeof core, " of %s", mkperf_cpu_list_text(&f->cores, list));
    }
    if (f->has_time) {
        snprintf(time, sizeof time, " in that time (the first is at %.9f s, the last at %.9f s)",
                 (double)p->totals.first_ns / 1e9, (double)p->totals.last_ns / 1e9);
    }
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: no sample%s%s", path, core, time);
}

enum mkperf_status report_check_names(const struct mkperf_profile *p, const char *path,
                                      const char *pd, const char *event, struct mkperf_error *e)
{
    bool has_pd = !pd, has_event = !event;
    struct mkperf_guess near_pd, near_event;
    char near[MKPERF_GUESS_TEXT];

    mkperf_guess_begin(&near_pd, pd ? pd : "");
    mkperf_guess_begin(&near_event, event ? event : "");
    if (check_filter(p, path, e) != MKPERF_OK) {
        return e->status;
    }
    for (uint32_t i = 0; pd && i < p->places.npds; i++) {
        has_pd |= strcmp(pd, mkperf_profile_pd_name(p, i)) == 0;
        mkperf_guess_try(&near_pd, mkperf_profile_pd_name(p, i));
    }
    for (unsigned i = 0; event && i < p->places.session.nevents; i++) {
        has_event |= strcmp(event, p->places.session.event[i].name) == 0;
        mkperf_guess_try(&near_event, p->places.session.event[i].name);
    }
    if (!has_pd) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: no sample of a PD '%s'%s", path, pd,
                                mkperf_guess_text(&near_pd, near));
    }
    if (!has_event) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: no event '%s'%s", path, event,
                                mkperf_guess_text(&near_event, near));
    }
    return MKPERF_OK;
}
