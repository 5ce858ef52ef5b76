/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf stamp: writes an image's table of programs into the client PD's ELF, and tables for unwinding into the profiler
 * PD's, before the image is packed.
 *
 * Owns: the table's contents, and the changed ELFs. Their build ids do not change. The ELFs with and without
 * tables have the same code, symbols and lines, and a host may use either.
 */
#include <mkperf/record.h>

#include "base/outfile.h"
#include "cmd.h"

/* A program in which bytes are replaced. A symbol shows their place in its file. Only one PD's ELF has that symbol. */
struct changed {
    const char *symbol;
    size_t bytes;                 /* the least that the place has */
    struct mkperf_module *module; /* NULL: not found so far */
    /* Its name as the packer finds it. The module's path is that of a link's target. */
    char file[NAME_MAX + 1];
    struct mkperf_blank at;
};

/* The client PD's program, with the place of the table; the profiler PD's, with that of the tables for unwinding. */
enum { CLIENT, PROFILER, CHANGED };

struct stamp {
    const char *elf_path, *kernel, *output, *queues; /* options; NULL: not given */
    bool quiet, no_sddf, maps;
    const char *path; /* the .system file */
    struct mkperf_system *system;
    struct mkperf_symbols *symbols;
    struct mkperf_image image;
    struct mkperf_stamp_queues found;
    struct mkperf_module
        *module[MKPERF_STAMP_PROGRAMS +
                1]; /* by the program's number in the image; the kernel's is the last */
    struct changed changed[CHANGED];
    struct mkperf_stamp_unwind unwind;
    enum mkperf_stamp_unwind_wish wish;
};

static const struct mkperf_option stamp_options[] = {
    MKPERF_OPTION(0, "elf-path", "where the programs are (the .system file's directory)",
                  MKPERF_TAKES(DIRS, "DIR[:DIR]"), MKPERF_TEXT(struct stamp, elf_path)),
    MKPERF_OPTION(
        0, "kernel",
        "the kernel that the image gets; Microkit's monitor.elf is expected in its directory",
        MKPERF_TAKES(FILE, "ELF"), MKPERF_TEXT(struct stamp, kernel)),
    MKPERF_OPTION(0, "queues", "describes rings between PDs, for mkperf record --queues",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct stamp, queues)),
    MKPERF_OPTION(0, "maps",
                  "print the maps that the profiler PD needs for the queues, and write nothing; "
                  "programs that are missing are skipped",
                  MKPERF_SETS(struct stamp, maps)),
    MKPERF_OPTION(0, "no-sddf", "do not look for the queues of sDDF in the programs",
                  MKPERF_SETS(struct stamp, no_sddf)),
    MKPERF_OPTION(
        0, "unwind",
        "which programs get tables for call chains: those without frame pointers (auto, the "
        "default), all, or no program",
        MKPERF_TAKES(WORD, "WHICH"), .words = "auto all no",
        MKPERF_ENUM(struct stamp, wish, MKPERF_UNWIND_AUTO, MKPERF_UNWIND_AUTO)),
    MKPERF_OPTION(
        'o', "output",
        "the client PD's ELF with the table; the profiler PD's is written next to it (the ELFs "
        "themselves are changed)",
        MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct stamp, output)),
    MKPERF_OPTION('q', "quiet", "print only errors", MKPERF_SETS(struct stamp, quiet)),
    {.letter = 0},
};

/* Returns the path of the program that the packer finds: in the .system file's directory, which is one directory even if its name
 * has a colon, or in the first one of --elf-path that has it. Returns NULL if none has it. The caller frees the string. */
static char *find_program(const struct stamp *s, const char *program)
{
    if (s->elf_path != NULL || program[0] == '/') {
        return mkperf_find_file(s->elf_path, program);
    }
    char *path = mkperf_xprintf("%.*s%s", (int)(basename(s->path) - s->path), s->path, program);
    if (access(path, F_OK) == 0) { /* opening it says why it cannot be read */
        return path;
    }
    free(path);
    return NULL;
}

/* Opens the ELF, looks for the places in it, and fills the program's identity and file name. */
static enum mkperf_status identify(struct stamp *s, const char *path, struct mkperf_module **m,
                                   struct mkperf_image_program *out, struct mkperf_error *e)
{
    const char *file = basename(path);

