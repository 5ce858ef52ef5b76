/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sink that keeps nothing else needs of a stream to list its warnings at the end (model/warnings.h).
 *
 * Owns: copies of the session and of the names of its PDs. All zero: nothing came yet.
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
/* Another session's events. */
void export_kept_events(struct export_kept *k, const struct mkperf_session *session);
void export_kept_pd(struct export_kept *k, const struct mkperf_pd *pd);
const char *export_kept_name(const struct export_kept *k, uint32_t pd); /* "?": not announced */
void export_kept_warnings(const struct export_kept *k, const struct mkperf_totals *totals,
                          void (*put)(void *self, enum mkperf_warning_level level,
                                      const char *text),
                          void *self);
void export_kept_free(struct export_kept *k);

#endif
