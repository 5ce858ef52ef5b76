/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Akaros' kpdata: framing, layouts (eras), the two readings, and the way of a sample to the sink. The
 * format's rules are in import.h. The processes and mappings are in kprof_maps.c.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "kprof_internal.h"

enum { DOMAIN_TIMER = 1, DOMAIN_PMU = 2 };

static void note_event(struct kprof *k, uint64_t info)
{
    uint32_t n = k->session.nevents;

    for (uint32_t i = 0; i < n; i++) {
        if (k->info[i] == info) {
            return;
        }
    }
    if (n < MKPERF_MODEL_EVENTS) {
        k->info[n] = info;
        k->session.nevents++;
    }
}

static uint32_t event_of(struct kprof *k, uint64_t info)
{
    for (uint32_t i = 0; i < k->session.nevents; i++) {
        if (k->info[i] == info) {
            return i;
        }
    }
    k->other_infos++;
    return k->session.nevents - 1;
}

/*
 * Returns whether the infos name events. In era B an info names a timer with its period, or a PMU event; in era C it is
 * a number whose meaning only the recorder had. A file of era B with only user samples looks like one of era C, but all
 * of its infos have a domain.
 */
static bool infos_have_domains(const struct kprof *k)
{
    if (k->era == MKPERF_KPROF_A) {
        return false;
    }
    for (uint32_t i = 0; i < k->session.nevents; i++) {
        uint64_t domain = k->info[i] >> 60;
        if (k->info[i] != 0 && domain != DOMAIN_TIMER && domain != DOMAIN_PMU) {
            return false;
        }
    }
    return true;
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
    if (r->type == KPROF_MMAP) {
        return kprof_add_map(k, r);
    }
    if (r->type == KPROF_PROCESS) {
        return kprof_add_process(k, r);
    }
    k->unknown_types++;
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
    note_event(k, s.info);
    k->cores = s.cpu >= k->cores ? s.cpu + 1 : k->cores;
    struct kprof_index index = {.time_ns = s.time_ns, .offset = r->offset};
    return mkperf_spool_add(&k->index, &index, k->e);
}

static int compare_index(const void *a, const void *b)
{
    const struct kprof_index *x = a, *y = b;

    return x->time_ns != y->time_ns ? mkperf_compare(x->time_ns, y->time_ns)
                                    : mkperf_compare(x->offset, y->offset);
}

static enum mkperf_status first_reading(struct kprof *k)
{
    MKPERF_TRY(mkperf_spool_open(&k->index, sizeof(struct kprof_index), k->e));
    MKPERF_TRY(each_record(k, count_and_map));
    MKPERF_TRY(choose_era(k));
    MKPERF_TRY(each_record(k, index_sample));
    MKPERF_TRY(mkperf_spool_map(&k->index, k->e));
    mkperf_spool_sort(&k->index, compare_index);
    kprof_sort_maps(k);
    bool domains = infos_have_domains(k);
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

static enum mkperf_status open_kernel(struct kprof *k)
{
    struct mkperf_module *kernel;

    k->symbols = mkperf_symbols_new();
    if (k->in->kernel == NULL) {
        return MKPERF_OK;
    }
    MKPERF_TRY(mkperf_symbols_module(k->symbols, k->in->kernel, &kernel, k->e));
    k->session.kernel_elf = mkperf_module_path(kernel); /* absolute */
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
        int64_t pd = !kernel      ? kprof_code_at(k, (uint32_t)s.pid, s.time_ns, &pc)
                     : s.pid >= 0 ? kprof_process_pd(k, (uint32_t)s.pid, s.time_ns)
                                  : kprof_kernel_pd(k);
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
        mkperf_progress_steps(i, k->index.count);
    }
    return MKPERF_OK;
}

static enum mkperf_status read_both(struct kprof *k)
{
    if (k->n == 0) {
        return mkperf_error_set(k->e, MKPERF_ERR_INPUT, "%s: the file is empty", k->path);
    }
    MKPERF_TRY(first_reading(k));
    MKPERF_TRY(open_kernel(k));
    k->session.command = k->in->command;
    k->session.platform = "akaros";
    k->session.unverified = "kpdata does not show which build of a program ran";
    k->session.cpu = "";
    k->session.cores = k->cores;
    k->session.max_frames = MKPERF_DEFAULT_FRAMES;
    MKPERF_TRY(mkperf_sink_begin(k->sink, &k->session, k->e));
    MKPERF_TRY(second_reading(k));
    if (k->unread > 0) {
        kprof_warn(k, "the last %" PRIu64 " bytes are an incomplete record and were omitted",
                   k->unread);
    }
    if (k->not_fitting > 0) {
        kprof_warn(k, "%" PRIu64 " records were omitted: they do not fit the era or are impossible",
                   k->not_fitting);
    }
    if (k->unknown_types > 0) {
        kprof_warn(k, "%" PRIu64 " records of unknown types were skipped", k->unknown_types);
    }
    if (k->deep > 0) {
        kprof_warn(k, "%" PRIu64 " chains were cut at %d callers", k->deep, MKPERF_MAX_FRAMES);
    }
    if (k->other_infos > 0) {
        kprof_warn(k, "%" PRIu64 " samples of further events were counted as the last event",
                   k->other_infos);
    }
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
    kprof_free_maps(k);
    mkperf_spool_close(&k->index);
    mkperf_symbols_free(k->symbols);
    free(k);
    return status;
}

/* Returns a descriptor of an unnamed copy of what fd has, because a pipe cannot be mapped, or -1 if
 * errno. */
static int copy_of(int fd)
{
    FILE *f = tmpfile();
    char buffer[65536];
    ssize_t n = 0;
    int copy = -1;

    while (f != NULL && (n = read(fd, buffer, sizeof buffer)) > 0) {
        if (fwrite(buffer, 1, (size_t)n, f) != (size_t)n) {
            n = -1;
            break;
        }
    }
    if (f != NULL) {
        copy = n == 0 && fflush(f) == 0 ? dup(fileno(f)) : -1;
        (void)fclose(f);
    }
    return copy;
}

enum mkperf_status mkperf_kprof_read(const char *path, const struct mkperf_input *in,
                                     const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct stat st;
    void *p = NULL;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        int copy = S_ISDIR(st.st_mode) ? -1 : copy_of(fd);
        errno = S_ISDIR(st.st_mode) ? EISDIR : errno;
        close(fd);
        fd = copy;
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
