/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is connected: opening and closing, the handshake, and who controls. docs/protocol.md,
 * "Connections" and "Who may connect", has the rules.
 *
 * Owns: the connections' states. Called by control.c and by the transport.
 */
#include "control.h"

#include "../lib/text.h"

static void tell_roles(struct mkperf_client *c)
{
    for (unsigned i = 0; i < MKPERF_CONNECTIONS; i++) {
        c->connection[i].tell_role = c->connection[i].used && c->connection[i].ready;
    }
}

unsigned mkperf_peer_watchers(const struct mkperf_client *c)
{
    unsigned n = 0;

    for (unsigned i = 0; i < MKPERF_CONNECTIONS; i++) {
        n += c->connection[i].used && c->connection[i].ready && i != c->controller;
    }
    return n;
}

/* The connection may ask from now on and gets what is unasked. */
static void become_ready(struct mkperf_client *c, unsigned who)
{
    struct mkperf_connection *p = &c->connection[who];

    p->ready = true;
    p->tell_session = true;
    if (c->controller == MKPERF_NOBODY && !p->watch) {
        c->controller = who;
    }
    mkperf_stream_join(c, who);
    tell_roles(c);
}

int mkperf_client_open(struct mkperf_client *c, bool ends)
{
    unsigned i = 0;

    while (i < MKPERF_CONNECTIONS && c->connection[i].used) {
        i++;
    }
    if (i == MKPERF_CONNECTIONS) {
        c->refused++;
        return -1;
    }
    c->connection[i] = (struct mkperf_connection){.used = true, .ends = ends};
    c->connection[i].number = ++c->connections;
    c->connection[i].opened = mkperf_client_now(c);
    if (!ends && c->key == NULL) {
        become_ready(c, i); /* a line without a key: whoever is at its end */
        c->connection[i].tell_role = c->connection[i].tell_session = false;
    }
    return (int)i;
}

int mkperf_client_idler(struct mkperf_client *c)
{
    uint64_t patience = MKPERF_HELLO_SECONDS * mkperf_client_hz(c);

    int idler = -1;

    for (unsigned i = 0; i < MKPERF_CONNECTIONS; i++) {
        const struct mkperf_connection *p = &c->connection[i];
        if (!p->used) {
            return -1;
        }
        if (p->ends && !p->ready && mkperf_client_now(c) - p->opened > patience &&
            (idler < 0 || p->opened < c->connection[idler].opened)) {
            idler = (int)i;
        }
    }
    return idler;
}

void mkperf_peer_give_up_control(struct mkperf_client *c, unsigned who)
{
    if (c->controller == who) {
        c->controller = MKPERF_NOBODY;
        tell_roles(c);
    }
}

void mkperf_client_closed(struct mkperf_client *c, unsigned who)
{
    c->links_lost += c->running && c->connection[who].ready;
    c->refused += c->connection[who].unproven; /* a host with another key or none has hung up */
    c->connection[who].used = false;
    c->connection[who].ready = false;
    if (c->stop_by == who) {
        c->stop_by = MKPERF_NOBODY;
    }
    mkperf_peer_give_up_control(c, who);
    tell_roles(c);
}

bool mkperf_client_finished(const struct mkperf_client *c, unsigned who)
{
    const struct mkperf_connection *p = &c->connection[who];

    return p->used && p->ending && p->link.head == p->link.tail;
}

/* Sixteen bytes that never come again: what they are made of does not, and who has no key cannot
 * tell what they will be. */
static void make_nonce(struct mkperf_client *c, struct mkperf_connection *p)
{
    uint64_t seed[4] = {c->page->hello.boot_id, ++c->challenges, c->pool, mkperf_client_now(c)};
    uint8_t whole[MKPERF_HMAC_BYTES];
    struct mkperf_hmac h;

    mkperf_hmac_begin(&h, c->key);
    mkperf_hmac_add(&h, "mkprf1-n", 8);
    mkperf_hmac_add(&h, seed, sizeof seed);
    mkperf_hmac_add(&h, p->hellos.host_nonce, sizeof p->hellos.host_nonce);
    mkperf_hmac_end(&h, whole);
    for (unsigned i = 0; i < MKPERF_NONCE_BYTES; i++) {
        p->hellos.target_nonce[i] = whole[i];
    }
}

/* Everything of the connection is as after opening it, but for its frames' numbers. */
static void begin_anew(struct mkperf_client *c, unsigned who, const mkperf_HostHello *m)
{
    struct mkperf_connection *p = &c->connection[who];

    p->link.sealed = false;
    p->link.accepted = p->link.sequence;
    p->link.number &= 0xffff;
    p->ready = c->key == NULL && !p->ends;
    p->watch = m->watch;
    p->listing = false;
    p->challenged = false;
    p->unproven = c->key != NULL;
    p->gap = (struct mkperf_gap){0};
    mkperf_text_copy(p->name, m->name, sizeof p->name);
    if (c->controller == who && (c->key != NULL || m->watch)) {
        mkperf_peer_give_up_control(c, who);
    }
}

