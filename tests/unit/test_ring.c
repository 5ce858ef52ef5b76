/* SPDX-License-Identifier: BSD-2-Clause */
/* The sample ring: wrap, full, padding, and a header that the other side spoils. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mkperf/ring.h>

enum { SIZE = MKPERF_RING_MIN_BYTES };

struct pair {
    struct mkperf_ring *ring;
    struct mkperf_ring_producer p;
    struct mkperf_ring_consumer c;
};

static int setup(void **state)
{
    struct pair *x = calloc(1, sizeof *x);

    /* Exactly as large as it may be, so that the sanitizer sees each byte too far. */
    x->ring = calloc(1, MKPERF_RING_HEADER_BYTES + SIZE);
    x->p = (struct mkperf_ring_producer){.ring = x->ring, .size = SIZE};
    x->c = (struct mkperf_ring_consumer){.ring = x->ring, .size = SIZE};
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct pair *x = *state;

    free(x->ring);
    free(x);
    return 0;
}

/* Writes a record of `bytes` whose words have its number. */
static bool put(struct pair *x, uint64_t number, unsigned bytes)
{
    uint64_t *w = mkperf_ring_reserve(&x->p, bytes);

    if (w == NULL) {
        return false;
    }
    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, bytes, 0, 0, 0, 0);
    for (unsigned i = 1; i < bytes / 8; i++) {
        w[i] = number * 100 + i;
    }
    mkperf_ring_commit(&x->p, bytes);
    return true;
}

static void expect(struct pair *x, uint64_t number, unsigned bytes)
{
    bool corrupt = false;
    unsigned size = 0;
    const uint64_t *r = mkperf_ring_peek(&x->c, &size, &corrupt);

    assert_non_null(r);
    assert_false(corrupt);
    assert_int_equal(size, bytes);
    for (unsigned i = 1; i < bytes / 8; i++) {
        assert_int_equal(r[i], number * 100 + i);
    }
    mkperf_ring_release(&x->c, size);
}

static void expect_empty(struct pair *x)
{
    bool corrupt = false;
    unsigned size;

    assert_null(mkperf_ring_peek(&x->c, &size, &corrupt));
    assert_false(corrupt);
}

static void test_order_over_many_wraps(void **state)
{
    struct pair *x = *state;
    uint64_t in = 0;
    uint64_t out = 0;

    for (unsigned round = 0; round < 2000; round++) {
        for (unsigned i = 0; i < round % 7 + 1; i++) {
            unsigned bytes = 8 * (2 + (unsigned)in % 69);
            if (!put(*state, in, bytes)) {
                break;
            }
            in++;
        }
        while (out + round % 3 < in) {
            expect(x, out, 8 * (2 + (unsigned)out % 69));
            out++;
        }
    }
    while (out < in) {
        expect(x, out, 8 * (2 + (unsigned)out % 69));
        out++;
    }
    expect_empty(x);
    assert_true(x->p.head > UINT64_C(20) * SIZE);
}

static void test_full_to_the_byte(void **state)
{
    struct pair *x = *state;

    for (unsigned i = 0; i < SIZE / 64; i++) {
        assert_true(put(x, i, 64));
    }
    assert_int_equal(mkperf_ring_used(&x->p), SIZE);
    assert_false(put(x, 99, 16));
    assert_int_equal(x->p.head, SIZE); /* a refusal leaves nothing behind */
    expect(x, 0, 64);
    assert_false(put(x, 99, 72));
    assert_true(put(x, 64, 64));
    for (unsigned i = 1; i <= 64; i++) {
        expect(x, i, 64);
    }
    expect_empty(x);
}

static void test_padding_before_the_end(void **state)
{
    struct pair *x = *state;

    assert_true(put(x, 0, SIZE / 2));
    assert_true(put(x, 1, SIZE / 2 - 8));
    expect(x, 0, SIZE / 2);
    assert_true(put(x, 2, 64)); /* 8 bytes left at the end: a pad of one word */
    assert_int_equal(mkperf_record_type(x->ring->data[SIZE / 8 - 1]), MKPERF_RECORD_PAD);
    expect(x, 1, SIZE / 2 - 8);
    expect(x, 2, 64);
    expect_empty(x);
}

