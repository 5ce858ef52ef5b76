/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules: ELF files, which are opened once and checked before any other use.
 *
 * Owns: the list of modules, and of each the file's mapping, the segments and the build id. Called by the commands and
 * sinks that need symbols. The file is mapped private, so that elfutils' changes stay local. A truncated file is refused,
 * because a part of a symbol table would yield wrong names.
 */
#include <sys/mman.h>

#include "symbols_internal.h"

struct mkperf_symbols {
    struct mkperf_module *modules;
    void *names;                  /* a tree, see functions.c */
    char arch[MKPERF_ARCH_BYTES]; /* the architecture that is expected; "": any */
    struct mkperf_elf_search search;
    struct mkperf_finder *finder; /* NULL: nothing is searched for */
};

struct mkperf_symbols *mkperf_symbols_new(void)
{
    struct mkperf_symbols *s = mkperf_xcalloc(1, sizeof *s);

    elf_version(EV_CURRENT);
    return s;
}

static void module_free(struct mkperf_module *m)
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

void mkperf_symbols_free(struct mkperf_symbols *s)
{
    if (!s) {
        return;
    }
    while (s->modules) {
        struct mkperf_module *m = s->modules;
        s->modules = m->next;
        module_free(m);
    }
    mkperf_finder_free(s->finder);
    mkperf_names_free(s->names);
    free(s);
}

static enum mkperf_status refuse(const char *path, const char *why, struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, why);
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
    return NULL;
}

static enum mkperf_status module_open(struct mkperf_module *m, const char *path,
                                      struct mkperf_error *e)
{
    struct stat st;
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return refuse(path, strerror(errno), e);
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
    if (!m->bytes) {
        return refuse(path, why, e);
    }
    if (memcmp(m->bytes, ELFMAG, SELFMAG) != 0 && mkperf_functions_of_text(m)) {
        return MKPERF_OK;
    }
    why = open_elf(m);
    if (why) {
        return refuse(path, why, e);
    }
    (void)mkperf_elf_build_id(m->elf, &m->build_id);
    return MKPERF_OK;
}

enum mkperf_status mkperf_symbols_module(struct mkperf_symbols *s, const char *path,
                                         struct mkperf_module **out, struct mkperf_error *e)
{
    struct mkperf_module *m;
    enum mkperf_status status;
    char *name = realpath(path, NULL); /* absolute and without links, where that is possible */

    *out = NULL;
    name = name != NULL ? name : mkperf_xstrdup(path);
    for (m = s->modules; m; m = m->next) {
        if (strcmp(m->path, name) == 0) {
            free(name);
            *out = m;
            return MKPERF_OK;
        }
    }
    m = mkperf_xcalloc(1, sizeof *m);
    m->path = name;
    m->names = &s->names;
    status = module_open(m, path, e);
    if (status != MKPERF_OK) {
        module_free(m);
        return status;
    }
    /* A copy in perf's cache has the path DIRECTORY, the path of the file that was copied, /BUILD-ID/elf. */
    char id[MKPERF_BUILD_ID_TEXT], *given = mkperf_elf_cache_directory();
    char *directory = given != NULL ? realpath(given, NULL) : NULL;
    char *last = mkperf_xprintf("/%s/elf", mkperf_build_id_text(&m->build_id, id));
    size_t n = directory != NULL ? strlen(directory) : 0, all = strlen(name), tail = strlen(last);
    if (n != 0 && all > n + tail && strncmp(name, directory, n) == 0 && name[n] == '/' &&
        strcmp(name + all - tail, last) == 0) {
        m->original = mkperf_xprintf("%.*s", (int)(all - n - tail), name + n);
    }
    free(given);
    free(directory);
    free(last);
    m->next = s->modules;
    s->modules = m;
    *out = m;
    return MKPERF_OK;
}

void mkperf_symbols_expect(struct mkperf_symbols *s, const char *arch)
{
    snprintf(s->arch, sizeof s->arch, "%s", arch);
}

/* Opens the file at path if it is the build that was recorded. */
static enum mkperf_status open_recorded(struct mkperf_symbols *s, const char *path,
                                        const struct mkperf_build_id *recorded,
                                        struct mkperf_module **out, struct mkperf_error *e)
{
    char there[MKPERF_BUILD_ID_TEXT], then[MKPERF_BUILD_ID_TEXT];
    struct mkperf_build_id has;
    enum mkperf_status status = mkperf_symbols_module(s, path, out, e);
    const struct mkperf_module *m = *out;

