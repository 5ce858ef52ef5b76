/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Akaros' kpdata: framing, layouts (eras), the two readings, processes and mappings with the PDs made of them, and the way of a sample
 * to the sink. The format's rules are in import.h.
 */
#include <sys/mman.h>

#include "base/outfile.h"
#include "import.h"

enum {
    KPROF_RECORD_MAX = 32 << 20, /* the Akaros readers' limit */
    KPROF_PATH_MAX = 4096,
    KPROF_MAPS_MAX = 1 << 20,
    KPROF_PDS_MAX = MKPERF_MODEL_PDS,
    KPROF_NO_PID = -1,
};

enum kprof_type { KPROF_KERNEL = 1, KPROF_USER = 2, KPROF_MMAP = 3, KPROF_PROCESS = 4 };

struct kprof_record {
    uint64_t offset; /* offset of the record, for messages */
    uint64_t type;
    const uint8_t *p; /* payload */
    size_t n;
};

/* One sample of the file, for sorting by time. */
struct kprof_index {
    uint64_t time_ns, offset;
};

/* A file that is mapped into a process, or the program that it runs from then on. */
struct kprof_map {
    uint64_t pid; /* the first member, by which mkperf_first_behind searches */
    uint64_t time_ns, start, length, file_offset; /* the last three are 0 for a program */
    uint32_t order; /* the number of the record; it keeps sorting stable */
    bool program;
    char *path;
    int64_t pd;                   /* -1 until a sample needs it */
    struct mkperf_module *module; /* the ELF of `pd` */
};

struct kprof_pd {
    uint32_t pid;
    const char *path; /* that on the target, "" if unknown */
    struct mkperf_module *module;
};

struct kprof {
    const char *path;
    const uint8_t *p;
    size_t n;
    const struct mkperf_input *in;
    const struct mkperf_sink *sink;
    struct mkperf_error *e;
    enum mkperf_kprof_era era;
    uint64_t fits[MKPERF_KPROF_ERAS];
    uint64_t samples, unknown_types, not_fitting, deep, unread;
    struct mkperf_spool index;
    struct kprof_map *map; /* sorted by pid, then time, after the first reading */
    struct kprof_pd *pd;
    uint32_t nmaps, map_room, npds, pd_room;
    int64_t kernel_pd; /* the PD of kernel samples without a process; -1 until one needs it */
    struct mkperf_symbols *symbols;
    uint64_t info[MKPERF_MODEL_EVENTS]; /* the info of each event of the session */
    uint64_t other_infos;               /* samples of events beyond MKPERF_MODEL_EVENTS */
    uint32_t cores;
    struct mkperf_session session;
    struct mkperf_totals totals;
    struct mkperf_chain chain;
};

/* The fields of a sample, found at the positions of its era. */
struct kprof_sample {
    uint64_t info, time_ns;
    int64_t pid; /* KPROF_NO_PID if there is none */
    uint32_t cpu, n;
    const uint8_t *pc; /* n addresses of 8 bytes */
};

/* ---- processes, mappings, PDs and messages ---- */

static enum mkperf_status kprof_bad(const struct kprof *k, uint64_t offset, const char *reason)
{
    return mkperf_error_set(k->e, MKPERF_ERR_INPUT, "%s: offset %" PRIu64 ": %s", k->path, offset,
                            reason);
}

/* Reports an invalid record: an error, except in a lenient reading, which omits and counts it. */
static enum mkperf_status kprof_refuse(struct kprof *k, const struct kprof_record *r,
                                       const char *reason)
{
    k->not_fitting += k->in->lenient;
    return k->in->lenient ? MKPERF_OK : kprof_bad(k, r->offset, reason);
}

/* Warns of n things, if there are any. */
__attribute__((format(printf, 3, 4))) static void kprof_warn(const struct kprof *k, uint64_t n,
                                                             const char *format, ...)
{
    char line[512];
    va_list args;
    int used = snprintf(line, sizeof line, "%.200s: ", k->path);

    if (n > 0 && k->in->pds.warn != NULL) {
        va_start(args, format);
        vsnprintf(line + used, sizeof line - (size_t)used, format, args);
        va_end(args);
        k->in->pds.warn(k->in->pds.self, line);
    }
}

/* Returns the mapping or program of a pid before m, NULL if there is none. m NULL: the last one. */
static struct kprof_map *map_before(const struct kprof *k, uint32_t pid, const struct kprof_map *m)
{
    size_t n = m != NULL ? (size_t)(m - k->map)
                         : mkperf_first_behind(k->map, k->nmaps, sizeof *k->map, pid);

