/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the host's side of the handshake, see connection.h and docs/protocol.md, "Who may connect".
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "connection.h"

enum mkperf_status mkperf_peer_hello(struct mkperf_peer *l, mkperf_ToTarget *m,
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
    if (getrandom(l->hellos.host_nonce, sizeof l->hellos.host_nonce, 0) !=
        (ssize_t)sizeof l->hellos.host_nonce) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "no random numbers: %s", strerror(errno));
    }
    hello->nonce.size = MKPERF_NONCE_BYTES;
    memcpy(hello->nonce.bytes, l->hellos.host_nonce, MKPERF_NONCE_BYTES);
    memcpy(hello->key, l->key.name, sizeof hello->key);
    hello->proof.size = MKPERF_PROOF_BYTES;
    mkperf_auth_hello_proof(l->key.bytes, &l->hellos, hello->proof.bytes);
    return MKPERF_OK;
}

static void refuse(struct mkperf_peer *l, const char *why)
{
    mkperf_error_set(&l->refusal, MKPERF_ERR_REFUSED, "%s: %s", l->source.spec, why);
}

static void derive_mac_keys(struct mkperf_peer *l)
{
    mkperf_auth_mac_key(l->key.bytes, MKPERF_ROLE_HOST, &l->hellos, l->mac_out);
    mkperf_auth_mac_key(l->key.bytes, MKPERF_ROLE_TARGET, &l->hellos, l->mac_in);
}

static void check_proof(struct mkperf_peer *l, const mkperf_TargetHello *hello)
{
    uint8_t proof[MKPERF_PROOF_BYTES];

    if (hello->nonce.size != MKPERF_NONCE_BYTES || hello->proof.size != MKPERF_PROOF_BYTES) {
        refuse(l, "the target requires a key, but its own proof is missing");
        return;
    }
    memcpy(l->hellos.target_nonce, hello->nonce.bytes, MKPERF_NONCE_BYTES);
    l->hellos.boot_id = hello->boot_id;
    mkperf_auth_proof(l->key.bytes, MKPERF_ROLE_TARGET, &l->hellos, proof);
    if (!mkperf_auth_same(proof, hello->proof.bytes, sizeof proof)) {
        refuse(l, "wrong key: the target has another one than --key-file, or is not the target");
        return;
    }
    derive_mac_keys(l);
    l->state = MKPERF_PEER_PROVING;
}

void mkperf_peer_judge(struct mkperf_peer *l, const mkperf_TargetHello *hello)
{
    bool wants_key = hello->authentication == mkperf_Authentication_AUTHENTICATION_KEY;

    if (hello->protocol != MKPERF_PROTOCOL) {
        mkperf_error_set(&l->refusal, MKPERF_ERR_PROTOCOL,
                         "%s: the target speaks protocol %u, this mkperf %d: use the mkperf of "
                         "the target's build",
                         l->source.spec, (unsigned)hello->protocol, MKPERF_PROTOCOL);
        return;
    }
    if (wants_key && !l->has_key) {
        refuse(l, "the target requires a key: --key-file FILE");
    } else if (!wants_key && l->has_key) {
        refuse(l, "the target has no key, so it cannot prove that it is the one you mean. To "
                  "talk to it all the same, leave --key-file away");
    } else if (wants_key) {
        check_proof(l, hello);
    } else {
        l->state = MKPERF_PEER_OPEN;
    }
}

void mkperf_peer_proof(const struct mkperf_peer *l, mkperf_ToTarget *m)
{
    memset(m, 0, sizeof *m);
    m->which_msg = mkperf_ToTarget_prove_tag;
    m->msg.prove.proof.size = MKPERF_PROOF_BYTES;
    mkperf_auth_proof(l->key.bytes, MKPERF_ROLE_HOST, &l->hellos, m->msg.prove.proof.bytes);
}
