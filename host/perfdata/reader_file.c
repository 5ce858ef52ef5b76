/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf.data file's bytes, and its frame: header, attributes, features.
 *
 * Owns: reading with every length checked, through one buffer whatever the file's size. The layout is
 * described in perf.data-file-format.txt of the Linux tree. A file that was recorded into a pipe has only records: the first ones
 * have attributes and features.
 */
#include "perfdata_internal.h"

enum { ATTR_MAX_BYTES = 4096 };

enum mkperf_status perfin_open(struct perfin_bytes *b, const char *path, int fd,
                               struct mkperf_error *e)
{
    struct stat st;

    if (fd < 0) {
        fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : open(path, O_RDONLY | O_CLOEXEC);
    }
    *b = (struct perfin_bytes){.path = path, .fd = fd};
    if (fd < 0 || fstat(fd, &st) != 0) {
        return mkperf_outfile_missing(path, e);
    }
    b->stream = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode);
    MKPERF_FAIL_IF(!b->stream && !S_ISREG(st.st_mode), e, MKPERF_ERR_INPUT,
                   "%s: not a regular file", path);
    b->size = b->stream ? UINT64_MAX : (uint64_t)st.st_size;
    b->buffer = mkperf_xcalloc(1, PERFIN_BUFFER);
    return MKPERF_OK;
}

void perfin_close(struct perfin_bytes *b)
{
    free(b->buffer);
    if (b->fd >= 0) {
        close(b->fd);
    }
}

/* Reads until the buffer has n bytes from the offset on. Bytes before them are dropped. */
static bool fill_buffer(struct perfin_bytes *b, uint64_t offset, size_t n)
{
    if (!b->stream && (offset < b->buffered_at || offset - b->buffered_at > b->buffered)) {
        b->buffered_at = offset;
        b->buffered = 0;
    }
    while (offset >= b->buffered_at && b->buffered_at + b->buffered < offset + n) {
        uint64_t skip = offset - b->buffered_at < b->buffered ? offset - b->buffered_at
                                                              : b->buffered;
        uint64_t end = b->buffered_at + b->buffered;

        memmove(b->buffer, b->buffer + skip, b->buffered - skip);
        b->buffered_at += skip;
        b->buffered -= skip;
        uint8_t *to = b->buffer + b->buffered;
        size_t room = PERFIN_BUFFER - b->buffered;
        ssize_t got = TEMP_FAILURE_RETRY(b->stream ? read(b->fd, to, room)
                                                   : pread(b->fd, to, room, (off_t)end));
        if (got <= 0) {
            b->size = b->stream ? end : b->size;
            return false;
        }
        b->buffered += (size_t)got;
        mkperf_progress(MKPERF_BYTES, (double)offset, b->stream ? 0 : (double)b->size);
    }
    return offset >= b->buffered_at;
}

const uint8_t *perfin_at(struct perfin_bytes *b, uint64_t offset, size_t n)
{
    if (offset > b->size || n > b->size - offset || n > PERFIN_BUFFER) {
        return NULL;
    }
    if (b->memory) {
        return b->memory + offset;
    }
    return fill_buffer(b, offset, n) ? b->buffer + (offset - b->buffered_at) : NULL;
}

enum mkperf_status perfin_bad(const struct perfin_bytes *b, uint64_t offset, const char *reason,
                              struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: offset %" PRIu64 ": %s", b->path, offset,
                            reason);
}

static struct perfin_section section(const uint8_t *p)
{
    return (struct perfin_section){mkperf_get64(p), mkperf_get64(p + 8)};
}

static bool inside(const struct perfin_bytes *b, struct perfin_section s)
{
    return s.offset <= b->size && s.size <= b->size - s.offset;
}

/* Returns the *n bytes of a section with a 0 after them, to be freed. NULL: it is empty, too large, or outside the file. */
static uint8_t *copy_section(struct perfin_bytes *b, struct perfin_section s, size_t *n)
{
    *n = 0;
    if (s.size == 0 || s.size > PERFIN_FEATURE_MAX || !inside(b, s)) {
        return NULL;
    }
    uint8_t *out = mkperf_xcalloc(1, (size_t)s.size + 1);

    while (*n < s.size) {
        size_t part = s.size - *n < 4096 ? (size_t)s.size - *n : 4096;
        const uint8_t *p = perfin_at(b, s.offset + *n, part);

        if (!p) {
            *n = 0;
            free(out);
            return NULL;
        }
        memcpy(out + *n, p, part);
        *n += part;
    }
    return out;
}

static struct perfin_attr attr_at(const uint8_t *p, size_t n)
{
    return (struct perfin_attr){
        .type = mkperf_get32(p),
        .config = mkperf_get64(p + 8),
        .period = mkperf_get64(p + 16),
        .sample_type = mkperf_get64(p + 24),
        .read_format = mkperf_get64(p + 32),
        .flags = mkperf_get64(p + 40),
        .max_stack = n >= 112 ? mkperf_get32(p + 108) & 0xffff : 0,
    };
}

