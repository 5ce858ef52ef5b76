/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image: an ELF whose segments are the chunks that have bytes, at their physical addresses.
 *
 * Written next to its final name and renamed when it is complete.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pack.h"

static unsigned loaded(const struct layout *l)
{
    unsigned n = 0;

    for (unsigned i = 0; i < l->n; i++) {
        n += l->chunk[i].bytes != NULL;
    }
    return n;
}

static bool write_headers(const struct packer *p, FILE *f)
{
    unsigned n = loaded(&p->layout);
    Elf64_Ehdr h = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = (Elf64_Half)p->machine->elf,
        .e_version = EV_CURRENT,
        .e_entry = p->entry,
        .e_phoff = sizeof h,
        .e_ehsize = sizeof h,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = (Elf64_Half)n,
    };
    uint64_t offset = sizeof h + n * sizeof(Elf64_Phdr);
    bool ok = n < PN_XNUM && fwrite(&h, sizeof h, 1, f) == 1;

    for (unsigned i = 0; ok && i < p->layout.n; i++) {
        const struct chunk *c = &p->layout.chunk[i];
        Elf64_Phdr s = {PT_LOAD, PF_R | PF_W | PF_X, offset, c->at, c->at, c->size, c->size, 1};
        if (c->bytes != NULL) {
            ok = fwrite(&s, sizeof s, 1, f) == 1;
            offset += c->size;
        }
    }
    return ok;
}

static bool write_all(const struct packer *p, FILE *f)
{
    bool ok = write_headers(p, f);

    for (unsigned i = 0; ok && i < p->layout.n; i++) {
        const struct chunk *c = &p->layout.chunk[i];
        ok = c->bytes == NULL || fwrite(c->bytes, c->size, 1, f) == 1;
    }
    return ok;
}

bool write_image(struct packer *p)
{
    size_t room = strlen(p->out_path) + sizeof ".partial";
    char *partial = malloc(room);
    FILE *f = NULL;
    bool ok = false;

    if (partial != NULL) {
        (void)snprintf(partial, room, "%s.partial", p->out_path);
        f = fopen(partial, "wb");
    }
    if (f != NULL) {
        ok = write_all(p, f);
        ok = fclose(f) == 0 && ok && rename(partial, p->out_path) == 0;
    }
    if (!ok) {
        mkperf_error_set(p->e, MKPERF_ERR_OUTPUT, "%s: %s", p->out_path, strerror(errno));
        if (f != NULL) {
            unlink(partial);
        }
    }
    free(partial);
    return ok;
}
