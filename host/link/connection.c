/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: frames in both directions, requests, and the host's judgement of the target's Hello; see
 * connection.h. Before the end of the handshake, only the target's Hello is passed on. With a key,
 * only messages with a valid MAC are passed on afterwards.
 */
#include "connection.h"

#include <pb_decode.h>
#include <pb_encode.h>

#include <mkperf/frame.h>

bool mkperf_peer_stopped(const struct mkperf_peer *l)
{
    return l->source.stop != NULL && *l->source.stop != 0;
}

bool mkperf_peer_pause(const struct mkperf_peer *l, double seconds)
{
    return mkperf_source_wait(&l->source, -1, 0, seconds) == EINTR;
}

void mkperf_peer_control(struct mkperf_peer *l, const mkperf_ToHost *m)
{
    if (m->which_msg == mkperf_ToHost_role_tag) {
        l->role = m->msg.role;
        l->has_role = true;
    }
    if (m->request != 0 && m->request == l->request) {
        l->answered = true;
        l->answer = *m;
    }
}

bool mkperf_peer_is_error(const struct mkperf_peer *l, mkperf_ErrorCode code)
{
    return l->answer.which_msg == mkperf_ToHost_error_tag && l->answer.msg.error.code == code;
}

static uint16_t this_sequence(const struct mkperf_peer *l)
{
    return (uint16_t)(l->receiver.next - 1);
}

/* Judges the target's Hello, and enters the next state. Errors: PROTOCOL, REFUSED. */
static enum mkperf_status judge_hello(struct mkperf_peer *l, const mkperf_TargetHello *hello,
                                      struct mkperf_error *e)
{
    const char *wrong = NULL;
    uint8_t proof[MKPERF_PROOF_BYTES];
    bool wants_key = hello->authentication == mkperf_Authentication_AUTHENTICATION_KEY;

    MKPERF_DEMAND(
        &l->source, hello->protocol == MKPERF_PROTOCOL, MKPERF_ERR_PROTOCOL, e,
        "the target speaks protocol %u, this mkperf %d: use the mkperf of the target's build",
        (unsigned)hello->protocol, MKPERF_PROTOCOL);
    if (wants_key != l->has_key) {
        wrong = wants_key ? "the target requires a key: --key-file FILE"
                          : "the target has no key, so it cannot prove its identity. To connect "
                            "without that proof, omit --key-file";
    } else if (!wants_key) {
        l->state = MKPERF_PEER_OPEN;
        return MKPERF_OK;
    } else if (hello->nonce.size != MKPERF_NONCE_BYTES || hello->proof.size != MKPERF_PROOF_BYTES) {
        wrong = "the target requires a key, but its own proof is missing";
    } else {
        memcpy(l->hellos.target_nonce, hello->nonce.bytes, MKPERF_NONCE_BYTES);
        l->hellos.boot_id = hello->boot_id;
        mkperf_auth_proof(l->key.bytes, MKPERF_ROLE_TARGET, &l->hellos, proof);
        wrong = mkperf_auth_same(proof, hello->proof.bytes, sizeof proof)
                    ? NULL
                    : "wrong key: the target's key is not that of --key-file, or another system "
                      "answers";
    }
    MKPERF_DEMAND(&l->source, wrong == NULL, MKPERF_ERR_REFUSED, e, "%s", wrong);
    mkperf_auth_mac_key(l->key.bytes, MKPERF_ROLE_HOST, &l->hellos, l->mac_out);
    mkperf_auth_mac_key(l->key.bytes, MKPERF_ROLE_TARGET, &l->hellos, l->mac_in);
    l->state = MKPERF_PEER_PROVING;
    return MKPERF_OK;
}

/*
 * Handles a message before authentication: the answer to our hello, or an error. A target without a key
 * may already send a stream to a serial line, which is ignored until then.
 */
static enum mkperf_status on_greeting(struct mkperf_peer *l, const uint8_t *p, size_t n,
                                      struct mkperf_error *e)
{
    mkperf_ToHost *m = &l->message;
    size_t length;