    MKPERF_TRY(mkperf_symbols_module(s->symbols, path, m, e));
    mkperf_module_identity(*m, &out->build_id);
    snprintf(out->file, sizeof out->file, "%s", strlen(file) < sizeof out->file ? file : "");
    for (unsigned i = 0; i < CHANGED && out != &s->image.kernel && !s->maps; i++) {
        struct changed *c = &s->changed[i];
        struct mkperf_blank at;

        if (*m == c->module || !mkperf_module_object(*m, c->symbol, c->bytes, &at.offset, &at.n)) {
            continue;
        }
        MKPERF_FAIL_IF(c->module != NULL, e, MKPERF_ERR_INPUT,
                       "%s: two programs have a place for the table: %s and %s", s->path,
                       mkperf_module_path(c->module), mkperf_module_path(*m));
        c->module = *m;
        snprintf(c->file, sizeof c->file, "%s", file);
        c->at = at;
    }
    return MKPERF_OK;
}

/* Adds a program with a name to the image. path: its ELF, NULL: none is known. */
static enum mkperf_status add_program(struct stamp *s, const char *name, uint64_t thread,
                                      int parent, const char *path, struct mkperf_error *e)
{
    struct mkperf_image_program *out = &s->image.program[s->image.n];

    MKPERF_FAIL_IF(s->image.n == MKPERF_STAMP_PROGRAMS || strlen(name) > MKPERF_STAMP_NAME_BYTES, e,
                   MKPERF_ERR_INPUT,
                   "%s: %.64s: too many programs, or a name of more than %d bytes", s->path, name,
                   MKPERF_STAMP_NAME_BYTES);
    *out = (struct mkperf_image_program){.thread = thread, .parent = parent};
    memcpy(out->name, name, strlen(name) + 1);
    struct mkperf_module **module = &s->module[s->image.n++];
    return path != NULL ? identify(s, path, module, out, e) : MKPERF_OK;
}

/* Stores how the program that was added last is scheduled, a PD or a vCPU. */
static void schedule(struct stamp *s, const struct mkperf_scheduling *how)
{
    struct mkperf_scheduling *out = &s->image.program[s->image.n - 1].scheduling;

    *out = *how;
    out->known = how->budget_us <= UINT32_MAX && how->period_us <= UINT32_MAX;
}

/* Adds a PD with its program. With --maps a program may be missing, or be in several directories. */
static enum mkperf_status add_pd(struct stamp *s, const struct mkperf_system_pd *pd,
                                 struct mkperf_error *e)
{
    struct mkperf_image_program *out = &s->image.program[s->image.n];
    char *path = pd->program != NULL ? find_program(s, pd->program) : NULL;

    MKPERF_FAIL_IF(pd->program != NULL && path == NULL && !s->maps, e, MKPERF_ERR_INPUT,
                   "%s:%d: %s: its program %s is not in %s", s->path, pd->line, pd->name,
                   pd->program, s->elf_path != NULL ? s->elf_path : "the file's directory");
    e->status = add_program(s, pd->name, pd->thread, pd->parent, path, e);
    if (path == NULL || e->status != MKPERF_OK) {
        free(path);
        return e->status;
    }
    schedule(s, &pd->scheduling);
    /*
     * Refuses a program of another directory that has the same name. The packer would use the first that it finds,
     * and the wrong program might be in the image without a message. Files with one build id are one program, such as the
     * client PD's ELF and its stamped copy.
     */
    char *directories = !s->maps ? mkperf_xstrdup(s->elf_path) : NULL, *rest = directories,
         *directory;
    while (e->status == MKPERF_OK && (directory = strsep(&rest, ":")) != NULL) {
        char *other = mkperf_find_file(directory, pd->program);
        struct mkperf_module *theirs;
        struct mkperf_build_id id;
        if (other != NULL && strcmp(other, path) != 0 &&
            mkperf_symbols_module(s->symbols, other, &theirs, e) == MKPERF_OK) {
            mkperf_module_identity(theirs, &id);
            if (!mkperf_build_id_same(&out->build_id, &id)) {
                mkperf_error_set(e, MKPERF_ERR_INPUT,
                                 "%s:%d: %s: its program %s is in two directories: %s and %s are "
                                 "different programs; rename one of them",
                                 s->path, pd->line, pd->name, pd->program, path, other);
            }
        }
        free(other);
    }
    free(directories);
    free(path);
    return e->status;
}

