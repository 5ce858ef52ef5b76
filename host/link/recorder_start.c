/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the beginning of a recording, see recorder.h: the connection, the image's list of programs,
 * Configure and Start; and the continuation after a broken link.
 *
 * After a broken link there are three cases. If the target has the same boot and session, the session
 * has continued, and sample numbers show what did not arrive. After another boot, a new session continues
 * in the same file, at a later time. A session that does not run any more has ended.
 */
#include "recorder.h"

#include "pmu/events.h"

enum mkperf_status mkperf_recorder_connect(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_stamp_tag};
    struct mkperf_stream *s = r->stream;
    bool more = true;

    MKPERF_TRY(mkperf_peer_connect(&r->link, e));
    /* Fetches the image's list of programs in parts. A target that refuses has no list. */
    while (more && s->hello.stamp_bytes != 0 && !mkperf_stream_stamp_whole(s)) {
        uint32_t had = s->names.have;
        m.msg.get_stamp.offset = had;
        if (mkperf_recorder_ask(r, &m, "GetStamp", e) == MKPERF_OK) {
            more = s->names.have != had; /* the reason is reported when names are settled */
            continue;
        }
        /* The parts that have arrived remain valid, unless the target has another image now. */
        r->breaks++;
        if (e->status != MKPERF_ERR_LINK || mkperf_peer_reconnect(&r->link, e) != MKPERF_OK) {
            return e->status;
        }
    }
    MKPERF_TRY(mkperf_stream_settle(s, e));
    mkperf_recorder_keep_elfs(r);
    return MKPERF_OK;
}

void mkperf_recorder_keep_elfs(struct mkperf_recorder *r)
{
    uint32_t npds = r->pds->n;
    struct mkperf_session session = {.nevents = 0};
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_module *kernel = NULL, *elf[MKPERF_MAX_PDS + 1];
    size_t n = 0;

    if (r->perfdata == NULL || r->options.keep_no_elfs) {
        return;
    }
    char *directory = mkperf_elf_cache_directory();
    mkperf_pds_describe(r->pds, &session);
    if (session.kernel_elf != NULL) {
        (void)mkperf_symbols_module(r->symbols, session.kernel_elf, &kernel, &e);
    }
    e.status = MKPERF_OK; /* a kernel that cannot be opened has no copy */
    for (uint32_t i = 0; i <= npds; i++) {
        elf[n] = i < npds ? r->pds->module[i] : kernel;
        n += elf[n] != NULL;
    }
    if (n != 0 && directory == NULL) {
        mkperf_error_set(&e, MKPERF_ERR_OUTPUT, "neither HOME nor PERF_BUILDID_DIR is set");
    } else if (n != 0) {
        (void)mkperf_elf_cache_keep(directory, elf, n, MKPERF_ELF_CACHE_BYTES, &e);
    }
    if (e.status != MKPERF_OK && r->warn != NULL) {
        char *text =
            mkperf_xprintf("an ELF was not kept: %s; once its program is built again, this "
                           "recording has no names for it (-N keeps none)",
                           e.text);
        r->warn(r->self, text);
        free(text);
    }
    free(directory);
}

/* ---- Configure and Start ---- */

/* Checks that the session has all that was asked for, because a target of an older build ignores what it does not know.
 * Returns REFUSED if something is missing. */
static enum mkperf_status check_session(const struct mkperf_recorder *r, const mkperf_Configure *c,
                                        struct mkperf_error *e)
{
    static const mkperf_Session none = mkperf_Session_init_zero;
    bool answered = r->link.answer.which_msg == mkperf_ToHost_session_tag;
    const mkperf_Session *has = answered ? &r->link.answer.msg.session : &none;
    const char *lacks =
        !answered                     ? NULL
        : c->sched && !has->sched     ? "has no scheduling events (--sched)"
        : c->off_cpu && !has->off_cpu ? "has no samples of blocked threads (--off-cpu)"
        : c->aggregate_ms != 0 && has->aggregate_ms == 0
            ? "cannot count samples in windows (--aggregate)"
        : c->per_pd && !c->events[0].count && !has->counts ? "cannot count what it samples (--stat)"
        : c->words_count != 0 && has->words != c->words_count ? "cannot read queues (--queues)"
                                                              : NULL;

