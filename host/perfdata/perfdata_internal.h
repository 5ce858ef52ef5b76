/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of this folder share, and no other folder needs: compressed records, the writer, the reader.
 */
#ifndef MKPERF_HOST_PERFDATA_INTERNAL_H
#define MKPERF_HOST_PERFDATA_INTERNAL_H

#include "base/outfile.h"
#include "model/figures.h"
#include "perfdata.h"
#include "tracepoints.h"

/*
 * ---- compressed.c ----
 *
 * Compressed records of perf.data (PERF_RECORD_COMPRESSED), in both directions.
 *
 * A compressed record holds a part of one zstd stream. Its contents are ordinary records:
 *
 *     file   | head | COMPRESSED | COMPRESSED | COMPRESSED | tail |
 *     stream        [ part 1     |  part 2    |  part 3     ...     (it is never ended)
 *     records       SAMPLE SAMPLE|SAMPLE SAMPLE ...
 *
 * Each part is flushed, so a file whose writer was killed can be read up to its last part. perf ends with
 * an error if a part yields no bytes. Therefore a part holds at most MKPERF_COMPRESSED_PART bytes of records, which
 * always fit into one compressed record. A part of ours is whole records. A record of perf's may continue in the next part.
 *
 * Owns: the two zstd contexts and their buffers. The writer uses one direction; the reader and
 * recovery use the other. Nothing that is read is trusted: memory is bounded by
 * INFLATE_BYTES and by zstd's window of at most 128 MiB (that of its highest level), time by
 * MKPERF_INFLATE_RATIO.
 */

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

enum {
    MKPERF_COMPRESSED_PART =
        64000, /* most bytes of records in a compressed record that mkperf writes */
    /* A stream that yields more than RATIO times its size, and FREE bytes, is refused. */
    MKPERF_INFLATE_RATIO = 1024,
    MKPERF_INFLATE_FREE = 16 << 20,
};

/* ---- writing ---- */

/* Bytes of records, and bytes of the compressed records that contain them. */
struct perfdata_compressed {
    uint64_t bytes, written;
};

struct perfdata_compressor {
    struct ZSTD_CCtx_s *stream;
    struct mkperf_outfile *out;
    uint8_t *record; /* room for one compressed record */
};

/* Makes *out compress all records that leave its buffer from now on. level: 1 to 22. */
void perfdata_compress_begin(struct perfdata_compressor *c, struct mkperf_outfile *out, int level);
/* Flushes *out, and ends its compression. */
void perfdata_compress_end(struct perfdata_compressor *c);
void perfdata_compress_free(struct perfdata_compressor *c);

/* ---- reading ---- */

struct perfin_inflate {
    struct ZSTD_DCtx_s *stream; /* NULL: the file has had no compressed record */
    const uint8_t *part;        /* the compressed bytes of the last record */
    size_t part_bytes, part_used;
    /* Records. Those from `at` to `filled` have not been taken. After perfin_inflate_next returned NULL they are the start
     * of a record that continues in the next part. */
    uint8_t *buffer;
    size_t at, filled;
    uint64_t in, out; /* bytes so far */
};

/* Takes the contents of one compressed record, which stay valid until perfin_inflate_next returns NULL. It has returned NULL for
 * the record before. */
void perfin_inflate_feed(struct perfin_inflate *f, const uint8_t *p, size_t n);
/*
 * Returns the next whole record, at least 8 bytes in *size; valid until the next call. NULL: there is none before the
 * next part, or the contents are damaged: then *problem is the reason, else NULL.
 */
const uint8_t *perfin_inflate_next(struct perfin_inflate *f, size_t *size, const char **problem);
void perfin_inflate_free(struct perfin_inflate *f);

/*
 * ---- the writer ----
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

enum {
    PERFDATA_RECORD_BYTES = 1 << 16,
    PERF_RECORD_SIZE_AT = 6, /* in a record */
    PERF_STRING_ALIGN = 64,
    PERF_PATH_MAX = 4096,
    PERF_FEATURES_MAX = 24,
};

/* Numbers of attributes: first those of the session's events, then that of marks, then those of tracepoints. */
enum {
    PERFDATA_MARK_ATTR = MKPERF_MODEL_EVENTS,
    PERFDATA_TRACE_ATTR,
    PERFDATA_ATTRS = PERFDATA_TRACE_ATTR + MKPERF_TRACE_POINTS,
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
enum perfdata_owner {
    OF_SESSION,
    OF_TOTALS,
    OF_FILL,
    OF_FILL_POINT,
    OF_INTERACTIONS,
    OF_EDGE,
    OF_SOFT,
    OF_COUNT,
    OF_PD, /* lines of this and the following begin with a number */
    OF_EVENT,
    OF_QUEUE,
    OF_SUSPECT,
    OF_CORE,
};
/* Writes the lines of a structure of the model. `number` is the value behind the keys of those that have one. */
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
/* Ends the two features that grow with the PDs. */
void perfdata_head_close(struct mkperf_perfdata *w);
/*
 * Puts the attribute `number`: that of the event with this number, of marks if it is PERFDATA_MARK_ATTR, or of
 * tracepoint N if it is PERFDATA_TRACE_ATTR + N.
 */
void perfdata_put_attr(struct mkperf_put *c, const struct mkperf_perfdata *w, unsigned number);
/* Returns the id that samples of the attribute `number` have in the file. */
uint64_t perfdata_attr_id(unsigned number);
/* Returns how many events have counts in samples of event i, itself included. Returns 0 if its samples have no counts. */
unsigned perfdata_counts_of(const struct mkperf_session *s, unsigned i);
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

/* Begins a record of at most 64 KiB. The caller puts what follows its head. */
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

/* Ends a record with the trailer that every record but samples has (sample_id_all). */
static inline void perfdata_end_with_id(struct mkperf_outfile *out, struct mkperf_put c,
                                        uint32_t pid, uint32_t tid, uint64_t time, uint32_t core)
{
    mkperf_put32(&c, pid);
    mkperf_put32(&c, tid);
    mkperf_put64(&c, time);
    mkperf_put32(&c, core);
    mkperf_put32(&c, 0);
    mkperf_put64(&c, 1); /* identifier of the first event */
    perfdata_end(out, c);
}

/*
 * ---- the reader ----
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
    uint32_t event; /* the number of its attribute */
    uint64_t count; /* the value in the last sample, if samples have the values of their group */
};

