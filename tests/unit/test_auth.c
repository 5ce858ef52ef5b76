/* SPDX-License-Identifier: BSD-2-Clause */
/* HMAC against RFC 4231, and the proofs and seals against values computed by another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <mkperf/auth.h>

static void hmac(const char *key, const char *data, uint8_t out[MKPERF_HMAC_BYTES])
{
    uint8_t padded[MKPERF_KEY_BYTES] = {0};
    struct mkperf_hmac h;

    for (size_t i = 0; key[i] != '\0'; i++) {
        padded[i] = (uint8_t)key[i];
    }
    mkperf_hmac_begin(&h, padded);
    mkperf_hmac_add(&h, data, strlen(data));
    mkperf_hmac_end(&h, out);
}

/* Keys shorter than a block are padded with zeros, so short keys are those of 32 bytes. */
static void rfc_4231(void **state)
{
    static const uint8_t case1[] = {0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53};
    static const uint8_t case2[] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e};
    uint8_t out[MKPERF_HMAC_BYTES];

    (void)state;
    hmac("\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
         "Hi There", out);
    assert_memory_equal(out, case1, sizeof case1);
    hmac("Jefe", "what do ya want for nothing?", out);
    assert_memory_equal(out, case2, sizeof case2);
}

/* The worked example of docs/protocol.md. */
static struct mkperf_auth_hellos example(uint8_t key[MKPERF_KEY_BYTES])
{
    struct mkperf_auth_hellos m = {
        .boot_id = UINT64_C(0x1122334455667788), .name = "alice", .name_bytes = 5};

    for (unsigned i = 0; i < MKPERF_KEY_BYTES; i++) {
        key[i] = (uint8_t)i;
    }
    for (unsigned i = 0; i < MKPERF_NONCE_BYTES; i++) {
        m.host_nonce[i] = (uint8_t)(0x40 + i);
        m.target_nonce[i] = (uint8_t)(0x80 + i);
    }
    return m;
}

static void proofs(void **state)
{
    static const uint8_t hello[] = {0x6a, 0xed, 0x4c, 0x7d, 0x7c, 0x48, 0xe6, 0xb0,
                                    0x05, 0x2c, 0xcf, 0x80, 0x52, 0x39, 0x09, 0x6e};
    static const uint8_t target[] = {0x00, 0xa9, 0x76, 0xc8, 0x6d, 0x72, 0x10, 0xe0,
                                     0x16, 0xf8, 0x21, 0xd3, 0xcf, 0x1c, 0x84, 0xc2};
    static const uint8_t host[] = {0x21, 0x82, 0xa9, 0xc0, 0xc3, 0x17, 0x08, 0x4a,
                                   0x4c, 0x5a, 0x88, 0x87, 0xcd, 0x2f, 0x65, 0xe6};
    uint8_t key[MKPERF_KEY_BYTES], proof[MKPERF_PROOF_BYTES];
    struct mkperf_auth_hellos m = example(key), first = m;

    (void)state;
    memset(first.target_nonce, 0, sizeof first.target_nonce);
    first.boot_id = 0;
    mkperf_auth_hello_proof(key, &first, proof);
    assert_memory_equal(proof, hello, sizeof hello);
    mkperf_auth_proof(key, MKPERF_ROLE_TARGET, &m, proof);
    assert_memory_equal(proof, target, sizeof target);
    mkperf_auth_proof(key, MKPERF_ROLE_HOST, &m, proof);
    assert_memory_equal(proof, host, sizeof host);
    m.watch = 1;
    mkperf_auth_proof(key, MKPERF_ROLE_HOST, &m, proof);
    assert_memory_not_equal(proof, host, sizeof host);
}

static void seals(void **state)
{
    static const uint8_t tag[] = {0x06, 0x14, 0x63, 0x63, 0x9b, 0xc3, 0xb7, 0x73};
    uint8_t message[MKPERF_MESSAGE_BYTES] = {0x08, 0x05, 0x2a, 0x00};
    uint8_t key[MKPERF_KEY_BYTES], host[MKPERF_KEY_BYTES], target[MKPERF_KEY_BYTES];
    struct mkperf_auth_hellos m = example(key);

    (void)state;
    mkperf_auth_mac_key(key, MKPERF_ROLE_HOST, &m, host);
    mkperf_auth_mac_key(key, MKPERF_ROLE_TARGET, &m, target);
    assert_int_equal(mkperf_auth_mac(host, 7, message, 4), 4 + MKPERF_MAC_BYTES);
    assert_memory_equal(message + 6, tag, sizeof tag);
    assert_true(mkperf_auth_verify(host, 7, message, 14));
    assert_false(mkperf_auth_verify(host, 8, message, 14));
    assert_false(mkperf_auth_verify(target, 7, message, 14));
    for (size_t n = 0; n < 14; n++) {
        assert_false(mkperf_auth_verify(host, 7, message, n));
        message[n] ^= 0x10;
        assert_false(mkperf_auth_verify(host, 7, message, 14));
        message[n] ^= 0x10;
    }
}

static void numbers(void **state)
{
    (void)state;
    assert_int_equal(mkperf_auth_number(7, 8), 8);
    assert_int_equal(mkperf_auth_number(7, 7), 0x10007);
    assert_int_equal(mkperf_auth_number(7, 6), 0x10006);
    assert_int_equal(mkperf_auth_number(0xffff, 0), 0x10000);
    assert_int_equal(mkperf_auth_number(0x1fffe, 0xffff), 0x1ffff);
    assert_int_equal(mkperf_auth_number(0x10005, 0x0100), 0x10100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfc_4231),
        cmocka_unit_test(proofs),
        cmocka_unit_test(seals),
        cmocka_unit_test(numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
