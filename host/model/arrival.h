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

/*
 * Merges samples and scheduling events of several cores into one order of time.
 *
 * Owns: the entries that wait for what other cores send. Called by the stream decoder with each sample, each event
 * and each reading of a queue, in the order of its core; hands them to a sink. An entry is released when every core
 * has sent a later sample, and a later event if the session has both. A core that is MKPERF_MERGE_WAIT_NS behind the
 * newest sample is not waited for: it may be idle. Memory is bounded by MKPERF_MERGE_BYTES: beyond that the oldest
 * sample is released. Nothing is lost: what follows a later sample was released is passed on, and counted.
 */

#define MKPERF_MERGE_WAIT_NS UINT64_C(1000000000) /* one second of the target's time */
enum { MKPERF_MERGE_BYTES = 8 << 20 };

struct mkperf_merge;

struct mkperf_merge *mkperf_merge_new(void);
void mkperf_merge_free(struct mkperf_merge *m); /* NULL: nothing. Samples in it are dropped */

/* Sets the masks of the cores of which samples, and events, are waited for from now on, in addition
 * to cores that sent some. */
void mkperf_merge_await(struct mkperf_merge *m, uint32_t samples, uint32_t events);

/* Takes a copy of a sample; its core is below MKPERF_MAX_CORES. May release older ones. Errors: the sink's. */
enum mkperf_status mkperf_merge_add(struct mkperf_merge *m, const struct mkperf_sample *sample,
                                    const struct mkperf_sink *to, struct mkperf_error *e);

/* Adds a scheduling event, like mkperf_merge_add. */
enum mkperf_status mkperf_merge_add_sched(struct mkperf_merge *m, const struct mkperf_sched *event,
                                          const struct mkperf_sink *to, struct mkperf_error *e);

/* Adds a reading of a queue, in one order with the events of its core. */
enum mkperf_status mkperf_merge_add_reading(struct mkperf_merge *m,
                                            const struct mkperf_queue_reading *reading,
                                            const struct mkperf_sink *to, struct mkperf_error *e);

/* Passes on all that waits and that no core can precede any more. all: passes on the rest, too. Errors: the sink's. */
enum mkperf_status mkperf_merge_release(struct mkperf_merge *m, bool all,
                                        const struct mkperf_sink *to, struct mkperf_error *e);

/* Returns how many samples and events were released after a later one. */
uint64_t mkperf_merge_unordered(const struct mkperf_merge *m);

#endif
