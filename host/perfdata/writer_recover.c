/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recovery of a perf.data file whose writer died: keeps whole records, counts them, and writes the end.
 *
 * Owns: what is kept. The reader reads the records and counts them. Called by `mkperf recover`. A truncated record and the writer's
 * buffer are lost, and so are all compressed records from the first damaged one on. Memory does not
 * grow with the file.
 */
#include "perfdata_internal.h"

#define PARTIAL ".partial"

enum { COPY_BYTES = 64 * 1024 };

/* A file, and what is kept of it. */
struct recovered {
    struct perfin_reader reader; /* its offset in the end: where the kept part ends */
    struct perfdata_compressed compressed;
    struct perfdata_features features;
    struct mkperf_totals *totals; /* what the records that are kept contain */
};

/* Reads up to the first record that is damaged, or of a type that the writer does not use. */
static void read_whole_records(struct recovered *k)
{
    struct perfin_reader *r = &k->reader;
    struct mkperf_error ignored = {.status = MKPERF_OK};
    const uint8_t *p;

    r->e = &ignored;
    r->offset = r->frame.data.offset;
    while ((p = perfin_at(&r->bytes, r->offset, 8)) != NULL) {
        unsigned type = mkperf_get32(p);
        bool compressed = type == PERF_RECORD_COMPRESSED;
        uint64_t extent = 0;

        if (!compressed && (type == 0 || type > PERF_RECORD_EVENT_UPDATE ||
                            mkperf_get16(p + PERF_RECORD_SIZE_AT) % 8 != 0)) {
            break;
        }
        if (compressed) {
            *k->totals = r->seen;
        }
        if (perfin_next_record(r, &extent) != MKPERF_OK || extent == 0 ||
            r->inflate.at != r->inflate.filled) {
            if (compressed) {
                return; /* the whole records in it are not kept */
            }
            break;
        }
        r->offset += extent;
        k->compressed = (struct perfdata_compressed){r->inflate.out, r->inflate.in};
    }
    *k->totals = r->seen;
}

static bool is_same_file(const struct perfin_bytes *of, const char *path)
{
    struct stat a, b;

    return fstat(of->fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Opens the output with what is kept: the file itself, with the name that the writer would have given it, or a copy if `to` is
 * another file. */
static enum mkperf_status open_output(struct recovered *k, const char *to,
                                      struct mkperf_outfile *out, struct mkperf_error *e)
{
    struct perfin_bytes *b = &k->reader.bytes;
    size_t n = strlen(b->path), suffix = strlen(PARTIAL);
    char *partial = mkperf_xprintf("%s" PARTIAL, to != NULL ? to : "");
    bool in_place = to == NULL || is_same_file(b, to) || is_same_file(b, partial);

    free(partial);
    if (in_place) {
        n -= n > suffix && strcmp(b->path + n - suffix, PARTIAL) == 0 ? suffix : 0;
        char *name = mkperf_xprintf("%.*s", (int)n, b->path);
        mkperf_outfile_adopt(out, b->path, k->reader.offset, name, e);
        free(name);
        return e->status;
    }
    MKPERF_TRY(mkperf_outfile_open(out, to, true, e));
    for (uint64_t at = 0, part; at < k->reader.offset; at += part) {
        part = k->reader.offset - at < COPY_BYTES ? k->reader.offset - at : COPY_BYTES;
        const uint8_t *p = perfin_at(b, at, (size_t)part);
        if (p == NULL) {
            mkperf_outfile_close(out);
            return perfin_bad(b, at, strerror(errno), e);
        }
        mkperf_outfile_write(out, p, (size_t)part);
    }
    return MKPERF_OK;
}

static enum mkperf_status recover(struct recovered *k, const char *to, struct mkperf_error *e)
{
    struct perfin_reader *r = &k->reader;
    struct perfin_frame *f = &r->frame;
    struct mkperf_outfile out;

    MKPERF_FAIL_IF(r->bytes.stream, e, MKPERF_ERR_INPUT, "%s: not a regular file", r->bytes.path);
    MKPERF_TRY(perfin_read_frame(&r->bytes, f, true, e));
    MKPERF_FAIL_IF(f->pipe, e, MKPERF_ERR_INPUT,
                   "%s: it has the layout for pipes and needs no recovery", r->bytes.path);
    MKPERF_FAIL_IF(!f->unfinished, e, MKPERF_ERR_INPUT, "%s: it is complete, nothing to do",
                   r->bytes.path);
    if (!f->indexed) {
        return perfin_bad(&r->bytes, f->data.offset, "not a file that mkperf wrote", e);
    }
    for (unsigned i = 0; i < HEADER_FEAT_BITS && f->damaged == 0; i++) {
        const struct perfin_section at = f->feature[i];
        if (at.size != 0 && k->features.n == PERF_FEATURES_MAX - 2) {
            f->damaged = f->data.offset;
        } else if (at.size != 0) {
            perfdata_features_at(&k->features, i, at.offset, (size_t)at.size);
        }
    }
    if (f->damaged != 0) {
        return perfin_bad(&r->bytes, f->damaged, "a damaged index", e);
    }
    r->e = e;
    MKPERF_TRY(perfin_read_session(r));
    read_whole_records(k);
    MKPERF_TRY(open_output(k, to, &out, e));
    perfdata_totals_add(&k->features, k->totals, true, NULL);
    perfdata_kernel_dummy(&out, k->totals->last_ns);
    perfdata_tail_write(&out, f->data.offset, &k->features, &k->compressed);
    return mkperf_outfile_finish(&out, e);
}

enum mkperf_status mkperf_perfdata_recover(const char *path, const char *out,
                                           struct mkperf_totals *totals, struct mkperf_error *e)
{
    struct recovered k = {.totals = totals};
    struct perfin_reader *r = &k.reader;
    /* The reader counts. What it passes on is not needed. */
    const struct mkperf_sink sink = {.take = mkperf_take_nothing, .leaves_only = true};

    *totals = (struct mkperf_totals){0};
    r->sink = &sink;
    if (perfin_open(&r->bytes, path, -1, e) == MKPERF_OK) {
        e->status = MKPERF_OK;
        recover(&k, out, e);
    }
    perfdata_features_free(&k.features);
    perfin_free(r);
    return e->status;
}
