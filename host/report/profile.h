/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording, counted: how often and with what weight each distinct callchain was seen.
 *
 * Owns: the sink that mkperf report puts behind the perf.data reader. Memory grows with the number
 * of distinct chains, not with samples.
 */
#ifndef MKPERF_HOST_REPORT_PROFILE_H
#define MKPERF_HOST_REPORT_PROFILE_H

#include "../model/model.h"
#include "table.h"

struct report_weight {
    uint64_t samples, period;
};

struct report_pd {
    char *name, *elf;
    bool idle;
    uint64_t samples;
};

/* Words of a chain's key; callers follow, two words each: address, PD. */
enum report_chain_word {
    REPORT_CHAIN_EVENT,
    REPORT_CHAIN_CORE,
    REPORT_CHAIN_PD,
    REPORT_CHAIN_FLAGS, /* MKPERF_SAMPLE_KERNEL and MKPERF_SAMPLE_NO_USER */
    REPORT_CHAIN_KERNEL_PC,
    REPORT_CHAIN_PC,
    REPORT_CHAIN_CALLERS,
    REPORT_CHAIN_WORDS_MAX = REPORT_CHAIN_CALLERS + 2 * (MKPERF_MAX_FRAMES + 1),
};

struct report_profile {
    bool with_core; /* set before reading: keep cores apart */
    struct mkperf_session session;
    char *platform, *cpu, *kernel_elf, *command;
    struct report_pd *pd;
    uint32_t npds;
    struct report_table chains;
    struct report_weight *weight; /* of each chain */
    uint32_t weight_room;
    struct report_weight total[MKPERF_MODEL_EVENTS];
    struct mkperf_totals totals;
    unsigned cores_seen; /* highest core with a sample, + 1 */
};

struct mkperf_sink report_profile_sink(struct report_profile *p);
/* The name of a PD; "" for a number that no sample has. */
static inline const char *report_pd_name(const struct report_profile *p, uint64_t pd)
{
    return pd < p->npds && p->pd[pd].name ? p->pd[pd].name : "";
}

void report_profile_free(struct report_profile *p);

#endif