    return n > 0 && k->map[n - 1].pid == pid ? &k->map[n - 1] : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* Returns the path of the program that pid ran at a time; NULL if unknown. */
static const char *program_of_process(const struct kprof *k, uint32_t pid, uint64_t time_ns)
{
    const char *path = NULL, *first = NULL;
    const struct kprof_map *m = NULL;

    while ((m = map_before(k, pid, m)) != NULL) {
        first = m->path;
        if (m->program) {
            path = m->path;
            if (m->time_ns <= time_ns) {
                break;
            }
        }
    }
    return path != NULL ? path : first;
}

/* Announces a new PD to the sink: the file of a program, which must remain valid, or `name`. -1: *k->e has the reason. */
static int64_t announce_kprof_pd(struct kprof *k, uint32_t pid, const char *program,
                                 const char *file, const char *name)
{
    uint64_t thread = pid == UINT32_MAX ? MKPERF_THREAD_NONE
                                        : pid | (uint64_t)(*file == '\0') << 63;
    const char *parent = strcmp(program, file) != 0 ? base_name(program) : NULL;

    if (k->npds == KPROF_PDS_MAX) {
        kprof_bad(k, 0, "more than 65536 programs");
        return -1;
    }
    MKPERF_GROW(k->pd, k->pd_room, (size_t)k->npds + 1);
    struct kprof_pd *p = &k->pd[k->npds];
    *p = (struct kprof_pd){.pid = pid, .path = file};
    char *named = name != NULL     ? mkperf_xstrdup(name)
                  : parent != NULL ? mkperf_xprintf("%s:%s", parent, base_name(file))
                  : *file != '\0'  ? mkperf_xstrdup(base_name(file))
                                   : mkperf_xprintf("pid-%" PRIu32, pid);
    if (k->in->root_dir != NULL && *file != '\0' && strstr(file, "..") == NULL) {
        char *host = mkperf_xprintf("%s/%s", k->in->root_dir, file);
        struct mkperf_error why;
        if (mkperf_symbols_module(k->symbols, host, &p->module, &why) != MKPERF_OK) {
            kprof_warn(k, 1, "%s; its addresses get no names", why.text);
            p->module = NULL;
        }
        free(host);
    }
    struct mkperf_pd pd = {.thread = parent == NULL ? thread
                                                    : thread | (uint64_t)(k->npds + 1) << 32,
                           .id = k->npds++,
                           .name = named,
                           .elf = p->module != NULL ? mkperf_module_path(p->module) : NULL,
                           .parent = parent};
    enum mkperf_status status = mkperf_sink_pd(k->sink, &pd, k->e);
    free(named);
    return status == MKPERF_OK ? (int64_t)pd.id : -1;
}

/* Returns the PD of a file in a process, which may be new, or -1 if *k->e has the reason. "": no file is known. */
static int64_t pd_of(struct kprof *k, uint32_t pid, const char *program, const char *file)
{
    for (uint32_t i = 0; i < k->npds; i++) {
        if (k->pd[i].pid == pid && strcmp(k->pd[i].path, file) == 0) {
            return i;
        }
    }
    return announce_kprof_pd(k, pid, program, file, NULL);
}

static int64_t kprof_process_pd(struct kprof *k, uint32_t pid, uint64_t time_ns)
{
    const char *program = program_of_process(k, pid, time_ns);

    program = program != NULL ? program : "";
    return pd_of(k, pid, program, program);
}

/*
 * Returns the PD whose code is at a user address of a process at a time; *addr becomes its address in that PD's ELF, unless the
 * ELF does not have it. Returns -1 with the reason in *k->e if there is none. Several mappings may contain an address. The last one
 * made before the sample is used. If all were made later, it is the first one, because mappings that existed at the start are
 * reported late.
 */
static int64_t kprof_code_at(struct kprof *k, uint32_t pid, uint64_t time_ns, uint64_t *addr)
{
    struct kprof_map *m = NULL, *at = NULL;
    size_t n;

    while ((m == NULL || m->time_ns > time_ns) && (at = map_before(k, pid, at)) != NULL) {
        m = *addr - at->start < at->length ? at : m;
    }
    if (m == NULL) {
        return kprof_process_pd(k, pid, time_ns);
    }
    if (m->pd < 0) {
        const char *program = program_of_process(k, pid, time_ns);
        assert(program != NULL); /* the mapping names a file */
        m->pd = pd_of(k, pid, program, m->path);
        m->module = m->pd >= 0 ? k->pd[m->pd].module : NULL;
    }
    const struct mkperf_segment *s = mkperf_module_segments(m->module, &n);
    uint64_t offset = *addr - m->start + m->file_offset;
    size_t i = 0;

    while (i < n && offset - s[i].offset >= s[i].size) {
        i++;
    }
    *addr = i < n ? s[i].vaddr + (offset - s[i].offset) : *addr;
    return m->pd;
}

/* ---- records and samples ---- */

enum { DOMAIN_TIMER = 1, DOMAIN_PMU = 2 };

/* Returns the event of an info, which is added if it is new. Without room, it is the last event, and is counted. */
static uint32_t event_of(struct kprof *k, uint64_t info)
{
    uint32_t i = 0;

    while (i < k->session.nevents && k->info[i] != info) {
        i++;
    }
    if (i == MKPERF_MODEL_EVENTS) {
        k->other_infos++;
        return i - 1;
    }
    if (i == k->session.nevents) {
        k->info[k->session.nevents++] = info;
    }
    return i;
}

/* Takes the callers, which follow the innermost pc. Some recorders wrote the innermost pc twice. */
static enum mkperf_status take_callers(struct kprof *k, const struct kprof_sample *s, bool kernel,
                                       uint32_t pd)
{
    uint64_t innermost = mkperf_get64(s->pc);

    k->chain.n = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        uint64_t addr = mkperf_get64(s->pc + 8 * (size_t)i);
        int64_t in = pd;
        if (i == 1 && addr == innermost) {
            continue;
        }
        if (k->chain.n == MKPERF_MAX_FRAMES) {
            k->deep++;
            break;
        }
        if (!kernel && (in = kprof_code_at(k, (uint32_t)s->pid, s->time_ns, &addr)) < 0) {
            return k->e->status;
        }
        k->chain.caller[k->chain.n++] = (struct mkperf_caller){.addr = addr, .pd = (uint32_t)in};
    }
    return MKPERF_OK;
}

