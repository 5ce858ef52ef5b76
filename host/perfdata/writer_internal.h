/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the perf.data writer share.
 *
 * A file in the order in which it is written (perfdata.h has the layout), and the file that writes it:
 *
 *     header, attributes, index, prepared features      writer_head.c, writer_features.c
 *     data: address spaces                               writer.c
 *           samples, marks, later events                 writer.c
 *           scheduling events                            writer_sched.c
 *           losses, rounds                               writer.c
 *     feature table, totals                              writer_features.c
 *
 * Features are collected in struct perfdata_features, and written before the data, behind it, or in a
 * pipe as records.
 */
#ifndef MKPERF_HOST_PERFDATA_WRITER_INTERNAL_H
#define MKPERF_HOST_PERFDATA_WRITER_INTERNAL_H

#include "compressed.h"
#include "perfdata.h"
#include "tracepoints.h"

enum {
    PERFDATA_RECORD_BYTES = 1 << 16,
    PERF_RECORD_SIZE_AT = 6, /* in a record */
    PERF_STRING_ALIGN = 64,
    PERF_PATH_MAX = 4096,
    PERF_FEATURES_MAX = 24,
};

/* A feature: its content, or its place in the file. */
struct perfdata_feature {
    unsigned bit;
    char *text; /* NULL: the file has it at `offset` */
    size_t size;
    uint64_t offset;
};

struct perfdata_features {
    unsigned n;
    struct perfdata_feature at[PERF_FEATURES_MAX]; /* features in the order of their bits */
};

struct perfdata_pd {
    char *name;
    struct mkperf_module *module; /* NULL: no ELF */
    uint8_t *mapped; /* bit set of the other PDs whose ELFs are mapped here too; NULL: none */
    bool idle, guest;
    uint8_t sleep; /* enum in writer_sched.c */
    uint32_t priority;
    /* By scheduling events: */
    uint32_t core;       /* the core on which it ran last */
    uint64_t ran_ns;     /* how long it ran in all */
    uint64_t written_ns; /* how much of that is in RUNTIME records */
};

struct perfdata_core {
    uint64_t sample_ns; /* time of the last sample */
    uint64_t event_ns;  /* time of the last scheduling event or reading of a queue */
    bool runs;          /* by scheduling events: a thread runs since since_ns */
    uint64_t since_ns;
};

struct mkperf_perfdata {
    struct mkperf_outfile out;
    int level; /* zstd's level; 0: records are not compressed */
    struct perfdata_compressor compressor;
    struct mkperf_symbols *symbols;
    struct mkperf_session session; /* only begin_file may use its strings */
    struct mkperf_module *kernel;  /* NULL: no ELF */
    bool began, has_marks;
    bool chains[MKPERF_MODEL_EVENTS];    /* whether an event's samples have callchains */
    uint64_t count[MKPERF_MODEL_EVENTS]; /* sums of the events whose values are in samples */
    unsigned head_events;                /* number of events in the head */
    struct perfdata_features head;
    FILE *build_ids, *about; /* two features that grow until the head is written */
    char *build_ids_text, *about_text;
    size_t build_ids_size, about_size;
    uint64_t data_offset;
    uint32_t npds, pd_room;
    struct perfdata_pd *pd;
    unsigned ncores, cores_room;
    struct perfdata_core *cores;
    uint64_t last_ns;     /* time of the last sample or event of all cores */
    bool lock_known;      /* `lock` was looked up */
    uint64_t lock;        /* the kernel's function that takes its lock; 0: not known */
    bool unordered;       /* a core's sample arrived after a later one of another core */
    uint64_t round_ns;    /* last_ns when the last round was finished */
    uint64_t round_taken; /* bytes of records before that round */
};

/* ---- own_lines.c ---- */

/* The structures that have lines in mkperf's own features. */
enum perfdata_owner { OF_SESSION, OF_TOTALS, OF_PD, OF_EVENT, OF_QUEUE, OF_SUSPECT };
/* Writes the lines of a structure of the model. `number` is the value behind their keys, except in those of a session. */
void perfdata_lines_write(FILE *f, enum perfdata_owner owner, unsigned number, const void *of);

/* ---- writer_features.c ---- */

/* Adds a feature with n bytes at p. At most PERF_FEATURES_MAX, each with a bit below HEADER_FEAT_BITS. */
void perfdata_features_add(struct perfdata_features *f, unsigned bit, const void *p, size_t n);
/* Adds a feature that is in the file at an offset. */
struct perfdata_feature *perfdata_features_at(struct perfdata_features *f, unsigned bit,
                                              uint64_t offset, size_t n);
void perfdata_features_free(struct perfdata_features *f);
/* Writes the feature table and the features that are not in the file. Patches the header, and the ratio of
 * compression. */
