/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf report --charged: the table of profile/charge.h. */
#ifndef MKPERF_HOST_REPORT_CHARGED_H
#define MKPERF_HOST_REPORT_CHARGED_H

#include <stdio.h>

#include "profile/profile.h"

/* Prints the charges of one event: a row for each PD, below it which PDs worked on its behalf. Rows
 * below `limit` per cent are left out, and the last line says how many. */
void report_charged_print(const struct mkperf_profile *p, uint32_t event, double limit, FILE *out);

#endif
