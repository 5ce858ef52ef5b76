/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data writer: the functions of its sink, losses and rounds.
 *
 * Owns: struct mkperf_perfdata, and the layout of MMAP, MMAP2, COMM, SAMPLE, HEADER_ATTR and EVENT_UPDATE records. The head is written
 * before the first record, when all PDs that are known from the start have been announced. perf accepts HEADER_ATTR and EVENT_UPDATE
 * within the data, so the file of a killed writer has the events of later sessions, too. A pipe has all its events in this form.
 */
#include "perfdata_internal.h"

enum { ROUND_BYTES = 64 * 1024, ROUND_BYTES_MAX = 64 * 1024 * 1024 };

/* ---- address spaces: of the kernel, and of each PD as a process ---- */

enum { PAGE = 4096, PROT_READ_EXEC = 5, MAP_PRIVATE_FLAG = 2 };

/*
 * perf warns if a file has no kernel map. With a real one at our kernel's address, it would look up
 * names of the host's kernel. This map is therefore one page at which no kernel has code, with a build
 * id that no file has. It is the last record: perf looks for its symbols, and warns, only if a sample
 * follows. It always does so with a pipe, and if it takes the file's machine for its own.
 */
#define DUMMY_KERNEL UINT64_C(0xfffffffffff00000)
#define DUMMY_NAME "[kernel.kallsyms]"
static const struct mkperf_build_id dummy_build_id = {.n = MKPERF_BUILD_ID_BYTES,
                                                      .byte = "mkperf: no linux"};

static void build_id_entry(FILE *f, unsigned misc, const char *path,
                           const struct mkperf_build_id *id)
{
    uint8_t entry[8 + 4 + 24 + PERF_PATH_MAX + PERF_STRING_ALIGN];
    struct mkperf_put c = {entry};
    size_t length = strlen(path);
    size_t room = (length + 1 + PERF_STRING_ALIGN - 1) / PERF_STRING_ALIGN * PERF_STRING_ALIGN;

    if (id->n == 0 || length >= PERF_PATH_MAX) {
        return;
    }
    /* In a pipe the entry is a record. In a file, its type is not read. */
    perfdata_record(&c, PERF_RECORD_HEADER_BUILD_ID, misc | PERF_RECORD_MISC_BUILD_ID_SIZE,
                    8 + 4 + 24 + room);
    mkperf_put32(&c, UINT32_MAX); /* the host's machine, not a guest's */
    mkperf_put_padded(&c, id->byte, id->n, MKPERF_BUILD_ID_BYTES);
    mkperf_put32(&c, id->n);
    mkperf_put_padded(&c, path, length, room);
    (void)fwrite(entry, 1, (size_t)(c.p - entry), f); /* into memory: fclose reports errors */
}

