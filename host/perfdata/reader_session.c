/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session of a perf.data file: its processes, and what perf's own features describe.
 *
 * Owns: the model's session and PDs while a file is read, every string in them, and their announcement to the sink.
 */
#include "perfdata_internal.h"

#include "model/pds.h"

void perfin_set_text(const char **to, const void *p, size_t n)
{
    free((char *)*to);
    *to = mkperf_xprintf("%.*s", (int)n, (const char *)p);
}

struct perfin_process *perfin_process_of(struct perfin_session *s, uint32_t pid)
{
    char name[32];

    if (s->last < s->nprocesses && s->process[s->last].pid == pid) {
        return &s->process[s->last];
    }
    for (uint32_t i = 0; i < s->nprocesses; i++) {
        if (s->process[i].pid == pid) {
            s->last = i;
            return &s->process[i];
        }
    }
    if (s->nprocesses == PERFIN_PROCESSES_MAX) {
        return NULL;
    }
    MKPERF_GROW(s->process, s->room, (size_t)s->nprocesses + 1);
    snprintf(name, sizeof name, ":%" PRId32, (int32_t)pid);
    s->process[s->nprocesses] = (struct perfin_process){
        .pid = pid, .pd = {.thread = pid, .id = s->nprocesses, .name = mkperf_xstrdup(name)}};
    return &s->process[s->nprocesses++];
}

/* Takes a string of perf: its length with padding, then the text. False: it is cut. */
static bool take_string(struct perfin_cursor *c, const char **out)
{
    uint32_t length = perfin_take32(c);
    const uint8_t *p = c->cut ? NULL : perfin_take(c, length);

    if (p != NULL) {
        perfin_set_text(out, p, length);
    }
    return p != NULL;
}

static void read_string(struct perfin_reader *r, unsigned bit, const char **out)
{
    struct perfin_cursor c = perfin_feature(r, bit);

    take_string(&c, out);
}

/* Reads the command line: its words, joined by blanks. */
static void read_command(struct perfin_reader *r)
{
    struct perfin_cursor c = perfin_feature(r, HEADER_CMDLINE);
    const char *word = NULL;
    char *text = NULL;
    size_t size;
    FILE *joined = mkperf_memstream_open(&text, &size);

    for (uint32_t i = 0, words = perfin_take32(&c); i < words && take_string(&c, &word); i++) {
        fprintf(joined, "%s%s", i ? " " : "", word);
    }
    mkperf_memstream_close(joined);
    if (size > 0) {
        perfin_set_text(&r->session.model.command, text, size);
    }
    free(text);
    free((char *)word);
}

static void set_event_name(struct mkperf_event *event, const char *name)
{
    snprintf(event->name, sizeof event->name, "%s", name);
}

static void read_event_names(struct perfin_reader *r)
{
    struct perfin_cursor c = perfin_feature(r, HEADER_EVENT_DESC);
    struct mkperf_session *s = &r->session.model;
    const char *name = NULL;
    uint32_t events = perfin_take32(&c), attr = perfin_take32(&c);
    for (uint32_t i = 0; i < events && i < s->nevents && !c.cut; i++) {
        perfin_take(&c, attr);
        uint32_t ids = perfin_take32(&c);
        if (take_string(&c, &name)) {
            set_event_name(&s->event[i], name);
        }
        perfin_take(&c, 8 * (size_t)ids);
    }
    free((char *)name);
}

/* Returns the event of an attribute, with the name that perf shows for it. */
static struct mkperf_event event_of(const struct perfin_attr *a)
{
    const struct perfdata_generic *known = perfdata_generic;
    bool frequency = a->flags & PERF_ATTR_FREQ;
    struct mkperf_event event = {
        .code = (uint32_t)a->config,
        .user = !(a->flags & PERF_ATTR_EXCLUDE_USER),
        .kernel = !(a->flags & PERF_ATTR_EXCLUDE_KERNEL),
        /* perf excludes guests by default, so only the event's name shows whether the user asked
         * for it. */
        .guest = a->flags & PERF_ATTR_EXCLUDE_HOST,
        .period = frequency ? 0 : a->period,
        .frequency = frequency ? (uint32_t)a->period : 0,
    };

