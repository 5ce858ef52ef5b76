/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function names from the symbol table, in a form that can be shown.
 *
 * Owns: a module's sorted table of functions, and the names that are not shown as they are in the ELF. Called through
 * mkperf_symbol_at by everything that shows a name. Of several symbols at one address the best is kept, by the rules of
 * perf, so that both show the same name. A label inside a function that has a size is not a function. A symbol without
 * a size (assembler) extends to the next symbol, at most to the end of its section.
 *
 * The functions of a guest's kernel may come from a copy of its /proc/kallsyms instead of an ELF.
 *
 * Names of C++ and Rust are demangled by libiberty.
 */
#include <libiberty/demangle.h>
#include <search.h>
#include <setjmp.h>

#include "symbols_internal.h"

/* The last function of a kallsyms, which has no sizes, is assumed to have this size. */
enum { LAST_FUNCTION_BYTES = 4096 };

/* A name that is not shown as it is in the ELF. */
struct shown_name {
    const char *raw;
    char *text;
};

static int compare_raw(const void *a, const void *b)
{
    return strcmp(((const struct shown_name *)a)->raw, ((const struct shown_name *)b)->raw);
}

static void free_name(void *p)
{
    struct shown_name *n = p;

    free(n->text);
    free(n);
}

void mkperf_names_free(void *names)
{
    tdestroy(names, free_name);
}

/* A demangled name while it is made. */
struct name_text {
    char bytes[4096];
    size_t n;
    jmp_buf full;
};

/* Appends a piece of a name. Leaves the demangler if there is no room: a name of 200 characters can stand for gigabytes
 * (each type may be twice the one before), so a name from an untrusted ELF must not be completed. */
static void append_piece(const char *piece, size_t n, void *self)
{
    struct name_text *t = self;

    if (n >= sizeof t->bytes - t->n) {
        longjmp(t->full,
                1); // NOLINT(*-err52-c): libiberty has no other way out, and keeps nothing here
    }
    memcpy(t->bytes + t->n, piece, n);
    t->n += n;
}

/* Returns the name that a C++ or Rust compiler mangled to raw, for free(), or NULL if raw is another's or too long. */
static char *demangle(const char *raw)
{
    struct name_text t;

    t.n = 0;
    if (setjmp(t.full) != 0) { // NOLINT(*-err52-c)
        return NULL;
    }
    if (!rust_demangle_callback(raw, 0, append_piece, &t)) {
        t.n = 0;
        if (!cplus_demangle_v3_callback(raw, DMGL_PARAMS | DMGL_ANSI, append_piece, &t)) {
            return NULL;
        }
    }
    t.bytes[t.n] = '\0';
    return mkperf_xstrdup(t.bytes);
}

const char *mkperf_demangle(void **names, const char *raw)
{
    bool mangled = raw != NULL && raw[0] == '_' && (raw[1] == 'Z' || raw[1] == 'R');

    if (raw == NULL || (!mangled && mkperf_is_printable(raw))) {
        return raw;
    }
    struct shown_name **known = tfind(&(struct shown_name){.raw = raw}, names, compare_raw);
    if (known != NULL) {
        return (*known)->text;
    }
    struct shown_name *n = mkperf_xcalloc(1, sizeof *n);
    n->raw = raw;
    n->text = mangled ? demangle(raw) : NULL;
    n->text = n->text ? n->text : mkperf_xstrdup(raw);
    mkperf_printable(n->text);
    if (tsearch(n, names, compare_raw) == NULL) {
        mkperf_die();
    }
    return n->text;
}

/* Returns whether a symbol is no function's name: $x, $d and their kind mark code and data for
 * disassemblers; .L labels are the compiler's own. */
static bool is_marker(const char *name)
{
    return name[0] == '\0' || (name[0] == '$' && (name[2] == '\0' || name[2] == '.')) ||
           strncmp(name, "$x", 2) == 0 || strncmp(name, ".L", 2) == 0;
}

/* Returns how good a symbol is as a name for its address by its form: the lowest number is the best. */
static unsigned rank_of(const struct mkperf_function *f)
{
    return (f->type == STT_NOTYPE ? 8U : 0) | (f->size == 0 ? 4U : 0) |
           (f->bind == STB_WEAK ? 2U : 0) | (f->bind != STB_GLOBAL ? 1U : 0);
}

