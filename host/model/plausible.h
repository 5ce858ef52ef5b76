/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink in front of another: whether samples can be of the ELFs that name them.
 *
 * Owns: counts by PD of samples that cannot be: an address where the ELF has no code, or a return
 * address that follows no call. A program that was rebuilt, or whose name belongs to another PD,
 * shows in most of its samples. Hands everything on; at the end, PDs of which more than one sample in a
 * hundred (and at least MKPERF_SUSPECT_LEAST) is such a one are in the totals (model.h).
 */
#ifndef MKPERF_HOST_MODEL_PLAUSIBLE_H
#define MKPERF_HOST_MODEL_PLAUSIBLE_H

#include "model.h"
#include "symbols/symbols.h"

enum { MKPERF_SUSPECT_LEAST = 3 };

struct mkperf_plausible;

/* symbols: whose modules are used, NULL = its own. Returns NULL if there is no memory. */
struct mkperf_plausible *mkperf_plausible_new(struct mkperf_sink to,
                                              struct mkperf_symbols *symbols);
struct mkperf_sink mkperf_plausible_sink(struct mkperf_plausible *p);
void mkperf_plausible_free(struct mkperf_plausible *p);

/* After the end: how many PDs are suspect; number i as a sentence that begins with the PD's name. */
unsigned mkperf_plausible_suspects(const struct mkperf_plausible *p);
const char *mkperf_plausible_text(const struct mkperf_plausible *p, unsigned i, char *text,
                                  size_t n);

/* The same of a suspect in totals; name: its PD's. */
const char *mkperf_suspect_text(const struct mkperf_suspect *s, const char *name, char *text,
                                size_t n);

#endif
