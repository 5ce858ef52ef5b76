/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see path_choice.h. */
#include "path_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDED_NS = 1000 }; /* times in tables are rounded to it */

static bool cut(char out[MKPERF_MODEL_NAME], const char *text, size_t n)
{
    if (n == 0 || n >= MKPERF_MODEL_NAME) {
        return false;
    }
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

enum mkperf_status mkperf_path_choice_parse(struct mkperf_path_choice *c, const char *text,
                                            struct mkperf_error *e)
{
    const char *dots = text != NULL ? strstr(text, "..") : NULL;
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    bool valid = true;

    if (text == NULL) {
        c->kind = MKPERF_PATH_CALL;
    } else if (dots != NULL) {
        c->kind = MKPERF_PATH_MARKS;
        valid = cut(c->first, text, (size_t)(dots - text)) &&
                cut(c->second, dots + 2, strlen(dots + 2));
    } else if (colon != NULL) {
        c->kind = MKPERF_PATH_CALL;
        valid = cut(c->first, text, (size_t)(colon - text)) &&
                cut(c->second, colon + 1, strlen(colon + 1));
    } else {
        c->kind = MKPERF_PATH_PHASE;
        valid = cut(c->first, text, strlen(text));
    }
    return valid ? MKPERF_OK
                 : mkperf_error_set(e, MKPERF_ERR_USAGE,
                                    "--critical-path: '%s' is neither FROM:TO (PDs) nor "
                                    "MARK..MARK nor the name of a phase",
                                    text);
}

static void offer(struct mkperf_path_choice *c, uint32_t pd, uint32_t caller, uint64_t from,
                  uint64_t to)
{
    bool fits = !c->has_at || (from <= c->at_ns + ROUNDED_NS && c->at_ns <= to + ROUNDED_NS);

    c->candidates++;
    if (to > from && fits && (!c->found || to - from > c->to_ns - c->from_ns)) {
        c->found = true;
        c->pd = pd;
        c->caller = caller;
        c->from_ns = from;
        c->to_ns = to;
    }
}

static void on_call(void *self, uint32_t from, const struct mkperf_call *call, uint64_t end)
{
    struct mkperf_path_choice *c = self;

    if (c->first[0] == '\0' ||
        (strcmp(mkperf_analysis_name(c->analysis, from), c->first) == 0 &&
         strcmp(mkperf_analysis_name(c->analysis, call->to), c->second) == 0)) {
        offer(c, call->to, from, call->start, end);
    }
}

static void add_phase(struct mkperf_path_choice *c, const struct mkperf_mark *m)
{
    struct mkperf_phase phase = {.pd = m->pd, .id = m->id};
    struct mkperf_phase_begin begin = {.time_ns = m->time_ns};

    if (m->kind == MKPERF_MARK_BEGIN) {
        mkperf_marks_begin(&c->phases, &phase, &begin);
    } else if (m->kind == MKPERF_MARK_END && mkperf_marks_end(&c->phases, &phase, &begin)) {
        offer(c, m->pd, MKPERF_SCHED_NOBODY, begin.time_ns, m->time_ns);
    }
}

static enum mkperf_status on_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct mkperf_path_choice *c = self;

    if (c->kind == MKPERF_PATH_PHASE && strcmp(m->name, c->first) == 0) {
        add_phase(c, m);
    } else if (c->kind == MKPERF_PATH_MARKS && c->marked && strcmp(m->name, c->second) == 0 &&
               m->time_ns > c->mark_ns) {
        offer(c, m->pd, MKPERF_SCHED_NOBODY, c->mark_ns, m->time_ns);
        c->marked = false;
    }
    if (c->kind == MKPERF_PATH_MARKS && strcmp(m->name, c->first) == 0) {
        c->marked = true;
        c->mark_ns = m->time_ns;
    }
    return mkperf_sink_mark(&c->to, m, e);
}

struct mkperf_sink mkperf_path_choice_sink(struct mkperf_path_choice *c)
{
    static const struct mkperf_sink_ops ops = {
        .name = "critical path",
        .reads = true,
        .relays = true,
        .mark = on_mark,
    };

    c->to = mkperf_analysis_sink(c->analysis);
    if (c->kind == MKPERF_PATH_CALL) {
        mkperf_analysis_listen(c->analysis,
                               (struct mkperf_analysis_listener){.call = on_call, .self = c});
    }
    return (struct mkperf_sink){.ops = &ops, .self = c, .leaves_only = true};
}

enum mkperf_status mkperf_path_choice_check(const struct mkperf_path_choice *c,
                                            struct mkperf_error *e)
{
    const struct mkperf_analysis *a = c->analysis;
    char what[160];

    if (c->found) {
        return MKPERF_OK;
    }
    for (unsigned i = 0; c->kind == MKPERF_PATH_CALL && c->first[0] != '\0' && i < 2; i++) {
        const char *name = i == 0 ? c->first : c->second;
        uint32_t pd = 0;

        while (pd < a->npds && strcmp(mkperf_analysis_name(a, pd), name) != 0) {
            pd++;
        }
        if (pd == a->npds) {
            return mkperf_error_set(e, MKPERF_ERR_USAGE, "--critical-path: no PD '%s' is recorded",
                                    name);
        }
    }
    if (c->kind == MKPERF_PATH_CALL) {
        snprintf(what, sizeof what,
                 c->first[0] != '\0' ? "no whole call %s -> %s" : "no whole call", c->first,
                 c->second);
    } else if (c->kind == MKPERF_PATH_MARKS) {
        snprintf(what, sizeof what, "no mark '%s' with a later mark '%s'", c->first, c->second);
    } else {
        snprintf(what, sizeof what, "no whole phase '%s'", c->first);
    }
    return mkperf_error_set(e, MKPERF_ERR_INPUT, "--critical-path: %s is recorded%s", what,
                            c->candidates > 0 ? " at that time" : "");
}

void mkperf_path_choice_title(const struct mkperf_path_choice *c, char *text, size_t n)
{
    const char *which = c->has_at ? "the one at that time" : "the longest";

    if (c->kind == MKPERF_PATH_CALL) {
        snprintf(text, n, "%s of %" PRIu64 " calls%s, %s -> %s", which, c->candidates,
                 c->first[0] == '\0' ? " of all" : "", mkperf_analysis_name(c->analysis, c->caller),
                 mkperf_analysis_name(c->analysis, c->pd));
    } else {
        snprintf(text, n, "%s of %" PRIu64 " times %s%s%s", which, c->candidates, c->first,
                 c->second[0] != '\0' ? " .. " : "", c->second);
    }
}

void mkperf_path_choice_free(struct mkperf_path_choice *c)
{
    mkperf_marks_free(&c->phases);
}
