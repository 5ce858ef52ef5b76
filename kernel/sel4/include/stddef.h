/* SPDX-License-Identifier: BSD-2-Clause */
/* seL4 is built without the compiler's headers; NULL is its own. */
#pragma once

#include <util.h>

typedef word_t uintptr_t;