void perfdata_tail_write(struct mkperf_outfile *out, uint64_t data_offset,
                         struct perfdata_features *f, const struct perfdata_compressed *counts);
/* Adds the totals. w: its later events are included; NULL: the file is recovered. */
void perfdata_totals_add(struct perfdata_features *f, const struct mkperf_totals *totals,
                         bool recovered, const struct mkperf_perfdata *w);

/* Writes the collected features to a pipe and discards them: after the head's events, and at the end. */
void perfdata_pipe_features(struct mkperf_perfdata *w);
/* Writes a string as perf pads it to p, which has room for n + 68 bytes. Returns the bytes written. */
size_t perfdata_string(uint8_t *p, const char *text);

/* ---- writer_head.c ---- */

void perfdata_head_prepare(struct mkperf_perfdata *w, const struct mkperf_session *session);
void perfdata_head_write(struct mkperf_perfdata *w);
/* Adds a PD that is known from the start: its identity, its build, or why it has no ELF. */
void perfdata_write_pd(struct mkperf_perfdata *w, const struct mkperf_pd *pd,
                       const struct mkperf_module *module);
/* Ends the two features that grow with the PDs. */
void perfdata_head_close(struct mkperf_perfdata *w);
void perfdata_event_name(const struct mkperf_event *event, char *name, size_t n);
/* Put attributes: that of the session's event i, of marks, of a tracepoint. */
void perfdata_put_attr(struct mkperf_put *c, const struct mkperf_perfdata *w, unsigned i);
void perfdata_put_mark_attr(struct mkperf_put *c);
void perfdata_put_trace_attr(struct mkperf_put *c, enum mkperf_trace_point point);
/* Returns whether samples have the value of event i, as one of a group. *leader: the group's first event. */
bool perfdata_is_read(const struct mkperf_session *s, unsigned i, unsigned *leader);
/* Returns the number of tracepoints in the file: 0 without scheduling events; more if there are several cores. */
unsigned perfdata_trace_points(const struct mkperf_perfdata *w);

/* ---- writer_sched.c; the file has the event's PDs ---- */

/* Returns a core that has a sample, an event or a reading now. */
struct perfdata_core *perfdata_core_at(struct mkperf_perfdata *w, uint32_t core, uint64_t time_ns);
void perfdata_sched_add(struct mkperf_perfdata *w, const struct mkperf_sched *s);
void perfdata_queue_add(struct mkperf_perfdata *w, const struct mkperf_queue_reading *r);
/* Writes how long PDs ran since their last record of it: with each round, and at the end. */
void perfdata_sched_runtimes(struct mkperf_perfdata *w);

/* ---- writer.c ---- */

/* Writes the last record of the data, at the time of the last sample. */
void perfdata_kernel_dummy(struct mkperf_outfile *out, uint64_t ns);

/* ---- records ---- */

static inline void perfdata_record(struct mkperf_put *c, unsigned type, unsigned misc, size_t size)
{
    mkperf_put32(c, type);
    mkperf_put16(c, (uint16_t)misc);
    mkperf_put16(c, (uint16_t)size);
}

/* Begins a record of at most 64 KiB. The caller puts what follows its head. c.p NULL: it failed, with *e. */
static inline struct mkperf_put perfdata_begin(struct mkperf_outfile *out, unsigned type,
                                               unsigned misc)
{
    struct mkperf_put c = {mkperf_outfile_reserve(out, PERFDATA_RECORD_BYTES)};

    perfdata_record(&c, type, misc, 0);
    return c;
}

/* Ends a record with zeros up to a multiple of 8 bytes, and writes its size into its head. */
static inline void perfdata_end(struct mkperf_outfile *out, struct mkperf_put c)
{
    struct mkperf_put size = {out->buffer + out->used + PERF_RECORD_SIZE_AT};
    size_t n = (size_t)(c.p - (out->buffer + out->used));

    memset(c.p, 0, -n % 8);
    n += -n % 8;
    mkperf_put16(&size, (uint16_t)n);
    mkperf_outfile_commit(out, n);
}

/* Puts n bytes of text, a 0, and zeros up to a multiple of 8 bytes. */
static inline void perfdata_put_text(struct mkperf_put *c, const char *text, size_t n)
{
    mkperf_put_padded(c, text, n, (n + 1 + 7) / 8 * 8);
}

/* Puts the trailer that every record but samples has (sample_id_all). */
static inline void perfdata_sample_id(struct mkperf_put *c, uint32_t pid, uint32_t tid,
                                      uint64_t time, uint32_t core)
{
    mkperf_put32(c, pid);
    mkperf_put32(c, tid);
    mkperf_put64(c, time);
    mkperf_put32(c, core);
    mkperf_put32(c, 0);
    mkperf_put64(c, 1); /* identifier of the first event */
}

#endif
