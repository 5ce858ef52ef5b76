/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: opening and restoring a link, see connection.h. */
#include <inttypes.h>

#include "connection.h"

static const double HELLO_S = 0.2; /* before the first repetition of a hello; then doubled */
static const double HELLO_MAX_S =
    1.6;                           /* between repetitions; and at first on a network, which loses
                                        * nothing: each repetition begins the handshake again */
static const double PROVE_S = 5.0; /* for the answer to a proof: others may be at it, too */
static const double PAUSE_S = 0.1; /* before a connection is tried again; then doubled */
static const double PAUSE_MAX_S = 5.0;

/* The reason for a missing answer to a hello, from what the line had instead. */
static enum mkperf_status silence(struct mkperf_peer *l, double patience_s, struct mkperf_error *e)
{
    const struct mkperf_receiver *w = &l->receiver;
    const char *spec = l->source.spec;

    mkperf_receiver_idle(&l->receiver);
    if (w->bytes == 0) {
        return mkperf_error_set(e, MKPERF_ERR_SILENT,
                                "%s: no byte arrived in %g s. Is the target running, its kernel of "
                                "the configuration that its PDs were built for, and this the line "
                                "of its profiler?",
                                spec, patience_s);
    }
    if (w->frames == 0 && w->noise_bytes + (w->n - w->shown) > 0) {
        return mkperf_error_set(e, MKPERF_ERR_NOISE,
                                "%s: %" PRIu64
                                " bytes arrived and no frame was among them: a wrong "
                                "baud rate, or not the line of the profiler",
                                spec, w->bytes);
    }
    return mkperf_error_set(e, MKPERF_ERR_SILENT, "%s: %s, but no answer to hello in %g s%s", spec,
                            w->frames > 0 ? "frames arrive" : "the console talks", patience_s,
                            w->frames > 0 ? ": does the line carry bytes to the target?"
                                          : ": does the system contain the profiler?");
}

static enum mkperf_status refused(struct mkperf_peer *l, struct mkperf_error *e)
{
    const mkperf_Error *m = &l->answer.msg.error;
    enum mkperf_status status = m->code == mkperf_ErrorCode_ERROR_PROTOCOL ? MKPERF_ERR_PROTOCOL
                                                                           : MKPERF_ERR_REFUSED;

    if (status == MKPERF_ERR_PROTOCOL) { /* an old one says its own version alone */
        return mkperf_error_set(e, status,
                                "%s: this mkperf speaks protocol %d, and the target refuses: %s",
                                l->source.spec, MKPERF_PROTOCOL, m->text);
    }
    l->busy = m->code == mkperf_ErrorCode_ERROR_BUSY || m->code == mkperf_ErrorCode_ERROR_RATE;
    return mkperf_error_set(e, status, "%s: the target refuses: %s", l->source.spec,
                            m->text[0] != '\0' ? m->text : "without a reason");
}

static enum mkperf_status prove(struct mkperf_peer *l, struct mkperf_error *e)
{
    mkperf_ToTarget m;

    mkperf_peer_proof(l, &m);
    if (mkperf_peer_ask(l, &m, 0, PROVE_S, e) != MKPERF_OK) {
        return e->status != MKPERF_ERR_SILENT
                   ? e->status
                   : mkperf_error_set(e, MKPERF_ERR_SILENT, "%s: no answer to our proof",
                                      l->source.spec);
    }
    if (l->answer.which_msg == mkperf_ToHost_error_tag) {
        return refused(l, e);
    }
    l->state = MKPERF_PEER_SEALED;
    return MKPERF_OK;
}

/* Sends hello (again). After patience_s: SILENT or NOISE, with what the line had instead. */
static enum mkperf_status greet(struct mkperf_peer *l, double patience_s, struct mkperf_error *e)
{
    double until = mkperf_now_s() + patience_s;
    double wait = l->source.ops->network ? HELLO_MAX_S : HELLO_S;
    mkperf_ToTarget m;

