/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see function_names.h. */
#include "function_names.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* PDs and the kernel, as numbers; never 0. */
static uint32_t object_of(const struct mkperf_function *f)
{
    return f->kernel ? 1 : f->pd + 2;
}

void function_names_init(struct function_names *n, const struct mkperf_places *places)
{
    uint32_t *object = mkperf_xcalloc(places->texts.count + 1, sizeof *object); /* of each name */
    bool *several = mkperf_xcalloc(places->texts.count + 1, sizeof *several);

    *n = (struct function_names){
        .places = places, .shared = mkperf_xcalloc(places->functions.count + 1, sizeof *n->shared)};
    for (uint32_t i = 0; i < places->functions.count; i++) {
        const struct mkperf_function *f = &places->function[i];
        several[f->name] |= object[f->name] != 0 && object[f->name] != object_of(f);
        object[f->name] = object_of(f);
    }
    for (uint32_t i = 0; i < places->functions.count; i++) {
        n->shared[i] = several[places->function[i].name];
    }
    free(object);
    free(several);
}

void function_names_free(struct function_names *n)
{
    free(n->shared);
    *n = (struct function_names){.shared = NULL};
}

const char *function_names_pd(const struct function_names *n, uint32_t function)
{
    const struct mkperf_function *f = &n->places->function[function];

    if (!n->shared[function]) {
        return NULL;
    }
    return f->kernel ? "kernel" : mkperf_places_pd_name(n->places, f->pd);
}
