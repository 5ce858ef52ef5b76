/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.data's layout for pipes: what a file has in its head and tail, as records.
 *
 * Owns: those records. Called by the writer in place of writer_head.c's functions. perf refuses
 * unknown features in a pipe, so mkperf's own are records of a kind that perf skips.
 */

#include "writer_internal.h"

enum { OWN_TEXT_MAX = 32 * 1024 }; /* of a record; a multiple of 8 */

/* A record of a number and n bytes. */
static enum mkperf_status put_record(struct mkperf_perfdata *w, unsigned type, uint64_t number,
                                     const char *p, size_t n, struct mkperf_error *e)
{
    struct mkperf_put c = perfdata_begin(&w->out, type, 0, e);

    if (c.p == NULL) {
        return e->status;
    }
    mkperf_put64(&c, number);
    mkperf_put_bytes(&c, p, n);
    return perfdata_end(&w->out, c);
}

static enum mkperf_status put_own(struct mkperf_perfdata *w, const struct perfdata_feature *f,
                                  struct mkperf_error *e)
{
    for (size_t at = 0; at < f->size; at += OWN_TEXT_MAX) {
        size_t n = f->size - at < OWN_TEXT_MAX ? f->size - at : OWN_TEXT_MAX;
        if (put_record(w, PERF_RECORD_HEADER_EVENT_TYPE, f->bit, f->text + at, n, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

/* The record has only the size of what follows it. */
static enum mkperf_status put_formats(struct mkperf_perfdata *w, const struct perfdata_feature *f,
                                      struct mkperf_error *e)
{
    uint8_t record[12];
    struct mkperf_put c = {record};

    perfdata_record(&c, PERF_RECORD_HEADER_TRACING_DATA, 0, sizeof record);
    mkperf_put32(&c, (uint32_t)((f->size + 7) / 8 * 8));
    if (mkperf_outfile_write(&w->out, record, sizeof record, e) != MKPERF_OK ||
        mkperf_outfile_write(&w->out, f->text, f->size, e) != MKPERF_OK) {
        return e->status;
    }
    return mkperf_outfile_write(&w->out, "\0\0\0\0\0\0\0", -f->size % 8, e);
}

enum mkperf_status perfdata_pipe_features(struct mkperf_perfdata *w, struct mkperf_error *e)
{
    enum mkperf_status status = MKPERF_OK;

    for (unsigned i = 0; status == MKPERF_OK && i < w->head.n; i++) {
        const struct perfdata_feature *f = &w->head.at[i];
        if (f->bit == HEADER_BUILD_ID) { /* its entries are records */
            status = mkperf_outfile_write(&w->out, f->text, f->size, e);
        } else if (f->bit == HEADER_TRACING_DATA) {
            status = put_formats(w, f, e);
        } else if (f->bit == MKPERF_PERFDATA_SESSION || f->bit == MKPERF_PERFDATA_TOTALS) {
            status = put_own(w, f, e);
        } else {
            status = put_record(w, PERF_RECORD_HEADER_FEATURE, f->bit, f->text, f->size, e);
        }
    }
    perfdata_features_free(&w->head);
    return status;
}

enum mkperf_status perfdata_pipe_head(struct mkperf_perfdata *w, struct mkperf_error *e)
{
    uint8_t header[PERF_PIPE_HEADER_BYTES];
    struct mkperf_put c = {header};

    mkperf_put_padded(&c, "PERFILE2", 8, 8);
    mkperf_put64(&c, PERF_PIPE_HEADER_BYTES);
    if (mkperf_outfile_write(&w->out, header, sizeof header, e) != MKPERF_OK) {
        return e->status;
    }
    for (unsigned i = 0; i < w->session.nevents; i++) {
        if (perfdata_event_announce(w, i, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return perfdata_trace_announce(w, e) == MKPERF_OK ? perfdata_pipe_features(w, e) : e->status;
}
