/* SPDX-License-Identifier: BSD-2-Clause */
/* The console's words for what a PD did wrong (Arm ARM, D17.2.37: ESR_EL1). */
#include "core.h"

static const char *abort_kind(uint64_t esr)
{
    bool fetch = arch_class(esr) == EC_FETCH_USER;
    bool write = esr >> 6 & 1;

    switch (esr >> 2 & 15) {
    case 0: /* address size */
    case 1: /* translation */
        return fetch   ? "jump to unmapped address"
               : write ? "write to unmapped address"
                       : "read of unmapped address";
    case 3: /* permission */
        return fetch   ? "jump to memory that is not executable"
               : write ? "write to memory that is read-only"
                       : "read of memory without permission";
    case 4: /* external */
        return "access to an absent device";
    case 8: /* alignment */
        return "misaligned access";
    default:
        return "memory fault";
    }
}

const char *arch_fault_kind(uint64_t syndrome)
{
    switch (arch_class(syndrome)) {
    case EC_UNKNOWN:
        return "undefined instruction";
    case EC_WFX:
        return "wait instruction";
    case EC_SVC:
        return "unknown system call";
    case EC_SYSREG:
        return "system register access";
    case EC_FETCH_USER:
    case EC_DATA_USER:
        return abort_kind(syndrome);
    case EC_PC_ALIGN:
        return "misaligned pc";
    case EC_SP_ALIGN:
        return "misaligned sp";
    case EC_BRK:
        return "breakpoint instruction";
    default:
        return "exception";
    }
}
