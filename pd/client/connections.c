/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections: opening and closing, the handshake, and control. docs/protocol.md,
 * "Connections" and "Who may connect", has the rules.
 *
 * Owns: the connections' states. Called by control.c and by the transport. A connection is
 * admitted when its host has sent a hello and, to a target with keys, proved that it has one. There
 * are more connections than hosts that can be admitted; a connection that is not admitted is closed
 * for a newer one. Connections without a hello that shows a key are closed first. A host without a
 * key therefore cannot keep out a host with one, however long that host's handshake takes.
 */
#include "control.h"

#include <string.h>

#include "../lib/text.h"

static void report_roles(struct mkperf_client *c)
{
    for (unsigned i = 0; i < c->places; i++) {
        c->connection[i].tell_role = mkperf_connection_ready(c, i);
    }
}

bool mkperf_connection_admit(struct mkperf_peer peer)
{
    struct mkperf_client *c = peer.c;

    if (c->admitted >> peer.who & 1) {
        return true;
    }
    for (unsigned i = 0; i < c->hosts; i++) {
        if (!(c->queues >> i & 1)) {
            c->queues |= UINT32_C(1) << i;
            c->admitted |= UINT32_C(1) << peer.who;
            mkperf_link_grow(&peer.p->link, c->queue[i]);
            return true;
        }
    }
    c->refused++;
    return false;
}

/* From now on the connection may send requests, and gets unsolicited messages. It is admitted. */
static void become_ready(struct mkperf_peer peer)
{
    struct mkperf_client *c = peer.c;

    c->ready |= UINT32_C(1) << peer.who;
    peer.p->tell_session = true;
    if (c->controller == MKPERF_NOBODY && !peer.p->watch) {
        c->controller = peer.who;
    }
    mkperf_stream_join(peer);
    report_roles(c);
}

int mkperf_client_open(struct mkperf_client *c, bool ends)
{
    unsigned i = 0;

    while (i < c->places && c->connection[i].used) {
        i++;
    }
    if (i == c->places) {
        c->refused++;
        return -1;
    }
    struct mkperf_peer peer = mkperf_peer(c, i, 0);
    *peer.p = (struct mkperf_connection){.used = true, .ends = ends, .number = ++c->connections};
    if (!ends && mkperf_connection_admit(peer) && c->key == NULL) {
        become_ready(peer); /* a line without a key: any host */
        peer.p->tell_role = peer.p->tell_session = false;
    }
    return (int)i;
}

/* Returns whether a has to make room before b. Numbers grow from connection to connection; they
 * wrap after 2^32. */
static bool is_less(const struct mkperf_connection *a, const struct mkperf_connection *b)
{
    return a->has_key != b->has_key ? b->has_key : (int32_t)(a->number - b->number) < 0;
}

int mkperf_client_least(const struct mkperf_client *c)
{
    int least = -1;

    for (unsigned i = 0; i < c->places; i++) {
        if (!c->connection[i].used) {
            return -1;
        }
        if (!(c->admitted >> i & 1) &&
            (least < 0 || is_less(&c->connection[i], &c->connection[least]))) {
            least = (int)i;
        }
    }
    return least;
}

void mkperf_connection_give_up_control(struct mkperf_peer peer)
{
    if (peer.c->controller == peer.who) {
        peer.c->controller = MKPERF_NOBODY;
        report_roles(peer.c);
    }
}

void mkperf_client_closed(struct mkperf_client *c, unsigned who)
{
    struct mkperf_connection *p = &c->connection[who];
    uint32_t bit = UINT32_C(1) << who;

    bool was_ready = mkperf_connection_ready(c, who);

    c->links_lost += c->running && was_ready;
    c->refused += p->claim.made; /* Its host sent a hello to a target with a key, and no proof. */
    for (unsigned i = 0; i < c->hosts; i++) {
        c->queues &= ~(p->link.large == c->queue[i] ? UINT32_C(1) << i : 0);
    }
    p->used = false;
    c->admitted &= ~bit;
    c->ready &= ~bit;
    if (c->stop_by == who) {
        c->stop_by = MKPERF_NOBODY;
    }
    mkperf_connection_give_up_control(mkperf_peer(c, who, 0));
    if (was_ready) { /* Hosts get no message about strangers. */
        report_roles(c);
    }
}

