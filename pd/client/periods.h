/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The expected period and time of each counter's next sample.
 *
 * Owns: struct mkperf_periods. Used by encode.c only. A period follows from the time of the
 * counter's sample before (include/mkperf/jitter.h) while the middle of the periods, the base,
 * stays the same. The base's changes are not announced. An unexpected period reveals
 * them. A wrong guess costs only bytes, because the receiver makes the same guess and gets the
 * difference.
 */
#ifndef MKPERF_PERIODS_H
#define MKPERF_PERIODS_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/bits.h>
#include <mkperf/record.h>

struct mkperf_middle {
    uint64_t base;
    uint32_t mask; /* mask of the jitter; 0: there is no jitter */
};

/* A counter. Times are ticks. */
struct mkperf_period {
    uint64_t last; /* time of the counter's last sample */
    uint64_t low;  /* the base minus half of the jitter's width */
    uint64_t mask; /* mask of the jitter */
    uint64_t rate; /* ticks per 2^MKPERF_RATE_SHIFT events */
    /* The batch's samples that directly followed a sample of the same counter. */
    uint64_t events; /* the sum of their periods */
    uint64_t ticks;  /* the sum of their distances from the sample before */
    /* The current row of such samples. */
    uint64_t from;   /* time of its first sample */
    uint64_t before; /* time of the counter's sample before the row */
    struct mkperf_middle now;
    /* As of the counter's first sample in the batch. */
    struct mkperf_middle reported;
    uint64_t reported_rate;
    uint64_t late; /* time of a sample with an interval that seemed to have ended late */
    bool jitter;   /* Its periods may have jitter. */
};

struct mkperf_periods {
    uint32_t core;  /* core of the samples; another core's counters have other periods */
    uint32_t known; /* counters that have had a sample, bit = number */
    uint32_t begun; /* counters that have had a sample in this batch */
    struct mkperf_period of[MKPERF_MAX_COUNTERS];
};

/* Returns the next period if the middle is unchanged. The counter has had a sample. mix:
 * MKPERF_JITTER_MIX. */
uint64_t mkperf_period_next(const struct mkperf_period *p, unsigned counter, uint64_t mix);

/* Sets the middle. jitter: whether the session has jitter. */
void mkperf_period_expect(struct mkperf_period *p, uint64_t period, bool jitter);

/*
 * Called for an unexpected period of a known counter, with the last sample at `last`. Changes the
 * middle so that it explains the period. The middle stays if the interval seems to have ended late.
 * time: that of the sample. Returns whether the middle changed.
 */
bool mkperf_period_change(struct mkperf_period *p, unsigned counter, uint64_t period, uint64_t time,
                          uint64_t mix);

/* Ends a batch: the rates of the next one. */
void mkperf_periods_end(struct mkperf_periods *p);

/* Returns a jitter's mask as the wire has it: k + 32 * s for 2^k - 2^s. */
static inline unsigned mkperf_period_width(uint32_t mask)
{
    return mask == 0 ? 0 : 32 - (unsigned)__builtin_clz(mask) + 32 * (unsigned)__builtin_ctz(mask);
}

#endif
