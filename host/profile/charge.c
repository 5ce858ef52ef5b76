/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of charged time, see profile.h. */
#include "profile.h"

void mkperf_charge_sum(struct mkperf_charge *c, uint32_t npds)
{
    uint32_t *index = mkperf_xcalloc((size_t)npds + 1, sizeof *index);

    c->pd = mkperf_xcalloc((size_t)npds + 1, sizeof *c->pd);
    /* Computes the sums of PDs from the sums of pairs. c->pd and index, which is zeroed, have room for every PD. */
    for (uint32_t i = 0; i < c->npairs; i++) {
        const uint32_t side[2] = {c->pair[i].to, c->pair[i].by};
        for (unsigned k = 0; k < 2; k++) {
            if (index[side[k]] == 0) {
                c->pd[c->npds].pd = side[k];
                index[side[k]] = ++c->npds;
            }
        }
    }
    for (uint32_t i = 0; i < c->npairs; i++) {
        const struct mkperf_charge_pair *pair = &c->pair[i];
        struct mkperf_charge_pd *to = &c->pd[index[pair->to] - 1];
        mkperf_weight_add(&to->charged, &pair->weight);
        mkperf_weight_add(pair->to == pair->by ? &to->self : &to->imposed, &pair->weight);
        if (pair->to != pair->by) {
            mkperf_weight_add(&c->pd[index[pair->by] - 1].served, &pair->weight);
        }
        mkperf_weight_add(&c->total, &pair->weight);
    }
    free(index);
    MKPERF_SORT(c->pair, c->npairs, MKPERF_DOWN(c->pair, weight.period), MKPERF_UP(c->pair, by));
    MKPERF_SORT(c->pd, c->npds, MKPERF_DOWN(c->pd, charged.period), MKPERF_UP(c->pd, pd));
}

void mkperf_charge_make(struct mkperf_charge *c, const struct mkperf_profile *p, uint32_t event)
{
    struct mkperf_hash pairs = {.count = 0};
    uint32_t npds = 1; /* above every number in a chain */

    *c = (struct mkperf_charge){.pair = mkperf_xcalloc(p->chains.count + 1, sizeof *c->pair)};
    for (uint32_t i = 0; i < p->chains.count; i++) {
        struct mkperf_address address[MKPERF_PLACES_MAX];
        struct mkperf_chain_head head = mkperf_profile_head(p, i);
        if (head.event != event) {
            continue;
        }
        uint32_t n = mkperf_profile_addresses(p, i, address);
        bool own = n == 0 || mkperf_places_ambiguous(&p->places, head.pd);
        uint32_t to = own ? head.pd : address[n - 1].pd;
        struct mkperf_charge_pair *pair =
            &c->pair[mkperf_hash_number(&pairs, (uint64_t[2]){to, head.pd}, 2)];
        pair->to = to;
        pair->by = head.pd;
        mkperf_weight_add(&pair->weight, &p->weight[i]);
        npds = to >= npds ? to + 1 : npds;
        npds = head.pd >= npds ? head.pd + 1 : npds;
    }
    c->npairs = pairs.count;
    mkperf_hash_free(&pairs);
    mkperf_charge_sum(c, npds);
}

void mkperf_charge_free(struct mkperf_charge *c)
{
    free(c->pair);
    free(c->pd);
    *c = (struct mkperf_charge){.pair = NULL};
}
