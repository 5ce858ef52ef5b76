/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbolizer: functions, inlined frames, source lines and unwind facts, from elfutils.
 *
 *     mkperf_symbols ──► mkperf_module  one for each ELF: path, segments, build id
 *                            ├─ functions   sorted by address      mkperf_symbol_at
 *                            ├─ lines       DWARF, by unit         mkperf_lines_at
 *                            └─ unwind      call-frame information mkperf_lr_is_caller
 *
 * Owns: opened ELFs and the tables above, each of which is filled when it is asked for first. Invariants: a path has
 * one module; addresses are the ELF's link-time addresses, because PDs have no slide; all strings live as long as the
 * mkperf_symbols. Memory is bounded by the ELFs.
 *
 * Example: of the address 0x200404 in client.elf, mkperf_symbol_at stores {"work", 0x200400, 32}. mkperf_lines_at stores
 * {"inner", "work.c", line 3} and {"work", "work.c", line 9} if the compiler inlined `inner` into `work`.
 */
#ifndef MKPERF_HOST_SYMBOLS_SYMBOLS_H
#define MKPERF_HOST_SYMBOLS_SYMBOLS_H

#include "base/base.h"

/*
 * What identifies a program: its linker's build id, or a hash of what is loaded of it.
 *
 * Owns: the form of an identity, the search for a build id in an ELF, and what is hashed. Decoders and sinks pass
 * identities on; the symbolizer, the search for ELFs and `mkperf stamp` compute them.
 */

enum {
    MKPERF_BUILD_ID_BYTES = 20,
    MKPERF_BUILD_ID_TEXT = 2 * MKPERF_BUILD_ID_BYTES + 1,
    MKPERF_ARCH_BYTES = 16, /* bytes of perf's name of an architecture, as "aarch64" */
    MKPERF_CONTENT_HASH_BYTES = 32,
};

struct mkperf_build_id {
    uint8_t n; /* bytes, at most MKPERF_BUILD_ID_BYTES; 0: unknown */
    uint8_t byte[MKPERF_BUILD_ID_BYTES];
    bool derived; /* the ELF has no build id: these are the first bytes of its content's hash */
};

static inline bool mkperf_build_id_same(const struct mkperf_build_id *a,
                                        const struct mkperf_build_id *b)
{
    return a->n == b->n && a->derived == b->derived && memcmp(a->byte, b->byte, a->n) == 0;
}

/* Writes the id in hexadecimal, "none" if n is 0, and returns text. */
const char *mkperf_build_id_text(const struct mkperf_build_id *id, char text[MKPERF_BUILD_ID_TEXT]);

/* A range of the file that a hash takes as zeros; n = 0: none. */
struct mkperf_blank {
    uint64_t offset, n;
};

/* Computes SHA-256 of n bytes. */
void mkperf_sha256(const void *bytes, size_t n, uint8_t out[MKPERF_CONTENT_HASH_BYTES]);

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
    const char *function; /* innermost inlined function first; NULL if unknown */
    const char *file;     /* NULL if unknown */
    /* directory of a relative file; NULL: the file is absolute, or it is unknown */
    const char *directory;
    int line; /* 0 if unknown */
};

struct mkperf_symbols *mkperf_symbols_new(void);
void mkperf_symbols_free(struct mkperf_symbols *s);

/*
 * Opens the ELF at path (once: the same path returns the same module). Errors, MKPERF_ERR_INPUT
 * with path and reason: missing, not an ELF, not AArch64, RISC-V 64 or x86-64 (Akaros), cut short.
 */
enum mkperf_status mkperf_symbols_module(struct mkperf_symbols *s, const char *path,
                                         struct mkperf_module **out, struct mkperf_error *e);

/* Makes mkperf_symbols_recorded accept only ELFs for this architecture (perf's name; "": any). */
void mkperf_symbols_expect(struct mkperf_symbols *s, const char *arch);

/* Where the ELFs of a recording are, in addition to its own paths; a member may be NULL. */
struct mkperf_elf_search {
    const char *elf_path; /* DIR[:DIR] */
    const char *symfs;    /* a directory: the recording's paths are below it */
    const char *objdump;  /* the disassembler to run; NULL: one of the usual names */
    /* The ELFs that earlier recordings opened, for the next one; it searches in these two places as well. Not owned. */
    struct mkperf_symbols *open;
};

/* Makes mkperf_symbols_recorded search in these places, and by build id in those of symbols.h. The strings must live as
 * long as s. With the strings of the call before, nothing changes, and files that appear later are not found. */
void mkperf_symbols_search(struct mkperf_symbols *s, const struct mkperf_elf_search *where);

