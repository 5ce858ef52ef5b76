/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data writer: the functions of its sink, losses and rounds.
 *
 * Owns: struct mkperf_perfdata. The head is written before the first record, when all PDs that are
 * known from the start have been announced.
 */

#include "writer_internal.h"

#include <unistd.h>

enum { ROUND_BYTES = 64 * 1024, ROUND_BYTES_MAX = 64 * 1024 * 1024 };

enum mkperf_status mkperf_perfdata_new(const char *path, struct mkperf_symbols *symbols,
                                       struct mkperf_perfdata **out, struct mkperf_error *e)
{
    struct mkperf_perfdata *w = mkperf_xcalloc(1, sizeof *w);

    w->symbols = symbols;
    if (mkperf_outfile_open_private(&w->out, path, e) != MKPERF_OK) {
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
    if (w->began) {
        mkperf_outfile_flush(&w->out);
    }
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
    free(w->core_ns);
    free(w->cores);
    free(w);
}

static enum mkperf_status begin_file(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    w->session = *session;
    w->head_events = session->nevents;
    /* Samples are in order of time, and events are in order by core, but the two are not in one order. */
    w->unordered = (session->sched || session->nqueues != 0) &&
                   (session->nevents != 0 || session->cores > 1);
    if ((session->nevents == 0 && !session->sched) || session->nevents > MKPERF_MODEL_EVENTS) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "a session of %u events", session->nevents);
    }
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
    perfdata_pd_comm(w, id + 1, w->pd[id].name);
    perfdata_pd_map(w, id, id);
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
    if (w->build_ids == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "%s: not begun, or failed", w->out.path);
    }
    perfdata_kernel_build_ids(w);
    perfdata_head_close(w);
    if (w->level != 0) {
        perfdata_compressed_add(&w->head, w->level);
    }
    if (w->out.stream) {
        /* The head of a pipe: its header, events and features as records. */
        uint8_t header[PERF_PIPE_HEADER_BYTES];
        struct mkperf_put c = {header};
        mkperf_put_padded(&c, "PERFILE2", 8, 8);
        mkperf_put64(&c, PERF_PIPE_HEADER_BYTES);
        mkperf_outfile_write(&w->out, header, sizeof header);
        for (unsigned i = 0; i < w->session.nevents; i++) {
            perfdata_event_announce(w, i);
        }
        perfdata_trace_announce(w);
        perfdata_pipe_features(w);
    } else {
        perfdata_head_write(w);
    }
    if (w->level != 0) {
        perfdata_compress_begin(&w->compressor, &w->out, w->level);
    }
    perfdata_kernel_maps(w);
    w->began = w->out.error.status == MKPERF_OK;
    for (uint32_t i = 0; i < w->npds; i++) {
        if (known_pd(w, i)) {
            introduce_pd(w, i);
        }
    }
    mkperf_outfile_flush(&w->out); /* so that the file of a killed writer can be recovered */
    return mkperf_outfile_status(&w->out, e);
}

/* Makes room for a PD, which may be announced before smaller ids. Returns NULL with *e if that
 * failed. */
static struct perfdata_pd *room_for(struct mkperf_perfdata *w, uint32_t id, const char *name,
                                    struct mkperf_error *e)
{
    uint32_t n = id < w->npds ? w->npds : id + 1;

    if (id >= MKPERF_PERFDATA_PDS) {
        mkperf_error_set(e, MKPERF_ERR_INPUT,
                         "%s: process %u: perf.data has addresses for %u; convert --to another "
                         "format has no limit",
                         name, id + 1, (unsigned)MKPERF_PERFDATA_PDS);
        return NULL;
    }
    MKPERF_GROW(w->pd, w->pd_room, n);
    w->npds = n;
    return &w->pd[id];
}