/* Makes the table of the image: the PDs that were added, the kernel, the monitor and the vCPUs. The image's identity is a hash. It
 * is computed from the rest of the table and from everything that is loaded. */
static enum mkperf_status make_table(struct stamp *s, uint8_t table[MKPERF_STAMP_BYTES], size_t *n,
                                     struct mkperf_error *e)
{
    uint8_t hashed[MKPERF_STAMP_BYTES + (MKPERF_STAMP_PROGRAMS + 1) * MKPERF_CONTENT_HASH_BYTES];
    uint8_t hash[MKPERF_CONTENT_HASH_BYTES];

    s->image.kernel.parent = -1;
    mkperf_sha256(s->system->text, s->system->bytes, s->image.system);
    MKPERF_TRY(identify(s, s->kernel, &s->module[MKPERF_STAMP_PROGRAMS], &s->image.kernel, e));
    /* Microkit's monitor is a file in the kernel's directory of the SDK. pocket has no monitor. */
    char *monitor =
        mkperf_xprintf("%.*smonitor.elf", (int)(basename(s->kernel) - s->kernel), s->kernel);
    e->status = access(monitor, R_OK) == 0
                    ? add_program(s, "monitor", MKPERF_THREAD_INITIAL, -1, monitor, e)
                    : MKPERF_OK;
    free(monitor);
    MKPERF_TRY(e->status);
    for (unsigned i = 0; i < s->system->nvcpus; i++) {
        /* vCPUs have names and no programs. */
        const struct mkperf_system_vcpu *v = &s->system->vcpu[i];
        MKPERF_TRY(add_program(s, v->name, v->thread, (int)v->parent, NULL, e));
        schedule(s, &v->scheduling);
    }
    const struct changed *client = &s->changed[CLIENT], *profiler = &s->changed[PROFILER];
    MKPERF_FAIL_IF(client->module == NULL, e, MKPERF_ERR_INPUT,
                   "%s: none of its programs is mkperf's client PD (with the symbol "
                   "%s), or it is of an older mkperf",
                   s->path, MKPERF_STAMP_SYMBOL);
    /* An identity derived from the content would change with the table. */
    MKPERF_FAIL_IF(mkperf_module_build_id(client->module)->n == 0, e, MKPERF_ERR_INPUT,
                   "%s: has no build id: link it with --build-id",
                   mkperf_module_path(client->module));
    mkperf_stamp_unwind_make(&s->unwind, &s->image, s->module, s->wish);
    MKPERF_FAIL_IF(s->unwind.size != 0 && profiler->module == NULL, e, MKPERF_ERR_INPUT,
                   "%s: programs need tables for unwinding, and the profiler PD has no place for "
                   "them (the symbol %s): it is of an older mkperf; --unwind no does without",
                   s->path, MKPERF_UNWIND_SYMBOL);
    char *windows = mkperf_windows_text(s->system);
    if (windows != NULL && strlen(windows) > MKPERF_STAMP_WINDOWS_BYTES) {
        fprintf(stderr,
                "mkperf: warning: %s: the domain schedule needs more than %d bytes: windows get "
                "numbers\n",
                s->path, MKPERF_STAMP_WINDOWS_BYTES);
    } else if (windows != NULL) {
        memcpy(s->image.windows, windows, strlen(windows) + 1);
    }
    free(windows);
    *n = mkperf_image_write(&s->image, table);
    struct mkperf_put c = {.p = hashed};
    mkperf_put_data(&c, table + MKPERF_STAMP_SYSTEM_AT, *n - MKPERF_STAMP_SYSTEM_AT);
    for (unsigned i = 0; i <= MKPERF_STAMP_PROGRAMS; i++) {
        /* The contents that the packer loads, without the tables themselves. */
        const struct mkperf_module *m = s->module[i];
        struct mkperf_blank blank = m == client->module     ? client->at
                                    : m == profiler->module ? profiler->at
                                                            : (struct mkperf_blank){0};
        MKPERF_FAIL_IF(m != NULL && !mkperf_module_content(m, blank, c.p), e, MKPERF_ERR_INPUT,
                       "%s: nothing in it is loaded", mkperf_module_path(m));
        c.p += m != NULL ? MKPERF_CONTENT_HASH_BYTES : 0;
    }
    mkperf_sha256(hashed, (size_t)(c.p - hashed), hash);
    memcpy(s->image.id, hash, sizeof s->image.id);
    *n = mkperf_image_write(&s->image, table);
    MKPERF_FAIL_IF(*n > client->at.n, e, MKPERF_ERR_INPUT,
                   "%s: the table needs %zu bytes, %" PRIu64 " are reserved",
                   mkperf_module_path(client->module), *n, client->at.n);
    return mkperf_image_read(table, *n, &s->image, e); /* checks that a host can read the table */
}