static void kernel_map(struct mkperf_outfile *out, struct mkperf_segment s, const char *path,
                       uint64_t ns)
{
    struct mkperf_put c = perfdata_begin(out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
    mkperf_put32(&c, UINT32_MAX);
    mkperf_put32(&c, 0);
    mkperf_put64(&c, s.vaddr);
    mkperf_put64(&c, s.size);
    mkperf_put64(&c, s.offset);
    perfdata_put_text(&c, path, strlen(path));
    perfdata_end_with_id(out, c, 0, 0, ns, 0);
}

/* Returns the whole pages that a loader would map for a segment. */
static struct mkperf_segment pages(struct mkperf_segment s)
{
    uint64_t front = s.vaddr % PAGE == s.offset % PAGE ? s.vaddr % PAGE : 0;

    s.vaddr -= front;
    s.offset -= front;
    s.size = (s.size + front + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return s;
}

void perfdata_kernel_dummy(struct mkperf_outfile *out, uint64_t ns)
{
    struct mkperf_segment page = {.vaddr = DUMMY_KERNEL, .size = PAGE, .offset = DUMMY_KERNEL};

    kernel_map(out, page, DUMMY_NAME "_text", ns);
}

/* Maps the ELF of PD `pd`, at the addresses of that PD, into the process of PD `in`. */
static void map_pd(struct mkperf_perfdata *w, uint32_t pd, uint32_t in)
{
    struct mkperf_module *module = w->pd[pd].module;
    size_t n;
    const struct mkperf_segment *s = mkperf_module_segments(module, &n);
    const struct mkperf_build_id *id = mkperf_module_build_id(module);
    unsigned misc = PERF_RECORD_MISC_USER | (id->n != 0 ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);
    uint32_t pid = in + 1;

    /* A guest's addresses may be anywhere, or not be known. Its map is one page, by which a reader finds the file with
     * its names. */
    bool guest = module != NULL && w->pd[pd].guest;
    const struct mkperf_segment page = {.vaddr = 0, .size = PAGE};

    for (size_t i = 0; i < (guest ? 1 : n); i++) {
        struct mkperf_segment p = guest ? page : pages(s[i]);
        if (p.vaddr >= MKPERF_PERFDATA_WINDOW || p.size > MKPERF_PERFDATA_WINDOW - p.vaddr) {
            continue; /* mkperf_perfdata_slid writes addresses there as unknown */
        }
        p.vaddr = mkperf_perfdata_slid(pd, p.vaddr);
        const char *path = mkperf_module_path(module);
        struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_MMAP2, misc);
        mkperf_put32(&c, pid);
        mkperf_put32(&c, pid);
        mkperf_put64(&c, p.vaddr);
        mkperf_put64(&c, p.size);
        mkperf_put64(&c, p.offset);
        mkperf_put32(&c, id->n);
        mkperf_put_padded(&c, id->byte, id->n, MKPERF_BUILD_ID_BYTES);
        mkperf_put32(&c, PROT_READ_EXEC);
        mkperf_put32(&c, MAP_PRIVATE_FLAG);
        perfdata_put_text(&c, path, strlen(path));
        perfdata_end_with_id(&w->out, c, pid, pid, 0, 0);
    }
}

enum { NAME_ROOM = MKPERF_MODEL_NAME + 8, TEXT_ROOM = 128 };

/* Writes an attribute with its id, and the name that perf shows for it. perf knows those of tracepoints. */
static void announce_attr(struct mkperf_perfdata *w, unsigned number)
{
    char name[NAME_ROOM] = "mkperf:mark";
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_HEADER_ATTR, 0);
    perfdata_put_attr(&c, w, number);
    mkperf_put64(&c, perfdata_attr_id(number));
    if (number == PERFDATA_TRACE_ATTR && w->session.nevents == 0) {
        mkperf_put64(&c, 1); /* the id of trailers, which no event has */
    }
    perfdata_end(&w->out, c);
    if (number < PERFDATA_TRACE_ATTR) {
        if (number != PERFDATA_MARK_ATTR) {
            const struct mkperf_event *event = &w->session.event[number];
            snprintf(name, sizeof name, "%s%s", event->name, mkperf_event_modes(event));
        }
        c = perfdata_begin(&w->out, PERF_RECORD_EVENT_UPDATE, 0);
        mkperf_put64(&c, PERF_EVENT_UPDATE_NAME);
        mkperf_put64(&c, perfdata_attr_id(number));
        perfdata_put_text(&c, name, strlen(name));
        perfdata_end(&w->out, c);
    }
}

static uint64_t kernel_address(uint64_t addr)
{
    return addr >= (uint64_t)-4096 ? 0 : addr; /* perf would take it for a context marker */
}

