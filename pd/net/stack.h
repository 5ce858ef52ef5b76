/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lwIP on this PD's network device.
 *
 * Owns: lwIP. Its callbacks run only inside mkperf_stack_poll. Time is the samples'
 * clock; lwIP's timers run whenever the PD is woken, so it needs regular wake-ups (a ticker,
 * docs/net.md). Without them, a lost packet on an idle link waits longer; nothing else changes.
 */
#ifndef MKPERF_STACK_H
#define MKPERF_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct mkperf_stack_address { /* a.b.c.d as text; address NULL: DHCP */
    const char *address;
    const char *mask;
    const char *gateway;
};

/* False: there is no network device. */
bool mkperf_stack_init(const struct mkperf_stack_address *address);

/* Handles a notification of the PD on a channel: reads received frames, runs timers. */
void mkperf_stack_notified(unsigned channel);
/* Reads received frames and runs timers before the PD waits. */
void mkperf_stack_poll(void);
/* Called last for a notification, after mkperf_stack_notified and all work that followed from it. */
void mkperf_stack_done(unsigned channel);

/* Returns whether the interface has an address. */
bool mkperf_stack_up(void);

#endif
