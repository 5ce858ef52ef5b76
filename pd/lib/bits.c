/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gcc calls for __builtin_ctz, __builtin_clz and __builtin_popcount on a CPU of RISC-V without Zbb.
 *
 * libgcc has them, too, but without call-frame information: a sample in one of them would have no callers. Its registers
 * are of another ABI than those of pocket's kernel.
 */
#include <stdint.h>

int __ctzdi2(uint64_t x);
int __clzdi2(uint64_t x);
int __popcountdi2(uint64_t x);

int __ctzdi2(uint64_t x)
{
    int n = 0;

    for (unsigned step = 32; step != 0; step /= 2) {
        if ((x & ((UINT64_C(1) << step) - 1)) == 0) {
            x >>= step;
            n += (int)step;
        }
    }
    return n;
}

int __clzdi2(uint64_t x)
{
    int n = 0;

    for (unsigned step = 32; step != 0; step /= 2) {
        if (x >> (64 - step) == 0) {
            x <<= step;
            n += (int)step;
        }
    }
    return n;
}

int __popcountdi2(uint64_t x)
{
    int n = 0;

    for (; x != 0; x &= x - 1) {
        n++;
    }
    return n;
}
