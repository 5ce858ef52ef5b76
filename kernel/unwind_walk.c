/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains of programs without frame pointers, by tables (include/mkperf/unwind.h).
 *
 * Owns: the walk. Called by capture.c, in sessions that have tables, before the walk over frame
 * pointers. A thread whose PD has no table gets the other walk.
 *
 * Rules
 * 1. The tables are memory that the owner can write at any time. Each value is read once. A position is
 *    taken modulo the tables' size, so that the checks of a session (request.c) are enough.
 * 2. Words of a stack are read only where the thread itself could read them, as in the other walk.
 * 3. A walk takes at most as many steps as the chain has room for, and a step looks at six
 *    of a block's rows, whatever tables and stacks contain.
 *
 * What may be lost: the rest of a chain, if the table has no rule for an address, or a word of the stack
 * cannot be read. The sample has MKPERF_SAMPLE_BAD_FP then.
 */
#include <mkperf_port.h>

#include "hook.h"

/* Bits of an offset that is outside of a page, or misaligned. */
#define NOT_IN_PAGE (~(MKPERF_PAGE_BYTES - sizeof(uint64_t)))

/* A value that a thread on another core may change meanwhile. The compiler cannot load it again after this. An
 * atomic load would take an instruction more for its address. */
#define ONCE(value)                           \
    __extension__({                           \
        __typeof__(+(value)) once_ = (value); \
        __asm__("" : "+r"(once_));            \
        once_;                                \
    })

/* The page of a thread's stack in which the walk is. */
struct unwind_stack {
    const void *thread;
    unsigned level;
    uint64_t page;
    /* Difference between the kernel's address and the thread's address of the same byte. */
    uint64_t to_window;
};

/* Reads a word of the stack. False: it is misaligned, or the thread could not read it. */
MKPERF_INLINE bool read_word(struct unwind_stack *k, uint64_t at, uint64_t *out)
{
    if (__builtin_expect(((at - k->page) & NOT_IN_PAGE) != 0, 0)) {
        uint64_t page = at & ~(MKPERF_PAGE_BYTES - 1);
        uintptr_t window =
            at % sizeof(uint64_t) == 0 ? mkperf_port_user_page(k->thread, k->level, page) : 0;
        if (window == 0) {
            return false;
        }
        k->page = page;
        k->to_window = window - page;
    }
    *out = ONCE(*(const uint64_t *)(uintptr_t)(at + k->to_window));
    return true;
}

/* Returns the rule for an address. */
MKPERF_INLINE uint64_t find_rule(const struct mkperf_unwind_tables *tables,
                                 const struct mkperf_unwind_entry *e, uint64_t pc)
{
    const uint16_t *halves = (const uint16_t *)(const void *)tables;
    const uint64_t *words = (const uint64_t *)(const void *)tables;
    uint64_t block = (pc - e->base) / MKPERF_UNWIND_BLOCK;
    uint32_t last = pc % MKPERF_UNWIND_BLOCK << 8 | (MKPERF_UNWIND_RULES - 1);

    if (block >= e->blocks) {
        return MKPERF_UNWIND_STOP;
    }
    /* From these positions on, at most MKPERF_UNWIND_SLACK bytes are read. */
    const uint16_t *before = halves + (e->block + (uint32_t)block) % (MKPERF_UNWIND_BYTES / 2);
    uint32_t at = (uint32_t)ONCE(before[0]);
    uint32_t rows = ((uint32_t)ONCE(before[1]) - at) % (2 * MKPERF_UNWIND_BLOCK_ROWS);
    const uint16_t *row = halves + (e->row + at - 1) % (MKPERF_UNWIND_BYTES / 2);
    uint32_t found = (uint32_t)ONCE(*row); /* valid up to the block's first row */

    while (rows != 0) {
        uint32_t half = (rows + 1) / 2;
        uint32_t next = (uint32_t)ONCE(row[half]);
        rows = next <= last ? rows - half : half - 1;
        row += next <= last ? half : 0;
        found = next <= last ? next : found;
    }
    return ONCE(words[(e->rule + found % MKPERF_UNWIND_RULES) % (MKPERF_UNWIND_BYTES / 8)]);
}

/* Copies the entry of a thread. False: it has no table. */
static bool find_table(const struct mkperf_hook *s, struct mkperf_identity id,
                       struct mkperf_unwind_entry *e)
{
    uint64_t sc = mkperf_hook_sc(s, id);
    const struct mkperf_unwind_entry *from =
        &s->tables->unwind.entry[mkperf_unwind_slot(id.badge, sc, s->session.sc_if)];

    mkperf_hook_copy(e, from, sizeof *e);
    return e->blocks != 0 && ((e->badge ^ id.badge) | (e->sc ^ sc)) == 0;
}

uint32_t mkperf_unwind(const struct mkperf_hook *s, const struct mkperf_port_context *c,
                       struct mkperf_identity id, unsigned level, uint64_t *frames, uint32_t max)
{
    const struct mkperf_unwind_tables *tables = &s->tables->unwind;
    struct mkperf_unwind_entry e;

    if (!find_table(s, id, &e)) {
        return MKPERF_NO_TABLE;
    }
    struct unwind_stack stack = {.thread = c->thread, .level = level, .page = 1}; /* no page */
    uint64_t sp = mkperf_port_sp(c->thread);
    uint64_t fp = c->fp;
    uint64_t pc = c->pc;
    uint64_t ret = c->lr;
    uint32_t flags = MKPERF_SAMPLE_DEPTH_LIMIT;
    uint32_t n = 0;

    while (n != max) {
        uint64_t rule = find_rule(tables, &e, pc);
        if ((rule & MKPERF_UNWIND_STOP) != 0) {
            flags = (rule & MKPERF_UNWIND_OUTERMOST) != 0 ? 0 : MKPERF_SAMPLE_BAD_FP;
            break;
        }
        uint64_t cfa = ((rule & MKPERF_UNWIND_FROM_FP) != 0 ? fp : sp) +
                       sizeof(uint64_t) * (rule & 0xffff);
        uint64_t ra = rule >> 16 & 0xffff;
        uint64_t saved = rule >> 32 & 0xffff;
        /* Only the innermost function can have its return address in the register and no frame. */
        bool leaf = ra == 0 || cfa <= sp;
        if ((leaf && (n != 0 || cfa < sp)) ||
            (ra != 0 && !read_word(&stack, cfa - sizeof(uint64_t) * ra, &ret)) ||
            (saved != 0 && !read_word(&stack, cfa - sizeof(uint64_t) * saved, &fp))) {
            flags = MKPERF_SAMPLE_BAD_FP;
            break;
        }
        if (ret == 0) { /* start code: the outermost frame */
            flags = 0;
            break;
        }
        frames[n] = ret;
        n++;
        sp = cfa;
        pc = ret - 1; /* within the instruction that calls */
    }
    return n | flags << MKPERF_WALKED_FLAGS_SHIFT;
}
