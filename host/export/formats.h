/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of output formats, and the opening of an output.
 *
 * Owns: names, suffixes of file names, and the options of an output. Called by cmd/cmd_convert.c. A format is one file
 * and one row of the table in formats.c. README.md of this folder has the figure.
 */
#ifndef MKPERF_HOST_EXPORT_FORMATS_H
#define MKPERF_HOST_EXPORT_FORMATS_H

#include "profile/profile.h"

/* A user's options for an output. The strings live longer than the output. */
struct mkperf_export {
    const char *path;  /* "-": standard output */
    FILE *to;          /* not NULL: a format of a whole profile writes into it instead of path */
    const char *title; /* NULL: the format chooses one */
    const char *input; /* the name of the input; "" if it has none */
    /* The event that is shown by formats that show one; NULL: the first one. */
    const char *event;
    bool no_inlined;             /* count inlined functions as part of the function around them */
    bool upward;                 /* flame graph: draw the root below */
    bool idle;                   /* flame graph: draw idle */
    struct mkperf_profile *base; /* flame graph and page: the profile to compare with, or NULL */
    const char *base_name;       /* the name of base's file */
    /* OTLP: the resource, and the time of the first sample; NULL or 0: not known. */
    const char *service, *target;
    uint64_t unix_ns;
    struct mkperf_elf_search elfs;
    FILE *warnings; /* where missing ELFs are reported; NULL: nowhere */
};

/* An output that is being written. */
struct mkperf_output {
    struct mkperf_sink sink;
    void (*free)(void *self); /* releases self; discards the output unless the sink has ended */
    void *self;
    struct mkperf_profile *profile; /* all that the sink collects; NULL: it writes while it reads */
    struct mkperf_symbols *symbols; /* released behind self; NULL: none */
};

typedef enum mkperf_status mkperf_open_output(const struct mkperf_export *x,
                                              struct mkperf_output *out, struct mkperf_error *e);
/* Writes a collected profile as the file's text. Errors of writing are kept in t and are not returned. */
typedef enum mkperf_status mkperf_write_profile(const struct mkperf_export *x,
                                                struct mkperf_profile *c, struct mkperf_textout *t,
                                                struct mkperf_error *e);

/* Which members of its profile a format needs. */
enum mkperf_keep {
    MKPERF_KEEP_CORES = 1,
    MKPERF_KEEP_TIMES = 2,
    MKPERF_KEEP_SCHEDULE = 4,
    MKPERF_KEEP_EDGES = 8,
};

/* A row of the table. Either `open` or `write` is set. */
struct mkperf_format {
    const char *name;
    const char *suffixes; /* endings of file names, separated by blanks */
    const char *help;
    mkperf_open_output *open;    /* opens a sink that writes the format while events arrive */
    mkperf_write_profile *write; /* writes the whole profile; called once, at the end */
    unsigned keep;               /* a set of enum mkperf_keep, for `write` */
    bool sched;                  /* the format shows scheduling events, and needs them */
    bool bare;                   /* the format has no place for warnings */
};

extern const struct mkperf_format mkperf_formats[];
extern const size_t mkperf_nformats;

const struct mkperf_format *mkperf_format_by_name(const char *name); /* NULL: no such format */
const struct mkperf_format *mkperf_format_by_path(const char *path); /* NULL: unknown suffix */

enum mkperf_status mkperf_format_open(const struct mkperf_format *f, const struct mkperf_export *x,
                                      struct mkperf_output *out, struct mkperf_error *e);
/* Writes the recording x->input in the format of that name. Errors: those of reading and writing. */
enum mkperf_status mkperf_format_convert(const char *format, const struct mkperf_export *x,
                                         struct mkperf_error *e);

static inline void mkperf_output_free(struct mkperf_output *o)
{
    if (o->free != NULL) {
        o->free(o->self);
        o->free = NULL;
        mkperf_symbols_free(o->symbols);
    }
}

mkperf_write_profile mkperf_folded_write, mkperf_flamegraph_write, mkperf_html_write,
    mkperf_speedscope_write, mkperf_firefox_write, mkperf_pprof_write, mkperf_otlp_write,
    mkperf_callgrind_write, mkperf_cpuprofile_write;
mkperf_open_output mkperf_jsonl_open, mkperf_chrome_open, mkperf_ctf_open;

/* Writes objects of JSON Lines (jsonl.c), which `mkperf report --json` has, too. A warning's `self` is the struct
 * mkperf_textout. */
void mkperf_jsonl_session(struct mkperf_textout *t, const struct mkperf_session *session);
void mkperf_jsonl_pd(struct mkperf_textout *t, const struct mkperf_pd *pd);
void mkperf_jsonl_interactions(struct mkperf_textout *t, const struct mkperf_interactions *a);
void mkperf_jsonl_stacks(struct mkperf_textout *t, const struct mkperf_interactions *a);
void mkperf_jsonl_warning(void *self, enum mkperf_warning_level level, const char *text);
/* Writes what follows the samples: interactions, cores, warnings and totals. */
void mkperf_jsonl_totals(struct mkperf_textout *t, const struct mkperf_places *places,
                         const struct mkperf_cost *cost, const struct mkperf_totals *totals);

#endif
