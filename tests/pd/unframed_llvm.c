/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unframed.c for LLVM, whose version 14 describes frames only as they are at calls. The innermost function is short, so that
 * many samples are at the beginning and the end of functions.
 */
#define SPINS 2
#include "unframed.c" // NOLINT(bugprone-suspicious-include)