/*
 * Opens the file at path if it is the recorded build for the expected architecture, otherwise another file of that build
 * if s searches. recorded->n = 0: any build. path may be NULL if s searches. MKPERF_ERR_INPUT: no file was found.
 */
enum mkperf_status mkperf_symbols_recorded(struct mkperf_symbols *s, const char *path,
                                           const struct mkperf_build_id *recorded,
                                           struct mkperf_module **out, struct mkperf_error *e);

/* Returns the module's absolute path. For a copy in perf's cache of ELFs it is the path of the file that was copied,
 * which may be of another build now, or gone. */
const char *mkperf_module_path(const struct mkperf_module *m);
uint16_t mkperf_module_machine(const struct mkperf_module *m); /* e_machine */
const char *mkperf_module_arch(const struct mkperf_module *m); /* perf's name of it */
/* Returns the build id, of no bytes if the ELF has none or m is NULL. */
const struct mkperf_build_id *mkperf_module_build_id(const struct mkperf_module *m);
/* Stores the build id, or derives one from the content. out->n 0: the file has neither. */
void mkperf_module_identity(const struct mkperf_module *m, struct mkperf_build_id *out);
/*
 * Computes SHA-256 over the loadable segments in the order of the program headers: of each its address and its size in
 * the file (u64le each), then its bytes. False: there is none.
 */
bool mkperf_module_content(const struct mkperf_module *m, struct mkperf_blank blank,
                           uint8_t out[MKPERF_CONTENT_HASH_BYTES]);

/* Finds an object by its name: its place in the file. False: no such symbol has that many bytes. */
bool mkperf_module_object(const struct mkperf_module *m, const char *name, uint64_t at_least,
                          uint64_t *offset, uint64_t *size);

/* Returns the bytes of a section of the file by its name, *n of them. NULL: there is none with content. */
const uint8_t *mkperf_module_section(const struct mkperf_module *m, const char *name, uint64_t *n);

/* Returns the module's file, *n bytes; it lives as long as the module. */
const uint8_t *mkperf_module_file(const struct mkperf_module *m, size_t *n);

/* Returns the executable segments and their number in *n, which is 0 if m is NULL. */
const struct mkperf_segment *mkperf_module_segments(const struct mkperf_module *m, size_t *n);

/* Returns the n bytes of code at an address; they live as long as the module. Returns NULL if the file has none there. */
const uint8_t *mkperf_module_code(const struct mkperf_module *m, uint64_t addr, uint64_t n);

/* Returns a new file with the module's bytes, without a name; -1 with errno if that fails. */
int mkperf_module_copy(const struct mkperf_module *m);

/* Stores the section .text. Returns false if there is none. */
bool mkperf_module_text(const struct mkperf_module *m, struct mkperf_segment *out);

/* Returns the bytes of which each instruction's address is a multiple. */
unsigned mkperf_module_unit(const struct mkperf_module *m);

/* Returns the addresses of instructions that call the kernel in the executable segments, ascending: an array of *n, which
 * the caller frees. */
uint64_t *mkperf_module_system_calls(const struct mkperf_module *m, size_t *n);

/*
 * Returns whether an instruction can begin at addr: in an executable segment, at a multiple of the architecture's unit
 * and, if the ELF has functions, in one of them. "No" is certain: if a sample has the address, another program ran.
 */
bool mkperf_module_is_code(struct mkperf_module *m, uint64_t addr);

/* Returns whether the instruction before addr is a call, or a system call, that returns to addr. */
bool mkperf_module_follows_call(const struct mkperf_module *m, uint64_t addr);

/* Stores the function at addr. False, with name NULL: it is unknown. */
bool mkperf_symbol_at(struct mkperf_module *m, uint64_t addr, struct mkperf_symbol *out);

/*
 * Returns whether `wanted` means the function `name`: it is equal, or equal without the parameters (C++) or without the
 * suffix of a compiler's clone (.constprop.0, .isra.0, .part.0, .cold).
 */
bool mkperf_symbol_is(const char *name, const char *wanted);

/* Returns the address of the function with that linker's name, or 0 if there is none. */
uint64_t mkperf_symbol_address(struct mkperf_module *m, const char *name);

/* Stores the source positions of addr, the innermost inlined function first, at most max. Returns how many. */
size_t mkperf_lines_at(struct mkperf_module *m, uint64_t addr, struct mkperf_line *out, size_t max);

enum mkperf_lr { MKPERF_LR_NO, MKPERF_LR_YES, MKPERF_LR_UNKNOWN };

