/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: texts about each core's part of a recording, and the fill of the output ring. See figures.h. */
#include "figures.h"

#include "base/args.h"

enum { MASK_BITS = 32 };

const char *const mkperf_core_states[MKPERF_CORE_ABSENT + 1] = {
    [MKPERF_CORE_RUNS] = "runs", [MKPERF_CORE_LATE] = "late", [MKPERF_CORE_ABSENT] = "absent"};

const char *mkperf_core_problem(const struct mkperf_core *core, char room[MKPERF_CORE_PROBLEM_TEXT])
{
    static const char *const problems[] = {
        [MKPERF_CORE_RUNS] = NULL,
        [MKPERF_CORE_LATE] = "did not answer the target's last request in time: what it does may "
                             "be missing",
        [MKPERF_CORE_ABSENT] = "has never answered: nothing of it is in the profile"};

    if (core->state != MKPERF_CORE_RUNS || core->late_answers == 0) {
        return problems[core->state];
    }
    snprintf(room, MKPERF_CORE_PROBLEM_TEXT,
             "did not answer %" PRIu64
             " request%s of the target in time: what it did may be missing, "
             "from then until it answered",
             core->late_answers, core->late_answers == 1 ? "" : "s");
    return room;
}

void mkperf_cores_print(const struct mkperf_totals *t, const char *first, const char *rest,
                        FILE *out)
{
    char text[MKPERF_LOST_TEXT];

    for (unsigned i = 0; i < t->ncores && t->ncores > 1; i++) {
        const struct mkperf_core *c = &t->core[i];
        const char *where = mkperf_lost_text(c->lost, text);

        fprintf(out, "%score %u  %" PRIu64 " sample%s (%.2f %%), %" PRIu64 " lost",
                i == 0 ? first : rest, i, c->samples, mkperf_plural(c->samples),
                mkperf_percent(c->samples, t->samples), mkperf_lost_sum(c->lost));
        if (*where != '\0') {
            fprintf(out, " (%s)", where);
        }
        if (c->late_events != 0) {
            fprintf(out, ", %" PRIu64 " late events", c->late_events);
        }
        if (c->late_answers != 0) {
            fprintf(out, ", %" PRIu64 " late answer%s", c->late_answers,
                    c->late_answers == 1 ? "" : "s");
        }
        fputc('\n', out);
    }
}

uint32_t mkperf_session_cores(const struct mkperf_session *s)
{
    if (s->core_mask != 0) {
        return s->core_mask;
    }
    return s->cores < MASK_BITS ? (UINT32_C(1) << s->cores) - 1 : 0;
}

static unsigned sampled_cores(const struct mkperf_session *s)
{
    return s->core_mask != 0 ? (unsigned)__builtin_popcount(mkperf_session_cores(s)) : s->cores;
}

static unsigned known_cores(const struct mkperf_session *s)
{
    return s->target_cores > s->cores ? s->target_cores : s->cores;
}

bool mkperf_cores_missing(const struct mkperf_session *s)
{
    return known_cores(s) > sampled_cores(s);
}

bool mkperf_aggregate_text(const struct mkperf_session *s, char text[MKPERF_CORES_TEXT])
{
    snprintf(
        text, MKPERF_CORES_TEXT,
        "samples were counted on the target in windows of %.1f s: their times within a window are "
        "known only without --aggregate",
        s->aggregate_ms / 1e3);
    return s->aggregate_ms != 0;
}

bool mkperf_cores_warning(const struct mkperf_session *s, unsigned n, char text[MKPERF_CORES_TEXT])
{
    char cores[MKPERF_CPU_LIST_TEXT], events[MKPERF_CORES_TEXT / 2] = "";
    uint32_t mask = mkperf_session_cores(s);

    if (mkperf_cores_missing(s) && n-- == 0) {
        mkperf_cpu_mask_text(mask != 0 ? mask : 1, cores);
        snprintf(text, MKPERF_CORES_TEXT,
                 "the target has at least %u cores and only %s %s sampled: percentages are of %s, "
                 "not of the target",
                 known_cores(s), cores, sampled_cores(s) > 1 ? "are" : "is", cores);
        return true;
    }
    for (unsigned i = 0; i < s->nevents; i++) {
        size_t used = strlen(events);
        if (s->event[i].all_cores) { /* an emulator counts some events for the whole machine */
            snprintf(events + used, sizeof events - used, "%s%s", used != 0 ? ", " : "",
                     s->event[i].name);
        }
    }
    if (events[0] != '\0' && n-- == 0) {
        snprintf(text, MKPERF_CORES_TEXT,
                 "QEMU counts %s on each core for all cores together: counts of a core are not its "
                 "own, and shares are of time",
                 events);
        return true;
    }
    if (s->turns && n-- == 0) { /* a core of an emulator has times in which it does not run */
        snprintf(
            text, MKPERF_CORES_TEXT,
            "QEMU's cores take turns: time passes for a core while others run. The times of "
            "PDs contain such waits, and shares by samples and by scheduling events can differ "
            "by some points");
        return true;
    }
    if (s->inferred && n-- == 0) { /* counters count in all modes */
        snprintf(
            text, MKPERF_CORES_TEXT,
            "the CPU's counters count in all modes: whether a sample is of user mode or of the "
            "kernel is inferred from where its overflow was found");
        return true;
    }
    return false;
}

static void raise_to(uint64_t *to, uint64_t value)
{
    *to = value > *to ? value : *to;
}

void mkperf_fill_add(struct mkperf_fill *f, uint64_t time_ns, uint64_t bytes, uint64_t size)
{
    struct mkperf_fill_point *last = f->n != 0 ? &f->point[f->n - 1] : NULL;

    if (size == 0) {
        return;
    }
    f->size = size;
    raise_to(&f->peak, bytes);
    f->merged = f->merged != 0 ? f->merged : 1;
    if (last != NULL && (time_ns <= last->time_ns || f->in_last < f->merged)) {
        f->in_last += time_ns > last->time_ns;
        raise_to(&last->time_ns, time_ns);
        raise_to(&last->bytes, bytes);
        return;
    }
    if (f->n == MKPERF_FILL_POINTS) {
        /* Makes one point of each two neighbours. */
        for (size_t i = 0; i < MKPERF_FILL_POINTS / 2; i++) {
            f->point[i] = f->point[2 * i + 1];
            raise_to(&f->point[i].bytes, f->point[2 * i].bytes);
        }
        f->n = MKPERF_FILL_POINTS / 2;
        f->merged *= 2;
        f->in_last = f->merged;
    }
    f->point[f->n++] = (struct mkperf_fill_point){time_ns, bytes};
    f->in_last = 1;
}

void mkperf_fill_text(const struct mkperf_fill *f, char *text, size_t n)
{
    snprintf(text, n, "at most %" PRIu64 " of %" PRIu64 " bytes (%.1f %%)", f->peak, f->size,
             mkperf_percent(f->peak, f->size));
}
