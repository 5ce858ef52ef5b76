/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the handshake, and opening and restoring a link; see connection.h, and docs/protocol.md, "Who may
 * connect". */
#include <math.h>
#include <sys/random.h>

#include "connection.h"

static const double HELLO_S = 0.2; /* wait before the first repetition of a hello; then doubled */
/* The longest wait between repetitions. On a network it is also the first one: a network loses nothing, and
 * each repetition begins the handshake again. */
static const double HELLO_MAX_S = 1.6;
static const double PROVE_S =
    5.0; /* the longest wait for the answer to a proof; other hosts may prove at this time */
/* The wait before a connection is tried again; doubled each time. */
static const double PAUSE_S = 0.1;
static const double PAUSE_MAX_S = 5.0;

/* Makes the host's Hello, with a new nonce if there is a key. */
static enum mkperf_status make_hello(struct mkperf_peer *l, mkperf_ToTarget *m,
                                     struct mkperf_error *e)
{
    mkperf_HostHello *hello = &m->msg.hello;

    memset(m, 0, sizeof *m);
    m->which_msg = mkperf_ToTarget_hello_tag;
    hello->protocol = MKPERF_PROTOCOL;
    hello->watch = l->options->watch;
    memcpy(hello->name, l->name, sizeof l->name);
    l->hellos = (struct mkperf_auth_hellos){
        .watch = l->options->watch, .name = l->name, .name_bytes = strlen(l->name)};
    if (!l->has_key) {
        return MKPERF_OK;
    }
    MKPERF_FAIL_IF(getrandom(l->hellos.host_nonce, sizeof l->hellos.host_nonce, 0) !=
                       (ssize_t)sizeof l->hellos.host_nonce,
                   e, MKPERF_ERR_FAILED, "no random numbers: %s", strerror(errno));
    hello->nonce.size = MKPERF_NONCE_BYTES;
    memcpy(hello->nonce.bytes, l->hellos.host_nonce, MKPERF_NONCE_BYTES);
    memcpy(hello->key, l->key.name, sizeof hello->key);
    hello->proof.size = MKPERF_PROOF_BYTES;
    mkperf_auth_hello_proof(l->key.bytes, &l->hellos, hello->proof.bytes);
    return MKPERF_OK;
}

/* Sets the error for a hello without an answer, from what the line had instead. */
static enum mkperf_status silence(struct mkperf_peer *l, double patience_s, struct mkperf_error *e)
{
    const struct mkperf_receiver *w = &l->receiver;

    mkperf_receiver_idle(&l->receiver);
    MKPERF_DEMAND(
        &l->source, w->bytes != 0, MKPERF_ERR_SILENT, e,
        "no byte arrived in %g s. Is the target running? Does another program use the line? Is it "
        "that of its profiler? Is its kernel of the configuration for which its PDs were built?",
        patience_s);
    MKPERF_DEMAND(&l->source, w->frames != 0 || w->noise_bytes + (w->n - w->shown) == 0,
                  MKPERF_ERR_NOISE, e,
                  "%" PRIu64 " bytes arrived and no frame was among them: the baud rate is wrong, "
                  "or this is not the line of the profiler",
                  w->bytes);
    return mkperf_source_demand(
        &l->source, false, MKPERF_ERR_SILENT, e, "%s, but no answer to hello in %g s%s",
        w->frames > 0 ? "frames arrive" : "console text arrives", patience_s,
        w->frames > 0 ? ": does the line carry bytes to the target?"
                      : ": does the system contain the profiler?");
}

static enum mkperf_status refuse_attempt(struct mkperf_peer *l, struct mkperf_error *e)
{
    const mkperf_Error *m = &l->answer.msg.error;
    enum mkperf_status status = m->code == mkperf_ErrorCode_ERROR_PROTOCOL ? MKPERF_ERR_PROTOCOL
                                                                           : MKPERF_ERR_REFUSED;

    /* An old target sends only its own version. */
    MKPERF_DEMAND(&l->source, status != MKPERF_ERR_PROTOCOL, status, e,
                  "this mkperf speaks protocol %d, and the target refuses: %s", MKPERF_PROTOCOL,
                  m->text);
    l->busy = m->code == mkperf_ErrorCode_ERROR_BUSY || m->code == mkperf_ErrorCode_ERROR_RATE;
    return mkperf_error_set(e, status, "%s: the target refuses: %s", l->source.spec,
                            m->text[0] != '\0' ? m->text : "without a reason");
}