/* Reads an unsigned LEB128 number of at most 64 bits. False: it is cut, or longer. */
static bool read_varint(const struct kprof *k, uint64_t *at, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && *at < k->n; shift += 7) {
        uint8_t byte = k->p[(*at)++];
        if (shift == 63 && byte > 1) {
            return false;
        }
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return true;
        }
    }
    return false;
}

bool mkperf_kprof_is(const uint8_t *p, size_t n)
{
    enum { RECORDS = 4, SMALLEST = 13, LARGEST = 65536 + 24 };
    const struct kprof k = {.p = p, .n = n};
    uint64_t at = 0, type, size;

    for (int i = 0; at < n && i < RECORDS; i++, at += size) {
        if (!read_varint(&k, &at, &type) || !read_varint(&k, &at, &size) || type < KPROF_KERNEL ||
            type > KPROF_PROCESS || size < SMALLEST || size > LARGEST) {
            return false;
        }
    }
    return n > 0;
}

/* Reads the record at *at and moves *at past it. NULL: success; else why it is invalid. */
static const char *record_at(const struct kprof *k, uint64_t *at, struct kprof_record *out)
{
    uint64_t size;

    out->offset = *at;
    if (!read_varint(k, at, &out->type) || !read_varint(k, at, &size)) {
        return "a record's header is invalid";
    }
    if (size > KPROF_RECORD_MAX) {
        return "a record of more than 32 MiB";
    }
    if (size > k->n - *at) {
        return "the file ends inside a record";
    }
    out->p = k->p + *at;
    out->n = (size_t)size;
    *at += size;
    return NULL;
}

/* Returns whether the sample fits the era; *out is filled if it does. */
static bool fits_era(enum mkperf_kprof_era era, const struct kprof_record *r,
                     struct kprof_sample *out)
{
    bool has_info = era != MKPERF_KPROF_A;
    bool has_pid = r->type == KPROF_USER || era == MKPERF_KPROF_C;
    size_t head = 8 + 4 + (has_info ? 8 : 0) + (has_pid ? 4 : 0);
    const uint8_t *p = r->p;

