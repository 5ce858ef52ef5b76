/* SPDX-License-Identifier: BSD-2-Clause */
/* Framing, and the client's link: every length, noise, cuts, joining late, back-pressure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include <mkperf/frame.h>

#include "pd/client/link.h"

static uint8_t message[MKPERF_MESSAGE_BYTES + 1];

/* Patterns that COBS cares about: zeros, no zeros, runs of 254 and around. */
static void fill(unsigned pattern, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        switch (pattern) {
        case 0:
            message[i] = 0;
            break;
        case 1:
            message[i] = 0xff;
            break;
        case 2:
            message[i] = (uint8_t)i;
            break;
        case 3:
            message[i] = i % 254 == 253 ? 0 : 1;
            break;
        case 4:
            message[i] = i % 255 == 0 ? 0 : 0xff;
            break;
        default:
            message[i] = (uint8_t)(rand() >> 7);
        }
    }
}

static void round_trip(size_t n, uint16_t sequence)
{
    uint8_t *frame = malloc(MKPERF_FRAME_BYTES);
    size_t length = mkperf_frame_encode(frame, sequence, message, n);
    uint16_t got;

    assert_true(length >= n + MKPERF_FRAME_OVERHEAD + 3);
    assert_true(length <= MKPERF_FRAME_BYTES);
    assert_int_equal(frame[0], 0);
    assert_int_equal(frame[length - 1], 0);
    assert_null(memchr(frame + 1, 0, length - 2));
    uint8_t *inside = malloc(length - 2); /* exact: the sanitizer sees each byte too far */
    memcpy(inside, frame + 1, length - 2);
    assert_int_equal(mkperf_frame_decode(inside, length - 2, &got), n);
    assert_int_equal(got, sequence);
    assert_memory_equal(inside + 2, message, n);
    free(inside);
    free(frame);
}

static void test_every_length(void **state)
{
    (void)state;
    for (unsigned pattern = 0; pattern < 6; pattern++) {
        for (size_t n = 0; n <= MKPERF_MESSAGE_BYTES; n++) {
            fill(pattern, n);
            round_trip(n, (uint16_t)(n * 47));
        }
    }
}

/* Encodes COBS as the paper describes it, a byte at a time. */
static size_t plain_cobs(uint8_t *out, const uint8_t *p, size_t n)
{
    size_t code = 0;
    size_t at = 1;

    for (size_t i = 0; i < n; i++) {
        if (p[i] != 0) {
            out[at++] = p[i];
        }
        if (p[i] == 0 || at - code == 0xff) {
            out[code] = (uint8_t)(at - code);
            code = at++;
        }
    }
    out[code] = (uint8_t)(at - code);
    return at;
}

/* Zeros at any place of a word, none, many, and runs about as long as a block; from any alignment.
 */
static void test_cobs_is_the_plain_one(void **state)
{
    static uint8_t in[MKPERF_MESSAGE_BYTES + 8];
    static uint8_t out[2 * MKPERF_FRAME_BYTES];
    static uint8_t expected[2 * MKPERF_FRAME_BYTES];
    uint32_t random = 1;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned one_in = 1U << round % 12;
        size_t skip = round % 8;
        random = random * 1664525 + 1013904223;
        size_t n = (random >> 8) % MKPERF_MESSAGE_BYTES;
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            in[skip + i] =
                (random >> 8) % one_in == 0 && one_in < 2048 ? 0 : (uint8_t)(random >> 24 | 1);
        }
        uint8_t *code = out + round / 8 % 8;
        size_t cut = n != 0 ? (random >> 4) % n : 0;
        struct mkperf_cobs c = mkperf_cobs_begin(code);
        mkperf_cobs_add(&c, in + skip, cut);
        mkperf_cobs_add(&c, in + skip + cut, n - cut);
        size_t length = (size_t)(mkperf_cobs_end(&c) - code);
        assert_int_equal(length, plain_cobs(expected, in + skip, n));
        assert_memory_equal(code, expected, length);
    }
}

/* Runs of every length about a block's and two, and where they begin: each place for the byte that
 * goes in between. */
static void test_cobs_at_every_full_block(void **state)
{
    static uint8_t in[600];
    static uint8_t out[8 + 1 + 600 + 4];
    static uint8_t expected[sizeof out];

    (void)state;
    for (size_t run = 240; run < 520; run++) {
        for (size_t before = 0; before < 40; before++) {
            for (size_t n = before + run - 2; n < before + run + 12; n += 3) {
                uint8_t *code = out + run % 8;
                for (size_t i = 0; i < n; i++) {
                    in[i] = i + 1 == before || i == before + run ? 0 : (uint8_t)(i | 1);
                }
                struct mkperf_cobs c = mkperf_cobs_begin(code);
                mkperf_cobs_add(&c, in, n);
                size_t length = (size_t)(mkperf_cobs_end(&c) - code);
                assert_int_equal(length, plain_cobs(expected, in, n));
                assert_memory_equal(code, expected, length);
            }
        }
    }
}