static enum mkperf_status add_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;
    struct perfdata_pd *added = room_for(w, pd->id, pd->name, e);

    if (added == NULL) {
        return e->status;
    }
    if (added->name != NULL) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "PD %s is announced twice", pd->name);
    }
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
    perfdata_write_pd(w, pd, added->module);
    if (added->module != NULL) {
        perfdata_build_id_entry(w->build_ids, PERF_RECORD_MISC_USER,
                                mkperf_module_path(added->module),
                                mkperf_module_build_id(added->module));
    }
    return MKPERF_OK;
}

/* Maps the ELF of PD `pd` for samples of PD `in`, once, so that perf finds its callers. */
static enum mkperf_status map_foreign(struct mkperf_perfdata *w, uint32_t pd, uint32_t in,
                                      struct mkperf_error *e)
{
    struct perfdata_pd *to = &w->pd[in];

    if (!known_pd(w, pd)) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "a caller of a PD that was not announced");
    }
    if (to->mapped == NULL) {
        to->mapped = mkperf_xcalloc(1, MKPERF_PERFDATA_PDS / 8 + 1);
    }
    if (to->mapped[pd / 8] >> pd % 8 & 1) {
        return MKPERF_OK;
    }
    to->mapped[pd / 8] |= (uint8_t)(1 << pd % 8);
    perfdata_pd_map(w, pd, in);
    return MKPERF_OK;
}

/* Makes room for a core. Returns false with *e if its number is too large. */
static bool room_for_core(struct mkperf_perfdata *w, uint32_t core, struct mkperf_error *e)
{
    if (core >= MKPERF_MODEL_CORES) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "a sample of core %u: there can be %d cores", core,
                         MKPERF_MODEL_CORES);
        return false;
    }
    MKPERF_GROW(w->core_ns, w->core_room, (size_t)core + 1);
    w->ncores = core + 1;
    return true;
}

static enum mkperf_status add_sample(void *self, const struct mkperf_sample *s,
                                     struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    MKPERF_TRY(write_start(w, e));
    if (!known_pd(w, s->pd) || s->event >= w->session.nevents) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED,
                                "a sample of a PD or event that was not announced");
    }
    if (s->core >= w->ncores && !room_for_core(w, s->core, e)) {
        return e->status;
    }
    for (unsigned i = 0; i < s->nreads; i++) {
        if (s->reads[i].event >= w->session.nevents) {
            return mkperf_error_set(e, MKPERF_ERR_FAILED, "a count of an event that is not there");
        }
    }
    for (unsigned i = 0; i < s->callers->n; i++) {
        uint32_t pd = s->callers->caller[i].pd;
        if (pd != s->pd && map_foreign(w, pd, s->pd, e) != MKPERF_OK) {
            return e->status;
        }
    }
    w->core_ns[s->core] = s->time_ns;
    w->unordered |= s->time_ns < w->last_ns;
    w->last_ns = s->time_ns > w->last_ns ? s->time_ns : w->last_ns;
    perfdata_sample_add(w, s);
    return mkperf_outfile_status(&w->out, e);
}

static enum mkperf_status add_events(void *self, const struct mkperf_session *session,
                                     struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    MKPERF_TRY(write_start(w, e));
    return perfdata_events_add(w, session, e);
}

static enum mkperf_status add_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    MKPERF_TRY(write_start(w, e));
    perfdata_mark_add(w, m);
    return mkperf_outfile_status(&w->out, e);
}

static enum mkperf_status add_sched(void *self, const struct mkperf_sched *s,
                                    struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    MKPERF_TRY(write_start(w, e));
    if (!w->session.sched || s->core >= MKPERF_MODEL_CORES ||
        (s->from != MKPERF_SCHED_NOBODY && !known_pd(w, s->from)) ||
        (s->kind != MKPERF_SCHED_GAP && !known_pd(w, s->to))) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED,
                                "a scheduling event of a PD or session that was not announced");
    }
    perfdata_sched_add(w, s);
    return mkperf_outfile_status(&w->out, e);
}

