/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kpdata of any content. The first byte selects the era, --lenient, a kernel's ELF, a directory with
 * programs, and whether it is read from memory, a file or a pipe, and a sink that
 * fails. The decoder keeps the sink's
 * contract for any input, and returns samples ordered by time.
 */
#include <stddef.h>
#include <stdint.h>

#include "fuzz/descriptor.h"
#include "fuzz/failing_sink.h"
#include "import/import.h"
#include "log_sink.h"

enum {
    FAILING = 0x04,
    WITH_KERNEL = 0x08,
    WITH_PROGRAMS = 0x10,
    FROM_FILE = 0x20,
    FROM_PIPE = 0x40,
    LENIENT = 0x80
};

static const char elfs[] = "tests/fuzz/corpus/fuzz_elf";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_warning(void *self, const char *text)
{
    (void)self;
    if (text[0] == '\0') {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct log_sink l;
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_sink sink = log_sink(&l);
    enum mkperf_status status;

    if (size == 0) {
        return 0;
    }
    unsigned how = *data++;
    struct mkperf_input config = {
        .era = (enum mkperf_kprof_era)(how & 3),
        .lenient = how & LENIENT,
        .pds.kernel = how & WITH_KERNEL ? "tests/fuzz/corpus/fuzz_elf/small.elf" : NULL,
        .root_dir = how & WITH_PROGRAMS ? elfs : NULL,
        .pds.warn = on_warning};
    struct failing_sink failing = {.left = 1};
    if (how & FAILING && size > 1) {
        sink = failing_sink(&failing, sink, 1 + data[size / 2 - 1] % 32U);
    }
    if (how & (FROM_FILE | FROM_PIPE)) {
        struct descriptor d = descriptor_open(data, size - 1, how & FROM_PIPE);
        status = mkperf_kprof_read(d.path, open(d.path, O_RDONLY), &config, &sink, &e);
        descriptor_close(&d);
    } else {
        status = mkperf_kprof_read_memory("in", data, size - 1, &config, &sink, &e);
    }
    if (l.broken || l.disorder || l.ended == l.abandoned || (status == MKPERF_OK) != l.ended ||
        (status == MKPERF_ERR_INPUT && strchr(e.text, ':') == NULL) ||
        (failing.left == 0 && status != MKPERF_ERR_OUTPUT)) {
        abort();
    }
    return 0;
}
