/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protection domains of a profile: from thread identities to names and ELFs.
 *
 * Owns: the registry. Ids are dense: the PDs of the .system file in its order, then "idle", then
 * threads that nobody named, in the order in which they turn up, up to a limit; what comes after
 * shares one PD "unknown". Called by `mkperf record` and the stream decoder.
 */
#ifndef MKPERF_HOST_MODEL_PDS_H
#define MKPERF_HOST_MODEL_PDS_H

#include "model.h"
#include "symbols/symbols.h"

enum { MKPERF_MAX_PDS = 1024 };

struct mkperf_pds;
struct mkperf_system;

struct mkperf_pds_config {
    const char *system;   /* path of the .system file, NULL */
    const char *elf_path; /* DIR[:DIR], NULL: the directory of the .system file */
    const char *kernel;   /* path of the kernel's ELF, NULL: kernel.elf or sel4.elf in elf_path */
    void (*warn)(void *self, const char *text); /* an ELF that is missing or unusable */
    void *self;
};

/*
 * Reads the .system file and looks for the ELFs. Errors: the .system file does not parse; elf_path
 * was given and holds none of the ELFs; kernel was given and is not one.
 */
enum mkperf_status mkperf_pds_new(const struct mkperf_pds_config *config,
                                  struct mkperf_symbols *symbols, struct mkperf_pds **out,
                                  struct mkperf_error *e);
void mkperf_pds_free(struct mkperf_pds *p);

/* The id of the PD with this identity, which may be new. */
uint32_t mkperf_pds_find(struct mkperf_pds *p, uint64_t thread);

uint32_t mkperf_pds_count(const struct mkperf_pds *p);
/* Valid until the next mkperf_pds_find; its strings live as long as p. */
const struct mkperf_pd *mkperf_pds_at(const struct mkperf_pds *p, uint32_t id);
struct mkperf_module *mkperf_pds_module(const struct mkperf_pds *p, uint32_t id); /* or NULL */
/* The .system file's content, NULL without one: its PDs have the ids of their indices. */
const struct mkperf_system *mkperf_pds_system(const struct mkperf_pds *p);
const char *mkperf_pds_kernel(const struct mkperf_pds *p); /* the kernel ELF's path, or NULL */

#endif
