/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the two files of the flame graph: flamegraph.c owns the picture, flamegraph_script.c
 * its script.
 */
#ifndef MKPERF_HOST_EXPORT_FLAMEGRAPH_H
#define MKPERF_HOST_EXPORT_FLAMEGRAPH_H

extern const char mkperf_flamegraph_script[];

#endif
