/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of seL4_UserContext that mkperf reads in another PD's registers, by what they are for. */
#ifndef MKPERF_REGISTERS_H
#define MKPERF_REGISTERS_H

#ifdef __riscv
#define MKPERF_REG_CAP a0  /* holds the capability of a system call */
#define MKPERF_REG_CALL a7 /* holds the system call's number */
#define MKPERF_REG_FP s0
#define MKPERF_REG_LR ra
#else
#define MKPERF_REG_CAP x0
#define MKPERF_REG_CALL x7
#define MKPERF_REG_FP x29
#define MKPERF_REG_LR x30
#endif

#endif
