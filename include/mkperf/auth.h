/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Authentication: the proofs of the handshake and the MAC of each later message, for both ends.
 * docs/protocol.md, "Who may connect", has the order of messages and a worked example. The MAC's
 * field is called `mac` in the schema.
 *
 * Owns: the hashed bytes. SHA-256 comes from mbed TLS; HMAC is RFC 2104 over it. The caller owns
 * all state. Nothing is allocated.
 */
#ifndef MKPERF_AUTH_H
#define MKPERF_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mbedtls/platform_util.h>
#include <mbedtls/sha256.h>

#include <mkperf/wire.h>

enum mkperf_auth_sizes {
    MKPERF_KEY_BYTES = 32,
    MKPERF_NONCE_BYTES = 16,
    MKPERF_PROOF_BYTES = 16,
    MKPERF_TAG_BYTES = MKPERF_MAC_BYTES - 2,
    MKPERF_MAC_FIELD = 15, /* the field's number in ToTarget and ToHost */
    MKPERF_HMAC_BYTES = 32,
    MKPERF_HMAC_BLOCK = 64,
};

/* A pre-shared key. The name selects a key from the target's list and may be empty. */
struct mkperf_shared_key {
    char name[32];
    uint8_t bytes[MKPERF_KEY_BYTES];
};

/* The sending end, which is part of every hash. */
enum mkperf_auth_role { MKPERF_ROLE_HOST = 'H', MKPERF_ROLE_TARGET = 'T' };

struct mkperf_hmac {
    mbedtls_sha256_context hash;
    uint8_t outer[MKPERF_HMAC_BLOCK];
};

static inline void mkperf_hmac_begin(struct mkperf_hmac *h, const uint8_t key[MKPERF_KEY_BYTES])
{
    uint8_t inner[MKPERF_HMAC_BLOCK];

    for (unsigned i = 0; i < MKPERF_HMAC_BLOCK; i++) {
        uint8_t byte = i < MKPERF_KEY_BYTES ? key[i] : 0;
        inner[i] = byte ^ 0x36;
        h->outer[i] = byte ^ 0x5c;
    }
    mbedtls_sha256_init(&h->hash);
    (void)mbedtls_sha256_starts_ret(&h->hash, 0);
    (void)mbedtls_sha256_update_ret(&h->hash, inner, sizeof inner);
    mbedtls_platform_zeroize(inner, sizeof inner);
}

static inline void mkperf_hmac_add(struct mkperf_hmac *h, const void *bytes, size_t n)
{
    (void)mbedtls_sha256_update_ret(&h->hash, bytes, n);
}

static inline void mkperf_hmac_end(struct mkperf_hmac *h, uint8_t out[MKPERF_HMAC_BYTES])
{
    uint8_t inner[MKPERF_HMAC_BYTES];

    (void)mbedtls_sha256_finish_ret(&h->hash, inner);
    (void)mbedtls_sha256_starts_ret(&h->hash, 0);
    (void)mbedtls_sha256_update_ret(&h->hash, h->outer, sizeof h->outer);
    (void)mbedtls_sha256_update_ret(&h->hash, inner, sizeof inner);
    (void)mbedtls_sha256_finish_ret(&h->hash, out);
    mbedtls_sha256_free(&h->hash);
    mbedtls_platform_zeroize(h->outer, sizeof h->outer);
}

