/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the symbolizer.
 *
 * Owns: struct mkperf_module. module.c maps and checks a file, recorded.c keeps the list. functions.c, lines.c and unwind.c each
 * fill their own part at first use. Used only in host/symbols.
 */
#ifndef MKPERF_HOST_SYMBOLS_SYMBOLS_INTERNAL_H
#define MKPERF_HOST_SYMBOLS_SYMBOLS_INTERNAL_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "symbols.h"

enum {
    MKPERF_LR_CACHE = 4096, /* entries, direct mapped; a power of two */
    MKPERF_WORD = 8,        /* bytes of a register in memory */
    MKPERF_MOST_WORDS = 0xffff,
};

struct mkperf_function {
    uint64_t start, size, most; /* most: bytes to the end of its section */
    const char *raw;            /* the linker's name, in the string table */
    const char *name;           /* demangled; NULL until requested */
    uint8_t type, bind;
};

/* A range of code, and the compilation unit that describes it. */
struct mkperf_unit_range {
    uint64_t start, end;
    Dwarf_Off unit;
};

struct mkperf_module {
    struct mkperf_module *next;
    /* Names that functions.c shows in another form. All modules share this tree. */
    void **names;
    char *path;     /* absolute, without links */
    char *original; /* the file that was copied, if this is a copy in perf's cache; else NULL */
    uint8_t *bytes; /* the file, mapped private */
    size_t size;
    Elf *elf;
    uint16_t machine;
    struct mkperf_build_id build_id;
    struct mkperf_segment *segment;
    size_t nsegments;

    /* functions.c fills it. It is sorted by start, which is different for each function. */
    struct mkperf_function *function;
    size_t nfunctions;
    bool functions_loaded;

    Dwarf *dwarf; /* lines.c, NULL if there is none */
    bool dwarf_loaded;
    struct mkperf_unit_range *range; /* sorted by start */
    size_t nranges;
    bool ranges_loaded;

    Dwarf_CFI *eh_cfi, *debug_cfi; /* unwind.c, NULL if there is none; debug_cfi belongs to dwarf */
    struct {
        uint64_t pc;
        bool known;
        enum mkperf_lr answer;
    } * lr_cache;
};

/* Returns whether the file has the n bytes at offset. */
static inline bool mkperf_inside(const struct mkperf_module *m, uint64_t offset, uint64_t n)
{
    return offset <= m->size && n <= m->size - offset;
}

/* module.c: maps the file of an empty module, and checks it. NULL, or why it is refused. Either way, mkperf_module_free frees m. */
const char *mkperf_module_map(struct mkperf_module *m, const char *path);
void mkperf_module_free(struct mkperf_module *m);

/* functions.c: returns raw, or its demangled or printable form, which lives as long as the tree of names. raw must live as long; NULL
 * stays NULL. */
const char *mkperf_demangle(void **names, const char *raw);
void mkperf_names_free(void *names);

/* Where a register of the caller is. SAVED: it is in memory. */
enum mkperf_where {
    MKPERF_WHERE_UNKNOWN,
    MKPERF_WHERE_KEPT,
    MKPERF_WHERE_SAVED,
    MKPERF_WHERE_UNDEFINED,
};

/* unwind.c: finds where a register of the caller is. *words: it is saved so many words below the caller's sp; 0: elsewhere. */
enum mkperf_where mkperf_unwind_register(Dwarf_Frame *frame, unsigned reg, unsigned *words);

/* Returns a field of an instruction as a signed number. */
static inline int64_t mkperf_signed_field(uint32_t instruction, unsigned low, unsigned bits)
{
    return (int32_t)(instruction << (32 - low - bits)) >> (32 - bits);
}

/* Returns whether an instruction of AArch64 is a call: bl, blr and its authenticated forms. */
static inline bool mkperf_is_call(uint32_t i)
{
    return (i & 0xfc000000) == 0x94000000 || (i & 0xfefff000) == 0xd63f0000;
}

/* unwind.c: the call-frame information at pc, which the caller frees; NULL if there is none. */
Dwarf_Frame *mkperf_unwind_frame(struct mkperf_module *m, uint64_t pc);

/* lines.c: the module's DWARF, opened at first use; NULL if it has none. */
Dwarf *mkperf_module_dwarf(struct mkperf_module *m);

/* functions.c: whether the file is a copy of Linux' /proc/kallsyms. Its functions are then those of the module. */
bool mkperf_functions_of_text(struct mkperf_module *m);

#endif
