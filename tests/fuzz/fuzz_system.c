/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a .system file: a system or an error. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "host/system/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_error e;
    struct mkperf_system *s;

    if (mkperf_system_parse("fuzz", (const char *)data, size, &s, &e) == MKPERF_OK) {
        for (unsigned i = 0; i < s->npds; i++) {
            int found = mkperf_system_find(s, s->pd[i].thread);
            if (found != (int)i && found != -1) {
                abort();
            }
        }
        mkperf_system_free(s);
    }
    return 0;
}
