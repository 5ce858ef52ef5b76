/* SPDX-License-Identifier: BSD-2-Clause */
/* What identifies a module: identity.h over an ELF that module.c opened. */
#include "identity.h"

#include <string.h>

#include "symbols_internal.h"

void mkperf_module_identity(const struct mkperf_module *m, struct mkperf_build_id *out)
{
    (void)mkperf_elf_identity(m->elf, m->bytes, m->size, out);
}

bool mkperf_module_content(const struct mkperf_module *m, struct mkperf_blank blank,
                           uint8_t out[MKPERF_CONTENT_HASH_BYTES])
{
    return mkperf_elf_content(m->elf, m->bytes, m->size, blank, out);
}

/* Where the address stands in the file, if all n bytes from there on do. */
static bool file_offset(const struct mkperf_module *m, uint64_t addr, uint64_t n, uint64_t *offset)
{
    size_t headers = 0;

    for (size_t i = 0; elf_getphdrnum(m->elf, &headers) == 0 && i < headers; i++) {
        GElf_Phdr h;
        if (gelf_getphdr(m->elf, (int)i, &h) == NULL || h.p_type != PT_LOAD || addr < h.p_vaddr ||
            addr - h.p_vaddr > h.p_filesz || n > h.p_filesz - (addr - h.p_vaddr)) {
            continue;
        }
        *offset = h.p_offset + (addr - h.p_vaddr);
        return h.p_offset <= m->size && h.p_filesz <= m->size - h.p_offset;
    }
    return false;
}

bool mkperf_module_object(const struct mkperf_module *m, const char *name, uint64_t at_least,
                          uint64_t *offset, uint64_t *size)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(m->elf, section)) != NULL) {
        GElf_Shdr h;
        Elf_Data *data;
        if (gelf_getshdr(section, &h) == NULL || h.sh_type != SHT_SYMTAB || h.sh_entsize == 0 ||
            (data = elf_getdata(section, NULL)) == NULL) {
            continue;
        }
        for (size_t i = 0; i < data->d_size / h.sh_entsize; i++) {
            GElf_Sym s;
            const char *found = gelf_getsym(data, (int)i, &s) != NULL && s.st_shndx != SHN_UNDEF
                                    ? elf_strptr(m->elf, h.sh_link, s.st_name)
                                    : NULL;
            if (found != NULL && strcmp(found, name) == 0 && s.st_size >= at_least &&
                file_offset(m, s.st_value, s.st_size, offset)) {
                *size = s.st_size;
                return true;
            }
        }
    }
    return false;
}

const uint8_t *mkperf_module_file(const struct mkperf_module *m, size_t *n)
{
    *n = m->size;
    return m->bytes;
}