    while (known->name != NULL && (known->type != a->type || known->config != a->config)) {
        known++;
    }
    if (known->name != NULL && a->config != PERF_COUNT_SW_BPF_OUTPUT) {
        set_event_name(&event, known->name);
    } else if (a->type == PERF_TYPE_RAW) {
        snprintf(event.name, sizeof event.name, "r%" PRIx64, a->config);
    } else {
        snprintf(event.name, sizeof event.name, "event-%" PRIu64 ":%" PRIu64, a->type, a->config);
    }
    return event;
}

void perfin_read_perf_features(struct perfin_reader *r)
{
    struct mkperf_session *s = &r->session.model;
    const char *arch = NULL;

    s->nevents = r->frame.nattrs;
    for (unsigned i = 0; i < s->nevents; i++) {
        s->event[i] = event_of(&r->frame.attr[i]);
        s->max_frames = r->frame.attr[i].max_stack;
    }
    read_event_names(r);
    struct perfin_cursor cores = perfin_feature(r, HEADER_NRCPUS);
    s->cores = perfin_take32(&cores);
    read_string(r, HEADER_HOSTNAME, &s->platform);
    read_string(r, HEADER_CPUDESC, &s->cpu);
    read_command(r);
    read_string(r, HEADER_ARCH, &arch);
    snprintf(s->arch, MKPERF_ARCH_BYTES, "%s", arch ? arch : "");
    free((char *)arch);
}

void perfin_free_session(struct perfin_session *s)
{
    mkperf_session_free(&s->model);
    for (uint32_t i = 0; i < s->nprocesses; i++) {
        mkperf_shape_free(mkperf_pd_rows, &s->process[i].pd);
    }
    free(s->process);
    free(s->interactions);
    free(s->counts);
}

/*
 * What the sink gets before samples: the session and the PDs. COMM, MMAP and MMAP2 records have a process's name and
 * program. reader.c and reader_sample.c call this for each record.
 */

enum mkperf_status perfin_fail(struct perfin_reader *r, const char *reason)
{
    return perfin_bad(&r->bytes, r->offset, reason, r->e);
}

/* Returns the process of a pid (a new pid gets a new one); NULL with the reason in r->e. */
static struct perfin_process *find_process(struct perfin_reader *r, uint32_t pid)
{
    struct perfin_process *p = perfin_process_of(&r->session, pid);

    if (p == NULL) {
        perfin_fail(r, "more processes than memory or the limit allow");
    }
    return p;
}

enum mkperf_status perfin_pd_of(struct perfin_reader *r, uint32_t pid, uint32_t *id)
{
    struct perfin_process *p = find_process(r, pid);

    if (p == NULL) {
        return r->e->status;
    }
    *id = p->pd.id;
    if (p->announced) {
        return MKPERF_OK;
    }
    p->announced = true;
    return mkperf_sink_pd(r->sink, &p->pd, r->e);
}

enum mkperf_status perfin_begin(struct perfin_reader *r)
{
    struct perfin_session *s = &r->session;

    if (r->began) {
        return MKPERF_OK;
    }
    r->began = true;
    /* The names of the PDs that the file's head lists are one per line. */
    char *text = NULL;
    size_t n = 0;
    FILE *out = mkperf_memstream_open(&text, &n);

