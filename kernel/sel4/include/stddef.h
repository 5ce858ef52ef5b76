/* SPDX-License-Identifier: BSD-2-Clause */
/* seL4 is built without the compiler's headers; NULL is its own. */
#ifndef MKPERF_SEL4_STDDEF_H
#define MKPERF_SEL4_STDDEF_H

#include <util.h>

typedef word_t uintptr_t;

#endif