/* Writes a program's file to `to` with n bytes of `table` in the place for them, and zeros behind. */
static enum mkperf_status write_changed(const struct changed *c, const char *to, const void *table,
                                        size_t n, struct mkperf_error *e)
{
    const char *from = mkperf_module_path(c->module);
    size_t size;
    const uint8_t *file = mkperf_module_file(c->module, &size);
    uint8_t *changed = mkperf_xcalloc(1, size);
    struct mkperf_outfile out;
    struct stat st = {.st_mode = 0755}, made;

    (void)stat(from, &st);
    memcpy(changed, file, size);
    memset(changed + c->at.offset, 0, c->at.n);
    memcpy(changed + c->at.offset, table, n);
    enum mkperf_status status = mkperf_outfile_open(&out, to, false, e);
    if (status == MKPERF_OK) {
        mkperf_outfile_write(&out, changed, size);
        status = mkperf_outfile_finish(&out, e);
    }
    free(changed);
    if (status == MKPERF_OK && stat(to, &made) == 0 && S_ISREG(made.st_mode)) {
        (void)chmod(to, st.st_mode & 0777); /* keeps the file executable */
    }
    return status;
}

static enum mkperf_status write_elfs(struct stamp *s, struct mkperf_error *e)
{
    const struct changed *client = &s->changed[CLIENT], *profiler = &s->changed[PROFILER];
    uint8_t table[MKPERF_STAMP_BYTES];
    char text[MKPERF_IMAGE_TEXT];
    size_t n = 0;

    MKPERF_TRY(make_table(s, table, &n, e));
    const char *to = s->output != NULL ? s->output : mkperf_module_path(client->module);
    const char *next = s->output != NULL ? basename(to) : ""; /* the client PD's new name */
    struct stat st;
    MKPERF_FAIL_IF(profiler->module != NULL && strcmp(next, profiler->file) == 0, e,
                   MKPERF_ERR_USAGE,
                   "%s: the profiler PD's ELF gets this name: give -o another one", to);
    MKPERF_FAIL_IF(profiler->module != NULL && strcmp(to, "-") != 0 && stat(to, &st) == 0 &&
                       !S_ISREG(st.st_mode),
                   e, MKPERF_ERR_USAGE,
                   "%s: no regular file, and the profiler PD's ELF would be written next to it",
                   to);
    MKPERF_TRY(write_changed(client, to, table, n, e));
    /* Writes the profiler PD's ELF next to the client PD's, or in place. Without tables, too: the packer must not find those of
     * an earlier system. */
    bool some = s->unwind.size != 0, piped = strcmp(to, "-") == 0;
    MKPERF_FAIL_IF(piped && some && profiler->module != NULL, e, MKPERF_ERR_USAGE,
                   "the profiler PD's ELF is written next to the client PD's: give -o a file");
    if (profiler->module != NULL && !piped) {
        char *path = s->output != NULL
                         ? mkperf_xprintf("%.*s%s", (int)(basename(to) - to), to, profiler->file)
                         : mkperf_xstrdup(mkperf_module_path(profiler->module));
        uint32_t bytes = s->unwind.size - (uint32_t)sizeof(struct mkperf_unwind_tables);
        (void)write_changed(profiler, path,
                            some ? (const void *)s->unwind.bytes : MKPERF_UNWIND_EMPTY,
                            some ? s->unwind.size : sizeof MKPERF_UNWIND_EMPTY - 1, e);
        if (e->status == MKPERF_OK && some && !s->quiet) {
            fprintf(stderr,
                    "mkperf: %s: tables for unwinding %u PDs: %u bytes, %.1f %% of their code\n",
                    path, s->unwind.pds, bytes, mkperf_percent(bytes, s->unwind.text));
        }
        free(path);
    }
    if (e->status != MKPERF_OK || s->quiet) {
        return e->status;
    }
    fprintf(stderr, "mkperf: %s: %u programs, image %s\n", to, s->image.n,
            mkperf_hex(s->image.id, sizeof s->image.id, text));
    for (unsigned i = 0; i < s->image.nqueues; i++) {
        const struct mkperf_image_queue *q = &s->image.queue[i];
        fprintf(stderr, "  queue   %s (%s%s, %" PRIu64 " slots), %s -> %s%s\n", q->name,
                mkperf_queue_kinds[q->kind], q->returns ? ", returns" : "", q->slots,
                q->producer >= 0 ? s->image.program[q->producer].name : "?",
                q->consumer >= 0 ? s->image.program[q->consumer].name : "?",
                q->head != 0 ? "" : "; not read: the profiler PD has no map of its memory region");
    }
    return MKPERF_OK;
}

