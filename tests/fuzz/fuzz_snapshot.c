/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a snapshot, of any content, as if their hash were right: the session, PDs and totals, and an analysis. What is taken can
 * be put and taken again, and be freed; what is refused can be freed, too.
 */
#include <stddef.h>
#include <stdint.h>

#include "import/import.h"
#include "sched/analysis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool take(const struct mkperf_shape_row *rows, void *at, struct mkperf_shape_input *from)
{
    const uint8_t *end = from->p + from->n;
    struct mkperf_shape_bytes first = {.n = 0}, second = {.n = 0};
    bool whole = mkperf_shape_take(rows, at, from);

    if (from->p + from->n != end) {
        abort();
    }
    if (whole) {
        mkperf_shape_put(rows, at, &first);
        struct mkperf_shape_input again = {first.p, first.n};
        if (!mkperf_shape_take(rows, at, &again) || again.n != 0) {
            abort();
        }
        mkperf_shape_put(rows, at, &second);
        if (first.n != second.n) { /* the bytes of pointers differ */
            abort();
        }
    }
    free(first.p);
    free(second.p);
    return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_shape_input from = {data, size};
    struct mkperf_asked a = {.question = NULL};
    struct mkperf_analysis *analysis = mkperf_analysis_new();

    if (size > 0 && data[0] % 2 == 0 && !take(mkperf_asked_rows, &a, &from)) {
        from.n = 0;
    }
    (void)take(mkperf_analysis_rows, analysis, &from);
    mkperf_asked_free(&a);
    mkperf_analysis_free(analysis);
    return 0;
}
