/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of a perf.data that was recorded into a pipe: records instead of sections.
 *
 * Owns: their order. Called by reader_file.c, and by the reader for the totals behind the data.
 * Attributes and features come first; the first record of another kind is the first of the data.
 */
#include <stdlib.h>
#include <string.h>

#include "reader_file.h"

enum {
    RECORD_FIRST_HEADER = PERF_RECORD_HEADER_ATTR,
    RECORD_LAST_HEADER = PERF_RECORD_HEADER_FEATURE
};

bool perfin_keep_feature(struct perfin_frame *f, unsigned type, const uint8_t *p, size_t n)
{
    uint64_t bit = n >= 8 ? mkperf_get64(p) : HEADER_FEAT_BITS;
    bool own = bit == MKPERF_PERFDATA_SESSION || bit == MKPERF_PERFDATA_TOTALS;

    if (n < 8) {
        return false;
    }
    if (bit >= HEADER_FEAT_BITS || own != (type == PERF_RECORD_HEADER_EVENT_TYPE)) {
        return true; /* of a newer perf, or an event type of an old one */
    }
    size_t had = own ? f->kept[bit].n : 0; /* long texts come in parts */
    if (had + n - 8 > PERFIN_FEATURE_MAX) {
        return false;
    }
    uint8_t *grown = realloc(f->kept[bit].p, had + n);
    if (!grown) {
        return false;
    }
    memcpy(grown + had, p + 8, n - 8);
    f->kept[bit].p = grown;
    f->kept[bit].n = had + n - 8;
    return true;
}

/* NULL: the record is understood or of no interest. */
static const char *read_head_record(struct perfin_frame *f, unsigned type, const uint8_t *p,
                                    size_t n)
{
    switch (type) {
    case PERF_RECORD_HEADER_ATTR:
        return perfin_more_attrs(f, p, n) ? NULL
                                          : "a HEADER_ATTR record is cut, or one event too many";
    case PERF_RECORD_HEADER_FEATURE:
    case PERF_RECORD_HEADER_EVENT_TYPE:
        return perfin_keep_feature(f, type, p, n) ? NULL : "a feature is cut, or too long";
    default:
        return NULL;
    }
}

enum mkperf_status perfin_read_pipe_head(struct perfin_bytes *b, struct perfin_frame *f,
                                         struct mkperf_error *e)
{
    uint64_t at = PERF_PIPE_HEADER_BYTES;

    f->pipe = true;
    f->unfinished = true;
    for (;;) {
        const uint8_t *p = perfin_at(b, at, 8);
        unsigned type = p ? mkperf_get32(p) : 0;
        size_t n = p ? p[6] | (size_t)p[7] << 8 : 0;

        if (type < RECORD_FIRST_HEADER || type > RECORD_LAST_HEADER ||
            type == PERF_RECORD_FINISHED_ROUND) {
            break;
        }
        p = n >= 8 ? perfin_at(b, at, n) : NULL;
        const char *problem = p ? read_head_record(f, type, p + 8, n - 8) : "a cut record";
        if (problem) {
            return perfin_bad(b, at, problem, e);
        }
        at += n;
        if (type == PERF_RECORD_HEADER_TRACING_DATA) {
            if (!f->has_trace || n < 12) {
                return perfin_bad(b, at, "trace points; only perf reads them", e);
            }
            at += mkperf_get32(p + 8); /* the formats, which are known */
        }
    }
    if (f->nattrs == 0 && !f->has_trace) {
        return perfin_bad(b, at, "no event stands before the first record", e);
    }
    f->data = (struct perfin_section){at, b->size - at};
    return MKPERF_OK;
}
