/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: a critical path as text, see path_table.h. Times are microseconds with the nanosecond. */
#include "path_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/percent.h"
#include "base/sort.h"
#include "base/xalloc.h"

static const char *const entered_by[MKPERF_SCHED_KINDS] = {
    [MKPERF_SCHED_CALL] = "call",
    [MKPERF_SCHED_REPLY] = "reply",
    [MKPERF_SCHED_NOTIFY] = "notify",
    [MKPERF_SCHED_FAULT] = "fault",
};

static const char *core_runs(const struct mkperf_analysis *a, uint32_t by)
{
    return by < a->npds && !a->pd[by].idle ? mkperf_analysis_name(a, by) : NULL;
}

void report_path_text(const struct mkperf_analysis *a, const struct mkperf_path_step *step,
                      char *text, size_t n)
{
    const struct mkperf_interval *i = &step->what;
    const char *pd = mkperf_analysis_name(a, i->pd), *by = core_runs(a, i->by);

    switch (i->state) {
    case MKPERF_PD_RUNNING:
        if (i->serving != MKPERF_SCHED_NOBODY) {
            snprintf(text, n, "%s runs, for %s", pd, mkperf_analysis_name(a, i->serving));
        } else {
            snprintf(text, n, "%s runs", pd);
        }
        break;
    case MKPERF_PD_READY:
        if (i->by < a->npds && a->pd[i->by].idle) {
            snprintf(text, n, "%s is ready, its core still idle", pd);
        } else {
            snprintf(text, n, by != NULL ? "%s is ready, %s runs" : "%s is ready", pd, by);
        }
        break;
    case MKPERF_PD_CALLING:
        snprintf(text, n, by != NULL ? "%s waits for its call of %s" : "%s waits for its call", pd,
                 by);
        break;
    case MKPERF_PD_WAITING:
        if (step->irq_known) {
            snprintf(text, n, "%s waits for interrupt %" PRIu32, pd, step->irq);
        } else {
            snprintf(text, n, "%s waits", pd);
        }
        break;
    case MKPERF_PD_THROTTLED:
        snprintf(text, n, "%s has used up its budget", pd);
        break;
    case MKPERF_PD_STOPPED:
        snprintf(text, n, "%s is stopped", pd);
        break;
    default:
        snprintf(text, n, "not known: no events of %s", pd);
        break;
    }
}

/* What counts as the same in the sums. */
static bool same(const struct mkperf_path_step *a, const struct mkperf_path_step *b)
{
    return a->what.pd == b->what.pd && a->what.state == b->what.state && a->what.by == b->what.by &&
           a->what.serving == b->what.serving && a->irq_known == b->irq_known && a->irq == b->irq;
}

struct sum {
    const struct mkperf_path_step *step; /* the first one of it */
    uint64_t ns, times;
};

static int compare(const void *pa, const void *pb)
{
    const struct sum *a = pa, *b = pb;

    return a->ns != b->ns ? mkperf_compare(b->ns, a->ns) : a->step > b->step ? 1 : -1;
}

static void print_sums(const struct report_path *p, FILE *out)
{
    const struct mkperf_path *path = p->path;
    struct sum *sum = NULL;
    unsigned n = 0, room = 0;
    char text[256];

    for (size_t i = 0; i < path->n; i++) {
        unsigned k = 0;

        while (k < n && !same(sum[k].step, &path->step[i])) {
            k++;
        }
        if (k == n) {
            MKPERF_GROW(sum, room, n + 1);
            sum[n++] = (struct sum){.step = &path->step[i]};
        }
        sum[k].ns += path->step[i].what.to - path->step[i].what.from;
        sum[k].times++;
    }
    mkperf_sort(sum, n, sizeof *sum, compare);
    fprintf(out, "\n%14s %8s %8s  what\n", "us", "%", "times");
    for (unsigned k = 0; k < n; k++) {
        report_path_text(p->analysis, sum[k].step, text, sizeof text);
        fprintf(out, "%10" PRIu64 ".%03" PRIu64 " %8.2f %8" PRIu64 "  %s\n", sum[k].ns / 1000,
                sum[k].ns % 1000, mkperf_percent(sum[k].ns, path->to - path->from), sum[k].times,
                text);
    }
    free(sum);
}

void report_path_print(const struct report_path *p, FILE *out)
{
    const struct mkperf_path *path = p->path;
    uint64_t ns = path->to - path->from;
    char text[256];

    fprintf(out,
            "# critical path of %s\n"
            "# %" PRIu64 ".%03" PRIu64 " us, from %.9f to %.9f s: %zu steps\n",
            p->title, ns / 1000, ns % 1000, (double)path->from / 1e9, (double)path->to / 1e9,
            path->n);
    print_sums(p, out);
    fprintf(out, "\n%14s %14s %8s  what\n", "after, us", "us", "by");
    for (size_t i = 0; i < path->n; i++) {
        const struct mkperf_path_step *s = &path->step[i];
        uint64_t after = s->what.from - path->from, lasts = s->what.to - s->what.from;
        const char *by = entered_by[s->entered];

        report_path_text(p->analysis, s, text, sizeof text);
        fprintf(out, "%10" PRIu64 ".%03" PRIu64 " %10" PRIu64 ".%03" PRIu64 " %8s  %s\n",
                after / 1000, after % 1000, lasts / 1000, lasts % 1000, by != NULL ? by : "", text);
    }
}
