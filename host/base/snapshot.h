/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots: files next to a recording with what mkperf has read from it, so that the next question is answered
 * sooner.
 *
 * Owns: where they are, to which recording and question one belongs, and the proof that no other user wrote it. Their
 * bytes are the caller's. outfile.h removes those of a file that it replaces.
 *
 *      perf.data                         the recording
 *      .perf.data.asked/3f0c...          one for each question: MAC | identities | question | bytes
 *      ~/.cache/mkperf/secret            the key of the MAC, of this user
 *
 * Invariants
 *  1. A snapshot is used only for the same file: device, inode, size, and the times of the last change of its content and of its
 *     inode, in ns. The same of the mkperf that wrote it. Both are compared before and after the recording was read.
 *  2. A snapshot is used only with a right MAC (HMAC-SHA256), because numbers in it are indices, and a recording comes from anywhere.
 *  3. It gets its name when it is whole. Only the user can read it. At most MKPERF_SNAPSHOTS are kept of a recording.
 *  4. Whatever fails: there is no snapshot, and no message. The answer is the same, later.
 *
 * MKPERF_SNAPSHOTS=no in the environment: none are used or written. MKPERF_SNAPSHOTS=always: of small recordings, too.
 */
#ifndef MKPERF_HOST_BASE_SNAPSHOT_H
#define MKPERF_HOST_BASE_SNAPSHOT_H

#include "base.h"

enum {
    MKPERF_SNAPSHOTS = 16,
    MKPERF_SNAPSHOT_BYTES = 16 << 20, /* most bytes of a snapshot */
    MKPERF_SNAPSHOT_LEAST = 8 << 20,  /* smaller recordings are read each time */
};

/* The identities of a recording and of this mkperf. */
struct mkperf_snapshot_of {
    uint64_t number[2][7];
};

struct mkperf_snapshot {
    const char *recording; /* path of the recording, as the caller gave it */
    char *question;        /* NULL: there can be no snapshot */
    struct mkperf_snapshot_of of;
    uint8_t *content; /* the file that was read */
};

/*
 * Begins a question about a recording, before it is read. question: the kind of the result and each option on which it depends. False:
 * there can be no snapshot. Both texts live until mkperf_snapshot_end.
 */
bool mkperf_snapshot_begin(struct mkperf_snapshot *s, const char *recording, const char *question);
/* Returns whether there may be one: mkperf_snapshot_begin would return true. */
bool mkperf_snapshot_possible(const char *recording);
/* Returns the bytes of the snapshot, *n of them; valid until mkperf_snapshot_end. Returns NULL if
 * there is none. */
const uint8_t *mkperf_snapshot_read(struct mkperf_snapshot *s, size_t *n);
/* Writes n bytes, if the recording has not changed. */
void mkperf_snapshot_write(const struct mkperf_snapshot *s, const uint8_t *p, size_t n);
void mkperf_snapshot_end(struct mkperf_snapshot *s);

/* Removes the snapshots of a recording. */
void mkperf_snapshots_remove(const char *recording);

#endif
