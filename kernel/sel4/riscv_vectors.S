/* SPDX-License-Identifier: GPL-2.0-only */
/* The entry of a core during a session: the kernel's own source, compiled a second time, as in vectors.S. */
#include <copies.h>

#define trap_entry mkperf_vectors

.section .text.traps, "ax"
.balign 4 /* stvec's lower bits are its mode */

#include <../src/arch/riscv/traps.S>