/* Returns whether n bytes are equal, in constant time. */
static inline bool mkperf_auth_same(const uint8_t *a, const uint8_t *b, size_t n)
{
    volatile uint8_t difference = 0;

    for (size_t i = 0; i < n; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference == 0;
}

/* The parts of the hellos that are hashed. Both ends know them after the hellos. */
struct mkperf_auth_hellos {
    uint8_t host_nonce[MKPERF_NONCE_BYTES];
    uint8_t target_nonce[MKPERF_NONCE_BYTES];
    uint64_t boot_id;
    uint8_t watch;     /* HostHello.watch, 0 or 1 */
    const char *name;  /* HostHello.name, name_bytes without NUL */
    size_t name_bytes; /* at most 31 */
};

/* HMAC(key, label | role | host nonce | target nonce | boot id u64le | watch u8 | name) */
static inline void mkperf_auth_derive(const uint8_t key[MKPERF_KEY_BYTES], const char label[8],
                                      enum mkperf_auth_role role,
                                      const struct mkperf_auth_hellos *m,
                                      uint8_t out[MKPERF_HMAC_BYTES])
{
    struct mkperf_hmac h;
    uint8_t fixed[1 + 8] = {(uint8_t)role};
    uint8_t watch = m->watch != 0;

    for (unsigned i = 0; i < 8; i++) {
        fixed[1 + i] = (uint8_t)(m->boot_id >> 8 * i);
    }
    mkperf_hmac_begin(&h, key);
    mkperf_hmac_add(&h, label, 8);
    mkperf_hmac_add(&h, fixed, 1);
    mkperf_hmac_add(&h, m->host_nonce, sizeof m->host_nonce);
    mkperf_hmac_add(&h, m->target_nonce, sizeof m->target_nonce);
    mkperf_hmac_add(&h, fixed + 1, 8);
    mkperf_hmac_add(&h, &watch, 1);
    mkperf_hmac_add(&h, m->name, m->name_bytes);
    mkperf_hmac_end(&h, out);
}

/* Stores TargetHello.proof or Prove.proof: the first 16 bytes, label "mkprf1-p". */
static inline void mkperf_auth_proof(const uint8_t key[MKPERF_KEY_BYTES],
                                     enum mkperf_auth_role role, const struct mkperf_auth_hellos *m,
                                     uint8_t proof[MKPERF_PROOF_BYTES])
{
    uint8_t whole[MKPERF_HMAC_BYTES];

    mkperf_auth_derive(key, "mkprf1-p", role, m, whole);
    for (unsigned i = 0; i < MKPERF_PROOF_BYTES; i++) {
        proof[i] = whole[i];
    }
}

/* Stores HostHello.proof: the first 16 bytes, label "mkprf1-h", role host. The target nonce and the
 * boot id, which the host does not know yet, are zero in *m. */
static inline void mkperf_auth_hello_proof(const uint8_t key[MKPERF_KEY_BYTES],
                                           const struct mkperf_auth_hellos *m,
                                           uint8_t proof[MKPERF_PROOF_BYTES])
{
    uint8_t whole[MKPERF_HMAC_BYTES];

    mkperf_auth_derive(key, "mkprf1-h", MKPERF_ROLE_HOST, m, whole);
    for (unsigned i = 0; i < MKPERF_PROOF_BYTES; i++) {
        proof[i] = whole[i];
    }
}

/* Stores the MAC key for the messages that `role` sends: all 32 bytes, label "mkprf1-s". */
static inline void mkperf_auth_mac_key(const uint8_t key[MKPERF_KEY_BYTES],
                                       enum mkperf_auth_role role,
                                       const struct mkperf_auth_hellos *m,
                                       uint8_t mac_key[MKPERF_KEY_BYTES])
{
    mkperf_auth_derive(key, "mkprf1-s", role, m, mac_key);
}

/* Writes the first 8 bytes of HMAC(MAC key, number u64le | the message's bytes before the MAC
 * field). */
static inline void mkperf_auth_tag(const uint8_t mac_key[MKPERF_KEY_BYTES], uint64_t number,
                                   const uint8_t *message, size_t n, uint8_t tag[MKPERF_TAG_BYTES])
{
    struct mkperf_hmac h;
    uint8_t whole[MKPERF_HMAC_BYTES];
    uint8_t le[8];

    for (unsigned i = 0; i < 8; i++) {
        le[i] = (uint8_t)(number >> 8 * i);
    }
    mkperf_hmac_begin(&h, mac_key);
    mkperf_hmac_add(&h, le, sizeof le);
    mkperf_hmac_add(&h, message, n);
    mkperf_hmac_end(&h, whole);
    for (unsigned i = 0; i < MKPERF_TAG_BYTES; i++) {
        tag[i] = whole[i];
    }
}

/* Appends the MAC field to a message of n bytes, at most MKPERF_CONTENT_BYTES, in a buffer of
 * MKPERF_MESSAGE_BYTES. Returns the new length. */
static inline size_t mkperf_auth_mac(const uint8_t mac_key[MKPERF_KEY_BYTES], uint64_t number,
                                     uint8_t *message, size_t n)
{
    message[n] = MKPERF_MAC_FIELD << 3 | 2;
    message[n + 1] = MKPERF_TAG_BYTES;
    mkperf_auth_tag(mac_key, number, message, n, message + n + 2);
    return n + MKPERF_MAC_BYTES;
}

/* Returns whether the n bytes at message end with a valid MAC field. */
static inline bool mkperf_auth_verify(const uint8_t mac_key[MKPERF_KEY_BYTES], uint64_t number,
                                      const uint8_t *message, size_t n)
{
    uint8_t tag[MKPERF_TAG_BYTES];

    if (n < MKPERF_MAC_BYTES) {
        return false;
    }
    n -= MKPERF_MAC_BYTES;
    if (message[n] != (MKPERF_MAC_FIELD << 3 | 2) || message[n + 1] != MKPERF_TAG_BYTES) {
        return false;
    }
    mkperf_auth_tag(mac_key, number, message, n, tag);
    return mkperf_auth_same(tag, message + n + 2, sizeof tag);
}

/*
 * Returns the number of a frame: its 16-bit sequence, extended. The frame of a direction's hello
 * has its sequence as its number; the frame after number `last` has the smallest greater number
 * with the sequence's 16 bits. A frame's number is therefore greater than that of every frame
 * accepted before. Up to 65534 lost frames in a row are tolerated.
 */
static inline uint64_t mkperf_auth_number(uint64_t last, uint16_t sequence)
{
    return last + 1 + (uint16_t)(sequence - (uint16_t)(last + 1));
}

#endif
