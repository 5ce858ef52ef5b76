/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finishing a perf.data file whose writer died: keep whole records, count them, write the tail.
 *
 * Owns: reading the writer's records. Called by `mkperf recover`. A truncated record, and the
 * writer's buffer, are lost. Memory does not grow with the file.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/get.h"
#include "base/progress.h"
#include "writer_internal.h"

#define PARTIAL ".partial"

struct reader {
    const char *path;
    FILE *f;
    uint64_t size;
    uint64_t data, end; /* of whole records */
    struct perfdata_features features;
};

static enum mkperf_status bad(struct reader *r, uint64_t at, const char *why,
                              struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: offset %llu: %s", r->path,
                            (unsigned long long)at, why);
}

static bool read_at(struct reader *r, uint64_t at, uint8_t *p, size_t n)
{
    return at <= r->size && n <= r->size - at && fseeko(r->f, (off_t)at, SEEK_SET) == 0 &&
           fread(p, 1, n, r->f) == n;
}

static enum mkperf_status read_head(struct reader *r, struct mkperf_error *e)
{
    uint8_t header[PERF_HEADER_BYTES], entry[24];

    if (!read_at(r, 0, header, sizeof header) || memcmp(header, "PERFILE2", 8) != 0) {
        return bad(r, 0, "no perf.data header (the writer died before the first record?)", e);
    }
    if (mkperf_get64(header + 8) == PERF_PIPE_HEADER_BYTES) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: a pipe's layout: needs no finishing",
                                r->path);
    }
    uint64_t at = mkperf_get64(header + 24) + mkperf_get64(header + 32);
    r->data = mkperf_get64(header + PERF_HEADER_DATA);
    if (!read_at(r, at, entry, 16) || memcmp(entry, MKPERF_PERFDATA_INDEX, 8) != 0) {
        return bad(r, at, "not a file that mkperf wrote", e);
    }
    uint64_t n = mkperf_get64(entry + 8), size = mkperf_get64(header + PERF_HEADER_DATA + 8);
    if (size != 0 && r->data <= r->size && size < r->size - r->data) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: is finished, nothing to do", r->path);
    }
    if (n > PERF_FEATURES_MAX - 2 || r->data < at || r->data > r->size) {
        return bad(r, at + 8, "a damaged index", e);
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t here = at + 16 + 24 * i;
        if (!read_at(r, here, entry, sizeof entry) || mkperf_get64(entry) >= HEADER_FEAT_BITS ||
            mkperf_get64(entry + 8) > r->data ||
            mkperf_get64(entry + 16) > r->data - mkperf_get64(entry + 8)) {
            return bad(r, here, "a damaged index", e);
        }
        perfdata_features_at(&r->features, (unsigned)mkperf_get64(entry), mkperf_get64(entry + 8),
                             mkperf_get64(entry + 16));
    }
    return MKPERF_OK;
}

static void note_time(struct mkperf_totals *t, uint64_t time)
{
    bool first = t->samples == 0 && t->sched_events == 0;

    t->first_ns = first || time < t->first_ns ? time : t->first_ns;
    t->last_ns = time > t->last_ns ? time : t->last_ns;
}

/* A sample of a tracepoint; those that are derived count for nothing. */
static void count_sched(const uint8_t *record, struct mkperf_totals *t)
{
    uint64_t point = mkperf_get64(record + PERF_SAMPLE_ID_AT) - MKPERF_TRACE_ID;

    if (point == MKPERF_TRACE_SWITCH || point == MKPERF_TRACE_SCHED) {
        note_time(t, mkperf_get64(record + PERF_TRACE_TIME_AT));
        t->sched_events++;
    }
}

