/* SPDX-License-Identifier: BSD-2-Clause */
/* What mkperf_port.h needs of RISC-V. */
#ifndef POCKET_PORT_ARCH_H
#define POCKET_PORT_ARCH_H

#include "../../../../kernel/arch/riscv_sscofpmf.h"

/* Returns the kernel's view of a page of the current task, or 0 if user mode cannot read it. */
static inline uintptr_t port_window(uint64_t va)
{
    return (uintptr_t)irq_find_memory(core_self()->current, va, 4096, false);
}

#endif
