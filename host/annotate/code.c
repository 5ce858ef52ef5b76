/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the disassembly by capstone, and the source files that were read. See annotate.h. */
#include "annotate.h"

#include <capstone/capstone.h>
#include <elf.h>

/* Opens capstone. Returns false if it does not know the machine. */
static bool open_capstone(struct annotate_code *c)
{
    cs_err error = CS_ERR_ARCH;

    if (mkperf_module_machine(c->module) == EM_AARCH64) {
        error = cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &c->capstone);
    }
    if (mkperf_module_machine(c->module) == EM_X86_64) {
        error = cs_open(CS_ARCH_X86, CS_MODE_64, &c->capstone);
    }
#if CS_API_MAJOR >= 5
    if (mkperf_module_machine(c->module) == EM_RISCV) {
        error = cs_open(CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC, &c->capstone);
    }
#endif
    if (error != CS_ERR_OK) {
        return false;
    }
    cs_option(c->capstone, CS_OPT_DETAIL, CS_OPT_ON);
    c->insn = cs_malloc(c->capstone);
    return c->insn != NULL;
}

enum mkperf_status annotate_code_open(struct annotate_code *c, struct mkperf_module *module,
                                      uint64_t addr, uint64_t size, struct mkperf_error *e)
{
    *c = (struct annotate_code){.module = module, .addr = addr, .left = size};
    c->p = size <= ANNOTATE_BYTES_MAX ? mkperf_module_code(module, addr, size) : NULL;
    if (c->p == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "%s: code at 0x%" PRIx64
                                ": not in an executable segment, or too large",
                                mkperf_module_path(module), addr);
    }
    c->readable = open_capstone(c);
    return MKPERF_OK;
}

void annotate_code_close(struct annotate_code *c)
{
    if (c->insn) {
        cs_free(c->insn, 1);
    }
    if (c->capstone) {
        cs_close(&c->capstone);
    }
}

/* Stores the target of a direct branch or call, which is its last operand. */
static bool branch_target(const cs_insn *insn, uint64_t *target)
{
    const cs_arm64 *a = &insn->detail->arm64;

    switch (insn->id) {
    case ARM64_INS_B:
    case ARM64_INS_BL:
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
        if (a->op_count > 0 && a->operands[a->op_count - 1].type == ARM64_OP_IMM) {
            *target = (uint64_t)a->operands[a->op_count - 1].imm;
            return true;
        }
        return false;
    default:
        return false;
    }
}

static void disassemble(struct annotate_code *c, struct annotate_insn *out)
{
    const cs_insn *insn = c->insn;
    struct mkperf_symbol symbol;
    uint64_t target;
    int n = snprintf(out->text, sizeof out->text, "%-7s %s", insn->mnemonic, insn->op_str);

    out->addr = insn->address;
    out->size = insn->size;
    if (mkperf_module_machine(c->module) == EM_AARCH64 && branch_target(insn, &target) &&
        mkperf_symbol_at(c->module, target, &symbol) && n > 0 && (size_t)n < sizeof out->text) {
        uint64_t offset = target - symbol.start;
        size_t room = sizeof out->text - (size_t)n;

        if (offset) {
            snprintf(out->text + n, room, " <%s+0x%" PRIx64 ">", symbol.name, offset);
        } else {
            snprintf(out->text + n, room, " <%s>", symbol.name);
        }
    }
}

bool annotate_code_next(struct annotate_code *c, struct annotate_insn *out)
{
    if (c->left == 0) {
        return false;
    }
    if (c->readable && cs_disasm_iter(c->capstone, &c->p, &c->left, &c->addr, c->insn)) {
        disassemble(c, out);
    } else {
        uint64_t word = 0;
        size_t size = c->left < 4 ? c->left : 4;
        if (mkperf_module_machine(c->module) == EM_RISCV && c->left >= 2 && (c->p[0] & 3) != 3) {
            size = 2; /* a compressed instruction */
        }
        for (size_t i = size; i-- > 0;) {
            word = word << 8 | c->p[i];
        }
        out->addr = c->addr;
        out->size = size;
        snprintf(out->text, sizeof out->text, "%-7s 0x%0*" PRIx64, size == 2 ? ".half" : ".word",
                 (int)(2 * size), word);
        c->p += size;
        c->left -= size;
        c->addr += size;
    }
    return true;
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0;

    if (!f) {
        return NULL;
    }
    if (fseeko(f, 0, SEEK_END) == 0 && ftello(f) > 0) {
        n = (size_t)ftello(f) < ANNOTATE_SOURCE_BYTES ? (size_t)ftello(f) : ANNOTATE_SOURCE_BYTES;
    }
    rewind(f);
    text = mkperf_xcalloc(n + 1, 1);
    text[fread(text, 1, n, f)] = '\0';
    mkperf_printable_lines(text);
    (void)fclose(f);
    return text;
}

/* Ends each line of the text with NUL, and makes the list of lines. */
static void split_lines(struct annotate_source *f)
{
    int n = 1;

    for (const char *p = f->text; *p; p++) {
        n += *p == '\n';
    }
    f->line = mkperf_xcalloc((size_t)n, sizeof *f->line);
    for (char *p = f->text; p; f->nlines++) {
        char *end = strchr(p, '\n');

        f->line[f->nlines] = p;
        if (end) {
            *end++ = '\0';
        }
        p = end;
    }
}

/* Returns a file, which may have no text; NULL: there are too many files. */
static struct annotate_source *find_source(struct annotate_sources *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->file[i].path, path) == 0) {
            return &s->file[i];
        }
    }
    if (s->n == ANNOTATE_SOURCES_MAX) {
        return NULL;
    }
    s->file = mkperf_xrealloc(s->file, s->n + 1, sizeof *s->file);
    s->file[s->n] = (struct annotate_source){.path = mkperf_xstrdup(path), .text = read_text(path)};
    if (s->file[s->n].text) {
        split_lines(&s->file[s->n]);
    }
    return &s->file[s->n++];
}

const char *annotate_source_line(struct annotate_sources *s, const char *directory,
                                 const char *path, int line)
{
    const struct annotate_source *f = NULL;
    char *whole = NULL;

    if (directory && asprintf(&whole, "%s/%s", directory, path) >= 0) {
        f = find_source(s, whole);
        free(whole);
    }
    if (!f || !f->text) {
        f = find_source(s, path);
    }
    return f && line >= 1 && line <= f->nlines ? f->line[line - 1] : NULL;
}

void annotate_sources_free(struct annotate_sources *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->file[i].path);
        free(s->file[i].text);
        free(s->file[i].line);
    }
    free(s->file);
    *s = (struct annotate_sources){.n = 0};
}
