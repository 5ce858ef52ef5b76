/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search for ELFs by what identifies them, for the programs that an image's stamp lists,
 * and for those of a recording.
 *
 * Owns: the list of places and what was found there. Called by model/pds.c and module.c. Each file is identified
 * by its content, never by its path. Places, in this order:
 *
 *   1. the directories of --elf-path (without it: that of the .system file), not those below them
 *   2. perf's cache, where mkperf record keeps copies (elf_cache.h): .build-id/xx/yyyy/elf
 *   3. debuginfod's cache: $DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client or
 *      ~/.cache/debuginfod_client: xxyyyy/executable. debuginfod itself is not asked
 *   4. the current directory and those below it, hidden ones and symbolic links excepted
 *
 * Of several files of one identity in a place, the one with debugging information is taken, then
 * the one with symbols. The search is bounded (limits below).
 */
#ifndef MKPERF_HOST_SYMBOLS_FIND_ELF_H
#define MKPERF_HOST_SYMBOLS_FIND_ELF_H

#include <stddef.h>

#include "build_id.h"

enum mkperf_finder_limits {
    MKPERF_FINDER_ENTRIES = 20000, /* directory entries that are read, in a place */
    MKPERF_FINDER_DEPTH = 8,       /* of directories below the current one */
    MKPERF_FINDER_ELFS = 4096,     /* ELFs that are remembered */
};

struct mkperf_finder;

/* elf_path: DIR[:DIR], NULL = none. beside: the directory of the .system file, NULL = none. Returns
 * NULL if there is no memory. Files are read when the first ELF is searched for. */
struct mkperf_finder *mkperf_finder_new(const char *elf_path, const char *beside);
void mkperf_finder_free(struct mkperf_finder *f);

/* One more file for the first place, which a .system file names. Returns nothing: it may not be an
 * ELF. */
void mkperf_finder_add(struct mkperf_finder *f, const char *path);

/*
 * The path of an ELF of that identity, which lives as long as f. file: the program's file name, ""
 * if unknown. NULL if there is none, and why (n bytes) is a sentence that says so: it names the
 * ELF of that file name that is of another build, if there is one.
 */
const char *mkperf_finder_find(struct mkperf_finder *f, const struct mkperf_build_id *id,
                               const char *file, char *why, size_t n);

/* Does not return that path any more: the file turned out to be damaged. */
void mkperf_finder_reject(struct mkperf_finder *f, const char *path);

/* A readable file `name`: its path if that is absolute, else the first in DIR[:DIR]. A new string, or
 * NULL. directories may be NULL: none. */
char *mkperf_find_file(const char *directories, const char *name);

#endif
