/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files, read whole with libelf: loadable segments and symbols.
 *
 * A damaged file is refused; every value in it is checked against the file's size before use.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pack.h"

struct symbol {
    char *name;
    uint64_t address;
    uint64_t size;
};

static bool read_segment(Elf *elf, const GElf_Phdr *h, bool kernel, struct segment *s)
{
    size_t file_size;
    const char *file = elf_rawfile(elf, &file_size);

    if (h->p_filesz > h->p_memsz || h->p_memsz > POCKET_RAM_BYTES || h->p_offset > file_size ||
        h->p_filesz > file_size - h->p_offset) {
        return false;
    }
    s->bytes = calloc(1, h->p_memsz);
    if (s->bytes == NULL) {
        return false;
    }
    memcpy(s->bytes, file + h->p_offset, h->p_filesz);
    s->vaddr = kernel ? h->p_paddr : h->p_vaddr;
    s->size = h->p_memsz;
    s->write = (h->p_flags & PF_W) != 0;
    s->execute = (h->p_flags & PF_X) != 0;
    return true;
}

static const char *read_segments(Elf *elf, bool kernel, struct program *g)
{
    size_t n;

    if (elf_getphdrnum(elf, &n) != 0) {
        return "has no program headers";
    }
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr h;
        if (gelf_getphdr(elf, (int)i, &h) == NULL) {
            return "has damaged program headers";
        }
        if (h.p_type != PT_LOAD || h.p_memsz == 0) {
            continue;
        }
        if (g->n == PROGRAM_SEGMENTS) {
            return "has too many segments";
        }
        if (!read_segment(elf, &h, kernel, &g->segment[g->n])) {
            return "has a segment that is damaged or too large";
        }
        if (g->entry >= h.p_vaddr && g->entry - h.p_vaddr < h.p_memsz && kernel) {
            g->entry = g->entry - h.p_vaddr + h.p_paddr;
        }
        g->n++;
    }
    return g->n != 0 ? NULL : "has no segment to load";
}

static const char *read_symbols(Elf *elf, struct program *g)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;
    Elf_Data *data = NULL;

    while (data == NULL && (section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &h) != NULL && h.sh_type == SHT_SYMTAB) {
            data = elf_getdata(section, NULL);
        }
    }
    if (data == NULL || h.sh_entsize == 0) {
        return "has no symbol table";
    }
    unsigned n = (unsigned)(data->d_size / h.sh_entsize);
    struct symbol *symbols = calloc(n != 0 ? n : 1, sizeof *symbols);
    g->symbols = symbols;
    for (unsigned i = 0; symbols != NULL && i < n; i++) {
        GElf_Sym s;
        const char *name =
            gelf_getsym(data, (int)i, &s) != NULL ? elf_strptr(elf, h.sh_link, s.st_name) : NULL;
        if (name == NULL || s.st_shndx == SHN_UNDEF || GELF_ST_BIND(s.st_info) == STB_LOCAL) {
            continue;
        }
        symbols[g->nsymbols++] = (struct symbol){strdup(name), s.st_value, s.st_size};
    }
    return symbols != NULL ? NULL : "is too large";
}

static const char *read_elf(struct packer *p, int fd, bool kernel, struct program *g)
{
    GElf_Ehdr h;
    const char *reason;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &h) == NULL) {
        reason = "is not an ELF file";
    } else if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
               (kernel ? machine_of(h.e_machine) == NULL : h.e_machine != p->machine->elf)) {
        reason = kernel ? "is not for an architecture of pocket's"
                        : "is not for the kernel's architecture";
    } else if (h.e_type != ET_EXEC) {
        reason = "is not a statically linked program";
    } else {
        g->entry = h.e_entry;
        p->machine = machine_of(h.e_machine);
        reason = read_segments(elf, kernel, g);
        if (reason == NULL) {
            reason = read_symbols(elf, g);
        }
    }
    elf_end(elf);
    return reason;
}

bool program_load(struct packer *p, const char *path, int line, bool kernel, struct program *out)
{
    int fd = open(path, O_RDONLY);
    const char *reason;

    memset(out, 0, sizeof *out);
    out->path = path;
    if (fd < 0) {
        return refuse(p, line, "%s: %s", path, strerror(errno));
    }
    reason = read_elf(p, fd, kernel, out);
    close(fd);
    return reason == NULL || refuse(p, line, "%s %s", path, reason);
}

static const struct symbol *find_symbol(const struct program *g, const char *name)
{
    const struct symbol *s = g->symbols;

    for (unsigned i = 0; i < g->nsymbols; i++) {
        if (s[i].name != NULL && strcmp(s[i].name, name) == 0) {
            return &s[i];
        }
    }
    return NULL;
}

bool program_symbol_address(const struct program *g, const char *name, uint64_t *address)
{
    const struct symbol *s = find_symbol(g, name);

    if (s != NULL) {
        *address = s->address;
    }
    return s != NULL;
}

/* Returns the symbol's `size` bytes in the file's segments; NULL if it has fewer. */
uint8_t *program_symbol(struct program *g, const char *name, uint64_t size)
{
    const struct symbol *s = find_symbol(g, name);

    for (unsigned i = 0; s != NULL && s->size >= size && i < g->n; i++) {
        const struct segment *t = &g->segment[i];
        if (s->address >= t->vaddr && s->address - t->vaddr <= t->size &&
            t->size - (s->address - t->vaddr) >= size) {
            return t->bytes + (s->address - t->vaddr);
        }
    }
    return NULL;
}

void program_free(struct program *g)
{
    struct symbol *s = g->symbols;

    for (unsigned i = 0; i < g->n; i++) {
        free(g->segment[i].bytes);
    }
    for (unsigned i = 0; i < g->nsymbols; i++) {
        free(s[i].name);
    }
    free(s);
}
