/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots: files in the user's cache directory with what mkperf has read from recordings, so that the next question about one is
 * answered sooner.
 *
 * Owns: where they are, and to which recording and question one belongs. Their bytes are the caller's.
 *
 *      ~/.cache/mkperf/3f0c...           one for each recording and question: hash | bytes
 *
 * Invariants
 *  1. A snapshot is used only for the same file: device, inode, size, and the times of the last change of its content and of its
 *     inode, in ns. The same of the mkperf that wrote it. Both are compared before and after the recording was read.
 *  2. A snapshot is used only from a directory that belongs to the user and that nobody else can access, because numbers in it are
 *     indices. Its hash (SHA-256) is of its bytes, the question and these identities.
 *  3. It gets its name when it is whole. At most MKPERF_SNAPSHOTS are kept; the oldest ones are removed.
 *  4. Whatever fails: there is no snapshot, and no message. The answer is the same, later.
 *
 * MKPERF_SNAPSHOTS=no in the environment: none are used or written. MKPERF_SNAPSHOTS=always: of small recordings, too.
 */
#ifndef MKPERF_HOST_BASE_SNAPSHOT_H
#define MKPERF_HOST_BASE_SNAPSHOT_H

#include "base.h"

enum {
    MKPERF_SNAPSHOTS = 64,
    MKPERF_SNAPSHOT_BYTES = 16 << 20, /* most bytes of a snapshot */
    MKPERF_SNAPSHOT_LEAST = 8 << 20,  /* smaller recordings are read each time */
    MKPERF_SNAPSHOT_HASH = 32,        /* bytes of a hash */
};

/* The identities of a recording and of this mkperf. */
struct mkperf_snapshot_of {
    uint64_t number[2][7];
};

struct mkperf_snapshot {
    const char *recording, *question;
    struct mkperf_snapshot_of of;
    int directory;                           /* -1: there can be no snapshot */
    char name[2 * MKPERF_SNAPSHOT_HASH + 1]; /* of the file in it */
    uint8_t *content;                        /* the file that was read */
};

/*
 * Begins a question about a recording, before it is read. question: the kind of the result and each option on which it depends. False:
 * there can be no snapshot. Both texts live until mkperf_snapshot_end.
 */
bool mkperf_snapshot_begin(struct mkperf_snapshot *s, const char *recording, const char *question);
/* Returns whether a recording of this kind and size can have snapshots. */
bool mkperf_snapshot_possible(const char *recording);
/* Returns the bytes of the snapshot, *n of them; valid until mkperf_snapshot_end. Returns NULL if
 * there is none. */
const uint8_t *mkperf_snapshot_read(struct mkperf_snapshot *s, size_t *n);
/* Writes n bytes, if the recording has not changed. */
void mkperf_snapshot_write(const struct mkperf_snapshot *s, const uint8_t *p, size_t n);
void mkperf_snapshot_end(struct mkperf_snapshot *s);

#endif
