/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of ELFs by build id, so that a recording keeps its names when its programs are built again.
 *
 * Owns: perf's build-id cache, as far as mkperf writes it. The recorder puts ELFs in; the search for
 * ELFs (find_elf.h) reads them. The layout of a directory DIR is perf's, so that perf finds the
 * copies, too:
 *
 *     DIR/PATH/ID/elf                   the copy; PATH is where the ELF was, ID its build id
 *     DIR/.build-id/II/DDDD...          a link to DIR/PATH/ID
 *     DIR/.mkperf/ID                    mkperf's own: the text PATH/ID; changed when it was last used
 *     DIR/.mkperf/lock, .mkperf/copy    held while DIR is changed; a copy in the making
 *
 * ID is the linker's build id, or the content hash of an ELF that has none (identity.h). Only what
 * DIR/.mkperf lists is ever removed. A copy gets its name when it is whole. Several processes may
 * use DIR at once.
 */
#ifndef MKPERF_HOST_SYMBOLS_ELF_CACHE_H
#define MKPERF_HOST_SYMBOLS_ELF_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "build_id.h"

#define MKPERF_ELF_CACHE_BYTES (UINT64_C(1) << 30) /* of all of mkperf's copies */

/* An ELF in memory, its absolute path, and what identifies it. */
struct mkperf_elf_copy {
    const char *path;
    const uint8_t *bytes;
    size_t n;
    struct mkperf_build_id id;
};

/* The directory: $PERF_BUILDID_DIR, or ~/.debug. A new string; NULL without $HOME. */
char *mkperf_elf_cache_directory(void);

/*
 * Keeps a copy of each of these n ELFs, unless one is there, and then removes the copies that were not
 * used for the longest time until at most `most` bytes are left. OUTPUT: a copy could not be made, or
 * another process has not released the directory for 10 s; the other copies are made nevertheless.
 */
enum mkperf_status mkperf_elf_cache_keep(const char *directory, const struct mkperf_elf_copy *elf,
                                         size_t n, uint64_t most, struct mkperf_error *e);

#endif
