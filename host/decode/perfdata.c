/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see perfdata.h. The walk over a file's records. A record's fields are at places that its
 * event's attributes say; struct cursor takes them one after the other and remembers a cut.
 */
#include "perfdata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../sink/perfdata.h"
#include "perfdata_session.h"

enum record_type {
    RECORD_MMAP = 1,
    RECORD_LOST = 2,
    RECORD_COMM = 3,
    RECORD_SAMPLE = 9,
    RECORD_MMAP2 = 10,
    RECORD_LOST_SAMPLES = 13,
    RECORD_AUXTRACE = 71,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83,
};

enum sample_field { /* bits of sample_type */
                    FIELD_IP = 1 << 0,
                    FIELD_TID = 1 << 1,
                    FIELD_TIME = 1 << 2,
                    FIELD_ADDR = 1 << 3,
                    FIELD_READ = 1 << 4,
                    FIELD_CALLCHAIN = 1 << 5,
                    FIELD_ID = 1 << 6,
                    FIELD_CPU = 1 << 7,
                    FIELD_PERIOD = 1 << 8,
                    FIELD_STREAM_ID = 1 << 9,
                    FIELD_RAW = 1 << 10,
                    FIELD_IDENTIFIER = 1 << 16,
};

enum { EVENT_UPDATE_NAME = 2, MARK_BYTES = 128 };

enum {
    MODE_MASK = 7,
    MODE_KERNEL = 1,
    MODE_HYPERVISOR = 3,
    MODE_GUEST_KERNEL = 4,
    MISC_MMAP_BUILD_ID = 1 << 14,
};

/* Values in a callchain from here on are markers, and these two start the kernel's frames. */
#define CONTEXT_MAX ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)

struct cursor {
    const uint8_t *p;
    size_t n;
    bool cut;
};

struct reader {
    struct perfin_bytes bytes;
    struct perfin_frame frame;
    struct perfin_session session;
    const struct mkperf_sink *sink;
    bool began;
    unsigned events; /* that the sink knows */
    uint64_t offset; /* of the record at hand */
    uint64_t samples, marks, first_ns, last_ns;
    uint64_t lost[MKPERF_LOST_PLACES];
    struct mkperf_chain chain;
    struct mkperf_error *e;
};

static const uint8_t *take(struct cursor *c, size_t n)
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

static uint64_t take64(struct cursor *c)
{
    const uint8_t *p = take(c, 8);

    return p ? perfin_u64(p) : 0;
}

static uint32_t take32(struct cursor *c)
{
    const uint8_t *p = take(c, 4);

    return p ? perfin_u32(p) : 0;
}

static enum mkperf_status bad(struct reader *r, const char *reason)
{
    return perfin_bad(&r->bytes, r->offset, reason, r->e);
}

static enum mkperf_status begin(struct reader *r)
{
    struct perfin_session *s = &r->session;

    if (r->began) {
        return MKPERF_OK;
    }
    r->began = true;
    s->model.kernel_elf = s->kernel_elf;
    r->events = s->model.nevents;
    return r->sink->ops->begin ? r->sink->ops->begin(r->sink->self, &s->model, r->e) : MKPERF_OK;
}

/* The PD of a pid, announced to the sink. */
static enum mkperf_status pd_of(struct reader *r, uint32_t pid, uint32_t *id)
{
    int64_t index = perfin_process_of(&r->session, pid);
    struct perfin_process *p;

    if (index < 0) {
        return bad(r, "more processes than memory or sense allow");
    }
    *id = (uint32_t)index;
    p = &r->session.process[index];
    if (p->announced || !r->sink->ops->pd) {
        return MKPERF_OK;
    }
    p->announced = true;
    return r->sink->ops->pd(r->sink->self,
                            &(struct mkperf_pd){.thread = p->thread,
                                                .id = *id,
                                                .name = p->name,
                                                .elf = p->elf,
                                                .build_id = p->build_id,
                                                .parent = p->parent},
                            r->e);
}

static enum mkperf_status read_comm(struct reader *r, struct cursor c)
{
    uint32_t pid = take32(&c), tid = take32(&c);
    struct perfin_process *p;
    int64_t index;

