/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counts of mkperf's plugin for QEMU (platform/qemu/exact_plugin.c): how often each instruction of a machine was executed.
 *
 * Owns: the reading of the file, and whose code each instruction is. The plugin knows no PDs. It distinguishes copies of code
 * in memory, so an instruction's program is found by its bytes:
 *   1. All instructions of a copy (one distance from virtual addresses to memory) are compared with each ELF of the system.
 *   2. If no ELF has all of them, as if a program's pages are scattered, each page is compared.
 *   3. If no ELF fits, or ELFs of different builds fit, the instructions belong to the PD "other code".
 * PDs of one program are one row, because copies of it have no names. Each instruction becomes a sample with its number of
 * executions as the period. Nothing is lost; memory grows with the instructions of the programs, not with their executions.
 */
#include "import.h"

enum { PAGE = 4096, CODE_BYTES = 4, NO_PROGRAM = -1, OTHER_PERCENT = 1 };

struct row {
    uint64_t vaddr, copy, count;
    uint32_t code;
    uint8_t bytes;
};

struct program {
    struct mkperf_module *module;
    struct mkperf_build_id id;
    struct mkperf_pd pd;
    char name[MKPERF_MODEL_NAME];
    bool kernel;
};

struct exact {
    const char *path;
    struct mkperf_error *e;
    const struct mkperf_sink *sink;
    struct mkperf_symbols *symbols;
    struct mkperf_pds *pds;
    struct row *row;
    size_t n, room;
    struct program program[MKPERF_MAX_PDS + 1];
    unsigned nprograms;
    uint64_t executed, other; /* instructions; those that no ELF has */
    struct mkperf_totals totals;
};

static enum mkperf_status read_rows(struct exact *x, FILE *f)
{
    char *line = NULL;
    size_t room = 0;
    uint64_t sum = 0;

    if (getline(&line, &room, f) < 0 || strcmp(line, "mkperf-exact 1\n") != 0) {
        mkperf_error_set(x->e, MKPERF_ERR_INPUT, "%s:1: not a file of mkperf's plugin for QEMU",
                         x->path);
    }
    for (size_t number = 2; x->e->status == MKPERF_OK; number++) {
        struct row r;
        char code[9];
        int used = 0;

        if (getline(&line, &room, f) < 0) {
            mkperf_error_set(x->e, MKPERF_ERR_INPUT, "%s:%zu: the last line, end, is missing",
                             x->path, number);
            break;
        }
        if (strcmp(line, "end until\n") == 0 || strcmp(line, "end exit\n") == 0) {
            break;
        }
        bool whole = sscanf(line, "%" SCNx64 " %" SCNx64 " %8[0-9a-f] %" SCNu64 " %n", &r.vaddr,
                            &r.copy, code, &r.count, &used) == 4 &&
                     line[used] == '\0';
        r.bytes = whole ? (uint8_t)(strlen(code) / 2) : 0;
        if ((r.bytes != 2 && r.bytes != CODE_BYTES) || r.count == 0 ||
            r.count > UINT64_MAX / 2 - sum) {
            mkperf_error_set(x->e, MKPERF_ERR_INPUT,
                             "%s:%zu: not an address, a copy, an instruction and a count", x->path,
                             number);
        } else {
            r.code = (uint32_t)strtoul(code, NULL, 16);
            sum += r.count;
            MKPERF_GROW(x->row, x->room, x->n + 1);
            x->row[x->n++] = r;
        }
    }
    free(line);
    return x->e->status;
}

/* Adds a program, or the name of one more PD to a program that is known. */
static void add_program(struct exact *x, const struct mkperf_pd *pd, struct mkperf_module *module)
{
    struct mkperf_build_id id;
    unsigned i = 0;

    mkperf_module_identity(module, &id);
    while (i < x->nprograms && !mkperf_build_id_same(&x->program[i].id, &id)) {
        i++;
    }
    struct program *p = &x->program[i];
    size_t used = strlen(p->name);
    snprintf(p->name + used, sizeof p->name - used, "%s%s", used > 0 ? "," : "", pd->name);
    if (i == x->nprograms) {
        x->nprograms++;
        p->module = module;
        p->id = id;
        p->pd = *pd;
        p->pd.build_id = id;
        p->pd.elf = mkperf_module_path(module);
    }
    p->pd.scheduling.known = false; /* several PDs may differ */
}

/* Returns the only program that has all of these rows. NO_PROGRAM: none has, or several have. */
static int only_program_with(const struct exact *x, const struct row *r, size_t n)
{
    int found = NO_PROGRAM;

    for (unsigned i = 0; i < x->nprograms; i++) {
        size_t k = 0;

        for (const uint8_t *code; k < n; k++) {
            code = mkperf_module_code(x->program[i].module, r[k].vaddr, r[k].bytes);
            if (code == NULL ||
                (r[k].bytes == 2 ? mkperf_get16(code) : mkperf_get32(code)) != r[k].code) {
                break;
            }
        }
        if (k == n) {
            if (found != NO_PROGRAM) {
                return NO_PROGRAM;
            }
            found = (int)i;
        }
    }
    return found;
}