/* Adds an event, marks or a tracepoint, with its n ids. Returns why that is impossible, NULL if it is added. */
static const char *add_attr(struct perfin_frame *f, const struct perfin_attr *a, const uint8_t *ids,
                            size_t n)
{
    /* In a file without events, the first tracepoint has the id of trailers, 1, as its first id. */
    uint64_t id = n > 0 ? mkperf_get64(ids) : 0;
    uint64_t point = id == 1 ? MKPERF_TRACE_SWITCH : id - MKPERF_TRACE_ID;
    uint32_t event = f->nattrs;

    if (a->type == PERF_TYPE_TRACEPOINT && point < MKPERF_TRACE_POINTS) {
        event = PERFDATA_TRACE_ATTR + (uint32_t)point;
        f->has_trace = true;
    } else if (a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_BPF_OUTPUT &&
               id == MKPERF_PERFDATA_MARK) {
        event = PERFDATA_MARK_ATTR;
    } else if (f->nattrs == MKPERF_MODEL_EVENTS) {
        return "more than 32 events";
    }
    if (n > PERFIN_IDS_MAX - f->nids) {
        return "more than 1048576 ids of events";
    }
    f->nattrs += event == f->nattrs;
    f->attr[event] = *a;
    f->first = f->has_first ? f->first : *a;
    f->has_first = true;
    f->id = mkperf_xrealloc(f->id, f->nids + n + 1, sizeof *f->id);
    for (size_t i = 0; i < n; i++) {
        f->id[f->nids++] = (struct perfin_id){.id = mkperf_get64(ids + 8 * i), .event = event};
    }
    MKPERF_SORT(f->id, f->nids, MKPERF_UP(f->id, id), MKPERF_DOWN(f->id, event));
    return NULL;
}

static enum mkperf_status read_attrs(struct perfin_bytes *b, struct perfin_frame *f,
                                     struct perfin_section s, uint64_t each, struct mkperf_error *e)
{
    if (each < PERF_ATTR_SIZE_VER0 + 16 || each > ATTR_MAX_BYTES) {
        return perfin_bad(b, PERF_HEADER_ATTR_SIZE, "an impossible size of attributes", e);
    }
    if (!inside(b, s) || s.size < each) {
        return perfin_bad(b, PERF_HEADER_ATTRS, "its attributes lie outside the file", e);
    }
    for (uint64_t i = 0; i < s.size / each; i++) {
        const uint8_t *p = perfin_at(b, s.offset + i * each, (size_t)each);

        if (!p) {
            return perfin_bad(b, s.offset, "its attributes cannot be read", e);
        }
        const struct perfin_attr attr = attr_at(p, (size_t)each - 16);
        const struct perfin_section where = section(p + each - 16);
        size_t n;
        uint8_t *ids = copy_section(b, where, &n);
        const char *problem = ids == NULL && where.size != 0 ? "an event's ids lie outside the file"
                                                             : add_attr(f, &attr, ids, n / 8);
        free(ids);
        if (problem != NULL) {
            return perfin_bad(b, s.offset, problem, e);
        }
    }
    return MKPERF_OK;
}

bool perfin_more_attrs(struct perfin_frame *f, const uint8_t *p, size_t n)
{
    size_t each = n >= PERF_ATTR_SIZE_VER0 ? mkperf_get32(p + 4) : 0;

    if (each < PERF_ATTR_SIZE_VER0 || each > n || n - each < 8) {
        return false;
    }
    const struct perfin_attr attr = attr_at(p, each);
    return add_attr(f, &attr, p + each, (n - each) / 8) == NULL;
}

struct perfin_id *perfin_find_id(const struct perfin_frame *f, uint64_t id)
{
    size_t behind = mkperf_first_behind(f->id, f->nids, sizeof *f->id, id);

    return behind > 0 && f->id[behind - 1].id == id ? &f->id[behind - 1] : NULL;
}

/* Reads the feature table of a finished file, behind the data, in the order of the header's bits. */
static enum mkperf_status read_feature_table(struct perfin_bytes *b, struct perfin_frame *f,
                                             const uint8_t bits[HEADER_FEAT_BITS / 8],
                                             struct mkperf_error *e)
{
    uint64_t at = f->data.offset + f->data.size;

    for (unsigned i = 0; i < HEADER_FEAT_BITS; i++) {
        const uint8_t *p;

        if (!(bits[i / 8] >> i % 8 & 1)) {
            continue;
        }
        p = perfin_at(b, at, 16);
        if (!p) {
            return perfin_bad(b, at, "cut short in its feature table", e);
        }
        f->feature[i] = section(p);
        if (!inside(b, f->feature[i])) {
            return perfin_bad(b, at, "a feature lies outside the file", e);
        }
        at += 16;
    }
    return MKPERF_OK;
}

