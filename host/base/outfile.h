/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file being written: one large buffer, patches, and the right name only when it is whole. A recording that is not finished keeps
 * its temporary name; another file is removed.
 *
 * Owns: the descriptor, the buffer, the temporary name, and the first error, which is sticky: after it nothing is written, so
 * that writers ask once for a whole record or more (mkperf_outfile_status). Used by sinks and for raw captures. What is in the
 * buffer is lost if the process is killed (not if it has no memory); the buffer always holds whole records. An open file stays
 * where it is in memory.
 */
#ifndef MKPERF_HOST_BASE_OUTFILE_H
#define MKPERF_HOST_BASE_OUTFILE_H

#include "base.h"

enum { MKPERF_OUTFILE_BUFFER = 256 * 1024 };

struct mkperf_outfile {
    int fd; /* -1: closed */
    char *path;
    bool stream;      /* a pipe or standard output: nothing can be patched */
    bool keep_old;    /* an older file of that name is kept when this one is finished */
    bool kept;        /* true: an unfinished file keeps its temporary name; false: it is removed */
    char *partial;    /* the name until the file is finished; NULL: the file is written in place */
    uint64_t written; /* bytes that the kernel has taken */
    uint64_t passed;  /* bytes that left the buffer; a filter can write fewer */
    struct mkperf_error error; /* the first one; status MKPERF_OK: none so far */
    /* Takes the bytes that leave the buffer, and writes with mkperf_outfile_write_through; NULL: none. */
    void (*filter)(void *self, const uint8_t *p, size_t n);
    void *filter_self;
    size_t used; /* bytes in the buffer */
    uint8_t *buffer;
};

/*
 * Creates path (as path + ".partial" if it is, or will be, a regular file); "-": standard output. private: for a recording, as perf
 * does. Only the user can read the file, because it shows what a system does. An older file becomes path + ".old" when this one is
 * finished.
 */
enum mkperf_status mkperf_outfile_open(struct mkperf_outfile *o, const char *path, bool private,
                                       struct mkperf_error *e);

/* Continues the file `from`, which is cut to n bytes. It becomes path, which may be the same. */
enum mkperf_status mkperf_outfile_adopt(struct mkperf_outfile *o, const char *from, uint64_t n,
                                        const char *path, struct mkperf_error *e);

/* Sets the error of an input that could not be opened, by errno: INPUT. The text names the unfinished recording that would become it,
 * or how a first recording is made. */
enum mkperf_status mkperf_outfile_missing(const char *path, struct mkperf_error *e);

/* Returns the status of the first error of writing, which is copied to *e; without one, MKPERF_OK. */
enum mkperf_status mkperf_outfile_status(const struct mkperf_outfile *o, struct mkperf_error *e);

/* Writes what is in the buffer. */
void mkperf_outfile_flush(struct mkperf_outfile *o);

/* Returns room for n contiguous bytes, at most MKPERF_OUTFILE_BUFFER. The caller fills it and calls mkperf_outfile_commit. */
static inline uint8_t *mkperf_outfile_reserve(struct mkperf_outfile *o, size_t n)
{
    assert(n <= MKPERF_OUTFILE_BUFFER);
    if (n > MKPERF_OUTFILE_BUFFER - o->used) {
        mkperf_outfile_flush(o);
    }
    return o->buffer + o->used;
}

static inline void mkperf_outfile_commit(struct mkperf_outfile *o, size_t n)
{
    assert(n <= MKPERF_OUTFILE_BUFFER - o->used);
    o->used += n;
}

/* Returns the position of the next byte; with a filter only after a flush. */
static inline uint64_t mkperf_outfile_offset(const struct mkperf_outfile *o)
{
    return o->written + o->used;
}

/* Returns the number of bytes that were handed over, before any filter. */
static inline uint64_t mkperf_outfile_taken(const struct mkperf_outfile *o)
{
    return o->passed + o->used;
}

/* Appends n bytes, which may be more than the buffer holds. */
void mkperf_outfile_write(struct mkperf_outfile *o, const void *p, size_t n);
/* Writes n bytes to the file without the buffer, for the filter. */
void mkperf_outfile_write_through(struct mkperf_outfile *o, const uint8_t *p, size_t n);

/* Replaces n bytes at offset, all of them written before. */
void mkperf_outfile_patch(struct mkperf_outfile *o, uint64_t offset, const void *p, size_t n);

/* Flushes, closes and gives the file its name, unless there was an error. */
enum mkperf_status mkperf_outfile_finish(struct mkperf_outfile *o, struct mkperf_error *e);

/* Closes without renaming. An unfinished recording stays under the temporary name; another unfinished file is removed.
 * Idempotent. */
void mkperf_outfile_close(struct mkperf_outfile *o);

/*
 * ---- a command's text for its option -o: a stream into an output file ----
 *
 * The file gets its name when everything is printed; until then it has a temporary name, and flushed text is in it. If the
 * command or writing fails, the file keeps the temporary name, which the error's text has then; an empty file is removed.
 */