static void put_sample(struct mkperf_perfdata *w, const struct mkperf_sample *s)
{
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL;
    char guest = mkperf_guest_letter(s->flags);
    unsigned group = perfdata_counts_of(&w->session, s->event);
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_SAMPLE,
                                         kernel         ? PERF_RECORD_MISC_KERNEL
                                         : guest == 'g' ? PERF_RECORD_MISC_GUEST_KERNEL
                                         : guest == 'u' ? PERF_RECORD_MISC_GUEST_USER
                                                        : PERF_RECORD_MISC_USER);
    mkperf_put64(&c, s->event + 1);
    mkperf_put64(&c, kernel ? kernel_address(s->kernel_pc) : mkperf_perfdata_slid(s->pd, s->pc));
    mkperf_put32(&c, s->pd + 1);
    mkperf_put32(&c, s->pd + 1);
    mkperf_put64(&c, s->time_ns);
    mkperf_put64(&c, s->core);
    mkperf_put64(&c, s->period);
    if (group != 0) {
        /* Puts the sums of the group's values since the first sample. perf calculates the differences. */
        w->count[s->event] += s->period;
        for (unsigned i = 0; i < s->nreads; i++) {
            w->count[s->reads[i].event] += s->reads[i].count;
        }
        mkperf_put64(&c, group);
        for (unsigned i = s->event; i < s->event + group; i++) {
            mkperf_put64(&c, w->count[i]);
            mkperf_put64(&c, i + 1);
        }
    }
    if (w->chains[s->event]) {
        /* Puts the callchain: the number of its words, then the words. */
        const struct mkperf_chain *callers = s->callers;
        bool user = !(s->flags & MKPERF_SAMPLE_NO_USER);
        struct mkperf_put count = c;
        c.p += 8;
        if (s->flags & MKPERF_SAMPLE_KERNEL) {
            mkperf_put64(&c, PERF_CONTEXT_KERNEL);
            mkperf_put64(&c, kernel_address(s->kernel_pc));
            /* A kernel that was interrupted in its own work has kernel callers, see model.h. */
            for (unsigned i = 0; !user && i < callers->n; i++) {
                mkperf_put64(&c, kernel_address(callers->caller[i].addr));
            }
        }
        if (user) {
            mkperf_put64(&c, guest == 'g'   ? PERF_CONTEXT_GUEST_KERNEL
                             : guest == 'u' ? PERF_CONTEXT_GUEST_USER
                                            : PERF_CONTEXT_USER);
            mkperf_put64(&c, mkperf_perfdata_slid(s->pd, s->pc));
            for (unsigned i = 0; i < callers->n; i++) {
                mkperf_put64(&c,
                             mkperf_perfdata_slid(callers->caller[i].pd, callers->caller[i].addr));
            }
        }
        mkperf_put64(&count, (uint64_t)(c.p - count.p) / 8 - 1);
    }
    if (w->session.aggregate_ms != 0) {
        mkperf_put64(&c, mkperf_sample_count(s));
    }
    perfdata_end(&w->out, c);
}

/* ---- the sink ---- */

enum mkperf_status mkperf_perfdata_new(const char *path, struct mkperf_symbols *symbols,
                                       struct mkperf_perfdata **out, struct mkperf_error *e)
{
    struct mkperf_perfdata *w = mkperf_xcalloc(1, sizeof *w);

    w->symbols = symbols;
    if (mkperf_outfile_open(&w->out, path, true, e) != MKPERF_OK) {
        free(w);
        return e->status;
    }
    *out = w;
    return MKPERF_OK;
}

void mkperf_perfdata_compress(struct mkperf_perfdata *w, int level)
{
    w->level = level != MKPERF_COMPRESS_FILES ? level : w->out.stream ? 0 : MKPERF_COMPRESSED_LEVEL;
}

uint64_t mkperf_perfdata_bytes(const struct mkperf_perfdata *w)
{
    return mkperf_outfile_offset(&w->out);
}

enum mkperf_status mkperf_perfdata_sync(struct mkperf_perfdata *w, struct mkperf_error *e)
{
    mkperf_outfile_flush(&w->out);
    return mkperf_outfile_status(&w->out, e);
}

/* Closes the file, and removes it if it has no head, because it is of no use then. */
static void close_file(struct mkperf_perfdata *w)
{
    if (w->out.fd >= 0 && !w->began && w->out.partial != NULL) {
        unlink(w->out.partial);
    }
    mkperf_outfile_close(&w->out);
}

void mkperf_perfdata_free(struct mkperf_perfdata *w)
{
    if (w == NULL) {
        return;
    }
    close_file(w);
    perfdata_compress_free(&w->compressor);
    perfdata_features_free(&w->head);
    if (w->build_ids != NULL) {
        (void)fclose(w->build_ids);
    }
    if (w->about != NULL) {
        (void)fclose(w->about);
    }
    free(w->build_ids_text);
    free(w->about_text);
    for (uint32_t i = 0; i < w->npds; i++) {
        free(w->pd[i].name);
        free(w->pd[i].mapped);
    }
    free(w->pd);
    free(w->cores);
    free(w);
}

