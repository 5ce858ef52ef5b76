/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of a perf.data file: header, attributes, mkperf's index, and the features that are known
 * from the start.
 *
 * Owns: their layout. Called by the writer.
 */
#include <elf.h>

#include "perfdata_internal.h"
#include <mkperf/version.h>

enum {
    ATTR_ALWAYS = PERF_ATTR_MMAP | PERF_ATTR_COMM | PERF_ATTR_SAMPLE_ID_ALL | PERF_ATTR_MMAP2,
};

static void add_string(struct mkperf_perfdata *w, unsigned bit, const char *text)
{
    uint8_t buffer[PERF_PATH_MAX + 2 * PERF_STRING_ALIGN];

    perfdata_features_add(&w->head, bit, buffer, perfdata_string(buffer, text));
}

static void put_head_attr(struct mkperf_put *c, uint32_t type, uint64_t config, uint64_t period,
                          uint64_t more_fields, uint64_t read_format, uint64_t flags)
{
    mkperf_put32(c, type);
    mkperf_put32(c, PERF_ATTR_BYTES);
    mkperf_put64(c, config);
    mkperf_put64(c, period);
    mkperf_put64(c, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER |
                        more_fields);
    mkperf_put64(c, read_format);
    mkperf_put64(c, ATTR_ALWAYS | flags);
    memset(c->p, 0, PERF_ATTR_BYTES - 48);
    c->p += PERF_ATTR_BYTES - 48;
}

unsigned perfdata_counts_of(const struct mkperf_session *s, unsigned i)
{
    unsigned n = 1;

    while (i + n < s->nevents && s->event[i + n].read &&
           s->event[i + n].group == s->event[i].group) {
        n++;
    }
    return n > 1 && !s->event[i].read ? n : 0;
}

_Static_assert((int)MKPERF_TRACE_ID == (int)MKPERF_PERFDATA_MARK + 1,
               "tracepoints have the ids behind that of marks");

uint64_t perfdata_attr_id(unsigned number)
{
    return number < PERFDATA_MARK_ATTR ? number + 1
                                       : MKPERF_PERFDATA_MARK + number - PERFDATA_MARK_ATTR;
}

void perfdata_put_attr(struct mkperf_put *c, const struct mkperf_perfdata *w, unsigned number)
{
    if (number == PERFDATA_MARK_ATTR) {
        put_head_attr(c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, 1,
                      PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW, 0,
                      PERF_ATTR_EXCLUDE_GUEST);
        return;
    }
    if (number >= PERFDATA_TRACE_ATTR) {
        enum mkperf_trace_point point = (enum mkperf_trace_point)(number - PERFDATA_TRACE_ATTR);
        bool lock = point == MKPERF_TRACE_LOCK_BEGIN || point == MKPERF_TRACE_LOCK_END;
        put_head_attr(c, PERF_TYPE_TRACEPOINT, mkperf_trace_number(point), 1,
                      PERF_SAMPLE_RAW | (lock ? PERF_SAMPLE_CALLCHAIN : 0), 0,
                      PERF_ATTR_EXCLUDE_GUEST);
        return;
    }
    const struct mkperf_event *event = &w->session.event[number];
    bool read = event->read || perfdata_counts_of(&w->session, number) != 0;
    uint64_t flags = 0;
    uint32_t type = PERF_TYPE_RAW, config = event->code;
    for (const struct perfdata_generic *k = perfdata_generic; k->name != NULL; k++) {
        if (strcmp(k->name, event->name) == 0) {
            type = k->type;
            config = k->config;
        }
    }
    flags |= event->frequency != 0 && event->period == 0 ? PERF_ATTR_FREQ : 0;
    flags |= event->kernel && !event->user ? PERF_ATTR_EXCLUDE_USER : 0;
    flags |= event->user && !event->kernel ? PERF_ATTR_EXCLUDE_KERNEL : 0;
    /* An event that counts only in the kernel does not count in guests. */
    flags |= event->guest                                     ? PERF_ATTR_EXCLUDE_HOST
             : event->host || (event->kernel && !event->user) ? PERF_ATTR_EXCLUDE_GUEST
                                                              : 0;
    put_head_attr(
        c, type, config, event->period != 0 ? event->period : event->frequency,
        PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | (w->chains[number] ? PERF_SAMPLE_CALLCHAIN : 0) |
            (read ? PERF_SAMPLE_READ : 0) | (w->session.aggregate_ms != 0 ? PERF_SAMPLE_WEIGHT : 0),
        read ? PERF_FORMAT_ID | PERF_FORMAT_GROUP : 0, flags);
}

unsigned perfdata_trace_points(const struct mkperf_perfdata *w)
{
    bool several = w->session.cores > 1 || w->session.target_cores > 1;

    return w->session.nqueues != 0 ? MKPERF_TRACE_POINTS
           : !w->session.sched     ? 0
           : several               ? MKPERF_TRACE_NO_QUEUES
                                   : MKPERF_TRACE_ONE_CORE;
}

