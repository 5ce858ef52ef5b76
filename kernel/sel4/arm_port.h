/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mkperf_port.h needs of AArch64, with and without hypervisor support. riscv_port.h has the same.
 */
#pragma once

#include <arch/armv8_pmuv3.h>
#include <mkperf_node.h>

enum { MKPERF_LR = X30, MKPERF_FP = X29, MKPERF_SP = SP_EL0 };

/* Returns the address at which the interrupt was taken. */
static inline word_t mkperf_interruptedAt(void)
{
    word_t elr;

    MRS(config_ternary(CONFIG_ARM_HYPERVISOR_SUPPORT, "elr_el2", "elr_el1"), elr);
    return elr;
}

/* Returns whether an event at pc belongs to the entry before. The idle thread's code is in the
 * kernel, too. An event before its first instruction does. */
static inline bool_t mkperf_isOfEntry(word_t pc)
{
    return pc == (word_t)idle_thread;
}

#define mkperf_inKernel(hook)

/* Sets how this core is entered from now on. */
static inline void mkperf_setVectors(bool_t session)
{
    setVtable((pptr_t)(session ? mkperf_vectors : arm_vector_table));
}

static inline bool_t mkperf_isInitialSpace(cap_t root)
{
    return cap_get_capType(root) == cap_vspace_cap &&
           cap_vspace_cap_get_capVSMappedASID(root) == IT_ASID;
}

static inline uint64_t mkperf_port_time(void)
{
    word_t time;
    MRS(CNT_CT, time);
    return time;
}

static inline uint64_t mkperf_port_tick_hz(void)
{
    word_t hz;
    MRS(CNTFRQ, hz);
    return hz;
}