    MKPERF_DEMAND(&r->link.source, lacks == NULL, MKPERF_ERR_REFUSED, e, "the target's build %s",
                  lacks);
    return c->cores == 0 || has->cores == c->cores
               ? MKPERF_OK
               : mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                  "the target cannot limit a session to some of its cores; "
                                  "reports can (-C)");
}

/* Requests the words that hold the indices of queues. A queue that the profiler PD does not map is a warning. */
static enum mkperf_status choose_words(struct mkperf_recorder *r, mkperf_Configure *c,
                                       struct mkperf_error *e)
{
    const struct mkperf_image *image = r->pds->image;
    struct mkperf_image_place place[MKPERF_STAMP_QUEUES][2];

    if (!r->options.queues) {
        return MKPERF_OK;
    }
    MKPERF_DEMAND(&r->link.source, image != NULL && image->nqueues != 0, MKPERF_ERR_REFUSED, e,
                  "the image lists no queues (--queues): mkperf stamp finds those of sDDF, and "
                  "others with --queues FILE");
    c->words_count = (pb_size_t)mkperf_image_words(image, c->words, place);
    for (unsigned i = 0; i < image->nqueues; i++) {
        if (image->queue[i].head == 0 && r->warn != NULL) {
            char *text = mkperf_xprintf("queue %s is not read: the profiler PD has no map of its "
                                        "memory region",
                                        image->queue[i].name);
            r->warn(r->self, text);
            free(text);
        }
    }
    return mkperf_source_demand(&r->link.source, c->words_count != 0, MKPERF_ERR_REFUSED, e,
                                "the profiler PD maps no queue (--queues): add <map perms=\"r\"> "
                                "for their memory regions to it");
}

static enum mkperf_status configure(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_configure_tag};

    MKPERF_TRY(mkperf_observe_wanted(&r->options.configure) ? mkperf_observe(r, e) : MKPERF_OK);
    m.msg.configure = r->options.configure;
    mkperf_events_resolve(&m.msg.configure, r->stream->hello.cpu);
    /* The cores become 0 if they are all that the target samples. */
    uint32_t n = r->stream->hello.cores, *cores = &m.msg.configure.cores;
    uint32_t sampled = (UINT32_C(1) << (n < MKPERF_MAX_CORES ? n : MKPERF_MAX_CORES)) - 1;
    char text[MKPERF_CPU_LIST_TEXT];
    MKPERF_FAIL_IF((*cores & ~sampled) != 0, e, MKPERF_ERR_REFUSED,
                   "the target samples %s, and no others", mkperf_cpu_mask_text(sampled, text));
    *cores = *cores == sampled ? 0 : *cores;
    MKPERF_TRY(choose_words(r, &m.msg.configure, e));
    MKPERF_TRY(mkperf_recorder_request_alone(r, &m, "Configure", e));
    return check_session(r, &m.msg.configure, e);
}

enum mkperf_status mkperf_recorder_begin(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_start_tag};
    mkperf_ToTarget stop = {.which_msg = mkperf_ToTarget_stop_tag};

    r->forgotten = false;
    if (r->watching) {
        return MKPERF_OK;
    }
    r->begun = r->stream->starting = false;
    r->stream->waiting = true;
    MKPERF_TRY(configure(r, e));
    r->stream->waiting = false;
    r->stream->starting = true; /* set before the answer, which may be lost with the link */
    MKPERF_TRY(mkperf_recorder_ask(r, &m, "Start", e));
    /* The target may refuse because the answer to our first Start was lost. Then the session runs. */
    r->begun = r->stream->running;
    if (!r->begun) {
        return mkperf_recorder_refused(r, e);
    }
    /* Of a target that does not know these, the session samples instead. */
    const mkperf_Configure *c = &r->options.configure;
    const mkperf_Session *has = &r->link.answer.msg.session;
    bool answered = r->link.answer.which_msg == mkperf_ToHost_session_tag;
    const char *lacks = c->overwrite && !(answered && has->overwrite) ? "has no flight recorder"
                        : c->latency && answered && !has->latency ? "does not aggregate latencies"
                                                                  : NULL;
    if (lacks != NULL) {
        (void)mkperf_recorder_ask(r, &stop, "Stop", e);
        return mkperf_source_demand(&r->link.source, false, MKPERF_ERR_REFUSED, e,
                                    "the target's build %s", lacks);
    }
    return MKPERF_OK;
}