/* Makes the handshake: repeated hellos, then the proof of a key. After patience_s without an answer: SILENT or NOISE. */
static enum mkperf_status greet(struct mkperf_peer *l, double patience_s, struct mkperf_error *e)
{
    double until = mkperf_now_s() + patience_s;
    double wait = l->source.ops->network ? HELLO_MAX_S : HELLO_S;
    mkperf_ToTarget m;

    l->state = MKPERF_PEER_GREETING;
    l->dropped = 0;
    mkperf_receiver_restart(&l->receiver);
    MKPERF_TRY(make_hello(l, &m, e));
    while (mkperf_peer_ask(l, &m, 0, wait, e) != MKPERF_OK) {
        if (e->status != MKPERF_ERR_SILENT) {
            return e->status;
        }
        if (mkperf_now_s() > until || mkperf_peer_stopped(l)) {
            return silence(l, patience_s, e);
        }
        wait = fmin(2 * wait, HELLO_MAX_S);
    }
    if (l->answer.which_msg == mkperf_ToHost_error_tag) {
        return refuse_attempt(l, e);
    }
    e->status = MKPERF_OK; /* *e has the SILENT of an unanswered hello */
    if (l->state != MKPERF_PEER_PROVING) {
        return MKPERF_OK;
    }
    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToTarget_prove_tag;
    m.msg.prove.proof.size = MKPERF_PROOF_BYTES;
    mkperf_auth_proof(l->key.bytes, MKPERF_ROLE_HOST, &l->hellos, m.msg.prove.proof.bytes);
    enum mkperf_status status = mkperf_peer_ask(l, &m, 0, PROVE_S, e);
    MKPERF_DEMAND(&l->source, status != MKPERF_ERR_SILENT, status, e,
                  "no answer to this host's proof");
    MKPERF_TRY(status);
    if (l->answer.which_msg == mkperf_ToHost_error_tag) {
        return refuse_attempt(l, e);
    }
    l->state = MKPERF_PEER_SEALED;
    return MKPERF_OK;
}

static enum mkperf_status try_to_connect(struct mkperf_peer *l, double patience_s,
                                         struct mkperf_error *e)
{
    l->sequence = 0;
    l->has_role = l->busy = false;
    l->state = MKPERF_PEER_CLOSED;
    MKPERF_TRY(mkperf_source_open(&l->source, e));
    if (greet(l, patience_s, e) != MKPERF_OK) {
        mkperf_source_close(&l->source);
        return e->status;
    }
    l->heard_s = mkperf_now_s();
    return MKPERF_OK;
}

enum mkperf_status mkperf_peer_connect(struct mkperf_peer *l, struct mkperf_error *e)
{
    double until = mkperf_now_s() + l->options->timeout_s, pause = PAUSE_S;

    l->source.patience_s = l->options->timeout_s;
    l->source.accept_s = 0;
    while (try_to_connect(l, l->options->timeout_s, e) != MKPERF_OK) {
        if ((e->status != MKPERF_ERR_LINK && !l->busy) || !l->source.ops->network ||
            mkperf_now_s() + pause > until || mkperf_peer_pause(l, pause)) {
            return e->status;
        }
        pause = fmin(2 * pause, PAUSE_MAX_S);
    }
    if (l->state == MKPERF_PEER_OPEN && l->source.ops->network) {
        mkperf_peer_say(l,
                        "the target has no key: any host that reaches it can read and control it "
                        "(for development on a private network only)");
    }
    e->status = MKPERF_OK; /* *e has the error of an earlier attempt */
    return MKPERF_OK;
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
        if (left <= 0 || mkperf_peer_pause(l, fmin(pause, left))) {
            *e = broken;
            return e->status;
        }
        l->source.patience_s = l->source.accept_s = fmin(left, l->options->timeout_s);
        if (try_to_connect(l, fmin(left, l->options->timeout_s), e) == MKPERF_OK) {
            mkperf_peer_say(l, "connected again after %.1f s", mkperf_now_s() - began);
            e->status = MKPERF_OK;
            return MKPERF_OK;
        }
        if (e->status != MKPERF_ERR_LINK && e->status != MKPERF_ERR_SILENT &&
            e->status != MKPERF_ERR_NOISE && e->status != MKPERF_ERR_INPUT && !l->busy) {
            return e->status;
        }
        pause = fmin(2 * pause, PAUSE_MAX_S);
    }
}