    if (c.cut || c.n == 0 || !memchr(c.p, 0, c.n)) {
        return bad(r, "a COMM record is cut");
    }
    index = pid == tid ? perfin_process_of(&r->session, pid) : -1;
    if (index < 0) {
        return pid == tid ? bad(r, "more processes than memory or sense allow") : MKPERF_OK;
    }
    p = &r->session.process[index];
    if (!p->has_thread && r->session.native && strncmp((const char *)c.p, "unknown-", 8) == 0) {
        p->thread = strtoull((const char *)c.p + 8, NULL, 16);
    }
    if (!p->announced && !perfin_set_text(&p->name, c.p, c.n)) {
        return bad(r, "out of memory");
    }
    return MKPERF_OK;
}

/* Programs have a path; [heap] and //anon have none. */
static bool is_program(const char *path)
{
    return path[0] == '/' && path[1] != '/';
}

/* The program of a process, unless it is known or the sink has been told. */
static enum mkperf_status set_program(struct reader *r, uint32_t pid, const char *path, size_t n,
                                      const struct mkperf_build_id *id)
{
    int64_t index = perfin_process_of(&r->session, pid);

    if (index < 0) {
        return bad(r, "more processes than memory or sense allow");
    }
    struct perfin_process *p = &r->session.process[index];
    if (p->announced || p->elf) {
        return MKPERF_OK;
    }
    p->build_id = *id;
    return perfin_set_text(&p->elf, path, n) ? MKPERF_OK : bad(r, "out of memory");
}

/* MMAP2 has device and inode there, or the size of a build id, three bytes, and the id. */
static struct mkperf_build_id map_build_id(const uint8_t *p, unsigned misc)
{
    struct mkperf_build_id id = {.n = 0};

    if (p && misc & MISC_MMAP_BUILD_ID && p[0] <= MKPERF_BUILD_ID_BYTES) {
        id.n = p[0];
        memcpy(id.byte, p + 4, id.n);
    }
    return id;
}

static enum mkperf_status read_map(struct reader *r, struct cursor c, unsigned type, unsigned misc)
{
    uint32_t pid = take32(&c), owner = pid - 1;
    uint64_t addr;

    take(&c, 4);
    addr = take64(&c);
    take(&c, 16);
    struct mkperf_build_id id = map_build_id(type == RECORD_MMAP2 ? take(&c, 24 + 8) : NULL, misc);
    if (c.cut || c.n == 0 || !memchr(c.p, 0, c.n)) {
        return bad(r, "an MMAP record is cut");
    }
    const char *path = (const char *)c.p;
    if (!is_program(path)) {
        return MKPERF_OK;
    }
    if ((misc & MODE_MASK) == MODE_KERNEL || pid == UINT32_MAX) {
        bool ok = r->session.kernel_elf || perfin_set_text(&r->session.kernel_elf, path, c.n);
        return ok ? MKPERF_OK : bad(r, "out of memory");
    }
    if (r->session.native) {
        mkperf_perfdata_unslid(&owner, addr);
    }
    return set_program(r, owner + 1, path, c.n, &id);
}

/* What stands behind every other record: whose it is and when. The last fields of it are fixed. */
static void read_trailer(struct reader *r, struct cursor c, uint32_t *tid, uint64_t *time,
                         uint32_t *core)
{
    const struct perfin_attr *a = &r->frame.attr[0];
    uint64_t type = a->sample_type;

    *tid = *core = 0;
    *time = 0;
    if (!(a->flags >> PERFIN_ATTR_ID_ALL & 1)) {
        return;
    }
    if (type & FIELD_TID) {
        take(&c, 4);
        *tid = take32(&c);
    }
    if (type & FIELD_TIME) {
        *time = take64(&c);
    }
    take(&c, (type & FIELD_ID ? 8 : 0) + (type & FIELD_STREAM_ID ? 8 : 0));
    if (type & FIELD_CPU) {
        *core = take32(&c);
    }
}

static enum mkperf_status read_lost(struct reader *r, struct cursor c, unsigned type)
{
    struct mkperf_lost lost = {.where = MKPERF_LOST_RING};
    uint32_t where;

    if (type == RECORD_LOST) {
        take64(&c);
    }
    lost.samples = take64(&c);
    if (c.cut) {
        return bad(r, "a LOST record is cut");
    }
    read_trailer(r, c, &where, &lost.time_ns, &lost.core);
    if (r->session.native && where < MKPERF_LOST_PLACES) {
        lost.where = (enum mkperf_lost_where)where;
    }
    r->lost[lost.where] += lost.samples;
    if (begin(r) != MKPERF_OK) {
        return r->e->status;
    }
    return r->sink->ops->lost ? r->sink->ops->lost(r->sink->self, &lost, r->e) : MKPERF_OK;
}

