/* SPDX-License-Identifier: BSD-2-Clause */
/* What mkperf_port.h needs of AArch64. */
#ifndef POCKET_PORT_ARCH_H
#define POCKET_PORT_ARCH_H

#include "../../../../kernel/arch/armv8_pmuv3.h"

/* Bits of PAR_EL1. */
#define PORT_PAR_FAILED UINT64_C(1)
#define PORT_ADDRESS UINT64_C(0x0000fffffffff000)

/*
 * Inlined, for fewer registers in mkperf_capture: the kernel's view of a page of the current task; 0: user mode cannot read it. The MMU translates, as for a load by EL0.
 * Nothing else in pocket uses PAR_EL1 and PDs cannot, so it need not be saved.
 */
static inline __attribute__((always_inline)) uintptr_t port_window(uint64_t va)
{
    uint64_t par;

    __asm__ volatile("at s1e0r, %1\n\tisb\n\tmrs %0, par_el1" : "=r"(par) : "r"(va) : "memory");
    if ((par & PORT_PAR_FAILED) != 0 || !in_ram(par & PORT_ADDRESS)) {
        return 0;
    }
    return (par & PORT_ADDRESS) + POCKET_KERNEL_BASE;
}

#endif
