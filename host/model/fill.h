/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How full the target's output ring was, where samples wait for the link, over time.
 *
 * Owns: the points in time. The target reports the most bytes that waited since its last report,
 * about once a second of its time. There are MKPERF_FILL_POINTS at most: when they are all used,
 * two neighbours become one, the higher of them.
 */
#ifndef MKPERF_HOST_MODEL_FILL_H
#define MKPERF_HOST_MODEL_FILL_H

#include <stdint.h>
#include <stdio.h>

enum { MKPERF_FILL_POINTS = 256 };

struct mkperf_fill_point {
    uint64_t time_ns; /* of the report; it covers the time since the previous point */
    uint64_t bytes;
};

struct mkperf_fill {
    uint64_t size; /* of the ring, bytes, as reported last; 0: nothing is known */
    uint64_t peak; /* bytes */
    uint32_t n;
    uint32_t merged; /* reports that go into a point, a power of two; 0: one */
    uint32_t in_last;
    struct mkperf_fill_point point[MKPERF_FILL_POINTS]; /* in the order of time */
};

/* A report; a time before the last one's counts as that. size 0: it is none. */
void mkperf_fill_add(struct mkperf_fill *f, uint64_t time_ns, uint64_t bytes, uint64_t size);

/* The highest in words, into text: "at most 1024 of 65536 bytes (1.6 %)". */
void mkperf_fill_text(const struct mkperf_fill *f, char *text, size_t n);

/* Lines of `key value` for a file, and one of them back; other keys are left alone. */
void mkperf_fill_write(const struct mkperf_fill *f, FILE *out);
void mkperf_fill_line(struct mkperf_fill *f, const char *key, const char *value);

#endif
