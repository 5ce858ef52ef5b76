/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the demo's programs share: keeping their layers apart, so that the call chains in the
 * profile are those in the source.
 */
#ifndef DEMO_H
#define DEMO_H

/* A layer of its own in every call chain: neither inlined nor cloned. */
#define DEMO_LAYER __attribute__((noinline, noclone))

/* After the last call of a function: it must return here, or its frame would be gone before. */
#define DEMO_NO_TAIL_CALL __asm__ volatile("" ::: "memory")

#endif
