/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PD without any authority that attacks the PMU, for tests/system/hostile.sh and, on real seL4,
 * tests/sel4/check. One program, three PDs, distinguished by their names.
 *
 * `attacker` tries each of the PMU's registers from user mode, reading and writing, one access
 * after the other; `guard`, its parent, counts the faults and resumes it behind each. `steady`
 * does three parts of work in one function and one part in another, and between two rounds lets the
 * attacker run. So a profile is right if it has three to one, whatever the attacker did.
 */
#include <microkit.h>

#include <stdint.h>

#include "spin.h"

enum { CH_ATTACKER = 1, CH_GUARD = 2, CHILD_ATTACKER = 3, PART = 250000, SAY_EACH = 16 };

/* The attacker writes it, the guard reads it. */
struct attack {
    uint64_t accesses; /* begun */
    uint64_t rounds;   /* completed */
    uint64_t open;     /* PMUSERENR_EL0, which user mode may read unless EL2 traps it */
};
uintptr_t hostile_attack;

static volatile struct attack *attack(void)
{
    return (volatile struct attack *)hostile_attack;
}

static int am(const char *name)
{
    unsigned i = 0;

    while (name[i] != '\0' && microkit_name[i] == name[i]) {
        i++;
    }
    return microkit_name[i] == name[i];
}

/* ---- the attacker --------------------------------------------------------------------------- */

#define READ(reg)         \
    attack()->accesses++; \
    __asm__ volatile("mrs %0, " reg : "=r"(value) : : "memory");
#define WRITE(reg, v)     \
    attack()->accesses++; \
    __asm__ volatile("msr " reg ", %0" : : "r"((uint64_t)(v)) : "memory");
#define BOTH(reg, v) READ(reg) WRITE(reg, v)
#define COUNTER(n) BOTH("pmevcntr" #n "_el0", UINT32_MAX) BOTH("pmevtyper" #n "_el0", 0x11)

/* The review's attack: counter 0 counts the kernel's cycles, too; and whatever else there is. */
static void try_all(void)
{
    uint64_t value = 0;

    WRITE("pmselr_el0", 0)
    WRITE("pmxevtyper_el0", 0x11)
    BOTH("pmcr_el0", 1)
    BOTH("pmcntenset_el0", UINT32_MAX)
    BOTH("pmcntenclr_el0", UINT32_MAX)
    BOTH("pmovsset_el0", UINT32_MAX)
    BOTH("pmovsclr_el0", UINT32_MAX)
    WRITE("pmswinc_el0", UINT32_MAX)
    READ("pmselr_el0")
    READ("pmxevtyper_el0")
    BOTH("pmxevcntr_el0", UINT32_MAX)
    BOTH("pmccntr_el0", UINT64_MAX)
    BOTH("pmccfiltr_el0", 0)
    READ("pmceid0_el0")
    READ("pmceid1_el0")
    WRITE("pmuserenr_el0", 0xf)
    BOTH("pmintenset_el1", UINT32_MAX)
    BOTH("pmintenclr_el1", UINT32_MAX)
    COUNTER(0)
    COUNTER(1)
    COUNTER(2)
    COUNTER(3)
    COUNTER(4)
    COUNTER(5)
    COUNTER(30)
    value = 0; /* a trap to EL2 leaves it so */
    __asm__ volatile("mrs %0, pmuserenr_el0" : "+r"(value));
    attack()->open |= value;
    attack()->rounds++;
}

/* ---- the guard ------------------------------------------------------------------------------ */

static uint64_t faults, others;

static void put(const char *text, uint64_t n)
{
    microkit_dbg_puts(text);
    microkit_dbg_put32((uint32_t)n);
}

seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply)
{
    (void)reply;
    if (child != CHILD_ATTACKER || microkit_msginfo_get_label(msginfo) == seL4_Fault_VMFault) {
        others++;
        return 0;
    }
    faults++;
    uint64_t pc = microkit_mr_get(seL4_UserException_FaultIP);
#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT /* a trap to EL2, whose message has no address */
    if (microkit_msginfo_get_label(msginfo) == seL4_Fault_VCPUFault) {
        seL4_UserContext context;

        seL4_TCB_ReadRegisters(BASE_TCB_CAP + child, 0, 0, 1, &context);
        pc = context.pc;
    }
#endif
    microkit_pd_restart(child, pc + 4);
    return 0;
}

/* ---- the work ------------------------------------------------------------------------------- */

static volatile uint64_t done;

__attribute__((noinline)) static void three_parts(void)
{
    spin(UINT64_C(3) * PART);
    done++;
}

__attribute__((noinline)) static void one_part(void)
{
    spin(PART);
    done++;
}

void init(void)
{
    while (am("steady")) {
        for (unsigned i = 0; i < SAY_EACH; i++) {
            three_parts();
            one_part();
            microkit_notify(CH_ATTACKER);
        }
        microkit_notify(CH_GUARD); /* which shows what was counted */
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
    if (am("attacker")) {
        try_all();
    } else if (am("guard")) {
        put("hostile: rounds ", attack()->rounds);
        put(" accesses ", attack()->accesses);
        put(" faults ", faults);
        put(" others ", others);
        put(" open ", attack()->open);
        microkit_dbg_puts("\n");
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    return msginfo;
}
