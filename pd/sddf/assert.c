/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by sDDF's headers in debug configurations if a queue is invalid. */
#include <microkit.h>

void _assert_fail(const char *assertion, const char *file, unsigned int line, const char *function);

void _assert_fail(const char *assertion, const char *file, unsigned int line, const char *function)
{
    (void)line;
    microkit_dbg_puts(file);
    microkit_dbg_puts(": ");
    microkit_dbg_puts(function);
    microkit_dbg_puts(": ");
    microkit_dbg_puts(assertion);
    microkit_dbg_puts("\n");
    __builtin_trap(); /* a fault, which the monitor reports */
}
