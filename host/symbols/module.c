/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules: ELF files, which are checked before any other use.
 *
 * Owns: a file's mapping, the segments, and the computation of identities. Called when an ELF is opened (recorded.c) or searched
 * for (find_elf.c). The file is mapped private, so that elfutils' changes stay local. A truncated file is refused,
 * because a part of a symbol table would yield wrong names.
 */
#include "symbols_internal.h"

#include <elfutils/libdwelf.h>
#include <mbedtls/sha256.h>
#include <sys/mman.h>

void mkperf_module_free(struct mkperf_module *m)
{
    dwarf_cfi_end(m->eh_cfi);
    dwarf_end(m->dwarf);
    elf_end(m->elf);
    if (m->bytes) {
        munmap(m->bytes, m->size);
    }
    free(m->lr_cache);
    free(m->range);
    free(m->function);
    free(m->segment);
    free(m->path);
    free(m->original);
    free(m);
}

/* Opens the ELF and its segments. Checks the header's bytes, because elfutils accepts ELFs that mkperf does not. NULL, or why
 * it is refused. */
static const char *open_elf(struct mkperf_module *m)
{
    const uint8_t *b = m->bytes;
    Elf_Scn *scn = NULL;
    Elf64_Ehdr h;
    size_t n = 0;

    if (memcmp(b, ELFMAG, SELFMAG) != 0) {
        return "not an ELF";
    }
    if (b[EI_CLASS] != ELFCLASS64 || b[EI_DATA] != ELFDATA2LSB) {
        return "not a 64-bit little-endian ELF";
    }
    if (m->size < sizeof h) {
        return "cut short in its header";
    }
    memcpy(&h, b, sizeof h);
    if (h.e_machine != EM_AARCH64 && h.e_machine != EM_RISCV && h.e_machine != EM_X86_64) {
        return "neither AArch64 nor RISC-V nor x86-64";
    }
    if (h.e_type != ET_EXEC && h.e_type != ET_DYN) {
        return "not a linked program";
    }
    if (h.e_phnum && !mkperf_inside(m, h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr))) {
        return "cut short in its program headers";
    }
    if (h.e_shoff && !mkperf_inside(m, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr))) {
        return "cut short: its section headers are beyond the end of the file";
    }
    m->machine = h.e_machine;
    if (!(m->elf = elf_memory((char *)m->bytes, m->size))) {
        return elf_errmsg(-1);
    }
    while ((scn = elf_nextscn(m->elf, scn))) {
        GElf_Shdr sh;

        if (!gelf_getshdr(scn, &sh)) {
            return "a section header cannot be read";
        }
        if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL && sh.sh_size &&
            !mkperf_inside(m, sh.sh_offset, sh.sh_size)) {
            return "cut short: a section is beyond the end of the file";
        }
    }
    if (elf_getphdrnum(m->elf, &n) != 0) {
        return "its program headers cannot be read";
    }
    m->segment =
        mkperf_xcalloc(n, sizeof *m->segment); /* elf_getphdrnum compared n with the file */
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr ph;

        if (!gelf_getphdr(m->elf, (int)i, &ph) || ph.p_type != PT_LOAD) {
            continue;
        }
        if (ph.p_filesz && !mkperf_inside(m, ph.p_offset, ph.p_filesz)) {
            return "cut short: a segment is beyond the end of the file";
        }
        if (ph.p_flags & PF_X) {
            m->segment[m->nsegments++] = (struct mkperf_segment){
                .vaddr = ph.p_vaddr, .size = ph.p_memsz, .offset = ph.p_offset};
        }
    }
    /* In a file without sections, the program headers that a build id needs are not trusted. */
    const void *id = NULL;
    ssize_t bytes = elf_nextscn(m->elf, NULL) != NULL ? dwelf_elf_gnu_build_id(m->elf, &id) : 0;
    if (bytes > 0 && bytes <= MKPERF_BUILD_ID_BYTES) {
        m->build_id.n = (uint8_t)bytes;
        memcpy(m->build_id.byte, id, (size_t)bytes);
    }
    return NULL;
}