/* Compares the starts of two symbols. Of those with the same start, the better one is first. */
static int compare_functions(const void *pa, const void *pb)
{
    const struct mkperf_function *a = pa, *b = pb;

    if (a->start != b->start) {
        return mkperf_compare(a->start, b->start);
    }
    int order = mkperf_compare(rank_of(a), rank_of(b));
    order = order != 0 ? order : mkperf_compare(strspn(a->raw, "_"), strspn(b->raw, "_"));
    order = order != 0 ? order : mkperf_compare(strlen(b->raw), strlen(a->raw));
    return order != 0 ? order : strcmp(a->raw, b->raw);
}

/*
 * Sorts the table, keeps one function for each address, drops the labels inside functions, and gives a size to functions that
 * have none.
 */
static void complete_functions(struct mkperf_module *m)
{
    uint64_t covered = 0; /* the highest end of a function with a size so far */
    size_t n = 0;

    mkperf_sort(m->function, m->nfunctions, sizeof *m->function, compare_functions);
    for (size_t i = 0; i < m->nfunctions; i++) {
        struct mkperf_function f = m->function[i];

        if (n > 0 && m->function[n - 1].start == f.start) {
            continue;
        }
        if (f.start < covered && (f.size == 0 || f.type == STT_NOTYPE)) {
            continue;
        }
        if (f.start + f.size > covered && f.size < UINT64_MAX - f.start) {
            covered = f.start + f.size;
        }
        m->function[n++] = f;
    }
    m->nfunctions = n;
    for (size_t i = 0; i < n; i++) {
        struct mkperf_function *f = &m->function[i];
        if (f->size == 0) {
            bool next = i + 1 < n && f[1].start - f->start < f->most;
            f->size = next ? f[1].start - f->start : f->most;
        }
    }
}

/*
 * Reads lines "ADDRESS TYPE NAME[ [MODULE]]" in place: a name ends at its line's end. Types t, T, w and W are code. All
 * addresses are 0 in a copy that was made without the right to see them.
 */
bool mkperf_functions_of_text(struct mkperf_module *m)
{
    char *at = (char *)m->bytes, *end = at + m->size, *line_end;
    size_t room = 0;

    for (; (line_end = memchr(at, '\n', (size_t)(end - at))) != NULL; at = line_end + 1) {
        if (line_end - at < 20 || strspn(at, "0123456789abcdefABCDEF") != 16 || at[16] != ' ' ||
            at[18] != ' ') {
            m->nfunctions = 0;
            return false;
        }
        if (strchr("tTwW", at[17]) == NULL || at[17] == '\0' || is_marker(at + 19)) {
            continue;
        }
        *line_end = '\0';
        at[19 + strcspn(at + 19, " \t")] = '\0';
        MKPERF_GROW(m->function, room, m->nfunctions + 1);
        m->function[m->nfunctions++] = (struct mkperf_function){.start = strtoull(at, NULL, 16),
                                                                .most = UINT64_MAX,
                                                                .raw = at + 19,
                                                                .type = STT_FUNC,
                                                                .bind = at[17] == 't'   ? STB_LOCAL
                                                                        : at[17] == 'T' ? STB_GLOBAL
                                                                                        : STB_WEAK};
    }
    if (m->nfunctions == 0) {
        return false;
    }
    complete_functions(m);
    struct mkperf_function *last = &m->function[m->nfunctions - 1];
    if (last->start == 0) {
        return false;
    }
    last->size = LAST_FUNCTION_BYTES;
    m->machine = EM_AARCH64;
    m->functions_loaded = true;
    return true;
}

/* Finds the symbol table; in a stripped file there is only the dynamic one. NULL: there is none. */
static Elf_Data *symbol_table(const struct mkperf_module *m, GElf_Shdr *table)
{
    Elf_Scn *scn = NULL, *found = NULL;
    GElf_Shdr sh;

    table->sh_type = SHT_NULL;
    while (table->sh_type != SHT_SYMTAB && (scn = elf_nextscn(m->elf, scn))) {
        if (gelf_getshdr(scn, &sh) &&
            (sh.sh_type == SHT_SYMTAB || (sh.sh_type == SHT_DYNSYM && !found))) {
            found = scn;
            *table = sh;
        }
    }
    return found ? elf_getdata(found, NULL) : NULL;
}

