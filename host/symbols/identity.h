/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What identifies a program: its linker's build id, or a hash of what is loaded of it.
 *
 * Owns: the form of an identity, the search for a build id in an ELF, and what is hashed. Decoders and sinks pass
 * identities on; the symbolizer, the search for ELFs and `mkperf stamp` compute them.
 */
#ifndef MKPERF_HOST_SYMBOLS_IDENTITY_H
#define MKPERF_HOST_SYMBOLS_IDENTITY_H

#include "base/base.h"

enum {
    MKPERF_BUILD_ID_BYTES = 20,
    MKPERF_BUILD_ID_TEXT = 2 * MKPERF_BUILD_ID_BYTES + 1,
    MKPERF_ARCH_BYTES = 16, /* for perf's name of an architecture: "aarch64" */
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

typedef struct Elf Elf; /* as in libelf.h */

/* Stores the linker's build id. False, and out->n 0: the ELF has none of 1 to 20 bytes. */
bool mkperf_elf_build_id(Elf *elf, struct mkperf_build_id *out);

/*
 * SHA-256 over the loadable segments in the order of the program headers: of each its address and its size in the file
 * (u64le each), then its bytes. file: the ELF's n bytes. False: a segment is outside them, or there is none.
 */
bool mkperf_elf_content(Elf *elf, const uint8_t *file, size_t n, struct mkperf_blank blank,
                        uint8_t out[MKPERF_CONTENT_HASH_BYTES]);

/* Stores the build id, or derives one from the content. False, and out->n 0: neither is possible. */
bool mkperf_elf_identity(Elf *elf, const uint8_t *file, size_t n, struct mkperf_build_id *out);

/* SHA-256 of the whole file at path. MKPERF_ERR_INPUT: it cannot be read. */
enum mkperf_status mkperf_file_hash(const char *path, uint8_t out[MKPERF_CONTENT_HASH_BYTES],
                                    struct mkperf_error *e);

#endif
