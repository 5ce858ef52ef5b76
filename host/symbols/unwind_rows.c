/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call-frame information as rows for the target: from which address on a program's callers are found by which rule.
 *
 * Owns: the translation of a module's call-frame information into the rules of include/mkperf/unwind.h. Called by `mkperf
 * stamp`. What a rule cannot express is a row with MKPERF_UNWIND_STOP, where the target ends a chain and counts it.
 */
#include <dwarf.h>

#include "symbols_internal.h"
#include <mkperf/unwind.h>

enum { WORD = 8, MOST_WORDS = 0xffff };

/* The DWARF numbers of registers, and the smallest distance of two instructions. */
struct registers {
    unsigned sp, fp, ra, unit;
};

enum where { WHERE_KEPT, WHERE_SAVED, WHERE_UNDEFINED, WHERE_OTHER };

/* Finds where a register of the caller is. SAVED: so many words below the caller's sp. */
static enum where find_register(Dwarf_Frame *frame, unsigned reg, unsigned *words)
{
    Dwarf_Op memory[3], *ops = NULL;
    size_t n = 0;

    *words = 0;
    if (dwarf_frame_register(frame, (int)reg, memory, &ops, &n) != 0) {
        return WHERE_OTHER;
    }
    if (n == 0) {
        return ops == memory ? WHERE_UNDEFINED : WHERE_KEPT;
    }
    int64_t offset = n == 2 && ops[1].atom == DW_OP_plus_uconst ? (int64_t)ops[1].number : 0;
    if (ops[0].atom != DW_OP_call_frame_cfa || n != 2 || offset >= 0 || offset % WORD != 0 ||
        offset < -(int64_t)WORD * MOST_WORDS) {
        return WHERE_OTHER;
    }
    *words = (unsigned)(-offset / WORD);
    return WHERE_SAVED;
}

/* Finds the caller's sp: so many words above sp, or above fp. False: a rule cannot express it. */
static bool find_cfa(Dwarf_Frame *frame, const struct registers *r, unsigned *words,
                     uint64_t *flags)
{
    Dwarf_Op *ops;
    size_t n;

    if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n != 1) {
        return false;
    }
    bool extended = ops[0].atom == DW_OP_bregx;
    uint64_t reg = extended ? ops[0].number : ops[0].atom - (uint64_t)DW_OP_breg0;
    int64_t offset = (int64_t)(extended ? ops[0].number2 : ops[0].number);

    *flags = reg == r->fp ? MKPERF_UNWIND_FROM_FP : 0;
    *words = (unsigned)(offset / WORD);
    return (reg == r->sp || reg == r->fp) && offset >= 0 && offset % WORD == 0 &&
           offset <= (int64_t)WORD * MOST_WORDS;
}

/* Returns the rule of a row. *saves: the row saves the return address. *plain: it saves that, and no frame pointer. */
static uint64_t make_rule(Dwarf_Frame *frame, const struct registers *r, bool *saves, bool *plain)
{
    unsigned cfa, ra, fp;
    uint64_t flags;
    enum where where = find_register(frame, r->ra, &ra);
    enum where fp_where = find_register(frame, r->fp, &fp);

    *saves = where == WHERE_SAVED;
    *plain = *saves && (fp_where != WHERE_SAVED || fp != ra + 1);
    if (where == WHERE_UNDEFINED) {
        return MKPERF_UNWIND_STOP | MKPERF_UNWIND_OUTERMOST;
    }
    if (where == WHERE_OTHER || fp_where == WHERE_OTHER || !find_cfa(frame, r, &cfa, &flags)) {
        return MKPERF_UNWIND_STOP;
    }
    return mkperf_unwind_rule(cfa, ra, fp, flags);
}

static void add_row(struct mkperf_unwind_rows *rows, uint64_t start, uint64_t rule)
{
    if (rows->n != 0 && rows->row[rows->n - 1].rule == rule) {
        return;
    }
    MKPERF_GROW(rows->row, rows->room, rows->n + 1);
    rows->row[rows->n++] = (struct mkperf_unwind_row){.start = start, .rule = rule};
}

/* Returns the function in which the program begins. It has no caller, whether call-frame information says so or not. */
static struct mkperf_symbol first_function(struct mkperf_module *m)
{
    struct mkperf_symbol first = {0};
    GElf_Ehdr header;

    if (gelf_getehdr(m->elf, &header) == NULL || !mkperf_symbol_at(m, header.e_entry, &first)) {
        first = (struct mkperf_symbol){0};
    }
    return first;
}

/* Adds the rows of an executable segment. *saving, *plain: grow by the bytes of code that save a return address, and of
 * that without a frame pointer. */
static void add_segment(struct mkperf_module *m, const struct mkperf_segment *s,
                        const struct registers *r, struct mkperf_unwind_rows *rows)
{
    /* A segment's size in memory can be any number, so the search ends with the file. */
    uint64_t rest = s->offset < m->size ? m->size - s->offset : 0;
    uint64_t end = s->vaddr + (s->size < rest ? s->size : rest);
    struct mkperf_symbol first = first_function(m);
    uint64_t next;

    for (uint64_t at = s->vaddr; at < end; at = next) {
        Dwarf_Frame *frame = mkperf_unwind_frame(m, at);
        uint64_t rule = at - first.start < first.size ? MKPERF_UNWIND_STOP | MKPERF_UNWIND_OUTERMOST
                                                      : MKPERF_UNWIND_STOP;
        next = at + r->unit;
        if (frame != NULL) {
            bool saves, plain;
            Dwarf_Addr from, to;
            rule = make_rule(frame, r, &saves, &plain);
            if (dwarf_frame_info(frame, &from, &to, NULL) >= 0 && to > next) {
                next = to < end ? to : end;
            }
            rows->saving += saves ? next - at : 0;
            rows->unframed += plain ? next - at : 0;
            free(frame);
        }
        if (rows->n != 0 || rule != MKPERF_UNWIND_STOP) {
            add_row(rows, at, rule);
        }
    }
    add_row(rows, end, MKPERF_UNWIND_STOP);
}

void mkperf_module_unwind_rows(struct mkperf_module *m, struct mkperf_unwind_rows *rows)
{
    static const struct registers aarch64 = {.sp = 31, .fp = 29, .ra = 30, .unit = 4};
    static const struct registers riscv = {.sp = 2, .fp = 8, .ra = 1, .unit = 2};

    *rows = (struct mkperf_unwind_rows){0};
    if (m->machine != EM_AARCH64 && m->machine != EM_RISCV) {
        return;
    }
    for (size_t i = 0; i < m->nsegments; i++) {
        if (rows->n == 0 || m->segment[i].vaddr > rows->row[rows->n - 1].start) {
            add_segment(m, &m->segment[i], m->machine == EM_AARCH64 ? &aarch64 : &riscv, rows);
        }
    }
    if (rows->n < 2) { /* no row but the end's */
        rows->n = 0;
    }
}
