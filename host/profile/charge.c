/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of charged time, see profile.h. */
#include "profile.h"

static struct mkperf_charge_pd *sums_of(struct mkperf_charge *c, struct mkperf_hash *pds,
                                        uint32_t pd)
{
    const uint64_t key = pd;
    struct mkperf_charge_pd *sums = &c->pd[mkperf_hash_number(pds, &key, 1)];

    sums->pd = pd;
    return sums;
}

void mkperf_charge_sum(struct mkperf_charge *c)
{
    struct mkperf_hash pds = {.count = 0};

    c->pd = mkperf_xcalloc(2 * (size_t)c->npairs, sizeof *c->pd);
    for (uint32_t i = 0; i < c->npairs; i++) {
        const struct mkperf_charge_pair *pair = &c->pair[i];
        struct mkperf_charge_pd *to = sums_of(c, &pds, pair->to), *by = sums_of(c, &pds, pair->by);
        mkperf_weight_add(&to->charged, &pair->weight);
        mkperf_weight_add(to == by ? &to->self : &to->imposed, &pair->weight);
        if (to != by) {
            mkperf_weight_add(&by->served, &pair->weight);
        }
        mkperf_weight_add(&c->total, &pair->weight);
    }
    c->npds = pds.count;
    mkperf_hash_free(&pds);
    MKPERF_SORT(c->pair, c->npairs, MKPERF_DOWN(c->pair, weight.period), MKPERF_UP(c->pair, by));
    MKPERF_SORT(c->pd, c->npds, MKPERF_DOWN(c->pd, charged.period), MKPERF_UP(c->pd, pd));
}

void mkperf_charge_make(struct mkperf_charge *c, const struct mkperf_profile *p, uint32_t event)
{
    struct mkperf_hash pairs = {.count = 0};

    *c = (struct mkperf_charge){.pair = mkperf_xcalloc(p->chains.count + 1, sizeof *c->pair)};
    for (uint32_t i = 0; i < p->chains.count; i++) {
        struct mkperf_place address[MKPERF_PLACES_MAX];
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
    }
    c->npairs = pairs.count;
    mkperf_hash_free(&pairs);
    mkperf_charge_sum(c);
}

void mkperf_charge_free(struct mkperf_charge *c)
{
    free(c->pair);
    free(c->pd);
    *c = (struct mkperf_charge){.pair = NULL};
}
