/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task's saved registers: the one layout that C and assembly share.
 *
 * While a task runs, SP_EL1 points to its context, so that an exception can save registers at
 * once; in the kernel sp is the core's stack, whose top is the struct core (TPIDR_EL1 too).
 */
#ifndef POCKET_REGS_H
#define POCKET_REGS_H

#define CONTEXT_SP 248
#define CONTEXT_PC 256
#define CONTEXT_PSTATE 264

#define KERNEL_STACK_BYTES 16384

#define PSTATE_USER 0x0   /* EL0t, nothing masked */
#define PSTATE_IDLE 0x344 /* EL1t, interrupts taken, the rest masked */

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

/* Of a system call: arguments, and results. */
enum { A0 = 0, A1 = 1, CONTEXT_FP = 29, CONTEXT_LR = 30 };

struct context {
    uint64_t x[31];
    uint64_t sp; /* SP_EL0 */
    uint64_t pc;
    uint64_t pstate;
};

_Static_assert(offsetof(struct context, sp) == CONTEXT_SP, "context layout");
_Static_assert(offsetof(struct context, pc) == CONTEXT_PC, "context layout");
_Static_assert(offsetof(struct context, pstate) == CONTEXT_PSTATE, "context layout");

struct fp_context {
    __extension__ unsigned __int128 q[32];
    uint64_t fpcr;
    uint64_t fpsr;
};

void fp_save(struct fp_context *f);
void fp_load(const struct fp_context *f);

#define READ_REG(name)                                     \
    __extension__({                                        \
        uint64_t value_;                                   \
        __asm__ volatile("mrs %0, " #name : "=r"(value_)); \
        value_;                                            \
    })
#define WRITE_REG(name, value) __asm__ volatile("msr " #name ", %0" : : "r"((uint64_t)(value)))

#endif
#endif
