/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the return address of a leaf, which a walk over frame pointers does not find.
 *
 * Owns: a module's call-frame information and a bounded cache of answers. Called through mkperf_lr_is_caller, once for
 * each distinct leaf address of a recording. Three sources decide, in this order: the code around the address, if it sets
 * or restores the frame pointer; the compiler's call-frame information; without that, the function's control flow.
 */
#include <dwarf.h>
#include <malloc.h>

#include "symbols_internal.h"
#include <mkperf/unwind.h>

enum {
    AARCH64_FP = 29,
    AARCH64_LR = 30,
    RISCV_RA = 1,
    RISCV_FP = 8,
    LOOK_AROUND = 16, /* instructions of a prologue or epilogue */
    FRAME_BYTES_MOST = 1 << 16,
};

enum {
    MAX_INSTRUCTIONS = 16384, /* longer functions are not followed */
    CALLER = 1 << 0,          /* lr has the caller, and fp is the caller's */
    FRAME = 1 << 1,           /* fp is this function's */
    LOST = 1 << 2,            /* lr was overwritten while fp is the caller's */
    STATES = 3,               /* how many states there are: CALLER, FRAME, LOST */
};

/* ---- the control flow of AArch64 code ---- */

/* Returns the instruction at pc; 0, which is udf, if the file has none there. */
static uint32_t insn_at(const struct mkperf_module *m, uint64_t pc)
{
    const uint8_t *b = mkperf_module_code(m, pc, 4);

    return b != NULL ? mkperf_get32(b) : 0;
}

static bool is_b(uint32_t i) /* b */
{
    return (i & 0xfc000000) == 0x14000000;
}

static bool is_conditional(uint32_t i) /* b.cond, cbz, cbnz, tbz, tbnz */
{
    return (i & 0xff000000) == 0x54000000 || (i & 0x7e000000) == 0x34000000 ||
           (i & 0x7e000000) == 0x36000000;
}

static bool is_jump(uint32_t i) /* br, ret, eret and their authenticated forms, udf */
{
    return ((i & 0xfe000000) == 0xd6000000 && !mkperf_is_call(i)) || (i & 0xffff0000) == 0;
}

/* Returns whether control can continue elsewhere than at the next instruction: branch, call, return, exception. */
static bool leaves_line(uint32_t i)
{
    return is_b(i) || is_conditional(i) || mkperf_is_call(i) || is_jump(i);
}

static bool sets_fp(uint32_t i) /* add x29, sp, #imm; mov x29, sp is its alias */
{
    return (i & 0xff8003ff) == 0x910003fd;
}

/* Returns whether the instruction loads the register from the stack: ldp with offset, pre- or post-index, or ldr. */
static bool loads(uint32_t i, unsigned reg)
{
    bool pair = (i & 0xfe4003e0) == 0xa84003e0;
    bool single = (i & 0xffc003e0) == 0xf94003e0 || (i & 0xffe003e0) == 0xf84003e0;

    return ((pair || single) && (i & 31) == reg) || (pair && (i >> 10 & 31) == reg);
}

struct flow {
    uint64_t start;
    uint32_t n; /* instructions */
    uint8_t *state;
    uint32_t *work; /* the instructions whose states have grown, each at most STATES times */
    uint32_t nwork;
};

/* Adds states to those in which control reaches an instruction, which must be followed again then. */
static void reach(struct flow *f, uint64_t at, unsigned state)
{
    if (at >= f->n || (f->state[at] | state) == f->state[at]) {
        return;
    }
    assert(f->nwork < STATES * f->n);
    f->work[f->nwork++] = (uint32_t)at;
    f->state[at] |= (uint8_t)state;
}

/*
 * Decides for a function without call-frame information, by interpreting it abstractly. Each instruction has the set of
 * states in which control can reach it; the set is the answer if it has one member.
 */
static enum mkperf_lr lr_by_flow(struct mkperf_module *m, uint64_t pc)
{
    struct mkperf_symbol symbol;
    struct flow f = {.n = 0};
    enum mkperf_lr result = MKPERF_LR_UNKNOWN;

