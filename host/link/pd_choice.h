/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --pd and --subtree of `mkperf record`: which PDs the target samples.
 *
 * Owns: the mapping from names to thread identities. The selection itself is made on the target, in
 * the kernel hook, before it reserves space in a ring.
 */
#ifndef MKPERF_HOST_LINK_PD_CHOICE_H
#define MKPERF_HOST_LINK_PD_CHOICE_H

#include "base/error.h"
#include "mkperf.pb.h"
#include "model/pds.h"

/*
 * names: NAME[,NAME] or NULL; subtree: NAME[,NAME] of PDs that are meant with all their children,
 * or NULL. Fills c->only. Errors: USAGE, a name that the .system file does not have, or too many.
 */
enum mkperf_status mkperf_filter(const char *names, const char *subtree,
                                 const struct mkperf_pds *pds, mkperf_Configure *c,
                                 struct mkperf_error *e);

/* PDs whose fault ends a flight recording, NAME[,NAME] or NULL. Fills c->dump_on_fault. The same
 * errors. */
enum mkperf_status mkperf_filter_faults(const char *names, const struct mkperf_pds *pds,
                                        mkperf_Configure *c, struct mkperf_error *e);

#endif
