/* SPDX-License-Identifier: BSD-2-Clause */
/* seL4 is built without the compiler's headers; its own false and true are enumerators. */
#ifndef MKPERF_SEL4_STDBOOL_H
#define MKPERF_SEL4_STDBOOL_H

#include <basic_types.h>

typedef _Bool bool;

#endif
