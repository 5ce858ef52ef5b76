/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Charged time: the time that each PD used itself, and the time that others used on its behalf.
 *
 * Owns: the sums for each pair of PDs; `report` and `top` show them. A sample is charged to the outermost PD of its callchain,
 * because a protected call of that PD led to the work, directly or through other servers. Work that no call led to is charged to
 * the PD itself. Every sample is charged to one PD, so the sum of all charges is the sum of all samples.
 *
 *      chain of the sample          charged to   done by
 *      store <- server <- client    client       store       imposed on client, served by store
 *      client                       client       client      self of client
 *
 * What may be wrong: a chain that was cut (depth, number of callers) ends in a PD that may have been called as well. The work is
 * charged to that PD.
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
    struct mkperf_weight charged; /* self plus imposed */
    struct mkperf_weight self;    /* its work on its own behalf */
    struct mkperf_weight imposed; /* work of other PDs on its behalf */
    struct mkperf_weight served;  /* its work on behalf of other PDs */
};

struct mkperf_charge {
    struct mkperf_charge_pair *pair; /* by period, largest first */
    uint32_t npairs;
    struct mkperf_charge_pd *pd; /* by charged period, largest first; only PDs with samples */
    uint32_t npds;
    struct mkperf_weight total;
};

/* Sums up one event of a profile that was read with callers (not leaves_only). The caller frees the result. */
void mkperf_charge_make(struct mkperf_charge *c, const struct mkperf_profile *p, uint32_t event);
/* Sums up c->npairs pairs, each of which occurs once; the rest of *c is 0. Numbers of PDs are below npds. */
void mkperf_charge_sum(struct mkperf_charge *c, uint32_t npds);
void mkperf_charge_free(struct mkperf_charge *c);

#endif
