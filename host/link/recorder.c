/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the conversation with the target, see recorder.h. A request is repeated until it is
 * answered, so a frame that is lost in either direction costs time and nothing else.
 */
#include "recorder.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_list.h"
#include "deadline.h"
#include "pmu/events.h"

static const double REPEAT_S = 0.5;        /* between repetitions of a request */
static const double STATUS_S = 1.0;        /* between requests for the target's counters */
static const double APART_KEEPS = 0.8;     /* of the longest time between batches, at each batch */
static const double STATUS_DUE_S = 1.5;    /* in the target's time, which sends them each second */
static const double STOP_PATIENCE_S = 3.0; /* for the last status */
static const double DRAIN_PATIENCE_S = 60; /* for messages queued before it */

static void on_text(void *self, const char *p, size_t n)
{
    struct mkperf_recorder *r = self;

    if (r->text.print != NULL) {
        mkperf_console_text_add(&r->text, p, n);
    }
}

static void on_notice(void *self, const char *text)
{
    struct mkperf_recorder *r = self;

    if (r->notice != NULL) {
        r->notice(r->self, text);
    }
}

static enum mkperf_status on_bytes(void *self, const uint8_t *p, size_t n, struct mkperf_error *e)
{
    struct mkperf_recorder *r = self;

    return r->raw.path != NULL ? mkperf_outfile_write(&r->raw, p, n, e) : MKPERF_OK;
}

/* Another host has taken over control, if this one had it. */
static void on_role(struct mkperf_recorder *r, const mkperf_Role *role)
{
    if (!r->watching && r->link.has_role && r->link.role.control && !role->control) {
        r->watching = true;
        mkperf_peer_say(&r->link, "%s took over control of the target: going on as a watcher",
                        role->controller[0] != '\0' ? role->controller : "another host");
    }
}

/* Passes a message to the stream, and then acts on it, unless it is a batch. */
static enum mkperf_status on_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                     struct mkperf_error *e)
{
    struct mkperf_recorder *r = self;
    struct mkperf_stream *s = r->stream;

    enum mkperf_status status = mkperf_stream_message(s, p, n, gap, e);
    const mkperf_ToHost *m = s->control;

    if (status != MKPERF_OK || m == NULL) {
        return status;
    }
    if (r->control != NULL) {
        r->control(r->self, m);
    }
    /* After the first Hello of a boot, samples before our Start are another host's. */
    if (m->which_msg == mkperf_ToHost_hello_tag && r->own && !r->watching && !s->has_session &&
        !s->starting) {
        s->waiting = true;
    } else if (m->which_msg == mkperf_ToHost_role_tag) {
        on_role(r, &m->msg.role);
    } else if (m->which_msg == mkperf_ToHost_status_tag) {
        r->forgotten = r->forgotten ||
                       (s->has_session && s->running && m->msg.status.session != s->session_id &&
                        !m->msg.status.running);
        r->status_s = mkperf_now_s();
        r->status_ns = s->totals.last_ns;
    }
    mkperf_peer_control(&r->link, m);
    return MKPERF_OK;
}

static void tell_gap(struct mkperf_recorder *r)
{
    const struct mkperf_totals *t = &r->stream->totals;

    if (r->gap_open && mkperf_totals_received(t) > r->gap_samples) {
        r->gap_open = false;
        mkperf_peer_say(&r->link, "samples arrive again; lost in transit in between: %" PRIu64,
                        t->lost[MKPERF_LOST_TRANSIT] - r->gap_lost);
    }
}

static enum mkperf_status on_tick(void *self, struct mkperf_error *e)
{
    struct mkperf_recorder *r = self;
    double now = mkperf_now_s();

    tell_gap(r);
    if (r->progress != NULL) {
        r->progress(r->self);
    }
    if (now - r->synced_s < 1.0) {
        return MKPERF_OK;
    }
    r->synced_s = now;
    if (r->raw.path != NULL && mkperf_outfile_flush(&r->raw, e) != MKPERF_OK) {
        return e->status;
    }
    return r->perfdata != NULL ? mkperf_perfdata_sync(r->perfdata, e) : MKPERF_OK;
}

