/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pocket-pack: makes one bootable image of the kernel, the PDs and the system's description.
 *
 * Owns: what its files share. The packer lays the whole system out in physical memory, builds every
 * PD's page tables, and writes an ELF whose segments QEMU loads at their addresses.
 *   main.c     command line, and the order of the steps
 *   layout.c   physical memory
 *   architectures.c  the architectures
 *   tables.c   page tables
 *   program.c  ELF files of PDs and the kernel
 *   build.c    a whole PD
 *   write.c    the image
 */
#ifndef POCKET_PACK_H
#define POCKET_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../kernel/image.h"
#include "system/system.h"

/* A piece of physical memory. Pieces without bytes are zero at boot, as QEMU's RAM is. */
struct chunk {
    uint64_t at;
    uint64_t size;
    uint8_t *bytes; /* NULL: zero */
};

struct layout {
    unsigned n;
    struct chunk *chunk;
};

/* A loadable segment of an ELF. */
struct segment {
    uint64_t vaddr; /* physical address, for the kernel */
    uint64_t size;
    uint8_t *bytes; /* size of them */
    bool write, execute;
};

enum { PROGRAM_SEGMENTS = 8, PAGE = 4096, BLOCK = 0x200000 };

struct program {
    const char *path;
    uint64_t entry;
    unsigned n;
    struct segment segment[PROGRAM_SEGMENTS];
    void *symbols; /* owned by program.c */
    unsigned nsymbols;
};

struct mapping;

/* architectures.c: an architecture, and QEMU's machine of it. */
struct machine {
    unsigned elf; /* e_machine */
    const char *name;
    uint64_t ram;
    uint64_t user_top; /* where user mode's addresses end */
    unsigned cores;
    unsigned first_irq; /* first interrupt that a PD may have */
    unsigned own_irq;   /* the kernel's */
    uint64_t table_bits;
    uint64_t (*leaf)(const struct mapping *m, bool in_ram); /* the bits of its entries */
    uint64_t (*entry)(uint64_t at, uint64_t bits);
    bool (*table)(uint64_t entry, uint64_t *at); /* whether it is a table's; where it points */
};
const struct machine *machine_of(unsigned elf); /* NULL: pocket does not run there */

struct packer {
    const struct machine *machine; /* the kernel's */
    const char *system_path;
    const char *elf_path;
    const char *kernel_path;
    const char *out_path;
    struct mkperf_system *system;
    struct layout layout;
    struct pocket_image *image;
    uint64_t *region_at; /* physical address of each memory region */
    uint64_t entry;      /* the kernel's, physical */
    struct mkperf_error *e;
};

/* Fails with "SYSTEM:line: reason". */
bool refuse(struct packer *p, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* layout.c: false if it does not fit or overlaps another chunk. */
bool layout_place(struct packer *p, uint64_t at, uint64_t size, uint8_t *bytes);
bool layout_allocate(struct packer *p, uint64_t size, uint64_t align, uint8_t *bytes, uint64_t *at);
uint8_t *layout_bytes(const struct layout *l, uint64_t at);
void layout_free(struct layout *l);

/* tables.c */
struct mapping {
    uint64_t vaddr;
    uint64_t at;
    uint64_t size;
    uint64_t page_size;
    bool write, execute, cached;
    const char *what; /* the name that messages have */
    int line;
};
bool tables_new(struct packer *p, uint64_t *tables);
bool tables_map(struct packer *p, uint64_t tables, const struct mapping *m);

/* program.c */
bool program_load(struct packer *p, const char *path, int line, bool kernel, struct program *out);
uint8_t *program_symbol(struct program *g, const char *name, uint64_t size);
bool program_symbol_address(const struct program *g, const char *name, uint64_t *address);
void program_free(struct program *g);

/* build.c, write.c */
bool build_pd(struct packer *p, unsigned index);
bool build_schedule(struct packer *p);
bool write_image(struct packer *p);

#endif
