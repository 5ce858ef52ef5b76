/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three domains with known windows, for tests/system/domains.sh. One program, three PDs, each alone with its name in its domain
 * except for mkperf's PDs:
 *
 *   first   2 ms   runs all the time. Sees by its clock that a window began, and notifies `second`
 *   second  3 ms   works 1 ms in each window, and notifies `third` in every second one
 *   third   5 ms   works 2 ms when it was notified
 *
 * Each stores the time of its first instructions in a window in its memory, where the test finds them by their label.
 */
#include <microkit.h>

#include "../../pd/timer/timer.h"
#include "spin.h"

#ifndef INSTRUCTION_NS
#define INSTRUCTION_NS 1 /* ns of QEMU's time */
#endif

enum {
    CH_NEXT = 1, /* to the PD of the next domain */
    MS = 1000000 / INSTRUCTION_NS,
    TIMES = 4096,
};

static struct {
    char label[16];
    uint64_t pd; /* the first letter of its name */
    uint64_t n;
    uint64_t ticks[TIMES];
} table = {
    .label = {'m', 'k', 'p', 'e', 'r', 'f', '-', 'w', 'i', 'n', 'd', 'o', 'w', 's', '!', '!'}};

static void began(uint64_t now)
{
    if (table.n < TIMES) {
        table.ticks[table.n++] = now;
    }
}

void init(void)
{
    uint64_t gap = mkperf_generic_timer.hz() / 1000, last = mkperf_generic_timer.now();

    table.pd = (uint64_t)microkit_name[0];
    while (microkit_name[0] == 'f') {
        uint64_t now = mkperf_generic_timer.now();
        if (now - last > gap) {
            began(now);
            microkit_notify(CH_NEXT);
        }
        last = now;
    }
}

void notified(microkit_channel ch)
{
    static unsigned times;

    (void)ch;
    began(mkperf_generic_timer.now());
    if (microkit_name[0] == 't') {
        work(UINT64_C(2) * MS);
        return;
    }
    work(MS);
    if (++times % 2 == 0) {
        microkit_notify(CH_NEXT);
    }
}
