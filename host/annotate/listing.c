/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the count of samples by instruction, the order of functions, and the form of the listing. See annotate.h. */
#include "annotate.h"

static int compare_hits(const void *pa, const void *pb)
{
    const struct annotate_hit *a = pa, *b = pb;
    int order = a->module == b->module
                    ? 0
                    : strcmp(mkperf_module_path(a->module), mkperf_module_path(b->module));

    if (order != 0) {
        return order;
    }
    return a->symbol.start != b->symbol.start ? mkperf_compare(a->symbol.start, b->symbol.start)
                                              : mkperf_compare(a->addr, b->addr);
}

void annotate_hits_find(struct annotate_hits *h, const struct mkperf_frames *f,
                        const struct annotate_choice *c)
{
    const struct mkperf_profile *p = f->profile;
    uint32_t chains = p->chains.count;

    *h = (struct annotate_hits){.hit = mkperf_xcalloc(chains, sizeof *h->hit),
                                .function = mkperf_xcalloc(chains, sizeof *h->function)};
    for (uint32_t i = 0; i < chains; i++) {
        struct mkperf_place address[MKPERF_PLACES_MAX]; /* the first one is the innermost */
        struct mkperf_chain_head head = mkperf_profile_head(p, i);
        struct annotate_hit *hit = &h->hit[h->n];

        if (head.event != c->event ||
            (c->pd && strcmp(c->pd, mkperf_profile_pd_name(p, head.pd)) != 0) ||
            mkperf_profile_addresses(p, i, address) == 0) {
            continue;
        }
        hit->module = mkperf_frames_module(f, address[0].pd, address[0].kernel);
        hit->addr = address[0].addr;
        hit->weight = p->weight[i];
        h->n += hit->module && mkperf_symbol_at(hit->module, hit->addr, &hit->symbol) &&
                (!c->symbol || mkperf_symbol_is(hit->symbol.name, c->symbol));
    }
    qsort(h->hit, h->n, sizeof *h->hit, compare_hits);
    /* Joins hits of one address, and lists the functions that have hits. */
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        struct annotate_hit hit = h->hit[i];
        struct annotate_function *last = h->nfunctions ? &h->function[h->nfunctions - 1]
                                                       : h->function;

        if (h->nfunctions == 0 || last->module != hit.module ||
            last->symbol.start != hit.symbol.start) {
            last = &h->function[h->nfunctions++];
            *last =
                (struct annotate_function){.module = hit.module, .symbol = hit.symbol, .first = n};
        }
        mkperf_weight_add(&last->weight, &hit.weight);
        if (last->n > 0 && h->hit[n - 1].addr == hit.addr) {
            mkperf_weight_add(&h->hit[n - 1].weight, &hit.weight);
        } else {
            h->hit[n++] = hit;
            last->n++;
        }
    }
    assert(n >= h->nfunctions);
    h->n = n;
    MKPERF_SORT(h->function, h->nfunctions, MKPERF_DOWN(h->function, weight.period),
                MKPERF_UP(h->function, first));
}

void annotate_hits_free(struct annotate_hits *h)
{
    free(h->hit);
    free(h->function);
}

enum mkperf_status annotate_print(const struct annotate_hits *h,
                                  const struct annotate_function *function,
                                  const struct mkperf_frames *f, const struct annotate_choice *c,
                                  const struct annotate_style *style,
                                  struct annotate_sources *sources, FILE *out,
                                  struct mkperf_error *e)
{
    const struct annotate_hit *hit = &h->hit[function->first], *end = hit + function->n;
    struct mkperf_line last = {.file = NULL}; /* the source line that was printed last */
    char last_function[256] = "";
    struct annotate_code code;
    struct annotate_insn insn;

    MKPERF_TRY(annotate_code_open(&code, function->module, function->symbol.start,
                                  function->symbol.size, f->profile->places.search.objdump, e));
    const char *file = basename(mkperf_module_path(function->module));
    char text[MKPERF_PRINTABLE_PATH];
    fprintf(out, "# %s in %s%s%s%s", function->symbol.name,
            mkperf_printable_copy(file, text, sizeof text), c->pd ? ", PD " : "",
            c->pd ? c->pd : "", c->pd ? " only" : "");
    fprintf(out, ": %" PRIu64 " sample%s of event '%s', period sum %" PRIu64 " (%.2f%%)\n",
            function->weight.samples, mkperf_plural(function->weight.samples),
            f->profile->places.session.event[c->event].name, function->weight.period,
            mkperf_percent(function->weight.period, f->profile->total[c->event].period));
    fprintf(out, "#\n# Percent    Address  Instruction\n#\n");
    if (code.problem[0] != '\0') {
        mkperf_print_line(out, "# %s", code.problem);
    }
    while (annotate_code_next(&code, &insn)) {
        struct mkperf_weight w = {0, 0};

        for (; hit < end && hit->addr < insn.addr + insn.size; hit++) {
            mkperf_weight_add(&w, &hit->weight);
        }
        struct mkperf_line at = {.file = NULL};
        if (style->source && mkperf_lines_at(function->module, insn.addr, &at, 1) != 0 && at.file &&
            !(last.file && strcmp(last.file, at.file) == 0 && last.line == at.line)) {
            if (at.function && strcmp(last_function, at.function) != 0) {
                snprintf(last_function, sizeof last_function, "%s", at.function);
                fprintf(out, "           %s():\n", at.function);
            }
            last = at;
            const char *line = annotate_source_line(sources, at.directory, at.file, at.line);
            fprintf(out, "           %s:%d  %s\n", basename(at.file), at.line, line ? line : "");
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
