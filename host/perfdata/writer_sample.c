/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of address spaces, of samples and marks, and of events that the head of a perf.data file lacks: those of a
 * later session.
 *
 * Owns: the layout of MMAP, MMAP2, COMM, SAMPLE, HEADER_ATTR and EVENT_UPDATE records, and the build-id table. perf accepts
 * HEADER_ATTR and EVENT_UPDATE within the data, so the file of a killed writer has them too. A pipe has all its events in this form.
 * Called by the writer, when everything that a record names is in the file.
 */
#include "writer_internal.h"

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

void perfdata_build_id_entry(FILE *f, unsigned misc, const char *path,
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
    perfdata_sample_id(&c, 0, 0, ns, 0);
    perfdata_end(out, c);
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

/*
 * Adds only the build id of the map above. If our kernel's ELF had an entry, perf 6.1 would look for
 * its build id everywhere except in the file, and warn. If it were listed as a user's file, perf would
 * not resolve its addresses.
 */
void perfdata_kernel_build_ids(struct mkperf_perfdata *w)
{
    perfdata_build_id_entry(w->build_ids, PERF_RECORD_MISC_KERNEL, DUMMY_NAME, &dummy_build_id);
}

/*
 * Maps exactly .text of our kernel. When perf 6.1 loads the symbols, it moves the first map of a
 * kernel's ELF to .text, and makes maps of its own for the other sections. The addresses of a map of
 * another segment would therefore get wrong names. Until perf has read an address in .text, addresses
 * in other sections have no names.
 */
void perfdata_kernel_maps(struct mkperf_perfdata *w)
{
    struct mkperf_segment text;

    if (w->kernel == NULL || !mkperf_module_text(w->kernel, &text)) {
        return;
    }
    kernel_map(&w->out, text, mkperf_module_path(w->kernel), 0);
}

void perfdata_kernel_dummy(struct mkperf_outfile *out, uint64_t ns)
{
    struct mkperf_segment page = {.vaddr = DUMMY_KERNEL, .size = PAGE, .offset = DUMMY_KERNEL};

    kernel_map(out, page, DUMMY_NAME "_text", ns);
}

void perfdata_pd_comm(struct mkperf_perfdata *w, uint32_t pid, const char *name)
{
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_COMM, 0);
    mkperf_put32(&c, pid);
    mkperf_put32(&c, pid);
    perfdata_put_text(&c, name, strnlen(name, PAGE));
    perfdata_sample_id(&c, pid, pid, 0, 0);
    perfdata_end(&w->out, c);
}

void perfdata_pd_map(struct mkperf_perfdata *w, uint32_t pd, uint32_t in)
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
        perfdata_sample_id(&c, pid, pid, 0, 0);
        perfdata_end(&w->out, c);
    }
}

enum { NAME_ROOM = MKPERF_MODEL_NAME + 8, TEXT_ROOM = 128 };

/* Writes an attribute with the id that its samples have. trailers: also with the id of trailers, 1. */
static void put_attr_record(struct mkperf_perfdata *w, const uint8_t *attr, uint64_t id,
                            bool trailers)
{
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_HEADER_ATTR, 0);
    mkperf_put_data(&c, attr, PERF_ATTR_BYTES);
    mkperf_put64(&c, id);
    if (trailers) {
        mkperf_put64(&c, 1);
    }
    perfdata_end(&w->out, c);
}

/* Writes an attribute, and the name that perf shows for it. */
static void announce_attr(struct mkperf_perfdata *w, const uint8_t *attr, uint64_t id,
                          const char *name)
{
    put_attr_record(w, attr, id, false);
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_EVENT_UPDATE, 0);
    mkperf_put64(&c, PERF_EVENT_UPDATE_NAME);
    mkperf_put64(&c, id);
    perfdata_put_text(&c, name, strlen(name));
    perfdata_end(&w->out, c);
}

