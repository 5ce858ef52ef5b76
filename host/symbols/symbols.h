/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one symbolizer: functions, inlined frames, source lines and unwind facts, from elfutils.
 *
 * Owns: opened ELFs and caches over them. Each ELF is a module, addressed by its link-time
 * addresses (no slide). Bounded memory: caches are dropped when they reach their limit.
 */
#ifndef MKPERF_HOST_SYMBOLS_SYMBOLS_H
#define MKPERF_HOST_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "build_id.h"

struct mkperf_symbols;
struct mkperf_module;

struct mkperf_segment { /* an executable PT_LOAD */
    uint64_t vaddr, size, offset;
};

struct mkperf_symbol {
    const char *name; /* demangled; NULL if the address belongs to no function */
    uint64_t start, size;
};

struct mkperf_line {
    const char *function;  /* innermost inlined function first; NULL if unknown */
    const char *file;      /* NULL if unknown */
    const char *directory; /* that a relative file is relative to; NULL: unknown, or it is not */
    int line;              /* 0 if unknown */
};

struct mkperf_symbols *mkperf_symbols_new(void);
void mkperf_symbols_free(struct mkperf_symbols *s);

/*
 * Opens the ELF at path (once: the same path returns the same module). Errors, MKPERF_ERR_INPUT
 * with path and reason: missing, not an ELF, not AArch64, RISC-V 64 or x86-64 (Akaros), cut short.
 */
enum mkperf_status mkperf_symbols_module(struct mkperf_symbols *s, const char *path,
                                         struct mkperf_module **out, struct mkperf_error *e);

/* From now on mkperf_symbols_recorded takes ELFs for this architecture only (perf's name; "": any).
 */
void mkperf_symbols_expect(struct mkperf_symbols *s, const char *arch);

/* Where the ELFs of a recording are, in addition to the paths in it. NULL: nowhere else. */
struct mkperf_elf_search {
    const char *elf_path; /* DIR[:DIR] */
    const char *symfs;    /* a directory: the recording's paths are below it */
};

/* From now on mkperf_symbols_recorded searches: in these places, and by build id in those of
 * find_elf.h. Strings live as long as s. */
void mkperf_symbols_search(struct mkperf_symbols *s, const struct mkperf_elf_search *where);

/*
 * As mkperf_symbols_module, if the file is the build that was recorded, for the architecture that
 * is expected; or another file of that build, if s searches. recorded->n = 0: any build. path may be
 * NULL if s searches. MKPERF_ERR_INPUT: there is none.
 */
enum mkperf_status mkperf_symbols_recorded(struct mkperf_symbols *s, const char *path,
                                           const struct mkperf_build_id *recorded,
                                           struct mkperf_module **out, struct mkperf_error *e);

const char *mkperf_module_path(const struct mkperf_module *m); /* absolute */
uint16_t mkperf_module_machine(const struct mkperf_module *m); /* e_machine */
const char *mkperf_module_arch(const struct mkperf_module *m); /* perf's name of it */
/* Build id: length 0..20 in *n. NULL if none. */
const uint8_t *mkperf_module_build_id(const struct mkperf_module *m, size_t *n);
/* Executable segments; *n of them. */
const struct mkperf_segment *mkperf_module_segments(const struct mkperf_module *m, size_t *n);

/* The section .text; false if there is none. */
bool mkperf_module_text(const struct mkperf_module *m, struct mkperf_segment *out);

/* The addresses of the AArch64 SVC instructions in the executable segments, ascending: *n in an
 * array that the caller frees. */
uint64_t *mkperf_module_system_calls(const struct mkperf_module *m, size_t *n);

/* The function at addr. Strings live as long as s. False, with name NULL, if unknown. */
bool mkperf_symbol_at(struct mkperf_module *m, uint64_t addr, struct mkperf_symbol *out);

/*
 * Whether a function is meant by `wanted`: its name, or that without its parameters (C++) or
 * without what a compiler appends to a clone's (.constprop.0, .isra.0, .part.0, .cold).
 */
bool mkperf_symbol_is(const char *name, const char *wanted);

/* Where the function of that name, as the linker knows it, begins. 0: there is none. */
uint64_t mkperf_symbol_address(struct mkperf_module *m, const char *name);

/* Source position of addr: inlined functions, innermost first, at most max. Returns how many. */
size_t mkperf_lines_at(struct mkperf_module *m, uint64_t addr, struct mkperf_line *out, size_t max);

enum mkperf_lr { MKPERF_LR_NO, MKPERF_LR_YES, MKPERF_LR_UNKNOWN };

/*
 * Whether, at pc, the caller of the interrupted function is in the link register while the frame
 * pointer still belongs to that caller: in a leaf without a frame, before the prologue has
 * set the frame pointer, or after the epilogue has restored it. UNKNOWN without unwind data. NO
 * for x86-64, which has no such register.
 */
enum mkperf_lr mkperf_lr_is_caller(struct mkperf_module *m, uint64_t pc);

#endif
