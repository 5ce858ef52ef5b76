/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disassembly, by capstone.
 *
 * Owns: the bytes of a range of an ELF's code and the iteration over its instructions. Bytes that
 * capstone cannot decode (data in the code, or RISC-V before capstone 5) are shown as words. Called
 * by listing.c.
 */
#ifndef MKPERF_HOST_ANNOTATE_CODE_H
#define MKPERF_HOST_ANNOTATE_CODE_H

#include <capstone/capstone.h>

#include "symbols/symbols.h"

enum { ANNOTATE_BYTES_MAX = 1 << 20 };

struct annotate_code {
    struct mkperf_module *module;
    uint8_t *bytes;
    const uint8_t *p;
    size_t left;
    uint64_t addr; /* of the next instruction */
    csh capstone;
    cs_insn *insn;
    bool readable; /* capstone knows the machine */
};

struct annotate_insn {
    uint64_t addr;
    size_t size;
    char text[320]; /* with the target of a branch as <function+0xoffset> */
};

/* `size` bytes from addr on. Errors: MKPERF_ERR_INPUT with path and address. */
enum mkperf_status annotate_code_open(struct annotate_code *c, struct mkperf_module *module,
                                      uint64_t addr, uint64_t size, struct mkperf_error *e);
void annotate_code_close(struct annotate_code *c);

/* The next instruction; false at the end. */
bool annotate_code_next(struct annotate_code *c, struct annotate_insn *out);

#endif
