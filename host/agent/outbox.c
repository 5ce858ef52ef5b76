/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the files of outboxes, see agent.h. */
#include "agent.h"

#include <dirent.h>
#include <fnmatch.h>

enum { INDEX_BYTES = 4 * 1024 * 1024, COPY_BYTES = 1 << 20 };

const char *const agent_kind_names[AGENT_KINDS] = {"file", "pprof", "otlp", "pyroscope"};
static const char *const kind_help[AGENT_KINDS] = {
    "DIR\0a perf.data file for each window, and index.jsonl",
    "DIR\0a pprof file for each window, and index.jsonl",
    "URL\0OTLP profiles over HTTP, schema 1.10 (/v1development/profiles)",
    "URL\0Pyroscope's /ingest, with pprof",
};

void agent_kind_help(mkperf_put *put, void *to)
{
    for (unsigned i = 0; i < AGENT_KINDS; i++) {
        char *word = mkperf_xprintf("%s:%s", agent_kind_names[i], kind_help[i]);
        put(to, word, kind_help[i] + strlen(kind_help[i]) + 1);
        free(word);
    }
}

bool agent_name_parse(const char *name, struct agent_name *out)
{
    enum { DIGITS = 20 };
    char number[3][DIGITS], *target = out->target;
    int end = 0;

    *out = (struct agent_name){.sequence = 0};
    if (sscanf(name, "%19[0-9].%19[0-9].%19[0-9].%63[A-Za-z0-9._-]%n", number[0], number[1],
               number[2], target, &end) != 4 ||
        name[end] != '\0' || strlen(number[0]) != 12) {
        return false;
    }
    out->sequence = strtoull(number[0], NULL, 10);
    out->unix_ms = strtoull(number[1], NULL, 10);
    out->samples = strtoull(number[2], NULL, 10);
    char *suffix = strrchr(target, '.');
    if (suffix == NULL || suffix == target ||
        (strcmp(suffix, ".data") != 0 && strcmp(suffix, ".pprof") != 0)) {
        return false;
    }
    *suffix = '\0';
    return true;
}

static void append_window(struct agent_outbox *o, const char *name, uint64_t bytes,
                          uint64_t samples)
{
    struct agent_waiting *w = mkperf_xcalloc(1, sizeof *w);

    *w = (struct agent_waiting){.name = mkperf_xstrdup(name), .bytes = bytes, .samples = samples};
    STAILQ_INSERT_TAIL(&o->waiting, w, next);
    o->bytes += bytes;
}

/* Forgets the oldest window. */
static void forget_window(struct agent_outbox *o)
{
    struct agent_waiting *w = STAILQ_FIRST(&o->waiting);

    STAILQ_REMOVE_HEAD(&o->waiting, next);
    o->bytes -= w->bytes;
    free(w->name);
    free(w);
}

void agent_outbox_drop(struct agent_outbox *o)
{
    char *path = mkperf_xprintf("%s/%s", o->directory, STAILQ_FIRST(&o->waiting)->name);

    unlink(path);
    free(path);
    forget_window(o);
}

/* Gives the oldest windows up until `more` bytes fit. The last window stays, however large it is. */
static void make_room(struct agent_outbox *o, uint64_t more)
{
    while (!STAILQ_EMPTY(&o->waiting) && o->bytes + more > o->limit) {
        o->given_up++;
        o->given_up_samples += STAILQ_FIRST(&o->waiting)->samples;
        agent_outbox_drop(o);
    }
}

char *agent_name_path(const struct agent_outbox *o, const struct agent_name *w)
{
    return mkperf_xprintf("%s/%012" PRIu64 ".%013" PRIu64 ".%" PRIu64 ".%s.data", o->directory,
                          w->sequence, w->unix_ms, w->samples, w->target);
}

/* Adds a window of an earlier agent, of which the outbox has the file. */
static void add_found(struct agent_outbox *o, const char *name, uint64_t *sequence)
{
    char *path = mkperf_xprintf("%s/%s", o->directory, name);
    struct agent_name w;
    struct stat st;

    if (agent_name_parse(name, &w) && stat(path, &st) == 0) {
        append_window(o, name, (uint64_t)st.st_size, w.samples);
        *sequence = w.sequence >= *sequence ? w.sequence + 1 : *sequence;
    }
    free(path);
}

