/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recovery of a perf.data file whose writer died: keeps whole records, counts them, and writes the end.
 *
 * Owns: reading the writer's records. Called by `mkperf recover`. A truncated record and the writer's
 * buffer are lost, and so are all compressed records from the first damaged one on. Memory does not
 * grow with the file.
 */
#include "reader_internal.h"

#include "writer_internal.h"

#define PARTIAL ".partial"

enum { COPY_BYTES = 64 * 1024 };

struct reader {
    struct perfin_bytes bytes;
    uint64_t data; /* offset of the first record */
    uint64_t end;  /* offset after the last whole record */
    bool weights;  /* samples have a weight, which is their last member */
    struct perfin_inflate inflate;
    struct perfdata_compressed compressed; /* counts up to `end` */
    struct perfdata_features features;
};

static void count_record(const struct reader *r, const uint8_t *record, size_t size,
                         struct mkperf_totals *t)
{
    unsigned type = mkperf_get32(record);

    if (type == PERF_RECORD_SAMPLE && size >= PERF_SAMPLE_TIME_AT &&
        mkperf_get64(record + PERF_SAMPLE_ID_AT) - MKPERF_TRACE_ID < MKPERF_TRACE_POINTS) {
        /* Counts a sample of a tracepoint, unless the writer derived it from others. */
        uint64_t point = mkperf_get64(record + PERF_SAMPLE_ID_AT) - MKPERF_TRACE_ID;
        if (point == MKPERF_TRACE_SWITCH || point == MKPERF_TRACE_SCHED) {
            perfin_note_time(t, mkperf_get64(record + PERF_TRACE_TIME_AT));
            t->sched_events++;
        } else if (point == MKPERF_TRACE_QUEUE) {
            perfin_note_time(t, mkperf_get64(record + PERF_TRACE_TIME_AT));
            t->queue_readings++;
        }
    } else if (type == PERF_RECORD_SAMPLE && size >= PERF_SAMPLE_CPU_AT + 4 &&
               mkperf_get64(record + PERF_SAMPLE_ID_AT) == MKPERF_PERFDATA_MARK) {
        t->marks++;
    } else if (type == PERF_RECORD_SAMPLE && size >= PERF_SAMPLE_CPU_AT + 4) {
        uint64_t time = mkperf_get64(record + PERF_SAMPLE_TIME_AT);
        perfin_note_time(t, time);
        uint64_t count = r->weights ? mkperf_get64(record + size - 8) : 1;
        t->samples += count;
        uint32_t core = mkperf_get32(record + PERF_SAMPLE_CPU_AT);
        if (core < MKPERF_MAX_CORES) {
            t->core[core].samples += count;
            t->ncores = core >= t->ncores ? core + 1 : t->ncores;
        }
    } else if (type == PERF_RECORD_LOST_SAMPLES && size >= PERF_LOST_CPU_AT + 4) {
        uint32_t place = mkperf_get32(record + PERF_LOST_PLACE_AT),
                 core = mkperf_get32(record + PERF_LOST_CPU_AT);
        uint64_t lost = mkperf_get64(record + PERF_LOST_COUNT_AT);
        place = place < MKPERF_LOST_PLACES ? place : 0;
        t->lost[place] += lost;
        if (core < MKPERF_MAX_CORES) {
            t->core[core].lost[place] += lost;
        }
    }
}

/* Returns whether the writer writes records of this type and size. */
static bool is_ours(unsigned type, size_t size)
{
    return size >= 8 && size % 8 == 0 && type != 0 && type <= PERF_RECORD_EVENT_UPDATE;
}

/*
 * Sets r->end and *t to the end of the last whole record of a type that the writer uses. Compressed
 * records that end within a record, which a later one was to continue, are not kept.
 */
static void scan_records(struct reader *r, struct mkperf_totals *t)
{
    struct mkperf_totals now = *t;
    uint64_t at = r->data;
    const char *problem;
    const uint8_t *p;

    r->end = at;
    while ((p = perfin_at(&r->bytes, at, 8)) != NULL) {
        size_t size = mkperf_get16(p + PERF_RECORD_SIZE_AT);
        unsigned type = mkperf_get32(p);
        bool compressed = type == PERF_RECORD_COMPRESSED && size > 8;
        bool within = perfin_inflate_is_cut(&r->inflate);
        if ((!compressed && (within || !is_ours(type, size))) ||
            (p = perfin_at(&r->bytes, at, size)) == NULL) {
            return;
        }
        at += size;
        if (!compressed) {
            count_record(r, p, size, t);
            r->end = at;
            continue;
        }
        if (!within) {
            now = *t;
        }
        perfin_inflate_feed(&r->inflate, p + 8, size - 8);
        while ((p = perfin_inflate_next(&r->inflate, &size, &problem)) != NULL) {
            if (!is_ours(mkperf_get32(p), size)) {
                return;
            }
            count_record(r, p, size, &now);
        }
        if (problem != NULL) {
            return;
        }
        if (!perfin_inflate_is_cut(&r->inflate)) {
            *t = now;
            r->end = at;
            r->compressed = (struct perfdata_compressed){r->inflate.out, r->inflate.in};
        }
    }
}

