/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the registry of PDs, and the search for their ELFs and the kernel's. What an image lists is preferred to what a
 * .system file describes, because a target sends the list of the image that runs. See pds.h.
 */
#include "pds.h"

enum { WHY = 1024, LISTED = 8 }; /* bytes of a reason; differences in a warning */

/* Searches --elf-path, or without it the directory of the .system file. The caller frees the path. NULL: it is not there. */
static char *find_of_system(const struct mkperf_pds *p, const char *name)
{
    return mkperf_find_file(p->config.elf_path != NULL ? p->config.elf_path : p->system_directory,
                            name);
}

__attribute__((format(printf, 2, 3))) static void warn(const struct mkperf_pds *p,
                                                       const char *format, ...)
{
    char text[2048];
    va_list args;

    if (p->config.warn != NULL) {
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        mkperf_printable(text); /* it may quote paths of files */
        p->config.warn(p->config.self, text);
    }
}

static uint32_t add_pd(struct mkperf_pds *p, uint64_t thread, const char *name, const char *parent)
{
    assert(p->n < MKPERF_MAX_PDS);
    p->pd[p->n] = (struct mkperf_pd){
        .thread = thread,
        .id = p->n,
        .name = mkperf_xstrdup(name),
        .parent = mkperf_xstrdup(parent),
    };
    return p->n++;
}

/* Finds the ELF of PD id. Returns whether it was found; a missing one is a warning. */
static bool find_elf(struct mkperf_pds *p, uint32_t id, const char *program)
{
    struct mkperf_error e;

    if (p->config.names_only) {
        return true;
    }
    char *path = find_of_system(p, program);
    if (path == NULL) {
        path = find_of_system(p, basename(program));
    }
    if (path == NULL) {
        warn(p, "%s: its program %s was not found; its addresses get no names", p->pd[id].name,
             program);
    } else if (mkperf_symbols_module(p->symbols, path, &p->module[id], &e) == MKPERF_OK) {
        p->pd[id].elf = mkperf_xstrdup(path);
    } else {
        warn(p, "%s: %s; its addresses get no names", p->pd[id].name, e.text);
    }
    free(path);
    return p->pd[id].elf != NULL;
}

/*
 * Opens the file of --guest for a vCPU: an ELF, or a copy of the guest's /proc/kallsyms. Other vCPUs have no symbols. A file
 * that cannot be used is a warning.
 */
static void find_guest(struct mkperf_pds *p, uint32_t id)
{
    static const char before[] = "VM ";
    const char *name = p->pd[id].name, *at = p->config.guest;
    struct mkperf_error e;

    assert(name != NULL && strlen(name) >= sizeof before - 1);
    const char *machine = name + sizeof before - 1;
    size_t n = strcspn(machine, ",");
    while (at != NULL && (strncmp(at, machine, n) != 0 || at[n] != '=')) {
        const char *next = strchr(at, ':');
        at = next != NULL ? next + 1 : NULL;
    }
    if (at == NULL || p->config.names_only) {
        return;
    }
    char *path = mkperf_xprintf("%.*s", (int)strcspn(at + n + 1, ":"), at + n + 1);
    if (mkperf_symbols_module(p->symbols, path, &p->module[id], &e) != MKPERF_OK) {
        warn(p, "--guest: %s; its addresses get no names", e.text);
    } else {
        mkperf_module_identity(p->module[id], &p->pd[id].build_id);
        p->pd[id].elf = mkperf_xstrdup(mkperf_module_path(p->module[id]));
    }
    free(path);
}

static enum mkperf_status add_system(struct mkperf_pds *p, struct mkperf_error *e)
{
    const struct mkperf_system *system = p->system;
    unsigned found = 0;