    if (r->n < head + 8 || (r->n - head) % 8 != 0 ||
        mkperf_get16(p + head - 2) != (r->n - head) / 8) {
        return false;
    }
    *out = (struct kprof_sample){.pid = KPROF_NO_PID};
    if (has_info) {
        out->info = mkperf_get64(p);
        p += 8;
    }
    out->time_ns = mkperf_get64(p);
    p += 8;
    if (has_pid) {
        out->pid = mkperf_get32(p) == UINT32_MAX ? KPROF_NO_PID : (int64_t)mkperf_get32(p);
        p += 4;
    }
    out->cpu = mkperf_get16(p);
    out->n = mkperf_get16(p + 2);
    out->pc = p + 4;
    return true;
}

static bool is_sample(const struct kprof_record *r)
{
    return r->type == KPROF_KERNEL || r->type == KPROF_USER;
}

/* Calls visit for every record. A lenient reading stops at an invalid one. */
static enum mkperf_status each_record(struct kprof *k,
                                      enum mkperf_status (*visit)(struct kprof *k,
                                                                  const struct kprof_record *r))
{
    struct kprof_record r;

    for (uint64_t at = 0; at < k->n;) {
        const char *reason = record_at(k, &at, &r);
        if (reason != NULL) {
            k->unread = k->n - r.offset;
            return k->in->lenient ? MKPERF_OK : kprof_bad(k, r.offset, reason);
        }
        MKPERF_TRY(visit(k, &r));
    }
    return MKPERF_OK;
}

static enum mkperf_status count_and_map(struct kprof *k, const struct kprof_record *r)
{
    struct kprof_sample ignored;

    if (is_sample(r)) {
        k->samples++;
        for (int era = MKPERF_KPROF_A; era < MKPERF_KPROF_ERAS; era++) {
            k->fits[era] += fits_era((enum mkperf_kprof_era)era, r, &ignored);
        }
        return MKPERF_OK;
    }
    bool program = r->type == KPROF_PROCESS;
    size_t head = program ? 12 : 36; /* time, for a mapping its place, and pid; the path follows */
    if (!program && r->type != KPROF_MMAP) {
        k->unknown_types++;
        return MKPERF_OK;
    }
    const char *reason = r->n <= head          ? program ? "a process record that is too short"
                                                         : "a mapping that is too short"
                         : r->p[r->n - 1] != 0 ? "a path without its end"
                         : r->n - head > KPROF_PATH_MAX ? "a path of more than 4096 bytes"
                         : k->nmaps == KPROF_MAPS_MAX   ? "too many mappings and processes"
                                                        : NULL;
    if (reason != NULL) {
        return kprof_refuse(k, r, reason);
    }
    MKPERF_GROW(k->map, k->map_room, (size_t)k->nmaps + 1);
    k->map[k->nmaps] = (struct kprof_map){
        .time_ns = mkperf_get64(r->p),
        .start = program ? 0 : mkperf_get64(r->p + 8),
        .length = program ? 0 : mkperf_get64(r->p + 16),
        .file_offset = program ? 0 : mkperf_get64(r->p + 24),
        .pid = mkperf_get32(r->p + head - 4),
        .order = k->nmaps,
        .program = program,
        .path = mkperf_xstrdup((const char *)r->p + head),
        .pd = -1,
    };
    k->nmaps++;
    return MKPERF_OK;
}

/*
 * Chooses the era that most samples fit. B and C differ only in kernel samples. Without any, both are
 * read alike, and only the meaning of info differs (first_reading).
 */
static enum mkperf_status choose_era(struct kprof *k)
{
    enum mkperf_kprof_era best = MKPERF_KPROF_C;

    if (k->in->era != MKPERF_KPROF_AUTO) {
        k->era = k->in->era;
        return MKPERF_OK;
    }
    for (int era = MKPERF_KPROF_B; era >= MKPERF_KPROF_A; era--) {
        best = k->fits[era] > k->fits[best] ? (enum mkperf_kprof_era)era : best;
    }
    if (k->samples > 0 && k->fits[best] == 0) {
        return kprof_bad(k, 0, "no sample fits any era of kpdata");
    }
    if (k->samples > 0 && best == MKPERF_KPROF_C && k->fits[MKPERF_KPROF_A] == k->fits[best]) {
        return kprof_bad(k, 0, "samples fit two eras; choose one with --kprof-era");
    }
    k->era = best;
    return MKPERF_OK;
}

static enum mkperf_status index_sample(struct kprof *k, const struct kprof_record *r)
{
    struct kprof_sample s;
    char reason[128];

