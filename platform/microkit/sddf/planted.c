/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the system `planted` adds to sDDF's components, whose sources and objects do not change: the linker's --wrap puts these
 * functions in front of theirs (sddf.mk).
 *
 *   timer_driver   a call takes SLOW instructions more (SDDF_SLOW of make, 60,000), as in the report sddf#702
 *   echo           asks the timer driver for the time before it sends a datagram
 *   net_copy_echo  counts the packets that it copies, and the activations in which it copied any, for the comparison with the
 *                  readings of its queues. The counts are in a queue's region, which is larger than the queue.
 *
 * Each program has all functions, and uses its own.
 */
#include <microkit.h>
#include <sddf/timer/protocol.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

microkit_msginfo __wrap_protected(microkit_channel ch, microkit_msginfo m);
int8_t __wrap_udp_sendto(void *pcb, void *p, const void *to, uint16_t port);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void __wrap_notified(microkit_channel ch);
__attribute__((weak)) microkit_msginfo __real_protected(microkit_channel ch, microkit_msginfo m);
__attribute__((weak)) int8_t __real_udp_sendto(void *pcb, void *p, const void *to, uint16_t port);
__attribute__((weak)) void *__real_memcpy(void *to, const void *from, size_t n);
__attribute__((weak)) void __real_notified(microkit_channel ch);

microkit_msginfo __wrap_protected(microkit_channel ch, microkit_msginfo m)
{
    uint64_t n = SLOW / 2;

    __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(n) : : "cc");
    return __real_protected(ch, m);
}

int8_t __wrap_udp_sendto(void *pcb, void *p, const void *to, uint16_t port)
{
    (void)microkit_ppcall(CH_TIMER, microkit_msginfo_new(SDDF_TIMER_GET_TIME, 0));
    return __real_udp_sendto(pcb, p, to, port);
}

static volatile uint64_t *counts(void) /* activations, packets: planted.queues */
{
    return (volatile uint64_t *)(NET_ECHO_VIRT_RX + NET_REGION - 16);
}

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    counts()[1]++;
    return __real_memcpy(to, from, n);
}

void __wrap_notified(microkit_channel ch)
{
    uint64_t before = counts()[1];

    __real_notified(ch);
    counts()[0] += counts()[1] != before;
}
