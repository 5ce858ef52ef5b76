/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What identifies an ELF: its linker's build id, or a hash of what is loaded of it.
 *
 * Owns: the search for the note, and what is hashed. Called with ELFs in memory by the symbolizer,
 * by the search for an image's programs and by `mkperf stamp`.
 */
#ifndef MKPERF_HOST_SYMBOLS_IDENTITY_H
#define MKPERF_HOST_SYMBOLS_IDENTITY_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "build_id.h"

enum { MKPERF_CONTENT_HASH_BYTES = 32 };

/* A range of the file that a hash takes as zeros; n = 0: none. */
struct mkperf_blank {
    uint64_t offset, n;
};

/* The linker's build id; false, and out->n 0, if the ELF has none of 1 to 20 bytes. */
bool mkperf_elf_build_id(Elf *elf, struct mkperf_build_id *out);

/*
 * SHA-256 over the loadable segments: of each, in the order of the program headers, its address and
 * size in the file (u64le each) and its bytes. file: the ELF's n bytes. False: a segment lies
 * outside them, or there is none.
 */
bool mkperf_elf_content(Elf *elf, const uint8_t *file, size_t n, struct mkperf_blank blank,
                        uint8_t out[MKPERF_CONTENT_HASH_BYTES]);

/* The build id, or derived from the content. False, and out->n 0: neither. */
bool mkperf_elf_identity(Elf *elf, const uint8_t *file, size_t n, struct mkperf_build_id *out);

/* The same of a module that the symbolizer opened. mkperf_module_identity: n = 0, none. */
struct mkperf_module;
void mkperf_module_identity(const struct mkperf_module *m, struct mkperf_build_id *out);
bool mkperf_module_content(const struct mkperf_module *m, struct mkperf_blank blank,
                           uint8_t out[MKPERF_CONTENT_HASH_BYTES]);
/* Where in the file the object of that name is. False: no such symbol of that many bytes or more. */
bool mkperf_module_object(const struct mkperf_module *m, const char *name, uint64_t at_least,
                          uint64_t *offset, uint64_t *size);
/* The file's *n bytes, mapped. */
const uint8_t *mkperf_module_file(const struct mkperf_module *m, size_t *n);

/* SHA-256 of the whole file at path. MKPERF_ERR_INPUT: it cannot be read. */
enum mkperf_status mkperf_file_hash(const char *path, uint8_t out[MKPERF_CONTENT_HASH_BYTES],
                                    struct mkperf_error *e);

/* In hexadecimal, "none" if there is none. */
enum { MKPERF_BUILD_ID_TEXT = 2 * MKPERF_BUILD_ID_BYTES + 1 };
const char *mkperf_build_id_text(const struct mkperf_build_id *id, char text[MKPERF_BUILD_ID_TEXT]);

#endif
