/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The features of a perf.data file, and its end: the totals and the feature table.
 *
 * Owns: the list of features until they are in the file. In a pipe they are records. perf refuses
 * unknown features in a pipe, so mkperf's own features are records there of a kind that perf skips.
 * Called by the writer and by recovery.
 */
#include "model/figures.h"
#include "perfdata_internal.h"

void perfdata_features_add(struct perfdata_features *f, unsigned bit, const void *p, size_t n)
{
    struct perfdata_feature *added = perfdata_features_at(f, bit, 0, n);

    added->text = mkperf_xcalloc(1, n + 1);
    memcpy(added->text, p, n);
}

struct perfdata_feature *perfdata_features_at(struct perfdata_features *f, unsigned bit,
                                              uint64_t offset, size_t n)
{
    unsigned i = f->n;

    assert(f->n < PERF_FEATURES_MAX && bit < HEADER_FEAT_BITS);
    for (; i > 0 && f->at[i - 1].bit > bit; i--) {
        f->at[i] = f->at[i - 1];
    }
    f->at[i] = (struct perfdata_feature){.bit = bit, .size = n, .offset = offset};
    f->n++;
    return &f->at[i];
}

void perfdata_features_free(struct perfdata_features *f)
{
    for (unsigned i = 0; i < f->n; i++) {
        free(f->at[i].text);
    }
    f->n = 0;
}

size_t perfdata_string(uint8_t *p, const char *text)
{
    size_t n = strnlen(text, PERF_PATH_MAX - 1);
    size_t room = (n + 1 + PERF_STRING_ALIGN - 1) / PERF_STRING_ALIGN * PERF_STRING_ALIGN;
    struct mkperf_put c = {p};

    mkperf_put32(&c, (uint32_t)room);
    mkperf_put_padded(&c, text, n, room);
    return (size_t)(c.p - p);
}

void perfdata_totals_add(struct perfdata_features *f, const struct mkperf_totals *totals,
                         bool recovered, const struct mkperf_perfdata *w)
{
    uint8_t times[16];
    struct mkperf_put c = {times};
    char *text = NULL;
    size_t n;
    FILE *lines = mkperf_memstream_open(&text, &n);

    for (unsigned i = w != NULL ? w->head_events : 0; w != NULL && i < w->session.nevents; i++) {
        perfdata_lines_write(lines, OF_EVENT, i, &w->session.event[i]);
    }
    mkperf_figures_write(totals, recovered, lines);
    for (unsigned i = 0; i < totals->ncores && totals->ncores > 1; i++) {
        perfdata_lines_write(lines, OF_CORE, i, &totals->core[i]);
    }
    if (!recovered) {
        if (totals->fill.size != 0) {
            perfdata_lines_write(lines, OF_FILL, 0, &totals->fill);
        }
        for (unsigned i = 0; i < totals->fill.n; i++) {
            perfdata_lines_write(lines, OF_FILL_POINT, 0, &totals->fill.point[i]);
        }
        const struct mkperf_interactions *a = totals->interactions;
        if (a != NULL) {
            perfdata_lines_write(lines, OF_INTERACTIONS, 0, a);
        }
        for (unsigned i = 0; a != NULL && i < a->nedges; i++) {
            perfdata_lines_write(lines, OF_EDGE, 0, &a->edge[i]);
        }
        for (unsigned i = 0; a != NULL && i < a->npds; i++) {
            perfdata_lines_write(lines, OF_SOFT, 0, &a->pd[i]);
        }
        for (unsigned i = 0; totals->counts != NULL && i < totals->counts->n; i++) {
            perfdata_lines_write(lines, OF_COUNT, 0, &totals->counts->at[i]);
        }
        for (unsigned i = 0; i < totals->nsuspects; i++) {
            perfdata_lines_write(lines, OF_SUSPECT, totals->suspect[i].pd, &totals->suspect[i]);
        }
    }
    for (unsigned i = 0; i < MKPERF_MODEL_EVENTS; i++) {
        if (totals->enabled_ns[i] != 0) {
            fprintf(lines, "counted %u %llu %llu\n", i, (unsigned long long)totals->running_ns[i],
                    (unsigned long long)totals->enabled_ns[i]);
        }
    }
    perfdata_lines_write(lines, OF_TOTALS, 0, totals);
    fprintf(lines, "recovered %d\n", recovered);
    mkperf_memstream_close(lines);
    mkperf_put64(&c, totals->first_ns);
    mkperf_put64(&c, totals->last_ns);
    perfdata_features_add(f, HEADER_SAMPLE_TIME, times, sizeof times);
    perfdata_features_add(f, MKPERF_PERFDATA_TOTALS, text, n);
    free(text);
}

