/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the form of the listing. See annotate.h. */
#include "annotate.h"

#include <capstone/capstone.h>

#include "base/colour.h"

/* The source line that was printed last. */
struct printed {
    char function[256];
    const char *file;
    int line;
};

static void print_title(const struct annotate_function *fn, const struct mkperf_frames *f,
                        const struct annotate_choice *c, FILE *out)
{
    const struct mkperf_profile *p = f->profile;
    const char *file = basename(mkperf_module_path(fn->module));
    char text[MKPERF_PRINTABLE_PATH];

    fprintf(out, "# %s in %s", fn->symbol.name, mkperf_printable_copy(file, text, sizeof text));
    if (c->pd) {
        fprintf(out, ", PD %s only", c->pd);
    }
    fprintf(out, ": %" PRIu64 " samples of event '%s', period sum %" PRIu64 " (%.2f%%)\n",
            fn->weight.samples, p->places.session.event[c->event].name, fn->weight.period,
            mkperf_percent(fn->weight.period, p->total[c->event].period));
    fprintf(out, "#\n# Percent    Address  Instruction\n#\n");
}

static void print_source(struct printed *last, const struct annotate_function *fn, uint64_t addr,
                         struct annotate_sources *sources, FILE *out)
{
    struct mkperf_line at;
    const char *text;

    if (mkperf_lines_at(fn->module, addr, &at, 1) == 0 || !at.file ||
        (last->file && strcmp(last->file, at.file) == 0 && last->line == at.line)) {
        return;
    }
    if (at.function && strcmp(last->function, at.function) != 0) {
        snprintf(last->function, sizeof last->function, "%s", at.function);
        fprintf(out, "           %s():\n", at.function);
    }
    last->file = at.file;
    last->line = at.line;
    text = annotate_source_line(sources, at.directory, at.file, at.line);
    fprintf(out, "           %s:%d  %s\n", basename(at.file), at.line, text ? text : "");
}

enum mkperf_status annotate_print(const struct annotate_hits *h,
                                  const struct annotate_function *function,
                                  const struct mkperf_frames *f, const struct annotate_choice *c,
                                  const struct annotate_style *style,
                                  struct annotate_sources *sources, FILE *out,
                                  struct mkperf_error *e)
{
    const struct annotate_hit *hit = &h->hit[function->first], *end = hit + function->n;
    struct printed last = {.file = NULL};
    struct annotate_code code;
    struct annotate_insn insn;

    if (annotate_code_open(&code, function->module, function->symbol.start, function->symbol.size,
                           e) != MKPERF_OK) {
        return e->status;
    }
    print_title(function, f, c, out);
    if (!code.readable) {
        fprintf(out, "# this machine's instructions are unknown to capstone %d.%d: words\n",
                CS_API_MAJOR, CS_API_MINOR);
    }
    while (annotate_code_next(&code, &insn)) {
        struct mkperf_weight w = {0, 0};

        for (; hit < end && hit->addr < insn.addr + insn.size; hit++) {
            mkperf_weight_add(&w, &hit->weight);
        }
        if (style->source) {
            print_source(&last, function, insn.addr, sources, out);
        }
        bool colour = style->colour;
        double share = mkperf_percent(w.period, function->weight.period);
        fprintf(out, "%s%8.2f%s : %10" PRIx64 ":  %s\n", mkperf_colour_begin(colour, share), share,
                mkperf_colour_end(colour, share), insn.addr, insn.text);
    }
    fputc('\n', out);
    annotate_code_close(&code);
    return MKPERF_OK;
}
