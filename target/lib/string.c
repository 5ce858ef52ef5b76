/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The string functions that the compiler and nanopb call, where the platform's library has none.
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

WEAK void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    /* By words wherever both can be aligned at once. */
    if (n >= 16 && ((uintptr_t)t ^ (uintptr_t)f) % 8 == 0) {
        for (; (uintptr_t)t % 8 != 0; n--) {
            *t++ = *f++;
        }
        for (; n >= 8; n -= 8, t += 8, f += 8) {
            *(word *)(void *)t = *(const word *)(const void *)f;
        }
    }
    while (n-- > 0) {
        *t++ = *f++;
    }
    return to;
}

WEAK void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if ((uintptr_t)t - (uintptr_t)f >= n) {
        return memcpy(to, from, n);
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