struct mkperf_printout {
    FILE *to; /* NULL: not open */
    struct mkperf_outfile file;
};

/* Opens the file, or standard output for "-". Returns OUTPUT if it cannot be written. p must not be
 * moved in memory. */
enum mkperf_status mkperf_printout_open(struct mkperf_printout *p, const char *path,
                                        struct mkperf_error *e);

/* Flushes stdout at the end of a command that prints there. Returns OUTPUT if not all of it could be written. */
enum mkperf_status mkperf_stdout_flush(struct mkperf_error *e);

/* Closes what is open. The file gets its name if e->status is OK and writing succeeded; an error of
 * writing is put into *e if it has no error yet. Returns e->status. */
enum mkperf_status mkperf_printout_close(struct mkperf_printout *p, struct mkperf_error *e);

/*
 * A text being written: numbers, JSON, and strings quoted for JSON and XML.
 *
 * Owns: the output file, whose first error is sticky, so that writers need not check every write. Used by the text sinks, and by
 * commands for rows that programs read. `out` is opened, finished and closed as any output file. Strings of any bytes become valid
 * UTF-8: invalid bytes, and characters that are not printable, become U+FFFD.
 */

struct mkperf_textout {
    struct mkperf_outfile out;
    /* Not NULL: the text is written to this stream, which the caller closes, and `out` is
     * not used. */
    FILE *over;
    /* Not NULL: mkperf_json writes values with this text between them, and no JSON. */
    const char *separator;
    char last; /* the last byte that was written */
};

void mkperf_textout_put(struct mkperf_textout *t, const void *p, size_t n);
void mkperf_textout_puts(struct mkperf_textout *t, const char *s);
void mkperf_textout_u64(struct mkperf_textout *t, uint64_t n);
void mkperf_textout_printf(struct mkperf_textout *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));                     /* writes at most 1023 bytes */
void mkperf_textout_ms(struct mkperf_textout *t, uint64_t ns); /* milliseconds, to the nanosecond */

/*
 * Writes JSON. The format is JSON with ' for each double quote, and printf's conversions for values:
 *
 *      mkperf_json(t, ",{'name':%s,'count':%" PRIu64 ",'user':%hhd}", name, count, is_user);
 *
 *      %s              a string, with its quotes; null if it is NULL
 *      %u %d %x        a number (also l, ll, z); %hhd: true or false
 *      %.4f %.3g       a number; null if it is not finite
 *
 * A comma at the beginning of the format is left out behind an opening bracket, so that all elements are written alike.
 *
 * With a separator the same format writes the values and the line's end, and the word behind "{'type':'" at its begin. It leaves out
 * all other text of the format, and each %s that a colon follows, which is a name. A text with the separator in it has double quotes;
 * null is an empty value.
 */
void mkperf_json(struct mkperf_textout *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes ,"key":"value", or nothing if the value is NULL or empty. */
void mkperf_json_known(struct mkperf_textout *t, const char *key, const char *value);

void mkperf_textout_xml(struct mkperf_textout *t, const char *s); /* text or attribute */
/* Writes the text unchanged, except that control characters become blanks and others that are not printable U+FFFD. is_frame:
 * semicolons, which separate the frames of a folded stack, become colons. */
void mkperf_textout_plain(struct mkperf_textout *t, const char *s, bool is_frame);

/*
 * Records that are read again, or in another order: in a file, not in memory.
 *
 * Owns: an unnamed temporary file (in $TMPDIR, else /var/tmp) of records of one size. Used by sinks
 * whose format groups samples by thread, and by decoders that must sort. For any number of records,
 * memory is one buffer while they are added; later the file is mapped, so its pages are
 * the page cache's.
 */
struct mkperf_spool {
    FILE *file;
    size_t size, count; /* bytes of a record; number of records */
    void *map;          /* all of them, after mkperf_spool_map; NULL if there are none */
};

enum mkperf_status mkperf_spool_open(struct mkperf_spool *s, size_t size, struct mkperf_error *e);
enum mkperf_status mkperf_spool_add(struct mkperf_spool *s, const void *record,
                                    struct mkperf_error *e);
/* Makes the records accessible. Called after the last one. */
enum mkperf_status mkperf_spool_map(struct mkperf_spool *s, struct mkperf_error *e);

/* Copies at most n records from number `first` on. Returns how many; 0 also if they cannot be read. In contrast to the map, no
 * page of the file becomes memory of this process. */
size_t mkperf_spool_read(struct mkperf_spool *s, size_t first, void *records, size_t n);
/* Copies the last n records in the order in which they were added. Returns how many. */
size_t mkperf_spool_last(struct mkperf_spool *s, void *records, size_t n);

/* Sorts in place by members (base.h), without further memory. Not stable. */
#define MKPERF_SPOOL_SORT(spool, ...) \
    mkperf_spool_sort((spool), (struct mkperf_sort_key[]){__VA_ARGS__, {0, 0, false}})
void mkperf_spool_sort(struct mkperf_spool *s, struct mkperf_sort_key *keys);
void mkperf_spool_close(struct mkperf_spool *s); /* idempotent */

#endif