/* ---- after a broken link ---- */

static enum mkperf_status begin_again(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_peer_say(&r->link, "the target was restarted: the time in between is not recorded%s",
                    r->watching ? "" : "; a new session continues in the same file");
    return mkperf_recorder_begin(r, e);
}

/*
 * Returns to our session, if it still runs. Sessions are numbered from 1 at each boot. A target with a lower number was
 * restarted, although its boot id is the same, as in a deterministic emulator. began_s: when the link broke.
 */
static enum mkperf_status rejoin(struct mkperf_recorder *r, double began_s, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};
    const struct mkperf_stream *s = r->stream;

    if (!r->watching && r->link.has_role && !r->link.role.control &&
        mkperf_recorder_take_control(r, e) != MKPERF_OK) {
        if (e->status != MKPERF_ERR_REFUSED) {
            return e->status;
        }
        r->watching = true;
        mkperf_peer_say(&r->link, "%s; going on as a watcher", e->text);
    }
    if (mkperf_recorder_ask(r, &m, "GetStatus", e) != MKPERF_OK) {
        e->status = e->status == MKPERF_ERR_SILENT ? MKPERF_ERR_LINK : e->status;
        return e->status;
    }
    if (!r->watching && !r->begun && !s->running) {
        return mkperf_recorder_begin(r, e); /* the link broke before our session began */
    }
    const mkperf_Status *now = &r->link.answer.msg.status;
    if (r->link.answer.which_msg == mkperf_ToHost_status_tag && s->has_session && !now->running) {
        if (now->session < s->session_id) {
            r->stream->clock.pause_ns = (uint64_t)((mkperf_now_s() - began_s) * 1e9);
            return mkperf_stream_restarted(r->stream, e) == MKPERF_OK ? begin_again(r, e)
                                                                      : e->status;
        }
        if (now->session > s->session_id) {
            r->forgotten = false;
            r->ended = true;
            mkperf_peer_say(&r->link,
                            "another session ran on the target in between: this one has ended");
        }
    }
    r->begun = true;
    r->gap_open = s->has_status && s->status.running;
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_resume(struct mkperf_recorder *r, struct mkperf_error *e)
{
    const struct mkperf_totals *t = &r->stream->totals;
    double began = mkperf_now_s();
    uint64_t restarts = t->restarts;
    enum mkperf_status status;

    r->forgotten = false;
    r->gap_samples = mkperf_totals_received(t);
    r->gap_lost = t->lost[MKPERF_LOST_TRANSIT];
    do {
        r->breaks++;
        /* A new epoch is needed. The target begins one for a new connection, perhaps before it has answered anything. */
        mkperf_stream_damaged(r->stream);
        MKPERF_TRY(mkperf_peer_reconnect(&r->link, e));
        if (t->restarts != restarts) {
            r->stream->clock.pause_ns = (uint64_t)((mkperf_now_s() - began) * 1e9);
            restarts = t->restarts;
            status = begin_again(r, e);
        } else {
            status = rejoin(r, began, e);
        }
    } while (status == MKPERF_ERR_LINK && mkperf_now_s() - began < r->options.link.reconnect_s);
    return status;
}

enum mkperf_status mkperf_recorder_start(struct mkperf_recorder *r, struct mkperf_error *e)
{
    struct mkperf_record_options *o = &r->options;

    r->own = true;
    MKPERF_TRY(mkperf_recorder_connect(r, e));
    MKPERF_TRY(mkperf_filter(o, r->pds, e));
    r->status_s = r->moved_s = mkperf_now_s();
    if (r->watching) {
        mkperf_peer_say(&r->link, "watching: the running session is recorded, nothing is changed");
    }
    enum mkperf_status status = mkperf_recorder_begin(r, e);
    return status == MKPERF_ERR_LINK ? mkperf_recorder_resume(r, e) : status;
}
