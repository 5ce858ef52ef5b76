/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see cores.h. */
#include "cores.h"

#include <inttypes.h>
#include <string.h>

#include "base/cpu_list.h"
#include "base/percent.h"
#include "figures.h"

enum { MASK_BITS = 32 };

const char *const mkperf_core_states[MKPERF_CORE_ABSENT + 1] = {
    [MKPERF_CORE_RUNS] = "runs", [MKPERF_CORE_LATE] = "late", [MKPERF_CORE_ABSENT] = "absent"};

const char *mkperf_core_problem(const struct mkperf_core *core)
{
    static const char *const problems[] = {
        [MKPERF_CORE_RUNS] = NULL,
        [MKPERF_CORE_LATE] = "did not answer the target's last request in time: samples of it may "
                             "be missing",
        [MKPERF_CORE_ABSENT] = "has never answered: nothing of it is in the profile"};

    return problems[core->state];
}

void mkperf_cores_print(const struct mkperf_totals *t, const char *first, const char *rest,
                        FILE *out)
{
    for (unsigned i = 0; i < t->ncores && t->ncores > 1; i++) {
        const struct mkperf_core *c = &t->core[i];
        const char *before = " (";

        fprintf(out, "%score %u  %" PRIu64 " samples (%.2f %%), %" PRIu64 " lost",
                i == 0 ? first : rest, i, c->samples, mkperf_percent(c->samples, t->samples),
                mkperf_lost_sum(c->lost));
        for (unsigned k = 0; k < MKPERF_LOST_PLACES; k++) {
            if (c->lost[k] != 0) {
                fprintf(out, "%s%s %" PRIu64, before, mkperf_loss_places[k].key, c->lost[k]);
                before = ", ";
            }
        }
        fprintf(out, before[0] == ',' ? ")" : "");
        if (c->late_events != 0) {
            fprintf(out, ", %" PRIu64 " late events", c->late_events);
        }
        fputc('\n', out);
    }
}

void mkperf_cores_write(const struct mkperf_totals *t, FILE *out)
{
    for (unsigned i = 0; i < t->ncores && t->ncores > 1; i++) {
        const struct mkperf_core *c = &t->core[i];

        fprintf(out, "core %u %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, i, (int)c->state,
                c->samples, c->late_events, c->began_ns, c->ended_ns);
        for (unsigned k = 0; k < MKPERF_LOST_PLACES; k++) {
            fprintf(out, " %" PRIu64, c->lost[k]);
        }
        fputc('\n', out);
    }
}

bool mkperf_cores_line(struct mkperf_totals *t, const char *key, const char *value)
{
    struct mkperf_core c = {.samples = 0};
    unsigned core, state;
    int n = 0;

    if (strcmp(key, "core") != 0) {
        return false;
    }
    if (sscanf(value, "%u %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &core, &state,
               &c.samples, &c.late_events, &c.began_ns, &c.ended_ns, &n) != 6 ||
        core >= MKPERF_MAX_CORES || state > MKPERF_CORE_ABSENT) {
        return true; /* of a later mkperf */
    }
    c.state = (enum mkperf_core_state)state;
    for (unsigned k = 0; k < MKPERF_LOST_PLACES; k++) {
        int more = 0;
        if (sscanf(value += n, " %" SCNu64 "%n", &c.lost[k], &more) != 1) {
            break;
        }
        n = more;
    }
    t->core[core] = c;
    t->ncores = core >= t->ncores ? core + 1 : t->ncores;
    return true;
}

uint32_t mkperf_session_cores(const struct mkperf_session *s)
{
    if (s->core_mask != 0) {
        return s->core_mask;
    }
    return s->cores < MASK_BITS ? (UINT32_C(1) << s->cores) - 1 : 0;
}

bool mkperf_cores_warning(const struct mkperf_session *s, char text[MKPERF_CORES_TEXT])
{
    uint32_t mask = mkperf_session_cores(s);
    unsigned sampled = s->core_mask != 0 ? (unsigned)__builtin_popcount(mask) : s->cores;
    unsigned cores = s->target_cores > s->cores ? s->target_cores : s->cores;
    char names[MKPERF_CPU_LIST_TEXT];

    if (cores <= sampled) {
        return false;
    }
    mkperf_cpu_mask_text(mask != 0 ? mask : 1, names);
    snprintf(text, MKPERF_CORES_TEXT,
             "the target has at least %u cores and only %s %s sampled: percentages are of %s, not "
             "of the target",
             cores, names, sampled > 1 ? "are" : "is", names);
    return true;
}
