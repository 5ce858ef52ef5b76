/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: --pd, --subtree and --dump-on-fault of `mkperf record`: names of PDs to thread identities, see recorder.h. */
#include "recorder.h"

static bool is_name(const char *name, size_t n, const char *other)
{
    return other != NULL && strlen(other) == n && memcmp(name, other, n) == 0;
}

static enum mkperf_status choose_pd(const struct mkperf_pd *pd, mkperf_Configure *c,
                                    struct mkperf_error *e)
{
    const pb_size_t max = sizeof c->only / sizeof *c->only;

    for (pb_size_t i = 0; i < c->only_count; i++) {
        if (c->only[i] == pd->thread + 2) {
            return MKPERF_OK;
        }
    }
    if (c->only_count == max) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "--pd, --subtree: more than %d PDs", max);
    }
    c->only[c->only_count++] = pd->thread + 2;
    return MKPERF_OK;
}

static const struct mkperf_pd *find(const struct mkperf_pds *pds, const char *name, size_t n)
{
    for (uint32_t i = 0; i < mkperf_pds_count(pds); i++) {
        if (is_name(name, n, mkperf_pds_at(pds, i)->name)) {
            return mkperf_pds_at(pds, i);
        }
    }
    return NULL;
}

/* Whether a PD is a descendant of the PD with that name. The loop is bounded, because parents could form a
 * circle. */
static bool below(const struct mkperf_pds *pds, const struct mkperf_pd *pd, const char *name,
                  size_t n)
{
    for (uint32_t i = 0; pd != NULL && i < mkperf_pds_count(pds); i++) {
        if (is_name(name, n, pd->parent)) {
            return true;
        }
        pd = pd->parent != NULL ? find(pds, pd->parent, strlen(pd->parent)) : NULL;
    }
    return false;
}

static enum mkperf_status choose_named(const char *list, bool subtree, const struct mkperf_pds *pds,
                                       mkperf_Configure *c, struct mkperf_error *e)
{
    for (const char *at = list; at != NULL;) {
        size_t n = strcspn(at, ",");
        const struct mkperf_pd *pd = find(pds, at, n);
        if (pd == NULL) {
            return mkperf_error_set(
                e, MKPERF_ERR_USAGE,
                "no PD is named \"%.*s\" (names come from the image, or from --system)", (int)n,
                at);
        }
        if (choose_pd(pd, c, e) != MKPERF_OK) {
            return e->status;
        }
        for (uint32_t i = 0; subtree && i < mkperf_pds_count(pds); i++) {
            if (below(pds, mkperf_pds_at(pds, i), at, n) &&
                choose_pd(mkperf_pds_at(pds, i), c, e) != MKPERF_OK) {
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
    if (choose_named(names, false, pds, c, e) != MKPERF_OK) {
        return e->status;
    }
    return choose_named(subtree, true, pds, c, e);
}

enum mkperf_status mkperf_filter_faults(const char *names, const struct mkperf_pds *pds,
                                        mkperf_Configure *c, struct mkperf_error *e)
{
    const pb_size_t max = sizeof c->dump_on_fault / sizeof *c->dump_on_fault;

    for (const char *at = names; at != NULL;) {
        size_t n = strcspn(at, ",");
        const struct mkperf_pd *pd = find(pds, at, n);
        if (pd == NULL || c->dump_on_fault_count == max) {
            return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                    pd == NULL ? "--dump-on-fault: no PD is named \"%.*s\" (names "
                                                 "come from the image, or from --system)"
                                               : "--dump-on-fault: too many PDs at \"%.*s\"",
                                    (int)n, at);
        }
        c->dump_on_fault[c->dump_on_fault_count++] = pd->thread + 2;
        at = at[n] == ',' ? at + n + 1 : NULL;
    }
    return MKPERF_OK;
}
