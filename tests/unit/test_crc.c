/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two CRCs of frame.h, that of targets with Arm's instructions (here those of mock/arm_acle.h)
 * and the portable one, against each other and against zlib's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#ifndef __ARM_FEATURE_CRC32
#define __ARM_FEATURE_CRC32 1 // NOLINT(bugprone-reserved-identifier)
#endif
#include <mkperf/frame.h>

static void same(uint32_t before, const uint8_t *p, size_t n)
{
    uint32_t expected = (uint32_t)crc32(before, p, (uInt)n);

    assert_int_equal(mkperf_crc32_arm(before, p, n), expected);
    assert_int_equal(mkperf_crc32_table(before, p, n), expected);
}

static void test_check_value(void **state)
{
    (void)state;
    assert_int_equal(mkperf_crc32_arm(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(mkperf_crc32_table(0, "123456789", 9), 0xcbf43926);
}

/* Any bytes, any length about some words, at any place of a word, alone and going on. */
static void test_all_say_the_same(void **state)
{
    uint32_t random = 1;
    uint32_t before = 0;

    (void)state;
    for (size_t n = 0; n < 200; n++) {
        for (size_t place = 0; place < 8; place++) {
            uint8_t *memory = malloc(place + n + 1); /* the sanitizer sees each byte too far */
            for (size_t i = 0; i < n; i++) {
                random = random * 1664525 + 1013904223;
                memory[place + i] = (uint8_t)(random >> 24);
            }
            same(0, memory + place, n);
            same(before, memory + place, n);
            before = mkperf_crc32_arm(0, memory + place, n);
            free(memory);
        }
    }
}

/* Frames of one end are frames to the other: by whichever CRC they were made. */
static void test_whole_messages(void **state)
{
    static uint8_t message[MKPERF_MESSAGE_BYTES];
    static uint8_t frame[MKPERF_FRAME_BYTES];
    uint16_t sequence;

    (void)state;
    for (size_t n = 0; n <= sizeof message; n += 35) {
        for (size_t i = 0; i < n; i++) {
            message[i] = (uint8_t)(i * n >> 3);
        }
        same(0, message, n);
        size_t length = mkperf_frame_encode(frame, (uint16_t)n, message, n); /* Arm's */
        assert_int_equal(mkperf_frame_decode(frame + 1, length - 2, &sequence), n);
        uint32_t crc = (uint32_t)frame[3 + n] | (uint32_t)frame[4 + n] << 8 |
                       (uint32_t)frame[5 + n] << 16 | (uint32_t)frame[6 + n] << 24;
        assert_int_equal(mkperf_crc32_table(0, frame + 1, 2 + n), crc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_value),
        cmocka_unit_test(test_all_say_the_same),
        cmocka_unit_test(test_whole_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
