/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PDs of an image that carries its own list of programs: names from the list, ELFs by build id.
 *
 * Owns: the search for each ELF, the reason if there is none, and the comparison with a .system
 * file that was given as well. What the image says holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "pds_internal.h"
#include "symbols/identity.h"

enum { WHY = 1024, LISTED = 8 };

/* What differs between the .system file and the image, for one warning. */
struct differences {
    char text[WHY];
    size_t n;
    unsigned count;
};

static void differ(struct differences *d, const char *format, const char *name,
                   unsigned long long a, unsigned long long b)
{
    d->count++;
    if (d->count <= LISTED && d->n < sizeof d->text) {
        d->n += (size_t)snprintf(d->text + d->n, sizeof d->text - d->n, d->n != 0 ? "; " : "");
    }
    if (d->count <= LISTED && d->n < sizeof d->text) {
        d->n += (size_t)snprintf(d->text + d->n, sizeof d->text - d->n, format, name, a, b);
    }
}

static int by_name(const struct mkperf_image *image, const char *name)
{
    for (unsigned i = 0; i < image->n; i++) {
        if (strcmp(image->program[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool in_system(const struct mkperf_system *s, const char *name)
{
    for (unsigned i = 0; i < s->npds; i++) {
        if (strcmp(s->pd[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The file's PDs are the image's first ones in the same order; the monitor is in no file. */
static void compare_system(struct mkperf_pds *p)
{
    struct differences d = {.n = 0};
    uint8_t hash[MKPERF_CONTENT_HASH_BYTES];
    struct mkperf_error e;

    for (unsigned i = 0; i < p->system->npds; i++) {
        const struct mkperf_system_pd *pd = &p->system->pd[i];
        int at = by_name(p->image, pd->name);
        if (at < 0) {
            differ(&d, "%s is not in the image", pd->name, 0, 0);
        } else if (p->image->program[at].thread != pd->thread) {
            differ(&d, "%s has the number %llu in the file, %llu in the image", pd->name,
                   (unsigned long long)pd->thread,
                   (unsigned long long)p->image->program[at].thread);
        } else if (p->image->program[at].parent != pd->parent) {
            differ(&d, "%s has another parent", pd->name, 0, 0);
        }
    }
    for (unsigned i = 0; i < p->image->n; i++) {
        const struct mkperf_image_program *program = &p->image->program[i];
        if (program->thread != MKPERF_THREAD_INITIAL && !in_system(p->system, program->name)) {
            differ(&d, "%s is not in the file", program->name, 0, 0);
        }
    }
    p->system_fits = d.count == 0;
    if (d.count != 0) {
        pds_warn(p, "--system %s is not of the image that runs: %s%s. Names are the image's",
                 p->config.system, d.text, d.count > LISTED ? "; and more" : "");
    } else if (mkperf_file_hash(p->config.system, hash, &e) == MKPERF_OK &&
               memcmp(hash, p->image->system, sizeof hash) != 0) {
        pds_warn(p,
                 "--system %s was changed since the image was built, or is another file; its PDs "
                 "have the same names and numbers",
                 p->config.system);
    }
}

/* What the .system file names may lie elsewhere than in the ELF path's directories themselves. */
static void add_candidates(struct mkperf_pds *p)
{
    for (unsigned i = 0; i < p->system->npds; i++) {
        const char *const file[] = {p->system->pd[i].symbols, p->system->pd[i].program};
        for (unsigned k = 0; k < 2; k++) {
            char *path = file[k] != NULL ? pds_find_file(p, file[k]) : NULL;
            if (path != NULL) {
                mkperf_finder_add(p->finder, path);
            }
            free(path);
        }
    }
}

/* The ELF of that build, opened; NULL with the reason in why. A damaged one is passed over. */
static const char *find_program(struct mkperf_pds *p, const struct mkperf_image_program *program,
                                struct mkperf_module **m, char why[WHY])
{
    struct mkperf_error e = {.status = MKPERF_OK};
    const char *path;

    while ((path = mkperf_finder_find(p->finder, &program->build_id, program->file, why, WHY)) !=
           NULL) {
        if (mkperf_symbols_recorded(p->symbols, path, &program->build_id, m, &e) == MKPERF_OK) {
            return path;
        }
        mkperf_finder_reject(p->finder, path);
    }
    if (e.status != MKPERF_OK) {
        snprintf(why, WHY, "%s", e.text);
    }
    return NULL;
}

static void add_program(struct mkperf_pds *p, const struct mkperf_image_program *program)
{
    const char *parent = program->parent >= 0 ? p->image->program[program->parent].name : NULL;
    uint32_t id =
        pds_add(p, program->thread, mkperf_xstrdup(program->name), mkperf_xstrdup(parent));
    struct mkperf_pd *pd = &p->pd[id];
    char why[WHY];

    pd->build_id = program->build_id;
    if (p->config.names_only) {
        return;
    }
    const char *path = find_program(p, program, &p->module[id], why);
    if (path != NULL) {
        pd->elf = pds_own(p, mkperf_xstrdup(path));
    } else {
        pd->unnamed = pds_own(p, mkperf_xstrdup(why));
    }
}

/* A line for each, or one for all if nothing was found. */
static void warn_unnamed(const struct mkperf_pds *p)
{
    uint32_t without = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        without += p->pd[i].unnamed != NULL;
    }
    if (without == p->n && without > 1) {
        pds_warn(p,
                 "none of the image's %u programs has its ELF here (--elf-path): their addresses "
                 "get no names. %s: %s",
                 without, p->pd[0].name, p->pd[0].unnamed);
        return;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->pd[i].unnamed != NULL) {
            pds_warn(p, "%s: %s; its addresses get no names", p->pd[i].name, p->pd[i].unnamed);
        }
    }
}

/* --kernel names a file that has to be the one that runs; else it is searched for. */
static void find_kernel(struct mkperf_pds *p)
{
    const struct mkperf_image_program *kernel = &p->image->kernel;
    const char *path = p->config.kernel;
    struct mkperf_module *module;
    struct mkperf_error e;
    char why[WHY];

    p->kernel_build_id = kernel->build_id;
    if (path == NULL) {
        path = find_program(p, kernel, &module, why);
    } else if (kernel->build_id.n == 0) {
        snprintf(why, sizeof why, "the image does not tell which build of the kernel runs");
        path = NULL;
    } else if (mkperf_symbols_recorded(p->symbols, path, &kernel->build_id, &module, &e) !=
               MKPERF_OK) {
        snprintf(why, sizeof why, "%s", e.text);
        path = NULL;
    }
    if (path != NULL) {
        p->kernel = mkperf_xstrdup(path);
        return;
    }
    p->kernel_unnamed = mkperf_xstrdup(why);
    pds_warn(p, "kernel: %s; its addresses get no names", why);
}

void pds_add_image(struct mkperf_pds *p)
{
    p->finder = mkperf_finder_new(p->config.elf_path, p->system_directory);
    if (p->system != NULL) {
        compare_system(p);
        add_candidates(p);
    }
    for (unsigned i = 0; i < p->image->n; i++) {
        add_program(p, &p->image->program[i]);
    }
    warn_unnamed(p);
    if (!p->config.names_only) {
        find_kernel(p);
    }
}
