/* SPDX-License-Identifier: BSD-2-Clause */
/* What the PDs of pocket's selftest share: a page of memory, and numbers. */
#ifndef SELFTEST_SHARED_H
#define SELFTEST_SHARED_H

#include <stdint.h>

enum act {
    ACT_NULL_READ = 1,
    ACT_WRITE_TEXT,
    ACT_JUMP_DATA,
    ACT_UNDEFINED,
    ACT_WRITE_SHARED, /* the victim has it read-only */
    ACT_READ_KERNEL,
    ACT_SYSREG,
    ACT_SYSCALL,
    ACT_STACK_OVERFLOW, /* last: the stack is not given back */
    ACT_LAST = ACT_STACK_OVERFLOW,
};

struct shared {
    uint64_t act;      /* driver: what the victim shall do */
    uint64_t ticks[2]; /* spinners: rounds made */
    uint64_t stop;     /* driver: spinners shall return */
    uint64_t alive;    /* spinners: notifications received */
};

static inline uint64_t now(void)
{
    uint64_t t;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(t));
    return t;
}

static inline uint64_t hz(void)
{
    uint64_t f;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(f));
    return f;
}

#endif
