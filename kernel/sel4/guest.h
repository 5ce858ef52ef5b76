/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guests of virtual machines: whether a thread is a virtual CPU, and what its guest does.
 *
 * Owns: what the other files of this folder ask about guests; guest.c has the rest. A kernel without hypervisor support
 * has no guests, and nothing is left of these functions.
 */
#pragma once

#include <hook.h>

#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT

#define MKPERF_SPSR_EL1 4 /* of all modes that a thread may have, only those of EL1 have this bit */

static inline bool_t mkperf_isVCPU(const tcb_t *thread)
{
    return thread->tcbArch.tcbVCPU != NULL;
}

/* Returns the mode of the guest of a vCPU's thread. */
static inline uint32_t mkperf_guestMode(tcb_t *thread)
{
    return getRegister(thread, SPSR_EL1) & MKPERF_SPSR_EL1 ? MKPERF_GUEST_KERNEL
                                                           : MKPERF_GUEST_USER;
}

/* Called at boot, on each core: the PMU counts where the hook wants it, and traps if a guest or a PD accesses it. */
void mkperf_initGuests(void);

/* Returns what the fault of a thread is, an enum mkperf_fault, for the message to its handler. Of an exit that accessed
 * a page, reports the page. */
word_t mkperf_faultOf(struct mkperf_hook *hook, tcb_t *thread, tcb_t *handler);

#else

#define mkperf_isVCPU(THREAD) false
#define mkperf_guestMode(THREAD) MKPERF_GUEST_NONE
#define mkperf_initGuests()
#define mkperf_faultOf(HOOK, THREAD, HANDLER) MKPERF_FAULT_THREAD

#endif