    if (!is_sample(r)) {
        return MKPERF_OK;
    }
    if (!fits_era(k->era, r, &s)) {
        snprintf(reason, sizeof reason,
                 "a sample that does not fit era %c (%" PRIu64 " of %" PRIu64 " do)",
                 'A' + (char)(k->era - MKPERF_KPROF_A), k->fits[k->era], k->samples);
        return kprof_refuse(k, r, reason);
    }
    if (s.cpu >= MKPERF_MODEL_CORES) {
        snprintf(reason, sizeof reason, "core %u of a sample: the highest possible is %d",
                 (unsigned)s.cpu, MKPERF_MODEL_CORES - 1);
        return kprof_refuse(k, r, reason);
    }
    event_of(k, s.info);
    k->cores = s.cpu >= k->cores ? s.cpu + 1 : k->cores;
    struct kprof_index index = {.time_ns = s.time_ns, .offset = r->offset};
    return mkperf_spool_add(&k->index, &index, k->e);
}

static enum mkperf_status first_reading(struct kprof *k)
{
    const struct kprof_index *index = NULL;

    MKPERF_TRY(mkperf_spool_open(&k->index, sizeof(struct kprof_index), k->e));
    MKPERF_TRY(each_record(k, count_and_map));
    MKPERF_TRY(choose_era(k));
    MKPERF_TRY(each_record(k, index_sample));
    MKPERF_TRY(mkperf_spool_map(&k->index, k->e));
    MKPERF_SPOOL_SORT(&k->index, MKPERF_UP(index, time_ns), MKPERF_UP(index, offset));
    MKPERF_SORT(k->map, k->nmaps, MKPERF_UP(k->map, pid), MKPERF_UP(k->map, time_ns),
                MKPERF_UP(k->map, order));
    k->other_infos = 0; /* the second reading counts them */
    /* In era B an info names a timer with its period, or a PMU event; in era C it is a number whose meaning only the recorder
     * had. A file of era B with only user samples looks like one of era C, but all of its infos have a domain. */
    bool domains = k->era != MKPERF_KPROF_A;
    for (uint32_t i = 0; i < k->session.nevents; i++) {
        uint64_t domain = k->info[i] >> 60;
        domains &= k->info[i] == 0 || domain == DOMAIN_TIMER || domain == DOMAIN_PMU;
    }
    for (uint32_t i = 0; i < k->session.nevents; i++) {
        struct mkperf_event *event = &k->session.event[i];
        uint64_t info = k->info[i];
        *event = (struct mkperf_event){.user = true, .kernel = true, .period = 1};
        if (info == 0) {
            snprintf(event->name, sizeof event->name, "samples");
        } else if (domains && info >> 60 == DOMAIN_TIMER) {
            uint64_t period_us = info & ((UINT64_C(1) << 60) - 1);
            snprintf(event->name, sizeof event->name, "timer");
            event->period = period_us > 0 && period_us < UINT64_MAX / 1000 ? period_us * 1000 : 1;
        } else if (domains) {
            event->code = info & 0xffff;
            snprintf(event->name, sizeof event->name, "%s%04" PRIx32,
                     info >> 16 & 1 ? "fixed-r" : "r", event->code);
        } else {
            snprintf(event->name, sizeof event->name, "stream-%" PRIx64, info);
        }
    }
    return MKPERF_OK;
}

static enum mkperf_status second_reading(struct kprof *k)
{
    const struct kprof_index *index = k->index.map;

    for (size_t i = 0; i < k->index.count; i++) {
        uint64_t at = index[i].offset;
        struct kprof_record r;
        struct kprof_sample s;
        if (record_at(k, &at, &r) != NULL || !fits_era(k->era, &r, &s)) {
            return kprof_bad(k, index[i].offset, "the file changed while it was read");
        }
        bool kernel = r.type == KPROF_KERNEL;
        uint64_t pc = mkperf_get64(s.pc);
        if (kernel && s.pid < 0 && k->kernel_pd < 0) {
            k->kernel_pd = announce_kprof_pd(k, UINT32_MAX, "", "", "kernel");
        }
        int64_t pd = !kernel      ? kprof_code_at(k, (uint32_t)s.pid, s.time_ns, &pc)
                     : s.pid >= 0 ? kprof_process_pd(k, (uint32_t)s.pid, s.time_ns)
                                  : k->kernel_pd;
        if (pd < 0 || take_callers(k, &s, kernel, (uint32_t)pd) != MKPERF_OK) {
            return k->e->status;
        }
        uint32_t event = event_of(k, s.info);
        struct mkperf_sample sample = {
            .time_ns = s.time_ns,
            .period = k->session.event[event].period,
            .pd = (uint32_t)pd,
            .event = event,
            .core = s.cpu,
            .flags = kernel ? MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER : 0,
            .kernel_pc = kernel ? pc : 0,
            .pc = kernel ? 0 : pc,
            .callers = &k->chain,
        };
        if (k->totals.samples++ == 0) {
            k->totals.first_ns = s.time_ns;
        }
        k->totals.last_ns = s.time_ns;
        MKPERF_TRY(mkperf_sink_sample(k->sink, &sample, k->e));
        mkperf_progress(MKPERF_STEPS, (double)i, (double)k->index.count);
    }
    return MKPERF_OK;
}

