/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The little of AArch64 code that the question "where is the return address" needs.
 *
 * Owns: decoding of frame set-up, tear-down and branches, and the walk over a function's control
 * flow. Called by unwind.c alone.
 */
#ifndef MKPERF_HOST_SYMBOLS_FLOW_H
#define MKPERF_HOST_SYMBOLS_FLOW_H

#include "symbols.h"

/* The instruction at pc; false if the file has none there. */
bool mkperf_flow_fetch(const struct mkperf_module *m, uint64_t pc, uint32_t *insn);

/* Does control go anywhere but to the next instruction (branch, call, return, exception)? */
bool mkperf_flow_leaves(uint32_t insn);

/* add x29, sp, #imm; mov x29, sp is its alias */
bool mkperf_flow_sets_fp(uint32_t insn);

/* ldp x29, x30 from the stack */
bool mkperf_flow_restores(uint32_t insn);

/* mkperf_lr_is_caller for a function without call-frame information. */
enum mkperf_lr mkperf_flow_lr(struct mkperf_module *m, uint64_t pc);

#endif
