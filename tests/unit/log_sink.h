/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink for tests of decoders: its calls as text, one line each; and the rules that every
 * decoder's calls must obey.
 */
#ifndef MKPERF_TESTS_LOG_SINK_H
#define MKPERF_TESTS_LOG_SINK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

struct log_sink {
    char text[65536];
    size_t n;
    uint32_t npds;
    uint64_t samples, period, last_ns;
    bool began, ended, abandoned, broken; /* broken: a call that the contract forbids */
    bool disorder;                        /* a sample is older than the one before */
};

static inline void log_line(struct log_sink *l, const char *line)
{
    size_t n = strlen(line);

    if (n + 2 < sizeof l->text - l->n) {
        memcpy(l->text + l->n, line, n);
        l->n += n;
        l->text[l->n++] = '\n';
        l->text[l->n] = '\0';
    }
}

static enum mkperf_status log_begin(void *self, const struct mkperf_session *s,
                                    struct mkperf_error *e)
{
    struct log_sink *l = self;
    char line[256];

    (void)e;
    l->broken |= l->began || l->ended || s->nevents > MKPERF_MODEL_EVENTS;
    l->began = true;
    for (unsigned i = 0; i < s->nevents; i++) {
        snprintf(line, sizeof line, "event %s %" PRIu64, s->event[i].name, s->event[i].period);
        log_line(l, line);
    }
    return MKPERF_OK;
}

static enum mkperf_status log_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct log_sink *l = self;
    char line[512];

    (void)e;
    l->broken |= !l->began || l->ended || pd->id != l->npds || pd->name == NULL;
    l->npds++;
    snprintf(line, sizeof line, "pd %" PRIu32 " %.100s %.200s %.100s", pd->id, pd->name,
             pd->elf ? pd->elf : "-", pd->parent ? pd->parent : "-");
    log_line(l, line);
    return MKPERF_OK;
}

static enum mkperf_status log_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct log_sink *l = self;
    char line[2048];
    int n;

    (void)e;
    l->broken |= !l->began || l->ended || s->pd >= l->npds || s->callers == NULL ||
                 s->callers->n > MKPERF_MAX_FRAMES || s->event >= MKPERF_MODEL_EVENTS;
    l->disorder |= s->time_ns < l->last_ns;
    l->last_ns = s->time_ns;
    l->samples++;
    l->period += s->period;
    n = snprintf(line, sizeof line,
                 "%" PRIu64 " core %u pd %u event %u period %" PRIu64 " %s %" PRIx64, s->time_ns,
                 s->core, s->pd, s->event, s->period,
                 s->flags & MKPERF_SAMPLE_KERNEL ? "kernel" : "user",
                 s->flags & MKPERF_SAMPLE_KERNEL ? s->kernel_pc : s->pc);
    for (unsigned i = 0; i < s->callers->n && n < 1900; i++) {
        l->broken |= s->callers->caller[i].pd >= l->npds;
        n += snprintf(line + n, sizeof line - (size_t)n, " %" PRIx64 "@%u",
                      s->callers->caller[i].addr, s->callers->caller[i].pd);
    }
    log_line(l, line);
    return MKPERF_OK;
}

static enum mkperf_status log_end(void *self, const struct mkperf_totals *totals,
                                  struct mkperf_error *e)
{
    struct log_sink *l = self;

    (void)e;
    l->broken |= !l->began || l->ended || l->abandoned || totals->samples != l->samples;
    l->ended = true;
    return MKPERF_OK;
}

static void log_abandon(void *self)
{
    struct log_sink *l = self;

    l->broken |= l->ended || l->abandoned;
    l->abandoned = true;
}

static inline struct mkperf_sink log_sink(struct log_sink *l)
{
    static const struct mkperf_sink_ops ops = {.name = "log",
                                               .begin = log_begin,
                                               .pd = log_pd,
                                               .sample = log_sample,
                                               .end = log_end,
                                               .abandon = log_abandon};

    memset(l, 0, sizeof *l);
    return (struct mkperf_sink){.ops = &ops, .self = l};
}

#endif
