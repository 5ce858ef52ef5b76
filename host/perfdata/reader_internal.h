/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the perf.data reader share.
 *
 * A file is read in four steps. Each has a structure, and the file that fills it:
 *
 *     struct perfin_bytes     bytes at any offset, with every length checked     reader_file.c
 *     struct perfin_frame     header, attributes, ids, sections of features      reader_file.c
 *     struct perfin_session   events, machine, PDs, totals                       reader_session.c, own_lines.c
 *     struct perfin_reader    the walk over the records, and its cursor          reader.c and the others
 *
 * Nothing is trusted: a position outside the file, or a size above its limit, is an error with its
 * offset. Recovery (writer_recover.c) uses what the reader counts.
 */
#ifndef MKPERF_HOST_PERFDATA_READER_INTERNAL_H
#define MKPERF_HOST_PERFDATA_READER_INTERNAL_H

#include "compressed.h"
#include "model/figures.h"
#include "perfdata.h"
#include "tracepoints.h"

/* ---- reader_file.c ---- */

enum {
    PERFIN_BUFFER = 1 << 18,      /* bytes; a record has at most 64 KiB */
    PERFIN_FEATURE_MAX = 1 << 24, /* a larger feature is not read; bytes */
    PERFIN_IDS_MAX = 1 << 20,     /* most ids of all events together */
};

struct perfin_bytes {
    const char *path;      /* the path that messages name */
    uint64_t size;         /* UINT64_MAX: the end of a stream has not been reached */
    bool stream;           /* fd is a stream, so that offsets only grow */
    const uint8_t *memory; /* the whole file; NULL: it is read from fd into the buffer */
    int fd;
    uint8_t *buffer;
    uint64_t buffered_at;
    size_t buffered;
};

struct perfin_section {
    uint64_t offset, size;
};

struct perfin_attr {
    uint64_t type, config, period, sample_type, read_format, flags;
    unsigned max_stack;
};

struct perfin_id {
    uint64_t id;
    uint32_t event; /* its number in the session; PERFIN_MARK, or PERFIN_TRACE + a tracepoint */
    uint64_t count; /* the value in the last sample, if samples have the values of their group */
};

/* In the place of an event's number: marks, and the tracepoints of scheduling events from PERFIN_TRACE on. */
enum {
    PERFIN_MARK = MKPERF_MODEL_EVENTS,
    PERFIN_TRACE,
    PERFIN_ATTRS = PERFIN_TRACE + MKPERF_TRACE_POINTS,
};

struct perfin_frame {
    unsigned nattrs; /* of events */
    struct perfin_attr attr[PERFIN_ATTRS];
    struct perfin_attr first; /* the first in the file, which defines the trailers of records */
    bool has_first, has_trace;
    struct perfin_id *id; /* sorted */
    size_t nids;
    struct perfin_section data;
    bool unfinished; /* the writer died: there is no feature table, and data ends with the file */
    bool indexed;    /* mkperf wrote the file: it has an index before its data */
    uint64_t
        damaged; /* the offset of an entry of the index that is no place in the file; 0: none */
    bool pipe;   /* recorded into a pipe: the file has only records, and data ends with it */
    struct perfin_section feature[HEADER_FEAT_BITS]; /* size 0: the feature is absent */
    struct {
        uint8_t *p;
        size_t n;
    } kept[HEADER_FEAT_BITS]; /* the contents of a pipe's features */
};

/* Opens a file or a stream; "-" is standard input. The caller calls perfin_close, also after an error. */
enum mkperf_status perfin_open(struct perfin_bytes *b, const char *path, struct mkperf_error *e);
void perfin_close(struct perfin_bytes *b);

/* Returns the n bytes at an offset, valid until the next call, or NULL if the file does not have
 * them. */
const uint8_t *perfin_at(struct perfin_bytes *b, uint64_t offset, size_t n);