    MKPERF_FAIL_IF(system->npds + system->nvcpus > MKPERF_MAX_PDS / 2, e, MKPERF_ERR_INPUT,
                   "%s: %u PDs, at most %d are supported", p->config.system,
                   system->npds + system->nvcpus, MKPERF_MAX_PDS / 2);
    for (unsigned i = 0; i < system->npds; i++) {
        const struct mkperf_system_pd *pd = &system->pd[i];
        uint32_t id =
            add_pd(p, pd->thread, pd->name, pd->parent >= 0 ? system->pd[pd->parent].name : NULL);
        found += (pd->symbols != NULL && find_elf(p, id, pd->symbols)) ||
                 (pd->program != NULL && find_elf(p, id, pd->program));
    }
    for (unsigned i = 0; i < system->nvcpus; i++) {
        const struct mkperf_system_vcpu *v = &system->vcpu[i];
        find_guest(p, add_pd(p, v->thread, v->name, system->pd[v->parent].name));
    }
    MKPERF_FAIL_IF(p->config.elf_path != NULL && found == 0 && system->npds > 0, e,
                   MKPERF_ERR_INPUT, "--elf-path %s: none of the programs of %s",
                   p->config.elf_path, p->config.system);
    return MKPERF_OK;
}

/* ---- the image's own list: names from the list, ELFs by build id ---- */

/* Adds what differs between the .system file and the image to a text for one warning. */
__attribute__((format(printf, 3, 4))) static void add_difference(FILE *out, unsigned *count,
                                                                 const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (++*count <= LISTED) {
        fputs(*count > 1 ? "; " : "", out);
        vfprintf(out, format, args);
    }
    va_end(args);
}

/* Compares the .system file with the image. The file's PDs are the image's first ones, in the same order; the monitor is in
 * no .system file. */
static void compare_system(struct mkperf_pds *p)
{
    uint8_t hash[MKPERF_CONTENT_HASH_BYTES];
    unsigned count = 0;
    char *text;
    size_t n;
    FILE *out = mkperf_memstream_open(&text, &n);

    mkperf_sha256(p->system->text, p->system->bytes, hash);
    for (unsigned i = 0; i < p->system->npds; i++) {
        const struct mkperf_system_pd *pd = &p->system->pd[i];
        const struct mkperf_image_program *in = p->image->program, *end = in + p->image->n;
        while (in < end && strcmp(in->name, pd->name) != 0) {
            in++;
        }
        if (in == end) {
            add_difference(out, &count, "%s is not in the image", pd->name);
        } else if (in->thread != pd->thread) {
            add_difference(out, &count,
                           "%s has the number %" PRIu64 " in the file, %" PRIu64 " in the image",
                           pd->name, pd->thread, in->thread);
        } else if (in->parent != pd->parent) {
            add_difference(out, &count, "%s has another parent", pd->name);
        }
    }
    for (unsigned i = 0; i < p->image->n; i++) {
        const struct mkperf_image_program *program = &p->image->program[i];
        if (program->thread != MKPERF_THREAD_INITIAL && !mkperf_thread_is_vcpu(program->thread) &&
            mkperf_system_pd_named(p->system, program->name) < 0) {
            add_difference(out, &count, "%s is not in the file", program->name);
        }
    }
    mkperf_memstream_close(out);
    p->system_fits = count == 0;
    if (count != 0) {
        warn(p, "--system %s is not of the image that runs: %s%s. Names are the image's",
             p->config.system, text, count > LISTED ? "; and more" : "");
    } else if (memcmp(hash, p->image->system, sizeof hash) != 0) {
        warn(p,
             "--system %s was changed since the image was built, or is another file; its PDs "
             "have the same names and numbers",
             p->config.system);
    }
    free(text);
}

/* Returns where Microkit's monitor would be: an SDK has its ELF in the directory of the kernel's ELF.
 * A new string; NULL without --kernel. */
static char *monitor_beside_kernel(const struct mkperf_pds *p)
{
    const char *kernel = p->config.kernel;

    return kernel != NULL
               ? mkperf_xprintf("%.*smonitor.elf", (int)(basename(kernel) - kernel), kernel)
               : NULL;
}

/* Finds and opens the ELF of a program's build. NULL: there is none, and why has the reason. */
static const char *find_program(struct mkperf_pds *p, const struct mkperf_image_program *program,
                                struct mkperf_module **m, char why[WHY])
{
    struct mkperf_error e;
    const char *path = mkperf_finder_find(p->finder, &program->build_id, program->file, why, WHY);

    if (path != NULL &&
        mkperf_symbols_recorded(p->symbols, path, &program->build_id, m, &e) != MKPERF_OK) {
        snprintf(why, WHY, "%s", e.text);
        path = NULL;
    }
    return path;
}