    for (uint32_t i = 0; i < s->nprocesses; i++) {
        if (s->process[i].has_thread) {
            fprintf(out, "%s\n", s->process[i].pd.name);
        }
    }
    mkperf_memstream_close(out);
    mkperf_printable_lines(text);
    s->model.pd_names = text;
    s->model.sched = r->frame.has_trace && !s->no_sched;
    r->events = s->model.nevents;
    if (mkperf_sink_begin(r->sink, &s->model, r->e) != MKPERF_OK || !r->sink->every_pd) {
        return r->e->status;
    }
    for (uint32_t i = 0, id; i < r->session.nprocesses; i++) {
        if (r->session.process[i].has_thread &&
            perfin_pd_of(r, r->session.process[i].pid, &id) != MKPERF_OK) {
            return r->e->status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status perfin_read_attr(struct perfin_reader *r, struct perfin_cursor c)
{
    struct mkperf_session *s = &r->session.model;

    if (!perfin_more_attrs(&r->frame, c.p, c.n)) {
        return perfin_fail(r, "a HEADER_ATTR record is cut, or of one event too many");
    }
    for (; s->nevents < r->frame.nattrs; s->nevents++) {
        s->event[s->nevents] = event_of(&r->frame.attr[s->nevents]);
    }
    return MKPERF_OK;
}

enum mkperf_status perfin_read_event_name(struct perfin_reader *r, struct perfin_cursor c)
{
    uint64_t what = perfin_take64(&c);
    const struct perfin_id *id = perfin_find_id(&r->frame, perfin_take64(&c));

    if (what != PERF_EVENT_UPDATE_NAME || id == NULL || id->event >= PERFDATA_MARK_ATTR) {
        return MKPERF_OK;
    }
    if (c.cut || c.n == 0 || !memchr(c.p, 0, c.n)) {
        return perfin_fail(r, "an EVENT_UPDATE record is cut");
    }
    if (id->event < r->session.described || id->event >= r->session.model.nevents) {
        return MKPERF_OK;
    }
    struct mkperf_event *event = &r->session.model.event[id->event];
    set_event_name(event, (const char *)c.p);
    char *modes = strrchr(event->name, ':');
    event->host = modes != NULL && strchr(modes, 'H') != NULL && !event->guest;
    if (modes != NULL && strcmp(modes, mkperf_event_modes(event)) == 0) {
        *modes = '\0'; /* they are shown behind the name again */
    } else {
        event->host = false;
    }
    return MKPERF_OK;
}

enum mkperf_status perfin_read_comm(struct perfin_reader *r, struct perfin_cursor c)
{
    uint32_t pid = perfin_take32(&c), tid = perfin_take32(&c);
    struct perfin_process *p;

    if (c.cut || c.n == 0 || !memchr(c.p, 0, c.n)) {
        return perfin_fail(r, "a COMM record is cut");
    }
    if (pid != tid) {
        return MKPERF_OK;
    }
    if ((p = find_process(r, pid)) == NULL) {
        return r->e->status;
    }
    if (!p->has_thread &&
        r->session.native) { /* the head does not list it, because it was announced later */
        mkperf_pds_other_thread((const char *)c.p, &p->pd.thread);
    }
    if (!p->announced) {
        perfin_set_text(&p->pd.name, c.p, c.n);
    }
    return MKPERF_OK;
}

enum mkperf_status perfin_read_map(struct perfin_reader *r, struct perfin_cursor c, bool mmap2,
                                   unsigned misc)
{
    uint32_t pid = perfin_take32(&c), owner = pid - 1;
    uint64_t addr;

    perfin_take(&c, 4);
    addr = perfin_take64(&c);
    perfin_take(&c, 16);
    /* The size of the build id, three bytes, and the id. Other records have device and inode there. */
    const uint8_t *id = mmap2 ? perfin_take(&c, 24 + 8) : NULL;
    if (c.cut || c.n == 0 || !memchr(c.p, 0, c.n)) {
        return perfin_fail(r, "an MMAP record is cut");
    }
    const char *path = (const char *)c.p;
    if (path[0] != '/' || path[1] == '/') { /* no program's: [heap] and //anon have no path */
        return MKPERF_OK;
    }
    if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL || pid == UINT32_MAX) {
        if (r->session.model.kernel_elf == NULL) {
            perfin_set_text(&r->session.model.kernel_elf, path, c.n);
        }
        return MKPERF_OK;
    }
    if (r->session.native) {
        mkperf_perfdata_unslid(&owner, addr);
    }
    struct perfin_process *p = find_process(r, owner + 1);

    if (p == NULL) {
        return r->e->status;
    }
    if (p->announced || p->pd.elf) {
        return MKPERF_OK; /* the sink knows the PD, or it has a program */
    }
    if (id != NULL && misc & PERF_RECORD_MISC_MMAP_BUILD_ID && id[0] != 0 &&
        id[0] <= MKPERF_BUILD_ID_BYTES) {
        p->pd.build_id = (struct mkperf_build_id){.n = id[0]};
        memcpy(p->pd.build_id.byte, id + 4, id[0]);
    }
    perfin_set_text(&p->pd.elf, path, c.n);
    return MKPERF_OK;
}
