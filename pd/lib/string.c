/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The string functions that the compiler and nanopb call, if the platform's library has none.
 *
 * Owns: weak definitions, so that a platform's own win. Freestanding PDs link them.
 */
#include <stddef.h>
#include <stdint.h>

#define WEAK __attribute__((weak))

typedef uint64_t __attribute__((may_alias)) word;

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);

enum { SHORT = 24 }; /* bytes, too few for the word loop */

#define INLINE static inline __attribute__((always_inline))

/* Loads come before stores: they become pairs. */
INLINE void copy_four(word *to, const word *from)
{
    uint64_t a = from[0];
    uint64_t b = from[1];
    uint64_t c = from[2];
    uint64_t d = from[3];

    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
}

/* Copies n words from an aligned address. */
static void copy_aligned(word *to, const word *from, size_t n)
{
    for (; n >= 16; n -= 16, to += 16, from += 16) {
        copy_four(to, from);
        copy_four(to + 4, from + 4);
        copy_four(to + 8, from + 8);
        copy_four(to + 12, from + 12);
    }
    for (; n >= 4; n -= 4, to += 4, from += 4) {
        copy_four(to, from);
    }
    for (; n > 0; n--) {
        *to++ = *from++;
    }
}

/*
 * Copies n words from `shift` bits behind an aligned address. A word of the destination is the end of
 * one aligned word of the source and the beginning of the next. Only words that hold bytes of the source
 * are read. Inlined for each shift, since a constant one takes one instruction a word.
 */
INLINE void copy_shifted(word *to, const word *from, size_t n, unsigned shift)
{
    uint64_t now = n > 0 ? *from++ : 0;

    for (; n >= 4; n -= 4, to += 4, from += 4) {
        uint64_t a = from[0];
        uint64_t b = from[1];
        uint64_t c = from[2];
        uint64_t d = from[3];
        to[0] = now >> shift | a << (64 - shift); /* little-endian */
        to[1] = a >> shift | b << (64 - shift);
        to[2] = b >> shift | c << (64 - shift);
        to[3] = c >> shift | d << (64 - shift);
        now = d;
    }
    for (; n > 0; n--) {
        uint64_t next = *from++;
        *to++ = now >> shift | next << (64 - shift);
        now = next;
    }
}

/* Copies n words to an aligned address from any address. It is not inlined: the compiler would know
 * that source and destination do not overlap, and store each word as soon as it is loaded. */
static __attribute__((noinline)) void copy_words(word *to, const uint8_t *from, size_t n)
{
    const word *f = (const word *)(const void *)(from - (uintptr_t)from % 8);

    switch ((uintptr_t)from % 8) {
#define SHIFTED(bytes)                       \
    case bytes:                              \
        copy_shifted(to, f, n, 8 * (bytes)); \
        break;
        SHIFTED(1)
        SHIFTED(2)
        SHIFTED(3)
        SHIFTED(4)
        SHIFTED(5)
        SHIFTED(6)
        SHIFTED(7)
    default:
        copy_aligned(to, f, n);
    }
}

WEAK void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if (n >= SHORT) {
        for (; (uintptr_t)t % 8 != 0; n--) {
            *t++ = *f++;
        }
        size_t words = n / 8;
        copy_words((word *)(void *)t, f, words);
        t += 8 * words;
        f += 8 * words;
        n %= 8;
    }
    while (n-- > 0) {
        *t++ = *f++;
    }
    return to;
}

/* Copies n words from the last one to the first. The destination ends at the aligned address `to`,
 * the source at any address `from`. */
static void copy_words_down(word *to, const uint8_t *from, size_t n)
{
    unsigned shift = 8 * (unsigned)((uintptr_t)from % 8);
    const word *f = (const word *)(const void *)(from - (uintptr_t)from % 8);

    if (shift == 0) {
        for (; n > 0; n--) {
            *--to = *--f;
        }
        return;
    }
    uint64_t now = n > 0 ? *f : 0;
    for (; n > 0; n--) {
        uint64_t before = *--f;
        *--to = before >> shift | now << (64 - shift);
        now = before;
    }
}

WEAK void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if ((uintptr_t)t - (uintptr_t)f >= n) {
        return memcpy(to, from, n);
    }
    if (n >= SHORT) {
        for (; (uintptr_t)(t + n) % 8 != 0; n--) {
            t[n - 1] = f[n - 1];
        }
        copy_words_down((word *)(void *)(t + n), f + n, n / 8);
        n %= 8;
    }
    while (n-- > 0) {
        t[n] = f[n];
    }
    return to;
}

WEAK void *memset(void *to, int c, size_t n)
{
    uint8_t *t = to;

    while (n > 0 && ((uintptr_t)t % 8 != 0 || n < 8)) {
        *t++ = (uint8_t)c;
        n--;
    }
    for (; n >= 8; n -= 8, t += 8) {
        *(word *)(void *)t = UINT64_C(0x0101010101010101) * (uint8_t)c;
    }
    while (n-- > 0) {
        *t++ = (uint8_t)c;
    }
    return to;
}

WEAK int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a;
    const uint8_t *y = b;

    for (size_t i = 0; i < n; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

WEAK size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n] != '\0') {
        n++;
    }
    return n;
}

WEAK int strcmp(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (uint8_t)*a - (uint8_t)*b;
}
