/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutation of perf.data files, in both layouts: records, attributes and features are changed,
 * removed, repeated and moved; the sizes of records, the header's sections and the feature table
 * follow.
 *
 * Owns: mutate_perfdata. An input that is no perf.data is mutated in any way.
 */
#ifndef MKPERF_TESTS_FUZZ_MUTATE_PERFDATA_H
#define MKPERF_TESTS_FUZZ_MUTATE_PERFDATA_H

#include "mutate.h"
#include "perfdata/perfdata.h"

enum { MUTATE_RECORD = 2048, MUTATE_SECTIONS = 100 };

/* The places that the file states for its sections: offset and size, u64 each. */
struct mutate_file {
    size_t section[MUTATE_SECTIONS];
    unsigned n;
    size_t records, end; /* where the data begin and end */
};

static inline bool mutate_inside(const uint8_t *data, size_t size, size_t at)
{
    uint64_t offset = mutate_get(data + at, 8), n = mutate_get(data + at + 8, 8);

    return offset <= size && n <= size - offset;
}

/* Finds the sections of a file, features last. */
static inline bool mutate_open(const uint8_t *data, size_t size, struct mutate_file *f)
{
    *f = (struct mutate_file){.records = PERF_PIPE_HEADER_BYTES, .end = size};
    if (size < PERF_PIPE_HEADER_BYTES || memcmp(data, "PERFILE2", 8) != 0) {
        return false;
    }
    if (mutate_get(data + 8, 8) == PERF_PIPE_HEADER_BYTES) {
        return true;
    }
    if (size < PERF_HEADER_BYTES || !mutate_inside(data, size, PERF_HEADER_ATTRS) ||
        !mutate_inside(data, size, PERF_HEADER_DATA)) {
        return false;
    }
    f->section[f->n++] = PERF_HEADER_ATTRS;
    f->section[f->n++] = PERF_HEADER_DATA;
    size_t attrs = (size_t)mutate_get(data + PERF_HEADER_ATTRS, 8);
    uint64_t all = mutate_get(data + PERF_HEADER_ATTRS + 8, 8);
    uint64_t each = mutate_get(data + PERF_HEADER_ATTR_SIZE, 8);
    for (uint64_t i = 0; each >= 16 && i < all / each && i < 32; i++) {
        f->section[f->n++] = attrs + (size_t)((i + 1) * each) - 16;
    }
    f->records = (size_t)mutate_get(data + PERF_HEADER_DATA, 8);
    f->end = f->records + (size_t)mutate_get(data + PERF_HEADER_DATA + 8, 8);
    size_t at = f->end;
    for (unsigned i = 0; f->end != f->records && i < 256 && size - at >= 16; i++) {
        if (data[PERF_HEADER_FEATURES + i / 8] >> i % 8 & 1 && f->n < MUTATE_SECTIONS) {
            f->section[f->n++] = at;
            at += 16;
        }
    }
    return true;
}

/* Works like mutate_replace, and adapts the sections' offsets and sizes. */
static inline size_t mutate_splice(uint8_t *data, size_t size, size_t max,
                                   const struct mutate_file *f, size_t at, size_t n,
                                   const uint8_t *with, size_t m)
{
    if (size - n + m > max) {
        return size;
    }
    size = mutate_replace(data, size, max, at, n, with, m);
    for (unsigned i = 0; i < f->n; i++) {
        size_t s = f->section[i] >= at + n && f->section[i] > at ? f->section[i] - n + m
                                                                 : f->section[i];
        if (s + 16 > size) {
            continue;
        }
        uint64_t offset = mutate_get(data + s, 8), bytes = mutate_get(data + s + 8, 8);
        if (offset >= at + n && offset > at) {
            mutate_put(data + s, 8, offset - n + m);
        } else if (at >= offset && at <= offset + bytes && at + n <= offset + bytes) {
            mutate_put(data + s + 8, 8, bytes - n + m);
        }
    }
    return size;
}

/* Changes one number of n bytes that are 8-byte numbers, halves of one, or bytes. */
static inline void mutate_numbers(uint8_t *p, size_t n)
{
    unsigned bytes = 8U >> mutate_random(4);

    if (n >= bytes) {
        p += mutate_random((unsigned)(n / bytes)) * (size_t)bytes;
        mutate_put(p, bytes, mutate_number(mutate_get(p, bytes)));
    }
}

