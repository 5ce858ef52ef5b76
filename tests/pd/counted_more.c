/* SPDX-License-Identifier: BSD-2-Clause */
/* counted.c with one instruction more in the function that is called a thousand times. */
#define COUNTED_MORE
#include "counted.c" // NOLINT(bugprone-suspicious-include)
