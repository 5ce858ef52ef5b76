/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: --pd, --subtree and --dump-on-fault of `mkperf record`: names of PDs to thread identities, see recorder.h. */
#include "recorder.h"

/* The threads in a message that an option chooses by the names of their PDs. */
struct choice {
    const char *option;
    const struct mkperf_pds *pds;
    uint64_t *thread;
    pb_size_t *n, max;
};

static enum mkperf_status choose_pd(const struct choice *c, const struct mkperf_pd *pd,
                                    struct mkperf_error *e)
{
    for (pb_size_t i = 0; i < *c->n; i++) {
        if (c->thread[i] == pd->thread + 2) {
            return MKPERF_OK;
        }
    }
    if (*c->n == c->max) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: more than %d PDs", c->option, c->max);
    }
    c->thread[(*c->n)++] = pd->thread + 2;
    return MKPERF_OK;
}

/* Whether a PD is a descendant of another one. The loop is bounded, because parents could form a circle. */
static bool below(const struct mkperf_pds *pds, const struct mkperf_pd *pd,
                  const struct mkperf_pd *top)
{
    for (uint32_t i = 0; pd != NULL && pd->parent != NULL && i < mkperf_pds_count(pds); i++) {
        pd = mkperf_pds_named(pds, pd->parent, strlen(pd->parent));
        if (pd == top) {
            return true;
        }
    }
    return false;
}

static enum mkperf_status choose_named(const struct choice *c, const char *list, bool subtree,
                                       struct mkperf_error *e)
{
    for (const char *at = list; at != NULL;) {
        size_t n = strcspn(at, ",");
        const struct mkperf_pd *pd = mkperf_pds_named(c->pds, at, n);
        if (pd == NULL) {
            return mkperf_error_set(
                e, MKPERF_ERR_USAGE,
                "%s: no PD is named \"%.*s\" (names come from the image, or from --system)",
                c->option, (int)n, at);
        }
        MKPERF_TRY(choose_pd(c, pd, e));
        for (uint32_t i = 0; subtree && i < mkperf_pds_count(c->pds); i++) {
            if (below(c->pds, mkperf_pds_at(c->pds, i), pd) &&
                choose_pd(c, mkperf_pds_at(c->pds, i), e) != MKPERF_OK) {
                return e->status;
            }
        }
        at = at[n] == ',' ? at + n + 1 : NULL;
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_filter(const char *names, const char *subtree,
                                 const struct mkperf_pds *pds, mkperf_Configure *c,
                                 struct mkperf_error *e)
{
    struct choice choice = {"--pd", pds, c->only, &c->only_count, sizeof c->only / sizeof *c->only};

    MKPERF_TRY(choose_named(&choice, names, false, e));
    choice.option = "--subtree";
    return choose_named(&choice, subtree, true, e);
}

enum mkperf_status mkperf_filter_faults(const char *names, const struct mkperf_pds *pds,
                                        mkperf_Configure *c, struct mkperf_error *e)
{
    const struct choice choice = {"--dump-on-fault", pds, c->dump_on_fault, &c->dump_on_fault_count,
                                  sizeof c->dump_on_fault / sizeof *c->dump_on_fault};

    return choose_named(&choice, names, false, e);
}