/* Finishes the window of an agent that was killed. It gets the number of samples into its name. */
static void recover_window(const struct agent_outbox *o, const char *partial)
{
    char *from = mkperf_xprintf("%s/%s", o->directory, partial),
         *to = mkperf_xprintf("%s.new", from);
    char *name = mkperf_xprintf("%.*s", (int)(strlen(partial) - strlen(".partial")), partial);
    struct mkperf_totals totals;
    struct mkperf_error e = {.text = "its name is not that of a window"};
    struct agent_name w;

    if (agent_name_parse(name, &w) && mkperf_perfdata_recover(from, to, &totals, &e) == MKPERF_OK) {
        w.samples = totals.samples;
        char *path = agent_name_path(o, &w);
        if (rename(to, path) != 0) {
            mkperf_print_line(stderr, "mkperf agent: %s: %s", path, strerror(errno));
        }
        free(path);
    } else {
        mkperf_print_line(stderr,
                          "mkperf agent: %s: an earlier agent left a file that is no window: %s",
                          from, e.text);
    }
    unlink(from);
    free(from);
    free(name);
    free(to);
}

enum mkperf_status agent_outbox_open(struct agent_outbox *o, const char *spec, const char *spool,
                                     uint64_t limit, uint64_t *sequence, struct mkperf_error *e)
{
    const char *where = strchr(spec, ':');
    char *scheme = mkperf_xprintf("%.*s", (int)strcspn(spec, ":"), spec);
    size_t kind = mkperf_named(agent_kind_names, AGENT_KINDS, sizeof *agent_kind_names, scheme);

    free(scheme);
    if (kind == AGENT_KINDS || where == NULL || where[1] == '\0') {
        return mkperf_usage_error(
            e, "agent", "--to %s: want file:DIR, pprof:DIR, otlp:URL or pyroscope:URL", spec);
    }
    *o = (struct agent_outbox){.spec = spec, .kind = (enum agent_kind)kind, .limit = limit};
    STAILQ_INIT(&o->waiting);
    if (kind >= AGENT_OTLP) {
        o->url = where + 1;
        if (strncmp(o->url, "http://", 7) != 0 && strncmp(o->url, "https://", 8) != 0) {
            return mkperf_usage_error(e, "agent",
                                      "--to %s: want http:// or https:// behind the colon", spec);
        }
        o->directory = mkperf_xprintf("%s/%s", spool, spec);
        for (char *p = o->directory + strlen(spool) + 1; *p != '\0'; p++) {
            *p = isalnum((unsigned char)*p) || *p == '.' ? *p : '_';
        }
    } else {
        o->directory = mkperf_xstrdup(where + 1);
    }
    MKPERF_FAIL_IF(mkdir(o->directory, 0700) != 0 && errno != EEXIST, e, MKPERF_ERR_OUTPUT,
                   "%s: %s", o->directory, strerror(errno));
    /* The first pass finishes the files of an agent that was killed, which get new names. The second pass finds all windows. A name
     * begins with the sequence, so the order of names is that of windows. */
    for (unsigned found = 0; found < 2; found++) {
        struct dirent **list;
        int n = scandir(o->directory, &list, NULL, alphasort);
        MKPERF_FAIL_IF(n < 0, e, MKPERF_ERR_OUTPUT, "%s: %s", o->directory, strerror(errno));
        for (int i = 0; i < n; i++) {
            if (found) {
                add_found(o, list[i]->d_name, sequence);
            } else if (fnmatch("?*.data.partial", list[i]->d_name, 0) == 0) {
                recover_window(o, list[i]->d_name);
            }
            free(list[i]);
        }
        free(list);
    }
    make_room(o, 0);
    return MKPERF_OK;
}

/* Links or copies a file. Returns 0, or an errno. */
static int link_or_copy(const char *from, const char *to)
{
    if (link(from, to) == 0) {
        return 0;
    }
    if (errno != EXDEV && errno != EPERM && errno != EMLINK) {
        return errno;
    }
    int in = open(from, O_RDONLY | O_CLOEXEC), why = 0;
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n = 0;
    while (in >= 0 && out >= 0 && (n = copy_file_range(in, NULL, out, NULL, COPY_BYTES, 0)) > 0) {
    }
    if (in < 0 || out < 0 || n < 0) {
        why = errno;
        unlink(to);
    }
    close(in);
    close(out);
    return why;
}

