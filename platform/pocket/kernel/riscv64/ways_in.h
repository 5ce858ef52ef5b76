/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways into the kernel on RISC-V: ways_in.c. */
#ifndef POCKET_WAYS_IN_H
#define POCKET_WAYS_IN_H

#include "mkperf_port.h"

/* Called when a session begins or ends. There is nothing to do: each entry into the kernel looks for a session. */
static inline void entry_session(const struct core *core)
{
    (void)core;
}

/* Called by vectors.S. */
struct task *trap_entered(void);
struct task *irq_entered(void);

#endif
