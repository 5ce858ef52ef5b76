/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that are read again, or in another order: in a file, not in memory.
 *
 * Owns: an unnamed temporary file (in $TMPDIR, else /var/tmp) of records of one size. Used by sinks
 * whose format groups samples by thread, and by decoders that must sort. For any number of records,
 * memory is one buffer while they are added; later the file is mapped, so its pages are
 * the page cache's.
 */
#ifndef MKPERF_HOST_BASE_SPOOL_H
#define MKPERF_HOST_BASE_SPOOL_H

#include "base.h"

struct mkperf_spool {
    FILE *file;
    size_t size, count; /* bytes of a record; number of records */
    void *map;          /* all of them, after mkperf_spool_map; NULL if there are none */
};

enum mkperf_status mkperf_spool_open(struct mkperf_spool *s, size_t size, struct mkperf_error *e);
enum mkperf_status mkperf_spool_add(struct mkperf_spool *s, const void *record,
                                    struct mkperf_error *e);
/* Makes the records accessible. Called after the last one. */
enum mkperf_status mkperf_spool_map(struct mkperf_spool *s, struct mkperf_error *e);

/* Copies at most n records from number `first` on. Returns how many; 0 also if they cannot be read. In contrast to the map, no
 * page of the file becomes memory of this process. */
size_t mkperf_spool_read(struct mkperf_spool *s, size_t first, void *records, size_t n);
/* Copies the last n records in the order in which they were added. Returns how many. */
size_t mkperf_spool_last(struct mkperf_spool *s, void *records, size_t n);

/* Sorts in place by members (base.h), without further memory. Not stable. */
#define MKPERF_SPOOL_SORT(spool, ...) \
    mkperf_spool_sort((spool), (struct mkperf_sort_key[]){__VA_ARGS__, {0, 0, false}})
void mkperf_spool_sort(struct mkperf_spool *s, struct mkperf_sort_key *keys);
void mkperf_spool_close(struct mkperf_spool *s); /* idempotent */

#endif
