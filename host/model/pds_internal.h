/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the registry of PDs share. Owns: struct mkperf_pds. */
#ifndef MKPERF_HOST_MODEL_PDS_INTERNAL_H
#define MKPERF_HOST_MODEL_PDS_INTERNAL_H

#include "pds.h"
#include "symbols/find_elf.h"
#include "system/image_table.h"
#include "system/system.h"

struct mkperf_pds {
    struct mkperf_symbols *symbols;
    struct mkperf_pds_config config;
    struct mkperf_system *system; /* NULL: none was given */
    char *system_directory;       /* of the .system file: where ELFs are by default */
    bool settled;
    bool system_fits;           /* the PDs of `system` are the first ones here, in its order */
    struct mkperf_image *image; /* NULL: the first PDs are those of `system` */
    struct mkperf_finder *finder;
    char image_id[MKPERF_IMAGE_TEXT];
    char *unverified; /* NULL with an image */
    char *kernel, *kernel_unnamed;
    struct mkperf_build_id kernel_build_id;
    uint32_t n;
    struct mkperf_pd pd[MKPERF_MAX_PDS];
    struct mkperf_module *module[MKPERF_MAX_PDS];
    char *owned[4 * MKPERF_MAX_PDS]; /* the strings of pd */
    size_t nowned;
};

/* pds.c */
void pds_warn(const struct mkperf_pds *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* text, freed with p; NULL stays NULL. */
const char *pds_own(struct mkperf_pds *p, char *text);
/* A new PD; name and parent become p's. Returns its id. */
uint32_t pds_add(struct mkperf_pds *p, uint64_t thread, char *name, char *parent);
/* A readable file `name` in the directories of the ELF path: a new string, or NULL. */
char *pds_find_file(const struct mkperf_pds *p, const char *name);

/* pds_image.c: the PDs, their ELFs and the kernel's as p->image lists them. Adds no "idle". */
void pds_add_image(struct mkperf_pds *p);

#endif
