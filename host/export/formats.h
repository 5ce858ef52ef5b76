/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of output formats, and their common parts.
 *
 * Owns: names, file-name suffixes, opening. Called by `mkperf convert` and its relatives. A format
 * is one file and one line in the table in formats.c.
 */
#ifndef MKPERF_HOST_EXPORT_FORMATS_H
#define MKPERF_HOST_EXPORT_FORMATS_H

#include "base/textout.h"
#include "profile/profile.h"

struct mkperf_export { /* a user's options for an output; strings live as long as it does */
    const char *path;  /* "-": standard output */
    const char *title; /* NULL: the format's own */
    const char *input; /* the name of what is converted, "" if it has none */
    const char *event; /* for formats that show one: its name; NULL: the first */
    bool no_inlined;   /* inlined functions are part of the function around them */
    bool upward;       /* flame graph: the root below */
    bool idle;         /* flame graph: idle is drawn */
    struct mkperf_profile *base; /* flame graph: compare with this profile, NULL */
    const char *base_name;       /* and its name */
    FILE *warnings;              /* ELFs that are missing and the like; NULL: nowhere */
};

/* An output being written. */
struct mkperf_output {
    struct mkperf_sink sink;
    void (*free)(void *self); /* after end or abandon; without either it discards the output */
    void *self;
};

struct mkperf_format {
    const char *name;
    const char *suffixes; /* of file names, separated by blanks */
    const char *help;
    enum mkperf_status (*open)(const struct mkperf_export *x, struct mkperf_output *out,
                               struct mkperf_error *e);
    bool sched; /* shows scheduling events, and needs them */
    bool bare;  /* has no place for warnings */
};

extern const struct mkperf_format mkperf_formats[];
extern const size_t mkperf_nformats;

const struct mkperf_format *mkperf_format_by_name(const char *name); /* NULL: none */
const struct mkperf_format *mkperf_format_by_path(const char *path); /* by suffix; NULL: none */

static inline void mkperf_output_free(struct mkperf_output *o)
{
    if (o->free != NULL) {
        o->free(o->self);
        o->free = NULL;
    }
}

enum mkperf_keep { /* of a profile: see its members */
                   MKPERF_KEEP_CORES = 1,
                   MKPERF_KEEP_TIMES = 2,
                   MKPERF_KEEP_SCHEDULE = 4,
                   MKPERF_KEEP_EDGES = 8,
};

/*
 * A format that is a function over the collected profile: write is called once, at the end, and
 * its text becomes the file. It returns errors other than write errors.
 */
enum mkperf_status mkperf_profiled_open(const struct mkperf_export *x, unsigned keep,
                                        enum mkperf_status (*write)(const struct mkperf_export *x,
                                                                    struct mkperf_profile *c,
                                                                    struct mkperf_textout *t,
                                                                    struct mkperf_error *e),
                                        struct mkperf_output *out, struct mkperf_error *e);

/* The number of the event that x asks for. MKPERF_ERR_USAGE: no event of that name. */
enum mkperf_status mkperf_export_event(const struct mkperf_export *x,
                                       const struct mkperf_profile *c, uint32_t *event,
                                       struct mkperf_error *e);

enum mkperf_status mkperf_folded_open(const struct mkperf_export *x, struct mkperf_output *out,
                                      struct mkperf_error *e);
enum mkperf_status mkperf_flamegraph_open(const struct mkperf_export *x, struct mkperf_output *out,
                                          struct mkperf_error *e);
enum mkperf_status mkperf_html_open(const struct mkperf_export *x, struct mkperf_output *out,
                                    struct mkperf_error *e);
enum mkperf_status mkperf_speedscope_open(const struct mkperf_export *x, struct mkperf_output *out,
                                          struct mkperf_error *e);
enum mkperf_status mkperf_firefox_open(const struct mkperf_export *x, struct mkperf_output *out,
                                       struct mkperf_error *e);
enum mkperf_status mkperf_pprof_open(const struct mkperf_export *x, struct mkperf_output *out,
                                     struct mkperf_error *e);
enum mkperf_status mkperf_callgrind_open(const struct mkperf_export *x, struct mkperf_output *out,
                                         struct mkperf_error *e);
enum mkperf_status mkperf_jsonl_open(const struct mkperf_export *x, struct mkperf_output *out,
                                     struct mkperf_error *e);
enum mkperf_status mkperf_chrome_open(const struct mkperf_export *x, struct mkperf_output *out,
                                      struct mkperf_error *e);
enum mkperf_status mkperf_ctf_open(const struct mkperf_export *x, struct mkperf_output *out,
                                   struct mkperf_error *e);
enum mkperf_status mkperf_csv_open(const struct mkperf_export *x, struct mkperf_output *out,
                                   struct mkperf_error *e);

/* The begin of a sink that shows scheduling events. INPUT: none were recorded. */
enum mkperf_status mkperf_export_needs_sched(void *self, const struct mkperf_session *session,
                                             struct mkperf_error *e);

#endif
