/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as tables for unwinding, in the profiler PD's check. Magic, size and CRC are made right, unless the
 * first byte says not to, so that they do not keep the fuzzer out. Of tables that the check accepts, each entry's
 * blocks, rows and rules are within the bytes.
 */
#include <stdlib.h>
#include <string.h>

#include <mkperf/frame.h>

#include "pd/profiler/unwind_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint32_t half(const uint8_t *p, uint64_t at)
{
    return p[2 * at] | (uint32_t)p[2 * at + 1] << 8;
}

/* Reads all that the hook may read by the entry. The sanitizer sees what is outside. */
static void read_all(const uint8_t *p, const struct mkperf_unwind_entry *e)
{
    uint64_t rule;
    uint32_t rows = e->blocks != 0 ? half(p, (uint64_t)e->block + e->blocks) : 0;

    for (uint32_t i = 0; i < e->blocks; i++) {
        if (half(p, (uint64_t)e->block + i) > half(p, (uint64_t)e->block + i + 1)) {
            abort();
        }
    }
    for (uint32_t i = 0; i < rows; i++) {
        memcpy(&rule, p + 8 * ((uint64_t)e->rule + (half(p, (uint64_t)e->row + i) & 0xff)),
               sizeof rule);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static union {
        struct mkperf_unwind_tables tables;
        uint8_t bytes[MKPERF_UNWIND_BYTES];
    } to;
    struct mkperf_unwind_tables head;

    if (n == 0 || n > MKPERF_UNWIND_BYTES) {
        return 0;
    }
    /* memory of its own, so that the sanitizer sees each byte beyond it */
    uint8_t *from = malloc(n);
    memcpy(from, data + 1, n - 1);
    from[n - 1] = 0;
    if (data[0] % 2 == 0 && n >= sizeof head) {
        memcpy(&head, from, sizeof head);
        memcpy(head.magic, MKPERF_UNWIND_MAGIC, sizeof head.magic);
        head.size = (uint32_t)n;
        head.crc =
            mkperf_crc32(0, from + MKPERF_UNWIND_HEADER_BYTES, n - MKPERF_UNWIND_HEADER_BYTES);
        memcpy(from, &head, MKPERF_UNWIND_HEADER_BYTES);
    }
    if (mkperf_unwind_load(&to.tables, from, (uint32_t)n) == MKPERF_UNWIND_LOADED) {
        if (memcmp(&to, from, sizeof head) != 0) {
            abort();
        }
        memcpy(&head, from, sizeof head);
        for (unsigned i = 0; i < MKPERF_UNWIND_SLOTS; i++) {
            read_all(from, &head.entry[i]);
        }
    }
    free(from);
    return 0;
}
