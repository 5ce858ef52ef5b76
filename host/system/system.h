/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The .system file: Microkit's description of a system, read strictly.
 *
 * Owns: parsing and checking. Used by the host command, to name PDs and find their ELFs, and by
 * platform/pocket/pack, to build an image. Every error names file, line and reason.
 *
 * The language is that of Microkit 2.3 for AArch64 and RISC-V, which has those of its predecessors
 * in it, and a map's `setvar_paddr` (Microkit's manual, "System Description File").
 */
#ifndef MKPERF_HOST_SYSTEM_SYSTEM_H
#define MKPERF_HOST_SYSTEM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum mkperf_system_limits {
    MKPERF_SYSTEM_MAX_PDS = 63, /* Microkit's */
    MKPERF_SYSTEM_MAX_ID = 61,  /* of a channel, an irq, a child: Microkit's */
    MKPERF_SYSTEM_MAX_PRIORITY = 254,
    MKPERF_SYSTEM_MAX_SLOT = 63,       /* of a cspace: Microkit's */
    MKPERF_SYSTEM_MAX_ITEMS = 4096,    /* ours: regions, channels, maps, ... of each kind */
    MKPERF_SYSTEM_MAX_BYTES = 4 << 20, /* ours: of a .system file */
};

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
    int line;
};

/* A symbol of the PD's ELF that the packer patches with a 64-bit number. */
enum mkperf_setvar_kind {
    MKPERF_SETVAR_VADDR, /* index: of the PD's map */
    MKPERF_SETVAR_SIZE,  /* index: of the region */
    MKPERF_SETVAR_PADDR, /* index: of the region */
    MKPERF_SETVAR_ID,    /* value: the channel's id */
};

struct mkperf_system_setvar {
    char *symbol;
    enum mkperf_setvar_kind kind;
    unsigned index;
    uint64_t value;
    int line;
};

struct mkperf_system_irq {
    uint32_t irq;
    uint32_t id; /* channel */
    bool edge;
    int line;
};

struct mkperf_system_tcb { /* cap_tcb in a cspace: the PD may read and write another's registers */
    unsigned slot;         /* 1 .. MKPERF_SYSTEM_MAX_SLOT */
    unsigned pd;           /* index, maybe its own */
    int line;
};

struct mkperf_system_pd {
    char *name;
    unsigned priority; /* 0 .. 254 */
    int parent;        /* index of the parent PD, -1 */
    unsigned child_id; /* with a parent */
    bool passive;
    bool limited; /* its budget is below its period: the kernel may hold it back */
    uint64_t stack_size;
    uint64_t budget, period; /* microseconds */
    char *program;           /* path of program_image, as written */
    char *symbols;           /* its path_for_symbols, NULL */
    struct mkperf_system_map *map;
    struct mkperf_system_irq *irq;
    struct mkperf_system_setvar *setvar;
    struct mkperf_system_tcb *tcb;
    unsigned nmaps, nirqs, nsetvars, ntcbs;
    int cspace;          /* line of its cspace, 0 = none */
    bool smc;            /* may make secure monitor calls */
    int virtual_machine; /* line of its virtual_machine, 0 = none; what is in it is not kept */
    unsigned cpu;        /* Microkit 2.1 and later; 0 before */
    uint64_t thread;     /* identity that samples of this PD carry, see mkperf/record.h */
    int line;
};

struct mkperf_system_end {
    unsigned pd; /* index */
    uint32_t id;
    bool pp;     /* this end may make protected calls */
    bool notify; /* default true */
    int line;
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
    const char *beyond; /* the first element or attribute that is read for its form alone, NULL */
    int beyond_line;
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

/*
 * The PD whose samples carry this thread identity; -1 if there is none. A passive child on a
 * caller's scheduling context is found by its id, unless two passive children have that id.
 */
int mkperf_system_find(const struct mkperf_system *s, uint64_t thread);

#endif
