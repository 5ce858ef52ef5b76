/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways into the kernel on AArch64: ways_in.c. */
#ifndef POCKET_WAYS_IN_H
#define POCKET_WAYS_IN_H

#include "mkperf_port.h"

/* Chooses the vectors when a session has begun or ended. */
void entry_session(const struct core *core);

/* Called by vectors.S and smp.c. */
bool irq_fast(struct core *core);
void irq_take(struct core *core);
bool irq_taken(struct core *core);
unsigned irq_number(const struct core *core);
void irq_end(struct core *core);
void trap_boundary(struct core *core, uint32_t hit);
struct task *trap_in_session(void);

#endif