static void test_too_long(void **state)
{
    uint8_t frame[MKPERF_FRAME_BYTES];

    (void)state;
    assert_int_equal(mkperf_frame_encode(frame, 0, message, MKPERF_MESSAGE_BYTES + 1), 0);
}

static void test_crc_is_zlibs(void **state)
{
    (void)state;
    assert_int_equal(mkperf_crc32(0, "123456789", 9), 0xcbf43926);
    for (size_t n = 0; n < 500; n++) {
        fill(5, n);
        assert_int_equal(mkperf_crc32(0, message, n), crc32(0, message, (uInt)n));
        assert_int_equal(mkperf_crc32(mkperf_crc32(0, message, n / 3), message + n / 3, n - n / 3),
                         crc32(0, message, (uInt)n));
    }
}

static void test_every_flipped_bit_is_seen(void **state)
{
    uint8_t frame[MKPERF_FRAME_BYTES];
    uint16_t sequence;

    (void)state;
    fill(4, 300);
    size_t length = mkperf_frame_encode(frame, 7, message, 300);
    for (size_t bit = 8; bit < 8 * (length - 1); bit++) {
        uint8_t copy[MKPERF_FRAME_BYTES];
        memcpy(copy, frame, length);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(mkperf_frame_decode(copy + 1, length - 2, &sequence), -1);
    }
}

static void test_every_cut_is_seen(void **state)
{
    uint8_t frame[MKPERF_FRAME_BYTES];
    uint16_t sequence;

    (void)state;
    fill(2, 600);
    size_t length = mkperf_frame_encode(frame, 7, message, 600);
    for (size_t n = 0; n < length - 2; n++) {
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, frame + 1, n);
        assert_int_equal(mkperf_frame_decode(copy, n, &sequence), -1);
        memcpy(copy, frame + length - 1 - n, n);
        assert_int_equal(mkperf_frame_decode(copy, n, &sequence), -1);
        free(copy);
    }
}

static struct mkperf_link out, in;

static int reset(void **state)
{
    (void)state;
    memset(&out, 0, sizeof out);
    memset(&in, 0, sizeof in);
    return 0;
}

/* Moves up to n bytes from one link to the other. Returns how many messages came out. */
static unsigned move(size_t n, size_t *bytes)
{
    unsigned messages = 0;

    while (n > 0) {
        size_t there;
        const uint8_t *p = mkperf_link_out(&out, &there);
        if (there == 0) {
            break;
        }
        const uint8_t *m;
        int length = mkperf_link_byte(&in, *p, &m);
        if (length >= 0) {
            messages++;
            assert_memory_equal(m, message, (size_t)length);
        }
        mkperf_link_sent(&out, 1);
        *bytes += 1;
        n--;
    }
    return messages;
}

static uint8_t large[MKPERF_LINK_BYTES];

static void test_link_passes_all_and_wraps(void **state)
{
    unsigned sent = 0;
    unsigned got = 0;
    size_t bytes = 0;

    (void)state;
    fill(2, MKPERF_MESSAGE_BYTES);
    assert_true(mkperf_link_send(&out, message, MKPERF_MESSAGE_BYTES)); /* moves with the queue */
    sent = 1;
    mkperf_link_grow(&out, large);
    for (unsigned i = 0; i < 3000; i++) {
        sent += mkperf_link_send(&out, message, i * 37 % (MKPERF_MESSAGE_BYTES + 1));
        got += move(i % 50 == 0 ? 20000 : 100, &bytes);
    }
    got += move(SIZE_MAX, &bytes);
    assert_int_equal(got, sent);
    assert_int_equal(out.number, sent); /* a refused frame uses no number */
    assert_int_equal(in.bad_frames, 0);
    assert_true(bytes > UINT64_C(5) * MKPERF_LINK_BYTES);
    assert_true(sent < 3000); /* the link was full at times */
}

