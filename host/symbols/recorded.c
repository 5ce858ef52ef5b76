/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The modules that a command has opened, and the search for the builds that a recording names.
 *
 * Owns: the list of modules. Each file is in it once. Called by the commands and sinks that need symbols.
 */
#include "symbols_internal.h"

struct mkperf_symbols {
    struct mkperf_module *modules;
    void *names;                  /* a tree, see functions.c */
    char arch[MKPERF_ARCH_BYTES]; /* the architecture that is expected; "": any */
    struct mkperf_elf_search search;
    struct mkperf_finder *finder; /* NULL: nothing is searched for */
};

struct mkperf_symbols *mkperf_symbols_new(void)
{
    struct mkperf_symbols *s = mkperf_xcalloc(1, sizeof *s);

    elf_version(EV_CURRENT);
    return s;
}

void mkperf_symbols_free(struct mkperf_symbols *s)
{
    if (!s) {
        return;
    }
    while (s->modules) {
        struct mkperf_module *m = s->modules;
        s->modules = m->next;
        mkperf_module_free(m);
    }
    mkperf_finder_free(s->finder);
    mkperf_names_free(s->names);
    free(s);
}

enum mkperf_status mkperf_symbols_module(struct mkperf_symbols *s, const char *path,
                                         struct mkperf_module **out, struct mkperf_error *e)
{
    struct mkperf_module *m;
    char *name = realpath(path, NULL); /* absolute and without links, where that is possible */

    *out = NULL;
    name = name != NULL ? name : mkperf_xstrdup(path);
    for (m = s->modules; m; m = m->next) {
        if (strcmp(m->path, name) == 0) {
            free(name);
            *out = m;
            return MKPERF_OK;
        }
    }
    m = mkperf_xcalloc(1, sizeof *m);
    m->path = name;
    m->names = &s->names;
    const char *why = mkperf_module_map(m, path);
    if (why != NULL && (m->bytes == NULL || !mkperf_functions_of_text(m))) {
        mkperf_module_free(m);
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, why);
    }
    /* The path of a copy in perf's cache: the cache's directory, the path of the file that was copied, "/BUILD-ID/elf". */
    char id[MKPERF_BUILD_ID_TEXT], *given = mkperf_elf_cache_directory();
    char *directory = given != NULL ? realpath(given, NULL) : NULL;
    char *last = mkperf_xprintf("/%s/elf", mkperf_build_id_text(&m->build_id, id));
    size_t n = directory != NULL ? strlen(directory) : 0, all = strlen(name), tail = strlen(last);
    if (n != 0 && all > n + tail && strncmp(name, directory, n) == 0 && name[n] == '/' &&
        strcmp(name + all - tail, last) == 0) {
        m->original = mkperf_xprintf("%.*s", (int)(all - n - tail), name + n);
    }
    free(given);
    free(directory);
    free(last);
    m->next = s->modules;
    s->modules = m;
    *out = m;
    return MKPERF_OK;
}

void mkperf_symbols_expect(struct mkperf_symbols *s, const char *arch)
{
    snprintf(s->arch, sizeof s->arch, "%s", arch);
}

/* Opens the file at path if it is the build that was recorded. */
static enum mkperf_status open_recorded(struct mkperf_symbols *s, const char *path,
                                        const struct mkperf_build_id *recorded,
                                        struct mkperf_module **out, struct mkperf_error *e)
{
    char there[MKPERF_BUILD_ID_TEXT], then[MKPERF_BUILD_ID_TEXT];
    struct mkperf_build_id has;
    enum mkperf_status status = mkperf_symbols_module(s, path, out, e);
    const struct mkperf_module *m = *out;

    if (m != NULL && s->arch[0] != '\0' && strcmp(s->arch, mkperf_module_arch(m)) != 0) {
        *out = NULL;
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: an ELF for %s, the recording is of %s",
                                path, mkperf_module_arch(m), s->arch);
    }
    if (m == NULL || recorded->n == 0) {
        return status;
    }
    mkperf_module_identity(m, &has);
    if (mkperf_build_id_same(&has, recorded)) {
        return status;
    }
    *out = NULL;
    return mkperf_error_set(
        e, MKPERF_ERR_INPUT, "%s: another build (%s) than the one recorded (%s)", path,
        mkperf_build_id_text(&has, there), mkperf_build_id_text(recorded, then));
}

void mkperf_symbols_search(struct mkperf_symbols *s, const struct mkperf_elf_search *where)
{
    if (s->finder != NULL && s->search.elf_path == where->elf_path &&
        s->search.symfs == where->symfs) {
        return;
    }
    s->search = *where;
    mkperf_finder_free(s->finder);
    s->finder = mkperf_finder_new(where->elf_path, NULL);
}

static enum mkperf_status search_recorded(struct mkperf_symbols *s, const char *path,
                                          const struct mkperf_build_id *recorded,
                                          struct mkperf_module **out, struct mkperf_error *e)
{
    const char *found, *file = path != NULL ? basename(path) : "";
    char why[sizeof e->text], *cache;
    bool has_reason = path != NULL && e->status != MKPERF_OK; /* why the path cannot be used */

    if (path != NULL && s->search.elf_path != NULL) {
        mkperf_finder_add(s->finder, path); /* one candidate among those of --elf-path */
    }
    while ((found = mkperf_finder_find(s->finder, recorded, file, why, sizeof why)) != NULL) {
        if (open_recorded(s, found, recorded, out, e) == MKPERF_OK) {
            return MKPERF_OK;
        }
        mkperf_finder_reject(s->finder, found);
        has_reason = true;
    }
    if (!has_reason) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s", why);
    }
    cache = mkperf_elf_cache_directory();
    snprintf(why, sizeof why, "%s", e->text);
    mkperf_error_set(e, MKPERF_ERR_INPUT,
                     "%.600s; there is no copy in %.200s: --elf-path DIR names where that build is",
                     why, cache != NULL ? cache : "$PERF_BUILDID_DIR");
    free(cache);
    return MKPERF_ERR_INPUT;
}

enum mkperf_status mkperf_symbols_recorded(struct mkperf_symbols *s, const char *path,
                                           const struct mkperf_build_id *recorded,
                                           struct mkperf_module **out, struct mkperf_error *e)
{
    *out = NULL;
    e->status = MKPERF_OK;
    if (s->finder == NULL) {
        return open_recorded(s, path, recorded, out, e);
    }
    /* Files that the user's options name precede the path in the recording. */
    const struct mkperf_elf_search *w = &s->search;
    bool below = path != NULL && w->symfs != NULL, opened = false;
    bool by_name = path != NULL && w->elf_path != NULL && recorded->n == 0; /* it has no build id */
    char *named[] = {below ? mkperf_xprintf("%s/%s", w->symfs, path) : NULL,
                     by_name ? mkperf_find_file(w->elf_path, basename(path)) : NULL};
    for (unsigned i = 0; i < 2; i++) {
        struct mkperf_error ignored;
        opened = opened || (named[i] != NULL &&
                            open_recorded(s, named[i], recorded, out, &ignored) == MKPERF_OK);
        free(named[i]);
    }
    if (opened) {
        return MKPERF_OK;
    }
    if (path != NULL && (s->search.elf_path == NULL || recorded->n == 0) &&
        open_recorded(s, path, recorded, out, e) == MKPERF_OK) {
        return MKPERF_OK;
    }
    return recorded->n != 0 ? search_recorded(s, path, recorded, out, e) : e->status;
}
