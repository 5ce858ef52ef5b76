/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Batch message into columns, without nanopb: the one message that arrives in thousands.
 *
 * Owns: reading the fields of Batch, Chain and Loss (proto/mkperf.proto). Every length is checked;
 * fields that are not known are skipped. Called by the stream decoder.
 */
#ifndef MKPERF_HOST_WIRE_WIRE_BATCH_H
#define MKPERF_HOST_WIRE_WIRE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/record.h>
#include <mkperf/wire.h>

struct mkperf_batch_loss {
    uint32_t where;
    uint64_t time_ticks, samples, events;
};

struct mkperf_batch_chain {
    uint64_t slot;
    uint32_t at, counter, flags;
    uint32_t reads; /* counters that are read in the samples */
    unsigned nframes;
    uint64_t thread; /* identity, as in mkperf/record.h */
    uint64_t pc, lr, kernel_pc;
    uint64_t frame[MKPERF_MAX_FRAMES]; /* absolute */
};

struct mkperf_batch {
    uint32_t session, core, epoch;
    uint64_t first_sample, tick_hz, time_ticks;
    unsigned nbases, nwidths, nrates, nchains, nlosses;
    unsigned nreads, nchanges;
    unsigned samples; /* pc and time of each */
    unsigned nslots, ntimes, nperiods;
    uint64_t base[MKPERF_MAX_COUNTERS]; /* by counter; 0 from nbases on, and so on */
    uint64_t width[MKPERF_MAX_COUNTERS];
    uint64_t rate[MKPERF_MAX_COUNTERS];
    struct {
        const uint8_t *p; /* into the message */
        size_t n;
    } chain[2 * MKPERF_BATCH_SAMPLES];
    uint64_t slot[MKPERF_BATCH_SAMPLES];
    uint64_t pc[MKPERF_BATCH_SAMPLES];
    uint64_t time[MKPERF_BATCH_SAMPLES]; /* differences, modulo 2^64 */
    uint64_t period[MKPERF_MAX_COUNTERS];
    uint64_t change[MKPERF_CONTENT_BYTES];
    struct mkperf_batch_loss loss[MKPERF_LOSS_PLACES];
    uint64_t read[MKPERF_CONTENT_BYTES]; /* values of samples in order, at least a byte each */
};

/* A signed number from its encoding. */
static inline uint64_t mkperf_zigzag(uint64_t v)
{
    return v >> 1 ^ -(v & 1);
}

/* False if the message is malformed or larger than receiver.h allows. */
bool mkperf_batch_decode(struct mkperf_batch *b, const uint8_t *p, size_t n);
bool mkperf_batch_chain_decode(struct mkperf_batch_chain *c, const uint8_t *p, size_t n);

/* The Batch in a ToHost message: NULL if it is another message (or invalid). */
const uint8_t *mkperf_batch_find(const uint8_t *p, size_t n, size_t *length);

#endif
