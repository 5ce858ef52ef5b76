/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the search for ELFs, see symbols.h. */
#include "symbols_internal.h"

#include <fts.h>

/* The places in their order. PERF and DEBUGINFOD are looked up by identity; the others are listed. */
enum place { PLACE_ELF_PATH, PLACE_BELOW, PLACE_PERF, PLACE_DEBUGINFOD, PLACE_TREE };

enum worth { WORTH_NONE, WORTH_SYMBOLS, WORTH_DEBUG };

struct found {
    char *path;
    struct mkperf_build_id id;
    enum place place;
    enum worth worth;
    const char *damage; /* why it cannot be used; NULL: it can */
};

struct mkperf_finder {
    char *elf_path; /* DIR[:DIR], NULL = none */
    bool listed[PLACE_TREE + 1];
    bool cut; /* a limit was reached */
    unsigned entries;
    unsigned n;
    struct found found[MKPERF_FINDER_ELFS];
};

struct mkperf_finder *mkperf_finder_new(const char *elf_path, const char *beside)
{
    struct mkperf_finder *f = mkperf_xcalloc(1, sizeof *f);

    f->elf_path = mkperf_xstrdup(elf_path != NULL ? elf_path : beside);
    return f;
}

void mkperf_finder_free(struct mkperf_finder *f)
{
    if (f == NULL) {
        return;
    }
    for (unsigned i = 0; i < f->n; i++) {
        free(f->found[i].path);
    }
    free(f->elf_path);
    free(f);
}