enum mkperf_status mkperf_recorder_init(struct mkperf_recorder *r, bool names_only,
                                        struct mkperf_error *e)
{
    static const struct mkperf_peer_ops ops = {.text = on_text,
                                               .notice = on_notice,
                                               .bytes = on_bytes,
                                               .message = on_message,
                                               .tick = on_tick};
    const struct mkperf_pds_config pds = {.system = r->options.system,
                                          .elf_path = r->options.elf_path,
                                          .kernel = r->options.kernel,
                                          .names_only = names_only,
                                          .later = true,
                                          .warn = r->warn,
                                          .self = r->self};

    r->text.self = r->self;
    r->symbols = mkperf_symbols_new();
    if (mkperf_pds_new(&pds, r->symbols, &r->pds, e) != MKPERF_OK) {
        return e->status;
    }
    r->watching = r->options.link.watch;
    return mkperf_peer_init(&r->link, &r->options.link, &ops, r, r->stop, e);
}

void mkperf_recorder_decode(struct mkperf_recorder *r, struct mkperf_sink sink, const char *command)
{
    const struct mkperf_stream_config config = {.sink = sink,
                                                .pds = r->pds,
                                                .command = command,
                                                .decide = mkperf_lr_is_caller,
                                                .asks = r->link.source.ops->interactive};

    r->stream = mkperf_stream_new(&config);
}

void mkperf_recorder_free(struct mkperf_recorder *r)
{
    mkperf_peer_end(&r->link);
    if (r->raw.path != NULL) {
        mkperf_outfile_close(&r->raw);
    }
    mkperf_stream_free(r->stream);
    mkperf_perfdata_free(r->perfdata);
    mkperf_pds_free(r->pds);
    mkperf_symbols_free(r->symbols);
    free(r->options.command);
    r->options.command = NULL;
    memset(&r->link, 0, sizeof *r - offsetof(struct mkperf_recorder, link));
}

enum mkperf_status mkperf_recorder_refused(const struct mkperf_recorder *r, struct mkperf_error *e)
{
    const mkperf_Error *m = &r->link.answer.msg.error;
    const mkperf_Configure *c = &r->options.configure;

    if (r->link.answer.which_msg != mkperf_ToHost_error_tag) {
        return MKPERF_OK;
    }
    if (m->event - 1 < c->events_count) {
        const mkperf_EventSpec *spec = &c->events[m->event - 1];
        char raw[16];
        snprintf(raw, sizeof raw, "r%" PRIx32, spec->raw);
        return mkperf_error_set(e, MKPERF_ERR_REFUSED, "the target refuses event %s: %s",
                                spec->name[0] != '\0' ? spec->name : raw, m->text);
    }
    return mkperf_error_set(e, MKPERF_ERR_REFUSED, "the target refuses: %s", m->text);
}

enum mkperf_status mkperf_recorder_ask(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                       const char *what, struct mkperf_error *e)
{
    if (mkperf_peer_ask(&r->link, m, REPEAT_S, r->options.link.timeout_s, e) == MKPERF_OK) {
        return MKPERF_OK;
    }
    if (e->status != MKPERF_ERR_SILENT) {
        return e->status;
    }
    return mkperf_error_set(e, MKPERF_ERR_SILENT, "%s: no answer to %s", r->link.source.spec, what);
}

enum mkperf_status mkperf_recorder_take_control(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_take_control_tag};
    const mkperf_Role *role = &r->link.role;

    m.msg.take_control.force = r->options.link.take_over;
    if (mkperf_recorder_ask(r, &m, "TakeControl", e) != MKPERF_OK) {
        return e->status;
    }
    if (mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_NOT_CONTROLLER) && r->link.has_role &&
        strcmp(role->controller, r->link.name) == 0) {
        m.msg.take_control.force =
            true; /* our own connection that broke, which is not noticed yet */
        if (mkperf_recorder_ask(r, &m, "TakeControl", e) != MKPERF_OK) {
            return e->status;
        }
    }
    if (mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_NOT_CONTROLLER)) {
        return mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                "%s: %s controls the target. --watch records what runs anyway, "
                                "--take-over takes the control",
                                r->link.source.spec,
                                r->link.has_role && role->controller[0] != '\0' ? role->controller
                                                                                : "another host");
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_request(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                           const char *what, struct mkperf_error *e)
{
    if (mkperf_recorder_ask(r, m, what, e) != MKPERF_OK) {
        return e->status;
    }
    if (mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_NOT_CONTROLLER) &&
        (mkperf_recorder_take_control(r, e) != MKPERF_OK ||
         mkperf_recorder_ask(r, m, what, e) != MKPERF_OK)) {
        return e->status;
    }
    return MKPERF_OK;
}

