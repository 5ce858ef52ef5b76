/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task's saved registers: the one layout that C and assembly share.
 *
 * While a task runs, sscratch points to its context. In the kernel sp is the core's stack, whose top is the struct core
 * (tp too).
 */
#ifndef POCKET_REGS_H
#define POCKET_REGS_H

#define CONTEXT_PC 256
#define CONTEXT_PSTATE 264
#define FP_CONTROL 256 /* its place in struct fp_context */

#define KERNEL_STACK_BYTES 16384

#define PSTATE_FP 0x2000   /* sstatus: the FP registers may be used */
#define PSTATE_USER 0x2020 /* with the bits for a return to user mode with interrupts on (SPIE) */
#define PSTATE_IDLE 0x2120 /* the return is to S-mode (SPP) with interrupts on */

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

/* Of a system call: arguments, and results. */
enum { A0 = 10, A1 = 11, CONTEXT_FP = 8, CONTEXT_LR = 1, CALL_NUMBER = 5 /* t0 */ };

struct context {
    union {
        uint64_t x[32]; /* x[0] is unused */
        struct {
            uint64_t zero, ra, sp;
        };
    };
    uint64_t pc;
    uint64_t pstate; /* sstatus */
};

_Static_assert(offsetof(struct context, pc) == CONTEXT_PC, "context layout");
_Static_assert(offsetof(struct context, pstate) == CONTEXT_PSTATE, "context layout");

struct fp_context {
    uint64_t f[32];
    uint64_t fcsr;
};

_Static_assert(offsetof(struct fp_context, fcsr) == FP_CONTROL, "FP context layout");

void fp_save(struct fp_context *f);
void fp_load(const struct fp_context *f);

#define READ_REG(name)                                      \
    __extension__({                                         \
        uint64_t value_;                                    \
        __asm__ volatile("csrr %0, " #name : "=r"(value_)); \
        value_;                                             \
    })
#define WRITE_REG(name, value) __asm__ volatile("csrw " #name ", %0" : : "r"((uint64_t)(value)))

#endif
#endif
