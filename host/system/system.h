/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The .system file: Microkit's description of a system, read strictly.
 *
 * Owns: parsing and checking. Used by the host command, to name PDs and find their ELFs, and by
 * platform/pocket/pack, to build an image. Every error names file, line and reason.
 */
#ifndef MKPERF_HOST_SYSTEM_H
#define MKPERF_HOST_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../error.h"

struct mkperf_system_region { /* memory_region */
    char *name;
    uint64_t size;
    uint64_t page_size; /* 0x1000 or 0x200000 */
    uint64_t phys_addr; /* valid if has_phys_addr */
    bool has_phys_addr;
    int line;
};

struct mkperf_system_map { /* map in a protection_domain */
    unsigned region;       /* index */
    uint64_t vaddr;
    bool read, write, execute, cached;
    char *setvar_vaddr; /* symbol to patch, NULL */
    int line;
};

struct mkperf_system_irq {
    uint32_t irq;
    uint32_t id; /* channel */
    bool edge;
    int line;
};

struct mkperf_system_pd {
    char *name;
    unsigned priority; /* 0 .. 254 */
    int parent;        /* index of the parent PD, -1 */
    unsigned child_id; /* with a parent */
    uint64_t stack_size;
    bool passive;
    char *program; /* path of program_image, as written */
    unsigned nmaps;
    struct mkperf_system_map *map;
    unsigned nirqs;
    struct mkperf_system_irq *irq;
    uint64_t thread; /* identity that samples of this PD carry: its fault handler's badge */
    int line;
};

struct mkperf_system_end {
    unsigned pd; /* index */
    uint32_t id;
    bool pp;         /* this end may make protected calls */
    bool notify;     /* default true */
    char *setvar_id; /* symbol to patch with the id, NULL */
};

struct mkperf_system_channel {
    struct mkperf_system_end end[2];
    int line;
};

struct mkperf_system {
    unsigned npds;
    struct mkperf_system_pd *pd; /* in the order of Microkit's numbering */
    unsigned nregions;
    struct mkperf_system_region *region;
    unsigned nchannels;
    struct mkperf_system_channel *channel;
};

/*
 * Reads `text` (n bytes, any content) as a .system file; `path` is for messages alone. On success
 * *out is new, to be freed with mkperf_system_free. Errors: MKPERF_ERR_INPUT "path:line: reason".
 */
enum mkperf_status mkperf_system_parse(const char *path, const char *text, size_t n,
                                       struct mkperf_system **out, struct mkperf_error *e);

/* The same from the file at `path`. */
enum mkperf_status mkperf_system_load(const char *path, struct mkperf_system **out,
                                      struct mkperf_error *e);

void mkperf_system_free(struct mkperf_system *s);

/* The PD whose samples carry this thread identity, or -1. */
int mkperf_system_find(const struct mkperf_system *s, uint64_t thread);

#endif
