/* SPDX-License-Identifier: BSD-2-Clause */
/* What gcc calls for __builtin_ctz and __builtin_clz on a CPU without Zbb. Not libgcc's, whose registers are of another ABI. */
#include <stdint.h>

int __ctzdi2(uint64_t x);
int __clzdi2(uint64_t x);

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
