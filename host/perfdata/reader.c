/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the walk over a file's records, and the totals; see perfdata.h. An event's attributes define the
 * fields of a record. struct perfin_cursor takes them one after the other.
 */
#include "perfdata_internal.h"

static enum mkperf_status read_lost(struct perfin_reader *r, struct perfin_cursor c, unsigned type)
{
    const struct perfin_attr *a = &r->frame.first;
    struct mkperf_lost lost = {.where = MKPERF_LOST_RING};
    uint32_t tid = 0;

    if (type == PERF_RECORD_LOST) {
        perfin_take64(&c);
    }
    lost.samples = perfin_take64(&c);
    if (c.cut) {
        return perfin_fail(r, "a LOST record is cut");
    }
    if (a->flags & PERF_ATTR_SAMPLE_ID_ALL) { /* the trailer: thread, time and core */
        uint64_t fields = a->sample_type;
        if (fields & PERF_SAMPLE_TID) {
            perfin_take(&c, 4);
            tid = perfin_take32(&c);
        }
        lost.time_ns = fields & PERF_SAMPLE_TIME ? perfin_take64(&c) : 0;
        perfin_take(&c,
                    (fields & PERF_SAMPLE_ID ? 8 : 0) + (fields & PERF_SAMPLE_STREAM_ID ? 8 : 0));
        lost.core = fields & PERF_SAMPLE_CPU ? perfin_take32(&c) : 0;
    }
    if (r->session.native && type == PERF_RECORD_LOST && tid == MKPERF_TRACE_GAP) {
        return perfin_read_gap(r, lost.samples, lost.time_ns, lost.core);
    }
    if (r->session.native && tid < MKPERF_LOST_PLACES) {
        lost.where = (enum mkperf_lost_where)tid;
    }
    r->seen.lost[lost.where] += lost.samples;
    if (lost.core < MKPERF_MAX_CORES) {
        r->seen.core[lost.core].lost[lost.where] += lost.samples;
    }
    return mkperf_sink_lost(r->sink, &lost, r->e);
}

static enum mkperf_status read_record(struct perfin_reader *r, struct perfin_cursor c,
                                      unsigned type, unsigned misc)
{
    if (!r->began && (type == PERF_RECORD_SAMPLE || type == PERF_RECORD_LOST ||
                      type == PERF_RECORD_LOST_SAMPLES || type == PERF_RECORD_FINISHED_ROUND)) {
        MKPERF_TRY(perfin_begin(r)); /* they are passed on */
    }
    switch (type) {
    case PERF_RECORD_SAMPLE:
        return perfin_read_sample(r, c, misc);
    case PERF_RECORD_COMM:
        return perfin_read_comm(r, c);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        return perfin_read_map(r, c, type == PERF_RECORD_MMAP2, misc);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        return read_lost(r, c, type);
    case PERF_RECORD_HEADER_ATTR:
        return perfin_read_attr(r, c);
    case PERF_RECORD_EVENT_UPDATE:
        return perfin_read_event_name(r, c);
    case PERF_RECORD_HEADER_FEATURE:
    case PERF_RECORD_HEADER_EVENT_TYPE:
        return perfin_keep_feature(&r->frame, type, c.p, c.n)
                   ? MKPERF_OK
                   : perfin_fail(r, "a feature is cut, or too long");
    case PERF_RECORD_HEADER_TRACING_DATA: /* the formats follow, which are known */
        return r->frame.has_trace ? MKPERF_OK
                                  : perfin_fail(r, "trace points; only perf reads them");
    case PERF_RECORD_FINISHED_ROUND:
        return mkperf_sink_flush(r->sink, r->e);
    default:
        return MKPERF_OK;
    }
}

/*
 * Reads the records in a compressed record. Two kinds, AUXTRACE and HEADER_TRACING_DATA, have data behind them in the file, so
 * they are refused here.
 */
static enum mkperf_status read_compressed(struct perfin_reader *r, struct perfin_cursor c,
                                          unsigned type)
{
    const char *problem;
    const uint8_t *p;
    size_t size;

    if (type == PERF_RECORD_COMPRESSED2) { /* it begins with its size without padding */
        uint64_t n = perfin_take64(&c);
        if (c.cut || n > c.n) {
            return perfin_fail(r, "a compressed record is cut");
        }
        c.n = (size_t)n;
    }
    perfin_inflate_feed(&r->inflate, c.p, c.n);
    while ((p = perfin_inflate_next(&r->inflate, &size, &problem)) != NULL) {
        type = mkperf_get32(p);
        if (type == PERF_RECORD_COMPRESSED || type == PERF_RECORD_COMPRESSED2 ||
            type == PERF_RECORD_AUXTRACE || type == PERF_RECORD_HEADER_TRACING_DATA) {
            return perfin_fail(r, "a record of a kind that cannot be compressed");
        }
        if (read_record(r, (struct perfin_cursor){.p = p + 8, .n = size - 8}, type,
                        p[4] | (unsigned)p[5] << 8) != MKPERF_OK) {
            return r->e->status;
        }
    }
    r->damaged = problem != NULL && r->frame.unfinished;
    return problem == NULL || r->damaged ? MKPERF_OK : perfin_fail(r, problem);
}