/*
 * Ends a session that another host left running, and configures. The target refuses while that
 * session's last samples are in transit, which takes some time on a slow line: wait as long as
 * bytes arrive.
 */
static enum mkperf_status end_and_configure(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                            struct mkperf_error *e)
{
    mkperf_ToTarget stop = {.which_msg = mkperf_ToTarget_stop_tag};
    double began = mkperf_now_s();

    mkperf_peer_say(&r->link, "a session was running: it is ended (--watch would join it)");
    do {
        if (mkperf_recorder_ask(r, &stop, "Stop", e) != MKPERF_OK ||
            mkperf_recorder_ask(r, m, "Configure", e) != MKPERF_OK) {
            return e->status;
        }
        if (!mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_STATE)) {
            break;
        }
        double until = mkperf_now_s() + REPEAT_S;
        while (mkperf_now_s() < until && !mkperf_peer_stopped(&r->link)) {
            if (mkperf_peer_pump(&r->link, 20, e) != MKPERF_OK) {
                return e->status;
            }
        }
    } while (!mkperf_peer_stopped(&r->link) && mkperf_now_s() - r->link.heard_s < STOP_PATIENCE_S &&
             mkperf_now_s() - began < DRAIN_PATIENCE_S);
    return MKPERF_OK;
}

/* Takes the choice of cores into a request: 0 if it is all that the target samples. */
static enum mkperf_status choose_cores(const struct mkperf_recorder *r, uint32_t *cores,
                                       struct mkperf_error *e)
{
    uint32_t n = r->stream->hello.cores;
    uint32_t sampled = (UINT32_C(1) << (n < MKPERF_MAX_CORES ? n : MKPERF_MAX_CORES)) - 1;
    char text[MKPERF_CPU_LIST_TEXT];

    if ((*cores & ~sampled) != 0) {
        return mkperf_error_set(e, MKPERF_ERR_REFUSED, "the target samples %s, and no others",
                                mkperf_cpu_mask_text(sampled, text));
    }
    *cores = *cores == sampled ? 0 : *cores;
    return MKPERF_OK;
}

/* A target that does not know of the choice would sample all. */
static enum mkperf_status check_cores(const struct mkperf_recorder *r, uint32_t cores,
                                      struct mkperf_error *e)
{
    const mkperf_ToHost *m = &r->link.answer;

    return cores == 0 ||
                   (m->which_msg == mkperf_ToHost_session_tag && m->msg.session.cores == cores)
               ? MKPERF_OK
               : mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                  "the target cannot limit a session to some of its cores; "
                                  "reports can (-C)");
}

static enum mkperf_status configure(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_configure_tag};

    if (mkperf_observe_wanted(&r->options.configure) && mkperf_observe(r, e) != MKPERF_OK) {
        return e->status;
    }
    m.msg.configure = r->options.configure;
    mkperf_events_resolve(&m.msg.configure, r->stream->hello.cpu);
    if (choose_cores(r, &m.msg.configure.cores, e) != MKPERF_OK ||
        mkperf_recorder_request(r, &m, "Configure", e) != MKPERF_OK) {
        return e->status;
    }
    if (mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_STATE) &&
        end_and_configure(r, &m, e) != MKPERF_OK) {
        return e->status;
    }
    if (mkperf_recorder_refused(r, e) != MKPERF_OK) {
        return e->status;
    }
    /* A target of an older build passes over what it does not know. */
    if (r->options.configure.sched && r->link.answer.which_msg == mkperf_ToHost_session_tag &&
        !r->link.answer.msg.session.sched) {
        return mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                "%s: the target's build has no scheduling events (--sched)",
                                r->link.source.spec);
    }
    if (r->options.configure.off_cpu && r->link.answer.which_msg == mkperf_ToHost_session_tag &&
        !r->link.answer.msg.session.off_cpu) {
        return mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                "%s: the target's build has no samples of blocked threads "
                                "(--off-cpu)",
                                r->link.source.spec);
    }
    return check_cores(r, m.msg.configure.cores, e);
}

