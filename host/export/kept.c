/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see kept.h. */
#include "kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void export_kept_session(struct export_kept *k, const struct mkperf_session *session)
{
    free(k->unverified);
    k->unverified = mkperf_xstrdup(session->unverified);
    k->session = *session;
    k->session.platform = k->session.cpu = "";
    k->session.kernel_elf = k->session.kernel_unnamed = NULL;
    k->session.image = k->session.command = k->session.pd_names = NULL;
    k->session.unverified = k->unverified;
}

void export_kept_events(struct export_kept *k, const struct mkperf_session *session)
{
    k->session.nevents = session->nevents;
    memcpy(k->session.event, session->event, sizeof k->session.event);
}

enum mkperf_status export_kept_add_events(void *self, const struct mkperf_session *session,
                                          struct mkperf_error *e)
{
    (void)e;
    export_kept_events(self, session);
    return MKPERF_OK;
}

void export_kept_pd(struct export_kept *k, const struct mkperf_pd *pd)
{
    MKPERF_GROW(k->name, k->room, (size_t)pd->id + 1);
    k->npds = pd->id >= k->npds ? pd->id + 1 : k->npds;
    free(k->name[pd->id]);
    k->name[pd->id] = mkperf_xstrdup(pd->name);
}

const char *export_kept_name(const struct export_kept *k, uint32_t pd)
{
    return pd < k->npds && k->name[pd] != NULL ? k->name[pd] : "?";
}

static const char *name_of(const void *names, uint32_t pd)
{
    return export_kept_name(names, pd);
}

void export_kept_warnings(const struct export_kept *k, const struct mkperf_totals *totals,
                          mkperf_put_warning *put, void *self)
{
    const struct mkperf_warnings w = {
        .session = &k->session, .totals = totals, .pd_name = name_of, .names = k};

    mkperf_warnings_each(&w, put, self);
}

void export_kept_free(struct export_kept *k)
{
    for (uint32_t i = 0; i < k->npds; i++) {
        free(k->name[i]);
    }
    free(k->name);
    free(k->unverified);
    *k = (struct export_kept){.npds = 0};
}