void perfdata_event_announce(struct mkperf_perfdata *w, unsigned i)
{
    const struct mkperf_event *event = &w->session.event[i];
    uint8_t attr[PERF_ATTR_BYTES];
    struct mkperf_put c = {attr};
    char name[NAME_ROOM];

    perfdata_event_name(event, name, sizeof name);
    perfdata_put_attr(&c, w, i);
    announce_attr(w, attr, i + 1, name);
}

void perfdata_trace_announce(struct mkperf_perfdata *w)
{
    bool trailers = w->session.nevents == 0; /* otherwise event 0 has the id of trailers */
    uint8_t attr[PERF_ATTR_BYTES];

    for (unsigned i = 0; i < perfdata_trace_points(w); i++) {
        struct mkperf_put c = {attr};
        perfdata_put_trace_attr(&c, (enum mkperf_trace_point)i);
        put_attr_record(w, attr, MKPERF_TRACE_ID + i, trailers && i == 0);
    }
}

enum mkperf_status perfdata_events_add(struct mkperf_perfdata *w,
                                       const struct mkperf_session *session, struct mkperf_error *e)
{
    bool chains = session->max_frames > 0;

    if (session->nevents < w->session.nevents || session->nevents > MKPERF_MODEL_EVENTS) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "a session of %u events", session->nevents);
    }
    unsigned before = w->session.nevents;
    w->session.nevents = session->nevents;
    for (unsigned i = before; i < session->nevents; i++) {
        w->chains[i] = chains;
        w->session.event[i] = session->event[i];
    }
    for (unsigned i = before; i < session->nevents; i++) {
        perfdata_event_announce(w, i);
    }
    return mkperf_outfile_status(&w->out, e);
}

/* Writes the text of a mark: "begin 7 request", "end 7 request", "point 0 ready". */
static size_t mark_text(const struct mkperf_mark *m, char *text, size_t room)
{
    static const char *const kinds[] = {
        [MKPERF_MARK_POINT] = "point", [MKPERF_MARK_BEGIN] = "begin", [MKPERF_MARK_END] = "end"};
    int n = snprintf(text, room, "%s %u %s", kinds[m->kind], m->id, m->name);

    return n < (int)room ? (size_t)n : room - 1;
}

void perfdata_mark_add(struct mkperf_perfdata *w, const struct mkperf_mark *m)
{
    char text[TEXT_ROOM];
    size_t length = mark_text(m, text, sizeof text), raw = (4 + length + 1 + 7) / 8 * 8 - 4;

    if (!w->has_marks) {
        uint8_t attr[PERF_ATTR_BYTES];
        struct mkperf_put c = {attr};

        perfdata_put_mark_attr(&c);
        w->has_marks = true;
        announce_attr(w, attr, MKPERF_PERFDATA_MARK, "mkperf:mark");
    }
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

static uint64_t kernel_address(uint64_t addr)
{
    return addr >= (uint64_t)-4096 ? 0 : addr; /* perf would take it for a context marker */
}

/* Returns what the user code of samples is, by mkperf_guest_letter. */
static unsigned user_mode(char guest)
{
    return guest == 'g'   ? PERF_RECORD_MISC_GUEST_KERNEL
           : guest == 'u' ? PERF_RECORD_MISC_GUEST_USER
                          : PERF_RECORD_MISC_USER;
}

void perfdata_sample_add(struct mkperf_perfdata *w, const struct mkperf_sample *s)
{
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL;
    char guest = mkperf_guest_letter(s->flags);
    /* The number of events in the group of the sample's event whose values are in the sample. */
    unsigned leader, group = 0;

    for (unsigned i = s->event;
         i < w->session.nevents && perfdata_is_read(&w->session, i, &leader) && leader == s->event;
         i++) {
        group++;
    }
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_SAMPLE,
                                         kernel ? PERF_RECORD_MISC_KERNEL : user_mode(guest));
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