/* Changes the record in `one`, which has size n. Returns its new size. */
static inline size_t mutate_record(uint8_t one[MUTATE_RECORD], size_t n)
{
    static const uint8_t types[] = {
        PERF_RECORD_MMAP,           PERF_RECORD_LOST,
        PERF_RECORD_COMM,           PERF_RECORD_SAMPLE,
        PERF_RECORD_MMAP2,          PERF_RECORD_LOST_SAMPLES,
        PERF_RECORD_HEADER_ATTR,    PERF_RECORD_HEADER_EVENT_TYPE,
        PERF_RECORD_FINISHED_ROUND, PERF_RECORD_HEADER_TRACING_DATA,
        PERF_RECORD_AUXTRACE,       PERF_RECORD_EVENT_UPDATE,
        PERF_RECORD_HEADER_FEATURE, PERF_RECORD_COMPRESSED,
    };
    size_t at;

    switch (mutate_random(8)) {
    case 0:
        mutate_put(one, 4, types[mutate_random(sizeof types)]);
        break;
    case 1:
        mutate_put(one + 4, 2, mutate_number(mutate_get(one + 4, 2)));
        break;
    case 2: /* a word more */
        at = 8 + 8 * (size_t)mutate_random((unsigned)(n / 8));
        if (n + 8 <= MUTATE_RECORD && at <= n) {
            memmove(one + at + 8, one + at, n - at);
            mutate_put(one + at, 8, mutate_number(0));
            n += 8;
        }
        break;
    case 3: /* and less */
        if (n >= 16) {
            n -= 8;
        }
        break;
    case 4:
        n = 8 + LLVMFuzzerMutate(one + 8, n - 8, MUTATE_RECORD - 8);
        break;
    default:
        mutate_numbers(one + 8, n - 8);
    }
    mutate_put(one + 6, 2, mutate_random(64) ? n : mutate_number(n));
    return n;
}

static inline size_t mutate_records(uint8_t *data, size_t size, size_t max,
                                    const struct mutate_file *f)
{
    static uint8_t one[MUTATE_RECORD];
    size_t at = f->records, n = 0, to = at;
    unsigned skip = mutate_random(64), how = mutate_random(8), place = mutate_random(64);

    for (unsigned i = 0; at + 8 <= f->end; i++) {
        n = (size_t)mutate_get(data + at + 6, 2);
        if (n < 8 || n > f->end - at) {
            return size;
        }
        to = i <= place ? at : to;
        if (i == skip || n > f->end - at - n) {
            break;
        }
        at += n;
    }
    if (n == 0 || n > MUTATE_RECORD || at + n > f->end) {
        return size;
    }
    memcpy(one, data + at, n);
    if (how == 0) {
        return mutate_splice(data, size, max, f, at, n, NULL, 0);
    }
    if (how == 1) {
        return mutate_splice(data, size, max, f, to, 0, one, n);
    }
    return mutate_splice(data, size, max, f, at, n, one, mutate_record(one, n));
}

static inline size_t mutate_feature(uint8_t *data, size_t size, size_t max,
                                    const struct mutate_file *f)
{
    static uint8_t content[8192];
    size_t s = f->section[mutate_random(f->n)];

    if (s + 16 > size || !mutate_inside(data, size, s)) {
        return size;
    }
    size_t at = (size_t)mutate_get(data + s, 8), n = (size_t)mutate_get(data + s + 8, 8);
    if (n > sizeof content || n == 0) {
        return size;
    }
    memcpy(content, data + at, n);
    size_t now = n;
    if (mutate_random(2)) {
        mutate_numbers(content, n);
    } else {
        now = LLVMFuzzerMutate(content, n, sizeof content);
    }
    return mutate_splice(data, size, max, f, at, n, content, now);
}

static inline size_t mutate_perfdata(uint8_t *data, size_t size, size_t max)
{
    struct mutate_file f;

    if (!mutate_open(data, size, &f) || mutate_random(32) == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    unsigned how = mutate_random(16);
    if (how < 10 || f.n == 0) {
        return mutate_records(data, size, max, &f);
    }
    if (how < 14) {
        return mutate_feature(data, size, max, &f);
    }
    if (how == 14) { /* the attributes' numbers */
        size_t at = (size_t)mutate_get(data + PERF_HEADER_ATTRS, 8);
        mutate_numbers(data + at, (size_t)mutate_get(data + PERF_HEADER_ATTRS + 8, 8));
    } else {
        mutate_numbers(data + 8, PERF_HEADER_BYTES - 8);
    }
    return size;
}

#endif
