/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two PDs with their own stacks, which the profiler PD maps as well (docs/stock.md, "Deeper call
 * chains"). `worker` spends its time at the end of a known chain: wildfp_spin (a leaf without a
 * frame) <- deep_d <- deep_c <- deep_b <- deep_a <- init. `wild` runs with frame pointers that are
 * broken, or lead to broken frame records, in and around its stack: each sample of it has its
 * leaf and its true caller, and only the valid frame records. After all cases it spends some time
 * in wild_done.
 */
#include <microkit.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LONG_CHAIN = 100, /* records: more than a chain may have */
    RETURN_BYTES = 4, /* of wild_mark, so that it is the caller in the records */
    RECORD_BYTES = 16,
    SPIN = 200000, /* iterations of 20 instructions: several samples at 1 kHz */
    ROUND = 100,   /* iterations for each call of deep_a */
};

void wildfp_spin(uint64_t fp, uint64_t iterations);
void deep_a(void);
void deep_b(void);
void deep_c(void);
void deep_d(void);
void wild_case(uint64_t fp);
void wild_done(void);
void wild_mark(void);

extern uintptr_t mkperf_stack;
extern uintptr_t mkperf_stack_bytes;
static volatile uint64_t turns;

/* Not a tail call. */
__attribute__((noinline)) void deep_d(void)
{
    wildfp_spin((uint64_t)(uintptr_t)__builtin_frame_address(0), ROUND);
    turns++;
}

__attribute__((noinline)) void deep_c(void)
{
    deep_d();
    turns++;
}

__attribute__((noinline)) void deep_b(void)
{
    deep_c();
    turns++;
}

__attribute__((noinline)) void deep_a(void)
{
    deep_b();
    turns++;
}

__attribute__((noinline)) void wild_mark(void)
{
    turns++;
    turns++;
}

__attribute__((noinline)) void wild_case(uint64_t fp)
{
    wildfp_spin(fp, SPIN);
    turns++;
}

__attribute__((noinline)) void wild_done(void)
{
    for (unsigned i = 0; i < 40 * SPIN; i++) {
        __asm__ volatile("");
    }
}

/* Returns a frame record at that offset of the stack's memory, far below the used part. */
static uint64_t record(size_t offset, uint64_t caller, uint64_t ret)
{
    volatile uint64_t *r = (volatile uint64_t *)(mkperf_stack + offset);

    r[0] = caller;
    r[1] = ret;
    return mkperf_stack + offset;
}

static void run_all(void)
{
    const uint64_t base = mkperf_stack;
    const uint64_t end = base + mkperf_stack_bytes;
    const uint64_t ret = (uint64_t)(uintptr_t)&wild_mark + RETURN_BYTES;
    const uint64_t profilers = UINT64_C(0x10800000); /* the worker's stack in the profiler PD */
    const uint64_t cases[] = {
        0,
        8,
        base - RECORD_BYTES,                         /* below the stack's memory */
        base - 8,                                    /* half below */
        end - 8,                                     /* half above */
        end,                                         /* above */
        base + 1,                                    /* misaligned */
        base + 4,                                    /* misaligned */
        profilers,                                   /* not this PD's memory */
        (uint64_t)(uintptr_t)&turns,                 /* this PD's, but not the profiler's */
        (uint64_t)(uintptr_t)&wild_mark,             /* code */
        UINT64_C(0x10000000),                        /* the sample rings, in the profiler PD */
        UINT64_C(0xffff000040080000),                /* a kernel address */
        UINT64_MAX,                                  /* all ones */
        ~UINT64_C(7),                                /* aligned */
        UINT64_C(0x8000000000000000),                /* not canonical */
        record(0x100, base + 0x100, ret),            /* points at itself */
        record(0x200, base + 0x180, ret),            /* goes backwards */
        record(0x300, base - RECORD_BYTES, ret),     /* next one below */
        record(0x340, end, ret),                     /* next one above */
        record(0x380, base + 0x3c4, ret),            /* next one misaligned */
        record(0x400, UINT64_MAX, ret),              /* next one nowhere */
        (base + 0x300) | UINT64_C(0xff) << 56,       /* tagged */
        record(0x500, UINT64_MAX, 0),                /* null return address */
        record(0x600, record(0x700, 0, ret), ret),   /* good, two of them */
        record(0x800, record(0x840, base, ret), ret) /* two, and then backwards */
    };
    uint64_t chain = 0;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wild_case(cases[i]);
    }
    for (size_t i = LONG_CHAIN; i > 0; i--) {
        chain = record(0x1000 + i * RECORD_BYTES, chain, ret);
    }
    wild_case(chain);
    wild_done();
}

void init(void)
{
    if (microkit_name[1] == 'i') { /* wild */
        for (;;) {
            run_all();
        }
    }
    for (;;) {
        deep_a();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