bool mkperf_client_finished(const struct mkperf_client *c, unsigned who)
{
    const struct mkperf_connection *p = &c->connection[who];

    return p->used && p->ending && p->link.head == p->link.tail;
}

/* Makes sixteen bytes from the boot id and the number of challenges, so that they never occur again.
 * Without the key they cannot be predicted. */
static void make_nonce(struct mkperf_client *c, struct mkperf_claim *claim)
{
    uint64_t seed[4] = {c->page->hello.boot_id, ++c->challenges, c->pool, mkperf_client_now(c)};
    uint8_t whole[MKPERF_HMAC_BYTES];
    struct mkperf_hmac h;

    mkperf_hmac_begin(&h, claim->key);
    mkperf_hmac_add(&h, "mkprf1-n", 8);
    mkperf_hmac_add(&h, seed, sizeof seed);
    mkperf_hmac_add(&h, claim->hellos.host_nonce, sizeof claim->hellos.host_nonce);
    mkperf_hmac_end(&h, whole);
    memcpy(claim->hellos.target_nonce, whole, MKPERF_NONCE_BYTES);
}

/* Prepares the connection for a new host: its state is that after opening, except for its frames'
 * numbers. */
static void begin_again(struct mkperf_peer peer, bool watch, const char *name)
{
    struct mkperf_connection *p = peer.p;

    p->watch = watch;
    p->listing = false;
    p->gap = (struct mkperf_gap){0};
    mkperf_text_copy(p->name, name, sizeof p->name);
    if (peer.c->key != NULL || watch) {
        mkperf_connection_give_up_control(peer);
    }
}

/*
 * Whether the hello shows that its host has the key. A stranger can record a hello and send it again, so
 * the nonces of the last ones are remembered: a repeated one shows nothing. Only hellos of hosts
 * with a key are remembered, so strangers do not displace them.
 */
static bool shows_key(struct mkperf_client *c, const struct mkperf_claim *claim,
                      const mkperf_HostHello *m)
{
    uint8_t expected[MKPERF_PROOF_BYTES];

    mkperf_auth_hello_proof(claim->key, &claim->hellos, expected);
    if (m->proof.size != MKPERF_PROOF_BYTES ||
        !mkperf_auth_same(expected, m->proof.bytes, sizeof expected)) {
        return false;
    }
    for (unsigned i = 0; i < MKPERF_OLD_HELLOS; i++) {
        if (mkperf_auth_same(c->old_nonce[i], m->nonce.bytes, MKPERF_NONCE_BYTES)) {
            return false;
        }
    }
    memcpy(c->old_nonce[c->old_hellos++ % MKPERF_OLD_HELLOS], m->nonce.bytes, MKPERF_NONCE_BYTES);
    return true;
}

/* Prepares the proofs of a target that has a key. Without a nonce of the host there is nothing to
 * prove by, which the answer shows. */
static void challenge(struct mkperf_client *c, struct mkperf_connection *p,
                      const mkperf_HostHello *m, const uint8_t *key)
{
    struct mkperf_claim *claim = &p->claim;
    struct mkperf_auth_hellos *h = &claim->hellos;

    *claim = (struct mkperf_claim){.made = true, .watch = m->watch, .key = key};
    mkperf_text_copy(claim->name, m->name, sizeof claim->name);
    claim->in = p->link.sequence;
    claim->out_base = p->link.number & ~UINT64_C(0xffff);
    if (m->nonce.size != MKPERF_NONCE_BYTES) {
        return;
    }
    memcpy(h->host_nonce, m->nonce.bytes, MKPERF_NONCE_BYTES);
    h->watch = m->watch;
    h->name = claim->name;
    h->name_bytes = (uint32_t)strlen(claim->name);
    p->has_key = shows_key(c, claim, m) || p->has_key;
    h->boot_id = c->page->hello.boot_id;
    make_nonce(c, claim);
    claim->open = true;
}

/* Ends a handshake. Messages to a host that has not proved its key have no MAC. */
static void refuse_peer(struct mkperf_peer peer, mkperf_ErrorCode code, const char *text)
{
    struct mkperf_connection *p = peer.p;
    bool authenticated = p->link.authenticated;

    p->link.authenticated = false;
    p->ending = p->ends;
    p->claim.open = false;
    mkperf_report_error(peer, code, "%s", text);
    p->link.authenticated = authenticated;
}

