/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the perf.data writer share. */
#ifndef MKPERF_HOST_PERFDATA_WRITER_INTERNAL_H
#define MKPERF_HOST_PERFDATA_WRITER_INTERNAL_H

#include <stdio.h>

#include "base/outfile.h"
#include "base/put.h"
#include "compressed.h"
#include "tracepoints.h"
#include "writer.h"

enum {
    PERF_RECORD_MAX = 1 << 16,
    PERF_RECORD_SIZE_AT = 6,
    PERF_SAMPLE_ID_AT = 8,
    PERF_SAMPLE_TIME_AT = 32, /* offsets in our SAMPLE and LOST_SAMPLES records */
    PERF_SAMPLE_CPU_AT = 40,
    PERF_TRACE_TIME_AT = 24,
    PERF_LOST_COUNT_AT = 8,
    PERF_LOST_PLACE_AT = 20,
    PERF_LOST_CPU_AT = 32,
    PERF_STRING_ALIGN = 64,
    PERF_PATH_MAX = 4096,
    PERF_FEATURES_MAX = 24,
};

/* A feature's content, or where in the file it is already. */
struct perfdata_feature {
    unsigned bit;
    char *text; /* NULL: in the file at offset */
    size_t size;
    uint64_t offset;
};

struct perfdata_features {
    unsigned n;
    struct perfdata_feature at[PERF_FEATURES_MAX]; /* ascending bits */
};

struct perfdata_pd {
    char *name;
    struct mkperf_module *module; /* NULL: no ELF */
    uint8_t *mapped;              /* bit for each PD whose ELF is mapped here too, NULL: none */
    bool idle;
    uint8_t sleep; /* see writer_sched.c */
    uint32_t priority;
    uint32_t core;            /* that it ran on last, by scheduling events, as: */
    uint64_t ran_ns, told_ns; /* in all; and in records so far */
};

/* A core by its scheduling events. */
struct perfdata_core {
    bool runs; /* a thread, since since_ns */
    uint64_t since_ns;
    uint64_t last_ns; /* of its last event */
};

struct mkperf_perfdata {
    struct mkperf_outfile out;
    int level; /* of compression; 0: none */
    struct perfdata_compressor compressor;
    struct mkperf_symbols *symbols;
    struct mkperf_session session; /* strings are not used after begin */
    struct mkperf_module *kernel;  /* NULL: no ELF */
    bool began, has_marks;
    bool chains[MKPERF_MODEL_EVENTS];    /* whether an event's samples have one */
    uint64_t count[MKPERF_MODEL_EVENTS]; /* of events in groups that are read: so far */
    unsigned head_events;                /* that the head knows */
    struct perfdata_features head;
    FILE *build_ids, *about; /* features in the making, until the head is written */
    char *build_ids_text, *about_text;
    size_t build_ids_size, about_size;
    uint64_t data_offset;
    uint32_t npds, pd_room;
    struct perfdata_pd *pd;
    unsigned ncores; /* with room for their times: up to the highest seen */
    unsigned core_room;
    uint64_t *core_ns; /* time of each core's last sample */
    unsigned cores_known, cores_room;
    struct perfdata_core *cores;
    uint64_t last_ns;     /* of all cores */
    bool lock_known;      /* looked for: */
    uint64_t lock;        /* the kernel's function that takes its lock, 0: not known */
    bool unordered;       /* a core's sample came after a later one of another core */
    uint64_t round_ns;    /* last_ns when the last round was finished */
    uint64_t round_taken; /* bytes of records that were written before that */
};

/* writer_features.c */
/* At most PERF_FEATURES_MAX of them, each with a bit below HEADER_FEAT_BITS. */
void perfdata_features_add(struct perfdata_features *f, unsigned bit, const void *p, size_t n);
struct perfdata_feature *perfdata_features_at(struct perfdata_features *f, unsigned bit,
                                              uint64_t offset, size_t n);
void perfdata_features_free(struct perfdata_features *f);
/* The feature of a file with compressed records. */
void perfdata_compressed_add(struct perfdata_features *f, int level);
/* Table, the features that are not in the file yet, the header's patch, and the ratio of compression. */
enum mkperf_status perfdata_tail_write(struct mkperf_outfile *out, uint64_t data_offset,
                                       struct perfdata_features *f,
                                       const struct perfdata_compressed *counts,
                                       struct mkperf_error *e);
/* w: whose later events are added, NULL when recovered */
void perfdata_totals_add(struct perfdata_features *f, const struct mkperf_totals *totals,
                         bool recovered, const struct mkperf_perfdata *w);

/* writer_head.c */
void perfdata_head_prepare(struct mkperf_perfdata *w, const struct mkperf_session *session);
enum mkperf_status perfdata_head_write(struct mkperf_perfdata *w, struct mkperf_error *e);
/* A PD that is known from the start: who it is, which build of its program ran, why it has no ELF. */
void perfdata_write_pd(struct mkperf_perfdata *w, const struct mkperf_pd *pd,
                       const struct mkperf_module *module);
