/* SPDX-License-Identifier: BSD-2-Clause */
/* The head of a report: what a reader must know to trust the numbers below it. */
#ifndef MKPERF_HOST_REPORT_HEAD_H
#define MKPERF_HOST_REPORT_HEAD_H

#include <stdio.h>

#include "profile/profile.h"

void report_head_print(const struct mkperf_profile *p, const char *path, bool marks, FILE *out);

#endif
