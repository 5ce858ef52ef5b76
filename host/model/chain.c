/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: preparing call chains, see chain.h. */
#include "chain.h"

enum mkperf_lr mkperf_repair_decide(struct mkperf_repair *r, struct mkperf_module *m, uint64_t pc)
{
    uint64_t mixed = (pc >> 1 ^ (uintptr_t)m >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = mixed >> 51; /* 13 bits */

    _Static_assert(MKPERF_REPAIR_CACHE == 1 << 13, "the hash's bits");
    if (m == NULL) {
        return MKPERF_LR_UNKNOWN;
    }
    if (r->cache[i].module != m || r->cache[i].pc != pc) {
        r->cache[i].lr = r->decide(m, pc);
        r->cache[i].module = m;
        r->cache[i].pc = pc;
    }
    return r->cache[i].lr;
}

static void add_frame(struct mkperf_chain *c, uint64_t addr, uint32_t pd)
{
    if (c->n < MKPERF_MAX_FRAMES) {
        c->caller[c->n++] = (struct mkperf_caller){.addr = addr, .pd = pd};
    }
}

void mkperf_chain_prepare(struct mkperf_chain_forms *c, uint32_t pd, uint64_t lr,
                          const uint64_t *frame, unsigned n,
                          const struct mkperf_chain_lookup *lookup)
{
    enum {
        CALLER_WORDS = 3,
        CALL_BYTES = 4
    }; /* behind the marker; of the instruction that calls */
    struct mkperf_chain *plain = &c->plain, *repaired = &c->repaired;
    uint32_t owner = pd;

    plain->n = 0;
    c->unrepaired = false;
    for (unsigned i = 0; i < n && i < MKPERF_MAX_FRAMES; i++) {
        if (frame[i] == MKPERF_FRAME_PD) {
            if (i + 1 >= n) {
                break;
            }
            owner = lookup->find(lookup->self, frame[++i]);
        } else if (frame[i] == MKPERF_FRAME_CALLER) {
            if (i + CALLER_WORDS >= n) {
                break;
            }
            /* A caller in another PD, which waits in its system call: its identity, lr and pc. */
            uint64_t caller_lr = frame[i + 2], pc = frame[i + 3];
            owner = lookup->find(lookup->self, frame[i + 1]);
            i += CALLER_WORDS;
            add_frame(plain, pc, owner);
            if (caller_lr != 0) { /* 0: the target has added it, or there is none */
                enum mkperf_lr is = lookup->decide(lookup->self, owner, pc - CALL_BYTES);
                c->unrepaired |= is == MKPERF_LR_UNKNOWN;
                if (is == MKPERF_LR_YES) {
                    add_frame(plain, caller_lr, owner);
                }
            }
        } else {
            add_frame(plain, frame[i], owner);
        }
    }
    repaired->n = plain->n;
    unsigned front = lr != 0; /* 0: the first function has no caller, or the target has added it */
    if (front) {
        repaired->caller[0] = (struct mkperf_caller){.addr = lr, .pd = pd};
        repaired->n++;
    }
    memcpy(repaired->caller + front, plain->caller, plain->n * sizeof *plain->caller);
}
