/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A caller that is stopped in the middle of its call, for tests/system/stopped.sh.
 *
 * One program, three PDs. `victim` calls `server` again and again, with a frame pointer that is wild in
 * another way each time. In the midst of the call `server` notifies `boss`, the parent of `victim`, which
 * stops it: so its call is cancelled as if it were destroyed, and from then on `server` works for no PD.
 * At the end of the call `boss` lets `victim` begin again.
 */
#define SPIN_LINKAGE __attribute__((noinline)) static
#include "spin.h"

#include <microkit.h>

#include <stdint.h>

enum {
    CH_SERVER = 1, /* channel of victim to the server */
    CH_BOSS = 2,   /* channel of server to boss */
    VICTIM = 1,    /* child of boss */
    UNIT = 20000,  /* iterations of two instructions */
    STACK = 512,
};

void stopped_served_work(void);
void stopped_nobodys_work(void);
void stopped_again(void);
void stopped_call(void);
void stopped_ask(uint64_t fp);

/* Where victim begins again: on another stack, for the one that it had is not emptied. */
uint64_t stopped_stack[STACK] __attribute__((aligned(16)));
#ifdef __riscv
__asm__(".global stopped_again\n"
        "stopped_again:\n\t"
        "la sp, stopped_stack + 4096\n\t"
        "li s0, 0\n\t"
        "li ra, 0\n\t"
        "j stopped_call");
#else
__asm__(".global stopped_again\n"
        "stopped_again:\n\t"
        "adrp x0, stopped_stack\n\t"
        "add x0, x0, :lo12:stopped_stack\n\t"
        "add sp, x0, #4096\n\t"
        "mov x29, xzr\n\t"
        "mov x30, xzr\n\t"
        "b stopped_call");
#endif

/* Asks with that frame pointer, which is back if there is an answer. */
#ifdef __riscv
__asm__(".global stopped_ask\n"
        "stopped_ask:\n\t"
        "addi sp, sp, -16\n\t"
        "sd s0, 0(sp)\n\t"
        "sd ra, 8(sp)\n\t"
        "mv s0, a0\n\t"
        "call stopped_ppcall\n\t"
        "ld s0, 0(sp)\n\t"
        "ld ra, 8(sp)\n\t"
        "addi sp, sp, 16\n\t"
        "ret");
#else
__asm__(".global stopped_ask\n"
        "stopped_ask:\n\t"
        "stp x29, x30, [sp, #-16]!\n\t"
        "mov x29, x0\n\t"
        "bl stopped_ppcall\n\t"
        "ldp x29, x30, [sp], #16\n\t"
        "ret");
#endif

void stopped_ppcall(void);
__attribute__((noinline)) void stopped_ppcall(void)
{
    microkit_ppcall(CH_SERVER, microkit_msginfo_new(0, 0));
    __asm__ volatile("");
}

__attribute__((noinline)) void stopped_served_work(void)
{
    spin(UNIT);
    __asm__ volatile("");
}

__attribute__((noinline)) void stopped_nobodys_work(void)
{
    spin(UNIT);
    __asm__ volatile("");
}

/* A frame record that is its own caller, and one that leads to it. */
static uint64_t loop[2], to_loop[2];

static const uintptr_t wild[] = {
    0,
    1,
    8,
    (uintptr_t)loop,
    (uintptr_t)to_loop,
    (uintptr_t)stopped_stack - 8,
    UINT64_C(0x7ffffff000),
    UINT64_C(0xffffff8040200000),
    UINT64_C(0x123456789abcdef0),
    UINT64_MAX - 7,
};

void stopped_call(void)
{
    static unsigned round;

    for (;;) {
        loop[0] = (uintptr_t)loop;
        to_loop[0] = (uintptr_t)loop;
        loop[1] = to_loop[1] = (uintptr_t)stopped_call + 4;
        round++;
        stopped_ask(wild[round % (sizeof wild / sizeof *wild)]);
    }
}

void init(void)
{
    if (microkit_name[0] == 'v') {
        stopped_call();
    }
}

void notified(microkit_channel ch)
{
    static unsigned times;

    (void)ch;
    if (microkit_name[0] != 'b') {
        return;
    }
    if (times++ % 2 == 0) {
        microkit_pd_stop(VICTIM);
    } else {
        microkit_pd_restart(VICTIM, (uintptr_t)stopped_again);
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    stopped_served_work();
    microkit_notify(CH_BOSS);
    stopped_nobodys_work();
    microkit_notify(CH_BOSS);
    return microkit_msginfo_new(0, 0);
}
