/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of seL4_UserContext that mkperf reads in another PD's registers, by what they are for. After microkit.h. */
#ifndef MKPERF_REGISTERS_H
#define MKPERF_REGISTERS_H

#ifdef CONFIG_ARCH_X86_64
#define MKPERF_REG_PC rip
#define MKPERF_REG_CAP rdi  /* holds the capability of a system call */
#define MKPERF_REG_CALL rdx /* holds the system call's number */
#define MKPERF_REG_FP rbp
#elif defined __riscv
#define MKPERF_REG_PC pc
#define MKPERF_REG_CAP a0
#define MKPERF_REG_CALL a7
#define MKPERF_REG_FP s0
#define MKPERF_REG_LR ra
#else
#define MKPERF_REG_PC pc
#define MKPERF_REG_CAP x0
#define MKPERF_REG_CALL x7
#define MKPERF_REG_FP x29
#define MKPERF_REG_LR x30
#endif

enum {
#ifdef CONFIG_ARCH_X86_64
    MKPERF_HAS_LR = 0,
    MKPERF_CODE_UNIT = 1,  /* number of bytes of which each instruction's address is a multiple */
    MKPERF_CALL_BYTES = 2, /* length of a system call instruction */
#elif defined __riscv
    MKPERF_HAS_LR = 1,
    MKPERF_CODE_UNIT = 2,
    MKPERF_CALL_BYTES = 4,
#else
    MKPERF_HAS_LR = 1,
    MKPERF_CODE_UNIT = 4,
    MKPERF_CALL_BYTES = 4,
#endif
};

/* Returns the return address of a function without a frame, or 0 if no register has it. */
static inline seL4_Word mkperf_link_register(const seL4_UserContext *regs)
{
#ifdef MKPERF_REG_LR
    return regs->MKPERF_REG_LR;
#else
    (void)regs;
    return 0;
#endif
}

#endif