/* Sets MKPERF_ERR_INPUT "path: offset N: reason". */
enum mkperf_status perfin_bad(const struct perfin_bytes *b, uint64_t offset, const char *reason,
                              struct mkperf_error *e);

/* recover: a file that ends before its feature table is unfinished, too. */
enum mkperf_status perfin_read_frame(struct perfin_bytes *b, struct perfin_frame *f, bool recover,
                                     struct mkperf_error *e);
void perfin_free_frame(struct perfin_frame *f);

/* Returns the entry of an id; NULL: it is unknown. */
struct perfin_id *perfin_find_id(const struct perfin_frame *f, uint64_t id);
/* Adds an event, or marks, from a HEADER_ATTR record: an attribute, then ids. False: it is damaged. */
bool perfin_more_attrs(struct perfin_frame *f, const uint8_t *p, size_t n);

/* Keeps a feature from a HEADER_FEATURE or HEADER_EVENT_TYPE record. False: it is cut or too long. */
bool perfin_keep_feature(struct perfin_frame *f, unsigned type, const uint8_t *p, size_t n);

/* Returns a feature's n bytes with a 0 after them, to be freed, or NULL if it is absent or too
 * large. */
uint8_t *perfin_feature(struct perfin_bytes *b, const struct perfin_frame *f, unsigned bit,
                        size_t *n);

/* ---- reader_session.c and own_lines.c ---- */

enum { PERFIN_PROCESSES_MAX = MKPERF_MODEL_PDS, PERFIN_QUEUES_MAX = 1 << 12 };

struct perfin_process {
    uint32_t pid;
    bool announced;      /* the sink knows the PD, so that name and ELF are final */
    bool has_thread;     /* the PD's thread is from the session, not guessed */
    struct mkperf_pd pd; /* it owns its texts (mkperf_pd_rows) */
};

struct perfin_session {
    struct mkperf_session model; /* the session in mkperf's terms; the reader owns its texts */
    struct mkperf_totals totals;
    bool native;        /* mkperf wrote the file: identities are known, addresses are slid */
    bool has_totals;    /* mkperf finished the file */
    unsigned described; /* how many events mkperf's own features describe */
    struct mkperf_interactions *interactions; /* NULL: none */
    struct mkperf_pd_counts *counts;          /* NULL: there are none */
    unsigned queue_room;
    struct mkperf_queue *queue;     /* the model's, with texts to be freed */
    bool no_sched;                  /* the only tracepoints are those of queues */
    struct perfin_process *process; /* the process of each PD, by the PD's number */
    uint32_t nprocesses, room;
    uint32_t last; /* the process that was found last, most often the next one too */
};

/* Reads events and machine from perf's own features. */
void perfin_read_perf_features(struct perfin_bytes *b, const struct perfin_frame *f,
                               struct perfin_session *s);
/* Reads the whole session: perf's features, then mkperf's where the file has them. */
enum mkperf_status perfin_read_session(struct perfin_bytes *b, const struct perfin_frame *f,
                                       struct perfin_session *s, struct mkperf_error *e);
/* Reads the totals. A pipe has them after its data. */
enum mkperf_status perfin_read_totals(struct perfin_bytes *b, const struct perfin_frame *f,
                                      struct perfin_session *s, struct mkperf_error *e);
void perfin_free_session(struct perfin_session *s);

/* Returns the process of a pid, which may be new. NULL: the file has too many. */
struct perfin_process *perfin_process_of(struct perfin_session *s, uint32_t pid);

/* Replaces *to by a copy of n bytes at p, up to the first 0. */
void perfin_set_text(const char **to, const void *p, size_t n);

/* ---- the walk over records ---- */

/* The fields of sample_type after which a sample must end. */
enum { PERFIN_FIELDS_READ = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_WEIGHT | (PERF_SAMPLE_RAW - 1) };

