/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which instructions were interrupted, function by function.
 *
 * Owns: the weights by address. A function of an ELF is one, however many PDs run that ELF (as in
 * perf); the kernel's functions are counted for all PDs that entered it. Called by mkperf annotate
 * and the report browser.
 */
#ifndef MKPERF_HOST_ANNOTATE_HITS_H
#define MKPERF_HOST_ANNOTATE_HITS_H

#include "profile/frames.h"

struct annotate_hit {
    struct mkperf_module *module;
    struct mkperf_symbol symbol; /* the function */
    uint64_t addr;
    struct mkperf_weight weight;
};

struct annotate_function {
    struct mkperf_module *module;
    struct mkperf_symbol symbol;
    uint32_t first, n; /* its hits, by address */
    struct mkperf_weight weight;
};

struct annotate_hits {
    struct annotate_hit *hit;
    uint32_t n;
    struct annotate_function *function; /* the heaviest first */
    uint32_t nfunctions;
};

struct annotate_choice {
    const char *symbol; /* demangled, or without its parameters; NULL: all */
    const char *pd;     /* only samples of this PD, NULL: all */
    uint32_t event;
};

void annotate_hits_find(struct annotate_hits *h, const struct mkperf_frames *f,
                        const struct annotate_choice *c);
void annotate_hits_free(struct annotate_hits *h);

#endif
