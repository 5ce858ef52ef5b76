/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source lines and inlined functions from DWARF.
 *
 * Owns: a module's Dwarf handle, and a table from code ranges to compilation units. Not every compiler writes
 * .debug_aranges, so the table is made from the units, once. Called through mkperf_lines_at, and by unwind.c for
 * .debug_frame.
 */
#include <dwarf.h>

#include "symbols_internal.h"

enum { SCOPES = 64 }; /* nested functions, inlined functions and blocks around an address */

Dwarf *mkperf_module_dwarf(struct mkperf_module *m)
{
    if (!m->dwarf_loaded) {
        m->dwarf_loaded = true;
        m->dwarf = dwarf_begin_elf(m->elf, DWARF_C_READ, NULL);
        m->eh_cfi = dwarf_getcfi_elf(m->elf);
        m->debug_cfi = m->dwarf ? dwarf_getcfi(m->dwarf) : NULL;
    }
    return m->dwarf;
}

static bool find_unit(struct mkperf_module *m, uint64_t addr, Dwarf_Die *unit)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    size_t room = 0;

    if (!mkperf_module_dwarf(m)) {
        return false;
    }
    bool loads = !m->ranges_loaded;
    m->ranges_loaded = true;
    while (loads && dwarf_get_units(m->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        Dwarf_Addr base, start, end;
        ptrdiff_t at = 0;

        if (type != DW_UT_compile || dwarf_tag(&die) != DW_TAG_compile_unit) {
            continue;
        }
        while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0) {
            if (start < end) {
                MKPERF_GROW(m->range, room, m->nranges + 1);
                m->range[m->nranges++] = (struct mkperf_unit_range){
                    .start = start, .end = end, .unit = dwarf_dieoffset(&die)};
            }
        }
    }
    if (loads) {
        MKPERF_SORT(m->range, m->nranges, MKPERF_UP(m->range, start), MKPERF_UP(m->range, unit));
    }
    size_t low = mkperf_first_behind(m->range, m->nranges, sizeof *m->range, addr);
    return low > 0 && addr < m->range[low - 1].end &&
           dwarf_offdie(m->dwarf, m->range[low - 1].unit, unit);
}

/* Returns the directory in which a unit was compiled. DWARF 5 has relative files, which libdw does not complete. */
static const char *directory_of(struct mkperf_module *m, Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attr;

    if (!file || *file == '/' || !dwarf_attr(unit, DW_AT_comp_dir, &attr)) {
        return NULL;
    }
    return mkperf_demangle(m->names, dwarf_formstring(&attr));
}

/*
 * Stores the scopes of the unit that have the address: functions, inlined functions and blocks, the outermost first. Returns
 * how many. dwarf_getscopes does this as well, but leaks its list if a part of the unit is damaged. Each step goes forward in
 * the file, whatever its bytes are, so the walk ends.
 */
static size_t find_scopes(Dwarf_Die *unit, uint64_t addr, Dwarf_Die scope[SCOPES])
{
    Dwarf_Die at, next;
    size_t n = 0;
    bool more = dwarf_child(unit, &at) == 0;

    while (more && n < SCOPES) {
        int tag = dwarf_tag(&at);
        bool may_have_code = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
                             tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
                             tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt ||
                             tag == DW_TAG_entry_point || tag == DW_TAG_module;
        bool inside = may_have_code && dwarf_haspc(&at, addr) > 0;

        if (inside) {
            scope[n++] = at;
        }
        more = (inside ? dwarf_child(&at, &next) : dwarf_siblingof(&at, &next)) == 0 &&
               (const char *)next.addr > (const char *)at.addr;
        at = next;
    }
    return n;
}

size_t mkperf_lines_at(struct mkperf_module *m, uint64_t addr, struct mkperf_line *out, size_t max)
{
    Dwarf_Die unit, scope[SCOPES];
    struct mkperf_line next = {.function = NULL}; /* the position in the innermost function */
    size_t n = 0;

    if (max == 0 || !find_unit(m, addr, &unit)) {
        return 0;
    }
    Dwarf_Line *line = dwarf_getsrc_die(&unit, addr);
    if (line) {
        next.file = mkperf_demangle(m->names, dwarf_linesrc(line, NULL, NULL));
        next.directory = directory_of(m, &unit, next.file);
        if (dwarf_lineno(line, &next.line) != 0) {
            next.line = 0;
        }
    }
    int tag = 0;
    for (size_t i = find_scopes(&unit, addr, scope); i > 0 && n < max && tag != DW_TAG_subprogram;
         i--) {
        Dwarf_Die *die = &scope[i - 1];
        Dwarf_Attribute attr;

        tag = dwarf_tag(die);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) {
            continue;
        }
        const char *name = dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) != NULL
                               ? dwarf_formstring(&attr)
                               : NULL;
        next.function = mkperf_demangle(m->names, name ? name : dwarf_diename(die));
        out[n++] = next;
        /* Where this inlined function was called: the position in the function around it. */
        Dwarf_Word number;
        Dwarf_Files *files;
        size_t nfiles;
        bool has = dwarf_attr(die, DW_AT_call_line, &attr) && dwarf_formudata(&attr, &number) == 0;
        next.line = has ? (int)number : 0;
        has = dwarf_attr(die, DW_AT_call_file, &attr) && dwarf_formudata(&attr, &number) == 0 &&
              dwarf_getsrcfiles(&unit, &files, &nfiles) == 0 && number < nfiles;
        next.file = has ? mkperf_demangle(m->names, dwarf_filesrc(files, number, NULL, NULL))
                        : NULL;
        next.directory = directory_of(m, &unit, next.file);
    }
    if (n == 0 && (next.file || next.line)) { /* assembler has lines, but no functions */
        struct mkperf_symbol symbol;

        mkperf_symbol_at(m, addr, &symbol);
        next.function = symbol.name;
        out[n++] = next;
    }
    return n;
}
