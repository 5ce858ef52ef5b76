/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: a recorder's parts, the messages that arrive, requests with their answers, and the PDs that --pd, --subtree and
 * --dump-on-fault name; see recorder.h.
 */
#include "recorder.h"

static const double REQUEST_REPEAT_S = 0.5; /* between repetitions of a request */
/* How long the end of another session is awaited while no byte arrives. */
static const double OTHER_STOP_PATIENCE_S = 3.0;
/* How long all messages of another session are awaited. */
static const double OTHER_DRAIN_PATIENCE_S = 60;

static void on_recorder_text(void *self, const char *p, size_t n)
{
    struct mkperf_recorder *r = self;

    if (r->text.print != NULL) {
        mkperf_console_text_add(&r->text, p, n);
    }
}

/* Passes a message to the stream, and then acts on it, unless it is a batch. */
static enum mkperf_status on_recorder_message(void *self, const uint8_t *p, size_t n, unsigned gap,
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
        /* Another host has taken over control, if this one had it. */
        const mkperf_Role *role = &m->msg.role;
        if (!r->watching && r->link.has_role && r->link.role.control && !role->control) {
            r->watching = true;
            mkperf_peer_say(&r->link, "%s took over control of the target: going on as a watcher",
                            role->controller[0] != '\0' ? role->controller : "another host");
        }
    } else if (m->which_msg == mkperf_ToHost_status_tag) {
        r->forgotten = r->forgotten ||
                       (s->has_session && s->running && m->msg.status.session != s->session_id &&
                        !m->msg.status.running);
        r->statuses++;
        r->status_s = mkperf_now_s();
        r->status_ns = s->totals.last_ns;
    }
    mkperf_peer_control(&r->link, m);
    return MKPERF_OK;
}

static enum mkperf_status on_tick(void *self, struct mkperf_error *e)
{
    struct mkperf_recorder *r = self;
    double now = mkperf_now_s();

    /* Reports the losses of a gap when samples arrive after it. */
    const struct mkperf_totals *t = &r->stream->totals;
    if (r->gap_open && mkperf_totals_received(t) > r->gap_samples) {
        r->gap_open = false;
        mkperf_peer_say(&r->link, "samples arrive again; lost in transit in between: %" PRIu64,
                        t->lost[MKPERF_LOST_TRANSIT] - r->gap_lost);
    }
    if (r->progress != NULL) {
        r->progress(r->self);
    }
    if (now - r->synced_s < 1.0) {
        return MKPERF_OK;
    }
    r->synced_s = now;
    if (r->link.raw.path != NULL) {
        mkperf_outfile_flush(&r->link.raw);
    }
    MKPERF_TRY(mkperf_outfile_status(&r->link.raw, e));
    return r->perfdata != NULL ? mkperf_perfdata_sync(r->perfdata, e) : MKPERF_OK;
}

enum mkperf_status mkperf_recorder_init(struct mkperf_recorder *r, bool names_only,
                                        struct mkperf_error *e)
{
    static const struct mkperf_peer_ops ops = {
        .text = on_recorder_text, .message = on_recorder_message, .tick = on_tick};
    const struct mkperf_pds_config pds = {.system = r->options.system,
                                          .elf_path = r->options.elf_path,
                                          .kernel = r->options.kernel,
                                          .guest = r->options.guest,
                                          .names_only = names_only,
                                          .later = true,
                                          .warn = r->warn,
                                          .self = r->self};

    r->text.self = r->self;
    r->symbols = mkperf_symbols_new();
    MKPERF_TRY(mkperf_pds_new(&pds, r->symbols, &r->pds, e));
    r->watching = r->options.link.watch;
    MKPERF_TRY(mkperf_peer_init(&r->link, &r->options.link, &ops, r, r->stop, e));
    r->link.source.notice = r->notice;
    r->link.source.self = r->self;
    return MKPERF_OK;
}

void mkperf_recorder_decode(struct mkperf_recorder *r, struct mkperf_sink sink, const char *command)
{
    const struct mkperf_stream_config config = {
        .sink = sink, .pds = r->pds, .command = command, .asks = r->link.source.ops->interactive};

    r->stream = mkperf_stream_new(&config);
}

void mkperf_recorder_free(void *recorder)
{
    struct mkperf_recorder *r = recorder;

    mkperf_peer_end(&r->link);
    mkperf_stream_free(r->stream);
    mkperf_perfdata_free(r->perfdata);
    mkperf_pds_free(r->pds);
    mkperf_symbols_free(r->symbols);
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
    enum mkperf_status status =
        mkperf_peer_ask(&r->link, m, REQUEST_REPEAT_S, r->options.link.timeout_s, e);

    return status != MKPERF_ERR_SILENT
               ? status
               : mkperf_error_set(e, status, "%s: no answer to %s", r->link.source.spec, what);
}

enum mkperf_status mkperf_recorder_take_control(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_take_control_tag};
    const mkperf_Role *role = &r->link.role;

    m.msg.take_control.force = r->options.link.take_over;
    MKPERF_TRY(mkperf_recorder_ask(r, &m, "TakeControl", e));
    if (mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_NOT_CONTROLLER) && r->link.has_role &&
        strcmp(role->controller, r->link.name) == 0) {
        /* The controller is our own broken connection, which the target has not noticed. */
        m.msg.take_control.force = true;
        MKPERF_TRY(mkperf_recorder_ask(r, &m, "TakeControl", e));
    }
    return mkperf_source_demand(
        &r->link.source, !mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_NOT_CONTROLLER),
        MKPERF_ERR_REFUSED, e,
        "%s controls the target. --watch records its session, --take-over takes the control",
        r->link.has_role && role->controller[0] != '\0' ? role->controller : "another host");
}