static int64_t event_of(const struct reader *r, uint64_t id)
{
    size_t low = 0, high = r->frame.nids;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->frame.id[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < r->frame.nids && r->frame.id[low].id == id) {
        return r->frame.id[low].event;
    }
    return -1;
}

static enum mkperf_status read_attr(struct reader *r, struct cursor c)
{
    if (!perfin_more_attrs(&r->frame, c.p, c.n)) {
        return bad(r, "a HEADER_ATTR record is cut, or of one event too many");
    }
    while (r->session.model.nevents < r->frame.nattrs) {
        perfin_more_event(&r->session, &r->frame.attr[r->session.model.nevents]);
    }
    return MKPERF_OK;
}

static enum mkperf_status read_event_name(struct reader *r, struct cursor c)
{
    uint64_t what = take64(&c);
    int64_t event = event_of(r, take64(&c));

    if (what != EVENT_UPDATE_NAME || event < 0 || event == PERFIN_MARK) {
        return MKPERF_OK;
    }
    if (c.cut || c.n == 0 || !memchr(c.p, 0, c.n)) {
        return bad(r, "an EVENT_UPDATE record is cut");
    }
    perfin_name_event(&r->session, (uint32_t)event, (const char *)c.p);
    return MKPERF_OK;
}

static enum mkperf_status tell_events(struct reader *r)
{
    const struct mkperf_sink_ops *ops = r->sink->ops;

    if (!ops->events) {
        return bad(r, "a session with other events begins here, which this output cannot hold");
    }
    r->events = r->session.model.nevents;
    return ops->events(r->sink->self, &r->session.model, r->e);
}

/* Counter values in a sample: they are not in the model. */
static void skip_read(struct cursor *c, uint64_t format)
{
    size_t times = (format & 1 ? 8 : 0) + (format & 2 ? 8 : 0);
    size_t each = 8 + (format & 4 ? 8 : 0) + (format & 16 ? 8 : 0);

    if (!(format & 8)) {
        take(c, times + each);
        return;
    }
    uint64_t n = take64(c);
    take(c, times);
    if (n > c->n / each) {
        c->cut = true;
        return;
    }
    take(c, (size_t)n * each);
}

struct raw_sample {
    unsigned misc;
    uint64_t ip, time, period;
    uint32_t pid, core, event;
    const uint8_t *chain; /* nchain words */
    uint64_t nchain;
    const uint8_t *raw; /* nraw bytes, of a mark */
    uint32_t nraw;
};

/* The event first: its id is at a fixed place, or there is one event only. */
static bool find_event(const struct reader *r, const struct cursor *record, struct raw_sample *s)
{
    uint64_t type = r->frame.attr[0].sample_type;
    struct cursor c = *record;
    int64_t event = -1;

    if (type & FIELD_IDENTIFIER) {
        event = event_of(r, take64(&c));
    } else if (type & FIELD_ID) {
        take(&c, (type & FIELD_IP ? 8 : 0) + (type & FIELD_TID ? 8 : 0) +
                     (type & FIELD_TIME ? 8 : 0) + (type & FIELD_ADDR ? 8 : 0));
        event = event_of(r, take64(&c));
    }
    if (event < 0 && r->frame.nattrs == 1) {
        event = 0;
    }
    s->event = event < 0 ? 0 : (uint32_t)event; /* or PERFIN_MARK */
    return event >= 0 && !c.cut;
}

static bool take_fields(const struct reader *r, struct cursor *c, struct raw_sample *s)
{
    const struct perfin_attr *a = s->event == PERFIN_MARK ? &r->frame.mark
                                                          : &r->frame.attr[s->event];
    uint64_t type = a->sample_type;

    take(c, type & FIELD_IDENTIFIER ? 8 : 0);
    s->ip = type & FIELD_IP ? take64(c) : 0;
    if (type & FIELD_TID) {
        s->pid = take32(c);
        take(c, 4);
    }
    s->time = type & FIELD_TIME ? take64(c) : 0;
    take(c, (type & FIELD_ADDR ? 8 : 0) + (type & FIELD_ID ? 8 : 0) +
                (type & FIELD_STREAM_ID ? 8 : 0));
    s->core = type & FIELD_CPU ? (uint32_t)take64(c) : 0;
    s->period = a->flags >> PERFIN_ATTR_FREQ & 1 ? 1 : a->period;
    if (type & FIELD_PERIOD) {
        s->period = take64(c);
    }
    if (type & FIELD_READ) {
        skip_read(c, a->read_format);
    }
    if (type & FIELD_CALLCHAIN) {
        s->nchain = take64(c);
        s->chain = s->nchain <= c->n / 8 ? take(c, 8 * (size_t)s->nchain) : NULL;
        c->cut |= !s->chain;
    }
    if (s->event == PERFIN_MARK && type & FIELD_RAW) {
        s->nraw = take32(c);
        s->raw = take(c, s->nraw);
    }
    return !c->cut;
}

