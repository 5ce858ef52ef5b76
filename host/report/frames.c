/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see frames.h. */
#include "frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../decode/perfdata.h"
#include "../progress.h"

enum { TEXT_WORDS = 64, PAGE = 4096 };

/* A text's number; texts are cut at 511 bytes. */
static int64_t text_number(struct report_frames *f, const char *text)
{
    uint64_t words[TEXT_WORDS];
    size_t n = strnlen(text, sizeof words - 1);

    words[n / 8] = 0;
    memcpy(words, text, n);
    memset((char *)words + n, 0, 8 - n % 8);
    return report_table_number(&f->texts, words, (uint32_t)(n / 8 + 1));
}

const char *report_text(const struct report_frames *f, uint32_t number)
{
    uint32_t words;

    return (const char *)report_table_key(&f->texts, number, &words);
}

static void open_module(struct report_frames *f, uint32_t at, const char *elf,
                        const struct mkperf_build_id *id)
{
    struct mkperf_error e;

    if (elf && mkperf_symbols_recorded(f->symbols, elf, id, &f->module[at], &e) != MKPERF_OK) {
        f->problem[at] = strdup(e.text);
    }
}

enum mkperf_status report_frames_open(struct report_frames *f, const struct report_profile *profile,
                                      bool with_line, struct mkperf_error *e)
{
    uint32_t n = profile->npds + 1;

    *f = (struct report_frames){.profile = profile, .with_line = with_line};
    f->symbols = mkperf_symbols_new();
    f->module = calloc(n, sizeof(struct mkperf_module *));
    f->problem = calloc(n, sizeof(char *));
    if (!f->symbols || !f->module || !f->problem || text_number(f, "") < 0) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    for (uint32_t i = 0; i < profile->npds; i++) {
        open_module(f, i, profile->pd[i].elf, &profile->pd[i].build_id);
    }
    open_module(f, profile->npds, profile->kernel_elf, &profile->session.kernel_build_id);
    return MKPERF_OK;
}

enum mkperf_status report_frames_read(struct report_frames *f, struct report_profile *profile,
                                      const char *path, bool with_line, struct mkperf_error *e)
{
    struct mkperf_sink sink = report_profile_sink(profile);
    enum mkperf_status status;

    mkperf_progress_begin(strcmp(path, "-") == 0 ? "standard input" : path);
    status = mkperf_perfdata_read(path, &sink, e);
    *f = (struct report_frames){.profile = profile};
    if (status == MKPERF_OK) {
        status = report_frames_open(f, profile, with_line, e);
    }
    mkperf_progress_end();
    return status;
}

void report_frames_close(struct report_frames *f)
{
    for (uint32_t i = 0; f->problem && i <= f->profile->npds; i++) {
        free(f->problem[i]);
    }
    free(f->problem);
    free(f->module);
    free(f->function_of);
    report_table_free(&f->texts);
    report_table_free(&f->functions);
    report_table_free(&f->addresses);
    mkperf_symbols_free(f->symbols);
}

void report_frames_warn(const struct report_frames *f, FILE *out)
{
    const struct report_profile *p = f->profile;

    if (p->totals.cut) {
        fprintf(out,
                "# WARNING: cut off, or its end says nothing of losses (the last %" PRIu64
                " bytes are no whole record): more may be missing than is known\n",
                p->totals.cut_bytes);
    }
    for (uint32_t i = 0; i <= p->npds; i++) {
        const char *who = i < p->npds ? report_pd_name(p, i) : "the kernel";

        if (f->problem[i]) {
            fprintf(out, "# WARNING: no symbols for %s: %s\n", who, f->problem[i]);
        } else if (!f->module[i] && i < p->npds && p->pd[i].samples > 0 && !p->pd[i].idle) {
            fprintf(out, "# WARNING: no symbols for %s: no ELF of it is known\n", who);
        } else if (!f->module[i] && i == p->npds) {
            fprintf(out, "# note: no symbols for the kernel: no ELF of it is known\n");
        }
    }
}

