/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the return address of a leaf, which a frame-pointer walk cannot.
 *
 * Owns: a module's call-frame information and a bounded cache of answers. Called through
 * mkperf_lr_is_caller, once for each distinct leaf address of a recording. Decides by the
 * code around the address where that sets or restores the frame pointer, then by the compiler's
 * call-frame information, and where there is none by following the function's control flow
 * (flow.c).
 */
#include <dwarf.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "flow.h"
#include "symbols_internal.h"

enum {
    AARCH64_FP = 29,
    AARCH64_LR = 30,
    RISCV_RA = 1,
    RISCV_FP = 8,
    LOOK_AROUND = 16, /* instructions of a prologue or epilogue */
};

void mkperf_unwind_free(struct mkperf_module *m)
{
    if (m->eh_cfi) {
        dwarf_cfi_end(m->eh_cfi);
    }
    free(m->lr_cache);
}

static void load_cfi(struct mkperf_module *m)
{
    m->cfi_loaded = true;
    m->eh_cfi = dwarf_getcfi_elf(m->elf);
    if (mkperf_module_dwarf(m)) {
        m->debug_cfi = dwarf_getcfi(m->dwarf);
    }
}

static Dwarf_Frame *frame_at(struct mkperf_module *m, uint64_t pc)
{
    Dwarf_Frame *frame = NULL;

    if (!m->cfi_loaded) {
        load_cfi(m);
    }
    if (m->eh_cfi && dwarf_cfi_addrframe(m->eh_cfi, pc, &frame) == 0) {
        return frame;
    }
    if (m->debug_cfi && dwarf_cfi_addrframe(m->debug_cfi, pc, &frame) == 0) {
        return frame;
    }
    return NULL;
}

enum rule { RULE_UNKNOWN, RULE_UNDEFINED, RULE_KEPT, RULE_SAVED };

static enum rule rule_of(Dwarf_Frame *frame, int reg)
{
    Dwarf_Op memory[3], *ops = NULL;
    size_t n = 0;

    if (dwarf_frame_register(frame, reg, memory, &ops, &n) != 0) {
        return RULE_UNKNOWN;
    }
    if (n == 0) {
        return ops ? RULE_UNDEFINED : RULE_KEPT;
    }
    return RULE_SAVED;
}

/* Is the frame's address computed from register `reg`? Then the frame pointer is set up. */
static bool frame_based_on(Dwarf_Frame *frame, unsigned reg)
{
    Dwarf_Op *ops;
    size_t n;

    if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0) {
        return false;
    }
    return ops[0].atom == DW_OP_breg0 + reg || (ops[0].atom == DW_OP_bregx && ops[0].number == reg);
}

/*
 * AArch64: the straight-line code around pc. It takes precedence over call-frame information, which
 * is late in some compilers' code: clang's has nothing until the end of the prologue and nothing
 * about epilogues, gcc's restores a register only where a large frame is released. Backwards, the
 * last of "fp set" and "fp and lr restored" decides; forwards, an fp that is yet to be set is still
 * the caller's.
 */
static enum mkperf_lr by_code(struct mkperf_module *m, uint64_t pc, struct mkperf_symbol function)
{
    uint64_t end = function.start + function.size, at = pc;
    uint32_t insn;

    for (unsigned i = 0; i < LOOK_AROUND && at > function.start; i++) {
        at -= 4;
        if (!mkperf_flow_fetch(m, at, &insn) || mkperf_flow_leaves(insn)) {
            break;
        }
        if (mkperf_flow_sets_fp(insn)) {
            return MKPERF_LR_NO;
        }
        if (mkperf_flow_restores(insn)) {
            return MKPERF_LR_YES;
        }
    }
    at = pc;
    for (unsigned i = 0; i < LOOK_AROUND && at < end; i++, at += 4) {
        if (!mkperf_flow_fetch(m, at, &insn) || mkperf_flow_leaves(insn)) {
            break;
        }
        if (mkperf_flow_sets_fp(insn)) {
            return MKPERF_LR_YES;
        }
    }
    return MKPERF_LR_UNKNOWN;
}

static enum mkperf_lr by_frame_aarch64(Dwarf_Frame *frame)
{
    if (frame_based_on(frame, AARCH64_FP)) {
        return MKPERF_LR_NO;
    }
    switch (rule_of(frame, AARCH64_LR)) {
    case RULE_KEPT:
        return MKPERF_LR_YES;
    case RULE_UNDEFINED: /* the outermost function: no caller */
        return MKPERF_LR_NO;
    case RULE_SAVED:
        /* A frame whose fp was never saved: compiled without frame pointers. Its caller is in
         * neither the chain nor, with certainty, the link register. */
        return rule_of(frame, AARCH64_FP) == RULE_SAVED ? MKPERF_LR_NO : MKPERF_LR_UNKNOWN;
    case RULE_UNKNOWN:
        break;
    }
    return MKPERF_LR_UNKNOWN;
}

static enum mkperf_lr decide_aarch64(struct mkperf_module *m, uint64_t pc, Dwarf_Frame *frame)
{
    struct mkperf_symbol function;
    enum mkperf_lr answer = MKPERF_LR_UNKNOWN;

    if (pc % 4 != 0) {
        return MKPERF_LR_UNKNOWN;
    }
    if (mkperf_symbol_at(m, pc, &function)) {
        answer = by_code(m, pc, function);
    }
    if (answer != MKPERF_LR_UNKNOWN) {
        return answer;
    }
    return frame ? by_frame_aarch64(frame) : mkperf_flow_lr(m, pc);
}

/* RISC-V compilers base the frame's address on s0 as soon as, and as long as, s0 is set. */
static enum mkperf_lr by_frame_riscv(Dwarf_Frame *frame)
{
    if (frame_based_on(frame, RISCV_FP)) {
        return MKPERF_LR_NO;
    }
    switch (rule_of(frame, RISCV_RA)) {
    case RULE_KEPT:
        return MKPERF_LR_YES;
    case RULE_UNDEFINED:
        return MKPERF_LR_NO;
    default:
        return MKPERF_LR_UNKNOWN;
    }
}

static enum mkperf_lr decide(struct mkperf_module *m, uint64_t pc)
{
    if (m->machine == EM_X86_64) {
        return MKPERF_LR_NO;
    }
    Dwarf_Frame *frame = frame_at(m, pc);
    enum mkperf_lr answer = MKPERF_LR_UNKNOWN;

    if (m->machine == EM_AARCH64) {
        answer = decide_aarch64(m, pc, frame);
    } else if (frame) {
        answer = by_frame_riscv(frame);
    }
    free(frame);
    return answer;
}

enum mkperf_lr mkperf_lr_is_caller(struct mkperf_module *m, uint64_t pc)
{
    size_t slot = (pc >> 1 ^ pc >> 13) & (MKPERF_LR_CACHE - 1);

    if (!m->lr_cache) {
        m->lr_cache = mkperf_xcalloc(MKPERF_LR_CACHE, sizeof *m->lr_cache);
    }
    if (!m->lr_cache[slot].known || m->lr_cache[slot].pc != pc) {
        m->lr_cache[slot].answer = decide(m, pc);
        m->lr_cache[slot].pc = pc;
        m->lr_cache[slot].known = true;
    }
    return m->lr_cache[slot].answer;
}
