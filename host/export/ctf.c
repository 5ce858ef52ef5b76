/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events in the Common Trace Format (1.8): a directory with a stream for each core. babeltrace2 reads it, and
 * so does Trace Compass, with kernel analyses that know sched_switch and sched_wakeup.
 *
 * Owns: the metadata, the layout of events, and the directory. It is called DIR.partial until the trace is whole, and
 * is removed after an error. DIR must not exist, or be empty, so that it contains no file of another trace. Memory is a
 * buffer for each core. Texts are C strings. Numbers are little-endian, without padding.
 */
#include <dirent.h>

#include "parts.h"
#include "perfdata/tracepoints.h"

#define MAGIC UINT32_C(0xC1FC1FC1)
enum { EVENT_ROOM = 512, CTF_NAME_BYTES = 64, CORES_MAX = 64, METADATA = CORES_MAX };
enum { EVENT_SWITCH, EVENT_SCHED, EVENT_GAP };

MKPERF_EMBED(ctf_metadata, "host/export/metadata.ctf");

struct ctf {
    struct mkperf_places places;
    char *path, *partial; /* the directory; and its name until the trace is whole */
    bool whole;
    struct mkperf_outfile file[METADATA + 1]; /* a stream for each core, and the metadata */
    FILE *env; /* the environment in the metadata, while warnings are written */
    unsigned warnings;
};

static char *file_name(const char *dir, unsigned file)
{
    return file == METADATA ? mkperf_xprintf("%s/metadata", dir)
                            : mkperf_xprintf("%s/core_%u", dir, file);
}

static enum mkperf_status open_file(struct ctf *c, unsigned file, struct mkperf_error *e)
{
    char *path = file_name(c->partial, file);
    enum mkperf_status status = mkperf_outfile_open(&c->file[file], path, false, e);

    free(path);
    return status;
}

/* Writes a PD's name and its pid, which is the same as in perf.data, and its priority if it is wanted. */
static void put_pd(struct mkperf_put *p, const struct ctf *c, uint32_t pd, bool priority)
{
    bool known = pd < c->places.npds;
    const char *name = known ? mkperf_places_pd_name(&c->places, pd) : "?";
    size_t n = strnlen(name, CTF_NAME_BYTES - 1);

    mkperf_put_padded(p, name, n, n + 1);
    mkperf_put32(p, known && !mkperf_places_idle(&c->places, pd) ? pd + 1 : 0);
    if (priority) {
        mkperf_put32(p, known ? c->places.pd[pd].priority : 0);
    }
}

static void put_text(struct mkperf_put *p, const char *text)
{
    mkperf_put_padded(p, text, strlen(text), strlen(text) + 1);
}

static enum mkperf_status write_sched_event(struct ctf *c, const struct mkperf_sched *event,
                                            struct mkperf_error *e)
{
    MKPERF_FAIL_IF(event->core >= CORES_MAX, e, MKPERF_ERR_INPUT,
                   "core %" PRIu32 ": at most %d are supported", event->core, CORES_MAX);
    struct mkperf_outfile *file = &c->file[event->core];
    if (file->path == NULL) {
        uint8_t header[12];
        struct mkperf_put h = {header};

        MKPERF_TRY(open_file(c, event->core, e));
        mkperf_put32(&h, MAGIC);
        mkperf_put32(&h, 0);
        mkperf_put32(&h, event->core);
        mkperf_outfile_write(file, header, sizeof header);
    }
    uint8_t *room = mkperf_outfile_reserve(file, EVENT_ROOM);
    struct mkperf_put p = {room};
    bool gap = event->kind == MKPERF_SCHED_GAP, is_switch = event->kind == MKPERF_SCHED_SWITCH;
    mkperf_put16(&p, gap ? EVENT_GAP : is_switch ? EVENT_SWITCH : EVENT_SCHED);
    mkperf_put64(&p, event->time_ns);
    if (gap) {
        mkperf_put64(&p, event->lost);
        mkperf_put64(&p, event->since_ns);
    } else if (is_switch) {
        put_pd(&p, c, event->from, true);
        mkperf_put64(&p, mkperf_trace_prev_state(event->reason));
        put_pd(&p, c, event->to, true);
        put_text(&p, mkperf_sched_reason_names[event->reason]);
    } else {
        put_text(&p, mkperf_sched_kind_names[event->kind]);
        put_pd(&p, c, event->from, false);
        put_pd(&p, c, event->to, false);
        mkperf_put32(&p, event->irq);
    }
    mkperf_outfile_commit(file, (size_t)(p.p - room));
    return mkperf_outfile_status(file, e);
}

