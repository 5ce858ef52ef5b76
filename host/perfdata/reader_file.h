/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf.data file's bytes and its frame: header, attributes, features.
 *
 * Owns: reading with every length checked, through one buffer whatever the file's size. Called by
 * the perf.data decoder's own files and by recovery. Nothing is trusted: a position outside the
 * file, or a size above its limit, is an error with its offset.
 */
#ifndef MKPERF_HOST_PERFDATA_READER_FILE_H
#define MKPERF_HOST_PERFDATA_READER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "base/error.h"
#include "base/get.h"
#include "model/model.h"
#include "tracepoints.h"

enum {
    PERFIN_BUFFER = 1 << 18,      /* holds at least one record (64 KiB) */
    PERFIN_FEATURE_MAX = 1 << 24, /* bytes of a feature that is read */
    PERFIN_IDS_MAX = 1 << 20,     /* sample ids of all events */
};

struct perfin_bytes {
    const char *path;      /* for messages */
    uint64_t size;         /* UINT64_MAX: of a stream whose end was not met */
    bool stream;           /* fd is a stream: offsets only grow */
    const uint8_t *memory; /* all of it, or NULL: fd and buffer */
    int fd;
    uint8_t *buffer;
    uint64_t buffered_at;
    size_t buffered;
};

struct perfin_section {
    uint64_t offset, size;
};

struct perfin_attr {
    uint64_t type, config, period, sample_type, read_format, flags;
    unsigned max_stack;
};

struct perfin_id {
    uint64_t id;
    uint32_t event; /* PERFIN_MARK, PERFIN_TRACE: not one */
    uint64_t count; /* that the last sample with it had, of a group whose counts ride in samples */
};

#define PERFIN_MARK UINT32_MAX
/* The tracepoints of scheduling events: less than MKPERF_TRACE_POINTS above this. */
#define PERFIN_TRACE (UINT32_MAX - 16)

static inline bool perfin_is_trace(uint32_t event)
{
    return event - PERFIN_TRACE < MKPERF_TRACE_POINTS;
}

struct perfin_frame {
    unsigned nattrs;
    struct perfin_attr attr[MKPERF_MODEL_EVENTS];
    struct perfin_attr first;                      /* which record trailers have the form of */
    struct perfin_attr mark;                       /* of the event of marks */
    struct perfin_attr trace[MKPERF_TRACE_POINTS]; /* of the tracepoints */
    bool has_first, has_trace;
    struct perfin_id *id; /* sorted */
    size_t nids;
    struct perfin_section data;
    bool unfinished; /* the writer died: no feature table, data reaches to the file's end */
    bool pipe;       /* recorded into a pipe: all is records, data reaches to the end */
    struct perfin_section feature[HEADER_FEAT_BITS]; /* size 0: absent */
    struct {
        uint8_t *p;
        size_t n;
    } kept[HEADER_FEAT_BITS]; /* of a pipe */
};

/* A file, or a stream; "-" is standard input. perfin_close after an error, too. */
enum mkperf_status perfin_open(struct perfin_bytes *b, const char *path, struct mkperf_error *e);
void perfin_close(struct perfin_bytes *b);

/* n bytes at offset, valid until the next call; NULL if the file does not have them. */
const uint8_t *perfin_at(struct perfin_bytes *b, uint64_t offset, size_t n);

/* MKPERF_ERR_INPUT "path: offset N: reason". */
enum mkperf_status perfin_bad(const struct perfin_bytes *b, uint64_t offset, const char *reason,
                              struct mkperf_error *e);

enum mkperf_status perfin_read_frame(struct perfin_bytes *b, struct perfin_frame *f,
                                     struct mkperf_error *e);
void perfin_free_frame(struct perfin_frame *f);

/* One more event, or marks, from a HEADER_ATTR record: attribute, then ids. False: it is damaged.
 */
bool perfin_more_attrs(struct perfin_frame *f, const uint8_t *p, size_t n);

/* reader_pipe.c: the records before the first of the data. */
enum mkperf_status perfin_read_pipe_head(struct perfin_bytes *b, struct perfin_frame *f,
                                         struct mkperf_error *e);
/* Keeps a feature from a HEADER_FEATURE or HEADER_EVENT_TYPE record. False: cut, or no memory. */
bool perfin_keep_feature(struct perfin_frame *f, unsigned type, const uint8_t *p, size_t n);

/* A feature's bytes with a 0 after them; the caller frees them. NULL if absent or too large. */
uint8_t *perfin_feature(struct perfin_bytes *b, const struct perfin_frame *f, unsigned bit,
                        size_t *n);

#endif
