/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample's chain in the form of the wire, in which markers precede callers in other threads.
 *
 * Owns: the conversion from the record's form (include/mkperf/record.h describes both). Called by
 * the encoder once for each new chain. Return addresses come from threads' stacks; an address that
 * looks like a marker becomes 0, so that no thread can invent callers.
 */
#ifndef MKPERF_WIRE_FRAMES_H
#define MKPERF_WIRE_FRAMES_H

#include <stdint.h>

#include <mkperf/record.h>

/*
 * Puts the chain of a sample to `to`, which has room for MKPERF_MAX_FRAMES words, and returns its
 * words. header, thread: the record's; word: mkperf_record_nframes(header) words of chain, at most
 * MKPERF_MAX_FRAMES. Callers that do not fit their own sizes are left out.
 */
unsigned mkperf_wire_frames(uint64_t *to, uint64_t header, uint64_t thread, const uint64_t *word);

/*
 * Writes the chain of a sample to `to` as a field (below 16) that is a Chain message; there is room
 * for mkperf_Chain_size and 4 bytes. Returns its bytes. slot: of the chain; sample: the sample's
 * index in the batch; reads: mask of the counters that are read with it.
 */
uint32_t mkperf_wire_chain(uint8_t *to, unsigned field, uint64_t header, const uint64_t *record,
                           unsigned slot, uint32_t sample, uint32_t reads);

#endif
