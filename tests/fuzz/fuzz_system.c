/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a .system file: a system or an error. Some are read from a file or a pipe, with the
 * same result.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/record.h>

#include "fuzz/descriptor.h"
#include "host/system/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Numbers of threads that belong to a PD, to several (passive children), or to none. */
static void find(const struct mkperf_system *s)
{
    for (unsigned i = 0; i < s->npds; i++) {
        int found = mkperf_system_find(s, s->pd[i].thread);
        if (found != (int)i && found != -1) {
            abort();
        }
    }
    for (unsigned id = 0; id < 64; id++) {
        int found = mkperf_system_find(s, MKPERF_THREAD_CHILD_BIT | UINT64_C(0x7700) | id);
        if (found >= (int)s->npds || (found >= 0 && s->pd[found].child_id != id)) {
            abort();
        }
    }
    if (mkperf_system_find(s, UINT64_MAX) != -1) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_error e = {.text = ""};
    struct mkperf_system *s = NULL, *again = NULL;
    enum mkperf_status status = mkperf_system_parse("fuzz", (const char *)data, size, &s, &e);

    if (status == MKPERF_OK) {
        find(s);
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
