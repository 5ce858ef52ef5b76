/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbolizer: functions, inlined frames, source lines and unwind facts, from elfutils.
 *
 *     mkperf_symbols ──► mkperf_module  one for each ELF: path, segments, build id
 *                            ├─ functions   sorted by address      mkperf_symbol_at
 *                            ├─ lines       DWARF, by unit         mkperf_lines_at
 *                            └─ unwind      call-frame information mkperf_lr_is_caller
 *
 * Owns: opened ELFs and the tables above, each of which is filled when it is asked for first. Invariants: a path is opened
 * once; addresses are the ELF's link-time addresses, because PDs have no slide; all strings live as long as the
 * mkperf_symbols. Memory is bounded by the ELFs.
 *
 * Example: of the address 0x200404 in client.elf, mkperf_symbol_at stores {"work", 0x200400, 32}. mkperf_lines_at stores
 * {"inner", "work.c", line 3} and {"work", "work.c", line 9} if the compiler inlined `inner` into `work`.
 */
#ifndef MKPERF_HOST_SYMBOLS_SYMBOLS_H
#define MKPERF_HOST_SYMBOLS_SYMBOLS_H

#include "identity.h"

struct mkperf_symbols;
struct mkperf_module;

/* An executable PT_LOAD. */
struct mkperf_segment {
    uint64_t vaddr, size, offset;
};

struct mkperf_symbol {
    const char *name; /* demangled; NULL if the address belongs to no function */
    uint64_t start, size;
};

struct mkperf_line {
    const char *function;  /* innermost inlined function first; NULL if unknown */
    const char *file;      /* NULL if unknown */
    const char *directory; /* of a relative file; NULL: the file is absolute, or it is unknown */
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

/* From now on mkperf_symbols_recorded accepts only ELFs for this architecture (perf's name; "": any). */
void mkperf_symbols_expect(struct mkperf_symbols *s, const char *arch);

/* Where the ELFs of a recording are, in addition to its own paths; a member may be NULL. */
struct mkperf_elf_search {
    const char *elf_path; /* DIR[:DIR] */
    const char *symfs;    /* a directory: the recording's paths are below it */
};

/* From now on mkperf_symbols_recorded searches in these places, and by build id in those of find_elf.h. The strings must
 * live as long as s. */
void mkperf_symbols_search(struct mkperf_symbols *s, const struct mkperf_elf_search *where);

/*
 * Opens the file at path if it is the recorded build for the expected architecture, otherwise another file of that build
 * if s searches. recorded->n = 0: any build. path may be NULL if s searches. MKPERF_ERR_INPUT: no file was found.
 */
enum mkperf_status mkperf_symbols_recorded(struct mkperf_symbols *s, const char *path,
                                           const struct mkperf_build_id *recorded,
                                           struct mkperf_module **out, struct mkperf_error *e);

const char *mkperf_module_path(const struct mkperf_module *m); /* absolute */
uint16_t mkperf_module_machine(const struct mkperf_module *m); /* e_machine */
const char *mkperf_module_arch(const struct mkperf_module *m); /* perf's name of it */
/* The build id, of no bytes if the ELF has none or m is NULL. */
const struct mkperf_build_id *mkperf_module_build_id(const struct mkperf_module *m);
/* The identity, and the hash of the content, as in identity.h. */
void mkperf_module_identity(const struct mkperf_module *m, struct mkperf_build_id *out);
bool mkperf_module_content(const struct mkperf_module *m, struct mkperf_blank blank,
                           uint8_t out[MKPERF_CONTENT_HASH_BYTES]);

/* Finds an object by its name: its place in the file. False: no such symbol has that many bytes. */
bool mkperf_module_object(const struct mkperf_module *m, const char *name, uint64_t at_least,
                          uint64_t *offset, uint64_t *size);

/* Returns the bytes of a section of the file by its name, *n of them. NULL: there is none with content. */
const uint8_t *mkperf_module_section(const struct mkperf_module *m, const char *name, uint64_t *n);

/* The module's file, *n bytes; it lives as long as the module. */
const uint8_t *mkperf_module_file(const struct mkperf_module *m, size_t *n);

/* Executable segments; *n of them, and none if m is NULL. */
const struct mkperf_segment *mkperf_module_segments(const struct mkperf_module *m, size_t *n);

/* The n bytes of code at an address; they live as long as the module. NULL: the file has none there. */
const uint8_t *mkperf_module_code(const struct mkperf_module *m, uint64_t addr, uint64_t n);

/* The section .text; false if there is none. */
bool mkperf_module_text(const struct mkperf_module *m, struct mkperf_segment *out);

/* The addresses of AArch64 SVC instructions in the executable segments, ascending: an array of *n, which the caller
 * frees. */
uint64_t *mkperf_module_system_calls(const struct mkperf_module *m, size_t *n);

/*
 * Whether an instruction can begin at addr: in an executable segment, at a multiple of the architecture's unit and, if the
 * ELF has functions, in one of them. "No" is certain: if a sample has the address, another program ran.
 */
bool mkperf_module_is_code(struct mkperf_module *m, uint64_t addr);

/* Whether the instruction before addr is a call, or a system call, that returns to addr. */
bool mkperf_module_follows_call(const struct mkperf_module *m, uint64_t addr);

/* Stores the function at addr. False, with name NULL: it is unknown. */
bool mkperf_symbol_at(struct mkperf_module *m, uint64_t addr, struct mkperf_symbol *out);

/*
 * Whether `wanted` means the function `name`: it is equal, or equal without the parameters (C++) or without the suffix of
 * a compiler's clone (.constprop.0, .isra.0, .part.0, .cold).
 */
bool mkperf_symbol_is(const char *name, const char *wanted);

/* The address of the function with that linker's name. 0: there is none. */
uint64_t mkperf_symbol_address(struct mkperf_module *m, const char *name);

/* Stores the source positions of addr, the innermost inlined function first, at most max. Returns how many. */
size_t mkperf_lines_at(struct mkperf_module *m, uint64_t addr, struct mkperf_line *out, size_t max);

enum mkperf_lr { MKPERF_LR_NO, MKPERF_LR_YES, MKPERF_LR_UNKNOWN };

/*
 * Whether, at pc, the caller of the interrupted function is in the link register and the frame pointer is the caller's.
 * That is so in a leaf without a frame, before the prologue has set the frame pointer, and after the epilogue has restored
 * it. UNKNOWN without unwind data. NO for x86-64, which has no such register.
 */
enum mkperf_lr mkperf_lr_is_caller(struct mkperf_module *m, uint64_t pc);

/* Call-frame information as the target's tables need it (include/mkperf/unwind.h). */
struct mkperf_unwind_row {
    uint64_t start; /* the rule holds from this address to the next row's */
    uint64_t rule;
};

struct mkperf_unwind_rows {
    struct mkperf_unwind_row *row; /* ascending; the last is the end of the code */
    size_t n, room;
    uint64_t saving,
        unframed; /* bytes of code that save the return address, and of these without a frame pointer */
};

/* Stores the rows of a program, none if it has no call-frame information. The caller frees rows->row. */
void mkperf_module_unwind_rows(struct mkperf_module *m, struct mkperf_unwind_rows *rows);

#endif