static void add_event_desc(struct mkperf_perfdata *w)
{
    uint8_t buffer[8 + MKPERF_MODEL_EVENTS * (PERF_ATTR_BYTES + 4 + 4 + 2 * PERF_STRING_ALIGN + 8)];
    struct mkperf_put c = {buffer};

    if (w->session.nevents == 0) {
        return;
    }
    mkperf_put32(&c, w->session.nevents);
    mkperf_put32(&c, PERF_ATTR_BYTES);
    for (unsigned i = 0; i < w->session.nevents; i++) {
        char name[MKPERF_MODEL_NAME + 4];
        const struct mkperf_event *event = &w->session.event[i];
        snprintf(name, sizeof name, "%s%s", event->name, mkperf_event_modes(event));
        perfdata_put_attr(&c, w, i);
        mkperf_put32(&c, 1);
        c.p += perfdata_string(c.p, name);
        mkperf_put64(&c, perfdata_attr_id(i));
    }
    perfdata_features_add(&w->head, HEADER_EVENT_DESC, buffer, (size_t)(c.p - buffer));
}

/* Adds the groups of events that count together. perf report --group shows a column for each event. */
static void add_groups(struct mkperf_perfdata *w)
{
    uint8_t buffer[4 + MKPERF_MODEL_EVENTS * (4 + PERF_STRING_ALIGN + 8)];
    const struct mkperf_session *s = &w->session;
    struct mkperf_put c = {buffer + 4};
    uint32_t groups = 0;

    for (unsigned i = 0, n; i < s->nevents; i += n) {
        for (n = 1; i + n < s->nevents && s->event[i].group != 0 &&
                    s->event[i + n].group == s->event[i].group;
             n++) {
        }
        if (n > 1) {
            c.p += perfdata_string(c.p, "{anon_group}");
            mkperf_put32(&c, i);
            mkperf_put32(&c, n);
            groups++;
        }
    }
    if (groups == 0) {
        return;
    }
    size_t size = (size_t)(c.p - buffer);
    c.p = buffer;
    mkperf_put32(&c, groups);
    perfdata_features_add(&w->head, HEADER_GROUP_DESC, buffer, size);
}

void perfdata_head_prepare(struct mkperf_perfdata *w, const struct mkperf_session *session)
{
    const char *platform =
        session->platform != NULL && session->platform[0] != '\0' ? session->platform : "unknown";
    const char *cpu = session->cpu != NULL && session->cpu[0] != '\0' ? session->cpu : "unknown";

    w->build_ids = mkperf_memstream_open(&w->build_ids_text, &w->build_ids_size);
    w->about = mkperf_memstream_open(&w->about_text, &w->about_size);
    struct mkperf_session s = *session;
    s.target_cores = s.target_cores > s.cores ? s.target_cores : 0;
    s.unverified = s.image == NULL ? s.unverified : NULL;
    if (w->kernel != NULL) {
        s.kernel_elf = mkperf_module_path(w->kernel);
        mkperf_module_identity(w->kernel, &s.kernel_build_id);
    }
    perfdata_lines_write(w->about, OF_SESSION, 0, &s);
    if (s.nqueues != 0 && !s.sched) {
        fprintf(w->about, "sched 0\n");
    }
    for (unsigned i = 0; i < s.nqueues; i++) {
        perfdata_lines_write(w->about, OF_QUEUE, i, &s.queue[i]);
    }
    for (unsigned i = 0; i < s.nevents; i++) {
        perfdata_lines_write(w->about, OF_EVENT, i, &s.event[i]);
    }
    add_string(w, HEADER_HOSTNAME, platform);
    add_string(w, HEADER_OSRELEASE, platform);
    add_string(w, HEADER_VERSION, "mkperf " MKPERF_VERSION);
    add_string(w, HEADER_CPUDESC, cpu);
    add_event_desc(w);
    size_t n = 0;
    if (perfdata_trace_points(w) != 0) {
        char *text = mkperf_trace_formats(perfdata_trace_points(w), &n);
        perfdata_features_add(&w->head, HEADER_TRACING_DATA, text, n);
        free(text);
    }
    add_groups(w);
    const char *command = session->command;
    uint8_t buffer[PERF_PATH_MAX + 2 * PERF_STRING_ALIGN];
    struct mkperf_put c = {buffer};
    unsigned cores = w->session.cores != 0 ? w->session.cores : 1;
    mkperf_put32(&c, cores);
    mkperf_put32(&c, cores);
    perfdata_features_add(&w->head, HEADER_NRCPUS, buffer, 8);
    c.p = buffer;
    mkperf_put32(&c, 1);
    c.p += perfdata_string(c.p, command != NULL ? command : "mkperf record");
    perfdata_features_add(&w->head, HEADER_CMDLINE, buffer, (size_t)(c.p - buffer));
}

