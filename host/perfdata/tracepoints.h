/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events and readings of queues in perf.data: perf's own tracepoints, and two of mkperf's.
 *
 * Owns: their numbers and the positions of their fields, once for writer and reader. A switch is
 * sched:sched_switch with two more fields (reason, prev_known); every other event is mkperf:sched. A reading is mkperf:queue.
 * sched:sched_wakeup, sched:sched_stat_runtime, lock:contention_begin and lock:contention_end (of the
 * kernel's lock, if there are several cores) are derived from these for perf; the reader skips them.
 * perf adds run times up, so each PD has one record of it per round. A gap is a LOST record with the tid
 * MKPERF_TRACE_GAP in its trailer and the time of its end; perf reports it as lost events.
 *
 * A PD has its pid; the idle thread is pid 0, as on Linux. prev_state is the state that perf shows of a
 * thread that stopped: R it was preempted, S it waits for a message or notification, D it waits for a
 * reply, T its budget is used up, or it faulted or was suspended.
 */
#ifndef MKPERF_HOST_PERFDATA_TRACEPOINTS_H
#define MKPERF_HOST_PERFDATA_TRACEPOINTS_H

#include "base/outfile.h"
#include <mkperf/sched.h>

/*
 * Compressed records of perf.data (PERF_RECORD_COMPRESSED), in both directions.
 *
 * A compressed record holds a part of one zstd stream. Its contents are ordinary records:
 *
 *     file   | head | COMPRESSED | COMPRESSED | COMPRESSED | tail |
 *     stream        [ part 1     |  part 2    |  part 3     ...     (it is never ended)
 *     records       SAMPLE SAMPLE|SAMPLE SAMPLE ...
 *
 * Each part is flushed, so a file whose writer was killed can be read up to its last part. perf ends with
 * an error if a part yields no bytes; therefore a part holds at most PART_BYTES of records, which always
 * fit into one compressed record. A part of ours begins and ends with a whole record where records are
 * smaller than that. A record of perf's may continue in the next part.
 *
 * Owns: the two zstd contexts and their buffers. The writer and recovery use the compressor's counts; the
 * reader and recovery use the other direction. Nothing that is read is trusted: memory is bounded by
 * INFLATE_BYTES and by zstd's window of at most 128 MiB (that of its highest level), time by
 * MKPERF_INFLATE_RATIO.
 */

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

enum {
    MKPERF_COMPRESSED_PART =
        64000, /* most bytes of records in a compressed record that mkperf writes */
    /* A stream that yields more than RATIO times its size, and FREE bytes, is refused. */
    MKPERF_INFLATE_RATIO = 1024,
    MKPERF_INFLATE_FREE = 16 << 20,
};

/* ---- writing ---- */

/* Bytes of records, and bytes of the compressed records that contain them. */
struct perfdata_compressed {
    uint64_t bytes, written;
};

struct perfdata_compressor {
    struct ZSTD_CCtx_s *stream;
    struct mkperf_outfile *out;
    uint8_t *record; /* room for one compressed record */
    struct perfdata_compressed counts;
};

/* Makes *out compress all records that leave its buffer from now on. level: 1 to 22. */
void perfdata_compress_begin(struct perfdata_compressor *c, struct mkperf_outfile *out, int level);
/* Flushes *out, and ends its compression. */
void perfdata_compress_end(struct perfdata_compressor *c);
void perfdata_compress_free(struct perfdata_compressor *c);

/* ---- reading ---- */

struct perfin_inflate {
    struct ZSTD_DCtx_s *stream; /* NULL: the file has had no compressed record */
    uint8_t *part;              /* the compressed bytes of the last record */
    size_t part_bytes, part_used;
    uint8_t *buffer; /* records; the bytes from `at` to `filled` have not been taken */
    size_t at, filled;
    uint64_t in, out; /* bytes so far */
};

/* Takes the contents of one compressed record, n bytes below 64 KiB. perfin_inflate_next has returned NULL for
 * the record before. */
void perfin_inflate_feed(struct perfin_inflate *f, const uint8_t *p, size_t n);
/*
 * The next whole record, at least 8 bytes in *size; valid until the next call. NULL: there is none before
 * the next part, or the contents are damaged: then *problem is the reason, else NULL.
 */
const uint8_t *perfin_inflate_next(struct perfin_inflate *f, size_t *size, const char **problem);
/* Whether the last part ended within a record. */
bool perfin_inflate_is_cut(const struct perfin_inflate *f);
void perfin_inflate_free(struct perfin_inflate *f);

enum { PERF_TYPE_TRACEPOINT = 2, MKPERF_TRACE_GAP = 1000 };

enum mkperf_trace_point {
    MKPERF_TRACE_SWITCH,
    MKPERF_TRACE_WAKEUP,
    MKPERF_TRACE_RUNTIME,
    MKPERF_TRACE_SCHED,
    MKPERF_TRACE_ONE_CORE, /* a target with one core has the tracepoints before this */
    MKPERF_TRACE_LOCK_BEGIN = MKPERF_TRACE_ONE_CORE,
    MKPERF_TRACE_LOCK_END,
    MKPERF_TRACE_NO_QUEUES, /* a target without known queues has those before this */
    MKPERF_TRACE_QUEUE = MKPERF_TRACE_NO_QUEUES,
    MKPERF_TRACE_POINTS,
};

enum { MKPERF_TRACE_ID = 1001 }; /* the id of the first one's samples; the others follow */

enum mkperf_trace_layout { /* positions in the raw data, and its size */
                           TRACE_COMMON_PID = 4,
                           TRACE_COMM_BYTES = 16,
                           TRACE_SWITCH_PREV = 24,
                           TRACE_SWITCH_NEXT = 56,
                           TRACE_SWITCH_REASON = 64,
                           TRACE_SWITCH_KNOWN = 68,
                           TRACE_SWITCH_BYTES = 72,
                           TRACE_WAKEUP_BYTES = 36,
                           TRACE_RUNTIME_BYTES = 48,
                           TRACE_SCHED_PID = 24,
                           TRACE_SCHED_KIND = 28,
                           TRACE_SCHED_IRQ = 32,
                           TRACE_SCHED_KNOWN = 36,
                           TRACE_SCHED_BYTES = 40,
                           TRACE_LOCK_BYTES = 20,
                           TRACE_QUEUE_NUMBER = 8,
                           TRACE_QUEUE_HEAD = 16,
                           TRACE_QUEUE_TAIL = 24,
                           TRACE_QUEUE_BYTES = 32,
};

enum mkperf_prev_state {
    MKPERF_PREV_RUNS = 0,    /* R */
    MKPERF_PREV_WAITS = 1,   /* S */
    MKPERF_PREV_CALLS = 2,   /* D */
    MKPERF_PREV_STOPPED = 4, /* T */
};
enum mkperf_prev_state mkperf_trace_prev_state(enum mkperf_sched_reason reason);

/* The number of the tracepoint in its attribute and in its raw data. */
unsigned mkperf_trace_number(enum mkperf_trace_point point);

/* The n bytes of the feature HEADER_TRACING_DATA, to be freed: the formats of the first `npoints`. */
char *mkperf_trace_formats(unsigned npoints, size_t *n);

#endif
