/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the registry of PDs and the search for their ELFs, see pds.h. */
#include "pds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/system.h"

struct mkperf_pds {
    struct mkperf_symbols *symbols;
    struct mkperf_pds_config config;
    struct mkperf_system *system; /* its PDs are the first ones here, in order; or NULL */
    char *system_directory;       /* of the .system file: where ELFs are if nobody says otherwise */
    char *kernel;
    uint32_t n;
    struct mkperf_pd pd[MKPERF_MAX_PDS];
    struct mkperf_module *module[MKPERF_MAX_PDS];
    char *owned[3 * MKPERF_MAX_PDS]; /* the strings of pd */
    size_t nowned;
};

/* text, freed with p; NULL stays NULL. */
static const char *own(struct mkperf_pds *p, char *text)
{
    return text != NULL ? p->owned[p->nowned++] = text : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static char *join(const char *directory, size_t n, const char *name)
{
    char *path;

    if (n == 0) {
        return strdup(name);
    }
    return asprintf(&path, "%.*s/%s", (int)n, directory, name) < 0 ? NULL : path;
}

/* A readable file `name` in the directories of the ELF path: a new string, or NULL. */
static char *find_file(const struct mkperf_pds *p, const char *name)
{
    const char *at = p->config.elf_path != NULL ? p->config.elf_path : p->system_directory;

    if (name[0] == '/') {
        return access(name, R_OK) == 0 ? strdup(name) : NULL;
    }
    while (at != NULL) {
        size_t n = strcspn(at, ":");
        char *path = join(at, n, name);
        if (path != NULL && access(path, R_OK) == 0) {
            return path;
        }
        free(path);
        at = at[n] == ':' ? at + n + 1 : NULL;
    }
    return NULL;
}

static void warn(const struct mkperf_pds *p, const char *format, const char *a, const char *b)
{
    char text[2048];

    if (p->config.warn != NULL) {
        snprintf(text, sizeof text, format, a, b);
        p->config.warn(p->config.self, text);
    }
}

/* name and parent become p's. */
static uint32_t add(struct mkperf_pds *p, uint64_t thread, char *name, char *parent)
{
    p->pd[p->n] = (struct mkperf_pd){
        .thread = thread,
        .id = p->n,
        .name = name != NULL ? own(p, name) : "?",
        .parent = own(p, parent),
    };
    return p->n++;
}

/* Finds the ELF of PD id. Whether there is one: a missing one is a warning. */
static bool find_elf(struct mkperf_pds *p, uint32_t id, const char *program)
{
    struct mkperf_error e;
    char *path = find_file(p, program);

    if (path == NULL) {
        path = find_file(p, base_name(program));
    }
    if (path == NULL) {
        warn(p, "%s: its program %s was not found; its addresses get no names", p->pd[id].name,
             program);
        return false;
    }
    if (mkperf_symbols_module(p->symbols, path, &p->module[id], &e) != MKPERF_OK) {
        warn(p, "%s: %s; its addresses get no names", p->pd[id].name, e.text);
        free(path);
        return false;
    }
    p->pd[id].elf = own(p, path);
    return true;
}

static enum mkperf_status add_system(struct mkperf_pds *p, const struct mkperf_system *system,
                                     struct mkperf_error *e)
{
    unsigned found = 0;

    if (system->npds > MKPERF_MAX_PDS / 2) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %u PDs, at most %d are supported",
                                p->config.system, system->npds, MKPERF_MAX_PDS / 2);
    }
    for (unsigned i = 0; i < system->npds; i++) {
        const struct mkperf_system_pd *pd = &system->pd[i];
        char *parent = pd->parent >= 0 ? strdup(system->pd[pd->parent].name) : NULL;
        uint32_t id = add(p, pd->thread, strdup(pd->name), parent);
        found += (pd->symbols != NULL && find_elf(p, id, pd->symbols)) ||
                 (pd->program != NULL && find_elf(p, id, pd->program));
    }
    if (p->config.elf_path != NULL && found == 0 && system->npds > 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "--elf-path %s: none of the programs of %s",
                                p->config.elf_path, p->config.system);
    }
    return MKPERF_OK;
}

