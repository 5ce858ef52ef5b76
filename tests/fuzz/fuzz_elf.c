/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbolizer on any bytes: opening, identity, functions, call sites, leaf repair (with elfutils'
 * reading of call-frame information), inlined functions and source lines (with its reading of
 * DWARF).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/descriptor.h"
#include "fuzz/mutate_elf.h"
#include "symbols/symbols.h"

enum { INSTRUCTIONS = 256, LINES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

static void ask(struct mkperf_module *m, uint64_t addr)
{
    struct mkperf_line line[LINES];
    struct mkperf_symbol s;

    if (mkperf_symbol_at(m, addr, &s)) {
        require(s.name && addr - s.start < s.size && mkperf_symbol_is(s.name, s.name));
    }
    require(!mkperf_module_is_code(m, addr) || mkperf_module_arch(m) != NULL);
    (void)mkperf_module_follows_call(m, addr);
    (void)mkperf_lr_is_caller(m, addr);
    require(mkperf_lines_at(m, addr, line, LINES) <= LINES);
}

static void ask_identity(struct mkperf_symbols *s, struct mkperf_module *m, size_t size)
{
    struct mkperf_build_id id, other;
    struct mkperf_module *again;
    struct mkperf_error e;
    uint8_t hash[MKPERF_CONTENT_HASH_BYTES];
    uint64_t offset, bytes;

    mkperf_module_identity(m, &id);
    require(id.n <= MKPERF_BUILD_ID_BYTES);
    require(mkperf_symbols_recorded(s, mkperf_module_path(m), &id, &again, &e) == MKPERF_OK &&
            again == m);
    mkperf_symbols_expect(s, size % 2 ? "aarch64" : "");
    other = id;
    other.n = MKPERF_BUILD_ID_BYTES;
    other.byte[0] ^= 1;
    require(mkperf_symbols_recorded(s, mkperf_module_path(m), &other, &again, &e) ==
            MKPERF_ERR_INPUT);
    (void)mkperf_module_content(m, (struct mkperf_blank){.offset = 4, .n = 100}, hash);
    require(mkperf_module_build_id(m)->n <= MKPERF_BUILD_ID_BYTES);
    if (mkperf_module_object(m, "mkperf_stamp", 8, &offset, &bytes)) {
        require(offset <= size && bytes <= size - offset && bytes >= 8);
    }
}

static void ask_all(struct mkperf_symbols *s, struct mkperf_module *m, size_t size)
{
    size_t n, calls;
    const struct mkperf_segment *segment = mkperf_module_segments(m, &n);
    uint64_t *call = mkperf_module_system_calls(m, &calls);

    for (size_t i = 1; i < calls; i++) {
        require(call[i - 1] <= call[i]);
    }
    struct mkperf_unwind_rows rows;
    mkperf_module_unwind_rows(m, &rows);
    require(rows.n != 1 && rows.unframed <= rows.saving);
    free(rows.row);
    free(call);
    ask_identity(s, m, size);
    for (size_t i = 0; i < n && i < 4; i++) {
        for (unsigned j = 0; j < INSTRUCTIONS && 4 * (uint64_t)j < segment[i].size; j++) {
            ask(m, segment[i].vaddr + 4 * (uint64_t)j);
        }
    }
    ask(m, 0);
    ask(m, 2);
    ask(m, UINT64_MAX);
    (void)mkperf_symbol_address(m, "_start");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mkperf_symbols *s = mkperf_symbols_new();
    struct mkperf_module *m;
    struct mkperf_error e;
    struct descriptor d = descriptor_open(data, size, size % 1024 == 0);

    if (mkperf_symbols_module(s, d.path, &m, &e) == MKPERF_OK) {
        ask_all(s, m, size);
    } else {
        require(strncmp(e.text, d.path, strlen(d.path)) == 0);
    }
    mkperf_symbols_free(s);
    descriptor_close(&d);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutate_seed(seed);
    for (unsigned i = 1 + mutate_random(4); i > 0; i--) {
        size = mutate_elf(data, size, max);
    }
    return size;
}
