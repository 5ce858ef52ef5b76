/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that interrupts once a second, for PDs that pace others: ticker.c and demo/pacer.c. One
 * file a device, tick_*.c; a PD is linked with one of them. The system description maps the device
 * and sets rtc_base.
 */
#ifndef MKPERF_TICK_H
#define MKPERF_TICK_H

/* Starts the device. The first interrupt arrives after one second. */
void mkperf_tick_start(void);

/* Called in the interrupt: clears it in the device and arms the next one. */
void mkperf_tick_rearm(void);

#endif
