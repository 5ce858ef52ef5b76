/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a domain schedule, see windows.h. */
#include "windows.h"

char *mkperf_windows_text(const struct mkperf_system *s)
{
    char *text = NULL;
    size_t n;

    if (s->nwindows == 0) {
        return NULL;
    }
    FILE *f = mkperf_memstream_open(&text, &n);
    for (unsigned i = 0; i < s->nwindows; i++) {
        const struct mkperf_system_window *w = &s->window[i];
        fprintf(f, "%s%u %" PRIu64 " %s ", i != 0 ? "|" : "", s->first_window + i, w->duration,
                w->in_ticks ? "ticks" : "us");
        for (const char *p = s->domain[w->domain]; *p != '\0'; p++) {
            fputc(*p == '|' ? '/' : *p, f);
        }
    }
    mkperf_memstream_close(f);
    return text;
}

unsigned mkperf_windows_read(const char *text, struct mkperf_schedule_entry out[MKPERF_WINDOWS])
{
    unsigned n = 0;

    while (text != NULL && n < MKPERF_WINDOWS) {
        struct mkperf_schedule_entry w = {.number = 0};
        uint64_t duration;
        char unit[8];

        if (sscanf(text, "%u %" SCNu64 " %5s %63[^|\n]", &w.number, &duration, unit, w.domain) !=
                4 ||
            duration == 0 || duration >> 52 != 0) {
            break;
        }
        *(strcmp(unit, "us") == 0 ? &w.us : &w.ticks) = duration;
        out[n++] = w;
        text = strchr(text, '|');
        text = text != NULL ? text + 1 : NULL;
    }
    return n;
}
