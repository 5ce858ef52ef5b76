/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the same name in several PDs.
 *
 * Owns: which they are. For formats whose readers join functions of one name, and would so draw an
 * edge from one PD's `notified` to what another PD's calls: these put the PD into the name.
 */
#ifndef MKPERF_HOST_EXPORT_FUNCTION_NAMES_H
#define MKPERF_HOST_EXPORT_FUNCTION_NAMES_H

#include <stdbool.h>

#include "profile/places.h"

struct function_names {
    const struct mkperf_places *places;
    bool *shared; /* of each function: its name is another PD's, too, or the kernel's */
};

/* places: complete, and to live as long as n. To be freed. */
void function_names_init(struct function_names *n, const struct mkperf_places *places);
void function_names_free(struct function_names *n);

/* The PD of a function, or "kernel", if its name alone does not tell; else NULL. */
const char *function_names_pd(const struct function_names *n, uint32_t function);

#endif