void perfdata_head_close(struct mkperf_perfdata *w)
{
    mkperf_memstream_close(w->build_ids);
    mkperf_memstream_close(w->about);
    w->build_ids = w->about = NULL;
    /* The machine of the kernel's ELF or of the first PD that has one; without ELFs, that of the session. */
    const struct mkperf_module *m = w->kernel;
    for (uint32_t i = 0; m == NULL && i < w->npds; i++) {
        m = w->pd[i].module;
    }
    add_string(w, HEADER_ARCH,
               m != NULL                    ? mkperf_module_arch(m)
               : w->session.arch[0] != '\0' ? w->session.arch
                                            : "aarch64");
    perfdata_features_add(&w->head, HEADER_BUILD_ID, w->build_ids_text, w->build_ids_size);
    perfdata_features_add(&w->head, MKPERF_PERFDATA_SESSION, w->about_text, w->about_size);
    if (w->level != 0) {
        enum { VERSION = 0, ZSTD = 1 }; /* the values that perf writes */
        uint8_t numbers[20];
        struct mkperf_put c = {numbers};
        mkperf_put32(&c, VERSION);
        mkperf_put32(&c, ZSTD);
        mkperf_put32(&c, (uint32_t)w->level);
        mkperf_put32(&c, 0);
        mkperf_put32(&c, MKPERF_COMPRESSED_PART);
        perfdata_features_add(&w->head, HEADER_COMPRESSED, numbers, sizeof numbers);
    }
}

/* Returns the number of ids that the first tracepoint has in addition to its own: trailers have the id of the first
 * event, 1, which no event has in a session that has only scheduling events. */
static unsigned trailer_ids(const struct mkperf_perfdata *w)
{
    return w->session.nevents == 0 && perfdata_trace_points(w) != 0;
}

/* Writes the ids of all attributes, then the attributes, each with the place of its ids. */
static void write_attrs(struct mkperf_perfdata *w)
{
    uint8_t buffer[PERFDATA_ATTRS * (8 + PERF_ATTR_BYTES + 16)];
    struct mkperf_put c = {buffer};
    unsigned n = w->session.nevents, all = n + perfdata_trace_points(w);
    uint64_t at = PERF_HEADER_BYTES;

    if (trailer_ids(w)) {
        mkperf_put64(&c, 1);
    }
    for (unsigned i = 0; i < all; i++) {
        mkperf_put64(&c, perfdata_attr_id(i < n ? i : PERFDATA_TRACE_ATTR + i - n));
    }
    for (unsigned i = 0; i < all; i++) {
        uint64_t size = i == 0 && trailer_ids(w) ? 16 : 8;

        perfdata_put_attr(&c, w, i < n ? i : PERFDATA_TRACE_ATTR + i - n);
        mkperf_put64(&c, at);
        mkperf_put64(&c, size);
        at += size;
    }
    mkperf_outfile_write(&w->out, buffer, (size_t)(c.p - buffer));
}

void perfdata_head_write(struct mkperf_perfdata *w)
{
    uint8_t header[PERF_HEADER_BYTES] = {0};
    struct mkperf_put c = {header};
    uint64_t n = w->session.nevents + perfdata_trace_points(w);

    mkperf_put_padded(&c, "PERFILE2", 8, 8);
    mkperf_put64(&c, PERF_HEADER_BYTES);
    mkperf_put64(&c, PERF_ATTR_BYTES + 16);
    mkperf_put64(&c, PERF_HEADER_BYTES + 8 * (n + trailer_ids(w)));
    mkperf_put64(&c, (PERF_ATTR_BYTES + 16) * n);
    mkperf_outfile_write(&w->out, header, sizeof header);
    write_attrs(w);
    /* The index: each feature with its place. Then the features. */
    uint8_t buffer[16 + PERF_FEATURES_MAX * 24];
    uint64_t at = mkperf_outfile_offset(&w->out) + 16 + UINT64_C(24) * w->head.n;

    c.p = buffer;
    mkperf_put_padded(&c, MKPERF_PERFDATA_INDEX, 8, 8);
    mkperf_put64(&c, w->head.n);
    for (unsigned i = 0; i < w->head.n; i++) {
        w->head.at[i].offset = at;
        at += w->head.at[i].size;
        mkperf_put64(&c, w->head.at[i].bit);
        mkperf_put64(&c, w->head.at[i].offset);
        mkperf_put64(&c, w->head.at[i].size);
    }
    mkperf_outfile_write(&w->out, buffer, (size_t)(c.p - buffer));
    for (unsigned i = 0; i < w->head.n; i++) {
        struct perfdata_feature *f = &w->head.at[i];
        mkperf_outfile_write(&w->out, f->text, f->size);
        free(f->text);
        f->text = NULL;
    }
    mkperf_outfile_write(&w->out, "\0\0\0\0\0\0\0", -at % 8);
    w->data_offset = mkperf_outfile_offset(&w->out);
    c.p = header;
    mkperf_put64(&c, w->data_offset);
    mkperf_outfile_patch(&w->out, PERF_HEADER_DATA, header, 8);
}