    if (!mkperf_symbol_at(m, pc, &symbol) || symbol.start % 4 != 0 ||
        symbol.size / 4 > MAX_INSTRUCTIONS) {
        return MKPERF_LR_UNKNOWN;
    }
    f.start = symbol.start;
    f.n = (uint32_t)(symbol.size / 4);
    f.state = mkperf_xcalloc(f.n + 1, 1);
    f.work = mkperf_xcalloc((size_t)STATES * f.n + 1, sizeof *f.work);
    if (pc - f.start < 4 * (uint64_t)f.n) {
        /* Follows control from the first instruction until no set of states grows. */
        reach(&f, 0, CALLER);
        while (f.nwork > 0) {
            uint32_t at = f.work[--f.nwork], insn = insn_at(m, f.start + 4 * (uint64_t)at);
            unsigned state = f.state[at];

            if (sets_fp(insn)) {
                state = FRAME;
            } else if (loads(insn, 29)) { /* the fp is restored last or together with the lr */
                state = CALLER;
            } else if (mkperf_is_call(insn) && (state & CALLER)) {
                state = (state & ~(unsigned)CALLER) | LOST;
            }
            if (is_b(insn) || is_conditional(insn)) {
                bool tests_bit = (insn & 0x7e000000) == 0x36000000;
                int64_t to = is_b(insn)  ? mkperf_signed_field(insn, 0, 26)
                             : tests_bit ? mkperf_signed_field(insn, 5, 14)
                                         : mkperf_signed_field(insn, 5, 19);
                reach(&f, at + (uint64_t)to, state);
            }
            if (!is_b(insn) && !is_jump(insn)) {
                reach(&f, (uint64_t)at + 1, state);
            }
        }
        unsigned state = f.state[(pc - f.start) / 4];
        /* Several states, or none: control gets there through a jump table. */
        result = state == CALLER  ? MKPERF_LR_YES
                 : state == FRAME ? MKPERF_LR_NO
                                  : MKPERF_LR_UNKNOWN;
    }
    free(f.state);
    free(f.work);
    return result;
}

/* ---- call-frame information and the code around an address ---- */

Dwarf_Frame *mkperf_unwind_frame(struct mkperf_module *m, uint64_t pc)
{
    Dwarf_Frame *frame = NULL;

    (void)mkperf_module_dwarf(m);
    if ((m->eh_cfi == NULL || dwarf_cfi_addrframe(m->eh_cfi, pc, &frame) != 0) &&
        (m->debug_cfi == NULL || dwarf_cfi_addrframe(m->debug_cfi, pc, &frame) != 0)) {
        return NULL;
    }
    /* libdw makes room for each register up to the highest one that is named, in each frame. An ELF that names
     * register 100,000,000 would take gigabytes for each address, so its information is not used any more. */
    if (malloc_usable_size(frame) > FRAME_BYTES_MOST) {
        free(frame);
        frame = NULL;
        dwarf_cfi_end(m->eh_cfi);
        m->eh_cfi = m->debug_cfi = NULL;
    }
    return frame;
}

enum mkperf_where mkperf_unwind_register(Dwarf_Frame *frame, unsigned reg, unsigned *words)
{
    Dwarf_Op memory[3], *ops = NULL;
    size_t n = 0;

    *words = 0;
    if (dwarf_frame_register(frame, (int)reg, memory, &ops, &n) != 0) {
        return MKPERF_WHERE_UNKNOWN;
    }
    if (n == 0) {
        return ops != NULL ? MKPERF_WHERE_UNDEFINED : MKPERF_WHERE_KEPT;
    }
    int64_t below = n == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
                            ops[1].atom == DW_OP_plus_uconst
                        ? -(int64_t)ops[1].number
                        : 0;
    if (below > 0 && below % MKPERF_WORD == 0 &&
        below <= (int64_t)MKPERF_WORD * MKPERF_MOST_WORDS) {
        *words = (unsigned)(below / MKPERF_WORD);
    }
    return MKPERF_WHERE_SAVED;
}

/*
 * Decides by the straight-line code around pc, on AArch64. It takes precedence over call-frame information, which some
 * compilers change too late. clang's changes at the end of the prologue and ignores epilogues; gcc's restores a register
 * only where a large frame is released. Backwards, the last of "fp set" and "fp and lr restored" decides. Forwards, an fp
 * that is set later is still the caller's.
 */
static enum mkperf_lr lr_by_code(struct mkperf_module *m, uint64_t pc,
                                 struct mkperf_symbol function)
{
    uint64_t end = function.start + function.size, at = pc;

