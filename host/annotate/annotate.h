/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Annotated functions: samples counted by instruction, the instructions, and their source lines.
 *
 * Owns: the three parts of an annotated function. listing.c counts the samples at each address. code.c disassembles
 * the function and reads the lines of source files. listing.c prints both with the shares. Called by mkperf annotate,
 * the browser of mkperf report, and the page, which makes its own form of instructions and source lines.
 */
#ifndef MKPERF_HOST_ANNOTATE_ANNOTATE_H
#define MKPERF_HOST_ANNOTATE_ANNOTATE_H

#include "profile/frames.h"

/* ---- samples by instruction (listing.c) ---- */

/* The samples at one address. */
struct annotate_hit {
    struct mkperf_module *module;
    struct mkperf_symbol symbol; /* the function that has the address */
    uint64_t addr;
    struct mkperf_weight weight;
};

/* A function with samples. PDs that run the same ELF share its functions, as in perf. */
struct annotate_function {
    struct mkperf_module *module;
    struct mkperf_symbol symbol;
    uint32_t first, n; /* its hits are hit[first] to hit[first + n - 1]; n is at least 1 */
    struct mkperf_weight weight; /* the sum of its hits */
};

struct annotate_hits {
    struct annotate_hit *hit; /* sorted by function, then by address; addresses are different */
    uint32_t n;
    struct annotate_function *function; /* the largest period first */
    uint32_t nfunctions;
};

/* Which samples are counted. */
struct annotate_choice {
    /* A name of a function, as mkperf_symbol_is compares it; NULL: every function. */
    const char *symbol;
    const char *pd; /* NULL: every PD; the kernel's functions count for the PD that entered it */
    uint32_t event;
};

/* Fills *h from the frames' profile; freed by annotate_hits_free. */
void annotate_hits_find(struct annotate_hits *h, const struct mkperf_frames *f,
                        const struct annotate_choice *c);
void annotate_hits_free(struct annotate_hits *h);

/* ---- instructions (code.c) ---- */

enum { ANNOTATE_BYTES_MAX = 1 << 20 };

/* An iteration over the instructions of a range of code. */
struct annotate_code {
    struct mkperf_module *module;
    const uint8_t *p; /* the next instruction, in the module's file */
    size_t left;      /* bytes from p on */
    uint64_t addr;    /* address of the next instruction */
    FILE *lines;      /* what objdump prints; NULL: there is no objdump */
    pid_t objdump;
    char *line; /* the line that was read last */
    size_t room;
    char *text;        /* the next instruction that objdump prints, in line; NULL: no more */
    uint64_t at;       /* its address */
    char problem[160]; /* why all instructions are words; else empty */
};

struct annotate_insn {
    uint64_t addr;
    size_t size;    /* bytes */
    char text[320]; /* the target of a branch has the form <function+0xoffset> */
};

/*
 * Begins at addr, for `size` bytes. objdump: the program to run, NULL: one of the machine's names for it. Errors: INPUT with
 * path, address and reason, or with the named program; nothing is open then.
 */
enum mkperf_status annotate_code_open(struct annotate_code *c, struct mkperf_module *module,
                                      uint64_t addr, uint64_t size, const char *objdump,
                                      struct mkperf_error *e);
void annotate_code_close(struct annotate_code *c);

/* Stores the next instruction; false at the end. Bytes that objdump does not print become .word or .half. */
bool annotate_code_next(struct annotate_code *c, struct annotate_insn *out);

/* ---- source lines (code.c) ---- */

enum { ANNOTATE_SOURCES_MAX = 256, ANNOTATE_SOURCE_BYTES = 4 << 20 };

/* A source file, which is read once. Of a file above ANNOTATE_SOURCE_BYTES only the beginning is read. */
struct annotate_source {
    char *path, *text; /* text NULL: the file cannot be read */
    char **line;
    int nlines;
};

/* The source files that were asked for. All zero: none yet. */
struct annotate_sources {
    struct annotate_source *file;
    size_t n;
};

/*
 * Returns line number `line` (from 1) of a file, NULL if the file or the line is not on this machine. A relative path
 * is relative to `directory`; if that is NULL or has no such file, to the current directory. The line lives as long as s.
 */
const char *annotate_source_line(struct annotate_sources *s, const char *directory,
                                 const char *path, int line);
void annotate_sources_free(struct annotate_sources *s);

/* ---- the listing (listing.c) ---- */

struct annotate_style {
    bool colour; /* hot instructions are coloured as in perf */
    bool source; /* source lines are printed before their instructions */
};

/*
 * Prints a function's instructions with their shares of the function's period. Errors: those of annotate_code_open;
 * nothing is printed then.
 */
enum mkperf_status annotate_print(const struct annotate_hits *h,
                                  const struct annotate_function *function,
                                  const struct mkperf_frames *f, const struct annotate_choice *c,
                                  const struct annotate_style *style,
                                  struct annotate_sources *sources, FILE *out,
                                  struct mkperf_error *e);

#endif
