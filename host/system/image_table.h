/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of an image, as its stamp lists them (include/mkperf/stamp.h).
 *
 * Owns: reading and writing the table's bytes. Written by `mkperf stamp`, read from what a target
 * sent. The bytes come from a target that may be hostile: each length is checked.
 */
#ifndef MKPERF_HOST_SYSTEM_IMAGE_TABLE_H
#define MKPERF_HOST_SYSTEM_IMAGE_TABLE_H

#include <mkperf/stamp.h>
#include <mkperf/words.h>

#include "symbols/identity.h"

struct mkperf_image_program {
    uint64_t thread;         /* the identity in samples of the PD, 0 for the kernel */
    int parent;              /* index in `program`, -1 if it has none */
    bool passive, scheduled; /* scheduled: the next members are known */
    uint8_t priority, cpu;
    uint32_t budget_us, period_us;
    struct mkperf_build_id build_id;        /* n is 0 if the program could not be identified */
    char name[MKPERF_STAMP_NAME_BYTES + 1]; /* name of the PD, "" for the kernel */
    char file[MKPERF_STAMP_FILE_BYTES + 1]; /* name of the ELF without directories, "" if unknown */
};

/* Names of kinds of queues: "ring", "net", "serial", "blk". */
extern const char *const mkperf_queue_kinds[MKPERF_QUEUE_KINDS];

/* A ring between two programs with two indices. */
struct mkperf_image_queue {
    char name[MKPERF_STAMP_QUEUE_NAME_BYTES + 1];
    enum mkperf_queue_kind kind;
    bool returns;           /* it carries free buffers back */
    int producer, consumer; /* indices in `program`, -1: none */
    unsigned bits;          /* of an index */
    uint64_t slots;
    uint64_t head, tail; /* addresses in the profiler PD; both 0: it has no mapping */
};

struct mkperf_image {
    uint8_t id[MKPERF_STAMP_IMAGE_BYTES];
    uint8_t system[MKPERF_STAMP_SYSTEM_BYTES]; /* SHA-256 of the .system file */
    struct mkperf_image_program kernel;
    unsigned n;
    struct mkperf_image_program program[MKPERF_STAMP_PROGRAMS]; /* in the .system file's order */
    unsigned nqueues;
    struct mkperf_image_queue queue[MKPERF_STAMP_QUEUES];
    char windows[MKPERF_STAMP_WINDOWS_BYTES +
                 1]; /* the domain schedule (windows.h), "" without one */
};

/* Reads the n bytes at p. MKPERF_ERR_INPUT with the place and the reason: the table is invalid. */
enum mkperf_status mkperf_image_read(const uint8_t *p, size_t n, struct mkperf_image *out,
                                     struct mkperf_error *e);

/*
 * Writes the table and its CRC, at most MKPERF_STAMP_BYTES, and returns its size. The texts of the
 * image must be short enough and printable, as mkperf_image_read demands.
 */
size_t mkperf_image_write(const struct mkperf_image *image, uint8_t out[MKPERF_STAMP_BYTES]);

/*
 * Returns the index of the program whose samples carry this identity, -1 if there is none. A passive
 * child on the scheduling context of its caller is found by its child id, unless two have that id.
 */
int mkperf_image_find(const struct mkperf_image *image, uint64_t thread);

/* Where an index is in the words of memory that a target reads. */
struct mkperf_image_place {
    uint8_t word, shift; /* shift: of its lowest bit */
};

/*
 * Stores the words that hold the indices of all queues with a mapping, as the target is asked to read them (words.h), and the
 * place of each queue's head and tail in them. Returns the number of words. Host and target have the same order from the image.
 */
unsigned mkperf_image_words(const struct mkperf_image *image, uint64_t word[MKPERF_MAX_WORDS],
                            struct mkperf_image_place place[MKPERF_STAMP_QUEUES][2]);

/* The image's identity in hexadecimal. */
enum { MKPERF_IMAGE_TEXT = 2 * MKPERF_STAMP_IMAGE_BYTES + 1 };
const char *mkperf_image_text(const struct mkperf_image *image, char text[MKPERF_IMAGE_TEXT]);

#endif
