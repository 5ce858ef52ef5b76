/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording, counted: how often and with what weight each distinct callchain was seen.
 *
 * Owns: the sink that mkperf's looking commands put behind the perf.data reader. Memory grows with
 * the number of distinct chains, not with samples, unless they are to be kept.
 */
#ifndef MKPERF_HOST_PROFILE_PROFILE_H
#define MKPERF_HOST_PROFILE_PROFILE_H

#include "base/hash.h"
#include "filter.h"
#include "model/model.h"

struct report_weight {
    uint64_t samples, period;
};

struct report_pd {
    char *name, *elf;
    struct mkperf_build_id build_id; /* of the ELF that ran */
    bool idle;
    bool ambiguous; /* samples that may be of several PDs */
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

enum { REPORT_FRAMES_MAX = MKPERF_MAX_FRAMES + 3 }; /* kernel, pc, callers */

struct report_address {
    uint64_t addr;
    uint32_t pd;
    bool kernel;
    bool is_return; /* the call stands before it */
};

/* One sample, kept on request. */
struct report_sample {
    uint64_t time_ns, period;
    uint32_t chain, order; /* order of arrival */
};

enum { REPORT_MARKS = 32, REPORT_MARK_NAME = 64 };

struct report_mark {
    uint64_t time_ns;
    uint32_t pd, id;
    enum mkperf_mark_kind kind;
    char name[REPORT_MARK_NAME];
};

struct report_profile {
    bool with_core;              /* set before reading: keep cores apart */
    bool leaves_only;            /* the same: callers are not kept */
    bool keep_samples;           /* the same: keep each sample, 24 bytes of memory */
    struct report_filter filter; /* the same: what does not pass is not counted */
    struct mkperf_session session;
    char *platform, *cpu, *kernel_elf, *command;
    struct report_pd *pd;
    uint32_t npds;
    struct mkperf_hash chains;
    struct report_weight *weight; /* of each chain */
    uint32_t weight_room;
    struct report_weight total[MKPERF_MODEL_EVENTS];
    double squares[MKPERF_MODEL_EVENTS]; /* sum of squared periods */
    struct report_sample *sample;        /* with keep_samples */
    uint32_t nsamples, sample_room;
    struct mkperf_totals totals;
    struct report_mark *mark; /* the first ones */
    unsigned nmarks;
    unsigned cores_seen; /* highest core with a sample, + 1 */
};

struct mkperf_sink report_profile_sink(struct report_profile *p);

/* The addresses of a chain, innermost first. Returns how many; 0: nothing is known of it. */
uint32_t report_chain_addresses(const struct report_profile *p, uint32_t chain,
                                struct report_address out[REPORT_FRAMES_MAX]);

/* Sorts the samples by time; those of one time stay in the order of arrival. */
void report_profile_sort(struct report_profile *p);

/* The name of a PD; "" for a number that no sample has. */
static inline const char *report_pd_name(const struct report_profile *p, uint64_t pd)
{
    return pd < p->npds && p->pd[pd].name ? p->pd[pd].name : "";
}

/* Samples known to be missing from the recording. */
uint64_t report_lost(const struct report_profile *p);

void report_profile_free(struct report_profile *p);

/* ---- profile_check.c ---- */

/* Names, and filters, that match nothing would give an empty table: an error instead. NULL: not
 * asked for. */
enum mkperf_status report_check_names(const struct report_profile *p, const char *path,
                                      const char *pd, const char *event, struct mkperf_error *e);

#endif
