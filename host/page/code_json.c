/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the code of a function as JSON. See page.h. */

#include "page.h"

struct file {
    char *name, *directory; /* directory: NULL if it is not known */
    int first, last;        /* the first and the last line that an instruction has */
};

struct files {
    struct file file[PAGE_CODE_FILES];
    int n;
};

/* Stores the symbol of a place. Returns false if the place is in no function of f. */
static bool symbol_of(const struct mkperf_frames *f, uint32_t place, struct mkperf_module **module,
                      struct mkperf_symbol *symbol)
{
    const struct mkperf_place *at = &f->profile->places.place[place];

    *module = mkperf_frames_module(f, at->pd, at->kernel);
    return *module != NULL && mkperf_symbol_at(*module, at->addr, symbol);
}

/* Returns 1 + the number of the function that has a place's code, in which the place's other frames are inlined, or 0
 * if it is not known. */
static uint32_t function_at(const struct mkperf_frames *f, uint32_t number)
{
    const struct mkperf_place *place = &f->profile->places.place[number];
    uint32_t frame = place->first + place->nframes - 1;

    return place->nframes > 0 && frame < f->room ? f->function_of[frame] : 0;
}

uint64_t *page_function_starts(const struct mkperf_frames *f)
{
    uint64_t *start = mkperf_xcalloc((size_t)f->functions.count + 1, sizeof *start);

    for (uint32_t i = 0; i < f->profile->places.places.count; i++) {
        uint32_t function = function_at(f, i);
        struct mkperf_module *module;
        struct mkperf_symbol symbol;
        if (function != 0 && start[function - 1] == 0 && symbol_of(f, i, &module, &symbol)) {
            start[function - 1] = symbol.start;
        }
    }
    return start;
}

/* Returns the index of the file of a line, or -1 if it is not known, or there are too many files. */
static int file_number(struct files *files, const struct mkperf_line *at)
{
    struct file *f = files->file;

    if (at->file == NULL) {
        return -1;
    }
    f += mkperf_named(files->file, (size_t)files->n, sizeof *f, at->file);
    if (f == &files->file[files->n]) {
        if (at->line <= 0 || files->n == PAGE_CODE_FILES) {
            return -1;
        }
        *f = (struct file){mkperf_xstrdup(at->file), mkperf_xstrdup(at->directory), at->line,
                           at->line};
        files->n++;
    }
    f->first = at->line < f->first ? at->line : f->first;
    f->last = at->line > f->last ? at->line : f->last;
    return (int)(f - files->file);
}

static void put_source_file(const struct file *f, struct annotate_sources *sources,
                            struct mkperf_textout *t)
{
    const char *text;
    int from = f->first > 4 ? f->first - 4 : 1, n = 0;

    mkperf_json(t, ",{'name':%s,'path':%s,'from':%d,'text':[", basename(f->name), f->name, from);
    for (; n < PAGE_CODE_LINES && from + n <= f->last + 3; n++) {
        text = annotate_source_line(sources, f->directory, f->name, from + n);
        if (text == NULL) {
            break;
        }
        mkperf_json(t, ",%s", text);
    }
    mkperf_json(t, "]}");
}

void page_code_json(const struct mkperf_frames *f, uint32_t function,
                    struct annotate_sources *sources, FILE *out)
{
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_module *module = NULL;
    struct mkperf_symbol symbol = {.name = NULL};
    struct annotate_code code;
    struct files files = {.n = 0};
    bool found = false;

    for (uint32_t i = 0; i < f->profile->places.places.count && !found; i++) {
        found = function_at(f, i) == function + 1 && symbol_of(f, i, &module, &symbol);
    }
    bool opened = found && annotate_code_open(&code, module, symbol.start, symbol.size,
                                              f->profile->places.search.objdump, &e) == MKPERF_OK;
    const char *path = module != NULL ? mkperf_module_path(module) : "";

    struct mkperf_textout t = {.over = out};

    mkperf_json(&t,
                "{'function':%" PRIu32 ",'name':%s,'elf':%s,'start':'%" PRIx64
                "','problem':%s,'insn':[",
                function, mkperf_frames_text(f, mkperf_frames_label(f, function).name),
                basename(path), symbol.start,
                opened  ? code.problem
                : found ? e.text
                        : "no ELF has this function, so its code is not known");
    if (opened) {
        struct annotate_insn insn;

        for (unsigned n = 0; n < PAGE_CODE_INSNS && annotate_code_next(&code, &insn); n++) {
            struct mkperf_line at = {.file = NULL};
            int file = mkperf_lines_at(module, insn.addr, &at, 1) > 0 ? file_number(&files, &at)
                                                                      : -1;

            mkperf_json(&t, ",[%" PRIu64 ",%zu,%s,%d,%d]", insn.addr - symbol.start, insn.size,
                        insn.text, file, file >= 0 ? at.line : 0);
        }
        annotate_code_close(&code);
    }
    mkperf_json(&t, "],'files':[");
    for (int i = 0; i < files.n; i++) {
        put_source_file(&files.file[i], sources, &t);
        free(files.file[i].name);
        free(files.file[i].directory);
    }
    mkperf_json(&t, "]}");
}
