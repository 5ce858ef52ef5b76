/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protection domains of a profile: from thread identities to names and ELFs.
 *
 * Owns: the registry. Ids are dense: the PDs that the image lists, or those of the .system file, in
 * that order, then "idle", then threads without a name, in the order in which they appear, up to a
 * limit; what follows shares one PD "unknown". Called by `mkperf record` and the stream
 * decoder.
 *
 * Where the image's own list comes from a target, the registry is empty until mkperf_pds_settle:
 * the list is the authority on names and on the build of each ELF.
 */
#ifndef MKPERF_HOST_MODEL_PDS_H
#define MKPERF_HOST_MODEL_PDS_H

#include "model.h"

enum { MKPERF_MAX_PDS = 1024 };

struct mkperf_pds;
struct mkperf_system;
struct mkperf_image;

struct mkperf_pds_config {
    const char *system;   /* path of the .system file, NULL */
    const char *elf_path; /* DIR[:DIR], NULL: the directory of the .system file */
    const char *kernel;   /* path of the kernel's ELF, NULL: kernel.elf or sel4.elf in elf_path */
    const char *guest;    /* VM=FILE[:VM=FILE]: the symbols of guests' kernels, NULL */
    bool names_only;      /* no ELFs are searched for */
    /* The caller calls mkperf_pds_settle when it has the image's list, or knows that there
     * is none. */
    bool later;
    void (*warn)(void *self, const char *text); /* called for an ELF that is missing or unusable */
    void *self;
};

/*
 * Reads the .system file and, unless that is for later, looks for the ELFs. Errors: the .system
 * file does not parse; elf_path was given and holds none of its ELFs; kernel was given and is not
 * one.
 */
enum mkperf_status mkperf_pds_new(const struct mkperf_pds_config *config,
                                  struct mkperf_symbols *symbols, struct mkperf_pds **out,
                                  struct mkperf_error *e);
void mkperf_pds_free(struct mkperf_pds *p);

/*
 * Adds names and ELFs, once: from the image's list, or without one from the .system file. `unverified` is the reason why
 * nothing confirms the names then (NULL: not known). A .system file that was given with an image is compared with it. A PD
 * without an ELF of the right build is a warning, and the PD has the reason. Errors: as mkperf_pds_new.
 */
enum mkperf_status mkperf_pds_settle(struct mkperf_pds *p, const struct mkperf_image *image,
                                     const char *unverified, struct mkperf_error *e);
bool mkperf_pds_settled(const struct mkperf_pds *p);
/* Stores in a session what the registry knows: kernel, image, cores, queues. All lives as long as p. */
void mkperf_pds_describe(const struct mkperf_pds *p, struct mkperf_session *session);

/*
 * Stores the thread of a name that mkperf_pds_find gave to a thread that is no listed PD. False: it gives no such name, or
 * gives it to several threads ("unknown").
 */
bool mkperf_pds_other_thread(const char *name, uint64_t *thread);

/* Returns the id of the PD with this identity, and adds the PD if it is new. */
uint32_t mkperf_pds_find(struct mkperf_pds *p, uint64_t thread);

uint32_t mkperf_pds_count(const struct mkperf_pds *p);
/* Returns a PD by its id. It is valid until the next mkperf_pds_find; its strings live as long as
 * p. */
const struct mkperf_pd *mkperf_pds_at(const struct mkperf_pds *p, uint32_t id);
/* Returns the PD whose name has the n bytes of `name`, or NULL if there is none. */
const struct mkperf_pd *mkperf_pds_named(const struct mkperf_pds *p, const char *name, size_t n);
/* Returns NULL if the PD has no module. */
struct mkperf_module *mkperf_pds_module(const struct mkperf_pds *p, uint32_t id);
/* Returns the image's own list, or NULL if there is none. */
const struct mkperf_image *mkperf_pds_image(const struct mkperf_pds *p);
/* Returns the .system file's content, in which a PD's index is its id, or NULL if there is none, or it does not
 * describe the image that runs. */
const struct mkperf_system *mkperf_pds_system(const struct mkperf_pds *p);

#endif