static enum mkperf_status begin_file(struct mkperf_perfdata *w,
                                     const struct mkperf_session *session, struct mkperf_error *e)
{
    w->session = *session;
    w->head_events = session->nevents;
    /* Samples are in order of time, and events are in order by core, but the two are not in one order. */
    w->unordered = (session->sched || session->nqueues != 0) &&
                   (session->nevents != 0 || session->cores > 1);
    MKPERF_FAIL_IF((session->nevents == 0 && !session->sched) ||
                       session->nevents > MKPERF_MODEL_EVENTS,
                   e, MKPERF_ERR_INPUT, "a session of %u events", session->nevents);
    for (unsigned i = 0; i < session->nevents; i++) {
        w->chains[i] = session->max_frames > 0;
    }
    mkperf_symbols_expect(w->symbols, session->arch);
    if (session->kernel_elf != NULL &&
        mkperf_symbols_recorded(w->symbols, session->kernel_elf, &session->kernel_build_id,
                                &w->kernel, e) != MKPERF_OK) {
        return e->status;
    }
    perfdata_head_prepare(w, session);
    return MKPERF_OK;
}

static void introduce_pd(struct mkperf_perfdata *w, uint32_t id)
{
    const char *name = w->pd[id].name;
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_COMM, 0);

    mkperf_put32(&c, id + 1);
    mkperf_put32(&c, id + 1);
    perfdata_put_text(&c, name, strnlen(name, PAGE));
    perfdata_end_with_id(&w->out, c, id + 1, id + 1, 0, 0);
    map_pd(w, id, id);
}

static bool known_pd(const struct mkperf_perfdata *w, uint32_t id)
{
    return id < w->npds && w->pd[id].name != NULL;
}

/* Writes everything before the first sample, mark, event or loss, unless it is written. */
static enum mkperf_status write_start(struct mkperf_perfdata *w, struct mkperf_error *e)
{
    if (w->began) {
        return MKPERF_OK;
    }
    MKPERF_FAIL_IF(w->build_ids == NULL, e, MKPERF_ERR_OUTPUT, "%s: not begun, or failed",
                   w->out.path);
    /* Adds only the build id of the last map. If our kernel's ELF had an entry, perf 6.1 would look for its build id everywhere
     * except in the file, and warn. If it were listed as a user's file, perf would not resolve its addresses. */
    build_id_entry(w->build_ids, PERF_RECORD_MISC_KERNEL, DUMMY_NAME, &dummy_build_id);
    perfdata_head_close(w);
    if (w->out.stream) {
        /* The head of a pipe: its header, events and features as records. */
        uint8_t header[PERF_PIPE_HEADER_BYTES];
        struct mkperf_put c = {header};
        mkperf_put_padded(&c, "PERFILE2", 8, 8);
        mkperf_put64(&c, PERF_PIPE_HEADER_BYTES);
        mkperf_outfile_write(&w->out, header, sizeof header);
        for (unsigned i = 0; i < w->session.nevents; i++) {
            announce_attr(w, i);
        }
        for (unsigned i = 0; i < perfdata_trace_points(w); i++) {
            announce_attr(w, PERFDATA_TRACE_ATTR + i);
        }
        perfdata_pipe_features(w);
    } else {
        perfdata_head_write(w);
    }
    if (w->level != 0) {
        perfdata_compress_begin(&w->compressor, &w->out, w->level);
    }
    /* Maps exactly .text of our kernel. When perf 6.1 loads the symbols, it moves the first map of a kernel's ELF to .text, and makes
     * maps of its own for the other sections. The addresses of a map of another segment would therefore get wrong names. Until perf
     * has read an address in .text, addresses in other sections have no names. */
    struct mkperf_segment text;
    if (w->kernel != NULL && mkperf_module_text(w->kernel, &text)) {
        kernel_map(&w->out, text, mkperf_module_path(w->kernel), 0);
    }
    w->began = w->out.error.status == MKPERF_OK;
    for (uint32_t i = 0; i < w->npds; i++) {
        if (known_pd(w, i)) {
            introduce_pd(w, i);
        }
    }
    mkperf_outfile_flush(&w->out); /* so that the file of a killed writer can be recovered */
    return mkperf_outfile_status(&w->out, e);
}