static void test_padding_counts_as_use(void **state)
{
    struct pair *x = *state;

    assert_true(put(x, 0, 512));
    assert_true(put(x, 1, SIZE - 512 - 256));
    expect(x, 0, 512);
    assert_false(put(x, 2, 520)); /* 256 of padding and 520: more than the 512 + 256 free */
    assert_true(put(x, 2, 512));
    expect(x, 1, SIZE - 512 - 256);
    expect(x, 2, 512);
}

static void test_not_committing(void **state)
{
    struct pair *x = *state;

    assert_non_null(mkperf_ring_reserve(&x->p, 64));
    expect_empty(x);
    assert_true(put(x, 0, SIZE - 16));
    expect(x, 0, SIZE - 16);
    assert_non_null(mkperf_ring_reserve(&x->p, 64)); /* pads, and publishes nothing */
    expect_empty(x);
    assert_true(put(x, 1, 32));
    expect(x, 1, 32);
    expect_empty(x);
}

static void test_producer_survives_any_tail(void **state)
{
    struct pair *x = *state;
    const uint64_t tails[] = {1, 7, SIZE, SIZE + 8, UINT64_MAX, UINT64_MAX / 2, 1 << 20};

    for (unsigned i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        x->ring->tail = tails[i];
        for (unsigned n = 0; n < 300; n++) {
            put(x, n, 8 * (2 + n % 69)); /* the sanitizer is the judge */
        }
    }
}

static void test_consumer_survives_any_head(void **state)
{
    struct pair *x = *state;
    const uint64_t heads[] = {
        8, 9, SIZE + 8, UINT64_MAX, 1234, UINT64_C(3) * SIZE, UINT64_MAX / 2, UINT64_MAX - 7};

    for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        bool corrupt = false;
        unsigned size;
        x->ring->head = heads[i];
        for (unsigned n = 0; n < 10; n++) {
            const uint64_t *r = mkperf_ring_peek(&x->c, &size, &corrupt);
            if (r != NULL) {
                mkperf_ring_release(&x->c, size);
            }
        }
        assert_true(corrupt);
        assert_int_equal(x->c.tail % 8, 0);
    }
}

static void test_consumer_skips_bad_sizes(void **state)
{
    struct pair *x = *state;
    const unsigned sizes[] = {0, 4, 12, 72, 65528};

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bool corrupt = false;
        unsigned size;
        uint64_t at = x->p.head & (SIZE - 1);
        assert_true(put(x, i, 64));
        x->ring->data[at / 8] = mkperf_record_header(MKPERF_RECORD_SAMPLE, sizes[i], 0, 0, 0, 0);
        assert_null(mkperf_ring_peek(&x->c, &size, &corrupt));
        assert_true(corrupt);
        assert_true(put(x, i, 64)); /* both ends are in step again */
        expect(x, i, 64);
    }
}

static void test_consumer_does_not_follow_pads_for_ever(void **state)
{
    struct pair *x = *state;
    bool corrupt = false;
    unsigned size;

    for (unsigned i = 0; i < SIZE / 8; i++) {
        x->ring->data[i] = mkperf_record_header(MKPERF_RECORD_PAD, 8, 0, 0, 0, 0);
    }
    x->ring->head = SIZE;
    assert_null(mkperf_ring_peek(&x->c, &size, &corrupt));
    assert_true(corrupt);
}

static void test_random_header(void **state)
{
    struct pair *x = *state;
    uint64_t random = 1;

    for (unsigned i = 0; i < 200000; i++) {
        bool corrupt = false;
        unsigned size;
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        x->ring->data[random >> 33 & (SIZE / 8 - 1)] = random >> (random & 31);
        if (random >> 60 == 0) {
            x->ring->head = x->c.tail + (random >> 20 & 0x1fff);
        }
        const uint64_t *r = mkperf_ring_peek(&x->c, &size, &corrupt);
        if (r != NULL) {
            assert_true((uintptr_t)r + size <= (uintptr_t)x->ring->data + SIZE);
            mkperf_ring_release(&x->c, size);
        }
    }
}

/* Records of any size through both rings' stretches: one behind the other, the same bytes, and at
 * the end of the ring by the ordinary way. */
