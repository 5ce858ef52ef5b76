/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that others asked for, for tests/system/callers.sh.
 *
 * One program, six PDs. The clients `small` and `large` take turns: a notification hands the turn
 * over. Each calls `middle`, which works and then calls `back` for as much work again, and then
 * `passive`, which runs on its client's time. `large` asks for three times as much as `small`, so
 * three quarters of what the servers do is large's. Both clients also work themselves, equally long,
 * outside of a call. In the midst of its work `middle` notifies `above`, which preempts it, works, and
 * serves no PD.
 */
#define SPIN_LINKAGE __attribute__((noinline)) static
#include "spin.h"

#include <microkit.h>

#include <stdint.h>

enum {
    CH_TURN = 1,   /* between the clients */
    CH_MIDDLE = 2, /* clients to middle */
    CH_ABOVE = 3,  /* middle to above */
    CH_BACK = 4,   /* middle to back */
    CH_PASSIVE = 5,
    UNIT = 10000, /* iterations of two instructions */
    LARGER = 3,
};

void callers_own_work(void);
void callers_middle_work(uint64_t iterations);
void callers_back_work(uint64_t iterations);
void callers_passive_work(uint64_t iterations);
void callers_above_work(void);
void callers_ask(microkit_channel channel, uint64_t iterations);

__attribute__((noinline)) void callers_own_work(void)
{
    spin(UNIT);
    __asm__ volatile(""); /* no tail calls: each function is in the chain */
}

__attribute__((noinline)) void callers_middle_work(uint64_t iterations)
{
    spin(iterations);
    __asm__ volatile("");
}

__attribute__((noinline)) void callers_back_work(uint64_t iterations)
{
    spin(iterations);
    __asm__ volatile("");
}

__attribute__((noinline)) void callers_passive_work(uint64_t iterations)
{
    spin(iterations);
    __asm__ volatile("");
}

__attribute__((noinline)) void callers_above_work(void)
{
    spin(UNIT / 2);
    __asm__ volatile("");
}

__attribute__((noinline)) void callers_ask(microkit_channel channel, uint64_t iterations)
{
    microkit_ppcall(channel, microkit_msginfo_new(iterations, 0));
    __asm__ volatile("");
}

static void take_turn(void)
{
    uint64_t iterations = microkit_name[0] == 'l' ? LARGER * UNIT : UNIT;

    callers_own_work();
    callers_ask(CH_MIDDLE, iterations);
    callers_ask(CH_PASSIVE, iterations);
    microkit_notify(CH_TURN);
}

void init(void)
{
    if (microkit_name[0] == 's') {
        take_turn();
    }
}

void notified(microkit_channel ch)
{
    if (microkit_name[0] == 'a') {
        callers_above_work();
    } else if (ch == CH_TURN) {
        take_turn();
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    uint64_t iterations = microkit_msginfo_get_label(msginfo);

    (void)ch;
    if (microkit_name[0] == 'm') {
        callers_middle_work(iterations / 2);
        microkit_notify(CH_ABOVE);
        callers_middle_work(iterations / 2);
        callers_ask(CH_BACK, iterations);
    } else if (microkit_name[0] == 'p') {
        callers_passive_work(iterations);
    } else {
        callers_back_work(iterations);
    }
    return microkit_msginfo_new(0, 0);
}
