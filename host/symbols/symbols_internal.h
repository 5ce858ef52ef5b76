/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the symbolizer.
 *
 * Owns: struct mkperf_module. module.c opens it, functions.c, lines.c and unwind.c each fill
 * their own part of it at first use. Used only in host/symbols.
 */
#ifndef MKPERF_HOST_SYMBOLS_SYMBOLS_INTERNAL_H
#define MKPERF_HOST_SYMBOLS_SYMBOLS_INTERNAL_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "symbols.h"

enum {
    MKPERF_LR_CACHE = 4096, /* entries, direct mapped; a power of two */
};

struct mkperf_function {
    uint64_t start, size;
    const char *raw;  /* as in the string table */
    const char *name; /* demangled; NULL until requested */
    uint8_t type, bind;
};

struct mkperf_unit_range { /* a range of code and the unit that describes it */
    uint64_t start, end;
    Dwarf_Off unit;
};

struct mkperf_module {
    struct mkperf_module *next;
    struct mkperf_symbols *owner;
    char *path;
    uint8_t *bytes; /* the file, mapped private */
    size_t size;
    Elf *elf;
    uint16_t machine;
    struct mkperf_build_id build_id;
    struct mkperf_segment *segment;
    size_t nsegments;

    struct mkperf_function *function; /* functions.c; sorted by start */
    size_t nfunctions;
    bool functions_loaded;

    Dwarf *dwarf; /* lines.c, NULL if there is none */
    bool dwarf_loaded;
    struct mkperf_unit_range *range; /* sorted by start */
    size_t nranges;
    bool ranges_loaded;

    Dwarf_CFI *eh_cfi, *debug_cfi; /* unwind.c, NULL if there is none; the latter is dwarf's */
    bool cfi_loaded;
    struct {
        uint64_t pc;
        bool known;
        enum mkperf_lr answer;
    } * lr_cache;
};

/* The n bytes of code or read-only data at a link-time address, NULL if the file has none there. */
const uint8_t *mkperf_module_code(const struct mkperf_module *m, uint64_t addr, uint64_t n);

/* The module's DWARF, opened at first use; NULL if it has none. */
Dwarf *mkperf_module_dwarf(struct mkperf_module *m);

/* A readable form of a linker's name; lives as long as the module's owner. */
const char *mkperf_demangle(struct mkperf_symbols *s, const char *raw);

void mkperf_functions_free(struct mkperf_module *m);
void mkperf_lines_free(struct mkperf_module *m);
void mkperf_unwind_free(struct mkperf_module *m);

#endif
