/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of mkperf's plugin for QEMU, of any content, with an ELF that some inputs have instructions of. The decoder keeps the
 * sink's contract for any input, its periods are the counts of the file, and every error has a place. Every seventh input has a
 * sink that fails.
 */
#include <stddef.h>
#include <stdint.h>

#include "fuzz/descriptor.h"
#include "fuzz/failing_sink.h"
#include "import/import.h"
#include "log_sink.h"

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
    const struct mkperf_input in = {.pds.kernel = "tests/fuzz/corpus/fuzz_elf/a64-bare.elf",
                                    .pds.warn = on_warning};
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_sink sink = log_sink(&l);
    struct failing_sink failing = {.left = 1};
    struct descriptor d = descriptor_open(data, size, size % 2 == 0);

    if (size % 7 == 0) {
        sink = failing_sink(&failing, sink, 1 + (unsigned)(size / 7) % 8);
    }
    enum mkperf_status status = mkperf_exact_read(d.path, open(d.path, O_RDONLY), &in, &sink, &e);
    if ((failing.left == 0 && status != MKPERF_ERR_OUTPUT) || l.broken || l.ended == l.abandoned ||
        (status == MKPERF_OK) != l.ended ||
        (status == MKPERF_ERR_INPUT && strncmp(e.text, d.path, strlen(d.path)) != 0)) {
        abort();
    }
    descriptor_close(&d);
    return 0;
}
