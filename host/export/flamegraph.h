/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two files of the flame graph share: flamegraph.c owns the picture, flamegraph_script.c
 * what runs in it.
 */
#ifndef MKPERF_HOST_EXPORT_FLAMEGRAPH_H
#define MKPERF_HOST_EXPORT_FLAMEGRAPH_H

extern const char mkperf_flamegraph_script[];

#endif