    mkperf_ToTarget own;
    pb_istream_t in = pb_istream_from_buffer(p, n);
    if (pb_decode(&in, mkperf_ToTarget_fields, &own) &&
        own.which_msg == mkperf_ToTarget_hello_tag && strcmp(own.msg.hello.name, l->name) == 0) {
        /* A target never sends a hello of this host. */
        return mkperf_source_demand(&l->source, false, MKPERF_ERR_NOISE, e,
                                    "what arrives is what was sent: RX and TX are joined, or the "
                                    "other end is a program that echoes");
    }
    if (mkperf_batch_find(p, n, &length) != NULL || !mkperf_wire_decode(p, n, m)) {
        return MKPERF_OK;
    }
    /* If all of the target's connections are in use, it reports that before it reads our hello. */
    bool error = m->which_msg == mkperf_ToHost_error_tag;
    bool busy = error && m->request == 0 && m->msg.error.code == mkperf_ErrorCode_ERROR_BUSY;
    bool ours = m->request != 0 && m->request <= l->request &&
                (!l->has_key || m->request == l->request);
    if ((!busy && !ours) || (!error && m->which_msg != mkperf_ToHost_hello_tag)) {
        return MKPERF_OK;
    }
    l->answered = true;
    l->answer = *m;
    if (error) {
        return MKPERF_OK;
    }
    l->number_in = this_sequence(l);
    MKPERF_TRY(judge_hello(l, &m->msg.hello, e));
    return l->ops->message(l->self, p, n, 0, e);
}

/* Takes a message as the answer if it refuses the last request. It has no MAC, so it can only end the attempt.
 * False: it refuses nothing. */
static bool take_refusal(struct mkperf_peer *l, const uint8_t *p, size_t n)
{
    if (!mkperf_wire_decode(p, n, &l->message) || l->message.request != l->request ||
        l->message.which_msg != mkperf_ToHost_error_tag) {
        return false;
    }
    l->answered = true;
    l->answer = l->message;
    return true;
}

static enum mkperf_status on_sealed(struct mkperf_peer *l, const uint8_t *p, size_t n, unsigned gap,
                                    struct mkperf_error *e)
{
    uint64_t number = mkperf_auth_number(l->number_in, this_sequence(l));

    if (mkperf_auth_verify(l->mac_in, number, p, n)) {
        l->number_in = number;
        gap += l->dropped;
        l->dropped = 0;
        l->state = MKPERF_PEER_SEALED;
        return l->ops->message(l->self, p, n, gap, e);
    }
    if (l->state == MKPERF_PEER_PROVING && take_refusal(l, p, n)) {
        return MKPERF_OK;
    }
    /* A restarted target refuses an authenticated request so. On a line, any program could send that, which would cost a
     * handshake. */
    if (l->state == MKPERF_PEER_SEALED && !l->source.ops->network && take_refusal(l, p, n) &&
        mkperf_peer_is_error(l, mkperf_ErrorCode_ERROR_AUTHENTICATION)) {
        return mkperf_source_demand(&l->source, false, MKPERF_ERR_LINK, e,
                                    "the target no longer knows this connection's keys");
    }
    l->dropped += gap + 1;
    l->bad_macs++;
    /* On a serial line, noise can look like that. */
    return mkperf_source_demand(
        &l->source, !l->source.ops->network || l->state != MKPERF_PEER_SEALED, MKPERF_ERR_LINK, e,
        "a message without the right MAC: repeated, altered, or not from the target");
}

static enum mkperf_status on_peer_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                          struct mkperf_error *e)
{
    struct mkperf_peer *l = self;

    return l->state == MKPERF_PEER_GREETING ? on_greeting(l, p, n, e)
           : l->state == MKPERF_PEER_OPEN   ? l->ops->message(l->self, p, n, gap, e)
           : l->state != MKPERF_PEER_CLOSED ? on_sealed(l, p, n, gap, e)
                                            : MKPERF_OK;
}

static void on_peer_text(void *self, const char *p, size_t n)
{
    struct mkperf_peer *l = self;

    bool sealed = l->state == MKPERF_PEER_SEALED, network = l->source.ops->network;

    /* With a key, the text before the handshake is noted, too. */
    if (l->has_key && !network && !l->foreign) {
        mkperf_peer_say(l, "text on this line is not authenticated: it is the console's, or "
                           "another writer's");
    }
    l->foreign |= network ? sealed : l->has_key;
    if (!sealed || !network) { /* mkperf_peer_pump reports text on a network */
        l->ops->text(l->self, p, n);
    }
}

enum mkperf_status mkperf_peer_init(struct mkperf_peer *l,
                                    const struct mkperf_peer_options *options,
                                    const struct mkperf_peer_ops *ops, void *self,
                                    volatile int *stop, struct mkperf_error *e)
{
    static const struct mkperf_receiver_ops receiver_ops = {.text = on_peer_text,
                                                            .message = on_peer_message};
    const char *user = getenv("USER");
    char host[HOST_NAME_MAX + 1] = "";

    memset(l, 0, sizeof *l);
    l->source.fd = l->source.listener = -1;
    l->options = options;
    l->ops = ops;
    l->self = self;
    (void)gethostname(host, sizeof host - 1);
    snprintf(l->name, sizeof l->name, "%.8s@%.12s:%d", user != NULL ? user : "host", host,
             (int)getpid());
    l->receiver.ops = &receiver_ops;
    l->receiver.self = l;
    MKPERF_TRY(mkperf_source_init(&l->source, options->target, e));
    assert(l->source.ops != NULL); /* what has failed returned above */
    l->source.stop = stop;
    l->has_key = options->key_file != NULL;
    return l->has_key ? mkperf_key_read(options->key_file, &l->key, e) : MKPERF_OK;
}

