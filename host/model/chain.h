/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completes call chains: the PD of each caller, and the caller that is only in the link register.
 *
 * Owns: the rule and a bounded cache of decisions. Called by decoders of live streams. A walk over frame pointers misses the
 * caller of a function that has no frame, or not yet. The program's unwind data decide whether that is so. Without them the
 * chain is passed on as it arrived, and the sample is counted.
 */
#ifndef MKPERF_HOST_MODEL_CHAIN_H
#define MKPERF_HOST_MODEL_CHAIN_H

#include "model.h"
#include "symbols/symbols.h"

enum { MKPERF_REPAIR_CACHE = 8192 };

struct mkperf_repair {
    enum mkperf_lr (*decide)(struct mkperf_module *m, uint64_t pc); /* mkperf_lr_is_caller */
    struct {
        struct mkperf_module *module;
        uint64_t pc;
        enum mkperf_lr lr;
    } cache[MKPERF_REPAIR_CACHE];
};

/* The decision for pc; UNKNOWN without a module. */
enum mkperf_lr mkperf_repair_decide(struct mkperf_repair *r, struct mkperf_module *m, uint64_t pc);

/* A chain in its two forms: as it arrived, and with the link register in front. */
struct mkperf_chain_forms {
    struct mkperf_chain plain, repaired;
    bool unrepaired; /* a caller in another PD may lack its own caller */
};

/* Functions of the caller that mkperf_chain_prepare needs; `self` is passed to both. */
struct mkperf_chain_lookup {
    /* Returns the id of the PD with that thread identity. */
    uint32_t (*find)(void *self, uint64_t thread);
    /* Returns whether the link register holds the caller of the function at pc of PD `pd`. */
    enum mkperf_lr (*decide)(void *self, uint32_t pd, uint64_t pc);
    void *self;
};

/*
 * Prepares both forms for samples of PD `pd` from n return addresses with markers (MKPERF_FRAME_PD,
 * MKPERF_FRAME_CALLER: record.h). A marker without all of its words ends the chain.
 */
void mkperf_chain_prepare(struct mkperf_chain_forms *c, uint32_t pd, uint64_t lr,
                          const uint64_t *frame, unsigned n,
                          const struct mkperf_chain_lookup *lookup);

#endif
