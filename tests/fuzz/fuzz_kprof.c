/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kpdata of any content; the first byte selects the era and --lenient. The decoder keeps the
 * sink's contract for any input, and returns samples ordered by time.
 */
#include <stddef.h>
#include <stdint.h>

#include "import/kprof.h"
#include "tests/unit/log_sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct log_sink l;
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_sink sink = log_sink(&l);

    if (size == 0) {
        return 0;
    }
    struct mkperf_kprof_config config = {
        .era = (enum mkperf_kprof_era)(data[0] % MKPERF_KPROF_ERAS), .lenient = data[0] & 0x80};
    enum mkperf_status status =
        mkperf_kprof_read_memory("in", data + 1, size - 1, &config, &sink, &e);
    if (l.broken || l.disorder || l.ended == l.abandoned || (status == MKPERF_OK) != l.ended ||
        (status != MKPERF_OK && strncmp(e.text, "in:", 3) != 0)) {
        abort();
    }
    return 0;
}
