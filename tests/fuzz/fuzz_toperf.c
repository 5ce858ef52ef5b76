/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.json of any content, read strictly and leniently. The decoder keeps the sink's contract
 * for any input, and every error has a place.
 *
 * The size of the input selects how it is read: from memory, from a file or a pipe, with a
 * directory that has ELFs, or with one that has a sample_header.json: what stands before the first
 * NUL. Every seventh input has a sink that fails.
 */
#include <stddef.h>
#include <stdint.h>

#include "fuzz/descriptor.h"
#include "fuzz/failing_sink.h"
#include "import/import.h"
#include "log_sink.h"

enum way { MEMORY, ELFS, FILE_OR_PIPE, HEADER, WAYS };

static const char elfs[] = "tests/fuzz/corpus/fuzz_elf";
static char directory[] = "/dev/shm/fuzz-toperf-XXXXXX";
static unsigned warnings;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static void header_path(char path[64])
{
    snprintf(path, 64, "%s/sample_header.json", directory);
}

static void remove_directory(void)
{
    char path[64];

    header_path(path);
    (void)unlink(path);
    (void)rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    if (mkdtemp(directory) == NULL || atexit(remove_directory) != 0) {
        abort();
    }
    return 0;
}

static void on_warning(void *self, const char *text)
{
    (void)self;
    warnings += text[0] != '\0';
}

/* Writes the header's bytes to a file; the rest of the input is the samples. */
static void write_header(const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size != 0 ? memchr(*data, 0, *size) : NULL;
    size_t n = end != NULL ? (size_t)(end - *data) : 0;
    char path[64];

    header_path(path);
    FILE *f = fopen(path, "w");
    if (f == NULL || fwrite(*data, 1, n, f) != n || fclose(f) != 0) {
        abort();
    }
    *data += end != NULL ? n + 1 : 0;
    *size -= end != NULL ? n + 1 : 0;
}

static void read_one(enum way way, bool lenient, const uint8_t *data, size_t size)
{
    static struct log_sink l;
    struct mkperf_input config = {.lenient = lenient, .pds.warn = on_warning};
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_sink sink = log_sink(&l);
    struct descriptor d;
    struct failing_sink failing = {.left = 1};
    const char *name = "in";

    if (size % 7 == 0) {
        sink = failing_sink(&failing, sink, 1 + (unsigned)(size / 7) % 32);
    }

    config.build_dir = way == ELFS ? elfs : way == HEADER ? directory : NULL;
    d = descriptor_open(data, size, way == FILE_OR_PIPE && lenient);
    (void)lseek(d.fd, 0, SEEK_SET);
    if (way == FILE_OR_PIPE) {
        name = d.path;
    }
    enum mkperf_status status = mkperf_toperf_read(name, dup(d.fd), &config, &sink, &e);
    if (failing.left == 0 && status != MKPERF_ERR_OUTPUT) {
        abort();
    }
    if (l.broken || l.ended == l.abandoned || (status == MKPERF_OK) != l.ended ||
        (status == MKPERF_ERR_INPUT && strchr(e.text, ':') == NULL) ||
        (status == MKPERF_ERR_INPUT && way == MEMORY && strncmp(e.text, "in:", 3) != 0)) {
        abort();
    }
    descriptor_close(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum way way = size % WAYS;

    if (way == HEADER) {
        write_header(&data, &size);
    }
    read_one(way, false, data, size);
    read_one(way, true, data, size);
    return 0;
}
