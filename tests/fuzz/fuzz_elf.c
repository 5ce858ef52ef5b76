/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbolizer on any bytes: opening, functions, leaf repair (with elfutils' reading of
 * call-frame information). Source lines are not included: elfutils reads DWARF.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct mkperf_module *m, uint64_t addr)
{
    struct mkperf_symbol s;

    if (mkperf_symbol_at(m, addr, &s) && (!s.name || addr - s.start >= s.size)) {
        abort();
    }
    mkperf_lr_is_caller(m, addr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_module *m;
    struct mkperf_error e;
    char path[64];
    int fd = memfd_create("elf", 0);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        abort();
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (mkperf_symbols_module(s, path, &m, &e) == MKPERF_OK) {
        size_t n;
        const struct mkperf_segment *segment = mkperf_module_segments(m, &n);

        mkperf_module_build_id(m, &n);
        mkperf_module_segments(m, &n);
        for (size_t i = 0; i < n && i < 4; i++) {
            for (unsigned j = 0; j < 32; j++) {
                ask(m, segment[i].vaddr + 4 * (uint64_t)j);
            }
        }
        ask(m, 0);
        ask(m, UINT64_MAX);
    }
    mkperf_symbols_free(s);
    close(fd);
    return 0;
}