/*
 * Returns whether, at pc, the caller of the interrupted function is in the link register and the frame pointer is the
 * caller's. That is so in a leaf without a frame, before the prologue has set the frame pointer, and after the epilogue
 * has restored it. UNKNOWN without unwind data, and for NULL. NO for x86-64, which has no such register.
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
    /* Bytes of code that saves the return address, and of the part of it without a frame pointer. */
    uint64_t saving, unframed;
};

/* Stores the rows of a program, none if it has no call-frame information. The caller frees rows->row. */
void mkperf_module_unwind_rows(struct mkperf_module *m, struct mkperf_unwind_rows *rows);

/*
 * ELFs by identity: the search for them, and the cache that keeps copies.
 *
 * Owns: the list of places and the ELFs that were found there (find_elf.c), and mkperf's part of perf's build-id cache
 * (elf_cache.c). model/pds.c and recorded.c search; the recorder makes the copies. A file is identified by its content,
 * never by its path.
 *
 * The search continues with the next place until an ELF is found:
 *
 *   1. the directories of --elf-path (without it: that of the .system file), without their subdirectories
 *   2. the cache below: .build-id/II/DDDD.../elf
 *   3. debuginfod's cache: $DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client or
 *      ~/.cache/debuginfod_client: IIDDDD.../executable. debuginfod itself is not asked
 *   4. the current directory and its subdirectories, except hidden ones and symbolic links
 *
 * Files with the endings of sources, objects and texts are not looked at.
 *
 * Of several files of one identity in a place, an ELF with debugging information is preferred to one with symbols, and that
 * to any other. The search is bounded (limits below).
 *
 * The cache keeps a recording's names when its programs are built again. The layout of its directory DIR is perf's, so that
 * perf finds the copies, too:
 *
 *     DIR/PATH/ID/elf                   the copy; PATH is where the ELF was, ID its build id
 *     DIR/.build-id/II/DDDD...          a link to DIR/PATH/ID; II and DDDD... are the digits of ID
 *     DIR/.mkperf/ID                    mkperf's list entry: the text PATH/ID; its time is that of the last use
 *     DIR/.mkperf/lock, .mkperf/copy    held while DIR is changed; a copy that is being written
 *
 * ID is the linker's build id, or the content's hash of an ELF without one (symbols.h). Only copies with a list entry are
 * ever removed. A copy gets its name when it is whole. Several processes may use DIR at once.
 */

/* ---- the search ---- */

enum mkperf_finder_limits {
    MKPERF_FINDER_ENTRIES = 20000, /* files and directories that are looked at, in a place */
    MKPERF_FINDER_DEPTH = 8,   /* levels of directories below --elf-path's and the current one */
    MKPERF_FINDER_ELFS = 4096, /* ELFs that are remembered */
};

struct mkperf_finder;

/* elf_path: DIR[:DIR] or NULL. beside: the directory of the .system file, which is used without elf_path, or NULL. Files
 * are read when the first ELF is searched for. */
struct mkperf_finder *mkperf_finder_new(const char *elf_path, const char *beside);
void mkperf_finder_free(struct mkperf_finder *f);

/* Adds a file, which a .system file names, to the first place. Files that are no ELFs are ignored. */
void mkperf_finder_add(struct mkperf_finder *f, const char *path);

/*
 * Returns the path of an ELF of that identity, which lives as long as f. file: the program's file name, "" if unknown.
 * Returns NULL if there is none, and the sentence in why (n bytes) gives the reason. The sentence names an ELF of that
 * file name that is damaged or of another build, if there is one.
 */
const char *mkperf_finder_find(struct mkperf_finder *f, const struct mkperf_build_id *id,
                               const char *file, char *why, size_t n);

/* Is called with a path that mkperf_finder_find returned and that cannot be used, because the file was changed since. Later
 * searches do not find it. */
void mkperf_finder_reject(struct mkperf_finder *f, const char *path);

/* Returns the path of a readable file: an absolute name itself, otherwise the first in DIR[:DIR]. Returns a new string
 * or NULL. directories may be NULL. */
char *mkperf_find_file(const char *directories, const char *name);

/* ---- the cache ---- */

#define MKPERF_ELF_CACHE_BYTES (UINT64_C(1) << 30) /* the default limit for all copies */

/* Returns the cache's directory, $PERF_BUILDID_DIR or ~/.debug: a new string; NULL without $HOME. */
char *mkperf_elf_cache_directory(void);

/*
 * Makes a copy of each of n ELFs that has none, then removes the least recently used copies until at most `most` bytes are
 * left. OUTPUT: a copy could not be made, and the others were made nevertheless; or another process has held the directory's
 * lock for 10 s, and no copy was made.
 */
enum mkperf_status mkperf_elf_cache_keep(const char *directory, struct mkperf_module *const *elf,
                                         size_t n, uint64_t most, struct mkperf_error *e);

#endif