static void add_program(struct mkperf_pds *p, const struct mkperf_image_program *program)
{
    const char *parent = program->parent >= 0 ? p->image->program[program->parent].name : NULL;
    uint32_t id = add_pd(p, program->thread, program->name, parent);
    struct mkperf_pd *pd = &p->pd[id];
    char why[WHY];

    pd->build_id = program->build_id;
    pd->scheduling = program->scheduling;
    if (mkperf_thread_is_vcpu(program->thread)) {
        find_guest(p, id);
        return;
    }
    if (p->config.names_only) {
        return;
    }
    const char *path = find_program(p, program, &p->module[id], why);
    if (path != NULL) {
        pd->elf = mkperf_xstrdup(path);
    } else {
        pd->unnamed = mkperf_xstrdup(why);
    }
}

/* ---- both ---- */

/* Finds the kernel's ELF, which is that of --kernel if it is given. It must be of the build that the image lists. */
static void find_kernel(struct mkperf_pds *p)
{
    static const struct mkperf_build_id any = {.n = 0};
    const struct mkperf_image_program *listed = p->image != NULL ? &p->image->kernel : NULL;
    const struct mkperf_build_id *id = listed != NULL ? &listed->build_id : &any;
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_module *module;
    char why[WHY] = "no ELF (--kernel, or kernel.elf in --elf-path)";

    if (p->config.names_only) {
        return;
    }
    p->kernel_build_id = *id;
    if (p->config.kernel != NULL && listed != NULL && id->n == 0) {
        snprintf(why, sizeof why, "the image does not show which build of the kernel runs");
    } else if (p->config.kernel != NULL) {
        p->kernel = mkperf_xstrdup(p->config.kernel);
    } else if (listed != NULL) {
        p->kernel = mkperf_xstrdup(find_program(p, listed, &module, why));
    } else {
        p->kernel = find_of_system(p, "kernel.elf");
        p->kernel = p->kernel != NULL ? p->kernel : find_of_system(p, "sel4.elf");
    }
    if (p->kernel != NULL &&
        mkperf_symbols_recorded(p->symbols, p->kernel, id, &module, &e) != MKPERF_OK) {
        snprintf(why, sizeof why, "%s", e.text);
        free(p->kernel);
        p->kernel = NULL;
    }
    if (p->kernel == NULL) {
        p->kernel_unnamed = listed != NULL ? mkperf_xstrdup(why) : NULL;
        warn(p, "kernel: %s; its addresses get no names", why);
    }
}