    if (m != NULL && s->arch[0] != '\0' && strcmp(s->arch, mkperf_module_arch(m)) != 0) {
        *out = NULL;
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: an ELF for %s, the recording is of %s",
                                path, mkperf_module_arch(m), s->arch);
    }
    if (m == NULL || recorded->n == 0) {
        return status;
    }
    mkperf_module_identity(m, &has);
    if (mkperf_build_id_same(&has, recorded)) {
        return status;
    }
    *out = NULL;
    return mkperf_error_set(
        e, MKPERF_ERR_INPUT, "%s: another build (%s) than the one recorded (%s)", path,
        mkperf_build_id_text(&has, there), mkperf_build_id_text(recorded, then));
}

void mkperf_symbols_search(struct mkperf_symbols *s, const struct mkperf_elf_search *where)
{
    if (s->finder != NULL && s->search.elf_path == where->elf_path &&
        s->search.symfs == where->symfs) {
        return;
    }
    s->search = *where;
    mkperf_finder_free(s->finder);
    s->finder = mkperf_finder_new(where->elf_path, NULL);
}

static enum mkperf_status search_recorded(struct mkperf_symbols *s, const char *path,
                                          const struct mkperf_build_id *recorded,
                                          struct mkperf_module **out, struct mkperf_error *e)
{
    const char *found, *file = path != NULL ? basename(path) : "";
    char why[sizeof e->text], *cache;

    if (path != NULL && s->search.elf_path != NULL) {
        mkperf_finder_add(s->finder, path); /* one candidate among those of --elf-path */
    }
    while ((found = mkperf_finder_find(s->finder, recorded, file, why, sizeof why)) != NULL) {
        if (open_recorded(s, found, recorded, out, e) == MKPERF_OK) {
            return MKPERF_OK;
        }
        mkperf_finder_reject(s->finder, found);
    }
    if (path == NULL || e->status == MKPERF_OK) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s", why);
    }
    cache = mkperf_elf_cache_directory();
    snprintf(why, sizeof why, "%s", e->text);
    mkperf_error_set(e, MKPERF_ERR_INPUT,
                     "%.600s; there is no copy in %.200s: --elf-path DIR names where that build is",
                     why, cache != NULL ? cache : "$PERF_BUILDID_DIR");
    free(cache);
    return MKPERF_ERR_INPUT;
}

enum mkperf_status mkperf_symbols_recorded(struct mkperf_symbols *s, const char *path,
                                           const struct mkperf_build_id *recorded,
                                           struct mkperf_module **out, struct mkperf_error *e)
{
    *out = NULL;
    e->status = MKPERF_OK;
    if (s->finder == NULL) {
        return open_recorded(s, path, recorded, out, e);
    }
    /* Files that the user's options name precede the path in the recording. */
    const struct mkperf_elf_search *w = &s->search;
    bool below = path != NULL && w->symfs != NULL, opened = false;
    bool by_name = path != NULL && w->elf_path != NULL && recorded->n == 0; /* it has no build id */
    char *named[] = {below ? mkperf_xprintf("%s/%s", w->symfs, path) : NULL,
                     by_name ? mkperf_find_file(w->elf_path, basename(path)) : NULL};
    for (unsigned i = 0; i < 2; i++) {
        struct mkperf_error ignored;
        opened = opened || (named[i] != NULL &&
                            open_recorded(s, named[i], recorded, out, &ignored) == MKPERF_OK);
        free(named[i]);
    }
    if (opened) {
        return MKPERF_OK;
    }
    if (path != NULL && (s->search.elf_path == NULL || recorded->n == 0) &&
        open_recorded(s, path, recorded, out, e) == MKPERF_OK) {
        return MKPERF_OK;
    }
    return recorded->n != 0 ? search_recorded(s, path, recorded, out, e) : e->status;
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

bool mkperf_module_text(const struct mkperf_module *m, struct mkperf_segment *out)
{
    GElf_Shdr h;
    bool found = mkperf_elf_section(m->elf, ".text", &h);

    if (found) {
        *out = (struct mkperf_segment){h.sh_addr, h.sh_size, h.sh_offset};
    }
    return found;
}

void mkperf_module_identity(const struct mkperf_module *m, struct mkperf_build_id *out)
{
    (void)mkperf_elf_identity(m->elf, out);
}

bool mkperf_module_content(const struct mkperf_module *m, struct mkperf_blank blank,
                           uint8_t out[MKPERF_CONTENT_HASH_BYTES])
{
    return mkperf_elf_content(m->elf, blank, out);
}

const uint8_t *mkperf_module_section(const struct mkperf_module *m, const char *name, uint64_t *n)
{
    GElf_Shdr h;

    if (!mkperf_elf_section(m->elf, name, &h) || h.sh_type == SHT_NOBITS ||
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
