/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stamp: the table of programs that an image carries, as bytes.
 *
 * Owns: the layout. `mkperf stamp` writes the table into the client PD's ELF when the image is
 * built. The client PD reads only its size and sends it to hosts. host/system/image_table.c parses
 * it. docs/formats.md describes it for other programs. All numbers are little-endian.
 *
 *   bytes  0.. 8  magic: MKPERF_STAMP_MAGIC, or MKPERF_STAMP_EMPTY in an ELF without a stamp
 *          8..12  size of the table in bytes, with this header
 *         12..16  CRC-32 (frame.h) of bytes 16 to size
 *         16..32  image: identifies the image as a whole
 *         32..64  SHA-256 of the .system file
 *         64..66  number of programs n
 *         66..68  number of queues
 *   then n + 1 entries, the kernel's first:
 *          0.. 8  the PD's identity in samples (record.h); 0 for the kernel
 *              8  index of the parent PD + 1 among the programs, 0 = none
 *              9  flags, enum mkperf_stamp_flags
 *             10  bytes of the build id, 0 to 20
 *             11  bytes of the PD's name, 1 to 64 (kernel: 0)
 *             12  bytes of the program's file name, 0 to 64
 *         13..    build id, name, file name; no terminating zeros, no zeros inside
 *         then, with MKPERF_STAMP_SCHEDULED, how the PD is scheduled: its priority (1 byte), its core (1),
 *         its budget and its period in microseconds (4 each)
 *   then an entry for each queue:
 *              0  kind, enum mkperf_queue_kind
 *              1  flags, enum mkperf_queue_flags
 *          2,  3  indices of the producer and the consumer + 1 among the programs, 0 = none
 *              4  bits of an index: 8, 16, 32 or 64
 *              5  bytes of its name, 1 to 32
 *          6..14  slots
 *         14..22  address of the head (the consumer's index) in the profiler PD; 0: it has no mapping
 *         22..30  address of the tail (the producer's index), or 0
 *         30..    name
 *   then, to the end, the domain schedule as text (host/system/system.h); nothing without one
 */
#ifndef MKPERF_STAMP_H
#define MKPERF_STAMP_H

#define MKPERF_STAMP_SYMBOL "mkperf_stamp" /* the symbol in the client PD's ELF */
#define MKPERF_STAMP_MAGIC "mkpstmp1"
#define MKPERF_STAMP_EMPTY "mkpempty"

enum mkperf_stamp {
    MKPERF_STAMP_MAGIC_BYTES = 8,
    MKPERF_STAMP_SIZE_AT = 8,
    MKPERF_STAMP_CRC_AT = 12,
    MKPERF_STAMP_IMAGE_AT = 16,
    MKPERF_STAMP_SYSTEM_AT = 32,
    MKPERF_STAMP_COUNT_AT = 64,
    MKPERF_STAMP_QUEUES_AT = 66,
    MKPERF_STAMP_HEADER_BYTES = 68,
    MKPERF_STAMP_ENTRY_BYTES = 13, /* an entry's bytes before its strings and what follows them */
    MKPERF_STAMP_SCHEDULED_BYTES = 10,
    MKPERF_STAMP_IMAGE_BYTES = 16,
    MKPERF_STAMP_SYSTEM_BYTES = 32,
    MKPERF_STAMP_ID_BYTES = 20,
    MKPERF_STAMP_NAME_BYTES = 64,
    MKPERF_STAMP_FILE_BYTES = 64,
    MKPERF_STAMP_PROGRAMS = 64, /* 63 PDs, which is Microkit's limit, and its monitor */
    MKPERF_STAMP_QUEUES = 32,
    MKPERF_STAMP_QUEUE_BYTES = 30, /* a queue's bytes before its name */
    MKPERF_STAMP_QUEUE_NAME_BYTES = 32,
    MKPERF_STAMP_WINDOWS_BYTES = 1024,
    MKPERF_STAMP_BYTES = 14336,     /* reserved in the ELF: the largest table fits */
    MKPERF_STAMP_PART_BYTES = 1024, /* most bytes of the table in one message */
};

enum mkperf_stamp_flags {
    MKPERF_STAMP_PASSIVE = 1,
    MKPERF_STAMP_DERIVED = 2, /* the ELF has no build id: this is a hash of its loaded segments */
    MKPERF_STAMP_SCHEDULED = 4,
};

/* A queue's layout and the purpose of its entries: those of sDDF's classes, or any other ring. */
enum mkperf_queue_kind {
    MKPERF_QUEUE_RING = 0,
    MKPERF_QUEUE_NET = 1,
    MKPERF_QUEUE_SERIAL = 2,
    MKPERF_QUEUE_BLK = 3,
    MKPERF_QUEUE_KINDS,
};

enum mkperf_queue_flags {
    MKPERF_QUEUE_RETURNS = 1, /* it carries free buffers back */
};

_Static_assert(MKPERF_STAMP_HEADER_BYTES +
                       (MKPERF_STAMP_PROGRAMS + 1) *
                           (MKPERF_STAMP_ENTRY_BYTES + MKPERF_STAMP_ID_BYTES +
                            MKPERF_STAMP_NAME_BYTES + MKPERF_STAMP_FILE_BYTES +
                            MKPERF_STAMP_SCHEDULED_BYTES) +
                       MKPERF_STAMP_QUEUES *
                           (MKPERF_STAMP_QUEUE_BYTES + MKPERF_STAMP_QUEUE_NAME_BYTES) +
                       MKPERF_STAMP_WINDOWS_BYTES <=
                   MKPERF_STAMP_BYTES,
               "the largest stamp fits");

#endif
