/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readable names for linker names, and texts of ELFs that may be printed.
 *
 * Owns: the strings it returns. Called by host/symbols alone. C++ names are demangled if a C++
 * runtime is installed (it is looked for at run time, nothing is linked); otherwise, and for
 * everything else, a name is returned as it is, unless it is not printable (base/printable.h).
 */
#ifndef MKPERF_HOST_SYMBOLS_DEMANGLE_H
#define MKPERF_HOST_SYMBOLS_DEMANGLE_H

struct mkperf_demangler;

struct mkperf_demangler *mkperf_demangler_new(void);
void mkperf_demangler_free(struct mkperf_demangler *d);

/* raw itself, or a string that lives as long as d. raw must live as long as d. */
const char *mkperf_demangler_name(struct mkperf_demangler *d, const char *raw);

#endif
