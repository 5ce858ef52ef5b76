/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a .system file: a system or an error. Some are read from a file or a pipe, with the
 * same result.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/descriptor.h"
#include "host/system/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_error e = {.text = ""};
    struct mkperf_system *s = NULL, *again = NULL;
    enum mkperf_status status = mkperf_system_parse("fuzz", (const char *)data, size, &s, &e);

    if (status == MKPERF_OK) {
        struct mkperf_schedule_entry window[MKPERF_WINDOWS];
        char *text = mkperf_windows_text(s);
        if (mkperf_windows_read(text, window) > s->nwindows ||
            (text == NULL) != (s->nwindows == 0)) {
            abort();
        }
        free(text);
    } else if (strncmp(e.text, "fuzz:", 5) != 0) {
        abort();
    }
    if (size % 8 < 2) {
        struct descriptor d = descriptor_open(data, size, size % 8 == 1);
        if (mkperf_system_load(d.path, &again, &e) != status ||
            (status == MKPERF_OK && again->npds != s->npds)) {
            abort();
        }
        descriptor_close(&d);
    }
    mkperf_system_free(s);
    mkperf_system_free(again);
    return 0;
}