enum mkperf_status mkperf_pds_settle(struct mkperf_pds *p, const struct mkperf_image *image,
                                     const char *unverified, struct mkperf_error *e)
{
    enum mkperf_status status = MKPERF_OK;

    p->settled = true;
    if (image != NULL) {
        p->image = mkperf_xcalloc(1, sizeof *p->image);
        *p->image = *image;
        mkperf_hex(image->id, sizeof image->id, p->image_id);
        /* Adds the PDs, their ELFs and the kernel's as p->image lists them, without "idle". */
        p->finder = mkperf_finder_new(p->config.elf_path, p->system_directory);
        if (p->system != NULL) {
            compare_system(p);
        }
        for (unsigned i = 0; p->system != NULL && i < 2 * p->system->npds; i++) {
            /* A file of the .system file. It may be below the ELF path's directories. */
            const struct mkperf_system_pd *pd = &p->system->pd[i / 2];
            const char *file = i % 2 == 0 ? pd->symbols : pd->program;
            char *path = file != NULL ? find_of_system(p, file) : NULL;
            if (path != NULL) {
                mkperf_finder_add(p->finder, path);
            }
            free(path);
        }
        if (p->config.kernel != NULL) {
            char *monitor = monitor_beside_kernel(p);
            mkperf_finder_add(p->finder, monitor);
            free(monitor);
        }
        for (unsigned i = 0; i < p->image->n; i++) {
            add_program(p, &p->image->program[i]);
        }
        for (unsigned i = 0; i < p->image->nqueues; i++) {
            const struct mkperf_image_queue *q = &p->image->queue[i];
            const struct mkperf_image_program *of = p->image->program;
            p->queue[i] = (struct mkperf_queue){
                .name = q->name,
                .kind = mkperf_queue_kinds[q->kind],
                .producer = q->producer >= 0 ? of[q->producer].name : NULL,
                .consumer = q->consumer >= 0 ? of[q->consumer].name : NULL,
                .capacity = q->slots,
                .index_bits = q->bits,
                .returns = q->returns,
                .seen = q->head != 0,
            };
        }
        /* One warning names all programs without an ELF, and the reason for the first one. */
        char *names;
        size_t bytes;
        FILE *to = mkperf_memstream_open(&names, &bytes);
        const struct mkperf_pd *first = NULL;
        uint32_t without = 0;
        for (uint32_t i = 0; i < p->n; i++) {
            if (p->pd[i].unnamed != NULL) {
                fprintf(to, "%s%s", without++ > 0 ? ", " : "", p->pd[i].name);
                first = first != NULL ? first : &p->pd[i];
            }
        }
        mkperf_memstream_close(to);
        if (without == 1) {
            warn(p, "%s: %s; its addresses get no names", first->name, first->unnamed);
        } else if (without == p->n && without > 0) {
            warn(p,
                 "none of the image's %u programs has its ELF here (--elf-path): their addresses "
                 "get no names. %s: %s",
                 without, first->name, first->unnamed);
        } else if (without > 0) {
            warn(p,
                 "%u of the image's %u programs have no ELF here (--elf-path), and their addresses "
                 "get no names: %s. %s: %s",
                 without, p->n, names, first->name, first->unnamed);
        }
        free(names);
    } else {
        p->unverified = mkperf_xstrdup(unverified);
        if (p->system != NULL) {
            p->system_fits = true;
            status = add_system(p, e);
        } else if (p->config.later) {
            warn(p, "the image does not list its programs, and no --system: PDs have numbers "
                    "instead of names");
        }
    }
    find_kernel(p);
    if (image != NULL && image->windows[0] != '\0') {
        p->windows = mkperf_xstrdup(image->windows);
    } else if (p->system != NULL && p->system_fits) {
        p->windows = mkperf_windows_text(p->system);
    }
    add_pd(p, MKPERF_THREAD_IDLE, "idle", NULL);
    if (p->system != NULL && p->system_fits) {
        /* Adds how PDs are scheduled. The PDs of the .system file are the first ones. */
        for (unsigned i = 0; i < p->system->npds; i++) {
            p->pd[i].scheduling = p->system->pd[i].scheduling;
        }
    }
    return status;
}

enum mkperf_status mkperf_pds_new(const struct mkperf_pds_config *config,
                                  struct mkperf_symbols *symbols, struct mkperf_pds **out,
                                  struct mkperf_error *e)
{
    struct mkperf_pds *p = mkperf_xcalloc(1, sizeof *p);
    struct mkperf_module *kernel;

    p->symbols = symbols;
    p->config = *config;
    e->status = MKPERF_OK;
    if (config->system != NULL) {
        const char *slash = strrchr(config->system, '/');
        p->system_directory =
            slash != NULL
                ? mkperf_xprintf("%.*s", (int)(slash - config->system + 1), config->system)
                : mkperf_xstrdup(".");
        (void)mkperf_system_load(config->system, &p->system, e);
    }
    /* An error of the options is reported before a connection to a target is made. */
    if (e->status == MKPERF_OK && config->kernel != NULL) {
        (void)mkperf_symbols_module(symbols, config->kernel, &kernel, e);
    }
    if (e->status == MKPERF_OK && !config->later) {
        e->status = mkperf_pds_settle(p, NULL, NULL, e);
    }
    if (e->status != MKPERF_OK) {
        mkperf_pds_free(p);
        return e->status;
    }
    *out = p;
    return MKPERF_OK;
}

void mkperf_pds_free(struct mkperf_pds *p)
{
    if (p == NULL) {
        return;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        mkperf_shape_free(mkperf_pd_rows, &p->pd[i]);
    }
    mkperf_system_free(p->system);
    mkperf_finder_free(p->finder);
    free(p->image);
    free(p->unverified);
    free(p->windows);
    free(p->kernel);
    free(p->kernel_unnamed);
    free(p->system_directory);
    free(p);
}

static const struct {
    const char *name;
    uint64_t thread;
} others[] = {{"monitor", MKPERF_THREAD_INITIAL}, {"ambiguous", MKPERF_THREAD_AMBIGUOUS}};
enum { OTHERS = sizeof others / sizeof *others };
static const char unknown[] = "unknown-"; /* the thread in hexadecimal follows */

