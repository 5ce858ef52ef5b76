/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call-frame information as rows for the target: from which address on a program's callers are found by which rule.
 *
 * Owns: the translation of a module's call-frame information into the rules of include/mkperf/unwind.h. Called by `mkperf
 * stamp`. What a rule cannot express is a row with MKPERF_UNWIND_STOP, where the target ends a chain and counts it.
 *
 * LLVM up to 14 describes a frame only as it is at calls: one row from a function's first instruction to the end of its
 * prologue, and none for an epilogue. A sample can be anywhere. So the instructions inside each row are
 * followed, and a row is added after each that moves sp:
 *
 *     sub  sp, sp, #32           the compiler's row: the caller's sp is sp, the return address is in x30
 *     str  x30, [sp, #16]        added: the caller's sp is sp + 32
 *     bl   work                  the compiler's row: sp + 32, return address at sp + 16
 *     ldr  x30, [sp, #16]
 *     add  sp, sp, #32
 *     ret                        added: sp, return address in x30
 *
 * For RISC-V it has the rows of the prologue, and none for an epilogue. GCC, and LLVM from 15 on, have these rows
 * themselves; nothing is added then.
 */
#include <dwarf.h>

#include "symbols_internal.h"
#include <mkperf/unwind.h>

struct frame_state;

/* An architecture: the DWARF numbers of registers, the smallest distance of two instructions, and their effect on a frame. */
struct registers {
    unsigned sp, fp, ra, unit;
    bool counts_from_fp; /* with a frame pointer, rows count the caller's sp from it */
    bool (*never_continues)(uint32_t instruction);
    void (*follow)(struct frame_state *f, uint32_t instruction);
};

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
    *words = (unsigned)(offset / MKPERF_WORD);
    return (reg == r->sp || reg == r->fp) && offset >= 0 && offset % MKPERF_WORD == 0 &&
           offset <= (int64_t)MKPERF_WORD * MKPERF_MOST_WORDS;
}

/* Rows of code in succession that save the return address. */
struct saving_run {
    uint64_t bytes;
    bool framed; /* one of them has a frame pointer */
};

static void end_run(struct saving_run *run, struct mkperf_unwind_rows *rows)
{
    rows->saving += run->bytes;
    rows->unframed += run->framed ? 0 : run->bytes;
    *run = (struct saving_run){0};
}

/* Returns the rule of a row. *saves: the row saves the return address. *framed: it has a frame pointer, too. On AArch64 that is
 * saved below the return address. On RISC-V any s0 is saved there, so only the place from which sp is counted shows it. */
static uint64_t make_rule(Dwarf_Frame *frame, const struct registers *r, bool *saves, bool *framed)
{
    unsigned cfa = 0, ra, fp;
    uint64_t flags = 0;
    enum mkperf_where where = mkperf_unwind_register(frame, r->ra, &ra);
    enum mkperf_where fp_where = mkperf_unwind_register(frame, r->fp, &fp);
    bool expressed = find_cfa(frame, r, &cfa, &flags);

    *saves = where == MKPERF_WHERE_SAVED && ra != 0;
    *framed = r->counts_from_fp ? (flags & MKPERF_UNWIND_FROM_FP) != 0
                                : fp_where == MKPERF_WHERE_SAVED && fp == ra + 1;
    if (where == MKPERF_WHERE_UNDEFINED) {
        return MKPERF_UNWIND_STOP | MKPERF_UNWIND_OUTERMOST;
    }
    if (where == MKPERF_WHERE_UNKNOWN || fp_where == MKPERF_WHERE_UNKNOWN || !expressed ||
        (where == MKPERF_WHERE_SAVED && ra == 0) || (fp_where == MKPERF_WHERE_SAVED && fp == 0)) {
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

/* ---- instructions inside a row ------------------------------------------------------------------ */

enum { FP = 29, SP = 31, UNKNOWN = -1 };

/* Where the caller's sp is at an instruction. above_sp: in bytes, or UNKNOWN. from_fp: the row counts from fp,
 * which the function has not restored yet. */
struct frame_state {
    uint64_t row; /* the rule of the row */
    int64_t above_sp;
    bool from_fp;
};

static struct frame_state state_of(uint64_t row)
{
    bool from_fp = (row & MKPERF_UNWIND_FROM_FP) != 0;

    return (struct frame_state){.row = row,
                                .above_sp = from_fp ? UNKNOWN
                                                    : (int64_t)(row & 0xffff) * MKPERF_WORD,
                                .from_fp = from_fp};
}

/* Returns the rule at an instruction. A register whose place is below sp has been restored. */
static uint64_t packed_rule(const struct frame_state *f)
{
    unsigned ra = f->row >> 16 & 0xffff, fp = f->row >> 32 & 0xffff;
    int64_t words = f->above_sp / MKPERF_WORD;

    if (f->from_fp) {
        return f->row;
    }
    if (f->above_sp < 0 || f->above_sp % MKPERF_WORD != 0 || words > MKPERF_MOST_WORDS) {
        return MKPERF_UNWIND_STOP;
    }
    return mkperf_unwind_rule((unsigned)words, ra > words ? 0 : ra, fp > words ? 0 : fp, 0);
}

/* Execution does not continue behind these: b, br, ret, eret, brk, udf (Arm ARM, C4.1). */
static bool never_continues(uint32_t i)
{
    return (i & 0xfc000000) == 0x14000000 || (i & 0xfe200000) == 0xd6000000 ||
           (i & 0xffe0001f) == 0xd4200000 || i >> 16 == 0;
}

/* Changes the state as an instruction does that adds to sp: add and sub, and loads and stores that move their base register
 * (Arm ARM, C4.1, "Add/subtract (immediate)", "Load/store register pair", "Load/store register"). */
static void follow_instruction(struct frame_state *f, uint32_t i)
{
    bool pair = (i & 0x3a0003e0) == 0x280003e0, single = (i & 0x3b2007e0) == 0x380007e0;
    bool load = (i >> 22 & 1) != 0;
    int64_t moved = 0; /* bytes */

    if (pair || single) {
        unsigned opc = i >> 30;
        bool before = pair ? (i >> 23 & 3) != 1
                           : (i >> 11 & 1) != 0; /* the address has the offset */
        moved = pair
                    ? mkperf_signed_field(i, 15, 7) * (INT64_C(4) << (i >> 26 & 1 ? opc : opc >> 1))
                    : mkperf_signed_field(i, 12, 9);
        bool fp = pair ? (i & 0xfe00001f) == (0xa8000000 | FP)
                       : (i & 0xfc00001f) == (0xf8000000 | FP);
        if (load && fp && f->from_fp) { /* the caller's fp, from its place */
            f->above_sp = (before ? moved : 0) + (int64_t)(f->row >> 32 & 0xffff) * MKPERF_WORD;
            f->from_fp = false;
        }
        moved = pair && (i >> 23 & 1) == 0 ? 0 : moved;
    } else if ((i & 0xbf80001f) == 0x9100001f) { /* add or sub sp, register, # */
        unsigned from = i >> 5 & 31;
        moved = (int64_t)(i >> 10 & 0xfff) << (i >> 22 & 1 ? 12 : 0);
        moved = i >> 30 & 1 ? -moved : moved;
        if (from == FP && f->from_fp) {
            f->above_sp = (int64_t)(f->row & 0xffff) * MKPERF_WORD;
        } else if (from != SP) {
            f->above_sp = UNKNOWN;
        }
    }
    f->above_sp -= f->above_sp != UNKNOWN ? moved : 0;
}

/* ---- the same of RISC-V: an instruction of 2 bytes has the upper half 0 ------------------------- */

static bool is_short(uint32_t i)
{
    return (i & 3) != 3;
}

/* j, jr, ret, ebreak, and what is no instruction */
static bool riscv_never_continues(uint32_t i)
{
    return is_short(i) ? (i & 0xe003) == 0xa001 || (i & 0xf07f) == 0x8002 || i == 0x9002 || i == 0
                       : (i & 0xfff) == 0x6f || (i & 0x7fff) == 0x67 || i == 0x100073;
}

/* Bits of an instruction, moved to another place. */
static unsigned moved_bits(uint32_t i, unsigned from, unsigned n, unsigned to)
{
    return (i >> from & ((1U << n) - 1)) << to;
}

/* Changes the state as addi sp, sp, # does, and addi sp, s0, #, in all lengths, and a load of s0 from the stack. After another
 * write to sp it is not known where the caller's sp is. */
static void riscv_follow(struct frame_state *f, uint32_t i)
{
    unsigned rd = i >> 7 & 31, opcode = i & 0x7f;

    if ((i & 0xef83) == 0x6101 && is_short(i)) { /* c.addi16sp */
        unsigned offset = moved_bits(i, 12, 1, 9) | moved_bits(i, 3, 2, 7) |
                          moved_bits(i, 5, 1, 6) | moved_bits(i, 2, 1, 5) | moved_bits(i, 6, 1, 4);
        f->above_sp -= f->above_sp != UNKNOWN ? mkperf_signed_field(offset, 0, 10) : 0;
    } else if ((i & 0xef83) == 0x0101 && is_short(i)) { /* c.addi */
        unsigned offset = moved_bits(i, 12, 1, 5) | moved_bits(i, 2, 5, 0);
        f->above_sp -= f->above_sp != UNKNOWN ? mkperf_signed_field(offset, 0, 6) : 0;
    } else if ((i & 0xfffff) == 0x10113) { /* addi sp, sp */
        f->above_sp -= f->above_sp != UNKNOWN ? mkperf_signed_field(i, 20, 12) : 0;
    } else if ((i & 0xfffff) == 0x40113) { /* addi sp, s0 */
        f->above_sp = f->from_fp ? (int64_t)(f->row & 0xffff) * MKPERF_WORD -
                                       mkperf_signed_field(i, 20, 12)
                                 : UNKNOWN;
    } else if (((i & 0xef83) == 0x6402 && is_short(i)) || (i & 0xfffff) == 0x13403) { /* ld s0 */
        int64_t at = is_short(i) ? (int64_t)(moved_bits(i, 12, 1, 5) | moved_bits(i, 5, 2, 3) |
                                             moved_bits(i, 2, 3, 6))
                                 : mkperf_signed_field(i, 20, 12);
        if (f->from_fp) { /* the caller's, from its place */
            f->above_sp = at + (int64_t)(f->row >> 32 & 0xffff) * MKPERF_WORD;
            f->from_fp = false;
        }
    } else if (rd == 2 && (is_short(i) ? (i & 0xe003) == 0x8002
                                       : opcode != 0x23 && opcode != 0x27 && opcode != 0x63)) {
        f->above_sp = UNKNOWN;
    }
}

/* Adds the rules that are valid after the instructions from `at` on, before `end`, which have the same row. */
static void add_inside(const struct mkperf_module *m, const struct registers *r, uint64_t at,
                       uint64_t end, uint64_t row, struct mkperf_unwind_rows *rows)
{
    struct frame_state f = state_of(row);
    unsigned bytes;

    for (; at + r->unit < end; at += bytes) {
        const uint8_t *code = mkperf_module_code(m, at, r->unit);
        bytes = r->unit == 4 || code == NULL || !is_short(code[0]) ? 4 : 2;
        code = bytes == r->unit ? code : mkperf_module_code(m, at, bytes);
        uint32_t i = code == NULL ? 0 : bytes == 2 ? mkperf_get16(code) : mkperf_get32(code);
        if (r->never_continues(i)) {
            f = state_of(row);
        } else {
            r->follow(&f, i);
        }
        if (at + bytes < end) {
            add_row(rows, at + bytes, packed_rule(&f));
        }
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Adds the rows of an executable segment. *saving, *plain: grow by the bytes of code that save a return address, and of
 * that without a frame pointer. */
static void add_segment(struct mkperf_module *m, const struct mkperf_segment *s,
                        const struct registers *r, struct mkperf_unwind_rows *rows)
{
    /* A segment's size in memory can be any number, so the search ends with the file. */
    uint64_t rest = s->offset < m->size ? m->size - s->offset : 0;
    uint64_t end = s->vaddr + (s->size < rest ? s->size : rest);
    struct mkperf_symbol first; /* has no caller, whether call-frame information says so or not */
    GElf_Ehdr header;
    struct saving_run run = {0};
    uint64_t next;

    if (gelf_getehdr(m->elf, &header) == NULL || !mkperf_symbol_at(m, header.e_entry, &first)) {
        first = (struct mkperf_symbol){0};
    }
    for (uint64_t at = s->vaddr; at < end; at = next) {
        Dwarf_Frame *frame = mkperf_unwind_frame(m, at);
        uint64_t rule = at - first.start < first.size ? MKPERF_UNWIND_STOP | MKPERF_UNWIND_OUTERMOST
                                                      : MKPERF_UNWIND_STOP;
        next = at + r->unit;
        bool saves = false, framed = false;
        if (frame != NULL) {
            Dwarf_Addr from, to;
            rule = make_rule(frame, r, &saves, &framed);
            if (dwarf_frame_info(frame, &from, &to, NULL) >= 0 && to > next) {
                next = to < end ? to : end;
            }
            free(frame);
        }
        /* The prologue of a function on RISC-V saves the return address before the frame pointer is set. */
        if (!saves || !r->counts_from_fp) {
            end_run(&run, rows);
        }
        run.bytes += saves ? next - at : 0;
        run.framed |= framed;
        if (rows->n != 0 || rule != MKPERF_UNWIND_STOP) {
            add_row(rows, at, rule);
        }
        if ((rule & MKPERF_UNWIND_STOP) == 0) {
            add_inside(m, r, at, next, rule, rows);
        }
    }
    end_run(&run, rows);
    add_row(rows, end, MKPERF_UNWIND_STOP);
}

void mkperf_module_unwind_rows(struct mkperf_module *m, struct mkperf_unwind_rows *rows)
{
    static const struct registers aarch64 = {.sp = SP,
                                             .fp = FP,
                                             .ra = 30,
                                             .unit = 4,
                                             .never_continues = never_continues,
                                             .follow = follow_instruction};
    static const struct registers riscv = {.sp = 2,
                                           .fp = 8,
                                           .ra = 1,
                                           .unit = 2,
                                           .counts_from_fp = true,
                                           .never_continues = riscv_never_continues,
                                           .follow = riscv_follow};

    *rows = (struct mkperf_unwind_rows){0};
    if (m->machine != EM_AARCH64 && m->machine != EM_RISCV) {
        return;
    }
    for (size_t i = 0; i < m->nsegments; i++) {
        if (rows->n == 0 || m->segment[i].vaddr > rows->row[rows->n - 1].start) {
            add_segment(m, &m->segment[i], m->machine == EM_AARCH64 ? &aarch64 : &riscv, rows);
        }
    }
    if (rows->n < 2) { /* there is only the row of the end */
        rows->n = 0;
    }
}