static void count(const uint8_t *record, size_t size, struct mkperf_totals *t)
{
    unsigned type = mkperf_get32(record);

    if (type == PERF_RECORD_SAMPLE && size >= PERF_SAMPLE_TIME_AT &&
        mkperf_get64(record + PERF_SAMPLE_ID_AT) - MKPERF_TRACE_ID < MKPERF_TRACE_POINTS) {
        count_sched(record, t);
    } else if (type == PERF_RECORD_SAMPLE && size >= PERF_SAMPLE_CPU_AT + 4 &&
               mkperf_get64(record + PERF_SAMPLE_ID_AT) == MKPERF_PERFDATA_MARK) {
        t->marks++;
    } else if (type == PERF_RECORD_SAMPLE && size >= PERF_SAMPLE_CPU_AT + 4) {
        uint64_t time = mkperf_get64(record + PERF_SAMPLE_TIME_AT);
        note_time(t, time);
        t->samples++;
        uint32_t core = mkperf_get32(record + PERF_SAMPLE_CPU_AT);
        if (core < MKPERF_MAX_CORES) {
            t->core[core].samples++;
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

/* Sets r->end to the end of the last whole record of a type that the writer uses. */
static void scan(struct reader *r, struct mkperf_totals *t)
{
    static uint8_t record[UINT16_MAX + 1];

    r->end = r->data;
    if (fseeko(r->f, (off_t)r->data, SEEK_SET) != 0) {
        return;
    }
    while (r->size - r->end >= 8 && fread(record, 1, 8, r->f) == 8) {
        size_t size = record[6] | (size_t)record[7] << 8;
        unsigned type = mkperf_get32(record);
        if (size < 8 || size % 8 != 0 || size > r->size - r->end || type == 0 ||
            type > PERF_RECORD_EVENT_UPDATE || fread(record + 8, 1, size - 8, r->f) != size - 8) {
            return;
        }
        count(record, size, t);
        r->end += size;
        mkperf_progress_bytes(r->end, r->size);
    }
}

static enum mkperf_status copy(struct reader *r, struct mkperf_outfile *out, struct mkperf_error *e)
{
    static uint8_t block[64 * 1024];
    uint64_t at = 0;

    while (at < r->end) {
        size_t n = r->end - at < sizeof block ? (size_t)(r->end - at) : sizeof block;
        if (!read_at(r, at, block, n)) {
            return bad(r, at, strerror(errno), e);
        }
        if (mkperf_outfile_write(out, block, n, e) != MKPERF_OK) {
            return e->status;
        }
        at += n;
        mkperf_progress_bytes(at, r->end);
    }
    return MKPERF_OK;
}

static enum mkperf_status finish(struct reader *r, struct mkperf_outfile *out,
                                 const struct mkperf_totals *totals, struct mkperf_error *e)
{
    perfdata_totals_add(&r->features, totals, true, NULL);
    if (perfdata_kernel_dummy(out, totals->last_ns, e) != MKPERF_OK ||
        perfdata_tail_write(out, r->data, &r->features, e) != MKPERF_OK) {
        mkperf_outfile_close(out);
        return e->status;
    }
    return mkperf_outfile_finish(out, e);
}

static enum mkperf_status finish_copy(struct reader *r, const char *to,
                                      const struct mkperf_totals *totals, struct mkperf_error *e)
{
    struct mkperf_outfile out;

    if (mkperf_outfile_open_private(&out, to, e) != MKPERF_OK) {
        return e->status;
    }
    if (copy(r, &out, e) != MKPERF_OK) {
        mkperf_outfile_close(&out);
        return e->status;
    }
    return finish(r, &out, totals, e);
}

/* The name that the writer would have given: without ".partial". */
static enum mkperf_status finish_in_place(struct reader *r, const struct mkperf_totals *totals,
                                          struct mkperf_error *e)
{
    char to[PERF_PATH_MAX];
    struct mkperf_outfile out;
    size_t n = strlen(r->path), suffix = strlen(PARTIAL);

    if (n >= sizeof to) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: path too long", r->path);
    }
    memcpy(to, r->path, n + 1);
    if (n > suffix && strcmp(to + n - suffix, PARTIAL) == 0) {
        to[n - suffix] = '\0';
    }
    if (mkperf_outfile_adopt(&out, r->path, r->end, to, e) != MKPERF_OK) {
        return e->status;
    }
    return finish(r, &out, totals, e);
}

static bool same_file(struct reader *r, const char *path)
{
    struct stat a, b;

    return fstat(fileno(r->f), &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Whether a copy to `to` would overwrite the input: then it is finished in place. */
static bool in_place(struct reader *r, const char *to)
{
    char partial[PERF_PATH_MAX + sizeof PARTIAL];

    if (to == NULL || same_file(r, to)) {
        return true;
    }
    snprintf(partial, sizeof partial, "%s" PARTIAL, to);
    return same_file(r, partial);
}

static enum mkperf_status recover(struct reader *r, const char *to, struct mkperf_totals *totals,
                                  struct mkperf_error *e)
{
    struct stat st;

    if (fstat(fileno(r->f), &st) != 0 || !S_ISREG(st.st_mode)) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: not a regular file", r->path);
    }
    r->size = (uint64_t)st.st_size;
    if (read_head(r, e) != MKPERF_OK) {
        return e->status;
    }
    scan(r, totals);
    return in_place(r, to) ? finish_in_place(r, totals, e) : finish_copy(r, to, totals, e);
}

enum mkperf_status mkperf_perfdata_recover(const char *path, const char *out,
                                           struct mkperf_totals *totals, struct mkperf_error *e)
{
    struct reader r = {.path = path, .f = fopen(path, "rbe")};

    *totals = (struct mkperf_totals){0};
    if (r.f == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    enum mkperf_status status = recover(&r, out, totals, e);
    perfdata_features_free(&r.features);
    (void)fclose(r.f); /* only read */
    return status;
}
