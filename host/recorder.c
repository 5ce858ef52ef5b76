/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the conversation with the target, see recorder.h. A request is repeated until it is
 * answered, so a frame that is lost in either direction costs time and nothing else.
 */
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <mkperf/frame.h>
#include <pb_encode.h>

#include "events.h"

static const double REPEAT_S = 0.2;        /* between repetitions of a hello */
static const double REPEAT_SLOW_S = 0.5;   /* of other requests */
static const double QUIET_S = 1.0;         /* after which the target is asked whether it lives */
static const double STOP_PATIENCE_S = 3.0; /* for the last status */
static const double DRAIN_PATIENCE_S = 60; /* for what is queued before it */
static const double STANDSTILL_S = 2.0;    /* of the target's time, at the end of the duration */

double mkperf_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void on_text(void *self, const char *p, size_t n)
{
    struct mkperf_recorder *r = self;

    r->text(r->self, p, n);
}

static enum mkperf_status on_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                     struct mkperf_error *e)
{
    struct mkperf_recorder *r = self;

    return mkperf_stream_message(r->stream, p, n, gap, e);
}

const struct mkperf_receiver_ops mkperf_recorder_ops = {.text = on_text, .message = on_message};

enum mkperf_status mkperf_recorder_control(void *self, const mkperf_ToHost *m,
                                           struct mkperf_error *e)
{
    struct mkperf_recorder *r = self;

    (void)e;
    if (m->request != 0 && m->request == r->request) {
        r->answered = true;
        r->answer = *m;
    }
    return MKPERF_OK;
}

static enum mkperf_status keep_files(struct mkperf_recorder *r, struct mkperf_error *e)
{
    double now = mkperf_now_s();

    if (now - r->synced_s < 1.0) {
        return MKPERF_OK;
    }
    r->synced_s = now;
    if (r->raw.path != NULL && mkperf_outfile_flush(&r->raw, e) != MKPERF_OK) {
        return e->status;
    }
    return r->perfdata != NULL ? mkperf_perfdata_sync(r->perfdata, e) : MKPERF_OK;
}

enum mkperf_status mkperf_recorder_pump(struct mkperf_recorder *r, int timeout_ms,
                                        struct mkperf_error *e)
{
    struct pollfd ready = {.fd = r->source.fd, .events = POLLIN};
    size_t n = 0;

    if (poll(&ready, 1, timeout_ms) > 0 &&
        r->source.ops->read(&r->source, r->buffer, sizeof r->buffer, &n, e) != MKPERF_OK) {
        return e->status;
    }
    if (n == 0) {
        mkperf_receiver_idle(&r->receiver);
    } else {
        r->heard_s = mkperf_now_s();
        if (r->raw.path != NULL && mkperf_outfile_write(&r->raw, r->buffer, n, e) != MKPERF_OK) {
            return e->status;
        }
        if (mkperf_receiver_push(&r->receiver, r->buffer, n, e) != MKPERF_OK) {
            return e->status;
        }
    }
    r->progress(r->self);
    return keep_files(r, e);
}

static enum mkperf_status send(struct mkperf_recorder *r, const mkperf_ToTarget *m,
                               struct mkperf_error *e)
{
    uint8_t message[MKPERF_MESSAGE_BYTES], frame[MKPERF_FRAME_BYTES];
    pb_ostream_t out = pb_ostream_from_buffer(message, sizeof message);

    if (!pb_encode(&out, mkperf_ToTarget_fields, m)) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "the events do not fit one message");
    }
    size_t n = mkperf_frame_encode(frame, r->sequence++, message, out.bytes_written);
    r->asked_s = mkperf_now_s();
    return r->source.ops->write(&r->source, frame, n, e);
}

static bool user_stops(const struct mkperf_recorder *r)
{
    return r->stop != NULL && *r->stop != 0;
}

/*
 * Sends m, again every repeat_s, until it is answered or patience_s is over, which is
 * MKPERF_ERR_SILENT without a text. The request number is chosen here.
 */