enum mkperf_status mkperf_recorder_begin(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_start_tag};

    r->forgotten = false;
    if (r->watching) {
        return MKPERF_OK;
    }
    r->begun = r->stream->starting = false;
    r->stream->waiting = true;
    if (configure(r, e) != MKPERF_OK) {
        return e->status;
    }
    r->stream->waiting = false;
    r->stream->starting = true; /* even if the answer is lost with the link */
    if (mkperf_recorder_ask(r, &m, "Start", e) != MKPERF_OK) {
        return e->status;
    }
    /* Running already: the answer to our first Start was lost. */
    r->begun = r->stream->running;
    return r->begun ? MKPERF_OK : mkperf_recorder_refused(r, e);
}

enum mkperf_status mkperf_recorder_start(struct mkperf_recorder *r, struct mkperf_error *e)
{
    r->own = true;
    if (mkperf_recorder_connect(r, e) != MKPERF_OK ||
        (r->named != NULL && r->named(r->self, e) != MKPERF_OK)) {
        return e->status;
    }
    r->status_s = r->moved_s = mkperf_now_s();
    if (r->watching) {
        mkperf_peer_say(&r->link, "watching: the running session is recorded, nothing is changed");
    }
    enum mkperf_status status = mkperf_recorder_begin(r, e);
    return status == MKPERF_ERR_LINK ? mkperf_recorder_resume(r, e) : status;
}

/*
 * Whether to request the target's counters. While batches arrive, the target sends them each second
 * of its own time, which differs from the host's. An unneeded request costs it as much as dozens of
 * samples. So request them only if no batch has arrived for some time, or if its status is overdue.
 * Some time is longer where batches are further apart: an emulated target may be slow.
 */
static bool status_due(struct mkperf_recorder *r, double now)
{
    uint64_t last = r->stream->totals.last_ns;
    double most = r->options.link.timeout_s / 3;

    if (last != r->moved_ns) {
        r->apart_s = fmax(now - r->moved_s, APART_KEEPS * r->apart_s);
        r->moved_ns = last;
        r->moved_s = now;
    }
    double patience = fmax(STATUS_S, fmin(2 * r->apart_s, most));
    return now - r->status_s >= STATUS_S &&
           (now - r->moved_s >= patience ||
            (double)(int64_t)(last - r->status_ns) >= STATUS_DUE_S * 1e9);
}

/* Requests what the stream needs, and the target's counters, without waiting. */
static enum mkperf_status service(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget reset = {.which_msg = mkperf_ToTarget_reset_chains_tag};
    mkperf_ToTarget status = {.which_msg = mkperf_ToTarget_get_status_tag};
    const struct mkperf_stream *s = r->stream;
    double now = mkperf_now_s();

    if (now - r->link.heard_s > r->options.link.timeout_s) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: the target has been silent for %g s",
                                r->link.source.spec, r->options.link.timeout_s);
    }
    if (r->forgotten) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: the target no longer knows the session",
                                r->link.source.spec);
    }
    if (!r->watching && s->has_status && !s->status.running) {
        r->ended = true;
        mkperf_peer_say(&r->link, s->status.storm
                                      ? "the session was ended on the target: samples took more "
                                        "than half of its time; a longer period (-c, or a lower "
                                        "-F), fewer events or a shallower call chain "
                                        "(--max-frames) take less"
                                      : "the session was ended on the target");
        return MKPERF_OK;
    }
    if (mkperf_stream_needs_reset(s) && now - r->reset_s >= REPEAT_S) {
        r->reset_s = now;
        return mkperf_peer_send(&r->link, &reset, e);
    }
    if (status_due(r, now)) {
        r->status_s = now;
        r->status_ns = s->totals.last_ns;
        return mkperf_peer_send(&r->link, &status, e);
    }
    return MKPERF_OK;
}

