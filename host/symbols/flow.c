/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see flow.h. mkperf_flow_lr interprets a function abstractly. Each instruction has the set
 * of states in which control can reach it; the set is the answer if it has one member.
 */
#include "flow.h"

#include <stdlib.h>

#include "base/get.h"
#include "base/xalloc.h"
#include "symbols_internal.h"

enum {
    MAX_INSTRUCTIONS = 16384, /* of a function that is followed */
    CALLER = 1 << 0,          /* lr holds the caller, fp is the caller's */
    FRAME = 1 << 1,           /* fp is this function's */
    LOST = 1 << 2,            /* lr was overwritten while fp is the caller's */
};

bool mkperf_flow_fetch(const struct mkperf_module *m, uint64_t pc, uint32_t *insn)
{
    const uint8_t *b = mkperf_module_code(m, pc, 4);

    if (!b) {
        return false;
    }
    *insn = mkperf_get32(b);
    return true;
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

static bool is_call(uint32_t i) /* bl, blr and its authenticated forms */
{
    return (i & 0xfc000000) == 0x94000000 || (i & 0xfefff800) == 0xd63f0000;
}

static bool is_jump(uint32_t i) /* br, ret, eret and their authenticated forms, udf */
{
    return ((i & 0xfe000000) == 0xd6000000 && !is_call(i)) || (i & 0xffff0000) == 0;
}

bool mkperf_flow_leaves(uint32_t i)
{
    return is_b(i) || is_conditional(i) || is_call(i) || is_jump(i);
}

bool mkperf_flow_sets_fp(uint32_t i)
{
    return (i & 0xff8003ff) == 0x910003fd;
}

/* Which register pair or register does a load from sp write? ldp: offset, pre- and post-index. */
static bool loads(uint32_t i, unsigned reg)
{
    bool pair = (i & 0xfe4003e0) == 0xa84003e0;
    bool single = (i & 0xffc003e0) == 0xf94003e0 || (i & 0xffe003e0) == 0xf84003e0;

    return ((pair || single) && (i & 31) == reg) || (pair && (i >> 10 & 31) == reg);
}

bool mkperf_flow_restores(uint32_t i)
{
    return loads(i, 29) && loads(i, 30);
}

static int64_t sign_extend(uint32_t value, unsigned bits)
{
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static int64_t branch_offset(uint32_t i)
{
    if (is_b(i)) {
        return 4 * sign_extend(i & 0x3ffffff, 26);
    }
    if ((i & 0x7e000000) == 0x36000000) {
        return 4 * sign_extend(i >> 5 & 0x3fff, 14);
    }
    return 4 * sign_extend(i >> 5 & 0x7ffff, 19);
}

static unsigned after(uint32_t i, unsigned state)
{
    if (mkperf_flow_sets_fp(i)) {
        return FRAME;
    }
    if (loads(i, 29)) { /* the fp is restored last or together with the lr */
        return CALLER;
    }
    if (is_call(i) && (state & CALLER)) {
        return (state & ~(unsigned)CALLER) | LOST;
    }
    return state;
}

struct flow {
    struct mkperf_module *m;
    uint64_t start;
    uint32_t n; /* instructions */
    uint8_t *state;
    uint32_t *work; /* instructions whose state grew; at most one entry each */
    uint8_t *queued;
    uint32_t nwork;
};

static void reach(struct flow *f, uint64_t at, unsigned state)
{
    if (at >= f->n || (f->state[at] | state) == f->state[at]) {
        return;
    }
    f->state[at] |= (uint8_t)state;
    if (!f->queued[at]) {
        f->queued[at] = 1;
        f->work[f->nwork++] = (uint32_t)at;
    }
}

static void run(struct flow *f)
{
    reach(f, 0, CALLER);
    while (f->nwork > 0) {
        uint32_t at = f->work[--f->nwork], insn;
        unsigned state;

        f->queued[at] = 0;
        if (!mkperf_flow_fetch(f->m, f->start + 4 * (uint64_t)at, &insn)) {
            continue;
        }
        state = after(insn, f->state[at]);
        if (is_b(insn) || is_conditional(insn)) {
            reach(f, at + (uint64_t)(branch_offset(insn) / 4), state);
        }
        if (!is_b(insn) && !is_jump(insn)) {
            reach(f, (uint64_t)at + 1, state);
        }
    }
}

static enum mkperf_lr answer(unsigned state)
{
    switch (state) {
    case CALLER:
        return MKPERF_LR_YES;
    case FRAME:
        return MKPERF_LR_NO;
    default: /* several, or never reached (behind a jump table) */
        return MKPERF_LR_UNKNOWN;
    }
}

enum mkperf_lr mkperf_flow_lr(struct mkperf_module *m, uint64_t pc)
{
    struct mkperf_symbol symbol;
    struct flow f = {.m = m};
    enum mkperf_lr result = MKPERF_LR_UNKNOWN;

    if (!mkperf_symbol_at(m, pc, &symbol) || symbol.start % 4 != 0 ||
        symbol.size / 4 > MAX_INSTRUCTIONS) {
        return MKPERF_LR_UNKNOWN;
    }
    f.start = symbol.start;
    f.n = (uint32_t)(symbol.size / 4);
    f.state = mkperf_xcalloc(f.n + 1, 1);
    f.queued = mkperf_xcalloc(f.n + 1, 1);
    f.work = mkperf_xcalloc(f.n + 1, sizeof *f.work);
    if (pc - f.start < 4 * (uint64_t)f.n) {
        run(&f);
        result = answer(f.state[(pc - f.start) / 4]);
    }
    free(f.state);
    free(f.queued);
    free(f.work);
    return result;
}
