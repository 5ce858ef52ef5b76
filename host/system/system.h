/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The .system file: Microkit's description of a system, read strictly.
 *
 * Owns: parsing and checking. The host command uses it to name PDs and to find their ELFs;
 * platform/pocket/pack uses it to build an image. Every error names file, line and reason.
 *
 * The language is that of Microkit 2.3 for AArch64 and RISC-V ("System Description File" in
 * Microkit's manual), which includes the languages of its predecessors. The attribute
 * `setvar_paddr` of a map is an addition.
 */
#ifndef MKPERF_HOST_SYSTEM_SYSTEM_H
#define MKPERF_HOST_SYSTEM_SYSTEM_H

#include "symbols/symbols.h"
#include <mkperf/stamp.h>
#include <mkperf/words.h>

enum mkperf_system_limits {
    /* Microkit's limits. An id is that of a channel, an irq or a child; a slot is that of a cspace. */
    MKPERF_SYSTEM_MAX_PDS = 63,
    MKPERF_SYSTEM_MAX_ID = 61,
    MKPERF_SYSTEM_MAX_IRQ = 1019,
    MKPERF_SYSTEM_MAX_PRIORITY = 254,
    MKPERF_SYSTEM_MAX_SLOT = 63,
    /* Ours: the number of regions, channels, maps, ... of each kind, and the size of the file. */
    MKPERF_SYSTEM_MAX_ITEMS = 4096,
    MKPERF_SYSTEM_MAX_BYTES = 4 << 20,
};

/* The greatest budget and period, 208 days. A thousand periods in ns are still a number of 64 bits. */
#define MKPERF_SYSTEM_MAX_US (UINT64_MAX / 1000 / 1024)

/* How the kernel schedules a PD or a vCPU, as the .system file or the image's stamp lists it. */
struct mkperf_scheduling {
    bool known;
    bool passive; /* it runs on its callers' budgets */
    /* In a .system file priority is 0 .. 254 and cpu 0 .. 63. A stamp or a recording may have any numbers. */
    uint32_t priority, cpu;
    uint64_t budget_us, period_us; /* at most MKPERF_SYSTEM_MAX_US; equal: it may always run */
};

/* Returns whether the budget is below the period, so that the kernel may throttle it. */
static inline bool mkperf_is_limited(const struct mkperf_scheduling *s)
{
    return s->known && s->budget_us < s->period_us;
}

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
    MKPERF_SETVAR_VADDR, /* address of the PD's map `index` */
    MKPERF_SETVAR_SIZE,  /* size of the region `index` */
    MKPERF_SETVAR_PADDR, /* physical address of the region `index` */
    MKPERF_SETVAR_ID,    /* `value`, the id of a channel */
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

/* cap_tcb in a cspace: the PD may read and write the registers of the PD with index `pd`. */
struct mkperf_system_tcb {
    unsigned slot; /* 1 .. MKPERF_SYSTEM_MAX_SLOT */
    unsigned pd;
    int line;
};

/* Where the value of an attribute is in the text, without its quotes. n = 0: the element does not have it. */
struct mkperf_system_span {
    size_t at, n;
};

struct mkperf_system_pd {
    char *name;
    struct mkperf_scheduling scheduling;
    int parent;        /* index of the parent PD, -1 if it has none */
    unsigned child_id; /* 0 without a parent */
    uint64_t stack_size;
    struct mkperf_system_span budget_at;
    char *program; /* path of program_image, as written */
    char *symbols; /* path_for_symbols, NULL if it is not given */
    struct mkperf_system_map *map;
    struct mkperf_system_irq *irq;
    struct mkperf_system_setvar *setvar;
    struct mkperf_system_tcb *tcb;
    unsigned nmaps, nirqs, nsetvars, ntcbs;
    int cspace;          /* line of the element, 0 if there is none */
    bool smc;            /* may make secure monitor calls */
    int virtual_machine; /* line of the element, 0 if there is none; its content is not kept */
    int domain;          /* index, -1 without a domain schedule */
    uint64_t thread;     /* the identity in samples of this PD (mkperf/record.h) */
    int line;
};

/* A virtual CPU; its monitor is the PD `parent`. */
struct mkperf_system_vcpu {
    char *name; /* "VM NAME, vcpu N" */
    char *machine;
    bool shared; /* others have the same identity; the name reports that */
    unsigned parent, id;
    struct mkperf_scheduling scheduling;
    uint64_t thread;
};

struct mkperf_system_end {
    unsigned pd; /* index */
    uint32_t id;
    bool pp;            /* from this end the PD may make protected calls */
    bool notify;        /* default true */
    const char *symbol; /* of the PD, which the packer sets to `id`; NULL: none */
    int line;
};

struct mkperf_system_channel {
    struct mkperf_system_end end[2];
    int line;
};

/* An entry of the domain schedule: Microkit 2.3. Its number is that of the kernel, `index_shift` included. */
struct mkperf_system_window {
    int domain;        /* index; -1: an end marker */
    uint64_t duration; /* microseconds, or ticks of the kernel's timer */
    bool in_ticks;
    int line;
};

struct mkperf_system {
    unsigned npds;
    struct mkperf_system_pd *pd; /* PDs in the order of Microkit's numbering */
    unsigned nvcpus;
    struct mkperf_system_vcpu *vcpu; /* each with another identity */
    unsigned nregions;
    struct mkperf_system_region *region;
    unsigned nchannels;
    struct mkperf_system_channel *channel;
    unsigned ndomains;
    char **domain; /* names of the domains */
    /* The domain schedule, from the entry where it starts to the end marker behind that one: a frame. The number of
     * window[i] is first_window + i. */
    unsigned nwindows, first_window;
    struct mkperf_system_window *window;
    /* The first element or attribute that was checked for its form and not kept, NULL: none. */
    const char *beyond;
    int beyond_line;
    char *text; /* the file's, and a NUL */
    size_t bytes;
    void **kept; /* all memory of the members above */
    size_t nkept, kept_room;
};

/*
 * Reads `text` (n bytes, any content) as a .system file; `path` is used only in messages. On
 * success *out is new; the caller frees it with mkperf_system_free. Errors: MKPERF_ERR_INPUT "path:line: reason".
 */
enum mkperf_status mkperf_system_parse(const char *path, const char *text, size_t n,
                                       struct mkperf_system **out, struct mkperf_error *e);

/* Reads the file at `path` as mkperf_system_parse does. */
enum mkperf_status mkperf_system_load(const char *path, struct mkperf_system **out,
                                      struct mkperf_error *e);

/*
 * Prints a unified diff of the file at `path` that gives PDs other budgets: budget_us[i] is that of s->pd[i], 0 leaves it as it is.
 * Only values of attributes that are in the file change. Prints nothing if none does.
 */
void mkperf_system_print_budgets(FILE *out, const struct mkperf_system *s, const char *path,
                                 const uint64_t *budget_us);

void mkperf_system_free(struct mkperf_system *s);

/* Returns the index of the PD or the memory region with that name, or -1 if there is none. */
int mkperf_system_pd_named(const struct mkperf_system *s, const char *name);
int mkperf_system_region_named(const struct mkperf_system *s, const char *name);

/*
 * The domain schedule of a system, as the text that a stamp and a recording have.
 *
 * Owns: that text: the windows of a frame, in their order, each "NUMBER DURATION UNIT DOMAIN" with the unit us or ticks, and '|'
 * between two. NUMBER is the entry of the kernel's schedule, which scheduling events have. The text can come from a hostile target.
 */

enum { MKPERF_WINDOWS = 128, MKPERF_DOMAIN_NAME = 64 };

struct mkperf_schedule_entry {
    unsigned number;
    uint64_t us, ticks; /* the duration in one of both units; the other is 0 */
    char domain[MKPERF_DOMAIN_NAME];
};

/* Returns the text of a system's schedule, to be freed, or NULL if there is none. */
char *mkperf_windows_text(const struct mkperf_system *s);

/* Reads the windows of a text, which may be NULL, up to the first that is invalid. Returns how many. */
unsigned mkperf_windows_read(const char *text, struct mkperf_schedule_entry out[MKPERF_WINDOWS]);

/*
 * The programs of an image, as its stamp lists them (include/mkperf/stamp.h).
 *
 * Owns: reading and writing the table's bytes. Written by `mkperf stamp`, read from what a target
 * sent. The bytes come from a target that may be hostile: each length is checked.
 */

struct mkperf_image_program {
    uint64_t thread;                     /* the identity in samples of the PD, 0 for the kernel */
    int parent;                          /* index in `program`, -1 if it has none */
    struct mkperf_scheduling scheduling; /* `passive` is valid even if `known` is false */
    struct mkperf_build_id build_id;     /* n is 0 if the program could not be identified */
    char name[MKPERF_STAMP_NAME_BYTES + 1]; /* name of the PD, "" for the kernel */
    char file[MKPERF_STAMP_FILE_BYTES + 1]; /* name of the ELF without directories, "" if unknown */
};

/* Names of kinds of queues: "ring", "net", "serial", "blk". */
extern const char *const mkperf_queue_kinds[MKPERF_QUEUE_KINDS];

/* A ring between two programs with two indices. */
struct mkperf_image_queue {
    char name[MKPERF_STAMP_QUEUE_NAME_BYTES + 1];
    enum mkperf_queue_kind kind;
    bool returns;           /* it carries free buffers back */
    int producer, consumer; /* indices in `program`, -1: none */
    unsigned bits;          /* bits of an index */
    uint64_t slots;
    uint64_t head, tail; /* addresses in the profiler PD; both 0: it has no mapping */
};

struct mkperf_image {
    uint8_t id[MKPERF_STAMP_IMAGE_BYTES];
    uint8_t system[MKPERF_STAMP_SYSTEM_BYTES]; /* SHA-256 of the .system file */
    struct mkperf_image_program kernel;
    unsigned n;
    /* Programs in the order of the .system file. */
    struct mkperf_image_program program[MKPERF_STAMP_PROGRAMS];
    unsigned nqueues;
    struct mkperf_image_queue queue[MKPERF_STAMP_QUEUES];
    char windows[MKPERF_STAMP_WINDOWS_BYTES +
                 1]; /* the domain schedule (system.h), "" without one */
};

/* Reads the n bytes at p. MKPERF_ERR_INPUT with the place and the reason: the table is invalid. */
enum mkperf_status mkperf_image_read(const uint8_t *p, size_t n, struct mkperf_image *out,
                                     struct mkperf_error *e);

/*
 * Writes the table and its CRC, at most MKPERF_STAMP_BYTES, and returns its size. The texts of the
 * image must be short enough and printable, as mkperf_image_read demands.
 */
size_t mkperf_image_write(const struct mkperf_image *image, uint8_t out[MKPERF_STAMP_BYTES]);

/* Where an index is in the words of memory that a target reads. */
struct mkperf_image_place {
    uint8_t word, shift; /* shift: of its lowest bit */
};

/*
 * Stores the words that hold the indices of all queues with a mapping, as the target is asked to read them (words.h), and the
 * place of each queue's head and tail in them. Returns the number of words. Host and target have the same order from the image.
 */
unsigned mkperf_image_words(const struct mkperf_image *image, uint64_t word[MKPERF_MAX_WORDS],
                            struct mkperf_image_place place[MKPERF_STAMP_QUEUES][2]);

/* Room for the image's identity in hexadecimal with its NUL, as mkperf_hex writes it. */
enum { MKPERF_IMAGE_TEXT = 2 * MKPERF_STAMP_IMAGE_BYTES + 1 };

#endif
