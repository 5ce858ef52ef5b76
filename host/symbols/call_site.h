/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether an address can be what a sample says it is: code, or the place that a call returns to.
 *
 * Owns: the few instructions that this takes, of the three architectures that the symbolizer opens.
 * Called by model/plausible.c. An answer "no" is certain: the program that ran is not this ELF.
 */
#ifndef MKPERF_HOST_SYMBOLS_CALL_SITE_H
#define MKPERF_HOST_SYMBOLS_CALL_SITE_H

#include "symbols.h"

/* Whether an instruction can begin at addr: in an executable segment, at a multiple of the
 * architecture's unit, and, where the ELF has functions, in one of them. */
bool mkperf_module_is_code(struct mkperf_module *m, uint64_t addr);

/* Whether the instruction before addr is a call or a system call, after which control comes back. */
bool mkperf_module_follows_call(const struct mkperf_module *m, uint64_t addr);

#endif
