/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data reader on any bytes, in memory, and some of them in a file and through a pipe. The sink checks that the
 * model's promises hold. A file has the samples that the same bytes have in memory, and those that it has if its records
 * are compressed.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/base.h"
#include "fuzz/checking_sink.h"
#include "fuzz/descriptor.h"
#include "fuzz/failing_sink.h"
#include "fuzz/mutate_perfdata.h"
#include "perfdata/perfdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* path NULL: data itself. fail_at: the sink's call that fails, 0: none. *status: of the reader. The samples. */
static uint64_t read_one(const char *path, const uint8_t *data, size_t size, unsigned fail_at,
                         enum mkperf_status *status)
{
    struct checking_sink checking = {
        .cores = MKPERF_MODEL_CORES, .pds = MKPERF_MODEL_PDS, .mark_max = 255};
    struct mkperf_sink sink = {.take = check_item, .splits = true, .self = &checking};
    struct mkperf_error e = {.status = MKPERF_OK};
    struct failing_sink failing;
    if (fail_at != 0) {
        sink = failing_sink(&failing, sink, fail_at);
    }
    *status = path ? mkperf_perfdata_read(path, -1, &sink, &e)
                   : mkperf_perfdata_read_memory("fuzz", data, size, &sink, &e);

    require(*status == MKPERF_OK || (*status == MKPERF_ERR_INPUT && strstr(e.text, "offset")) ||
            (fail_at != 0 && *status == MKPERF_ERR_OUTPUT && failing.left == 0));
    require(fail_at == 0 || failing.left != 0 ||
            (*status == MKPERF_ERR_OUTPUT && failing.abandoned));
    return checking.samples;
}

/* Returns the file with its data compressed and its feature table behind the end, or NULL if it has no such layout. */
static uint8_t *compressed(const uint8_t *data, size_t size, size_t *n)
{
    struct mutate_file f;

    if (!mutate_open(data, size, &f) || f.n == 0) {
        return NULL;
    }
    bool unfinished = f.end == f.records;
    size_t bytes = unfinished ? size - f.records : f.end - f.records,
           part = 1 + data[size / 3] * 97u;
    size_t table = unfinished || size - f.end < 16 * 256 ? size - f.end : 16 * 256, at = size;
    uint8_t *out = malloc(size + 32 * bytes + 1024 + table);
    ZSTD_CCtx *z = ZSTD_createCCtx();
    require(out != NULL && z != NULL);
    memcpy(out, data, size);
    for (size_t done = 0; done < bytes; done += part) {
        ZSTD_inBuffer in = {.src = data + f.records + done,
                            .size = bytes - done < part ? bytes - done : part};
        ZSTD_outBuffer to = {.dst = out + at + 8, .size = 65000};
        require(ZSTD_compressStream2(z, &to, &in, ZSTD_e_flush) == 0);
        struct mkperf_put head = {out + at};
        mkperf_put32(&head, PERF_RECORD_COMPRESSED);
        mkperf_put16(&head, 0);
        mkperf_put16(&head, (uint16_t)(8 + to.pos));
        at += 8 + to.pos;
    }
    ZSTD_freeCCtx(z);
    mutate_put(out + PERF_HEADER_DATA, 8, size);
    mutate_put(out + PERF_HEADER_DATA + 8, 8, unfinished ? 0 : at - size);
    if (!unfinished) {
        memcpy(out + at, data + f.end, table);
        at += table;
    }
    *n = at;
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum mkperf_status status, again_status;
    uint64_t samples = read_one(NULL, data, size, 0, &status), again;
    unsigned how = size > 16 ? data[size / 2] % 8 : 7;

    if (how < 2) {
        struct descriptor d = descriptor_open(data, size, how == 1);
        again = read_one(d.path, data, size, 0, &again_status);
        require(how == 1 || again == samples);
        descriptor_close(&d);
    } else if (how < 4) {
        (void)read_one(NULL, data, size, 1 + data[size / 3] % 64, &again_status);
    } else if (how < 6) {
        size_t n;
        uint8_t *p = compressed(data, size, &n);
        if (p != NULL) {
            again = read_one(NULL, p, n, 0, &again_status);
            require(status != MKPERF_OK || again_status != MKPERF_OK || again == samples);
        }
        free(p);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutate_seed(seed);
    for (unsigned i = 1 + mutate_random(3); i > 0; i--) {
        size = mutate_perfdata(data, size, max);
    }
    return size;
}