/* The text behind a function that differs by line: "file:line" of the innermost code. */
static int64_t line_number(struct report_frames *f, struct mkperf_module *m, uint64_t addr)
{
    struct mkperf_line line;
    char text[480];
    const char *file;

    if (!f->with_line) {
        return 0;
    }
    if (!m || mkperf_lines_at(m, addr, &line, 1) == 0 || !line.file) {
        return text_number(f, "??:0");
    }
    file = strrchr(line.file, '/');
    snprintf(text, sizeof text, "%s:%d", file ? file + 1 : line.file, line.line);
    return text_number(f, text);
}

static int64_t name_number(struct report_frames *f, struct mkperf_module *m, bool kernel,
                           uint64_t addr)
{
    struct mkperf_symbol symbol;
    char text[64];
    uint64_t page = addr & ~(uint64_t)(PAGE - 1);

    if (m && mkperf_symbol_at(m, addr, &symbol)) {
        return text_number(f, symbol.name);
    }
    if (kernel && addr == 0) {
        return text_number(f, "[unknown]");
    }
    snprintf(text, sizeof text, "[unknown] 0x%" PRIx64 "-0x%" PRIx64, page, page + PAGE - 1);
    return text_number(f, text);
}

/* Makes room for the function of address number `at`. */
static bool reserve(struct report_frames *f, uint32_t at)
{
    uint32_t room = f->room ? 2 * f->room : 256;
    uint32_t *more;

    if (at < f->room) {
        return true;
    }
    more = reallocarray(f->function_of, room, sizeof *more);
    if (!more) {
        return false;
    }
    f->function_of = more;
    f->room = room;
    return true;
}

static int64_t resolve(struct report_frames *f, uint32_t pd, bool kernel, uint64_t addr)
{
    uint64_t key[3] = {pd, kernel, addr};
    uint32_t known = f->addresses.count;
    int64_t number = report_table_number(&f->addresses, key, 3), name, line, function;
    struct mkperf_module *m;

    if (number < 0 || !reserve(f, (uint32_t)number)) {
        return -1;
    }
    if ((uint32_t)number < known) {
        return f->function_of[number];
    }
    m = report_module(f, pd, kernel);
    name = name_number(f, m, kernel, addr);
    line = line_number(f, m, addr);
    function = name < 0 || line < 0
                   ? -1
                   : report_table_number(&f->functions,
                                         (uint64_t[4]){pd, kernel, (uint64_t)name, (uint64_t)line},
                                         4);
    if (function >= 0) {
        f->function_of[number] = (uint32_t)function;
    }
    return function;
}

uint32_t report_frames_of(struct report_frames *f, uint32_t chain,
                          uint32_t function[REPORT_FRAMES_MAX])
{
    struct report_address address[REPORT_FRAMES_MAX];
    uint32_t words, n = report_chain_addresses(f->profile, chain, address);

    if (n == 0) { /* neither kernel nor user: nothing is known of it */
        uint64_t pd = report_table_key(&f->profile->chains, chain, &words)[REPORT_CHAIN_PD];

        address[n++] = (struct report_address){.pd = (uint32_t)pd, .kernel = true};
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct report_address *a = &address[i];
        /* the call, not what follows it */
        uint64_t addr = a->is_return && a->addr ? a->addr - 1 : a->addr;
        int64_t number = resolve(f, a->pd, a->kernel, addr);

        if (number < 0) {
            return 0;
        }
        function[i] = (uint32_t)number;
    }
    return n;
}

struct report_function report_function(const struct report_frames *f, uint32_t number)
{
    uint32_t words;
    const uint64_t *key = report_table_key(&f->functions, number, &words);

    return (struct report_function){.pd = (uint32_t)key[0],
                                    .kernel = key[1] != 0,
                                    .name = (uint32_t)key[2],
                                    .line = (uint32_t)key[3]};
}
