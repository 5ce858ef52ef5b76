/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the count of samples by instruction, the order of functions, and the form of the listing. See annotate.h. */
#include "annotate.h"

#include "base/colour.h"

/* Stores the innermost address of a chain. False: the choice excludes the chain, or its function is unknown. */
static bool find_hit(const struct mkperf_frames *f, const struct annotate_choice *c, uint32_t chain,
                     struct annotate_hit *out)
{
    const struct mkperf_profile *p = f->profile;
    struct mkperf_address address[MKPERF_PLACES_MAX];
    struct mkperf_chain_head head = mkperf_profile_head(p, chain);

    if (head.event != c->event ||
        (c->pd && strcmp(c->pd, mkperf_profile_pd_name(p, head.pd)) != 0) ||
        mkperf_profile_addresses(p, chain, address) == 0) {
        return false;
    }
    out->module = mkperf_frames_module(f, address[0].pd, address[0].kernel);
    out->addr = address[0].addr;
    out->weight = p->weight[chain];
    return out->module && mkperf_symbol_at(out->module, out->addr, &out->symbol) &&
           (!c->symbol || mkperf_symbol_is(out->symbol.name, c->symbol));
}

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

/* Joins sorted hits of one address, and lists the functions that have hits. */
static void merge_hits(struct annotate_hits *h)
{
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
}

void annotate_hits_find(struct annotate_hits *h, const struct mkperf_frames *f,
                        const struct annotate_choice *c)
{
    uint32_t chains = f->profile->chains.count;

    *h = (struct annotate_hits){.hit = mkperf_xcalloc(chains, sizeof *h->hit),
                                .function = mkperf_xcalloc(chains, sizeof *h->function)};
    for (uint32_t i = 0; i < chains; i++) {
        h->n += find_hit(f, c, i, &h->hit[h->n]);
    }
    qsort(h->hit, h->n, sizeof *h->hit, compare_hits);
    merge_hits(h);
    MKPERF_SORT(h->function, h->nfunctions, MKPERF_DOWN(h->function, weight.period),
                MKPERF_UP(h->function, first));
}

void annotate_hits_free(struct annotate_hits *h)
{
    free(h->hit);
    free(h->function);
}

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
    fprintf(out, ": %" PRIu64 " sample%s of event '%s', period sum %" PRIu64 " (%.2f%%)\n",
            fn->weight.samples, mkperf_plural(fn->weight.samples),
            p->places.session.event[c->event].name, fn->weight.period,
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

    MKPERF_TRY(annotate_code_open(&code, function->module, function->symbol.start,
                                  function->symbol.size, f->profile->places.search.objdump, e));
    print_title(function, f, c, out);
    if (code.problem[0] != '\0') {
        mkperf_print_line(out, "# %s", code.problem);
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
