/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function's instructions and the source lines that they are of, for the page.
 *
 * Owns: the form. Shares are not in it: the page sums them from its samples, by offset.
 *
 *   {function, name, elf, start (hexadecimal), size, problem, insn: [[offset, size, text, file,
 *    line]], files: [{name, path, from, text: [line]}]}
 *
 * `file` is a number in files, -1 if unknown. `problem` is why there are no instructions, "" if
 * there are. A file that is not on this machine has no text.
 */
#ifndef MKPERF_HOST_PAGE_CODE_JSON_H
#define MKPERF_HOST_PAGE_CODE_JSON_H

#include "annotate/annotate.h"
#include "profile/frames.h"

enum { PAGE_CODE_FILES = 32, PAGE_CODE_LINES = 4000, PAGE_CODE_INSNS = 20000 };

/*
 * Where each function of f begins: the address of its symbol, 0 if unknown. Functions of a PD with
 * the same name are one; it is the one that was seen first. The caller frees the array.
 */
uint64_t *page_function_starts(const struct mkperf_frames *f);

/* function < f->functions.count */
void page_code_json(const struct mkperf_frames *f, uint32_t function,
                    struct annotate_sources *sources, FILE *out);

#endif
