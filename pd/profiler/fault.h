/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of the profiler PD's children: see fault.c. */
#ifndef MKPERF_FAULT_H
#define MKPERF_FAULT_H

#include <microkit.h>

/* Prints on the console that the child stopped, and why. While its fault's message is available. */
void mkperf_fault_tell(microkit_child child, microkit_msginfo msginfo);

#endif