enum mkperf_status perfin_next_record(struct perfin_reader *r, uint64_t *extent)
{
    uint64_t left = r->frame.data.offset + r->frame.data.size - r->offset;
    const uint8_t *p = left >= 8 ? perfin_at(&r->bytes, r->offset, 8) : NULL;
    unsigned type = p ? mkperf_get32(p) : 0;
    size_t size = p ? mkperf_get16(p + PERF_RECORD_SIZE_AT) : 0;

    *extent = size >= 8 && size <= left ? size : 0;
    /* Data follow records of two kinds, of which these have the size. */
    size_t number = type == PERF_RECORD_AUXTRACE              ? 8
                    : type == PERF_RECORD_HEADER_TRACING_DATA ? 4
                                                              : 0;
    if (number != 0 && *extent != 0) {
        const uint8_t *head = size >= 8 + number ? perfin_at(&r->bytes, r->offset, 8 + number)
                                                 : NULL;
        uint64_t data = head ? mkperf_get_number(head + 8, number) : UINT64_MAX;
        *extent = data > left - size ? 0 : size + data;
    }
    if (*extent == 0) {
        bool cut = r->frame.unfinished && !(r->frame.pipe && p && size < 8);
        return cut ? MKPERF_OK : perfin_fail(r, "a record of impossible size");
    }
    /* A pipe's first records describe its session. */
    if (!r->session.known &&
        (!r->frame.pipe || type < PERF_RECORD_HEADER_ATTR || type > PERF_RECORD_HEADER_FEATURE ||
         type == PERF_RECORD_FINISHED_ROUND)) {
        MKPERF_TRY(perfin_read_session(r));
    }
    p = perfin_at(&r->bytes, r->offset, size);
    if (!p) {
        *extent = 0;
        return r->frame.pipe ? MKPERF_OK
                             : perfin_fail(r, "the file became shorter while it was read");
    }
    struct perfin_cursor c = {.p = p + 8, .n = size - 8};
    if (type != PERF_RECORD_COMPRESSED && type != PERF_RECORD_COMPRESSED2) {
        return read_record(r, c, type, p[4] | (unsigned)p[5] << 8);
    }
    enum mkperf_status status = read_compressed(r, c, type);
    *extent = r->damaged ? 0 : *extent;
    return status;
}

static enum mkperf_status read_records(struct perfin_reader *r)
{
    uint64_t end = r->frame.data.offset + r->frame.data.size, extent = 1;

    for (r->offset = r->frame.data.offset; r->offset < end && extent > 0; r->offset += extent) {
        MKPERF_TRY(perfin_next_record(r, &extent));
    }
    if (!r->frame.unfinished && r->inflate.at != r->inflate.filled) {
        return perfin_fail(r, "the compressed records end within a record");
    }
    r->offset = r->offset < r->bytes.size ? r->offset : r->bytes.size;
    MKPERF_TRY(perfin_read_session(r));
    return r->frame.pipe ? perfin_read_totals(r) : MKPERF_OK;
}

static struct mkperf_totals totals_of(const struct perfin_reader *r)
{
    struct mkperf_totals t = r->session.totals;

    if (!r->session.has_totals || t.samples != r->seen.samples) {
        t.complete = false;
        t.samples = r->seen.samples;
        t.first_ns = r->seen.first_ns;
        t.last_ns = r->seen.last_ns;
    }
    t.complete &= !r->session.damaged;
    t.marks = r->seen.marks;
    t.sched_events = r->seen.sched_events;
    t.queue_readings = r->seen.queue_readings;
    /* The end of a pipe's data is known only from the totals, which only mkperf writes. */
    t.cut_bytes = r->bytes.size != UINT64_MAX && r->frame.unfinished ? r->bytes.size - r->offset
                                                                     : 0;
    t.cut = r->frame.pipe ? !r->session.has_totals : r->frame.unfinished;
    t.recoverable = r->frame.indexed;
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (t.lost[i] < r->seen.lost[i]) {
            t.lost[i] = r->seen.lost[i];
        }
    }
    return t;
}

void perfin_free(struct perfin_reader *r)
{
    free(r->sched_ns);
    perfin_inflate_free(&r->inflate);
    perfin_free_session(&r->session);
    perfin_free_frame(&r->frame);
    perfin_close(&r->bytes);
}

/* Reads a file, if it is open. */
static enum mkperf_status read_file(struct perfin_reader *r, const struct mkperf_sink *sink,
                                    bool open)
{
    r->checked = mkperf_sink_in_order(*sink, &r->order);
    r->sink = &r->checked;
    bool read = open && perfin_read_frame(&r->bytes, &r->frame, false, r->e) == MKPERF_OK &&
                read_records(r) == MKPERF_OK && perfin_begin(r) == MKPERF_OK;
    const struct mkperf_totals totals = totals_of(r);
    enum mkperf_status status =
        mkperf_sink_finish(r->sink, read ? MKPERF_OK : r->e->status, &totals, r->e);

    perfin_free(r);
    return status;
}

enum mkperf_status mkperf_perfdata_read_memory(const char *name, const void *p, size_t n,
                                               const struct mkperf_sink *sink,
                                               struct mkperf_error *e)
{
    struct perfin_reader r = {.bytes = {.path = name, .memory = p, .size = n, .fd = -1}, .e = e};

    return read_file(&r, sink, true);
}

enum mkperf_status mkperf_perfdata_read(const char *path, int fd, const struct mkperf_sink *sink,
                                        struct mkperf_error *e)
{
    struct perfin_reader r = {.e = e};

    return read_file(&r, sink, perfin_open(&r.bytes, path, fd, e) == MKPERF_OK);
}
