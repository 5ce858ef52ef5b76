/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits and version of the wire, shared by both ends (schema: proto/mkperf.proto).
 *
 * Frame:  00  COBS( sequence:u16le  message  crc32:u32le )  00
 * The CRC (IEEE 802.3, as zlib's crc32) covers sequence and message. Each direction numbers its
 * frames from 0, modulo 65536. Two neighbouring frames may share a delimiter. Bytes between
 * frames are console text.
 */
#ifndef MKPERF_WIRE_H
#define MKPERF_WIRE_H

/* The effect of an unexpected period of a sample on the periods after it: Batch.change. */
enum mkperf_change {
    MKPERF_CHANGE_BASE = 0,  /* the middle of later periods changes by the difference */
    MKPERF_CHANGE_WIDTH = 1, /* the middle of later periods and the width of the jitter change */
    MKPERF_CHANGE_ONCE = 2,  /* later periods do not change */
    MKPERF_CHANGE_BITS = 2,  /* bits of a value of this type */
};

enum mkperf_wire {
    MKPERF_PROTOCOL = 2,
    MKPERF_CHAIN_SLOTS = 512,
    MKPERF_BATCH_SAMPLES = 256,
    MKPERF_MAX_EVENTS = 16,
    MKPERF_CONTENT_BYTES = 1400, /* longest encoded message without its MAC field, either way */
    MKPERF_MAC_BYTES = 2 + 8,    /* field 15 of a message: key, length, value (auth.h) */
    MKPERF_MESSAGE_BYTES = MKPERF_CONTENT_BYTES + MKPERF_MAC_BYTES,
    MKPERF_FRAME_OVERHEAD = 2 + 4, /* sequence and CRC */
    /* COBS adds one byte, and one for each 254 bytes. The two delimiters follow. */
    MKPERF_FRAME_BYTES = MKPERF_MESSAGE_BYTES + MKPERF_FRAME_OVERHEAD +
                         (MKPERF_MESSAGE_BYTES + MKPERF_FRAME_OVERHEAD) / 254 + 1 + 2,
    MKPERF_TCP_PORT = 1236,
    MKPERF_RATE_SHIFT = 16, /* Batch.rate is in ticks for 2^16 events */
    MKPERF_PC_BYTES = 4,    /* unit of Batch.pc */
    /* After this many batches the target forgets which callchains it has sent, and sends each again when it is needed. */
    MKPERF_EPOCH_BATCHES = 512,
};

#endif