/* Adds the file at path if it is a linked 64-bit ELF and the list has room. path belongs to f then; otherwise it is freed. */
static void add_file(struct mkperf_finder *f, char *path, enum place place)
{
    struct found *to = &f->found[f->n];

    for (unsigned i = 0; i < f->n && (place == PLACE_PERF || place == PLACE_DEBUGINFOD); i++) {
        if (f->found[i].place == place && strcmp(f->found[i].path, path) == 0) {
            free(path); /* an earlier search has found it */
            return;
        }
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    /* Most files are no ELFs or objects. They are not mapped, and need no room. */
    uint8_t head[offsetof(Elf64_Ehdr, e_machine)];
    bool linked = pread(fd, head, sizeof head, 0) == sizeof head &&
                  memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64;
    unsigned type = linked ? mkperf_get16(head + offsetof(Elf64_Ehdr, e_type)) : ET_NONE;
    if (fd >= 0) {
        close(fd);
    }
    linked = type == ET_EXEC || type == ET_DYN;
    f->cut |= linked && f->n == MKPERF_FINDER_ELFS;
    if (!linked || f->n == MKPERF_FINDER_ELFS) {
        free(path);
        return;
    }
    struct mkperf_module *m = mkperf_xcalloc(1, sizeof *m);
    uint64_t n;
    *to = (struct found){.path = path, .place = place, .damage = mkperf_module_map(m, path)};
    if (to->damage == NULL) {
        mkperf_module_identity(m, &to->id);
        to->worth = mkperf_module_section(m, ".debug_info", &n) != NULL ? WORTH_DEBUG
                    : mkperf_module_section(m, ".symtab", &n) != NULL   ? WORTH_SYMBOLS
                                                                        : WORTH_NONE;
    }
    f->n++;
    mkperf_module_free(m);
}

/* Adds the files of a directory, and in a tree those of the directories below it. */
static void list_files(struct mkperf_finder *f, char *directory, enum place place)
{
    /* Files that are no programs. A tree of sources and objects has thousands: to read their heads would take most of the
     * search's time. */
    static const char *const endings[] = {".a",  ".c",   ".cc",   ".cpp", ".d",    ".data", ".err",
                                          ".h",  ".hpp", ".html", ".js",  ".json", ".log",  ".map",
                                          ".md", ".mk",  ".o",    ".png", ".py",   ".rs",   ".s",
                                          ".S",  ".sh",  ".svg",  ".txt"};
    const size_t n = sizeof endings / sizeof *endings;
    bool tree = place == PLACE_BELOW || place == PLACE_TREE;
    char *roots[] = {directory, NULL};
    FTS *all =
        fts_open(roots, FTS_NOCHDIR | FTS_COMFOLLOW | (tree ? FTS_PHYSICAL : FTS_LOGICAL), NULL);
    FTSENT *entry;

    while (all != NULL && (entry = fts_read(all)) != NULL) {
        if (entry->fts_level == 0 || entry->fts_info == FTS_DP) {
            continue;
        }
        const char *ending = strrchr(entry->fts_name, '.');
        if (entry->fts_name[0] == '.' ||
            (ending != NULL && mkperf_named(endings, n, sizeof *endings, ending) < n)) {
            (void)fts_set(all, entry, FTS_SKIP);
            continue;
        }
        if (f->entries == MKPERF_FINDER_ENTRIES) {
            f->cut = true;
            break;
        }
        f->entries++;
        if (entry->fts_info == FTS_F) {
            add_file(f, mkperf_xstrdup(entry->fts_path), place);
        } else if (!tree || entry->fts_level > MKPERF_FINDER_DEPTH) {
            f->cut |= tree && entry->fts_info == FTS_D;
            (void)fts_set(all, entry, FTS_SKIP);
        }
    }
    if (all != NULL) {
        fts_close(all);
    }
}

/* Returns the next directory of DIR[:DIR], a new string, and moves *at behind it; NULL at the end. */
static char *next_directory(const char **at)
{
    size_t n = *at != NULL ? strcspn(*at, ":") : 0;
    char *directory = *at != NULL ? mkperf_xprintf("%.*s", n != 0 ? (int)n : 1, n != 0 ? *at : ".")
                                  : NULL;

    *at = *at != NULL && (*at)[n] == ':' ? *at + n + 1 : NULL;
    return directory;
}

/* Adds the files of a place, or those of this identity, to the list, unless they are there. */
static void search_place(struct mkperf_finder *f, enum place place,
                         const struct mkperf_build_id *id)
{
    char hex[MKPERF_BUILD_ID_TEXT], *cache, *directory;

    mkperf_build_id_text(id, hex);
    if (place == PLACE_PERF) {
        /* In perf's cache, the name is a directory with the file "elf", or, of older perfs, a link to the file. */
        cache = id->n >= 2 ? mkperf_elf_cache_directory() : NULL;
        for (unsigned old = 0; cache != NULL && old < 2; old++) {
            add_file(f,
                     mkperf_xprintf("%s/.build-id/%.2s/%s%s", cache, hex, hex + 2,
                                    old != 0 ? "" : "/elf"),
                     place);
        }
        free(cache);
    } else if (place == PLACE_DEBUGINFOD) {
        static const char *const homes[][2] = {{"DEBUGINFOD_CACHE_PATH", ""},
                                               {"XDG_CACHE_HOME", "/debuginfod_client"},
                                               {"HOME", "/.cache/debuginfod_client"}};
        unsigned i = 0;
        while (i < 2 && ((cache = getenv(homes[i][0])) == NULL || cache[0] == '\0')) {
            i++;
        }
        cache = getenv(homes[i][0]);
        if (cache != NULL && id->n >= 2 && !id->derived) { /* it knows only linkers' ids */
            add_file(f, mkperf_xprintf("%s%s/%s/executable", cache, homes[i][1], hex), place);
        }
    } else if (!f->listed[place]) {
        const char *at = place == PLACE_TREE ? "" : f->elf_path;
        f->listed[place] = true;
        f->entries = 0;
        while ((directory = next_directory(&at)) != NULL) {
            list_files(f, directory, place);
            free(directory);
        }
    }
}

void mkperf_finder_add(struct mkperf_finder *f, const char *path)
{
    add_file(f, mkperf_xstrdup(path), PLACE_ELF_PATH);
}

const char *mkperf_finder_find(struct mkperf_finder *f, const struct mkperf_build_id *id,
                               const char *file, char *why, size_t n)
{
    if (id->n == 0) {
        snprintf(why, n, "the image does not show which build of %s runs",
                 file[0] != '\0' ? file : "its program");
        return NULL;
    }
    for (enum place place = PLACE_ELF_PATH; place <= PLACE_TREE; place++) {
        const struct found *best = NULL;
        search_place(f, place, id);
        for (const struct found *x = f->found; x < f->found + f->n; x++) {
            if (x->place == place && mkperf_build_id_same(&x->id, id) &&
                (best == NULL || x->worth > best->worth)) {
                best = x;
            }
        }
        if (best != NULL) {
            return best->path;
        }
    }
    char wanted[MKPERF_BUILD_ID_TEXT], has[MKPERF_BUILD_ID_TEXT];
    const struct found *other = NULL;
    mkperf_build_id_text(id, wanted);
    for (const struct found *x = f->found; file[0] != '\0' && x < f->found + f->n; x++) {
        if (strcmp(basename(x->path), file) == 0 &&
            (other == NULL || (other->damage != NULL && x->damage == NULL))) {
            other = x;
        }
    }
    if (other != NULL && other->damage != NULL) {
        snprintf(why, n, "%s: %s", other->path, other->damage);
        return NULL;
    }
    if (other != NULL) {
        snprintf(why, n, "%s is another build (%s) than the running one (%s)", other->path,
                 mkperf_build_id_text(&other->id, has), wanted);
        return NULL;
    }
    snprintf(why, n, "no ELF with the build id %s%s%s was found%s", wanted,
             file[0] != '\0' ? " of " : "", file, f->cut ? " (the search ended at its limit)" : "");
    return NULL;
}

void mkperf_finder_reject(struct mkperf_finder *f, const char *path)
{
    for (unsigned i = 0; i < f->n; i++) {
        if (strcmp(f->found[i].path, path) == 0) {
            f->found[i].damage = "changed during the search";
            f->found[i].id.n = 0;
        }
    }
}

char *mkperf_find_file(const char *directories, const char *name)
{
    char *directory;

    if (name[0] == '/') {
        return access(name, R_OK) == 0 ? mkperf_xstrdup(name) : NULL;
    }
    for (const char *at = directories; (directory = next_directory(&at)) != NULL;) {
        char *path = mkperf_xprintf("%s/%s", directory, name);
        free(directory);
        if (access(path, R_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}