void mkperf_peer_end(struct mkperf_peer *l)
{
    mkperf_source_end(&l->source);
    if (l->raw.path != NULL) {
        mkperf_outfile_close(&l->raw);
    }
    mbedtls_platform_zeroize(&l->key, sizeof l->key);
    mbedtls_platform_zeroize(l->mac_out, sizeof l->mac_out);
    mbedtls_platform_zeroize(l->mac_in, sizeof l->mac_in);
}

enum mkperf_status mkperf_peer_pump(struct mkperf_peer *l, int timeout_ms, struct mkperf_error *e)
{
    struct pollfd ready = {.fd = l->source.fd, .events = POLLIN};
    size_t n = 0;

    if (mkperf_poll(&ready, 1, timeout_ms) > 0 &&
        l->source.ops->read(&l->source, l->buffer, sizeof l->buffer, &n, e) != MKPERF_OK) {
        return e->status;
    }
    if (n != 0) {
        /* Handles received bytes. A network connection has no bytes between authenticated messages. */
        bool closed = l->state == MKPERF_PEER_SEALED && l->source.ops->network;
        uint64_t noise = l->receiver.noise;
        l->heard_s = mkperf_now_s();
        if (l->raw.path != NULL) {
            mkperf_outfile_write(&l->raw, l->buffer, n);
            MKPERF_TRY(mkperf_outfile_status(&l->raw, e));
        }
        MKPERF_TRY(mkperf_receiver_push(&l->receiver, l->buffer, n, e));
        if (closed && (l->foreign || l->receiver.noise != noise)) {
            l->foreign = false;
            return mkperf_source_demand(
                &l->source, false, MKPERF_ERR_LINK, e,
                "text or a damaged frame between authenticated messages: not from the target");
        }
    } else if (l->state != MKPERF_PEER_SEALED || !l->source.ops->network) {
        mkperf_receiver_idle(&l->receiver); /* otherwise the bytes are the beginning of a frame */
    }
    return l->ops->tick(l->self, e);
}

/* Encodes m into a frame, with a MAC if the connection has keys, and writes it. */
static enum mkperf_status put_frame(struct mkperf_peer *l, const mkperf_ToTarget *m,
                                    struct mkperf_error *e)
{
    uint8_t message[MKPERF_MESSAGE_BYTES], frame[MKPERF_FRAME_BYTES];
    pb_ostream_t out = pb_ostream_from_buffer(message, MKPERF_CONTENT_BYTES);

    MKPERF_FAIL_IF(!pb_encode(&out, mkperf_ToTarget_fields, m), e, MKPERF_ERR_USAGE,
                   "a request that does not fit one message");
    size_t n = out.bytes_written;
    l->number_out = m->which_msg == mkperf_ToTarget_hello_tag ? l->sequence : l->number_out + 1;
    if (l->state == MKPERF_PEER_SEALED) {
        n = mkperf_auth_mac(l->mac_out, l->number_out, message, n);
    }
    n = mkperf_frame_encode(frame, l->sequence++, message, n);
    return l->source.ops->write(&l->source, frame, n, e);
}

enum mkperf_status mkperf_peer_send(struct mkperf_peer *l, mkperf_ToTarget *m,
                                    struct mkperf_error *e)
{
    m->request = ++l->request;
    l->answered = false;
    return put_frame(l, m, e);
}

enum mkperf_status mkperf_peer_ask(struct mkperf_peer *l, mkperf_ToTarget *m, double repeat_s,
                                   double patience_s, struct mkperf_error *e)
{
    double begin = mkperf_now_s(), sent = begin;

    MKPERF_TRY(mkperf_peer_send(l, m, e));
    while (!l->answered) {
        double now = mkperf_now_s();
        MKPERF_FAIL_IF(now - begin > patience_s, e, MKPERF_ERR_SILENT, "%s", "");
        if (repeat_s > 0 && now - sent >= repeat_s) {
            sent = now;
            MKPERF_TRY(put_frame(l, m, e));
        }
        MKPERF_TRY(mkperf_peer_pump(l, 20, e));
    }
    return MKPERF_OK;
}