static enum mkperf_status read_both(struct kprof *k)
{
    MKPERF_FAIL_IF(k->n == 0, k->e, MKPERF_ERR_INPUT, "%s: the file is empty", k->path);
    MKPERF_TRY(first_reading(k));
    k->symbols = mkperf_symbols_new();
    if (k->in->pds.kernel != NULL) {
        struct mkperf_module *kernel;
        MKPERF_TRY(mkperf_symbols_module(k->symbols, k->in->pds.kernel, &kernel, k->e));
        k->session.kernel_elf = mkperf_module_path(kernel); /* absolute */
    }
    k->session.command = k->in->command;
    k->session.platform = "akaros";
    k->session.unverified = "kpdata does not show which build of a program ran";
    k->session.cpu = "";
    k->session.cores = k->cores;
    k->session.max_frames = MKPERF_DEFAULT_FRAMES;
    MKPERF_TRY(mkperf_sink_begin(k->sink, &k->session, k->e));
    MKPERF_TRY(second_reading(k));
    kprof_warn(k, k->unread, "the last %" PRIu64 " bytes are an incomplete record and were omitted",
               k->unread);
    kprof_warn(k, k->not_fitting,
               "%" PRIu64 " records were omitted: they do not fit the era or are impossible",
               k->not_fitting);
    kprof_warn(k, k->unknown_types, "%" PRIu64 " records of unknown types were skipped",
               k->unknown_types);
    kprof_warn(k, k->deep, "%" PRIu64 " chains were cut at %d callers", k->deep, MKPERF_MAX_FRAMES);
    kprof_warn(k, k->other_infos,
               "%" PRIu64 " samples of further events were counted as the last event",
               k->other_infos);
    return MKPERF_OK;
}

enum mkperf_status mkperf_kprof_read_memory(const char *name, const void *p, size_t n,
                                            const struct mkperf_input *in,
                                            const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct kprof *k = mkperf_xcalloc(1, sizeof *k);
    struct mkperf_order order;
    const struct mkperf_sink checked = mkperf_sink_in_order(*sink, &order);

    k->path = name;
    k->p = p;
    k->n = n;
    k->in = in;
    k->sink = &checked;
    k->e = e;
    k->kernel_pd = -1;
    enum mkperf_status status = mkperf_sink_finish(&checked, read_both(k), &k->totals, e);
    for (uint32_t i = 0; i < k->nmaps; i++) {
        free(k->map[i].path);
    }
    free(k->map);
    free(k->pd);
    mkperf_spool_close(&k->index);
    mkperf_symbols_free(k->symbols);
    free(k);
    return status;
}

enum mkperf_status mkperf_kprof_read(const char *path, int fd, const struct mkperf_input *in,
                                     const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct stat st;
    void *p = NULL;

    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        /* A pipe cannot be mapped, so the file is an unnamed copy of what it has. */
        FILE *f = S_ISDIR(st.st_mode) ? NULL : tmpfile();
        char buffer[65536];
        ssize_t n = 0;
        while (f != NULL && (n = read(fd, buffer, sizeof buffer)) > 0 &&
               fwrite(buffer, 1, (size_t)n, f) == (size_t)n) {
        }
        errno = S_ISDIR(st.st_mode) ? EISDIR : errno;
        close(fd);
        fd = f != NULL && n == 0 && fflush(f) == 0 ? dup(fileno(f)) : -1;
        if (f != NULL) {
            (void)fclose(f);
        }
    }
    bool known = fd >= 0 && fstat(fd, &st) == 0;
    if (known && st.st_size > 0) {
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd < 0 || p == MAP_FAILED) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return mkperf_sink_finish(sink, e->status, NULL, e);
    }
    close(fd);
    enum mkperf_status status = mkperf_kprof_read_memory(path, p, (size_t)st.st_size, in, sink, e);
    if (p != NULL) {
        munmap(p, (size_t)st.st_size);
    }
    return status;
}
