/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A help for QEMU, which loses overflows of event counters under -icount; see qemu.c. Without
 * KernelMkperfQEMU, on hardware, nothing is compiled.
 */
#ifndef MKPERF_SEL4_QEMU_H
#define MKPERF_SEL4_QEMU_H

#include <hook.h>

#ifdef CONFIG_MKPERF_QEMU
/* Counters of the session were programmed, or the session is over. */
void mkperf_qemuChosen(const struct mkperf_hook *s);
/* Counters of the session were armed again. */
void mkperf_qemuArmed(const struct mkperf_hook *s);
#else
static inline void mkperf_qemuChosen(const struct mkperf_hook *s)
{
}
static inline void mkperf_qemuArmed(const struct mkperf_hook *s)
{
}
#endif

#endif
