/* SPDX-License-Identifier: BSD-2-Clause */
/* The console's words for what a PD did wrong (RISC-V privileged specification, 4.1.8: scause). */
#include "core.h"

const char *arch_fault_kind(uint64_t syndrome)
{
    switch (syndrome) {
    case CAUSE_FETCH_MISALIGNED:
        return "misaligned pc";
    case CAUSE_ILLEGAL:
        return "undefined instruction";
    case CAUSE_BREAKPOINT:
        return "breakpoint instruction";
    case CAUSE_LOAD_MISALIGNED:
    case CAUSE_STORE_MISALIGNED:
        return "misaligned access";
    case CAUSE_FETCH_ACCESS:
    case CAUSE_LOAD_ACCESS:
    case CAUSE_STORE_ACCESS:
        return "access to an absent device";
    case CAUSE_CALL:
        return "unknown system call";
    case CAUSE_FETCH_PAGE:
        return "jump to memory that is unmapped or not executable";
    case CAUSE_LOAD_PAGE:
        return "read of unmapped address";
    case CAUSE_STORE_PAGE:
        return "write to memory that is unmapped or read-only";
    default:
        return "exception";
    }
}
