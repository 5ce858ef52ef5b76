/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the registry of PDs and the search for their ELFs, see pds.h. */
#include "pds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "pds_internal.h"

const char *pds_own(struct mkperf_pds *p, char *text)
{
    return text != NULL ? p->owned[p->nowned++] = text : NULL;
}

char *pds_find_file(const struct mkperf_pds *p, const char *name)
{
    return mkperf_find_file(p->config.elf_path != NULL ? p->config.elf_path : p->system_directory,
                            name);
}

void pds_warn(const struct mkperf_pds *p, const char *format, ...)
{
    char text[2048];
    va_list args;

    if (p->config.warn != NULL) {
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        mkperf_printable(text); /* paths of files that were met on the way */
        p->config.warn(p->config.self, text);
    }
}

uint32_t pds_add(struct mkperf_pds *p, uint64_t thread, char *name, char *parent)
{
    p->pd[p->n] = (struct mkperf_pd){
        .thread = thread,
        .id = p->n,
        .name = name != NULL ? pds_own(p, name) : "?",
        .parent = pds_own(p, parent),
    };
    return p->n++;
}

/* Finds the ELF of PD id. Returns whether it was found; a missing one is a warning. */
static bool find_elf(struct mkperf_pds *p, uint32_t id, const char *program)
{
    struct mkperf_error e;
    char *path = p->config.names_only ? NULL : pds_find_file(p, program);

    if (p->config.names_only) {
        return true;
    }
    if (path == NULL) {
        path = pds_find_file(p, basename(program));
    }
    if (path == NULL) {
        pds_warn(p, "%s: its program %s was not found; its addresses get no names", p->pd[id].name,
                 program);
        return false;
    }
    if (mkperf_symbols_module(p->symbols, path, &p->module[id], &e) != MKPERF_OK) {
        pds_warn(p, "%s: %s; its addresses get no names", p->pd[id].name, e.text);
        free(path);
        return false;
    }
    p->pd[id].elf = pds_own(p, path);
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
        char *parent = pd->parent >= 0 ? mkperf_xstrdup(system->pd[pd->parent].name) : NULL;
        uint32_t id = pds_add(p, pd->thread, mkperf_xstrdup(pd->name), parent);
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

    p->system_directory = slash != NULL ? mkperf_xprintf("%.*s", (int)(slash - path + 1), path)
                                        : mkperf_xstrdup(".");
    return mkperf_system_load(path, &p->system, e);
}

static void find_kernel(struct mkperf_pds *p)
{
    struct mkperf_module *module;
    struct mkperf_error e;

    if (p->config.names_only) {
        return;
    }
    if (p->config.kernel != NULL) { /* it was opened before */
        p->kernel = mkperf_xstrdup(p->config.kernel);
        return;
    }
    p->kernel = pds_find_file(p, "kernel.elf");
    if (p->kernel == NULL) {
        p->kernel = pds_find_file(p, "sel4.elf");
    }
    if (p->kernel == NULL) {
        pds_warn(p,
                 "no kernel ELF (--kernel, or kernel.elf in --elf-path): kernel addresses get no "
                 "names");
    } else if (mkperf_symbols_module(p->symbols, p->kernel, &module, &e) != MKPERF_OK) {
        pds_warn(p, "%s; kernel addresses get no names", e.text);
        free(p->kernel);
        p->kernel = NULL;
    }
}

/* Of the PDs of the .system file, which are the first ones. */
static void add_scheduling(struct mkperf_pds *p)
{
    for (unsigned i = 0; i < p->system->npds; i++) {
        const struct mkperf_system_pd *pd = &p->system->pd[i];

        p->pd[i].scheduling = (struct mkperf_scheduling){
            .known = true,
            .passive = pd->passive,
            .priority = pd->priority,
            .cpu = pd->cpu,
            .budget_us = pd->budget,
            .period_us = pd->period,
        };
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
        mkperf_image_text(image, p->image_id);
        pds_add_image(p);
    } else {
        p->unverified = mkperf_xstrdup(unverified);
        if (p->system != NULL) {
            p->system_fits = true;
            status = add_system(p, p->system, e);
        } else if (p->config.later) {
            pds_warn(p, "the image does not list its programs, and no --system: PDs have numbers "
                        "instead of names");
        }
        find_kernel(p);
    }
    pds_add(p, MKPERF_THREAD_IDLE, mkperf_xstrdup("idle"), NULL);
    if (p->system != NULL && p->system_fits) {
        add_scheduling(p);
    }
    return status;
}

