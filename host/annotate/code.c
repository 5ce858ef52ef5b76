/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the disassembly by objdump, and the source files that were read. See annotate.h. */
#include "annotate.h"

#include <elf.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

enum { LONGEST = 15 }; /* bytes of an instruction */

/*
 * Runs an objdump for the function, as its standard input the module's bytes: the file at its path can be of another build
 * by now. Returns 0 or an errno value.
 */
static int start_objdump(struct annotate_code *c, const char *program)
{
    char from[40], to[40];
    const char *const words[] = {program,           "-dzC", "--no-show-raw-insn", from, to,
                                 "/proc/self/fd/0", NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], copy = mkperf_module_copy(c->module), error = EIO;

    snprintf(from, sizeof from, "--start-address=0x%" PRIx64, c->addr);
    snprintf(to, sizeof to, "--stop-address=0x%" PRIx64, c->addr + c->left);
    if (copy >= 0 && pipe2(ends, O_CLOEXEC) == 0) {
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, copy, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        error = posix_spawnp(&c->objdump, program, &actions, NULL, (char *const *)words, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        if (error == 0) {
            c->lines = fdopen(ends[0], "r");
        } else {
            close(ends[0]);
        }
    }
    if (copy >= 0) {
        close(copy);
    }
    return error;
}

/* Reads on to the next instruction from `least` on: "  200404:<tab>bl<tab>200500 <work>". c->text is NULL at the end. */
static void read_ahead(struct annotate_code *c, uint64_t least)
{
    c->text = NULL;
    while (c->text == NULL && getline(&c->line, &c->room, c->lines) > 0) {
        char *end;

        c->at = strtoull(c->line, &end, 16);
        if (end != c->line && end[0] == ':' && (end[1] == '\t' || end[1] == ' ') &&
            c->at >= least && c->at - c->addr < c->left) {
            c->text = end + 1;
        }
    }
}

enum mkperf_status annotate_code_open(struct annotate_code *c, struct mkperf_module *module,
                                      uint64_t addr, uint64_t size, const char *objdump,
                                      struct mkperf_error *e)
{
    static const char *const ends[] = {"-linux-gnu", "-none-elf", "-unknown-elf"};
    const char *arch = mkperf_module_arch(module);
    char program[64];
    size_t i = 0;

    *c = (struct annotate_code){.module = module, .addr = addr};
    c->p = size <= ANNOTATE_BYTES_MAX ? mkperf_module_code(module, addr, size) : NULL;
    MKPERF_FAIL_IF(c->p == NULL, e, MKPERF_ERR_INPUT,
                   "%s: code at 0x%" PRIx64 ": not in an executable segment, or too large",
                   mkperf_module_path(module), addr);
    c->left = size;
    if (objdump != NULL) {
        int error = start_objdump(c, objdump);
        MKPERF_FAIL_IF(error != 0, e, MKPERF_ERR_INPUT, "--objdump=%s: %s", objdump,
                       strerror(error));
    } else { /* one that this machine has */
        do {
            snprintf(program, sizeof program, "%s%s-objdump", arch, ends[i]);
        } while (start_objdump(c, program) != 0 && ++i < sizeof ends / sizeof *ends);
        if (i == sizeof ends / sizeof *ends && start_objdump(c, "llvm-objdump") != 0) {
            snprintf(c->problem, sizeof c->problem,
                     "no %s-linux-gnu-objdump is installed, and --objdump names none: words", arch);
        }
    }
    if (c->lines != NULL) {
        read_ahead(c, addr);
        if (c->text == NULL) {
            snprintf(c->problem, sizeof c->problem, "%s prints no instructions of this ELF: words",
                     objdump != NULL ? objdump : "objdump");
        }
    }
    return MKPERF_OK;
}

void annotate_code_close(struct annotate_code *c)
{
    if (c->lines != NULL) {
        (void)fclose(c->lines);
        (void)kill(c->objdump, SIGTERM); /* it may have more to print */
        while (waitpid(c->objdump, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    free(c->line);
}

bool annotate_code_next(struct annotate_code *c, struct annotate_insn *out)
{
    bool decoded = c->text != NULL && c->at == c->addr;
    bool compressed = mkperf_module_machine(c->module) == EM_RISCV && c->left >= 2 &&
                      (c->p[0] & 3) != 3;

    if (c->left == 0) {
        return false;
    }
    *out = (struct annotate_insn){.addr = c->addr, .size = compressed ? 2 : 4};
    if (decoded) {
        /* Stores "bl      200500 <work>" of objdump's "bl<tab>200500 <work>". Names are the ELF's: they can have any byte. */
        char *text = c->text + strspn(c->text, " \t");
        text[strcspn(text, "\n")] = '\0';
        size_t mnemonic = strcspn(text, " \t");
        const char *operands = text + mnemonic + strspn(text + mnemonic, " \t");
        for (char *tab = text; (tab = strchr(tab, '\t')) != NULL;) {
            *tab = ' ';
        }
        snprintf(out->text, sizeof out->text, *operands ? "%-7.*s %s" : "%.*s", (int)mnemonic, text,
                 operands);
        mkperf_printable(out->text);
        read_ahead(c, c->addr + 1);
    }
    uint64_t next = c->text != NULL ? c->at - c->addr : c->left;
    if (next < out->size || (decoded && next <= LONGEST)) {
        out->size = next;
    }
    if (!decoded) {
        uint64_t word = 0;
        for (size_t i = out->size; i-- > 0;) {
            word = word << 8 | c->p[i];
        }
        snprintf(out->text, sizeof out->text, "%-7s 0x%0*" PRIx64,
                 out->size == 2 ? ".half" : ".word", (int)(2 * out->size), word);
    }
    c->p += out->size;
    c->left -= out->size;
    c->addr += out->size;
    return true;
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
    struct annotate_source *f = &s->file[s->n++];
    FILE *in = fopen(path, "rb");
    *f = (struct annotate_source){.path = mkperf_xstrdup(path)};
    if (in == NULL) {
        return f;
    }
    f->text = mkperf_xcalloc(ANNOTATE_SOURCE_BYTES + 1, 1);
    size_t n = fread(f->text, 1, ANNOTATE_SOURCE_BYTES, in), room = 0;
    f->text = mkperf_xrealloc(f->text, n + 1, 1);
    (void)fclose(in);
    mkperf_printable_lines(f->text);
    /* Ends each line of the text with NUL, and makes the list of lines. */
    for (char *p = f->text; p != NULL;) {
        MKPERF_GROW(f->line, room, (size_t)f->nlines + 1);
        f->line[f->nlines++] = p;
        p = strchr(p, '\n');
        if (p != NULL) {
            *p++ = '\0';
        }
    }
    return f;
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
