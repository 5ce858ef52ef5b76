/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completes call chains: the PD of each caller, and the caller that is only in the link register.
 *
 * Owns: the rule and a cache of decisions (bounded). Called by decoders of live streams. A
 * frame-pointer walk misses the caller of a function without a frame (yet); the program's unwind
 * data decide. Without them the chain stays as it arrived, and is counted.
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
    bool
        unrepaired; /* of a caller in another PD, it is not known whether its own caller is missing */
};

/* What preparing a chain needs to know; `self` is passed to both. */
struct mkperf_chain_lookup {
    /* The id of the PD with that thread identity. */
    uint32_t (*find)(void *self, uint64_t thread);
    /* Whether the link register holds the caller of the function at pc of PD `pd`. */
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