/* Admits the connection, or refuses it if there is no room. Returns whether it is admitted. */
static bool admit_or_refuse(struct mkperf_peer peer)
{
    bool admitted = mkperf_connection_admit(peer);

    if (!admitted) {
        refuse_peer(peer, mkperf_ErrorCode_ERROR_BUSY,
                    "as many hosts are connected as there can be");
    }
    return admitted;
}

void mkperf_connection_hello(struct mkperf_peer peer, const mkperf_HostHello *m)
{
    struct mkperf_client *c = peer.c;
    struct mkperf_connection *p = peer.p;

    if (m->protocol != MKPERF_PROTOCOL) {
        mkperf_report_error(peer, mkperf_ErrorCode_ERROR_PROTOCOL,
                            "the target speaks mkperf protocol %u, the host %u: use the mkperf "
                            "command of the target's build",
                            (unsigned)MKPERF_PROTOCOL, m->protocol);
        return;
    }
    if (c->page->hello.boot_id == 0) {
        c->call(MKPERF_OP_INFO); /* there may be a kernel hook to ask by now */
    }
    bool authenticated = p->link.authenticated;
    if (c->key != NULL) {
        unsigned i = 0;
        while (i < c->keys && !mkperf_text_is(m->key, sizeof m->key, c->key[i].name)) {
            i++; /* Names are no secret. */
        }
        if (i == c->keys) {
            c->bad_auth++;
            refuse_peer(peer, mkperf_ErrorCode_ERROR_AUTHENTICATION,
                        "the target has no key of the name that the host's key file has");
            return;
        }
        challenge(c, p, m, c->key[i].bytes);
        p->link.authenticated = false;
    } else if (!admit_or_refuse(peer)) {
        return;
    } else {
        begin_again(peer, m->watch, m->name);
    }
    if (peer.request != 0) {
        mkperf_report_hello(peer);
    }
    p->link.authenticated = authenticated;
    if (c->key == NULL) {
        become_ready(peer);
    }
}

void mkperf_connection_prove(struct mkperf_peer peer, const mkperf_Prove *m)
{
    struct mkperf_link *link = &peer.p->link;
    struct mkperf_claim *claim = &peer.p->claim;
    uint8_t expected[MKPERF_PROOF_BYTES];
    bool right = claim->open && m->proof.size == MKPERF_PROOF_BYTES;

    claim->made = false;
    /* Every proof is checked: wrong ones must not keep a right one out. On a connection that
     * ends there is one. */
    if (right) {
        mkperf_auth_proof(claim->key, MKPERF_ROLE_HOST, &claim->hellos, expected);
        right = mkperf_auth_same(expected, m->proof.bytes, sizeof expected);
    }
    if (!right) {
        peer.c->bad_auth++;
        refuse_peer(peer, mkperf_ErrorCode_ERROR_AUTHENTICATION,
                    "the host's key is not the target's");
        return;
    }
    if (!admit_or_refuse(peer)) {
        return;
    }
    /* The connection is now this host's, with new keys. */
    claim->open = false;
    mkperf_auth_mac_key(claim->key, MKPERF_ROLE_TARGET, &claim->hellos, link->out_key);
    mkperf_auth_mac_key(claim->key, MKPERF_ROLE_HOST, &claim->hellos, link->in_key);
    link->number -= claim->out_base;
    link->accepted = mkperf_auth_number(claim->in, link->sequence);
    link->authenticated = true;
    peer.c->ready &= ~(UINT32_C(1) << peer.who);
    begin_again(peer, claim->watch, claim->name);
    mkperf_report_ack(peer);
    become_ready(peer);
}

bool mkperf_connection_may_control(struct mkperf_peer peer)
{
    if (peer.c->controller == MKPERF_NOBODY && !peer.p->framed) {
        peer.c->controller = peer.who;
        report_roles(peer.c);
    }
    return peer.c->controller == peer.who;
}

void mkperf_connection_take_control(struct mkperf_peer peer, bool force)
{
    struct mkperf_client *c = peer.c;

    if (c->controller != MKPERF_NOBODY && c->controller != peer.who && !force) {
        c->refused++;
        mkperf_report_error(peer, mkperf_ErrorCode_ERROR_NOT_CONTROLLER,
                            "another host controls this target");
        return;
    }
    c->controller = peer.who;
    peer.p->watch = false;
    report_roles(c);
    if (peer.request != 0) {
        mkperf_report_role(peer);
        peer.p->tell_role = false;
    }
}
