/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Akaros' kpdata into the model, in its three layouts.
 *
 * Owns: framing, the layouts (eras) and their detection, order of time. Called by `mkperf
 * kprof2perf` and `mkperf convert`. kpdata is not in the order of time, so it is read twice: once
 * for its processes, mappings and an index of its samples (16 bytes each, in an unnamed temporary
 * file), which is then sorted; memory grows with the number of processes and mappings alone.
 *
 * A process is a PD; each file mapped into it besides its program is a PD of its own, named
 * "PROGRAM:FILE", whose parent is the process, because a PD has one ELF. Kernel samples belong to
 * their process (era C) or to a PD "kernel"; their callers are the kernel's (KERNEL and NO_USER).
 * Addresses are moved to where the ELF was linked. kpdata has no losses, so totals are never
 * `complete`, and no periods except for timers: other samples count as 1.
 */
#ifndef MKPERF_HOST_IMPORT_KPROF_H
#define MKPERF_HOST_IMPORT_KPROF_H

#include "model/model.h"
#include "options.h"

/*
 * Reads path ("-": standard input) into sink, from begin to end (abandon on error). Errors:
 * MKPERF_ERR_INPUT "path: offset N: reason"; ELF: the kernel's; the sink's.
 */
enum mkperf_status mkperf_kprof_read(const char *path, const struct mkperf_input *in,
                                     const struct mkperf_sink *sink, struct mkperf_error *e);
enum mkperf_status mkperf_kprof_read_memory(const char *name, const void *p, size_t n,
                                            const struct mkperf_input *in,
                                            const struct mkperf_sink *sink, struct mkperf_error *e);

#endif