/* The rest of a record. `cut` becomes true when more is taken than there is. */
struct perfin_cursor {
    const uint8_t *p;
    size_t n;
    bool cut;
};

struct perfin_reader {
    struct perfin_bytes bytes;
    struct perfin_frame frame;
    struct perfin_session session;
    struct mkperf_order order;
    struct mkperf_sink checked;
    const struct mkperf_sink *sink; /* &checked while records are read */
    bool began;
    bool damaged; /* compressed records of an unfinished file are damaged from this one on */
    struct perfin_inflate inflate;
    unsigned events;           /* number of events that the sink knows */
    uint64_t offset;           /* offset of the current record */
    struct mkperf_totals seen; /* what the records contain */
    unsigned cores_room;
    uint64_t *sched_ns; /* time of the last scheduling event by core, of cores_room cores */
    struct mkperf_chain chain;
    struct mkperf_error *e;
};

/* Extends the time of a recording by a sample, an event or a reading that is not counted yet. */
static inline void perfin_note_time(struct mkperf_totals *t, uint64_t ns)
{
    bool first = t->samples == 0 && t->sched_events == 0 && t->queue_readings == 0;

    t->first_ns = first || ns < t->first_ns ? ns : t->first_ns;
    t->last_ns = ns > t->last_ns ? ns : t->last_ns;
}

static inline const uint8_t *perfin_take(struct perfin_cursor *c, size_t n)
{
    const uint8_t *p = c->p;

    if (n > c->n) {
        c->cut = true;
        return NULL;
    }
    c->p += n;
    c->n -= n;
    return p;
}

static inline uint64_t perfin_take64(struct perfin_cursor *c)
{
    const uint8_t *p = perfin_take(c, 8);

    return p ? mkperf_get64(p) : 0;
}

static inline uint32_t perfin_take32(struct perfin_cursor *c)
{
    const uint8_t *p = perfin_take(c, 4);

    return p ? mkperf_get32(p) : 0;
}

/* ---- reader.c ---- */

/* Reads the record at r->offset. *extent becomes its size, or 0 after the last whole record of a file that
 * may be truncated. */
enum mkperf_status perfin_next_record(struct perfin_reader *r, uint64_t *extent);
/* Frees what a reader has, and closes its file. */
void perfin_free(struct perfin_reader *r);

/* ---- reader_session.c ---- */

/* Sets MKPERF_ERR_INPUT with the offset of the current record. */
enum mkperf_status perfin_fail(struct perfin_reader *r, const char *reason);
/* Begins the sink, unless it has begun. Announces the PDs that the head lists, if it wants every PD. */
enum mkperf_status perfin_begin(struct perfin_reader *r);

/* Stores the PD of a pid, which the sink knows afterwards. */
enum mkperf_status perfin_pd_of(struct perfin_reader *r, uint32_t pid, uint32_t *id);
/* Reads a HEADER_ATTR record: an event of a later session. The second function reads the name in an EVENT_UPDATE record. */
enum mkperf_status perfin_read_attr(struct perfin_reader *r, struct perfin_cursor c);
enum mkperf_status perfin_read_event_name(struct perfin_reader *r, struct perfin_cursor c);
/* Reads a COMM record; the second function reads an MMAP or MMAP2 record. */
enum mkperf_status perfin_read_comm(struct perfin_reader *r, struct perfin_cursor c);
enum mkperf_status perfin_read_map(struct perfin_reader *r, struct perfin_cursor c, bool mmap2,
                                   unsigned misc);

/* ---- reader_sample.c ---- */

/* Reads a SAMPLE record: a sample, a mark or a scheduling event. */
enum mkperf_status perfin_read_sample(struct perfin_reader *r, struct perfin_cursor c,
                                      unsigned misc);

/* Passes on a gap of scheduling events, which a LOST record holds. */
enum mkperf_status perfin_read_gap(struct perfin_reader *r, uint64_t lost, uint64_t time,
                                   uint32_t core);

#endif
