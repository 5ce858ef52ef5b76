/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor: how the profiler PD tells the kernel hook where samples go.
 *
 * Owns: the layout of the descriptor. The profiler PD writes it MKPERF_DESCRIPTOR_OFFSET bytes
 * into the page of its IPC buffer, behind the message registers, where the kernel reads it at
 * every profiling interrupt. The kernel trusts none of it: addresses are translated through the
 * profiler PD's own page tables, numbers are clamped, and the worst that a wrong descriptor does
 * is to spoil the samples of the PD that wrote it.
 *
 * Protocol: the PD fills everything, then stores `magic` with release order; to withdraw, it
 * stores 0 in `magic`. `period` and `jitter_mask` of a counter and `watermark` may be changed at
 * any time; so may `counter_mask`, `kernel_mask` and what belongs to counting, for counters that
 * stand still. Everything else changes only while `magic` is 0, with a new `generation`; or, where
 * events take turns, with a new `generation` and `continues` set, for counters that stand still:
 * the hook then takes `first` and `read` anew and keeps everything else.
 */
#ifndef MKPERF_DESCRIPTOR_H
#define MKPERF_DESCRIPTOR_H

#include <stdint.h>

#include <mkperf/record.h>

#define MKPERF_DESCRIPTOR_OFFSET 1024
#define MKPERF_DESCRIPTOR_MAGIC UINT64_C(0x31637365646b706d) /* "mpkdesc1" */

/* More events than the way from the hook back to user mode takes, by far: with less, the kernel
 * would overflow the counter on each such way, and no thread would ever run again. */
#define MKPERF_MIN_KERNEL_PERIOD 2000

struct mkperf_descriptor_counter {
    uint32_t first;       /* the interval that it is in at the start */
    uint32_t period;      /* events between samples, before jitter; at least 2; of a kernel counter
                             the hook makes at least MKPERF_MIN_KERNEL_PERIOD */
    uint32_t jitter_mask; /* 2^k - 1 <= period, low bits may be clear; 0 = no jitter */
};

/*
 * Jitter: after each overflow the hook arms the counter with
 *   period - (jitter_mask + 1) / 2 + r,   r uniform in [0, jitter_mask]   (jitter_mask != 0)
 * from a 64-bit xorshift generator's upper half, so that the mean is period - 1/2 and
 * every value in the range can occur. Each sample carries the period it really had.
 */
struct mkperf_descriptor {
    uint64_t magic;
    uint32_t generation;   /* changes with each session: the hook forgets its state of the last */
    uint32_t counter_mask; /* counters that belong to the session, bit = number */
    uint32_t kernel_mask;  /* those of them that count kernel time only */
    uint32_t max_frames;   /* depth of the walk, 0 .. MKPERF_MAX_FRAMES */
    uint32_t watermark;    /* bytes used in a ring at which the profiler PD is woken */
    uint32_t ring_bytes;   /* data bytes of each ring, see mkperf_ring_size_ok */
    uint64_t ring[MKPERF_MAX_CORES]; /* each core's ring: address in the profiler PD, 0 = none;
                                        header and data within one page of its mapping */
    struct mkperf_descriptor_counter counter[MKPERF_MAX_COUNTERS];
    uint32_t filters;                    /* 0: samples of all threads; else only of these: */
    uint32_t count_mask;                 /* counters that count by thread, see counts.h, */
    uint32_t count_epoch;                /* which changes when they are set anew, */
    uint8_t slot[MKPERF_MAX_COUNTERS];   /* the slot that each counts for, */
    uint64_t counts;                     /* and the table: address in the profiler PD, 0 = none */
    uint64_t filter[MKPERF_MAX_FILTERS]; /* identities */

    uint32_t special;   /* 0: filters, turn_mask and read_mask are 0, and not looked at */
    uint32_t continues; /* != 0: this generation goes on with the last one's ring and books */
    uint32_t turn_mask; /* counters whose overflow is told with a TURN record and wakes at once */
    uint32_t read_mask; /* counters that do not sample: their values ride in others' samples. Armed
                           with MKPERF_COUNT_PERIOD, so that they never wrap unseen */
    uint32_t reads[MKPERF_MAX_COUNTERS]; /* of one that samples: those of read_mask to be read */
    uint64_t read[MKPERF_MAX_COUNTERS];  /* of one in read_mask: what it had counted, modulo 2^64,
                                            at the last overflow of the one that it is read with,
                                            where MKPERF_COUNT_PERIOD events before its own next
                                            overflow is 0 */
    uint32_t soft_mask; /* software events that are wanted, bit = enum mkperf_soft_kind (soft.h), */
    uint64_t soft;      /* and their table: address in the profiler PD, not 0 with a mask */
};

_Static_assert(MKPERF_DESCRIPTOR_OFFSET + sizeof(struct mkperf_descriptor) <= 4096,
               "the descriptor must fit the IPC buffer's page");

#endif