/* Writes a warning as a text of the environment, quoted as in C. */
static void write_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    struct ctf *c = self;

    fprintf(c->env, "\twarning_%u = \"%s: ", ++c->warnings, mkperf_warning_names[level]);
    for (; *text != '\0'; text++) {
        fprintf(c->env, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    fputs("\";\n", c->env);
}

/* Removes the files of a trace, and the directory if it then is empty. */
static void remove_trace(const char *dir)
{
    for (unsigned i = 0; i <= METADATA; i++) {
        char *name = file_name(dir, i), *unfinished = mkperf_xprintf("%s.partial", name);

        (void)unlink(name);
        (void)unlink(unfinished);
        free(name);
        free(unfinished);
    }
    (void)rmdir(dir);
}

static enum mkperf_status ctf_end(struct ctf *c, const struct mkperf_totals *totals,
                                  struct mkperf_error *e)
{
    const char *fixed = strstr(ctf_metadata_begin, "/* CTF 1.8 */");
    char *env = NULL;
    size_t n = 0;

    c->env = mkperf_memstream_open(&env, &n);
    fputs("env {\n\tdomain = \"kernel\";\n\ttracer_name = \"mkperf\";\n", c->env);
    mkperf_places_warnings(&c->places, totals, write_warning, c);
    fputs("};\n", c->env);
    mkperf_memstream_close(c->env);
    enum mkperf_status status = open_file(c, METADATA, e);
    if (status == MKPERF_OK) {
        mkperf_outfile_write(&c->file[METADATA], fixed, strlen(fixed));
        mkperf_outfile_write(&c->file[METADATA], env, n);
    }
    free(env);
    for (unsigned i = 0; i <= METADATA && status == MKPERF_OK; i++) {
        status = c->file[i].path != NULL ? mkperf_outfile_finish(&c->file[i], e) : MKPERF_OK;
    }
    MKPERF_TRY(status);
    MKPERF_FAIL_IF(rename(c->partial, c->path) != 0, e, MKPERF_ERR_OUTPUT, "%s: %s", c->path,
                   strerror(errno));
    c->whole = true;
    return MKPERF_OK;
}

static enum mkperf_status write_event(void *self, const struct mkperf_item *item,
                                      struct mkperf_error *e)
{
    struct ctf *c = self;

    return item->kind == MKPERF_ITEM_SCHED ? write_sched_event(c, item->sched, e)
           : item->kind == MKPERF_ITEM_END ? ctf_end(c, item->totals, e)
                                           : mkperf_places_take(&c->places, item, e);
}

static void ctf_free(void *self)
{
    struct ctf *c = self;

    for (unsigned i = 0; i <= METADATA; i++) {
        if (c->file[i].path != NULL) {
            mkperf_outfile_close(&c->file[i]);
        }
    }
    if (!c->whole) {
        remove_trace(c->partial);
    }
    mkperf_places_free(&c->places);
    free(c->path);
    free(c->partial);
    free(c);
}

enum mkperf_status mkperf_ctf_open(const struct mkperf_export *x, struct mkperf_output *out,
                                   struct mkperf_error *e)
{
    MKPERF_FAIL_IF(strcmp(x->path, "-") == 0, e, MKPERF_ERR_USAGE,
                   "a CTF trace is a directory: -o DIR");
    DIR *there = opendir(x->path);
    unsigned files = 0;
    while (there != NULL && readdir(there) != NULL) {
        files++;
    }
    if (there != NULL) {
        closedir(there);
    }
    /* 2: . and .. */
    MKPERF_FAIL_IF(files > 2 || (there == NULL && access(x->path, F_OK) == 0), e, MKPERF_ERR_OUTPUT,
                   "%s: exists already, and a CTF trace is a new directory: remove it, or "
                   "choose another name",
                   x->path);
    size_t n = strlen(x->path);
    while (n > 1 && x->path[n - 1] == '/') {
        n--;
    }
    char *partial = mkperf_xprintf("%.*s.partial", (int)n, x->path);
    remove_trace(partial); /* a killed process may have left one */
    if (mkdir(partial, 0700) != 0) {
        mkperf_error_set(e, MKPERF_ERR_OUTPUT, "%s: %s", partial, strerror(errno));
        free(partial);
        return e->status;
    }
    struct ctf *c = mkperf_xcalloc(1, sizeof *c);
    c->places.no_elfs = true;
    c->path = mkperf_xstrdup(x->path);
    c->partial = partial;
    *out = (struct mkperf_output){
        .sink = {.take = write_event, .self = c, .leaves_only = true}, .free = ctf_free, .self = c};
    return MKPERF_OK;
}
