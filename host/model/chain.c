/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: preparing call chains, see chain.h. */
#include "chain.h"

#include <string.h>

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

void mkperf_chain_prepare(struct mkperf_chain_forms *c, uint32_t pd, uint64_t lr,
                          const uint64_t *frame, unsigned n,
                          uint32_t (*find)(void *self, uint64_t thread), void *self)
{
    struct mkperf_chain *plain = &c->plain, *repaired = &c->repaired;
    uint32_t owner = pd;

    plain->n = 0;
    for (unsigned i = 0; i < n && i < MKPERF_MAX_FRAMES; i++) {
        if (frame[i] != MKPERF_FRAME_PD) {
            plain->caller[plain->n++] = (struct mkperf_caller){.addr = frame[i], .pd = owner};
        } else if (i + 1 < n) {
            owner = find(self, frame[++i]);
        }
    }
    repaired->n = plain->n;
    unsigned front = lr != 0; /* 0: the thread's first function has no caller */
    if (front) {
        repaired->caller[0] = (struct mkperf_caller){.addr = lr, .pd = pd};
        repaired->n++;
    }
    memcpy(repaired->caller + front, plain->caller, plain->n * sizeof *plain->caller);
}