const char *mkperf_module_map(struct mkperf_module *m, const char *path)
{
    struct stat st;
    const char *why = NULL;
    /* A recording may name a FIFO or a device. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0) {
        return strerror(errno);
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        why = "not a regular file";
    } else if (st.st_size < EI_NIDENT) {
        why = "not an ELF (too short)";
    } else {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        why = p == MAP_FAILED ? strerror(errno) : NULL;
        m->bytes = p == MAP_FAILED ? NULL : p;
        m->size = (size_t)st.st_size;
    }
    close(fd);
    return why != NULL ? why : open_elf(m);
}

bool mkperf_module_content(const struct mkperf_module *m, struct mkperf_blank blank,
                           uint8_t out[MKPERF_CONTENT_HASH_BYTES])
{
    mbedtls_sha256_context hash;
    const uint8_t *file = m->bytes;
    uint8_t *copy = NULL;
    size_t headers = 0;
    bool any = false;
    GElf_Phdr h;

    if (blank.n != 0 && blank.offset < m->size) {
        uint64_t rest = m->size - blank.offset;
        file = copy = memcpy(mkperf_xcalloc(m->size, 1), file, m->size);
        memset(copy + blank.offset, 0, blank.n < rest ? blank.n : rest);
    }
    mbedtls_sha256_init(&hash);
    (void)mbedtls_sha256_starts_ret(&hash, 0);
    (void)elf_getphdrnum(m->elf, &headers);
    for (size_t i = 0; i < headers; i++) {
        if (gelf_getphdr(m->elf, (int)i, &h) != NULL && h.p_type == PT_LOAD && h.p_filesz != 0) {
            const uint64_t head[] = {htole64(h.p_vaddr), htole64(h.p_filesz)};
            any = true;
            assert(mkperf_inside(m, h.p_offset, h.p_filesz));
            (void)mbedtls_sha256_update_ret(&hash, (const uint8_t *)head, sizeof head);
            (void)mbedtls_sha256_update_ret(&hash, file + h.p_offset, h.p_filesz);
        }
    }
    (void)mbedtls_sha256_finish_ret(&hash, out);
    mbedtls_sha256_free(&hash);
    free(copy);
    return any;
}

void mkperf_module_identity(const struct mkperf_module *m, struct mkperf_build_id *out)
{
    uint8_t hash[MKPERF_CONTENT_HASH_BYTES];

    *out = m->build_id;
    if (out->n == 0 && mkperf_module_content(m, (struct mkperf_blank){0}, hash)) {
        out->n = MKPERF_BUILD_ID_BYTES;
        out->derived = true;
        memcpy(out->byte, hash, out->n);
    }
}

void mkperf_sha256(const void *bytes, size_t n, uint8_t out[MKPERF_CONTENT_HASH_BYTES])
{
    (void)mbedtls_sha256_ret(bytes, n, out, 0);
}

const char *mkperf_build_id_text(const struct mkperf_build_id *id, char text[MKPERF_BUILD_ID_TEXT])
{
    memcpy(text, "none", sizeof "none");
    return mkperf_hex(id->byte, id->n < MKPERF_BUILD_ID_BYTES ? id->n : MKPERF_BUILD_ID_BYTES,
                      text);
}

const char *mkperf_module_path(const struct mkperf_module *m)
{
    return m->original != NULL ? m->original : m->path;
}

uint16_t mkperf_module_machine(const struct mkperf_module *m)
{
    return m->machine;
}

const char *mkperf_module_arch(const struct mkperf_module *m)
{
    switch (m->machine) {
    case EM_RISCV:
        return "riscv64";
    case EM_X86_64:
        return "x86_64";
    default:
        return "aarch64";
    }
}

const struct mkperf_build_id *mkperf_module_build_id(const struct mkperf_module *m)
{
    static const struct mkperf_build_id unknown;

    return m != NULL ? &m->build_id : &unknown;
}

const struct mkperf_segment *mkperf_module_segments(const struct mkperf_module *m, size_t *n)
{
    *n = m != NULL ? m->nsegments : 0;
    return m != NULL ? m->segment : NULL;
}

static bool find_section(const struct mkperf_module *m, const char *name, GElf_Shdr *h)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(m->elf, &names) != 0) {
        return false;
    }
    while ((section = elf_nextscn(m->elf, section)) != NULL) {
        const char *found = gelf_getshdr(section, h) != NULL ? elf_strptr(m->elf, names, h->sh_name)
                                                             : NULL;
        if (found != NULL && strcmp(found, name) == 0) {
            return true;
        }
    }
    return false;
}

bool mkperf_module_text(const struct mkperf_module *m, struct mkperf_segment *out)
{
    GElf_Shdr h;
    bool found = find_section(m, ".text", &h);

    if (found) {
        *out = (struct mkperf_segment){h.sh_addr, h.sh_size, h.sh_offset};
    }
    return found;
}

const uint8_t *mkperf_module_section(const struct mkperf_module *m, const char *name, uint64_t *n)
{
    GElf_Shdr h;

    if (!find_section(m, name, &h) || h.sh_type == SHT_NOBITS ||
        !mkperf_inside(m, h.sh_offset, h.sh_size)) {
        return NULL;
    }
    *n = h.sh_size;
    return m->bytes + h.sh_offset;
}

const uint8_t *mkperf_module_file(const struct mkperf_module *m, size_t *n)
{
    *n = m->size;
    return m->bytes;
}