/* What is wrong with the options is said before a target is asked. */
static enum mkperf_status check_config(struct mkperf_pds *p, struct mkperf_error *e)
{
    struct mkperf_module *module;

    if (p->config.system != NULL && load_system(p, e) != MKPERF_OK) {
        return e->status;
    }
    return p->config.kernel != NULL
               ? mkperf_symbols_module(p->symbols, p->config.kernel, &module, e)
               : MKPERF_OK;
}

enum mkperf_status mkperf_pds_new(const struct mkperf_pds_config *config,
                                  struct mkperf_symbols *symbols, struct mkperf_pds **out,
                                  struct mkperf_error *e)
{
    struct mkperf_pds *p = mkperf_xcalloc(1, sizeof *p);

    p->symbols = symbols;
    p->config = *config;
    if (check_config(p, e) != MKPERF_OK ||
        (!config->later && mkperf_pds_settle(p, NULL, NULL, e) != MKPERF_OK)) {
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
    mkperf_finder_free(p->finder);
    free(p->image);
    free(p->unverified);
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
static const char unknown[] = "unknown-"; /* and the thread in hexadecimal */

/* The name of a thread that is no PD: a new string. */
static char *other_name(const struct mkperf_pds *p, uint64_t thread)
{
    if (p->n == MKPERF_MAX_PDS - 1 || thread == MKPERF_THREAD_NONE) {
        return mkperf_xstrdup("unknown");
    }
    for (unsigned i = 0; i < OTHERS; i++) {
        if (others[i].thread == thread) {
            return mkperf_xstrdup(others[i].name);
        }
    }
    return mkperf_xprintf("%s%llx", unknown, (unsigned long long)thread);
}

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
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->pd[i].thread == thread) {
            return i;
        }
    }
    int child = p->image != NULL    ? mkperf_image_find(p->image, thread)
                : p->system != NULL ? mkperf_system_find(p->system, thread)
                                    : -1;
    if (child >= 0) {
        return (uint32_t)child;
    }
    if (p->n == MKPERF_MAX_PDS) {
        return MKPERF_MAX_PDS - 1;
    }
    uint32_t id = pds_add(p, thread, other_name(p, thread), NULL);
    /* an image that lists its programs lists the monitor, too, or does not say which one it is */
    char *path = thread == MKPERF_THREAD_INITIAL && p->image == NULL
                     ? pds_find_file(p, "monitor.elf")
                     : NULL;
    struct mkperf_error e;
    if (path != NULL && mkperf_symbols_module(p->symbols, path, &p->module[id], &e) == MKPERF_OK) {
        p->pd[id].elf = pds_own(p, path);
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

const struct mkperf_system *mkperf_pds_system(const struct mkperf_pds *p)
{
    return p->system_fits ? p->system : NULL;
}

bool mkperf_pds_settled(const struct mkperf_pds *p)
{
    return p->settled;
}

/* Functions that a seL4 kernel for several cores has, and one for a single core has not. */
static bool has_more_cores(struct mkperf_module *kernel)
{
    static const char *const functions[] = {"handleIPI", "migrateTCB", "doMaskReschedule",
                                            "ipiStallCoreCallback"};

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (mkperf_symbol_address(kernel, functions[i]) != 0) {
            return true;
        }
    }
    return false;
}

unsigned mkperf_pds_cores(const struct mkperf_pds *p)
{
    struct mkperf_module *kernel;
    struct mkperf_error e;
    unsigned n = 0;

    for (unsigned i = 0; p->system != NULL && i < p->system->npds; i++) {
        n = p->system->pd[i].cpu >= n ? p->system->pd[i].cpu + 1 : n;
    }
    if (n < 2 && p->kernel != NULL &&
        mkperf_symbols_module(p->symbols, p->kernel, &kernel, &e) == MKPERF_OK &&
        has_more_cores(kernel)) {
        n = 2;
    }
    return n;
}

void mkperf_pds_describe(const struct mkperf_pds *p, struct mkperf_session *session)
{
    session->kernel_elf = p->kernel;
    session->target_cores = mkperf_pds_cores(p);
    session->kernel_build_id = p->kernel_build_id;
    session->kernel_unnamed = p->kernel_unnamed;
    session->image = p->image != NULL ? p->image_id : NULL;
    session->unverified = p->unverified;
}
