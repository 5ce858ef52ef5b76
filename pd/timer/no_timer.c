/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place of a timer on an architecture whose timer user mode cannot program: RISC-V's is S-mode's. Sessions of -e timer are
 * refused with the reason.
 */
#include <stddef.h>

#include "timer.h"

static const char *find(void)
{
    return "this architecture has no timer that user mode can program";
}

static uint64_t none(void)
{
    return 0;
}

static void arm(uint64_t at)
{
    (void)at;
}

static void stop(void)
{
}

const struct mkperf_timer mkperf_no_timer = {
    .name = "none",
    .init = find,
    .now = none,
    .hz = none,
    .arm = arm,
    .stop = stop,
};