/* Adds a line for a window to the index. An index of INDEX_BYTES becomes index.jsonl.1. */
static void add_to_index(const struct agent_outbox *o, const char *name, const struct agent_name *w,
                         const struct mkperf_totals *totals)
{
    char *path = mkperf_xprintf("%s/%s", o->directory, "index.jsonl"),
         *old = mkperf_xprintf("%s.1", path);
    struct stat st;

    if (stat(path, &st) == 0 && st.st_size > INDEX_BYTES) {
        (void)rename(path, old);
    }
    struct mkperf_textout t = {.over = fopen(path, "ae")};
    if (t.over != NULL) {
        mkperf_json(&t, "{'file':%s,'target':%s,'unix_ms':%" PRIu64, name, w->target, w->unix_ms);
        mkperf_json(&t, ",'seconds':%.3f,'samples':%" PRIu64 ",'lost':%" PRIu64,
                    (double)(totals->last_ns - totals->first_ns) / 1e9, w->samples,
                    mkperf_lost_sum(totals->lost));
        mkperf_json(&t, ",'sched_events':%" PRIu64 ",'sched_lost':%" PRIu64 "}\n",
                    totals->sched_events, mkperf_lost_sum(totals->sched_lost));
        (void)fclose(t.over);
    }
    free(path);
    free(old);
}

void agent_print(void *target, const char *text)
{
    mkperf_print_line(stderr, "mkperf agent: %s: %s", ((struct agent_target *)target)->name, text);
}

uint64_t agent_unix_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct mkperf_elf_search agent_elfs(struct agent *a, uint64_t unix_ms)
{
    double now_s = mkperf_now_s(); /* The wall clock may have been set back. */

    if (a->elfs == NULL || unix_ms > a->elfs_unix_ms || now_s - a->elfs_s > a->window_s) {
        mkperf_symbols_free(a->elfs);
        a->elfs = mkperf_symbols_new();
        a->elfs_unix_ms = agent_unix_ms();
        a->elfs_s = now_s;
    }
    return (struct mkperf_elf_search){.elf_path = a->options.elf_path, .open = a->elfs};
}

enum mkperf_status agent_outbox_add(struct agent_outbox *o, const char *path,
                                    const struct mkperf_totals *totals,
                                    const struct mkperf_elf_search *elfs, struct mkperf_error *e)
{
    bool pprof = o->kind == AGENT_PPROF;
    const char *name = strrchr(path, '/') + 1;
    char *own = mkperf_xprintf("%.*s%s", (int)(strlen(name) - strlen(".data")), name,
                               pprof ? ".pprof" : ".data");
    char *to = mkperf_xprintf("%s/%s", o->directory, own);
    struct stat st = {.st_size = 0};
    struct agent_name w;
    int why = 0;

    (void)agent_name_parse(name, &w);
    e->status = MKPERF_OK;
    if (stat(path, &st) == 0) {
        make_room(o, (uint64_t)st.st_size);
    }
    if (pprof) {
        const struct mkperf_export x = {.path = to, .input = path, .elfs = *elfs};
        e->status = mkperf_format_convert("pprof", &x, e);
    } else if (strcmp(path, to) != 0 && (why = link_or_copy(path, to)) != 0) {
        mkperf_error_set(e, MKPERF_ERR_OUTPUT, "%s: %s", to, strerror(why));
    }
    if (e->status == MKPERF_OK && stat(to, &st) == 0) {
        append_window(o, own, (uint64_t)st.st_size, w.samples);
        if (o->kind <= AGENT_PPROF) {
            add_to_index(o, own, &w, totals);
        }
    } else {
        o->given_up++;
        o->given_up_samples += w.samples;
    }
    free(own);
    free(to);
    return e->status;
}

void agent_outbox_free(struct agent_outbox *o)
{
    while (!STAILQ_EMPTY(&o->waiting)) {
        forget_window(o);
    }
    free(o->directory);
    *o = (struct agent_outbox){.kind = AGENT_FILE};
}
