/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between two recordings apart from their samples: the machine, the session, the programs and their compilers.
 *
 * Owns: the list of what is compared. diff prints it first, because a difference here can explain each row below it. A PD that
 * only one side has is no difference here: it is a row.
 */
#include "report.h"

enum { SHOWN = 100 }; /* characters of a text */

/* The compiler of a program, by its section .comment, or "". */
static void copy_compiler(const struct mkperf_module *m, char text[SHOWN])
{
    uint64_t n;
    const uint8_t *p = m != NULL ? mkperf_module_section(m, ".comment", &n) : NULL;

    snprintf(text, SHOWN, "%.*s", p != NULL ? (int)(n < SHOWN ? n : SHOWN) : 0,
             p != NULL ? (const char *)p : "");
    mkperf_printable(text);
}

static void compare(report_put_difference *put, void *self, const char *what, const char *a,
                    const char *b)
{
    if (strcmp(a, b) != 0) {
        put(self, what, *a != '\0' ? a : "unknown", *b != '\0' ? b : "unknown");
    }
}

static void compare_programs(const struct mkperf_module *a, const struct mkperf_module *b,
                             const char *name, report_put_difference *put, void *self)
{
    struct mkperf_build_id ids[2];
    char text[2][SHOWN], what[MKPERF_MODEL_NAME + 32];

    if (a == NULL || b == NULL) {
        return;
    }
    mkperf_module_identity(a, &ids[0]);
    mkperf_module_identity(b, &ids[1]);
    if (mkperf_build_id_same(&ids[0], &ids[1])) {
        return;
    }
    mkperf_build_id_text(&ids[0], text[0]);
    mkperf_build_id_text(&ids[1], text[1]);
    snprintf(what, sizeof what, "build of %s", name);
    compare(put, self, what, text[0], text[1]);
    copy_compiler(a, text[0]);
    copy_compiler(b, text[1]);
    snprintf(what, sizeof what, "compiler of %s", name);
    compare(put, self, what, text[0], text[1]);
}

static void compare_events(const struct mkperf_session *a, const struct mkperf_session *b,
                           report_put_difference *put, void *self)
{
    char text[2][SHOWN];

    for (unsigned i = 0; i < a->nevents; i++) {
        for (unsigned k = 0; k < b->nevents; k++) {
            const struct mkperf_event *v[2] = {&a->event[i], &b->event[k]};

            if (strcmp(v[0]->name, v[1]->name) != 0) {
                continue;
            }
            for (unsigned side = 0; side < 2; side++) {
                snprintf(text[side], SHOWN, "%s%s, %s %" PRIu64, v[side]->name,
                         mkperf_event_modes(v[side]), v[side]->frequency ? "frequency" : "period",
                         v[side]->frequency ? v[side]->frequency : v[side]->period);
            }
            compare(put, self, "event", text[0], text[1]);
        }
    }
}

void report_differences(const struct mkperf_places *a, const struct mkperf_places *b,
                        report_put_difference *put, void *self)
{
    const struct mkperf_session *s[2] = {&a->session, &b->session};
    char text[2][SHOWN];

    compare(put, self, "platform", a->session.platform, b->session.platform);
    compare(put, self, "cpu", a->session.cpu, b->session.cpu);
    for (unsigned side = 0; side < 2; side++) {
        snprintf(text[side], SHOWN, "%u", s[side]->cores);
    }
    compare(put, self, "cores", text[0], text[1]);
    for (unsigned side = 0; side < 2; side++) {
        snprintf(text[side], SHOWN, "%sjitter%s%s%s, %u frames", s[side]->jitter ? "" : "no ",
                 s[side]->sched ? ", scheduling events" : "",
                 s[side]->selected ? ", some PDs only" : "", s[side]->exact ? ", exact" : "",
                 s[side]->max_frames);
    }
    compare(put, self, "session", text[0], text[1]);
    compare_events(s[0], s[1], put, self);
    compare_programs(a->kernel, b->kernel, "the kernel", put, self);
    for (uint32_t i = 0; i < a->npds; i++) {
        for (uint32_t k = 0; k < b->npds; k++) {
            if (a->pd[i].name != NULL && b->pd[k].name != NULL &&
                strcmp(a->pd[i].name, b->pd[k].name) == 0) {
                compare_programs(a->pd[i].module, b->pd[k].module, a->pd[i].name, put, self);
            }
        }
    }
}