static bool is_kernel_mode(unsigned misc)
{
    unsigned mode = misc & MODE_MASK;

    return mode == MODE_KERNEL || mode == MODE_HYPERVISOR || mode == MODE_GUEST_KERNEL;
}

/* The kernel's callers are kept as long as no user frame follows: see model.h. */
static void add_kernel_frame(struct reader *r, struct mkperf_sample *out, uint64_t addr)
{
    if (!(out->flags & MKPERF_SAMPLE_KERNEL)) {
        out->flags |= MKPERF_SAMPLE_KERNEL;
        out->kernel_pc = addr;
    } else if (out->flags & MKPERF_SAMPLE_NO_USER && r->chain.n <= MKPERF_MAX_FRAMES) {
        r->chain.caller[r->chain.n++] = (struct mkperf_caller){.addr = addr, .pd = out->pd};
    } else if (out->flags & MKPERF_SAMPLE_NO_USER) {
        out->flags |= MKPERF_SAMPLE_DEPTH_LIMIT;
    }
}

static enum mkperf_status add_user_frame(struct reader *r, struct mkperf_sample *out, uint32_t pid,
                                         uint64_t addr)
{
    uint32_t pd = pid - 1;

    if (r->session.native) {
        addr = mkperf_perfdata_unslid(&pd, addr);
    }
    if (out->flags & MKPERF_SAMPLE_NO_USER) {
        out->flags &= ~(uint32_t)(MKPERF_SAMPLE_NO_USER | MKPERF_SAMPLE_DEPTH_LIMIT);
        out->pc = addr;
        r->chain.n = 0;
        return MKPERF_OK;
    }
    if (r->chain.n == MKPERF_MAX_FRAMES + 1) {
        out->flags |= MKPERF_SAMPLE_DEPTH_LIMIT;
        return MKPERF_OK;
    }
    struct mkperf_caller *to = &r->chain.caller[r->chain.n++];
    to->addr = addr;
    return pd_of(r, pd + 1, &to->pd);
}

/* Sorts the chain's frames into kernel, user pc and callers. */
static enum mkperf_status split_chain(struct reader *r, const struct raw_sample *raw,
                                      struct mkperf_sample *out)
{
    bool kernel = is_kernel_mode(raw->misc);

    for (uint64_t i = 0; i < raw->nchain; i++) {
        uint64_t addr = perfin_u64(raw->chain + 8 * i);

        if (addr >= CONTEXT_MAX) {
            kernel = addr == CONTEXT_KERNEL || addr == CONTEXT_GUEST_KERNEL;
        } else if (kernel) {
            add_kernel_frame(r, out, addr);
        } else if (add_user_frame(r, out, raw->pid, addr) != MKPERF_OK) {
            return r->e->status;
        }
    }
    return MKPERF_OK;
}

static void count_sample(struct reader *r, uint64_t time)
{
    if (r->samples == 0 || time < r->first_ns) {
        r->first_ns = time;
    }
    if (time > r->last_ns) {
        r->last_ns = time;
    }
    r->samples++;
}

/* The text of a mark, see sink/perfdata.h. False: it is none. */
static bool parse_mark(char *text, struct mkperf_mark *m)
{
    static const char *const kinds[] = {
        [MKPERF_MARK_POINT] = "point ", [MKPERF_MARK_BEGIN] = "begin ", [MKPERF_MARK_END] = "end "};

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i]);
        char *rest;
        if (strncmp(text, kinds[i], n) == 0) {
            m->kind = (enum mkperf_mark_kind)i;
            m->id = (uint32_t)strtoul(text + n, &rest, 10);
            m->name = rest + 1;
            return rest != text + n && *rest == ' ';
        }
    }
    return false;
}