void perfdata_tail_write(struct mkperf_outfile *out, uint64_t data_offset,
                         struct perfdata_features *f, const struct perfdata_compressed *counts)
{
    uint64_t end = mkperf_outfile_offset(out), at = end + UINT64_C(16) * f->n;
    uint8_t table[16 * PERF_FEATURES_MAX], patch[16 + 8 + 8 + HEADER_FEAT_BITS / 8] = {0};
    struct mkperf_put c = {table};

    for (unsigned i = 0; i < f->n; i++) {
        if (f->at[i].text != NULL) {
            f->at[i].offset = at;
            at += f->at[i].size;
        }
        mkperf_put64(&c, f->at[i].offset);
        mkperf_put64(&c, f->at[i].size);
        patch[32 + f->at[i].bit / 8] |= (uint8_t)(1 << f->at[i].bit % 8);
    }
    mkperf_outfile_write(out, table, (size_t)(c.p - table));
    for (unsigned i = 0; i < f->n; i++) {
        if (f->at[i].text != NULL) {
            mkperf_outfile_write(out, f->at[i].text, f->at[i].size);
        }
    }
    for (unsigned i = 0; counts->written != 0 && i < f->n; i++) {
        if (f->at[i].bit == HEADER_COMPRESSED) { /* the file has it already: its ratio is added */
            enum { RATIO_AT = 12 };
            uint8_t ratio[4];
            c.p = ratio;
            mkperf_put32(&c, (uint32_t)((counts->bytes + counts->written / 2) / counts->written));
            mkperf_outfile_patch(out, f->at[i].offset + RATIO_AT, ratio, sizeof ratio);
        }
    }
    c.p = patch;
    mkperf_put64(&c, data_offset);
    mkperf_put64(&c, end - data_offset); /* then event_types: none; then the features' bits */
    mkperf_outfile_patch(out, PERF_HEADER_DATA, patch, sizeof patch);
}

/* ---- a pipe: features as records ---- */

enum { OWN_TEXT_MAX = 32 * 1024 }; /* bytes in a record; a multiple of 8 */

/* Writes a record of a number and n bytes. */
static void put_record(struct mkperf_perfdata *w, unsigned type, uint64_t number, const char *p,
                       size_t n)
{
    struct mkperf_put c = perfdata_begin(&w->out, type, 0);
    mkperf_put64(&c, number);
    mkperf_put_data(&c, p, n);
    perfdata_end(&w->out, c);
}

void perfdata_pipe_features(struct mkperf_perfdata *w)
{
    for (unsigned i = 0; i < w->head.n; i++) {
        const struct perfdata_feature *f = &w->head.at[i];
        if (f->bit == HEADER_BUILD_ID) { /* entries of build ids are records already */
            mkperf_outfile_write(&w->out, f->text, f->size);
        } else if (f->bit == HEADER_TRACING_DATA) {
            /* Writes the formats of tracepoints behind a record that has only their size. */
            uint8_t record[12];
            struct mkperf_put c = {record};
            perfdata_record(&c, PERF_RECORD_HEADER_TRACING_DATA, 0, sizeof record);
            mkperf_put32(&c, (uint32_t)((f->size + 7) / 8 * 8));
            mkperf_outfile_write(&w->out, record, sizeof record);
            mkperf_outfile_write(&w->out, f->text, f->size);
            mkperf_outfile_write(&w->out, "\0\0\0\0\0\0\0", -f->size % 8);
        } else if (f->bit == MKPERF_PERFDATA_SESSION || f->bit == MKPERF_PERFDATA_TOTALS) {
            for (size_t at = 0; at < f->size; at += OWN_TEXT_MAX) {
                size_t n = f->size - at < OWN_TEXT_MAX ? f->size - at : OWN_TEXT_MAX;
                put_record(w, PERF_RECORD_HEADER_EVENT_TYPE, f->bit, f->text + at, n);
            }
        } else {
            put_record(w, PERF_RECORD_HEADER_FEATURE, f->bit, f->text, f->size);
        }
    }
    perfdata_features_free(&w->head);
}