/* Prepares the proofs of a target that has a key. */
static void challenge(struct mkperf_client *c, struct mkperf_connection *p,
                      const mkperf_HostHello *m)
{
    struct mkperf_auth_hellos *h = &p->hellos;

    if (m->nonce.size != MKPERF_NONCE_BYTES) {
        return;
    }
    for (unsigned i = 0; i < MKPERF_NONCE_BYTES; i++) {
        h->host_nonce[i] = m->nonce.bytes[i];
    }
    h->boot_id = c->page->hello.boot_id;
    h->watch = m->watch;
    h->name = p->name;
    h->name_bytes = 0;
    while (h->name_bytes < sizeof p->name && p->name[h->name_bytes] != '\0') {
        h->name_bytes++;
    }
    make_nonce(c, p);
    p->challenged = true;
}

void mkperf_peer_hello(struct mkperf_client *c, unsigned who, uint32_t request,
                       const mkperf_HostHello *m)
{
    struct mkperf_connection *p = &c->connection[who];

    if (m->protocol != MKPERF_PROTOCOL) {
        mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_PROTOCOL,
                            "the target speaks mkperf protocol 1 and the host another: use the "
                            "mkperf command that belongs to the target's build");
        return;
    }
    begin_anew(c, who, m);
    c->call(MKPERF_OP_INFO);
    if (c->key != NULL) {
        challenge(c, p, m);
    }
    if (request != 0) {
        mkperf_report_hello(c, who, request);
    }
    if (c->key == NULL) {
        become_ready(c, who);
    }
}

/* Whether a proof may be looked at now: the first few, then one in a while. */
static bool within_rate(struct mkperf_client *c)
{
    uint64_t now = mkperf_client_now(c);

    return c->wrong_proofs < MKPERF_WRONG_PROOFS ||
           now - c->proof_time >= MKPERF_PROOF_SECONDS * mkperf_client_hz(c);
}

static bool proof_right(struct mkperf_client *c, const struct mkperf_connection *p,
                        const mkperf_Prove *m)
{
    uint8_t expected[MKPERF_PROOF_BYTES];

    if (!p->challenged || m->proof.size != MKPERF_PROOF_BYTES) {
        return false;
    }
    mkperf_auth_proof(c->key, MKPERF_ROLE_HOST, &p->hellos, expected);
    return mkperf_auth_same(expected, m->proof.bytes, sizeof expected);
}

static void refuse_proof(struct mkperf_client *c, unsigned who, uint32_t request)
{
    c->bad_auth++;
    c->wrong_proofs++;
    c->proof_time = mkperf_client_now(c);
    c->connection[who].ending = c->connection[who].ends;
    mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_AUTHENTICATION,
                        "the host's key is not the target's");
}

void mkperf_peer_prove(struct mkperf_client *c, unsigned who, uint32_t request,
                       const mkperf_Prove *m)
{
    struct mkperf_connection *p = &c->connection[who];

    if (c->key == NULL || p->ready) {
        mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_STATE,
                            "there is nothing to prove");
        return;
    }
    p->unproven = false;
    if (!within_rate(c)) {
        c->rate_limited++;
        p->ending = p->ends;
        p->challenged = false;
        mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_RATE,
                            "too many hosts with a wrong key: try again in 10 seconds");
        return;
    }
    bool right = proof_right(c, p, m);
    p->challenged = false; /* one try for each challenge */
    if (!right) {
        refuse_proof(c, who, request);
        return;
    }
    c->wrong_proofs = 0;
    mkperf_auth_seal_key(c->key, MKPERF_ROLE_TARGET, &p->hellos, p->link.out_key);
    mkperf_auth_seal_key(c->key, MKPERF_ROLE_HOST, &p->hellos, p->link.in_key);
    p->link.accepted = mkperf_auth_number(p->link.accepted, p->link.sequence);
    p->link.sealed = true;
    mkperf_report_ack(c, who, request);
    become_ready(c, who);
}

bool mkperf_peer_may_control(struct mkperf_client *c, unsigned who)
{
    if (c->controller == MKPERF_NOBODY && !c->connection[who].framed) {
        c->controller = who;
        tell_roles(c);
    }
    return c->controller == who;
}

void mkperf_peer_take_control(struct mkperf_client *c, unsigned who, uint32_t request, bool force)
{
    if (c->controller != MKPERF_NOBODY && c->controller != who && !force) {
        c->refused++;
        mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_NOT_CONTROLLER,
                            "somebody else controls this target");
        return;
    }
    c->controller = who;
    c->connection[who].watch = false;
    tell_roles(c);
    if (request != 0) {
        mkperf_report_role(c, who, request);
        c->connection[who].tell_role = false;
    }
}
