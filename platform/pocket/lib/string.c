/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory functions that gcc expects of a freestanding program, and strlen.
 *
 * Weak, so that a PD may have its own. Plain loops; words where both sides are aligned. Compiled
 * with -fno-tree-loop-distribute-patterns, or gcc would turn the loops into calls of themselves.
 */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((may_alias)) word;

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);

__attribute__((weak)) void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if ((((uintptr_t)t | (uintptr_t)f) & 7) == 0) {
        for (; n >= 8; n -= 8, t += 8, f += 8) {
            *(word *)(void *)t = *(const word *)(const void *)f;
        }
    }
    while (n-- != 0) {
        *t++ = *f++;
    }
    return to;
}

__attribute__((weak)) void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if ((uintptr_t)t - (uintptr_t)f >= n) {
        return memcpy(to, from, n);
    }
    while (n-- != 0) {
        t[n] = f[n];
    }
    return to;
}

__attribute__((weak)) void *memset(void *to, int value, size_t n)
{
    uint8_t *t = to;
    uint64_t pattern = (uint8_t)value * UINT64_C(0x0101010101010101);

    for (; n != 0 && ((uintptr_t)t & 7) != 0; n--) {
        *t++ = (uint8_t)value;
    }
    for (; n >= 8; n -= 8, t += 8) {
        *(word *)(void *)t = pattern;
    }
    while (n-- != 0) {
        *t++ = (uint8_t)value;
    }
    return to;
}

__attribute__((weak)) int memcmp(const void *a, const void *b, size_t n)
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

__attribute__((weak)) size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n] != '\0') {
        n++;
    }
    return n;
}
