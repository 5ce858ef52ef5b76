/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The domain schedule of a system, as the text that a stamp and a recording have.
 *
 * Owns: that text: the windows of a frame, in their order, each "NUMBER DURATION UNIT DOMAIN" with the unit us or ticks, and '|'
 * between two. NUMBER is the entry of the kernel's schedule, which scheduling events have. The text can come from a hostile target.
 */
#ifndef MKPERF_HOST_SYSTEM_WINDOWS_H
#define MKPERF_HOST_SYSTEM_WINDOWS_H

#include "system.h"

enum { MKPERF_WINDOWS = 128, MKPERF_DOMAIN_NAME = 64 };

struct mkperf_schedule_entry {
    unsigned number;
    uint64_t us, ticks; /* its duration, in one of both units */
    char domain[MKPERF_DOMAIN_NAME];
};

/* The text of a system's schedule, to be freed. NULL: it has none. */
char *mkperf_windows_text(const struct mkperf_system *s);

/* Reads the windows of a text, which may be NULL, up to the first that is invalid. Returns how many. */
unsigned mkperf_windows_read(const char *text, struct mkperf_schedule_entry out[MKPERF_WINDOWS]);

#endif
