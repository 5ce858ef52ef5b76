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
#include "system/system.h"

enum { MKPERF_MAX_PDS = 1024 };

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

/* The registry. Others read its PDs, and their modules; strings of a PD live as long as it. */
struct mkperf_pds {
    struct mkperf_symbols *symbols;
    struct mkperf_pds_config config;
    struct mkperf_system *system; /* NULL: none was given */
    char *system_directory;       /* directory of the .system file, where ELFs are by default */
    bool settled;                 /* it has the PDs of the image, or of the .system file */
    bool system_fits;             /* the PDs of `system` are the first ones here, in its order */
    struct mkperf_image *image;   /* NULL: the first PDs are those of `system` */
    struct mkperf_queue queue[MKPERF_STAMP_QUEUES]; /* those of `image` */
    char *windows;                                  /* the domain schedule; NULL: none */
    struct mkperf_finder *finder;
    char image_id[MKPERF_IMAGE_TEXT];
    char *unverified; /* NULL with an image */
    char *kernel, *kernel_unnamed;
    struct mkperf_build_id kernel_build_id;
    uint32_t n;                                   /* PDs, by id */
    struct mkperf_pd pd[MKPERF_MAX_PDS];          /* with copies of their texts */
    struct mkperf_module *module[MKPERF_MAX_PDS]; /* NULL: the PD has none */
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
/* Stores in a session what the registry knows: kernel, image, cores, queues. All lives as long as p. */
void mkperf_pds_describe(const struct mkperf_pds *p, struct mkperf_session *session);

/*
 * Stores the thread of a name that mkperf_pds_find gave to a thread that is no listed PD. False: it gives no such name, or
 * gives it to several threads ("unknown").
 */
bool mkperf_pds_other_thread(const char *name, uint64_t *thread);

/* Returns the id of the PD with this identity, and adds the PD if it is new. */
uint32_t mkperf_pds_find(struct mkperf_pds *p, uint64_t thread);

/* Returns the PD whose name has the n bytes of `name`, or NULL if there is none. */
const struct mkperf_pd *mkperf_pds_named(const struct mkperf_pds *p, const char *name, size_t n);
/* Returns the .system file's content, in which a PD's index is its id, or NULL if there is none, or it does not
 * describe the image that runs. */
const struct mkperf_system *mkperf_pds_system(const struct mkperf_pds *p);

#endif
