/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page's data, as JSON of bounded size.
 *
 * Owns: what the answers look like, and their limits. Called by the server.
 *
 *   info      {file, head, events: [name], pds: [{name, samples, idle}], cores, from, to, samples,
 *              lost, complete, speedscope}; times are decimal strings of nanoseconds
 *   timeline  {bins, cores: [{core, lanes: [{pd, weight: [period of each bin]}]}]}; PDs beyond
 *             the VIEW_LANES heaviest are one lane without pd; cores from VIEW_CORES on are omitted
 *   profile   {samples, period, whole, rows: [[pd, function, kernel, self, total, samples]], left,
 *             functions: [[pd, name, kernel]], tree: [[depth, function, period]], hidden}; the tree
 *             in preorder, outermost first, depth 0 a PD (function = -1 - its number). `hidden`
 *             nodes of the tree and `left` rows are too light to be sent.
 */
#ifndef MKPERF_HOST_VIEW_VIEW_JSON_H
#define MKPERF_HOST_VIEW_VIEW_JSON_H

#include <stdio.h>

#include "query.h"

enum { VIEW_BINS = 600, VIEW_LANES = 12, VIEW_CORES = 64, VIEW_ROWS = 500, VIEW_NODES = 4000 };

void view_json_text(const char *text, FILE *out); /* with its quotes */
void view_json_info(const struct mkperf_frames *f, const char *path, bool speedscope, FILE *out);
bool view_json_timeline(const struct mkperf_profile *whole, uint32_t event, FILE *out);

/* f->profile is the selected profile. */
enum mkperf_status view_json_profile(struct mkperf_frames *f, const struct view_query *q, FILE *out,
                                     struct mkperf_error *e);

#endif
