/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the sink gets before samples: the session and the PDs.
 *
 * Owns: COMM, MMAP and MMAP2 records, which have a process's name and program, and the announcement
 * of PDs. Called for each record by reader.c and reader_sample.c.
 */

#include "model/pds.h"
#include "reader_internal.h"

enum mkperf_status perfin_fail(struct perfin_reader *r, const char *reason)
{
    return perfin_bad(&r->bytes, r->offset, reason, r->e);
}

enum mkperf_status perfin_pd_of(struct perfin_reader *r, uint32_t pid, uint32_t *id)
{
    int64_t index = perfin_process_of(&r->session, pid);
    struct perfin_process *p;

    if (index < 0) {
        return perfin_fail(r, "more processes than memory or the limit allow");
    }
    *id = (uint32_t)index;
    p = &r->session.process[index];
    if (p->announced) {
        return MKPERF_OK;
    }
    p->announced = true;
    return mkperf_sink_pd(r->sink,
                          &(struct mkperf_pd){.thread = p->thread,
                                              .id = *id,
                                              .name = p->name,
                                              .elf = p->elf,
                                              .build_id = p->build_id,
                                              .parent = p->parent,
                                              .unnamed = p->unnamed,
                                              .profiler = p->profiler,
                                              .scheduling = p->scheduling},
                          r->e);
}

static enum mkperf_status announce_listed(struct perfin_reader *r)
{
    for (uint32_t i = 0, id; i < r->session.nprocesses; i++) {
        if (r->session.process[i].has_thread &&
            perfin_pd_of(r, r->session.process[i].pid, &id) != MKPERF_OK) {
            return r->e->status;
        }
    }
    return MKPERF_OK;
}

/* The names of the PDs that the file's head lists, one per line. */
static char *listed_names(const struct perfin_session *s)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = mkperf_memstream_open(&text, &n);

    for (uint32_t i = 0; i < s->nprocesses; i++) {
        if (s->process[i].has_thread) {
            fprintf(out, "%s\n", s->process[i].name);
        }
    }
    mkperf_memstream_close(out);
    mkperf_printable_lines(text);
    return text;
}

enum mkperf_status perfin_begin(struct perfin_reader *r)
{
    struct perfin_session *s = &r->session;

    if (r->began) {
        return MKPERF_OK;
    }
    r->began = true;
    s->model.pd_names = listed_names(s);
    s->model.sched = r->frame.has_trace && !s->no_sched;
    r->events = s->model.nevents;
    if (mkperf_sink_begin(r->sink, &s->model, r->e) != MKPERF_OK || !r->sink->every_pd) {
        return r->e->status;
    }
    return announce_listed(r);
}

enum mkperf_status perfin_read_comm(struct perfin_reader *r, struct perfin_cursor c)
{
    uint32_t pid = perfin_take32(&c), tid = perfin_take32(&c);
    struct perfin_process *p;
    int64_t index;

    if (c.cut || c.n == 0 || !memchr(c.p, 0, c.n)) {
        return perfin_fail(r, "a COMM record is cut");
    }
    index = pid == tid ? perfin_process_of(&r->session, pid) : -1;
    if (index < 0) {
        return pid == tid ? perfin_fail(r, "more processes than memory or the limit allow")
                          : MKPERF_OK;
    }
    p = &r->session.process[index];
    if (!p->has_thread &&
        r->session.native) { /* the head does not list it, because it came later */
        mkperf_pds_other_thread((const char *)c.p, &p->thread);
    }
    if (!p->announced) {
        perfin_set_text(&p->name, c.p, c.n);
    }
    return MKPERF_OK;
}

/* Whether a map is a program's. [heap] and //anon have no path. */
static bool is_program(const char *path)
{
    return path[0] == '/' && path[1] != '/';
}

/* Sets the program of a process, unless it has one or the sink knows the PD. */
static enum mkperf_status set_program(struct perfin_reader *r, uint32_t pid, const char *path,
                                      size_t n, const struct mkperf_build_id *id)
{
    int64_t index = perfin_process_of(&r->session, pid);

    if (index < 0) {
        return perfin_fail(r, "more processes than memory or the limit allow");
    }
    struct perfin_process *p = &r->session.process[index];
    if (p->announced || p->elf) {
        return MKPERF_OK;
    }
    if (id->n != 0) {
        p->build_id = *id;
    }
    perfin_set_text(&p->elf, path, n);
    return MKPERF_OK;
}

/* The build id at p in an MMAP2 record: its size, three bytes, the id. Other records have device and inode
 * there. */
static struct mkperf_build_id map_build_id(const uint8_t *p, unsigned misc)
{
    struct mkperf_build_id id = {.n = 0};

    if (p && misc & PERF_RECORD_MISC_MMAP_BUILD_ID && p[0] <= MKPERF_BUILD_ID_BYTES) {
        id.n = p[0];
        memcpy(id.byte, p + 4, id.n);
    }
    return id;
}

enum mkperf_status perfin_read_map(struct perfin_reader *r, struct perfin_cursor c, bool mmap2,
                                   unsigned misc)
{
    uint32_t pid = perfin_take32(&c), owner = pid - 1;
    uint64_t addr;

    perfin_take(&c, 4);
    addr = perfin_take64(&c);
    perfin_take(&c, 16);
    struct mkperf_build_id id = map_build_id(mmap2 ? perfin_take(&c, 24 + 8) : NULL, misc);
    if (c.cut || c.n == 0 || !memchr(c.p, 0, c.n)) {
        return perfin_fail(r, "an MMAP record is cut");
    }
    const char *path = (const char *)c.p;
    if (!is_program(path)) {
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
    return set_program(r, owner + 1, path, c.n, &id);
}