static enum mkperf_status ask(struct mkperf_recorder *r, mkperf_ToTarget *m, double repeat_s,
                              double patience_s, struct mkperf_error *e)
{
    double begin = mkperf_now_s(), sent = 0;

    m->request = ++r->request;
    r->answered = false;
    while (!r->answered) {
        double now = mkperf_now_s();
        if (now - begin > patience_s) {
            return mkperf_error_set(e, MKPERF_ERR_SILENT, "%s", "");
        }
        if (now - sent >= repeat_s) {
            sent = now;
            if (send(r, m, e) != MKPERF_OK) {
                return e->status;
            }
        }
        if (mkperf_recorder_pump(r, 20, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

/* Why there was no answer to a hello: what the line had instead says it. */
static enum mkperf_status silence(struct mkperf_recorder *r, struct mkperf_error *e)
{
    const struct mkperf_receiver *w = &r->receiver;
    const char *spec = r->source.spec;

    mkperf_receiver_idle(&r->receiver);
    if (w->bytes == 0) {
        return mkperf_error_set(e, MKPERF_ERR_SILENT,
                                "%s: no byte arrived in %g s. Is the target running, and this the "
                                "line of its profiler?",
                                spec, r->options->timeout_s);
    }
    if (w->frames == 0 && w->noise_bytes + (w->n - w->shown) > 0) {
        return mkperf_error_set(e, MKPERF_ERR_NOISE,
                                "%s: %" PRIu64
                                " bytes arrived and no frame was among them: a wrong "
                                "baud rate, or not the line of the profiler",
                                spec, w->bytes);
    }
    return mkperf_error_set(e, MKPERF_ERR_SILENT, "%s: %s, but no answer to hello in %g s%s", spec,
                            w->frames > 0 ? "frames arrive" : "the console talks",
                            r->options->timeout_s,
                            w->frames > 0 ? ": does the line carry bytes to the target?"
                                          : ": does the system contain the profiler?");
}

enum mkperf_status mkperf_recorder_refused(const struct mkperf_recorder *r, struct mkperf_error *e)
{
    const mkperf_Error *m = &r->answer.msg.error;
    const mkperf_Configure *c = &r->options->configure;

    if (r->answer.which_msg != mkperf_ToHost_error_tag) {
        return MKPERF_OK;
    }
    if (m->code == mkperf_ErrorCode_ERROR_PROTOCOL) {
        return mkperf_error_set(e, MKPERF_ERR_PROTOCOL, "%s", m->text);
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

static bool is_error(const struct mkperf_recorder *r, mkperf_ErrorCode code)
{
    return r->answer.which_msg == mkperf_ToHost_error_tag && r->answer.msg.error.code == code;
}

static enum mkperf_status no_answer(const struct mkperf_recorder *r, const char *request,
                                    struct mkperf_error *e)
{
    if (e->status != MKPERF_ERR_SILENT) {
        return e->status;
    }
    return mkperf_error_set(e, MKPERF_ERR_SILENT, "%s: no answer to %s", r->source.spec, request);
}

enum mkperf_status mkperf_recorder_greet(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_hello_tag};

    m.msg.hello.protocol = MKPERF_PROTOCOL;
    if (ask(r, &m, REPEAT_S, r->options->timeout_s, e) != MKPERF_OK) {
        return e->status == MKPERF_ERR_SILENT ? silence(r, e) : e->status;
    }
    return mkperf_recorder_refused(r, e);
}

enum mkperf_status mkperf_recorder_ask(struct mkperf_recorder *r, mkperf_ToTarget *m,
                                       const char *what, struct mkperf_error *e)
{
    return ask(r, m, REPEAT_SLOW_S, r->options->timeout_s, e) == MKPERF_OK ? MKPERF_OK
                                                                           : no_answer(r, what, e);
}

/* A session that another host left running is ended. */
static enum mkperf_status configure(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_configure_tag};
    mkperf_ToTarget stop = {.which_msg = mkperf_ToTarget_stop_tag};
    double patience = r->options->timeout_s;

    m.msg.configure = r->options->configure;
    mkperf_events_resolve(&m.msg.configure, r->stream->hello.cpu);
    if (ask(r, &m, REPEAT_SLOW_S, patience, e) != MKPERF_OK) {
        return no_answer(r, "Configure", e);
    }
    if (is_error(r, mkperf_ErrorCode_ERROR_STATE)) {
        if (ask(r, &stop, REPEAT_SLOW_S, patience, e) != MKPERF_OK ||
            ask(r, &m, REPEAT_SLOW_S, patience, e) != MKPERF_OK) {
            return no_answer(r, "Stop", e);
        }
    }
    return mkperf_recorder_refused(r, e);
}

enum mkperf_status mkperf_recorder_start(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_start_tag};

    if (mkperf_recorder_greet(r, e) != MKPERF_OK || configure(r, e) != MKPERF_OK) {
        return e->status;
    }
    if (ask(r, &m, REPEAT_SLOW_S, r->options->timeout_s, e) != MKPERF_OK) {
        return no_answer(r, "Start", e);
    }
    /* Running already: the answer to our first Start was lost. */
    if (r->answer.which_msg == mkperf_ToHost_error_tag && !r->stream->began) {
        return mkperf_recorder_refused(r, e);
    }
    return MKPERF_OK;
}

/* Asks for what the stream needs, and whether anybody is there, without waiting. */
static enum mkperf_status tend(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};
    double now = mkperf_now_s();

    if (now - r->heard_s > r->options->timeout_s) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: the target has been silent for %g s",
                                r->source.spec, r->options->timeout_s);
    }
    if (r->answered && r->answer.which_msg == mkperf_ToHost_status_tag &&
        !r->answer.msg.status.running) {
        return mkperf_error_set(e, MKPERF_ERR_LINK,
                                "%s: the target no longer runs the session (was it restarted?)",
                                r->source.spec);
    }
    if (r->stream->damaged) {
        m.which_msg = mkperf_ToTarget_reset_chains_tag;
    } else if (now - r->heard_s < QUIET_S) {
        return MKPERF_OK;
    }
    if (now - r->asked_s < REPEAT_SLOW_S) {
        return MKPERF_OK;
    }
    m.request = ++r->request;
    r->answered = false;
    return send(r, &m, e);
}

