/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of charged time (profile/charge.h).
 *
 * Owns: its columns. Called by mkperf report, and by mkperf top for its rows.
 */
#ifndef MKPERF_HOST_REPORT_CHARGED_H
#define MKPERF_HOST_REPORT_CHARGED_H

#include <stdio.h>

#include "profile/charge.h"

/* The titles of the columns. */
extern const char report_charged_titles[];

/* A PD's row; name: of the PD. */
void report_charged_row(const struct mkperf_charge *c, const struct mkperf_charge_pd *pd,
                        const char *name, char *text, size_t n);

/* A row below a PD's: who worked on its behalf; name: of pair->by. */
void report_charged_by(const struct mkperf_charge *c, const struct mkperf_charge_pair *pair,
                       const char *name, char *text, size_t n);

/* The table for one event: a row for each PD, below it which PDs worked on its behalf. Rows below
 * `limit` per cent are left out, and the last line says how many. */
void report_charged_print(const struct mkperf_profile *p, uint32_t event, double limit, FILE *out);

#endif
