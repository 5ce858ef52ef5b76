/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf report on a terminal: rows to walk through, call trees to unfold, code to look at.
 *
 * Owns: the screen while it runs. Called by `mkperf report`.
 */
#ifndef MKPERF_HOST_REPORT_BROWSER_H
#define MKPERF_HOST_REPORT_BROWSER_H

#include "row_tree.h"

/* Whether standard input and output are a terminal that can be drawn on. */
bool report_browser_usable(void);

/* Shows the recording read from `path` until the user has seen enough. */
void report_browse(struct mkperf_frames *f, const struct report_options *o, const char *path);

#endif