static enum mkperf_status add_pd(struct mkperf_perfdata *w, const struct mkperf_pd *pd,
                                 struct mkperf_error *e)
{
    if (pd->id >= MKPERF_PERFDATA_PDS) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "%s: process %u: perf.data has addresses for %u; convert --to "
                                "another format has no limit",
                                pd->name, pd->id + 1, (unsigned)MKPERF_PERFDATA_PDS);
    }
    MKPERF_GROW(w->pd, w->pd_room, (size_t)pd->id + 1);
    w->npds = pd->id < w->npds ? w->npds : pd->id + 1; /* smaller ids may follow */
    struct perfdata_pd *added = &w->pd[pd->id];
    assert(added->name == NULL);
    added->name = mkperf_xstrdup(pd->name);
    added->idle = pd->thread == MKPERF_THREAD_IDLE;
    added->guest = mkperf_thread_is_vcpu(pd->thread);
    added->priority = pd->scheduling.priority;
    if (pd->elf != NULL && mkperf_symbols_recorded(w->symbols, pd->elf, &pd->build_id,
                                                   &added->module, e) != MKPERF_OK) {
        return e->status;
    }
    if (w->began) {
        introduce_pd(w, pd->id);
        return mkperf_outfile_status(&w->out, e);
    }
    struct mkperf_pd of = *pd;
    if (added->module != NULL) {
        if (of.build_id.n == 0) {
            mkperf_module_identity(added->module, &of.build_id);
        }
        build_id_entry(w->build_ids, PERF_RECORD_MISC_USER, mkperf_module_path(added->module),
                       mkperf_module_build_id(added->module));
    }
    perfdata_lines_write(w->about, OF_PD, pd->id, &of);
    return MKPERF_OK;
}

static void add_sample(struct mkperf_perfdata *w, const struct mkperf_sample *s)
{
    assert(known_pd(w, s->pd) && s->event < w->session.nevents);
    for (unsigned i = 0; i < s->callers->n; i++) {
        uint32_t pd = s->callers->caller[i].pd;
        struct perfdata_pd *in = &w->pd[s->pd];
        assert(known_pd(w, pd));
        if (pd != s->pd && in->mapped == NULL) {
            in->mapped = mkperf_xcalloc(1, MKPERF_PERFDATA_PDS / 8 + 1);
        }
        if (pd != s->pd && (in->mapped[pd / 8] >> pd % 8 & 1) == 0) {
            in->mapped[pd / 8] |= (uint8_t)(1 << pd % 8);
            map_pd(w, pd, s->pd); /* once, so that perf finds the callers */
        }
    }
    perfdata_core_at(w, s->core, s->time_ns)->sample_ns = s->time_ns;
    put_sample(w, s);
}

static void add_events(struct mkperf_perfdata *w, const struct mkperf_session *session)
{
    assert(session->nevents >= w->session.nevents && session->nevents <= MKPERF_MODEL_EVENTS);
    while (w->session.nevents < session->nevents) {
        unsigned i = w->session.nevents++;
        w->chains[i] = session->max_frames > 0;
        w->session.event[i] = session->event[i];
        announce_attr(w, i);
    }
}

static void add_mark(struct mkperf_perfdata *w, const struct mkperf_mark *m)
{
    char text[TEXT_ROOM];

    if (!w->has_marks) {
        w->has_marks = true;
        announce_attr(w, PERFDATA_MARK_ATTR);
    }
    /* The text of a mark: "begin 7 request", "end 7 request", "point 0 ready". */
    snprintf(text, sizeof text, "%s %u %s", mkperf_mark_names[m->kind], m->id, m->name);
    size_t length = strlen(text), raw = (4 + length + 1 + 7) / 8 * 8 - 4;
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    mkperf_put64(&c, MKPERF_PERFDATA_MARK);
    mkperf_put64(&c, 0);
    mkperf_put32(&c, m->pd + 1);
    mkperf_put32(&c, m->pd + 1);
    /* finish_round has the reason. */
    mkperf_put64(&c, m->time_ns > w->round_ns ? m->time_ns : w->round_ns);
    mkperf_put64(&c, 0);
    mkperf_put64(&c, 1);
    mkperf_put32(&c, (uint32_t)raw);
    mkperf_put_padded(&c, text, length, raw);
    perfdata_end(&w->out, c);
}

static void add_lost(struct mkperf_perfdata *w, const struct mkperf_lost *lost)
{
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_LOST_SAMPLES, 0);

    mkperf_put64(&c, lost->samples);
    /* Time 0: the loss may be older than samples that are in the file already. */
    perfdata_end_with_id(&w->out, c, UINT32_MAX, lost->where, 0, lost->core);
}