/* Ends the features that grew with the PDs. */
void perfdata_head_close(struct mkperf_perfdata *w);
/* The session's events from number `from` on, as lines of mkperf's own features. */
void perfdata_write_events(FILE *f, const struct mkperf_session *s, unsigned from);
void perfdata_event_name(const struct mkperf_event *event, char *name, size_t n);
/* The attribute of the session's event i. */
void perfdata_put_attr(struct mkperf_put *c, const struct mkperf_perfdata *w, unsigned i);
/* Whether event i is in a group whose values ride in samples, and the group's first event then. */
bool perfdata_is_read(const struct mkperf_session *s, unsigned i, unsigned *leader);
void perfdata_put_mark_attr(struct mkperf_put *c);
/* Tracepoints that the file has: all, or none. */
unsigned perfdata_trace_points(const struct mkperf_perfdata *w);
void perfdata_put_trace_attr(struct mkperf_put *c, enum mkperf_trace_point point);

/* writer_pipe.c: the same for the pipe layout */
enum mkperf_status perfdata_pipe_head(struct mkperf_perfdata *w, struct mkperf_error *e);
/* Writes the present features and discards them: behind the head's events, and as the tail. */
enum mkperf_status perfdata_pipe_features(struct mkperf_perfdata *w, struct mkperf_error *e);

/* writer_sample.c; the file has begun */
enum mkperf_status perfdata_sample_add(struct mkperf_perfdata *w, const struct mkperf_sample *s,
                                       struct mkperf_error *e);

/* writer_events.c; the file has begun */
/* The session's event i, to perf. */
enum mkperf_status perfdata_event_announce(struct mkperf_perfdata *w, unsigned i,
                                           struct mkperf_error *e);
/* The tracepoints, in a pipe. */
enum mkperf_status perfdata_trace_announce(struct mkperf_perfdata *w, struct mkperf_error *e);
enum mkperf_status perfdata_events_add(struct mkperf_perfdata *w,
                                       const struct mkperf_session *session,
                                       struct mkperf_error *e);
enum mkperf_status perfdata_mark_add(struct mkperf_perfdata *w, const struct mkperf_mark *m,
                                     struct mkperf_error *e);

/* writer_sched.c; the file has begun, and knows the event's PDs */
enum mkperf_status perfdata_sched_add(struct mkperf_perfdata *w, const struct mkperf_sched *s,
                                      struct mkperf_error *e);
/* How long PDs ran, as far as no record has it: with each round, and at the end. */
enum mkperf_status perfdata_sched_runtimes(struct mkperf_perfdata *w, struct mkperf_error *e);

/* writer_maps.c */
void perfdata_build_id_entry(FILE *f, unsigned misc, const char *path, const uint8_t *id, size_t n);
void perfdata_kernel_build_ids(struct mkperf_perfdata *w);
enum mkperf_status perfdata_kernel_maps(struct mkperf_perfdata *w, struct mkperf_error *e);
/* The last record of the data, at the time of the last sample. */
enum mkperf_status perfdata_kernel_dummy(struct mkperf_outfile *out, uint64_t ns,
                                         struct mkperf_error *e);
enum mkperf_status perfdata_pd_comm(struct mkperf_perfdata *w, uint32_t pid, const char *name,
                                    struct mkperf_error *e);
/* Maps PD's ELF, at PD's own addresses, into the process of PD `in`. */
enum mkperf_status perfdata_pd_map(struct mkperf_perfdata *w, uint32_t pd, uint32_t in,
                                   struct mkperf_error *e);

/* Features whose content is strings, as perf pads them: into p (room for n + 68), the size. */
size_t perfdata_string(uint8_t *p, const char *text);

static inline void perfdata_record(struct mkperf_put *c, unsigned type, unsigned misc, size_t size)
{
    mkperf_put32(c, type);
    mkperf_put16(c, (uint16_t)misc);
    mkperf_put16(c, (uint16_t)size);
}

/* Begins a record of at most 64 KiB: what follows its head goes to the cursor. p NULL: *e says why. */
static inline struct mkperf_put perfdata_begin(struct mkperf_outfile *out, unsigned type,
                                               unsigned misc, struct mkperf_error *e)
{
    struct mkperf_put c = {mkperf_outfile_reserve(out, PERF_RECORD_MAX, e)};

    if (c.p != NULL) {
        perfdata_record(&c, type, misc, 0);
    }
    return c;
}

/* Ends it with zeros up to a multiple of 8 bytes, and with its size in its head. */
static inline enum mkperf_status perfdata_end(struct mkperf_outfile *out, struct mkperf_put c)
{
    struct mkperf_put size = {out->buffer + out->used + PERF_RECORD_SIZE_AT};
    size_t n = (size_t)(c.p - (out->buffer + out->used));

    memset(c.p, 0, -n % 8);
    n += -n % 8;
    mkperf_put16(&size, (uint16_t)n);
    mkperf_outfile_commit(out, n);
    return MKPERF_OK;
}

/* n bytes of text, a 0, and zeros up to a multiple of 8 bytes. */
static inline void perfdata_put_text(struct mkperf_put *c, const char *text, size_t n)
{
    mkperf_put_padded(c, text, n, (n + 1 + 7) / 8 * 8);
}

/* What sample_id_all puts behind every other record. */
static inline void perfdata_sample_id(struct mkperf_put *c, uint32_t pid, uint32_t tid,
                                      uint64_t time, uint32_t core)
{
    mkperf_put32(c, pid);
    mkperf_put32(c, tid);
    mkperf_put64(c, time);
    mkperf_put32(c, core);
    mkperf_put32(c, 0);
    mkperf_put64(c, 1); /* identifier: the first event's */
}

#endif