static enum mkperf_status add_reading(void *self, const struct mkperf_queue_reading *r,
                                      struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    MKPERF_TRY(write_start(w, e));
    if (r->queue >= w->session.nqueues || r->core >= MKPERF_MODEL_CORES) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "a reading of a queue without description");
    }
    perfdata_queue_add(w, r);
    return mkperf_outfile_status(&w->out, e);
}

static enum mkperf_status add_lost(void *self, const struct mkperf_lost *lost,
                                   struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    MKPERF_TRY(write_start(w, e));
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_LOST_SAMPLES, 0);
    mkperf_put64(&c, lost->samples);
    /* Time 0: the loss may be older than samples that are in the file already. */
    perfdata_sample_id(&c, UINT32_MAX, lost->where, 0, lost->core);
    perfdata_end(&w->out, c);
    return mkperf_outfile_status(&w->out, e);
}

/* Returns the time of the core that is furthest behind, or 0 if a core has no sample or event, or the number of cores
 * is unknown. */
static uint64_t furthest_behind(const struct mkperf_perfdata *w)
{
    uint64_t oldest = UINT64_MAX;

    if (w->session.cores == 0 || (w->session.nevents != 0 && w->session.cores > w->ncores) ||
        (w->session.sched && w->session.cores > w->cores_known)) {
        return 0;
    }
    for (unsigned i = 0; w->session.nevents != 0 && i < w->ncores; i++) {
        oldest = w->core_ns[i] < oldest ? w->core_ns[i] : oldest;
    }
    for (unsigned i = 0; i < w->cores_known; i++) {
        oldest = w->cores[i].last_ns < oldest ? w->cores[i].last_ns : oldest;
    }
    return oldest;
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
    uint64_t bytes = mkperf_outfile_taken(&w->out) - w->round_taken;

    if (bytes < ROUND_BYTES ||
        (w->unordered && bytes < ROUND_BYTES_MAX && furthest_behind(w) < w->round_ns)) {
        return;
    }
    perfdata_sched_runtimes(w);
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_FINISHED_ROUND, 0);
    perfdata_end(&w->out, c);
    w->round_ns = w->last_ns;
    w->round_taken = mkperf_outfile_taken(&w->out);
}

/* Flushes at the end of a batch, so that the reader of a pipe gets it at once. */
static enum mkperf_status flush_file(void *self, struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    if (w->began) {
        finish_round(w);
    }
    if (w->began && w->out.stream) {
        mkperf_outfile_flush(&w->out);
    }
    return mkperf_outfile_status(&w->out, e);
}

static enum mkperf_status end_file(void *self, const struct mkperf_totals *totals,
                                   struct mkperf_error *e)
{
    struct mkperf_perfdata *w = self;

    MKPERF_TRY(write_start(w, e));
    perfdata_totals_add(&w->head, totals, false, w);
    perfdata_sched_runtimes(w);
    perfdata_kernel_dummy(&w->out, w->last_ns);
    perfdata_compress_end(&w->compressor);
    if (w->out.stream) {
        perfdata_pipe_features(w);
    } else {
        perfdata_tail_write(&w->out, w->data_offset, &w->head, &w->compressor.counts);
    }
    return mkperf_outfile_finish(&w->out, e);
}

static void abandon_file(void *self)
{
    close_file(self);
}

struct mkperf_sink mkperf_perfdata_sink(struct mkperf_perfdata *w)
{
    static const struct mkperf_sink_ops ops = {
        .name = "perf.data",
        .reads = true,
        .begin = begin_file,
        .pd = add_pd,
        .events = add_events,
        .sample = add_sample,
        .mark = add_mark,
        .sched = add_sched,
        .queue_reading = add_reading,
        .lost = add_lost,
        .flush = flush_file,
        .end = end_file,
        .abandon = abandon_file,
    };

    return (struct mkperf_sink){.ops = &ops, .self = w, .every_pd = true};
}