/* Whether the duration is over: in the target's time, bounded by the host's. */
static bool over(const struct mkperf_recorder *r, double began_s, double *moved_s, uint64_t *last)
{
    const struct mkperf_totals *t = &r->stream->totals;
    double wanted = r->options->duration_s, now = mkperf_now_s();

    if (t->last_ns != *last) {
        *last = t->last_ns;
        *moved_s = now;
    }
    if (wanted <= 0) {
        return false;
    }
    if (t->samples > 0 && (double)(t->last_ns - t->first_ns) >= wanted * 1e9) {
        return true;
    }
    return (now - began_s >= wanted && now - *moved_s >= STANDSTILL_S) ||
           now - began_s >= 10 * wanted + 10;
}

enum mkperf_status mkperf_recorder_run(struct mkperf_recorder *r, struct mkperf_error *e)
{
    double began = mkperf_now_s(), moved = began;
    uint64_t last = 0;

    while (!user_stops(r) && !over(r, began, &moved, &last)) {
        if (mkperf_recorder_pump(r, 100, e) != MKPERF_OK || tend(r, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

/*
 * A slow line may still be busy with what the target has queued: as long as bytes come, we wait.
 * A Stop that is repeated is refused by a target that got the first one, which does no harm.
 */
enum mkperf_status mkperf_recorder_stop(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget m = {.request = ++r->request, .which_msg = mkperf_ToTarget_stop_tag};
    const struct mkperf_stream *s = r->stream;
    double began = mkperf_now_s(), sent = 0;
    int stops = r->stop != NULL ? *r->stop : 0;

    r->heard_s = began;
    while (!s->has_status || s->status.running) {
        double now = mkperf_now_s();
        if (now - r->heard_s > STOP_PATIENCE_S || now - began > DRAIN_PATIENCE_S ||
            (r->stop != NULL && *r->stop != stops)) {
            return mkperf_error_set(e, MKPERF_ERR_LINK,
                                    "%s: no answer to Stop: the end of the session may be missing",
                                    r->source.spec);
        }
        if (now - sent >= STOP_PATIENCE_S) {
            sent = now;
            if (send(r, &m, e) != MKPERF_OK) {
                return e->status;
            }
        }
        if (mkperf_recorder_pump(r, 20, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_recorder_replay(struct mkperf_recorder *r, struct mkperf_error *e)
{
    enum mkperf_status status = MKPERF_OK;

    while (!user_stops(r) && status == MKPERF_OK) {
        status = mkperf_recorder_pump(r, -1, e);
    }
    mkperf_receiver_idle(&r->receiver);
    return r->source.ended ? MKPERF_OK : status;
}
