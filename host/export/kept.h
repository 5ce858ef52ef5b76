/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sink that keeps nothing else needs of a stream to list its warnings at the end (model/warnings.h).
 *
 * Owns: copies of the session and of the names of its PDs. All zero: no session has begun.
 */
#ifndef MKPERF_HOST_EXPORT_KEPT_H
#define MKPERF_HOST_EXPORT_KEPT_H

#include "model/warnings.h"

struct export_kept {
    struct mkperf_session session; /* with no texts but `unverified` */
    char *unverified, **name;      /* name: by the PD's number, NULL */
    uint32_t npds, room;
};

void export_kept_session(struct export_kept *k, const struct mkperf_session *session);
/* Another session's events. The second is the operation `events` of a sink that begins with an export_kept. */
void export_kept_events(struct export_kept *k, const struct mkperf_session *session);
enum mkperf_status export_kept_add_events(void *self, const struct mkperf_session *session,
                                          struct mkperf_error *e);
void export_kept_pd(struct export_kept *k, const struct mkperf_pd *pd);
const char *export_kept_name(const struct export_kept *k, uint32_t pd); /* "?": not announced */
void export_kept_warnings(const struct export_kept *k, const struct mkperf_totals *totals,
                          mkperf_put_warning *put, void *self);
void export_kept_free(struct export_kept *k);

#endif
