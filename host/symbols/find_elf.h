/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELFs by identity: the search for them, and the cache that keeps copies.
 *
 * Owns: the list of places and the ELFs that were found there (find_elf.c), and mkperf's part of perf's build-id cache
 * (elf_cache.c). model/pds.c and module.c search; the recorder makes the copies. A file is identified by its content,
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
 * ID is the linker's build id, or the content's hash of an ELF without one (identity.h). Only copies with a list entry are
 * ever removed. A copy gets its name when it is whole. Several processes may use DIR at once.
 */
#ifndef MKPERF_HOST_SYMBOLS_FIND_ELF_H
#define MKPERF_HOST_SYMBOLS_FIND_ELF_H

#include "identity.h"

/* ---- the search ---- */

enum mkperf_finder_limits {
    MKPERF_FINDER_ENTRIES = 20000, /* directory entries that are read, in a place */
    MKPERF_FINDER_DEPTH = 8,       /* of directories below the current one */
    MKPERF_FINDER_ELFS = 4096,     /* ELFs that are remembered */
};

struct mkperf_finder;

/* elf_path: DIR[:DIR] or NULL. beside: the directory of the .system file, which is used without elf_path, or NULL. Files
 * are read when the first ELF is searched for. */
struct mkperf_finder *mkperf_finder_new(const char *elf_path, const char *beside);
void mkperf_finder_free(struct mkperf_finder *f);

/* Adds a file, which a .system file names, to the first place. Files that are no ELFs are ignored. */
void mkperf_finder_add(struct mkperf_finder *f, const char *path);

/*
 * The path of an ELF of that identity, which lives as long as f. file: the program's file name, "" if unknown. NULL: there
 * is none, and the sentence in why (n bytes) gives the reason. The sentence names an ELF of that file name and of another
 * build, if there is one.
 */
const char *mkperf_finder_find(struct mkperf_finder *f, const struct mkperf_build_id *id,
                               const char *file, char *why, size_t n);

/* Excludes a path that mkperf_finder_find returned, because the file is damaged. */
void mkperf_finder_reject(struct mkperf_finder *f, const char *path);

/* The path of a readable file: an absolute name itself, otherwise the first in DIR[:DIR]. Returns a new string or NULL.
 * directories may be NULL. */
char *mkperf_find_file(const char *directories, const char *name);

/* ---- the cache ---- */

#define MKPERF_ELF_CACHE_BYTES (UINT64_C(1) << 30) /* the default limit for all copies */

/* An ELF in memory, its absolute path, and what identifies it. */
struct mkperf_elf_copy {
    const char *path;
    const uint8_t *bytes;
    size_t n;
    struct mkperf_build_id id;
};

/* The cache's directory, $PERF_BUILDID_DIR or ~/.debug: a new string; NULL without $HOME. */
char *mkperf_elf_cache_directory(void);

/*
 * Makes a copy of each of n ELFs that has none, then removes the least recently used copies until at most `most` bytes are
 * left. OUTPUT: a copy could not be made, and the others were made nevertheless; or another process has held the directory's
 * lock for 10 s, and no copy was made.
 */
enum mkperf_status mkperf_elf_cache_keep(const char *directory, const struct mkperf_elf_copy *elf,
                                         size_t n, uint64_t most, struct mkperf_error *e);

#endif
