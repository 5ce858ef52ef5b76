/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Charged time: what each PD used itself, and what others used on its behalf.
 *
 * Owns: the sums, by pair of PDs; for reports and top. A sample is charged to the outermost PD of its callchain: the one
 * whose protected call led to the work, directly or through other servers. Work that no call led to
 * is the PD's own. Every sample is charged to one PD, so the charges of all PDs are all samples.
 *
 * What may be wrong: a chain that was cut (depth, number of callers) ends in a PD that may have been
 * called as well, and the work is charged to that one.
 */
#ifndef MKPERF_HOST_PROFILE_CHARGE_H
#define MKPERF_HOST_PROFILE_CHARGE_H

#include "profile.h"

struct mkperf_charge_pair {
    uint32_t to; /* PD that is charged */
    uint32_t by; /* PD that did the work */
    struct mkperf_weight weight;
};

struct mkperf_charge_pd {
    uint32_t pd;
    struct mkperf_weight charged; /* self and imposed */
    struct mkperf_weight self;    /* its own work on its own behalf */
    struct mkperf_weight imposed; /* others' work on its behalf */
    struct mkperf_weight served;  /* its own work on behalf of others */
};

struct mkperf_charge {
    struct mkperf_charge_pair *pair; /* by period, largest first */
    uint32_t npairs;
    struct mkperf_charge_pd *pd; /* by charged period, largest first; only PDs with samples */
    uint32_t npds;
    struct mkperf_weight total;
};

/* Sums up one event of a profile, which was read with callers (not leaves_only). To be freed. */
void mkperf_charge_make(struct mkperf_charge *c, const struct mkperf_profile *p, uint32_t event);
/* The same from c->npairs pairs, each once; the rest of *c is 0. PDs have numbers below npds. */
void mkperf_charge_sum(struct mkperf_charge *c, uint32_t npds);
void mkperf_charge_free(struct mkperf_charge *c);

#endif
