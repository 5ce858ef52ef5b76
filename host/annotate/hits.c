/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the count of samples by instruction, and the order of functions. See annotate.h. */
#include "annotate.h"

/* Stores the innermost address of a chain. False: the choice excludes the chain, or its function is unknown. */
static bool find_hit(const struct mkperf_frames *f, const struct annotate_choice *c, uint32_t chain,
                     struct annotate_hit *out)
{
    const struct mkperf_profile *p = f->profile;
    struct mkperf_address address[MKPERF_PLACES_MAX];
    struct mkperf_chain_head head = mkperf_profile_head(p, chain);

    if (head.event != c->event ||
        (c->pd && strcmp(c->pd, mkperf_profile_pd_name(p, head.pd)) != 0) ||
        mkperf_profile_addresses(p, chain, address) == 0) {
        return false;
    }
    out->module = mkperf_frames_module(f, address[0].pd, address[0].kernel);
    out->addr = address[0].addr;
    out->weight = p->weight[chain];
    return out->module && mkperf_symbol_at(out->module, out->addr, &out->symbol) &&
           (!c->symbol || mkperf_symbol_is(out->symbol.name, c->symbol));
}

static int compare_hits(const void *pa, const void *pb)
{
    const struct annotate_hit *a = pa, *b = pb;
    int order = a->module == b->module
                    ? 0
                    : strcmp(mkperf_module_path(a->module), mkperf_module_path(b->module));

    if (order != 0) {
        return order;
    }
    return a->symbol.start != b->symbol.start ? mkperf_compare(a->symbol.start, b->symbol.start)
                                              : mkperf_compare(a->addr, b->addr);
}

/* Joins sorted hits of one address, and lists the functions that have hits. */
static void merge_hits(struct annotate_hits *h)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < h->n; i++) {
        struct annotate_hit hit = h->hit[i];
        struct annotate_function *last = h->nfunctions ? &h->function[h->nfunctions - 1]
                                                       : h->function;

        if (h->nfunctions == 0 || last->module != hit.module ||
            last->symbol.start != hit.symbol.start) {
            last = &h->function[h->nfunctions++];
            *last =
                (struct annotate_function){.module = hit.module, .symbol = hit.symbol, .first = n};
        }
        mkperf_weight_add(&last->weight, &hit.weight);
        if (last->n > 0 && h->hit[n - 1].addr == hit.addr) {
            mkperf_weight_add(&h->hit[n - 1].weight, &hit.weight);
        } else {
            h->hit[n++] = hit;
            last->n++;
        }
    }
    assert(n >= h->nfunctions);
    h->n = n;
}

static int compare_functions(const void *pa, const void *pb)
{
    const struct annotate_function *a = pa, *b = pb;

    if (a->weight.period != b->weight.period) {
        return a->weight.period > b->weight.period ? -1 : 1;
    }
    return mkperf_compare(a->first, b->first);
}

void annotate_hits_find(struct annotate_hits *h, const struct mkperf_frames *f,
                        const struct annotate_choice *c)
{
    uint32_t chains = f->profile->chains.count;

    *h = (struct annotate_hits){.hit = mkperf_xcalloc(chains, sizeof *h->hit),
                                .function = mkperf_xcalloc(chains, sizeof *h->function)};
    for (uint32_t i = 0; i < chains; i++) {
        h->n += find_hit(f, c, i, &h->hit[h->n]);
    }
    qsort(h->hit, h->n, sizeof *h->hit, compare_hits);
    merge_hits(h);
    qsort(h->function, h->nfunctions, sizeof *h->function, compare_functions);
}

void annotate_hits_free(struct annotate_hits *h)
{
    free(h->hit);
    free(h->function);
}
