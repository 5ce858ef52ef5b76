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

/* The titles of the columns. more: of columns before the PD, as wide as what the rows have there;
 * "": none. */
#define REPORT_CHARGED_TITLES(more) " Charged      Self   Imposed  For others" more "  PD"

/* A PD's row; more: its text in those columns; name: of the PD. */
void report_charged_row(const struct mkperf_charge *c, const struct mkperf_charge_pd *pd,
                        const char *more, const char *name, char *text, size_t n);

/* A row below a PD's: who worked on its behalf; more: how wide those columns are; name: of pair->by. */
void report_charged_by(const struct mkperf_charge *c, const struct mkperf_charge_pair *pair,
                       int more, const char *name, char *text, size_t n);

/* The table for one event: a row for each PD, below it which PDs worked on its behalf. Rows below
 * `limit` per cent are left out, and the last line says how many. */
void report_charged_print(const struct mkperf_profile *p, uint32_t event, double limit, FILE *out);

#endif
