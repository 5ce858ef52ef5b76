/* SPDX-License-Identifier: BSD-2-Clause */
/* What the PDs of entries.system have in common. */
#ifndef ENTRIES_H
#define ENTRIES_H

enum {
    CH_CALLEE = 1,
    CH_WAITER = 2,
    CH_CALLER = 1,
    CH_TIMER = 0,

    LONG_MESSAGE = 8, /* words: too many for the fast path, which takes what fits into registers */
};

/* Uses a vector register, for which a kernel that switches them lazily is entered. */
static inline void use_vector_register(void)
{
    __asm__ volatile(".arch_extension fp\n\tfmov d0, xzr" : : : "v0");
}

#endif