struct perfin_frame {
    unsigned nattrs; /* of events */
    struct perfin_attr attr[PERFDATA_ATTRS];
    struct perfin_attr first; /* the first in the file, which defines the trailers of records */
    bool has_first, has_trace;
    struct perfin_id *id; /* sorted */
    size_t nids;
    struct perfin_section data;
    bool unfinished; /* the writer died: there is no feature table, and data ends with the file */
    bool indexed;    /* mkperf wrote the file: it has an index before its data */
    /* The offset of an entry of the index that is no place in the file; 0: none */
    uint64_t damaged;
    bool pipe; /* recorded into a pipe: the file has only records, and data ends with it */
    struct perfin_section feature[HEADER_FEAT_BITS]; /* size 0: the feature is absent */
    /* The contents of features that were read, with a 0 after them; NULL: of none. */
    struct {
        uint8_t *p;
        size_t n;
    } kept[HEADER_FEAT_BITS];
};

/* Opens a file or a stream; "-" is standard input. fd: it is open already, or -1. The caller calls perfin_close, also after an error. */
enum mkperf_status perfin_open(struct perfin_bytes *b, const char *path, int fd,
                               struct mkperf_error *e);
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

/* The rest of a record or of a feature. `cut` becomes true when more is taken than there is. */
struct perfin_cursor {
    const uint8_t *p;
    size_t n;
    bool cut;
};

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
    bool known;      /* it was read */
    bool native;     /* mkperf wrote the file: identities are known, addresses are slid */
    bool has_totals; /* mkperf finished the file */
    bool
        damaged; /* a figure is no number, or a text does not end where it should: totals are not complete */
    unsigned described;                       /* how many events mkperf's own features describe */
    struct mkperf_interactions *interactions; /* NULL: none */
    struct mkperf_pd_counts *counts;          /* NULL: there are none */
    unsigned queue_room;
    struct mkperf_queue *queue;     /* the model's, with texts to be freed */
    bool no_sched;                  /* the only tracepoints are those of queues */
    struct perfin_process *process; /* the process of each PD, by the PD's number */
    uint32_t nprocesses, room;
    uint32_t last; /* the process that was found last, most often the next one too */
};

/* Reads a line of the session's or the totals' feature. Returns false if it has one more PD or queue than a recording
 * can have, or describes a queue wrongly. A line with an unknown key, or without its numbers, is skipped. */
bool perfdata_line_read(struct perfin_session *s, const char *key, const char *text);

void perfin_free_session(struct perfin_session *s);

/* Returns the process of a pid, which may be new. NULL: the file has too many. */
struct perfin_process *perfin_process_of(struct perfin_session *s, uint32_t pid);

/* Replaces *to by a copy of n bytes at p, up to the first 0. */
void perfin_set_text(const char **to, const void *p, size_t n);

/* ---- the walk over records ---- */

/* The fields of sample_type after which a sample must end. */
enum { PERFIN_FIELDS_READ = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_WEIGHT | (PERF_SAMPLE_RAW - 1) };

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

/* ---- reader_file.c ---- */

/* Returns a feature with a 0 after it; empty: it is absent or too large. */
struct perfin_cursor perfin_feature(struct perfin_reader *r, unsigned bit);

/* ---- own_lines.c ---- */

/* Reads the whole session, unless it was read: perf's features, then mkperf's where the file has them. */
enum mkperf_status perfin_read_session(struct perfin_reader *r);
/* Reads the totals. A pipe has them after its data. */
enum mkperf_status perfin_read_totals(struct perfin_reader *r);

/* ---- reader.c ---- */

/* Reads the record at r->offset. *extent becomes its size, or 0 after the last whole record of a file that
 * may be truncated. */
enum mkperf_status perfin_next_record(struct perfin_reader *r, uint64_t *extent);
/* Frees what a reader has, and closes its file. */
void perfin_free(struct perfin_reader *r);

/* ---- reader_session.c ---- */

/* Reads events and machine from perf's own features. */
void perfin_read_perf_features(struct perfin_reader *r);
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
