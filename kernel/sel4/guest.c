/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accesses of guests to the PMU, and why guests exit.
 *
 * Owns: what such an access does, and the number of an exit. The PMU belongs to the hook, so each access of a guest traps (mkperf_initGuests).
 * A monitor that runs on the kernel without the hook does not know these traps, and would end its guest. The kernel
 * therefore answers them: registers read as 0, and writes are ignored. To the guest this is a PMU without counters. Called
 * by handleVCPUFault, with and without a session.
 *
 * The scheduler's variables are not touched, and the guest continues, as after a sample (mkperf_interrupt).
 */
#include <mkperf_port.h>

/* The fields of HSR for a trapped MSR or MRS (Arm ARM, ISS encoding, exception class 0x18). */
enum {
    CLASS_SHIFT = 26,
    CLASS_MASK = MASK(6),
    CLASS_SYSTEM_REGISTER = 0x18,
    OP0_SHIFT = 20,
    OP0_MASK = MASK(2),
    OP1_SHIFT = 14,
    OP1_MASK = MASK(3),
    CRN_SHIFT = 10,
    CRM_SHIFT = 1,
    CR_MASK = MASK(4),
    RT_SHIFT = 5,
    RT_MASK = MASK(5),
    READS = BIT(0),
};

enum {
    ZERO_REGISTER = 31,
    INSTRUCTION_BYTES = 4,
    SPSR_BTYPE = MASK(2) << 10, /* an emulated instruction leaves it as any other does */
    SPSR_SS = BIT(21),
    PAGE_SHIFT = 12,
};

/* Fields of the register MDCR_EL2 (Arm ARM, D13.3). */
enum {
    MDCR_HPMN_MASK = MASK(5),
    MDCR_TPMCR = BIT(5),
    MDCR_TPM = BIT(6),
    MDCR_HPMD = BIT(17),
};

/*
 * MDCR_EL2 gives all counters to EL1 and EL0 (HPMN), because only these can interrupt without belonging to EL2. It lets them
 * count at EL2 (HPMD), and makes every access of a guest or a PD to them trap (TPM, TPMCR), whatever PMUSERENR_EL0 allows.
 */
BOOT_CODE void mkperf_initGuests(void)
{
    word_t mdcr;
    word_t pmcr;

    MRS("pmcr_el0", pmcr);
    MRS("mdcr_el2", mdcr);
    mdcr &= ~(word_t)(MDCR_HPMN_MASK | MDCR_HPMD);
    mdcr |= ((pmcr >> MKPERF_PMCR_N_SHIFT) & MKPERF_PMCR_N_MASK) | MDCR_TPM | MDCR_TPMCR;
    MSR("mdcr_el2", mdcr);
}

/* Returns whether these are the registers of the PMU: PMCR_EL0 to PMOVSSET_EL0, PMINTENSET_EL1 to
 * PMMIR_EL1, and the counters with their types (Arm ARM, D13.4). */
static bool_t isPMU(word_t hsr)
{
    word_t op1 = hsr >> OP1_SHIFT & OP1_MASK;
    word_t crn = hsr >> CRN_SHIFT & CR_MASK;
    word_t crm = hsr >> CRM_SHIFT & CR_MASK;

    return (hsr >> OP0_SHIFT & OP0_MASK) == 3 &&
           ((crn == 9 && crm >= 12 && crm <= 14 && (op1 == 3 || (op1 == 0 && crm == 14))) ||
            (crn == 14 && crm >= 8 && op1 == 3));
}

bool_t mkperf_guestTried(word_t hsr)
{
    tcb_t *thread = NODE_STATE(ksCurThread);
    word_t rt = hsr >> RT_SHIFT & RT_MASK;

    if ((hsr >> CLASS_SHIFT & CLASS_MASK) != CLASS_SYSTEM_REGISTER || !isPMU(hsr) ||
        !mkperf_isVCPU(thread)) {
        return false;
    }
    if ((hsr & READS) && rt != ZERO_REGISTER) {
        setRegister(thread, rt, 0); /* X0 to X30 are the registers 0 to 30 */
    }
    setRegister(thread, NextIP, getRegister(thread, NextIP) + INSTRUCTION_BYTES);
    setRegister(thread, SPSR_EL1, getRegister(thread, SPSR_EL1) & ~(word_t)(SPSR_BTYPE | SPSR_SS));
    mkperf_node[CURRENT_CPU_INDEX()].hook.answer.guest_accesses++;
    return true;
}

word_t mkperf_faultOf(struct mkperf_hook *hook, tcb_t *thread, tcb_t *handler)
{
    seL4_Fault_t fault = thread->tcbFault;
    word_t page, time = mkperf_port_time();

    if (!mkperf_isVCPU(thread)) {
        return MKPERF_FAULT_THREAD;
    }
    switch (seL4_Fault_get_seL4_FaultType(fault)) {
    case seL4_Fault_VMFault:
        page =
            MIN(seL4_Fault_VMFault_get_address(fault) >> PAGE_SHIFT, (word_t)MKPERF_EXIT_PAGES - 1);
        mkperf_sched_event(hook, MKPERF_SCHED_PAGE, page >> 12, handler, time);
        mkperf_sched_event(hook, MKPERF_SCHED_PAGE, page & MASK(12), handler, time);
        return seL4_Fault_VMFault_get_instructionFault(fault) ? MKPERF_EXIT_FETCH
                                                              : MKPERF_EXIT_ACCESS;
    case seL4_Fault_UnknownSyscall: /* the kernel takes a hypercall for a system call */
        return MKPERF_EXIT_HVC;
    case seL4_Fault_VCPUFault:
        return MKPERF_EXIT + (seL4_Fault_VCPUFault_get_hsr(fault) >> CLASS_SHIFT & CLASS_MASK);
    case seL4_Fault_VGICMaintenance:
        return MKPERF_EXIT_GIC;
    case seL4_Fault_VPPIEvent:
        return MKPERF_EXIT_TIMER;
    default:
        return MKPERF_EXIT_OTHER;
    }
}