bool mkperf_module_object(const struct mkperf_module *m, const char *name, uint64_t at_least,
                          uint64_t *offset, uint64_t *size)
{
    GElf_Shdr table, sh;
    Elf_Data *data = symbol_table(m, &table);
    size_t bytes = 0;
    GElf_Sym s;

    (void)elf_rawfile(m->elf, &bytes);
    for (int i = 0; data && table.sh_type == SHT_SYMTAB && gelf_getsym(data, i, &s); i++) {
        const char *found = elf_strptr(m->elf, table.sh_link, s.st_name);
        if (found && strcmp(found, name) == 0 && s.st_size >= at_least &&
            gelf_getshdr(elf_getscn(m->elf, s.st_shndx), &sh) && sh.sh_type != SHT_NOBITS &&
            sh.sh_offset <= bytes && sh.sh_size <= bytes - sh.sh_offset &&
            s.st_value - sh.sh_addr <= sh.sh_size &&
            s.st_size <= sh.sh_size - (s.st_value - sh.sh_addr)) {
            *offset = sh.sh_offset + (s.st_value - sh.sh_addr);
            *size = s.st_size;
            return true;
        }
    }
    return false;
}

static void load_functions(struct mkperf_module *m)
{
    GElf_Shdr table, sh;
    size_t n;

    if (m->functions_loaded) {
        return;
    }
    Elf_Data *data = symbol_table(m, &table);
    m->functions_loaded = true;
    if (!data) {
        return;
    }
    n = data->d_size / sizeof(Elf64_Sym);
    m->function = mkperf_xcalloc(n, sizeof *m->function); /* elfutils compared n with the file */
    for (size_t i = 0; i < n; i++) {
        GElf_Sym sym;
        const char *name;
        unsigned type = gelf_getsym(data, (int)i, &sym) ? GELF_ST_TYPE(sym.st_info) : STT_FILE;
        if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
            sym.st_shndx == SHN_UNDEF || sym.st_shndx >= SHN_LORESERVE ||
            !gelf_getshdr(elf_getscn(m->elf, sym.st_shndx), &sh) ||
            !(sh.sh_flags & SHF_EXECINSTR) || sym.st_value - sh.sh_addr >= sh.sh_size) {
            continue;
        }
        name = elf_strptr(m->elf, table.sh_link, sym.st_name);
        if (!name || is_marker(name)) {
            continue;
        }
        m->function[m->nfunctions++] = (struct mkperf_function){
            .start = sym.st_value,
            .size = sym.st_size,
            .most = sh.sh_addr + sh.sh_size - sym.st_value,
            .raw = name,
            .type = (uint8_t)type,
            .bind = GELF_ST_BIND(sym.st_info),
        };
    }
    complete_functions(m);
}

bool mkperf_symbol_at(struct mkperf_module *m, uint64_t addr, struct mkperf_symbol *out)
{
    load_functions(m);
    size_t low = mkperf_first_behind(m->function, m->nfunctions, sizeof *m->function, addr);
    /* Functions may nest (rarely, and not deep): look at a few that start before. */
    for (unsigned i = 0; i < 4 && low > 0; i++) {
        struct mkperf_function *f = &m->function[--low];

        if (addr - f->start < f->size) {
            f->name = f->name ? f->name : mkperf_demangle(m->names, f->raw);
            *out = (struct mkperf_symbol){.name = f->name, .start = f->start, .size = f->size};
            return true;
        }
    }
    *out = (struct mkperf_symbol){.name = NULL};
    return false;
}

uint64_t mkperf_symbol_address(struct mkperf_module *m, const char *name)
{
    load_functions(m);
    for (size_t i = 0; i < m->nfunctions; i++) {
        if (strcmp(m->function[i].raw, name) == 0) {
            return m->function[i].start;
        }
    }
    return 0;
}

bool mkperf_symbol_is(const char *name, const char *wanted)
{
    static const char *const behind[] = {"(",     ".constprop.", ".isra.",    ".part.",
                                         ".cold", ".lto_priv.",  " (inlined)"};
    size_t n = strlen(wanted);

    if (strncmp(name, wanted, n) != 0) {
        return false;
    }
    for (size_t i = 0; name[n] != '\0' && i < sizeof behind / sizeof *behind; i++) {
        if (strncmp(name + n, behind[i], strlen(behind[i])) == 0) {
            return true;
        }
    }
    return name[n] == '\0';
}
