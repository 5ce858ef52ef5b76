/* SPDX-License-Identifier: BSD-2-Clause */
/* seL4 is built without the compiler's headers; its own false and true are enumerators. */
#pragma once

#include <basic_types.h>

typedef _Bool bool;