    l->state = MKPERF_PEER_GREETING;
    l->refusal.status = MKPERF_OK;
    l->dropped = 0;
    mkperf_receiver_restart(&l->receiver);
    if (mkperf_peer_hello(l, &m, e) != MKPERF_OK) {
        return e->status;
    }
    while (mkperf_peer_ask(l, &m, 0, wait, e) != MKPERF_OK) {
        if (e->status != MKPERF_ERR_SILENT) {
            return e->status;
        }
        if (mkperf_now_s() > until || mkperf_peer_stopped(l)) {
            return silence(l, patience_s, e);
        }
        wait = 2 * wait < HELLO_MAX_S ? 2 * wait : HELLO_MAX_S;
    }
    if (l->refusal.status != MKPERF_OK) {
        *e = l->refusal;
        return e->status;
    }
    if (l->answer.which_msg == mkperf_ToHost_error_tag) {
        return refused(l, e);
    }
    e->status = MKPERF_OK; /* what was not answered at once */
    return l->state == MKPERF_PEER_PROVING ? prove(l, e) : MKPERF_OK;
}

static enum mkperf_status attempt(struct mkperf_peer *l, double patience_s, struct mkperf_error *e)
{
    l->sequence = 0;
    l->has_role = l->busy = false;
    l->state = MKPERF_PEER_CLOSED;
    if (mkperf_source_open(&l->source, e) != MKPERF_OK) {
        return e->status;
    }
    if (greet(l, patience_s, e) != MKPERF_OK) {
        mkperf_source_close(&l->source);
        return e->status;
    }
    l->connections++;
    l->heard_s = mkperf_now_s();
    return MKPERF_OK;
}

static void say_open(struct mkperf_peer *l)
{
    if (l->state == MKPERF_PEER_OPEN && l->source.ops->network) {
        mkperf_peer_say(l,
                        "the target has no key: any host that reaches it can read and control it "
                        "(for development on a private network only)");
    }
}

enum mkperf_status mkperf_peer_connect(struct mkperf_peer *l, struct mkperf_error *e)
{
    double until = mkperf_now_s() + l->options->timeout_s, pause = PAUSE_S;

    l->source.patience_s = l->options->timeout_s;
    l->source.accept_s = 0;
    while (attempt(l, l->options->timeout_s, e) != MKPERF_OK) {
        if ((e->status != MKPERF_ERR_LINK && !l->busy) || !l->source.ops->network ||
            mkperf_now_s() + pause > until || mkperf_peer_pause(l, pause)) {
            return e->status;
        }
        pause = 2 * pause < PAUSE_MAX_S ? 2 * pause : PAUSE_MAX_S;
    }
    say_open(l);
    e->status = MKPERF_OK; /* of earlier attempts */
    return MKPERF_OK;
}

static bool is_worth_another_try(enum mkperf_status status)
{
    return status == MKPERF_ERR_LINK || status == MKPERF_ERR_SILENT || status == MKPERF_ERR_NOISE ||
           status == MKPERF_ERR_INPUT;
}

static double at_most(double a, double b)
{
    return a < b ? a : b;
}

enum mkperf_status mkperf_peer_reconnect(struct mkperf_peer *l, struct mkperf_error *e)
{
    double began = mkperf_now_s(), until = began + l->options->reconnect_s, pause = PAUSE_S;
    struct mkperf_error broken = *e;

    mkperf_source_close(&l->source);
    l->state = MKPERF_PEER_CLOSED;
    if (l->options->reconnect_s <= 0 || !l->source.ops->interactive) {
        return broken.status;
    }
    mkperf_peer_say(l, "%s: trying again for %g s", broken.text, l->options->reconnect_s);
    for (;;) {
        double left = until - mkperf_now_s();
        if (left <= 0 || mkperf_peer_pause(l, at_most(pause, left))) {
            *e = broken;
            return e->status;
        }
        l->source.patience_s = l->source.accept_s = at_most(left, l->options->timeout_s);
        if (attempt(l, at_most(left, l->options->timeout_s), e) == MKPERF_OK) {
            mkperf_peer_say(l, "connected again after %.1f s", mkperf_now_s() - began);
            e->status = MKPERF_OK;
            return MKPERF_OK;
        }
        if (!is_worth_another_try(e->status) && !l->busy) {
            return e->status;
        }
        pause = at_most(2 * pause, PAUSE_MAX_S);
    }
}
