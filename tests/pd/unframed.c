/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known call chains in code without frame pointers (compiled with -fomit-frame-pointer): functions that save many
 * registers, that have a frame of variable size, and that call themselves. tests/system/unframed.sh knows which
 * function calls which.
 */
#include <microkit.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __clang__
#define FUNCTION __attribute__((noinline)) static
#else
#define FUNCTION __attribute__((noinline, noclone)) static
#endif

#ifndef SPINS
#define SPINS 200
#endif

enum { DEPTH = 7 };

static volatile unsigned sink;
static volatile bool done; /* never */

FUNCTION unsigned spin(unsigned n)
{
    unsigned x = n;

    for (unsigned i = 0; i < SPINS; i++) {
        x = x * 1103515245 + 12345;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

FUNCTION unsigned descend(unsigned depth) // NOLINT(misc-no-recursion)
{
    unsigned x = depth > 1 ? descend(depth - 1) : spin(depth);

    __asm__ volatile("" : "+r"(x)); /* no tail call */
    return x + depth;
}

/* The compiler addresses this frame, whose size it does not know, by a register. */
FUNCTION unsigned variable(unsigned n)
{
    unsigned *words = __builtin_alloca((1 + n % 13) * sizeof *words);

    for (unsigned i = 0; i <= n % 13; i++) {
        words[i] = n + i;
    }
    __asm__ volatile("" : : "r"(words) : "memory");
    return descend(DEPTH) + words[0];
}

#ifdef __riscv
#define SAVED "s1", "s2", "s10", "s11", "fs0"
#else
#define SAVED "x19", "x20", "x27", "x28", "d8"
#endif

FUNCTION unsigned many(unsigned n)
{
    unsigned a = n * 3;
    unsigned b = n * 5;
    unsigned c = n * 7;
    unsigned d = n * 11;

    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : : SAVED);
    unsigned x = variable(n);
    return a + b + c + d + x;
}

FUNCTION void work(void)
{
    for (unsigned n = 0; !done; n++) {
        sink = many(n) + sink;
    }
}

void init(void)
{
    work();
    sink = 0; /* no tail call */
}

void notified(microkit_channel ch)
{
    (void)ch;
}
