/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: what pictures of a profile need: the stretch of time that a sample represents, and the colours of PDs. See profile.h. */
#include "profile.h"

enum { RATES_MAX = 1 << 15 };

/* A sample represents up to this factor of the time that its events need, because interrupts jitter. */
static const double SLACK = 1.1;

/* The last sample on a core. */
struct last {
    uint64_t time_ns;
    bool seen, kernel;
};

bool mkperf_event_is_time(const char *name)
{
    return strncmp(name, "cycles", 6) == 0 || strncmp(name, "cpu-cycles", 10) == 0 ||
           strcmp(name, "r11") == 0 || strstr(name, "clock") != NULL || strcmp(name, "timer") == 0;
}

static int by_rate(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

uint64_t *mkperf_profile_spans(const struct mkperf_profile *p,
                               const struct mkperf_profile_sample *sample, size_t n, double *rates)
{
    uint64_t *span = mkperf_xcalloc(n + 1, sizeof *span);
    struct last *last = mkperf_xcalloc((size_t)p->cores_seen + 1, sizeof *last);
    double *between = mkperf_xcalloc(RATES_MAX, sizeof *between);
    char room[32];

    for (uint32_t event = 0; event < p->nevents; event++) {
        bool is_time = mkperf_event_is_time(mkperf_places_event_name(&p->places, event, room));
        size_t rates_seen = 0, skip = n / RATES_MAX, left = 0;

        /* The intervals between samples of the event, and the rates between those of the same mode. */
        memset(last, 0, p->cores_seen * sizeof *last);
        for (size_t i = 0; i < n; i++) {
            const struct mkperf_profile_sample *s = &sample[i];
            struct last *l = &last[s->core];
            const uint64_t *key = mkperf_hash_key(&p->chains, s->chain);
            bool kernel = (key[MKPERF_PROFILE_FLAGS] & MKPERF_SAMPLE_KERNEL) != 0;

            if (key[MKPERF_PROFILE_THREAD] >> 32 != event) {
                continue;
            }
            span[i] = l->seen ? s->time_ns - l->time_ns : UINT64_MAX;
            if (l->seen && l->kernel == kernel && span[i] > 0 && rates_seen < RATES_MAX &&
                left-- == 0) {
                between[rates_seen++] = (double)s->period / (double)span[i];
                left = skip;
            }
            *l = (struct last){.time_ns = s->time_ns, .seen = true, .kernel = kernel};
        }
        qsort(between, rates_seen, sizeof *between, by_rate);
        /* In events per nanosecond, on a core that does nothing else; 0 if it is not known. */
        double rate = rates_seen > 0 ? between[rates_seen * 9 / 10] : 0;
        if (rates != NULL) {
            rates[event] = is_time ? rate : 0;
        }
        for (size_t i = 0; i < n; i++) {
            if (mkperf_profile_head(p, sample[i].chain).event != event) {
                continue;
            }
            double most = is_time && rate > 0 ? SLACK * (double)sample[i].period / rate : 0;
            if (span[i] == UINT64_MAX) { /* it is the first one on its core */
                span[i] = (uint64_t)(most / SLACK + 0.5);
            } else if (most > 0 && (double)span[i] > most) {
                span[i] = (uint64_t)most;
            }
            if (span[i] > sample[i].time_ns) {
                span[i] = sample[i].time_ns;
            }
        }
    }
    free(last);
    free(between);
    return span;
}

/* ---- colours of PDs --------------------------------------------------------------------------- */

static void add_names(struct mkperf_colours *c, const struct mkperf_profile *p)
{
    const char *line = p->places.session.pd_names, *end;
    char name[MKPERF_MODEL_NAME * 4];

    for (; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        snprintf(name, sizeof name, "%.*s", (int)(end - line), line);
        mkperf_hash_text_number(&c->names, name);
    }
    for (uint32_t pd = 0; pd < p->places.npds; pd++) {
        mkperf_hash_text_number(&c->names, mkperf_profile_pd_name(p, pd));
    }
}

void mkperf_colours_choose(struct mkperf_colours *c, const struct mkperf_profile *a,
                           const struct mkperf_profile *b)
{
    const char **name;

    add_names(c, a);
    if (b != NULL) {
        add_names(c, b);
    }
    name = mkperf_xcalloc((size_t)c->names.count + 1, sizeof *name);
    c->colour = mkperf_xcalloc((size_t)c->names.count + 1, sizeof *c->colour);
    for (uint32_t i = 0; i < c->names.count; i++) {
        name[i] = mkperf_hash_text(&c->names, i);
    }
    mkperf_pd_colours(name, c->names.count, c->colour);
    free(name);
}

uint32_t mkperf_colours_of(struct mkperf_colours *c, const char *name)
{
    uint32_t before = c->names.count, number = mkperf_hash_text_number(&c->names, name);

    return number < before && c->colour != NULL ? c->colour[number] : MKPERF_COLOUR_UNKNOWN;
}

void mkperf_colours_free(struct mkperf_colours *c)
{
    mkperf_hash_free(&c->names);
    free(c->colour);
    *c = (struct mkperf_colours){.colour = NULL};
}