bool mkperf_pds_other_thread(const char *name, uint64_t *thread)
{
    for (unsigned i = 0; i < OTHERS; i++) {
        if (strcmp(others[i].name, name) == 0) {
            *thread = others[i].thread;
            return true;
        }
    }
    if (strncmp(name, unknown, sizeof unknown - 1) != 0) {
        return false;
    }
    *thread = strtoull(name + sizeof unknown - 1, NULL, 16);
    return true;
}

uint32_t mkperf_pds_find(struct mkperf_pds *p, uint64_t thread)
{
    /* A passive child runs on the scheduling context of its caller, so a sample of it has only the child's id and not its parent:
     * it is found if no other passive child has that id. */
    bool child = thread < MKPERF_THREAD_AMBIGUOUS && (thread & MKPERF_THREAD_CHILD_BIT) != 0 &&
                 !mkperf_thread_is_vcpu(thread);
    uint32_t found = p->n, children = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        const struct mkperf_pd *pd = &p->pd[i];
        if (pd->thread == thread) {
            return i;
        }
        if (child && pd->scheduling.passive && pd->parent != NULL &&
            ((pd->thread ^ thread) & MKPERF_THREAD_CHILD_ID) == 0) {
            found = i;
            children++;
        }
    }
    if (children == 1) {
        return found;
    }
    if (p->n == MKPERF_MAX_PDS) {
        return MKPERF_MAX_PDS - 1;
    }
    char text[sizeof unknown + 2 * sizeof thread];
    const char *name = text;
    snprintf(text, sizeof text, "%s%" PRIx64, unknown, thread);
    for (unsigned i = 0; i < OTHERS; i++) {
        name = others[i].thread == thread ? others[i].name : name;
    }
    if (p->n == MKPERF_MAX_PDS - 1 || thread == MKPERF_THREAD_NONE) {
        name = "unknown";
    }
    uint32_t id = add_pd(p, thread, name, NULL);
    if (thread == MKPERF_THREAD_INITIAL && p->image == NULL) { /* an image's own list has it */
        char *path = find_of_system(p, "monitor.elf");
        struct mkperf_error e;
        path = path != NULL ? path : monitor_beside_kernel(p);
        if (path != NULL &&
            mkperf_symbols_module(p->symbols, path, &p->module[id], &e) == MKPERF_OK) {
            p->pd[id].elf = mkperf_xstrdup(path);
        }
        free(path);
    }
    return id;
}

const struct mkperf_pd *mkperf_pds_named(const struct mkperf_pds *p, const char *name, size_t n)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (strlen(p->pd[i].name) == n && memcmp(p->pd[i].name, name, n) == 0) {
            return &p->pd[i];
        }
    }
    return NULL;
}

const struct mkperf_system *mkperf_pds_system(const struct mkperf_pds *p)
{
    return p->system_fits ? p->system : NULL;
}

/* Returns the number of cores that the target has at least, from the .system file's `cpu` and from the kernel's
 * functions. */
static unsigned cores_at_least(const struct mkperf_pds *p)
{
    /* Functions that only a seL4 kernel for several cores has. */
    static const char *const functions[] = {"handleIPI", "migrateTCB", "doMaskReschedule",
                                            "ipiStallCoreCallback"};
    struct mkperf_module *kernel;
    struct mkperf_error e;
    unsigned n = 0;

    for (unsigned i = 0; p->system != NULL && i < p->system->npds; i++) {
        n = p->system->pd[i].scheduling.cpu >= n ? p->system->pd[i].scheduling.cpu + 1 : n;
    }
    if (n < 2 && p->kernel != NULL &&
        mkperf_symbols_module(p->symbols, p->kernel, &kernel, &e) == MKPERF_OK) {
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
            n = mkperf_symbol_address(kernel, functions[i]) != 0 ? 2 : n;
        }
    }
    return n;
}

void mkperf_pds_describe(const struct mkperf_pds *p, struct mkperf_session *session)
{
    session->kernel_elf = p->kernel;
    session->target_cores = cores_at_least(p);
    session->kernel_build_id = p->kernel_build_id;
    session->kernel_unnamed = p->kernel_unnamed;
    session->image = p->image != NULL ? p->image_id : NULL;
    session->unverified = p->unverified;
    session->nqueues = p->image != NULL ? p->image->nqueues : 0;
    session->queue = p->queue;
    session->windows = p->windows;
}