enum mkperf_status mkperf_recorder_request(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                           const char *what, struct mkperf_error *e)
{
    MKPERF_TRY(mkperf_recorder_ask(r, m, what, e));
    if (mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_NOT_CONTROLLER)) {
        MKPERF_TRY(mkperf_recorder_take_control(r, e));
        MKPERF_TRY(mkperf_recorder_ask(r, m, what, e));
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_request_alone(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                                 const char *what, struct mkperf_error *e)
{
    mkperf_ToTarget stop = {.which_msg = mkperf_ToTarget_stop_tag};
    double began = mkperf_now_s();

    MKPERF_TRY(mkperf_recorder_request(r, m, what, e));
    if (mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_STATE)) {
        /* The target refuses while it sends the last samples of the other session, which takes some time on a slow line. Waits as
         * long as bytes arrive. */
        mkperf_peer_say(&r->link, "a session was running: it is ended (--watch would join it)");
        do {
            MKPERF_TRY(mkperf_recorder_ask(r, &stop, "Stop", e));
            MKPERF_TRY(mkperf_recorder_ask(r, m, what, e));
            if (!mkperf_peer_is_error(&r->link, mkperf_ErrorCode_ERROR_STATE)) {
                break;
            }
            double until = mkperf_now_s() + REQUEST_REPEAT_S;
            while (mkperf_now_s() < until && !mkperf_peer_stopped(&r->link)) {
                MKPERF_TRY(mkperf_peer_pump(&r->link, 20, e));
            }
        } while (!mkperf_peer_stopped(&r->link) &&
                 mkperf_now_s() - r->link.heard_s < OTHER_STOP_PATIENCE_S &&
                 mkperf_now_s() - began < OTHER_DRAIN_PATIENCE_S);
    }
    return mkperf_recorder_refused(r, e);
}

/* ---- PDs by their names ----------------------------------------------------------------------- */

/* The threads in a message that an option chooses by the names of their PDs. */
struct choice {
    const char *option;
    const struct mkperf_pds *pds;
    uint64_t *thread;
    pb_size_t *n, max;
};

static enum mkperf_status choose_pd(const struct choice *c, const struct mkperf_pd *pd,
                                    struct mkperf_error *e)
{
    for (pb_size_t i = 0; i < *c->n; i++) {
        if (c->thread[i] == pd->thread + 2) {
            return MKPERF_OK;
        }
    }
    MKPERF_FAIL_IF(*c->n == c->max, e, MKPERF_ERR_USAGE, "%s: more than %d PDs", c->option, c->max);
    c->thread[(*c->n)++] = pd->thread + 2;
    return MKPERF_OK;
}

/* Returns whether a PD is a descendant of another one. The loop is bounded, because parents could form a circle. */
static bool below(const struct mkperf_pds *pds, const struct mkperf_pd *pd,
                  const struct mkperf_pd *top)
{
    for (uint32_t i = 0; pd != NULL && pd->parent != NULL && i < pds->n; i++) {
        pd = mkperf_pds_named(pds, pd->parent, strlen(pd->parent));
        if (pd == top) {
            return true;
        }
    }
    return false;
}

static enum mkperf_status choose_named(const struct choice *c, const char *list, bool subtree,
                                       struct mkperf_error *e)
{
    for (const char *at = list; at != NULL;) {
        size_t n = strcspn(at, ",");
        const struct mkperf_pd *pd = mkperf_pds_named(c->pds, at, n);
        MKPERF_FAIL_IF(pd == NULL, e, MKPERF_ERR_USAGE,
                       "%s: no PD is named \"%.*s\" (names come from the image, or from --system)",
                       c->option, (int)n, at);
        MKPERF_TRY(choose_pd(c, pd, e));
        for (uint32_t i = 0; subtree && i < c->pds->n; i++) {
            const struct mkperf_pd *child = &c->pds->pd[i];
            MKPERF_TRY(below(c->pds, child, pd) ? choose_pd(c, child, e) : MKPERF_OK);
        }
        at = at[n] == ',' ? at + n + 1 : NULL;
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_filter(struct mkperf_record_options *o, const struct mkperf_pds *pds,
                                 struct mkperf_error *e)
{
    mkperf_Configure *c = &o->configure;
    struct choice sampled = {"--pd", pds, c->only, &c->only_count,
                             sizeof c->only / sizeof *c->only};
    const struct choice faults = {"--dump-on-fault", pds, c->dump_on_fault, &c->dump_on_fault_count,
                                  sizeof c->dump_on_fault / sizeof *c->dump_on_fault};

    MKPERF_TRY(choose_named(&sampled, o->pd, false, e));
    sampled.option = "--subtree";
    MKPERF_TRY(choose_named(&sampled, o->subtree, true, e));
    return choose_named(&faults, o->dump_on_fault, false, e);
}

const char *mkperf_recorder_pd(const struct mkperf_recorder *r, uint64_t thread)
{
    return thread != 0 ? r->pds->pd[mkperf_pds_find(r->pds, thread - 2)].name : "";
}
