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
    struct mkperf_elf_search elfs;
    FILE *warnings; /* ELFs that are missing and the like; NULL: nowhere */
};

/* An output being written. */
struct mkperf_output {
    struct mkperf_sink sink;
    void (*free)(void *self); /* after end or abandon; without either it discards the output */
    void *self;
};

typedef enum mkperf_status mkperf_open_output(const struct mkperf_export *x,
                                              struct mkperf_output *out, struct mkperf_error *e);
/* Writes a collected profile as the file's text. Returns errors other than write errors. */
typedef enum mkperf_status mkperf_write_profile(const struct mkperf_export *x,
                                                struct mkperf_profile *c, struct mkperf_textout *t,
                                                struct mkperf_error *e);

enum mkperf_keep { /* of a profile: see its members */
                   MKPERF_KEEP_CORES = 1,
                   MKPERF_KEEP_TIMES = 2,
                   MKPERF_KEEP_SCHEDULE = 4,
                   MKPERF_KEEP_EDGES = 8,
                   MKPERF_KEEP_SYMBOLS = 16, /* as mkperf report: inlined functions are in others */
};

struct mkperf_format {
    const char *name;
    const char *suffixes; /* of file names, separated by blanks */
    const char *help;
    mkperf_open_output *open;    /* a sink of its own; NULL: it is a function over the profile */
    mkperf_write_profile *write; /* called once, at the end */
    unsigned keep;               /* enum mkperf_keep: what the profile has for it */
    bool sched;                  /* shows scheduling events, and needs them */
    bool bare;                   /* has no place for warnings */
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

enum mkperf_status mkperf_format_open(const struct mkperf_format *f, const struct mkperf_export *x,
                                      struct mkperf_output *out, struct mkperf_error *e);

/* The number of the event that x asks for. MKPERF_ERR_USAGE: no event of that name. */
enum mkperf_status mkperf_export_event(const struct mkperf_export *x,
                                       const struct mkperf_profile *c, uint32_t *event,
                                       struct mkperf_error *e);

mkperf_write_profile mkperf_folded_write, mkperf_flamegraph_write, mkperf_html_write,
    mkperf_speedscope_write, mkperf_firefox_write, mkperf_pprof_write, mkperf_callgrind_write;
mkperf_open_output mkperf_jsonl_open, mkperf_chrome_open, mkperf_ctf_open, mkperf_csv_open;

/* The begin of a sink that shows scheduling events. INPUT: none were recorded. */
enum mkperf_status mkperf_export_needs_sched(void *self, const struct mkperf_session *session,
                                             struct mkperf_error *e);

#endif
