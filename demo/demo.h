/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the demo's programs: macros that keep functions apart, so that the call chains in the
 * profile are those of the source.
 */
#ifndef DEMO_H
#define DEMO_H

/* A function that is a frame in every call chain: neither inlined nor cloned. */
#define DEMO_LAYER __attribute__((noinline, noclone))

/* After the last call of a function: prevents a tail call, which would remove its frame. */
#define DEMO_NO_TAIL_CALL __asm__ volatile("" ::: "memory")

#endif
