/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see frames.h. */
#include "frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "cost.h"
#include "perfdata/reader.h"

const char *report_text(const struct report_frames *f, uint32_t number)
{
    return mkperf_stack_text(&f->stack, number);
}

enum mkperf_status report_frames_open(struct report_frames *f, const struct report_profile *profile,
                                      bool with_line, struct mkperf_error *e)
{
    *f = (struct report_frames){
        .profile = profile, .with_line = with_line, .stack = {.no_lines = true}};
    if (mkperf_stack_begin(&f->stack, &profile->session, e) != MKPERF_OK) {
        return e->status;
    }
    for (uint32_t i = 0; i < profile->npds; i++) {
        struct mkperf_pd pd = {.id = i,
                               .name = profile->pd[i].name,
                               .elf = profile->pd[i].elf,
                               .build_id = profile->pd[i].build_id};
        if (mkperf_stack_pd(&f->stack, &pd, e) != MKPERF_OK) {
            return e->status;
        }
    }
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
    mkperf_stack_free(&f->stack);
    free(f->function_of);
    mkperf_hash_free(&f->functions);
}

static void warn_of(FILE *out, const char *who, const char *problem)
{
    fprintf(out, "# WARNING: no symbols for %s: %s\n", who,
            problem != NULL ? problem : "no ELF of it is known");
}

void report_frames_warn(const struct report_frames *f, FILE *out)
{
    const struct report_profile *p = f->profile;
    const struct mkperf_stack *s = &f->stack;

    if (p->totals.cut) {
        fprintf(out,
                "# WARNING: cut off, or its end says nothing of losses (the last %" PRIu64
                " bytes are no whole record): more may be missing than is known\n",
                p->totals.cut_bytes);
    }
    for (uint32_t i = 0; i < s->npds; i++) {
        bool asked = p->pd[i].samples > 0 && !p->pd[i].idle && !p->pd[i].ambiguous;
        if (s->pd[i].problem != NULL || (s->pd[i].module == NULL && asked)) {
            warn_of(out, report_pd_name(p, i), s->pd[i].problem);
        }
    }
    if (s->kernel_problem != NULL) {
        warn_of(out, "the kernel", s->kernel_problem);
    } else if (s->kernel == NULL) {
        fprintf(out, "# note: no symbols for the kernel: no ELF of it is known\n");
    }
}

void report_frames_cost(struct report_frames *f, FILE *out)
{
    const struct report_profile *p = f->profile;
    struct mkperf_cost cost = {.kernel = {0}};
    struct report_address address[REPORT_FRAMES_MAX];
    char text[256];

    for (uint32_t i = 0; i < p->chains.count; i++) {
        uint32_t words;
        const uint64_t *key = mkperf_hash_key(&p->chains, i, &words);
        if (report_chain_addresses(p, i, address) > 0) {
            int64_t leaf =
                mkperf_stack_place(&f->stack, address[0].pd, address[0].kernel, address[0].addr);
            if (leaf >= 0) {
                mkperf_cost_add(&cost, &f->stack, (uint32_t)key[REPORT_CHAIN_EVENT],
                                (uint32_t)key[REPORT_CHAIN_PD], (uint32_t)leaf,
                                p->weight[i].period);
            }
        }
    }
    mkperf_cost_looks(&cost, &f->stack, p->totals.looks_us);
    for (uint32_t i = 0; i < p->session.nevents; i++) {
        mkperf_cost_text(&cost, &f->stack, i, p->total[i].period, text, sizeof text);
        fprintf(out, "# cost        of profiling: %s\n", text);
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
        return mkperf_stack_text_number(&f->stack, "??:0");
    }
    file = strrchr(line.file, '/');
    snprintf(text, sizeof text, "%s:%d", file ? file + 1 : line.file, line.line);
    return mkperf_stack_text_number(&f->stack, text);
}

/* Makes room for the function of place number `at`. */
static bool reserve(struct report_frames *f, uint32_t at)
{
    uint32_t room = f->room ? 2 * f->room : 256;
    uint32_t *more;

    if (at < f->room) {
        return true;
    }
    room = room > at ? room : at + 1;
    more = reallocarray(f->function_of, room, sizeof *more);
    if (!more) {
        return false;
    }
    memset(more + f->room, 0, (room - f->room) * sizeof *more);
    f->function_of = more;
    f->room = room;
    return true;
}

static int64_t resolve(struct report_frames *f, uint32_t pd, bool kernel, uint64_t addr)
{
    int64_t place = mkperf_stack_place(&f->stack, pd, kernel, addr), line, function;
    uint32_t n;

    if (place < 0 || !reserve(f, (uint32_t)place)) {
        return -1;
    }
    if (f->function_of[place] != 0) {
        return f->function_of[place] - 1;
    }
    const struct mkperf_frame *frame = mkperf_stack_frames(&f->stack, (uint32_t)place, &n);
    uint64_t name = f->stack.function[frame->function].name;
    line = line_number(f, report_module(f, pd, kernel), addr);
    function = line < 0 ? -1
                        : mkperf_hash_number(&f->functions,
                                             (uint64_t[4]){pd, kernel, name, (uint64_t)line}, 4);
    if (function >= 0) {
        f->function_of[place] = (uint32_t)function + 1;
    }
    return function;
}

uint32_t report_frames_of(struct report_frames *f, uint32_t chain,
                          uint32_t function[REPORT_FRAMES_MAX])
{
    struct report_address address[REPORT_FRAMES_MAX];
    uint32_t words, n = report_chain_addresses(f->profile, chain, address);

    if (n == 0) { /* neither kernel nor user: nothing is known of it */
        uint64_t pd = mkperf_hash_key(&f->profile->chains, chain, &words)[REPORT_CHAIN_PD];

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
    const uint64_t *key = mkperf_hash_key(&f->functions, number, &words);

    return (struct report_function){.pd = (uint32_t)key[0],
                                    .kernel = key[1] != 0,
                                    .name = (uint32_t)key[2],
                                    .line = (uint32_t)key[3]};
}