/* Whether the duration is over, as far as the samples tell. */
static bool over(const struct mkperf_recorder *r, struct mkperf_deadline *d)
{
    const struct mkperf_totals *t = &r->stream->totals;
    double now = mkperf_now_s();

    mkperf_deadline_observe(d, mkperf_totals_received(t) > 0,
                            (double)(t->last_ns - t->first_ns) / 1e9, now);
    return mkperf_deadline_over(d, now);
}

enum mkperf_status mkperf_recorder_run(struct mkperf_recorder *r, struct mkperf_error *e)
{
    struct mkperf_deadline deadline;

    mkperf_deadline_begin(&deadline, r->options.duration_s, mkperf_now_s());
    while (!mkperf_peer_stopped(&r->link) && !r->ended && !over(r, &deadline)) {
        if (mkperf_peer_pump(&r->link, 100, e) == MKPERF_OK && service(r, e) == MKPERF_OK) {
            continue;
        }
        if (e->status != MKPERF_ERR_LINK || mkperf_recorder_resume(r, e) != MKPERF_OK) {
            return e->status;
        }
        mkperf_deadline_restart_wait(&deadline, mkperf_now_s());
    }
    return MKPERF_OK;
}

/* A watcher leaves: the statistics as far as they are known. */
static enum mkperf_status leave(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};

    if (!r->ended && mkperf_peer_ask(&r->link, &m, REPEAT_S, STOP_PATIENCE_S, e) != MKPERF_OK &&
        e->status != MKPERF_ERR_SILENT && e->status != MKPERF_ERR_LINK) {
        return e->status;
    }
    e->status = MKPERF_OK;
    return MKPERF_OK;
}

static enum mkperf_status no_end(const struct mkperf_recorder *r, struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_LINK,
                            "%s: no answer to Stop: the end of the session may be missing",
                            r->link.source.spec);
}

/*
 * A slow line may still carry queued messages: wait as long as bytes arrive. A repeated Stop is
 * refused by a target that got the first one, which is harmless.
 */
enum mkperf_status mkperf_recorder_stop(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_stop_tag};
    const struct mkperf_stream *s = r->stream;
    double began = mkperf_now_s(), sent = 0;
    int stops = r->stop != NULL ? *r->stop : 0;
    uint64_t restarts = s->totals.restarts;

    if (r->watching || r->ended) {
        return leave(r, e);
    }
    r->link.heard_s = began;
    while ((!s->has_status || s->status.running) && restarts == s->totals.restarts) {
        double now = mkperf_now_s();
        enum mkperf_status status = MKPERF_OK;
        if (now - r->link.heard_s > STOP_PATIENCE_S || now - began > DRAIN_PATIENCE_S ||
            (r->stop != NULL && *r->stop != stops)) {
            return no_end(r, e);
        }
        if (now - sent >= STOP_PATIENCE_S) {
            sent = now;
            status = mkperf_peer_send(&r->link, &m, e);
        }
        if (status == MKPERF_OK) {
            status = mkperf_peer_pump(&r->link, 20, e);
        }
        if (status == MKPERF_ERR_LINK && stops == 0) {
            status = mkperf_recorder_resume(r, e);
            sent = 0;
        }
        if (status != MKPERF_OK) {
            return status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_replay(struct mkperf_recorder *r, struct mkperf_error *e)
{
    enum mkperf_status status = mkperf_source_open(&r->link.source, e);

    r->link.state = MKPERF_PEER_OPEN;
    while (!mkperf_peer_stopped(&r->link) && status == MKPERF_OK) {
        status = mkperf_peer_pump(&r->link, -1, e);
    }
    mkperf_receiver_idle(&r->link.receiver);
    mkperf_recorder_keep_elfs(r);
    return r->link.source.ended ? MKPERF_OK : status;
}