static enum mkperf_status run_stamp(void *self, const struct mkperf_args *args,
                                    struct mkperf_error *e)
{
    struct stamp *s = self;

    MKPERF_TRY(MKPERF_RULES(
        e, "stamp",
        {s->kernel == NULL && !s->maps, "want --kernel ELF, the kernel that the image gets"}));
    s->path = args->operand[0];
    s->symbols = mkperf_symbols_new();
    MKPERF_TRY(mkperf_system_load(s->path, &s->system, e));
    for (unsigned i = 0; i < s->system->npds; i++) {
        MKPERF_TRY(add_pd(s, &s->system->pd[i], e));
    }
    s->found = (struct mkperf_stamp_queues){.system = s->system, .image = &s->image};
    MKPERF_TRY(!s->no_sddf ? mkperf_stamp_queues_find(&s->found, s->path, s->module, e)
                           : MKPERF_OK);
    MKPERF_TRY(s->queues != NULL ? mkperf_stamp_queues_read(&s->found, s->queues, e) : MKPERF_OK);
    if (!s->maps) {
        return write_elfs(s, e);
    }
    mkperf_stamp_queue_maps(&s->found, stdout);
    return MKPERF_OK;
}

static void end_stamp(void *self)
{
    struct stamp *s = self;

    mkperf_system_free(s->system);
    mkperf_symbols_free(s->symbols);
}

const struct mkperf_command mkperf_stamp_command = {
    .name = "stamp",
    .summary = "write the list of an image's programs into its client PD",
    .synopsis = "--kernel ELF [--elf-path DIR[:DIR]] [-o FILE] SYSTEM",
    .description =
        "Writes a table into the ELF of mkperf's client PD: the number, the name and the build id "
        "of "
        "each PD of the .system file, the kernel's build id, and an identity of the whole image. "
        "Hosts ask the target for it, so that names come from the image that runs, and an ELF "
        "of another build is not used.\n\n"
        "The hook finds call chains by frame pointers. For each program without them, stamp makes "
        "a "
        "table from its call-frame information (.eh_frame or .debug_frame), and writes the tables "
        "into the profiler PD's ELF.\n\n"
        "Run it when all programs are built, and before the image is packed. The packer must find "
        "the changed ELFs: give their directory first. Their build ids stay the same.",
    .options = {{stamp_options, 0}},
    .operand = MKPERF_VALUE_FILE,
    .operands_min = 1,
    .operands_max = 1,
    .examples = "mkperf stamp my.system --elf-path build --kernel sel4.elf -o "
                "build/stamped/mkperf_client.elf\n"
                "microkit my.system --search-path build/stamped build ...",
    .self = MKPERF_SELF(
        struct stamp,
        .changed = {[CLIENT] = {.symbol = MKPERF_STAMP_SYMBOL, .bytes = MKPERF_STAMP_HEADER_BYTES},
                    [PROFILER] = {.symbol = MKPERF_UNWIND_SYMBOL, .bytes = MKPERF_UNWIND_BYTES}}),
    .run = run_stamp,
    .end = end_stamp,
};