static enum mkperf_status load_system(struct mkperf_pds *p, struct mkperf_error *e)
{
    const char *path = p->config.system;
    const char *slash = strrchr(path, '/');

    p->system_directory = slash != NULL ? strndup(path, (size_t)(slash - path + 1)) : strdup(".");
    if (mkperf_system_load(path, &p->system, e) != MKPERF_OK) {
        return e->status;
    }
    return add_system(p, p->system, e);
}

static enum mkperf_status find_kernel(struct mkperf_pds *p, struct mkperf_error *e)
{
    struct mkperf_module *module;

    if (p->config.kernel != NULL) {
        p->kernel = strdup(p->config.kernel);
        return mkperf_symbols_module(p->symbols, p->config.kernel, &module, e);
    }
    p->kernel = find_file(p, "kernel.elf");
    if (p->kernel == NULL) {
        p->kernel = find_file(p, "sel4.elf");
    }
    if (p->kernel == NULL) {
        warn(p, "%s%s", "no kernel ELF (--kernel, or kernel.elf in --elf-path): kernel addresses ",
             "get no names");
    } else if (mkperf_symbols_module(p->symbols, p->kernel, &module, e) != MKPERF_OK) {
        warn(p, "%s%s", e->text, "; kernel addresses get no names");
        free(p->kernel);
        p->kernel = NULL;
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_pds_new(const struct mkperf_pds_config *config,
                                  struct mkperf_symbols *symbols, struct mkperf_pds **out,
                                  struct mkperf_error *e)
{
    struct mkperf_pds *p = calloc(1, sizeof *p);

    if (p == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    p->symbols = symbols;
    p->config = *config;
    if (config->system != NULL && load_system(p, e) != MKPERF_OK) {
        mkperf_pds_free(p);
        return e->status;
    }
    add(p, MKPERF_THREAD_IDLE, strdup("idle"), NULL);
    if (find_kernel(p, e) != MKPERF_OK) {
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
    for (size_t i = 0; i < p->nowned; i++) {
        free(p->owned[i]);
    }
    mkperf_system_free(p->system);
    free(p->kernel);
    free(p->system_directory);
    free(p);
}

/* What a thread that is no PD is called: a new string, or NULL. */
static char *other_name(const struct mkperf_pds *p, uint64_t thread)
{
    char *name;

    if (p->n == MKPERF_MAX_PDS - 1 || thread == MKPERF_THREAD_NONE) {
        return strdup("unknown");
    }
    if (thread == MKPERF_THREAD_INITIAL) {
        return strdup("monitor");
    }
    if (thread == MKPERF_THREAD_AMBIGUOUS) {
        return strdup("ambiguous");
    }
    return asprintf(&name, "unknown-%llx", (unsigned long long)thread) < 0 ? NULL : name;
}

uint32_t mkperf_pds_find(struct mkperf_pds *p, uint64_t thread)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->pd[i].thread == thread) {
            return i;
        }
    }
    int child = p->system != NULL ? mkperf_system_find(p->system, thread) : -1;
    if (child >= 0) {
        return (uint32_t)child;
    }
    if (p->n == MKPERF_MAX_PDS) {
        return MKPERF_MAX_PDS - 1;
    }
    uint32_t id = add(p, thread, other_name(p, thread), NULL);
    char *path = thread == MKPERF_THREAD_INITIAL ? find_file(p, "monitor.elf") : NULL;
    struct mkperf_error e;
    if (path != NULL && mkperf_symbols_module(p->symbols, path, &p->module[id], &e) == MKPERF_OK) {
        p->pd[id].elf = own(p, path);
    } else {
        free(path);
    }
    return id;
}

uint32_t mkperf_pds_count(const struct mkperf_pds *p)
{
    return p->n;
}

const struct mkperf_pd *mkperf_pds_at(const struct mkperf_pds *p, uint32_t id)
{
    return &p->pd[id];
}

struct mkperf_module *mkperf_pds_module(const struct mkperf_pds *p, uint32_t id)
{
    return p->module[id];
}

const char *mkperf_pds_kernel(const struct mkperf_pds *p)
{
    return p->kernel;
}

const struct mkperf_system *mkperf_pds_system(const struct mkperf_pds *p)
{
    return p->system;
}
