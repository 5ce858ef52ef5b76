/* SPDX-License-Identifier: BSD-2-Clause */
/* See tests/unit/mock/os/sddf.h. */
#include <os/sddf.h>
