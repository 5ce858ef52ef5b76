/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pocket-pack SYSTEM --elf-path DIR[:DIR] --kernel KERNEL.elf -o IMAGE
 *
 * Makes an image that QEMU boots. Exit status and messages as host/base/base.h defines them.
 */
#include <errno.h>
#include <getopt.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"

#define MAX_PHYSICAL (UINT64_C(1) << 40)

bool refuse(struct packer *p, int line, const char *format, ...)
{
    char reason[768];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    mkperf_error_set(p->e, MKPERF_ERR_INPUT, "%s:%d: %s", p->system_path, line, reason);
    return false;
}

static bool place_kernel(struct packer *p)
{
    struct program g;
    bool ok = program_load(p, p->kernel_path, 1, true, &g);

    p->entry = g.entry;
    /* Its blocks and QEMU's stay free as a whole: memory around the segments is mapped, too. */
    for (unsigned i = 0; ok && i < g.n; i++) {
        struct segment *s = &g.segment[i];
        ok = s->vaddr >= p->machine->ram &&
             s->vaddr + s->size <= p->machine->ram + POCKET_IMAGE_OFFSET &&
             layout_place(p, s->vaddr, s->size, s->bytes);
        s->bytes = NULL;
        if (!ok) {
            refuse(p, 1, "%s is not pocket's kernel: it is loaded elsewhere", p->kernel_path);
        }
    }
    program_free(&g);
    return ok;
}

static bool place_header(struct packer *p)
{
    p->image = calloc(1, sizeof *p->image);
    if (p->image == NULL) {
        return refuse(p, 1, "out of memory");
    }
    p->image->magic = POCKET_IMAGE_MAGIC;
    p->image->npds = p->system->npds;
    p->image->cores = 1;
    for (unsigned i = 0; i < p->system->npds; i++) {
        unsigned cores = p->system->pd[i].scheduling.cpu + 1;
        p->image->cores = cores > p->image->cores ? cores : p->image->cores;
    }
    return layout_place(p, p->machine->ram + POCKET_IMAGE_OFFSET, sizeof *p->image,
                        (uint8_t *)p->image);
}

/* Places a region at a fixed address, which is free RAM or no RAM. */
static bool place_fixed(struct packer *p, const struct mkperf_system_region *r)
{
    uint64_t end = p->machine->ram + (uint64_t)POCKET_RAM_BYTES;
    uint64_t free_from = p->machine->ram + POCKET_IMAGE_OFFSET;

    if (r->phys_addr + r->size > MAX_PHYSICAL) {
        return refuse(p, r->line, "memory_region '%s' ends above 40-bit physical addresses",
                      r->name);
    }
    if (r->phys_addr + r->size <= p->machine->ram || r->phys_addr >= end) {
        return true;
    }
    if (r->phys_addr < free_from || r->phys_addr + r->size > end) {
        return refuse(p, r->line,
                      "memory_region '%s' collides with pocket's own memory, or leaves RAM: "
                      "0x%llx to 0x%llx is free",
                      r->name, (unsigned long long)free_from, (unsigned long long)end);
    }
    return layout_place(p, r->phys_addr, r->size, NULL) ||
           refuse(p, r->line, "memory_region '%s' collides with pocket's image header", r->name);
}

/* Places all regions: fixed ones first, the others around them. */
static bool place_regions(struct packer *p)
{
    p->region_at = calloc(p->system->nregions + 1, sizeof *p->region_at);
    if (p->region_at == NULL) {
        return refuse(p, 1, "out of memory");
    }
    for (unsigned i = 0; i < p->system->nregions; i++) {
        const struct mkperf_system_region *r = &p->system->region[i];
        p->region_at[i] = r->phys_addr;
        if (r->has_phys_addr && !place_fixed(p, r)) {
            return false;
        }
    }
    for (unsigned i = 0; i < p->system->nregions; i++) {
        const struct mkperf_system_region *r = &p->system->region[i];
        if (!r->has_phys_addr &&
            !layout_allocate(p, r->size, r->page_size, NULL, &p->region_at[i])) {
            return refuse(p, r->line, "memory_region '%s' does not fit into RAM (%d MiB)", r->name,
                          POCKET_RAM_BYTES >> 20);
        }
    }
    return true;
}

static bool pack(struct packer *p)
{
    if (mkperf_system_load(p->system_path, &p->system, p->e) != MKPERF_OK) {
        return false;
    }
    if (!place_kernel(p) || !place_header(p) || !place_regions(p) || !build_schedule(p)) {
        return false;
    }
    for (unsigned i = 0; i < p->system->npds; i++) {
        if (!build_pd(p, i)) {
            return false;
        }
    }
    return write_image(p);
}

static bool arguments(struct packer *p, int argc, char **argv)
{
    static const struct option options[] = {{"elf-path", required_argument, NULL, 'e'},
                                            {"kernel", required_argument, NULL, 'k'},
                                            {"output", required_argument, NULL, 'o'},
                                            {NULL, 0, NULL, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
        if (c == 'e') {
            p->elf_path = optarg;
        } else if (c == 'k') {
            p->kernel_path = optarg;
        } else if (c == 'o') {
            p->out_path = optarg;
        } else {
            return false;
        }
    }
    p->system_path = argv[optind];
    return optind + 1 == argc && p->elf_path && p->kernel_path && p->out_path;
}

int main(int argc, char **argv)
{
    struct mkperf_error e = {.status = MKPERF_ERR_FAILED};
    struct packer p = {.e = &e};
    bool ok;

    if (!arguments(&p, argc, argv)) {
        fprintf(stderr,
                "usage: pocket-pack SYSTEM --elf-path DIR[:DIR] --kernel KERNEL.elf -o IMAGE\n");
        return MKPERF_ERR_USAGE;
    }
    elf_version(EV_CURRENT);
    ok = pack(&p);
    if (!ok) {
        fprintf(stderr, "pocket-pack: %s\n", e.text);
    }
    layout_free(&p.layout);
    free(p.region_at);
    mkperf_system_free(p.system);
    return ok ? MKPERF_OK : (int)e.status;
}
