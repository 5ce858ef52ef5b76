/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completes call chains: the PD of each caller, and the caller that is only in the link register.
 *
 * Owns: the rule. Called by decoders of live streams. A walk over frame pointers misses the
 * caller of a function that has no frame, or not yet. The program's unwind data decide whether that is so. Without them the
 * chain is passed on as it arrived, and the sample is counted.
 */
#ifndef MKPERF_HOST_MODEL_ARRIVAL_H
#define MKPERF_HOST_MODEL_ARRIVAL_H

#include "model.h"

struct mkperf_pds;

/* A chain in its two forms: as it arrived, and with the link register in front. */
struct mkperf_chain_forms {
    struct mkperf_chain plain, repaired;
    bool unrepaired; /* a caller in another PD may lack its own caller */
};

/* Functions that mkperf_chain_prepare needs; `pds` is passed to both. */
struct mkperf_chain_lookup {
    /* Returns the id of the PD with that thread identity, as mkperf_pds_find. */
    uint32_t (*find)(struct mkperf_pds *pds, uint64_t thread);
    /* Returns whether the link register holds the caller of the function at pc of PD `pd`. */
    enum mkperf_lr (*decide)(const struct mkperf_pds *pds, uint32_t pd, uint64_t pc);
    struct mkperf_pds *pds;
};

/*
 * Prepares both forms for samples of PD `pd` from n return addresses with markers (MKPERF_FRAME_PD,
 * MKPERF_FRAME_CALLER: record.h). A marker without all of its words ends the chain.
 */
void mkperf_chain_prepare(struct mkperf_chain_forms *c, uint32_t pd, uint64_t lr,
                          const uint64_t *frame, unsigned n,
                          const struct mkperf_chain_lookup *lookup);

/*
 * Merges samples and scheduling events of several cores into one order of time.
 *
 * Owns: the entries that wait for what other cores send. It is a relay (model.h). The stream decoder calls it with each
 * sample, each event and each reading of a queue, in the order of its core, and with `flush` behind each message. An entry
 * is released when every core has sent a later sample, and a later event if the session has both. A core that is
 * MKPERF_MERGE_WAIT_NS behind the newest sample is not waited for: it may be idle. After a `flush` at most MKPERF_MERGE_BYTES
 * wait: beyond that the oldest entries are released. Nothing is lost: an entry that arrives after a later one was
 * released is passed on and counted.
 */

#define MKPERF_MERGE_WAIT_NS UINT64_C(1000000000) /* one second of the target's time */
enum { MKPERF_MERGE_BYTES = 8 << 20 };

struct mkperf_merge;

struct mkperf_merge *mkperf_merge_new(struct mkperf_sink to);
void mkperf_merge_free(struct mkperf_merge *m); /* NULL: nothing. Entries in it are dropped */

/* Sets the masks of the cores of which samples, and events, are waited for from now on, in addition
 * to cores that sent some. */
void mkperf_merge_await(struct mkperf_merge *m, uint32_t samples, uint32_t events);

/* Returns the relay, for samples, events and readings of cores below MKPERF_MAX_CORES. */
struct mkperf_sink mkperf_merge_sink(struct mkperf_merge *m);

/* Passes on what no core can precede any more; all: the rest, too. Errors: those of the sink behind the merge. */
enum mkperf_status mkperf_merge_release(struct mkperf_merge *m, bool all, struct mkperf_error *e);

/* Returns how many samples and events were released after a later one. */
uint64_t mkperf_merge_unordered(const struct mkperf_merge *m);

#endif
