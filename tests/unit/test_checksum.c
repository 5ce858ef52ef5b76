/* SPDX-License-Identifier: BSD-2-Clause */
/* The checksum of IP packets against RFC 1071's, for any length and alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pd/net/lwip/checksum.h"

/* Two bytes at a time, the first of them the higher one; a last odd one has a zero behind it. */
static uint16_t plain(const uint8_t *p, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i += 2) {
        sum += (uint32_t)p[i] << 8 | (i + 1 < n ? p[i + 1] : 0);
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint16_t)sum;
}

/* In the order of the network. */
static uint16_t ours(const void *p, size_t n)
{
    uint16_t sum = mkperf_checksum(p, (int)n);

    return (uint16_t)(sum << 8 | sum >> 8);
}

/* Zero has two forms in ones' complement; which one it is must not matter, except for data of zeros. */
static void same(uint16_t a, uint16_t b)
{
    assert_int_equal(a == 0xffff ? 0 : a, b == 0xffff ? 0 : b);
}

static void test_rfc_example(void **state)
{
    const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

    (void)state;
    assert_int_equal(ours(bytes, sizeof bytes), 0xddf2); /* RFC 1071, section 3 */
}

static void test_any_length_and_place(void **state)
{
    uint8_t *memory = malloc(1600);

    (void)state;
    assert_non_null(memory);
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < 1600; i++) {
            memory[i] = round == 0 ? 0xff : round == 1 ? (uint8_t)(i * 7) : (uint8_t)(rand() >> 7);
        }
        for (size_t at = 0; at < 16; at++) {
            for (size_t n = 0; n < 1520; n += n < 80 ? 1 : 13) {
                uint8_t *exact = malloc(at + n + 1); /* the sanitizer sees each byte too far */
                assert_non_null(exact);
                memcpy(exact + at, memory, n);
                same(ours(exact + at, n), plain(memory, n));
                free(exact);
            }
        }
    }
    free(memory);
}

static void test_longest(void **state)
{
    uint8_t *memory = malloc(65536);

    (void)state;
    assert_non_null(memory);
    memset(memory, 0xff, 65536);
    for (size_t at = 0; at < 2; at++) {
        same(ours(memory + at, 65535), plain(memory + at, 65535));
    }
    memset(memory, 0, 65536);
    assert_int_equal(ours(memory, 65535), 0);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc_example),
        cmocka_unit_test(test_any_length_and_place),
        cmocka_unit_test(test_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