/* Reads mkperf's index of an unfinished file: the features that are before the data. */
static void read_index(struct perfin_bytes *b, struct perfin_frame *f, uint64_t at)
{
    const uint8_t *p = perfin_at(b, at, 16);

    f->indexed = p != NULL && memcmp(p, MKPERF_PERFDATA_INDEX, 8) == 0;
    if (!f->indexed) {
        return;
    }
    uint64_t n = mkperf_get64(p + 8);
    for (uint64_t i = 0; i < n && i < HEADER_FEAT_BITS; i++) {
        uint64_t bit;

        p = perfin_at(b, at + 16 + 24 * i, 24);
        bit = p != NULL ? mkperf_get64(p) : HEADER_FEAT_BITS;
        if (bit < HEADER_FEAT_BITS && inside(b, section(p + 8))) {
            f->feature[bit] = section(p + 8);
        } else {
            f->damaged = at + 16 + 24 * i;
        }
    }
}

bool perfin_keep_feature(struct perfin_frame *f, unsigned type, const uint8_t *p, size_t n)
{
    uint64_t bit = n >= 8 ? mkperf_get64(p) : HEADER_FEAT_BITS;
    bool own = bit == MKPERF_PERFDATA_SESSION || bit == MKPERF_PERFDATA_TOTALS;

    if (n < 8) {
        return false;
    }
    if (bit >= HEADER_FEAT_BITS || own != (type == PERF_RECORD_HEADER_EVENT_TYPE)) {
        return true; /* a newer perf wrote it, or it is an event type of an old perf */
    }
    size_t had = own ? f->kept[bit].n : 0; /* a long text is in several records */
    if (had + n - 8 > PERFIN_FEATURE_MAX) {
        return false;
    }
    f->kept[bit].p = mkperf_xrealloc(f->kept[bit].p, had + n, 1);
    memcpy(f->kept[bit].p + had, p + 8, n - 8);
    f->kept[bit].n = had + n - 8;
    f->kept[bit].p[f->kept[bit].n] = 0;
    return true;
}

enum mkperf_status perfin_read_frame(struct perfin_bytes *b, struct perfin_frame *f, bool recover,
                                     struct mkperf_error *e)
{
    uint8_t header[PERF_HEADER_BYTES];
    struct perfin_section attrs;
    const uint8_t *p = perfin_at(b, 0, 16);

    if (!p) {
        return perfin_bad(b, 0, "too short for a perf.data file", e);
    }
    if (memcmp(p, "2ELIFREP", 8) == 0) {
        return perfin_bad(b, 0, "written on a big-endian machine; only perf reads it", e);
    }
    if (memcmp(p, "PERFILE2", 8) != 0) {
        return perfin_bad(b, 0, "not a perf.data file", e);
    }
    if (mkperf_get64(p + 8) == PERF_PIPE_HEADER_BYTES) {
        f->pipe = f->unfinished = true;
        f->data = (struct perfin_section){PERF_PIPE_HEADER_BYTES, b->size - PERF_PIPE_HEADER_BYTES};
        return MKPERF_OK;
    }
    if (b->stream) {
        return perfin_bad(b, 8, "a file's layout cannot be read from a pipe: give its name", e);
    }
    p = perfin_at(b, 0, PERF_HEADER_BYTES);
    if (!p || mkperf_get64(p + 8) != PERF_HEADER_BYTES) {
        return perfin_bad(b, 8, "its header has an impossible size", e);
    }
    memcpy(header, p, PERF_HEADER_BYTES);
    attrs = section(header + PERF_HEADER_ATTRS);
    MKPERF_TRY(read_attrs(b, f, attrs, mkperf_get64(header + PERF_HEADER_ATTR_SIZE), e));
    f->data = section(header + PERF_HEADER_DATA);
    bool begun = f->data.offset <= b->size;
    bool finished = f->data.size != 0 && begun && f->data.size < b->size - f->data.offset;
    if (!begun || (!recover && !inside(b, f->data))) {
        p = perfin_at(b, attrs.offset + attrs.size, 8);
        bool ours = p != NULL && memcmp(p, MKPERF_PERFDATA_INDEX, 8) == 0;
        return perfin_bad(b, b->size,
                          ours ? "cut short: the file ends before its data does; mkperf recover "
                                 "keeps what it has"
                               : "cut short: the file ends before its data does",
                          e);
    }
    if (f->data.size == 0 || (recover && !finished)) {
        f->unfinished = true;
        f->data.size = b->size - f->data.offset;
        read_index(b, f, attrs.offset + attrs.size);
        return MKPERF_OK;
    }
    return read_feature_table(b, f, header + PERF_HEADER_FEATURES, e);
}

void perfin_free_frame(struct perfin_frame *f)
{
    free(f->id);
    for (unsigned i = 0; i < HEADER_FEAT_BITS; i++) {
        free(f->kept[i].p);
    }
}

struct perfin_cursor perfin_feature(struct perfin_reader *r, unsigned bit)
{
    struct perfin_frame *f = &r->frame;

    if (f->kept[bit].p == NULL) {
        f->kept[bit].p = copy_section(&r->bytes, f->feature[bit], &f->kept[bit].n);
    }
    return (struct perfin_cursor){.p = f->kept[bit].p, .n = f->kept[bit].n};
}