    for (unsigned i = 0; i < LOOK_AROUND && at > function.start; i++) {
        at -= 4;
        uint32_t insn = insn_at(m, at);
        if (leaves_line(insn)) {
            break;
        }
        if (sets_fp(insn)) {
            return MKPERF_LR_NO;
        }
        if (loads(insn, AARCH64_FP) && loads(insn, AARCH64_LR)) { /* ldp x29, x30 */
            return MKPERF_LR_YES;
        }
    }
    at = pc;
    for (unsigned i = 0; i < LOOK_AROUND && at < end; i++, at += 4) {
        uint32_t insn = insn_at(m, at);
        if (leaves_line(insn)) {
            break;
        }
        if (sets_fp(insn)) {
            return MKPERF_LR_YES;
        }
    }
    return MKPERF_LR_UNKNOWN;
}

/* Decides by the frame. */
static enum mkperf_lr lr_by_frame(bool riscv, Dwarf_Frame *frame)
{
    unsigned fp_words, ra_words, fp_register = riscv ? RISCV_FP : AARCH64_FP;
    enum mkperf_where fp = mkperf_unwind_register(frame, fp_register, &fp_words);
    enum mkperf_where ra = mkperf_unwind_register(frame, riscv ? RISCV_RA : AARCH64_LR, &ra_words);
    Dwarf_Op *ops;
    size_t n;

    /* The frame's address is computed from the frame pointer if that is set up. */
    if (dwarf_frame_cfa(frame, &ops, &n) == 0 && n != 0 &&
        (ops[0].atom == DW_OP_breg0 + fp_register ||
         (ops[0].atom == DW_OP_bregx && ops[0].number == fp_register))) {
        /* RISC-V: a function that calls nothing has a frame without ra, s0 being in its place. Compilers base the frame's address
         * on s0 as soon as, and as long as, s0 is set. */
        bool leaf = riscv && ra == MKPERF_WHERE_KEPT && fp == MKPERF_WHERE_SAVED && fp_words == 1;
        return leaf ? MKPERF_LR_YES : MKPERF_LR_NO;
    }
    switch (ra) {
    case MKPERF_WHERE_KEPT:
        return MKPERF_LR_YES;
    case MKPERF_WHERE_UNDEFINED: /* the outermost function: no caller */
        return MKPERF_LR_NO;
    case MKPERF_WHERE_SAVED:
        /* A frame whose fp was never saved: compiled without frame pointers. Its caller is in neither the chain nor, with
         * certainty, the link register. RISC-V: before s0 is set, it is the caller's, and ra is not overwritten. */
        return fp != MKPERF_WHERE_SAVED ? MKPERF_LR_UNKNOWN : riscv ? MKPERF_LR_YES : MKPERF_LR_NO;
    default:
        return MKPERF_LR_UNKNOWN;
    }
}

enum mkperf_lr mkperf_lr_is_caller(struct mkperf_module *m, uint64_t pc)
{
    size_t slot = (pc >> 1 ^ pc >> 13) & (MKPERF_LR_CACHE - 1);
    enum mkperf_lr answer = MKPERF_LR_UNKNOWN;
    struct mkperf_symbol function;

    if (m == NULL || m->machine == EM_X86_64) {
        return m == NULL ? MKPERF_LR_UNKNOWN : MKPERF_LR_NO;
    }
    if (!m->lr_cache) {
        m->lr_cache = mkperf_xcalloc(MKPERF_LR_CACHE, sizeof *m->lr_cache);
    }
    if (m->lr_cache[slot].known && m->lr_cache[slot].pc == pc) {
        return m->lr_cache[slot].answer;
    }
    Dwarf_Frame *frame = mkperf_unwind_frame(m, pc);
    if (m->machine != EM_AARCH64) {
        answer = frame ? lr_by_frame(true, frame) : MKPERF_LR_UNKNOWN;
    } else if (pc % 4 == 0) {
        if (mkperf_symbol_at(m, pc, &function)) {
            answer = lr_by_code(m, pc, function);
        }
        if (answer == MKPERF_LR_UNKNOWN) {
            answer = frame ? lr_by_frame(false, frame) : lr_by_flow(m, pc);
        }
    }
    free(frame);
    m->lr_cache[slot].answer = answer;
    m->lr_cache[slot].pc = pc;
    m->lr_cache[slot].known = true;
    return answer;
}
