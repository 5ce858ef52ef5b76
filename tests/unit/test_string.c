/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target's string functions (pd/lib/string.c) against the C library's: every length about
 * some words, every place of a word, every distance of two pieces that overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define memcpy target_memcpy
#define memmove target_memmove
#define memset target_memset
#define memcmp target_memcmp
#define strlen target_strlen
#define strcmp target_strcmp
#include "pd/lib/string.c" // NOLINT(bugprone-suspicious-include): under other names
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strlen
#undef strcmp

enum { MEMORY = 512, FROM = 128, LENGTHS = 100 };

static uint64_t words[2][MEMORY / 8];
static uint8_t *const memory = (uint8_t *)words[0], *const expected = (uint8_t *)words[1];

static void fill(unsigned seed)
{
    for (unsigned i = 0; i < MEMORY; i++) {
        memory[i] = expected[i] = (uint8_t)(seed + 167 * i + i / 8);
    }
}

static void test_memmove(void **state)
{
    (void)state;
    for (unsigned place = 0; place < 8; place++) {
        for (int distance = -LENGTHS - 8; distance <= LENGTHS + 8; distance++) {
            for (unsigned n = 0; n < LENGTHS; n++) {
                uint8_t *from = memory + FROM + place;
                fill(n);
                memmove(expected + FROM + place + distance, expected + FROM + place, n);
                assert_ptr_equal(target_memmove(from + distance, from, n), from + distance);
                assert_memory_equal(memory, expected, MEMORY);
            }
        }
    }
}

static void test_memcpy(void **state)
{
    (void)state;
    for (unsigned place = 0; place < 8; place++) {
        for (unsigned to = 0; to < 8; to++) {
            for (unsigned n = 0; n < LENGTHS; n++) {
                fill(n);
                memcpy(expected + to, expected + FROM + place, n);
                assert_ptr_equal(target_memcpy(memory + to, memory + FROM + place, n), memory + to);
                assert_memory_equal(memory, expected, MEMORY);
            }
        }
    }
}

static void test_memset(void **state)
{
    (void)state;
    for (unsigned to = 0; to < 8; to++) {
        for (unsigned n = 0; n < LENGTHS; n++) {
            fill(n);
            memset(expected + to, (int)(n * 37), n);
            assert_ptr_equal(target_memset(memory + to, (int)(n * 37), n), memory + to);
            assert_memory_equal(memory, expected, MEMORY);
        }
    }
}

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

static void test_compare(void **state)
{
    static const char *const text[] = {"", "a", "ab", "abc", "abd", "b", "a\xff", "a\1"};

    (void)state;
    for (unsigned i = 0; i < sizeof text / sizeof text[0]; i++) {
        assert_int_equal(target_strlen(text[i]), strlen(text[i]));
        for (unsigned k = 0; k < sizeof text / sizeof text[0]; k++) {
            size_t n = strlen(text[i]) < strlen(text[k]) ? strlen(text[i]) : strlen(text[k]);
            assert_int_equal(sign(target_strcmp(text[i], text[k])), sign(strcmp(text[i], text[k])));
            assert_int_equal(sign(target_memcmp(text[i], text[k], n)),
                             sign(memcmp(text[i], text[k], n)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memmove),
        cmocka_unit_test(test_memcpy),
        cmocka_unit_test(test_memset),
        cmocka_unit_test(test_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