/*
 * Ends a round, if it is due. A round promises perf that no later record is older than the newest one
 * before the previous round. While samples arrive in one order, this is always true. Otherwise only
 * each core's samples are in order, and the oldest one that can follow is of the core that is furthest
 * behind. A core that is silent for too long is not waited for, because perf holds all records of two
 * rounds in memory.
 */
static void finish_round(struct mkperf_perfdata *w)
{
    uint64_t bytes = mkperf_outfile_taken(&w->out) - w->round_taken, behind = UINT64_MAX;

    for (unsigned i = 0; i < w->ncores; i++) {
        const struct perfdata_core *core = &w->cores[i];
        if (w->session.nevents != 0 && core->sample_ns < behind) {
            behind = core->sample_ns;
        }
        if ((w->session.sched || core->event_ns != 0) && core->event_ns < behind) {
            behind = core->event_ns;
        }
    }
    if (w->session.cores == 0 || w->session.cores > w->ncores) {
        behind = 0; /* a core has no sample or event, or the number of cores is unknown */
    }
    if (bytes < ROUND_BYTES || (w->unordered && bytes < ROUND_BYTES_MAX && behind < w->round_ns)) {
        return;
    }
    perfdata_sched_runtimes(w);
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_FINISHED_ROUND, 0);
    perfdata_end(&w->out, c);
    w->round_ns = w->last_ns;
    w->round_taken = mkperf_outfile_taken(&w->out);
}

/* Flushes at the end of a batch, so that the reader of a pipe gets it at once. */
static enum mkperf_status flush_file(struct mkperf_perfdata *w, struct mkperf_error *e)
{
    if (w->began) {
        finish_round(w);
    }
    if (w->began && w->out.stream) {
        mkperf_outfile_flush(&w->out);
    }
    return mkperf_outfile_status(&w->out, e);
}

static enum mkperf_status end_file(struct mkperf_perfdata *w, const struct mkperf_totals *totals,
                                   struct mkperf_error *e)
{
    perfdata_totals_add(&w->head, totals, false, w);
    perfdata_sched_runtimes(w);
    perfdata_kernel_dummy(&w->out, w->last_ns);
    perfdata_compress_end(&w->compressor);
    if (w->out.stream) {
        perfdata_pipe_features(w);
    } else {
        const struct perfdata_compressed counts = {w->out.passed - w->data_offset,
                                                   w->out.written - w->data_offset};
        perfdata_tail_write(&w->out, w->data_offset, &w->head, &counts);
    }
    return mkperf_outfile_finish(&w->out, e);
}

static enum mkperf_status write_item(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    if (item->kind == MKPERF_ITEM_BEGIN) {
        return begin_file(w, item->session, e);
    } else if (item->kind == MKPERF_ITEM_PD) {
        return add_pd(w, item->pd, e);
    } else if (item->kind == MKPERF_ITEM_FLUSH) {
        return flush_file(w, e);
    } else if (item->kind == MKPERF_ITEM_ABANDON) {
        close_file(w);
        return MKPERF_OK;
    }
    MKPERF_TRY(write_start(w, e));
    switch (item->kind) {
    case MKPERF_ITEM_EVENTS:
        add_events(w, item->session);
        break;
    case MKPERF_ITEM_SAMPLE:
        add_sample(w, item->sample);
        break;
    case MKPERF_ITEM_MARK:
        add_mark(w, item->mark);
        break;
    case MKPERF_ITEM_SCHED:
        assert(w->session.sched && item->sched->core < MKPERF_MODEL_CORES);
        assert(item->sched->from == MKPERF_SCHED_NOBODY || known_pd(w, item->sched->from));
        assert(item->sched->kind == MKPERF_SCHED_GAP || known_pd(w, item->sched->to));
        perfdata_sched_add(w, item->sched);
        break;
    case MKPERF_ITEM_READING:
        assert(item->reading->queue < w->session.nqueues);
        assert(item->reading->core < MKPERF_MODEL_CORES);
        perfdata_queue_add(w, item->reading);
        break;
    case MKPERF_ITEM_LOST:
        add_lost(w, item->lost);
        break;
    default:
        return end_file(w, item->totals, e);
    }
    return mkperf_outfile_status(&w->out, e);
}

struct mkperf_sink mkperf_perfdata_sink(struct mkperf_perfdata *w)
{
    return (struct mkperf_sink){.take = write_item, .self = w, .every_pd = true};
}