static enum mkperf_status finish_file(struct reader *r, struct mkperf_outfile *out,
                                      const struct mkperf_totals *totals, struct mkperf_error *e)
{
    perfdata_totals_add(&r->features, totals, true, NULL);
    perfdata_kernel_dummy(out, totals->last_ns);
    perfdata_tail_write(out, r->data, &r->features, &r->compressed);
    return mkperf_outfile_finish(out, e);
}

static enum mkperf_status finish_copy(struct reader *r, const char *to,
                                      const struct mkperf_totals *totals, struct mkperf_error *e)
{
    struct mkperf_outfile out;

    MKPERF_TRY(mkperf_outfile_open(&out, to, true, e));
    for (uint64_t at = 0, n; at < r->end; at += n) {
        n = r->end - at < COPY_BYTES ? r->end - at : COPY_BYTES;
        const uint8_t *p = perfin_at(&r->bytes, at, (size_t)n);
        if (p == NULL) {
            mkperf_outfile_close(&out);
            return perfin_bad(&r->bytes, at, strerror(errno), e);
        }
        mkperf_outfile_write(&out, p, (size_t)n);
    }
    return finish_file(r, &out, totals, e);
}

/* Finishes the file itself, with the name that the writer would have given: without ".partial". */
static enum mkperf_status finish_in_place(struct reader *r, const struct mkperf_totals *totals,
                                          struct mkperf_error *e)
{
    char to[PERF_PATH_MAX];
    struct mkperf_outfile out;
    size_t n = strlen(r->bytes.path), suffix = strlen(PARTIAL);

    if (n >= sizeof to) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: path too long", r->bytes.path);
    }
    memcpy(to, r->bytes.path, n + 1);
    if (n > suffix && strcmp(to + n - suffix, PARTIAL) == 0) {
        to[n - suffix] = '\0';
    }
    MKPERF_TRY(mkperf_outfile_adopt(&out, r->bytes.path, r->end, to, e));
    return finish_file(r, &out, totals, e);
}

static bool same_file(struct reader *r, const char *path)
{
    struct stat a, b;

    return fstat(r->bytes.fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static enum mkperf_status recover(struct reader *r, const char *to, struct mkperf_totals *totals,
                                  struct mkperf_error *e)
{
    if (r->bytes.stream) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: not a regular file", r->bytes.path);
    }
    struct perfin_bytes *b = &r->bytes;
    const uint8_t *p = perfin_at(b, 0, PERF_HEADER_BYTES);
    if (p == NULL || memcmp(p, "PERFILE2", 8) != 0) {
        return perfin_bad(b, 0, "no perf.data header (the writer died before the first record?)",
                          e);
    }
    if (mkperf_get64(p + 8) == PERF_PIPE_HEADER_BYTES) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "%s: it has the layout for pipes and needs no recovery", b->path);
    }
    uint64_t attrs = mkperf_get64(p + PERF_HEADER_ATTRS);
    uint64_t at = attrs + mkperf_get64(p + PERF_HEADER_ATTRS + 8);
    uint64_t size = mkperf_get64(p + PERF_HEADER_DATA + 8);
    r->data = mkperf_get64(p + PERF_HEADER_DATA);
    p = perfin_at(b, attrs, PERF_ATTR_BYTES);
    r->weights = p != NULL && mkperf_get64(p + 24) & PERF_SAMPLE_WEIGHT;
    p = perfin_at(b, at, 16);
    if (p == NULL || memcmp(p, MKPERF_PERFDATA_INDEX, 8) != 0) {
        return perfin_bad(b, at, "not a file that mkperf wrote", e);
    }
    uint64_t n = mkperf_get64(p + 8);
    if (size != 0 && r->data <= b->size && size < b->size - r->data) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: it is complete, nothing to do", b->path);
    }
    if (n > PERF_FEATURES_MAX - 2 || r->data < at || r->data > b->size) {
        return perfin_bad(b, at + 8, "a damaged index", e);
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t here = at + 16 + 24 * i;
        p = perfin_at(b, here, 24);
        if (p == NULL || mkperf_get64(p) >= HEADER_FEAT_BITS || mkperf_get64(p + 8) > r->data ||
            mkperf_get64(p + 16) > r->data - mkperf_get64(p + 8)) {
            return perfin_bad(b, here, "a damaged index", e);
        }
        perfdata_features_at(&r->features, (unsigned)mkperf_get64(p), mkperf_get64(p + 8),
                             mkperf_get64(p + 16));
    }
    scan_records(r, totals);
    /* If a copy to `to` would overwrite the input, the file is finished in place. */
    char partial[PERF_PATH_MAX + sizeof PARTIAL];
    snprintf(partial, sizeof partial, "%s" PARTIAL, to != NULL ? to : "");
    return to == NULL || same_file(r, to) || same_file(r, partial) ? finish_in_place(r, totals, e)
                                                                   : finish_copy(r, to, totals, e);
}

enum mkperf_status mkperf_perfdata_recover(const char *path, const char *out,
                                           struct mkperf_totals *totals, struct mkperf_error *e)
{
    struct reader r = {.end = 0};
    enum mkperf_status status = perfin_open(&r.bytes, path, e);

    *totals = (struct mkperf_totals){0};
    if (status == MKPERF_OK) {
        status = recover(&r, out, totals, e);
    }
    perfdata_features_free(&r.features);
    perfin_inflate_free(&r.inflate);
    perfin_close(&r.bytes);
    return status;
}