/* Passes rows of one program on as samples. */
static enum mkperf_status put_rows(struct exact *x, int program, const struct row *r, size_t n)
{
    static const struct mkperf_chain no_callers = {.n = 0};
    bool kernel = program != NO_PROGRAM && x->program[program].kernel;

    for (size_t i = 0; i < n && x->e->status == MKPERF_OK; i++) {
        struct mkperf_sample s = {
            .period = r[i].count,
            .pd = program != NO_PROGRAM ? (uint32_t)program : x->nprograms,
            .flags = kernel ? MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER : 0,
            .callers = &no_callers,
        };
        *(kernel ? &s.kernel_pc : &s.pc) = r[i].vaddr;
        x->totals.samples++;
        x->executed += r[i].count;
        x->other += program == NO_PROGRAM ? r[i].count : 0;
        mkperf_sink_sample(x->sink, &s, x->e);
    }
    return x->e->status;
}

static enum mkperf_status put_all(struct exact *x, const struct mkperf_input *in)
{
    struct mkperf_session session = {
        .platform = "QEMU",
        .cpu = "",
        .cores = 1,
        .nevents = 1,
        .event = {{.name = "instructions", .user = true, .kernel = true, .period = 1}},
        .exact = true,
        .command = in->command,
    };
    mkperf_pds_describe(x->pds, &session);
    MKPERF_TRY(mkperf_sink_begin(x->sink, &session, x->e));
    for (unsigned i = 0; i <= x->nprograms; i++) {
        struct program *p = &x->program[i];

        if (i == x->nprograms) {
            snprintf(p->name, sizeof p->name, "other code");
            p->pd.thread = MKPERF_THREAD_NONE;
        }
        p->pd.id = i;
        p->pd.name = p->name;
        MKPERF_TRY(mkperf_sink_pd(x->sink, &p->pd, x->e));
    }
    MKPERF_SORT(x->row, x->n, MKPERF_UP(x->row, copy), MKPERF_UP(x->row, vaddr),
                MKPERF_UP(x->row, code));
    for (size_t from = 0, to; from < x->n && x->e->status == MKPERF_OK; from = to) {
        to = from + 1;
        while (to < x->n && x->row[to].copy == x->row[from].copy) {
            to++;
        }
        const struct row *r = x->row + from;
        size_t n = to - from;
        int program = only_program_with(x, r, n);
        if (program != NO_PROGRAM) {
            put_rows(x, program, r, n);
            continue;
        }
        for (size_t page = 0, next; page < n && x->e->status == MKPERF_OK; page = next) {
            next = page + 1;
            while (next < n && r[next].vaddr / PAGE == r[page].vaddr / PAGE) {
                next++;
            }
            put_rows(x, only_program_with(x, r + page, next - page), r + page, next - page);
        }
    }
    x->totals.complete = true;
    if (mkperf_percent(x->other, x->executed) > OTHER_PERCENT && in->pds.warn != NULL) {
        char text[256];

        snprintf(text, sizeof text,
                 "%.2f %% of the instructions are in no ELF of the system: the loader's and the "
                 "firmware's, or an ELF is of another build than the image",
                 mkperf_percent(x->other, x->executed));
        in->pds.warn(in->pds.self, text);
    }
    return x->e->status;
}

/* Lists the programs of the system: those of its PDs, and the kernel. */
static enum mkperf_status find_programs(struct exact *x, const struct mkperf_input *in)
{
    struct mkperf_session session = {.cores = 1};
    struct mkperf_module *module;

    MKPERF_TRY(mkperf_pds_new(&in->pds, x->symbols, &x->pds, x->e));
    for (uint32_t i = 0; i < x->pds->n; i++) {
        if ((module = x->pds->module[i]) != NULL) {
            add_program(x, &x->pds->pd[i], module);
        }
    }
    mkperf_pds_describe(x->pds, &session);
    if (session.kernel_elf != NULL &&
        mkperf_symbols_module(x->symbols, session.kernel_elf, &module, x->e) == MKPERF_OK) {
        const struct mkperf_pd kernel = {.name = "kernel", .thread = MKPERF_THREAD_NONE};
        x->program[x->nprograms].kernel = true;
        add_program(x, &kernel, module);
    }
    if (x->e->status == MKPERF_OK && x->nprograms == 0) {
        mkperf_error_set(x->e, MKPERF_ERR_INPUT, "%s: --system and --elf-path name no ELF",
                         x->path);
    }
    return x->e->status;
}

enum mkperf_status mkperf_exact_read(const char *path, int fd, const struct mkperf_input *in,
                                     const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct mkperf_order order;
    const struct mkperf_sink checked = mkperf_sink_in_order(*sink, &order);
    struct exact *x = mkperf_xcalloc(1, sizeof *x);
    FILE *f = fdopen(fd, "re");

    x->path = path;
    x->e = e;
    x->sink = &checked;
    x->symbols = mkperf_symbols_new();
    if (f == NULL) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    } else if (read_rows(x, f) == MKPERF_OK && find_programs(x, in) == MKPERF_OK) {
        put_all(x, in);
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    mkperf_sink_finish(&checked, e->status, &x->totals, e);
    mkperf_pds_free(x->pds);
    mkperf_symbols_free(x->symbols);
    free(x->row);
    free(x);
    return e->status;
}