static void test_link_in_step_after_noise(void **state)
{
    size_t bytes = 0;
    const uint8_t *m;

    (void)state;
    fill(3, 200);
    for (unsigned i = 0; i < 500; i++) {
        for (unsigned n = (unsigned)rand() % 3000; n > 0; n--) {
            mkperf_link_byte(&in, (uint8_t)(rand() >> 5), &m);
        }
        uint64_t bad = in.bad_frames;
        mkperf_link_send(&out, message, 200);
        mkperf_link_send(&out, message, 200);
        assert_int_equal(move(SIZE_MAX, &bytes), 2);
        assert_true(in.bad_frames <= bad + 1); /* the noise's own end */
    }
}

static void test_link_joined_late(void **state)
{
    size_t there;

    (void)state;
    fill(5, 700);
    for (size_t late = 1; late < 1400; late++) {
        size_t bytes = 0;
        reset(NULL);
        for (unsigned i = 0; i < 3; i++) {
            mkperf_link_send(&out, message, 700);
        }
        mkperf_link_out(&out, &there);
        mkperf_link_sent(&out, late < there ? late : there);
        assert_true(move(SIZE_MAX, &bytes) >= 1);
        assert_true(in.bad_frames <= 1);
    }
}

static void test_link_survives_endless_text(void **state)
{
    const uint8_t *m;
    size_t bytes = 0;

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        assert_int_equal(mkperf_link_byte(&in, 'x', &m), -1);
    }
    fill(0, 10);
    mkperf_link_send(&out, message, 10);
    assert_int_equal(move(SIZE_MAX, &bytes), 1);
    assert_int_equal(in.bad_frames, 1);
}

/* Bytes into the link as control.c does it before anything else came; lines and frames are
 * collected. */
static char lines[256];
static unsigned frames;

static void type(const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *m;
        uint8_t byte = ((const uint8_t *)bytes)[i];
        int length = mkperf_link_byte(&in, byte, &m);
        if (length >= 0) {
            frames++;
            assert_memory_equal(m, message, (size_t)length);
        } else if (byte == '\n' || byte == '\r') {
            const char *line;
            int chars = mkperf_link_line(&in, &line);
            if (chars > 0) {
                strncat(lines, line, (size_t)chars);
                strcat(lines, "|");
            }
        }
    }
}

static int reset_lines(void **state)
{
    lines[0] = '\0';
    frames = 0;
    return reset(state);
}

static void test_lines(void **state)
{
    static const char text[] = "\r\n\nstatus\r\nhelp\n\n\nno\1text\n";

    (void)state;
    type(text, sizeof text - 1);
    assert_string_equal(lines, "status|help|");
    type("\0", 1); /* the bytes were neither a frame nor a line */
    assert_int_equal(in.bad_frames, 1);
    type("\r\n\rls\ntimer all on\r\nls\n", 23); /* behind a delimiter `ls` may be a frame */
    assert_string_equal(lines, "status|help|timer all on|ls|");
    type("\r\n\0\n\0", 5);
    assert_int_equal(in.bad_frames, 1);
}

/* A frame may begin with a newline, and have some anywhere. */
static void test_frames_are_no_lines(void **state)
{
    uint8_t frame[MKPERF_FRAME_BYTES];

    (void)state;
    for (unsigned zero = 4; zero < 0x80; zero++) {
        const uint16_t sequence[] = {0x0d0a, 0x0a61, 0x6161};
        for (unsigned i = 0; i < 200; i++) {
            message[i] = i == 0 ? '\n' : i == 1 ? 1 : (uint8_t)(zero + i) | 1;
        }
        message[zero - 3] = 0; /* the first length is `zero`: 10 and 13 are newlines */
        size_t n = mkperf_frame_encode(frame, sequence[zero % 3], message, 200);
        assert_int_equal(frame[1], zero);
        type(frame, n);
        type(frame + 1, n - 1); /* the two frames have one delimiter between them */
    }
    assert_int_equal(frames, 2 * (0x80 - 4));
    assert_int_equal(in.bad_frames, 0);
    assert_string_equal(lines, "");
    type("help\n", 5);
    assert_string_equal(lines, "help|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_cobs_is_the_plain_one),
        cmocka_unit_test(test_cobs_at_every_full_block),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_crc_is_zlibs),
        cmocka_unit_test(test_every_flipped_bit_is_seen),
        cmocka_unit_test(test_every_cut_is_seen),
        cmocka_unit_test_setup(test_link_passes_all_and_wraps, reset),
        cmocka_unit_test_setup(test_link_in_step_after_noise, reset),
        cmocka_unit_test_setup(test_link_joined_late, reset),
        cmocka_unit_test_setup(test_link_survives_endless_text, reset),
        cmocka_unit_test_setup(test_lines, reset_lines),
        cmocka_unit_test_setup(test_frames_are_no_lines, reset_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