static enum mkperf_status read_mark(struct reader *r, const struct raw_sample *raw)
{
    struct mkperf_mark mark = {.time_ns = raw->time};
    char text[MARK_BYTES];
    size_t n = raw->nraw < sizeof text - 1 ? raw->nraw : sizeof text - 1;

    if (raw->raw != NULL) {
        memcpy(text, raw->raw, n);
    }
    text[raw->raw != NULL ? n : 0] = '\0';
    if (!parse_mark(text, &mark)) {
        return bad(r, "a mark without kind, number and name");
    }
    r->marks++;
    if (begin(r) != MKPERF_OK || pd_of(r, raw->pid, &mark.pd) != MKPERF_OK) {
        return r->e->status;
    }
    return r->sink->ops->mark ? r->sink->ops->mark(r->sink->self, &mark, r->e) : MKPERF_OK;
}

static enum mkperf_status read_sample(struct reader *r, struct cursor c, unsigned misc)
{
    struct raw_sample raw = {.misc = misc};
    struct mkperf_sample out = {.flags = MKPERF_SAMPLE_NO_USER, .callers = &r->chain};

    if (!find_event(r, &c, &raw)) {
        return bad(r, "a sample of no known event");
    }
    if (!take_fields(r, &c, &raw)) {
        return bad(r, "a sample is cut");
    }
    if (raw.event == PERFIN_MARK) {
        return read_mark(r, &raw);
    }
    if (raw.core >= MKPERF_MODEL_CORES) {
        return bad(r, "a sample of a core beyond 4095");
    }
    out.time_ns = raw.time;
    out.period = raw.period;
    out.event = raw.event;
    out.core = raw.core;
    r->chain.n = 0;
    if (begin(r) != MKPERF_OK || (raw.event >= r->events && tell_events(r) != MKPERF_OK) ||
        pd_of(r, raw.pid, &out.pd) != MKPERF_OK || split_chain(r, &raw, &out) != MKPERF_OK) {
        return r->e->status;
    }
    if (raw.nchain == 0 && is_kernel_mode(misc)) {
        add_kernel_frame(r, &out, raw.ip);
    } else if (raw.nchain == 0 && add_user_frame(r, &out, raw.pid, raw.ip) != MKPERF_OK) {
        return r->e->status;
    }
    count_sample(r, raw.time);
    return r->sink->ops->sample ? r->sink->ops->sample(r->sink->self, &out, r->e) : MKPERF_OK;
}

static enum mkperf_status read_record(struct reader *r, struct cursor c, unsigned type,
                                      unsigned misc)
{
    switch (type) {
    case RECORD_SAMPLE:
        return read_sample(r, c, misc);
    case RECORD_COMM:
        return read_comm(r, c);
    case RECORD_MMAP:
    case RECORD_MMAP2:
        return read_map(r, c, type, misc);
    case RECORD_LOST:
    case RECORD_LOST_SAMPLES:
        return read_lost(r, c, type);
    case PERFIN_HEADER_ATTR:
        return read_attr(r, c);
    case PERFIN_EVENT_UPDATE:
        return read_event_name(r, c);
    case PERFIN_HEADER_EVENT_TYPE:
        return perfin_keep_feature(&r->frame, type, c.p, c.n) ? MKPERF_OK
                                                              : bad(r, "a feature is cut");
    case PERFIN_FINISHED_ROUND:
        if (begin(r) != MKPERF_OK) {
            return r->e->status;
        }
        return r->sink->ops->flush ? r->sink->ops->flush(r->sink->self, r->e) : MKPERF_OK;
    case RECORD_COMPRESSED:
    case RECORD_COMPRESSED2:
        return bad(r, "compressed records; only perf reads them");
    default:
        return MKPERF_OK;
    }
}

/* The size of the record at r->offset with what follows it, 0 if there is no whole one. */
static uint64_t record_extent(struct reader *r, const uint8_t *header, uint64_t left)
{
    size_t size = header[6] | (size_t)header[7] << 8;
    uint64_t extent = size;

    if (size < 8 || size > left) {
        return 0;
    }
    if (perfin_u32(header) == RECORD_AUXTRACE && size >= 16) {
        const uint8_t *p = perfin_at(&r->bytes, r->offset, 16);
        uint64_t trace = p ? perfin_u64(p + 8) : UINT64_MAX;

        extent = trace > left - size ? 0 : size + trace;
    }
    return extent;
}