static void test_stretches(void **state)
{
    struct pair *x = *state;
    uint64_t in = 0;
    uint64_t out = 0;
    unsigned most = 0;

    for (unsigned round = 0; round < 2000; round++) {
        uint64_t room;
        uint64_t *to = mkperf_ring_room(&x->p, &room);
        uint64_t bytes = 0;
        assert_true(room <= SIZE - mkperf_ring_used(&x->p));
        for (unsigned i = 0; i < 1 + round % 9; i++) {
            unsigned size = 8 * (2 + (unsigned)in % 69);
            if (bytes + size > room) {
                break;
            }
            to[bytes / 8] = mkperf_record_header(MKPERF_RECORD_SAMPLE, size, 0, 0, 0, 0);
            for (unsigned k = 1; k < size / 8; k++) {
                to[bytes / 8 + k] = in * 100 + k;
            }
            bytes += size;
            in++;
        }
        mkperf_ring_commit(&x->p, bytes);
        if (bytes == 0 && put(x, in, 8 * (2 + (unsigned)in % 69))) {
            in++;
        }
        if (round % 3 == 0) {
            continue;
        }
        uint64_t there;
        const uint64_t *from = mkperf_ring_stretch(&x->c, x->ring->head, &there);
        unsigned records = 0;
        while (there != 0 && mkperf_record_type(*from) == MKPERF_RECORD_SAMPLE) {
            unsigned size = mkperf_record_size(*from);
            assert_int_equal(size, 8 * (2 + out % 69));
            assert_true(size <= there);
            for (unsigned k = 1; k < size / 8; k++) {
                assert_int_equal(from[k], out * 100 + k);
            }
            mkperf_ring_release(&x->c, size);
            from += size / 8;
            there -= size;
            out++;
            records++;
        }
        most = records > most ? records : most;
        if (out < in) { /* the record is behind a pad */
            expect(x, out, 8 * (2 + (unsigned)out % 69));
            out++;
        }
    }
    assert_true(most > 5);
    assert_true(x->p.head > UINT64_C(20) * SIZE);
}

/* Whatever the other side writes, no access leaves the ring. */
static void test_stretches_of_a_spoiled_ring(void **state)
{
    struct pair *x = *state;
    const uint64_t positions[] = {0, 1, 7, 8, SIZE, SIZE + 8, UINT64_MAX - 7, UINT64_MAX};

    for (unsigned i = 0; i < sizeof positions / sizeof positions[0]; i++) {
        for (unsigned at = 0; at <= SIZE; at += 8 * 31) {
            uint64_t n;
            x->c.tail = at;
            const uint64_t *from = mkperf_ring_stretch(&x->c, at + positions[i], &n);
            assert_true((uintptr_t)from + n <= (uintptr_t)x->ring->data + SIZE);
            assert_true(n == 0 || (positions[i] % 8 == 0 && positions[i] <= SIZE));
            x->p.head = at;
            x->ring->tail = at - positions[i];
            const uint64_t *to = mkperf_ring_room(&x->p, &n);
            assert_true((uintptr_t)to + n <= (uintptr_t)x->ring->data + SIZE);
            assert_true(n == 0 || positions[i] + n <= SIZE);
        }
    }
}

static void test_sizes(void **state)
{
    (void)state;
    assert_true(mkperf_ring_size_ok(MKPERF_RING_MIN_BYTES));
    assert_true(mkperf_ring_size_ok(MKPERF_RING_MAX_BYTES));
    assert_false(mkperf_ring_size_ok(0));
    assert_false(mkperf_ring_size_ok(MKPERF_RING_MIN_BYTES / 2));
    assert_false(mkperf_ring_size_ok(UINT64_C(2) * MKPERF_RING_MAX_BYTES));
    assert_false(mkperf_ring_size_ok(MKPERF_RING_MIN_BYTES + 8));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_order_over_many_wraps),
        T(test_full_to_the_byte),
        T(test_padding_before_the_end),
        T(test_padding_counts_as_use),
        T(test_not_committing),
        T(test_producer_survives_any_tail),
        T(test_consumer_survives_any_head),
        T(test_consumer_skips_bad_sizes),
        T(test_consumer_does_not_follow_pads_for_ever),
        T(test_random_header),
        T(test_stretches),
        T(test_stretches_of_a_spoiled_ring),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
