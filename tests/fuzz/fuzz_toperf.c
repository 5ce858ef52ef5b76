/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.json of any content, read strictly and leniently. The decoder keeps the sink's contract
 * for any input, and every error has a place.
 */
#include <stddef.h>
#include <stdint.h>

#include "import/toperf.h"
#include "tests/unit/log_sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct log_sink l;

    for (int lenient = 0; lenient < 2; lenient++) {
        struct mkperf_toperf_config config = {.lenient = lenient};
        struct mkperf_error e = {.status = MKPERF_OK};
        struct mkperf_sink sink = log_sink(&l);
        enum mkperf_status status = mkperf_toperf_read_memory("in", data, size, &config, &sink, &e);

        if (l.broken || l.ended == l.abandoned || (status == MKPERF_OK) != l.ended ||
            (status != MKPERF_OK && strncmp(e.text, "in:", 3) != 0)) {
            abort();
        }
    }
    return 0;
}