/* The record at r->offset. *extent is 0 behind the last whole one of a file that may be cut. */
static enum mkperf_status next_record(struct reader *r, uint64_t *extent)
{
    uint64_t left = r->frame.data.offset + r->frame.data.size - r->offset;
    const uint8_t *p = left >= 8 ? perfin_at(&r->bytes, r->offset, 8) : NULL;

    *extent = p ? record_extent(r, p, left) : 0;
    if (*extent == 0) {
        bool cut = r->frame.unfinished && !(r->frame.pipe && p && p[6] < 8 && p[7] == 0);
        return cut ? MKPERF_OK : bad(r, "a record of impossible size");
    }
    size_t size = p[6] | (size_t)p[7] << 8;
    p = perfin_at(&r->bytes, r->offset, size);
    if (!p) {
        *extent = 0;
        return r->frame.pipe ? MKPERF_OK : bad(r, "the file became shorter while it was read");
    }
    return read_record(r, (struct cursor){.p = p + 8, .n = size - 8}, perfin_u32(p),
                       p[4] | (unsigned)p[5] << 8);
}

static enum mkperf_status read_records(struct reader *r)
{
    uint64_t end = r->frame.data.offset + r->frame.data.size, extent = 1;

    for (r->offset = r->frame.data.offset; r->offset < end && extent > 0; r->offset += extent) {
        if (next_record(r, &extent) != MKPERF_OK) {
            return r->e->status;
        }
    }
    return r->frame.pipe ? perfin_read_totals(&r->bytes, &r->frame, &r->session, r->e) : MKPERF_OK;
}

static enum mkperf_status finish(struct reader *r)
{
    struct mkperf_totals t = r->session.totals;

    if (!r->session.has_totals || t.samples != r->samples) {
        t.complete = false;
        t.samples = r->samples;
        t.first_ns = r->first_ns;
        t.last_ns = r->last_ns;
    }
    t.marks = r->marks;
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (t.lost[i] < r->lost[i]) {
            t.lost[i] = r->lost[i];
        }
    }
    if (begin(r) != MKPERF_OK) {
        return r->e->status;
    }
    return r->sink->ops->end ? r->sink->ops->end(r->sink->self, &t, r->e) : MKPERF_OK;
}

static enum mkperf_status read_all(struct reader *r)
{
    enum mkperf_status status = perfin_read_frame(&r->bytes, &r->frame, r->e);

    if (status == MKPERF_OK) {
        status = perfin_read_session(&r->bytes, &r->frame, &r->session, r->e);
    }
    if (status == MKPERF_OK) {
        status = read_records(r);
    }
    if (status == MKPERF_OK) {
        status = finish(r);
    }
    if (status != MKPERF_OK && r->sink->ops->abandon) {
        r->sink->ops->abandon(r->sink->self);
    }
    perfin_free_session(&r->session);
    perfin_free_frame(&r->frame);
    return status;
}

enum mkperf_status mkperf_perfdata_read_memory(const char *name, const void *p, size_t n,
                                               const struct mkperf_sink *sink,
                                               struct mkperf_error *e)
{
    struct reader r = {.sink = sink, .e = e};

    r.bytes = (struct perfin_bytes){.path = name, .memory = p, .size = n, .fd = -1};
    return read_all(&r);
}

/* Opens a file, or what gives its bytes once. */
static enum mkperf_status open_bytes(struct perfin_bytes *b, const char *path,
                                     struct mkperf_error *e)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    *b = (struct perfin_bytes){.path = path, .fd = fd};
    if (fd < 0 || fstat(fd, &st) != 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    b->stream = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode);
    if (!b->stream && !S_ISREG(st.st_mode)) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: not a regular file", path);
    }
    b->size = b->stream ? UINT64_MAX : (uint64_t)st.st_size;
    b->buffer = malloc(PERFIN_BUFFER);
    return b->buffer ? MKPERF_OK
                     : mkperf_error_set(e, MKPERF_ERR_FAILED, "%s: out of memory", path);
}

enum mkperf_status mkperf_perfdata_read(const char *path, const struct mkperf_sink *sink,
                                        struct mkperf_error *e)
{
    struct reader r = {.sink = sink, .e = e};
    enum mkperf_status status = open_bytes(&r.bytes, path, e);

    if (status == MKPERF_OK) {
        status = read_all(&r);
    } else if (sink->ops->abandon) {
        sink->ops->abandon(sink->self);
    }
    free(r.bytes.buffer);
    if (r.bytes.fd >= 0) {
        close(r.bytes.fd);
    }
    return status;
}
