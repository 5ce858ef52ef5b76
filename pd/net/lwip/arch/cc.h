/* SPDX-License-Identifier: BSD-2-Clause */
/* What lwIP wants to know of the compiler and the platform. */
#ifndef MKPERF_LWIP_CC_H
#define MKPERF_LWIP_CC_H

#include <stdint.h>

#define LWIP_NO_CTYPE_H 1
#define LWIP_PLATFORM_DIAG(x) \
    do {                      \
    } while (0)
#define LWIP_PLATFORM_ASSERT(x) mkperf_stack_assert(x)
#define LWIP_RAND() mkperf_stack_random()

void mkperf_stack_assert(const char *what);
uint32_t mkperf_stack_random(void);

#endif
